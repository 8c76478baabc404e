// Files of ITCH messages, each after its length in two big-endian bytes: bytes in chunks of any size in, events out.
// Thread: one owner. Cost: as the parser's; only a message that two chunks share is copied. No allocation after
// construction. Lifetime: a chunk is borrowed for the call.
// Errors: the first one ends the reading: ItchFileError gives what is wrong and at which byte of the input. A message
// of an unknown type is passed over and counted, because a later version of ITCH may have more. The messages have no
// checksum: damage inside of a message's fields is not found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "nexusfix/market/itch.hpp"
#include "nexusfix/market/itch_parser.hpp"

namespace nfx::market {

enum class ItchFileProblem : std::uint8_t {
  none,
  wrong_length,  // of a message of a known type, or beyond max_length: the lengths are not where they should be
  truncated,     // the input ends within a message
};
[[nodiscard]] std::string_view to_string(ItchFileProblem problem) noexcept;

struct ItchFileError {
  ItchFileProblem problem = ItchFileProblem::none;
  std::uint64_t offset = 0;  // of the byte at which the message's length begins
};

class ItchFileReader {
 public:
  static constexpr std::size_t max_length = 1000;  // of a message, also of an unknown type

  // Whether a file that begins with these bytes, three at least, may be one.
  [[nodiscard]] static bool begins_like_itch(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < length_size + 1) return false;
    const std::size_t size = itch::message_sizes[std::to_integer<std::size_t>(bytes[length_size])];
    return size != 0 && load_big_endian<std::uint16_t>(bytes.data()) == size;
  }

  // Midnight in New York, at which the times of the messages begin.
  explicit ItchFileReader(UtcTime midnight) : parser_(midnight) {}

  // The next bytes of the input. Calls `sink(const Event&)` for each event. If the sink returns false, reading stops
  // after it, and this reader reads no further. False: it stopped, or error() is set.
  template <class Sink>
  bool read(std::span<const std::byte> chunk, Sink&& sink) {
    if (stopped_) [[unlikely]]
      return false;
    const std::byte* bytes = chunk.data();
    const std::byte* const end = bytes + chunk.size();
    if (partial_size_ != 0) [[unlikely]] {
      if (!complete_partial(bytes, end, length_size)) return true;
      const std::size_t size = length_size + length_at(partial_.data());
      if (!has_possible_length(partial_.data())) return fail(ItchFileProblem::wrong_length);
      if (!complete_partial(bytes, end, size)) return true;
      partial_size_ = 0;
      if (!take(partial_.data(), size - length_size, sink)) return false;
    }
    while (static_cast<std::size_t>(end - bytes) >= length_size) {
      if (!has_possible_length(bytes)) [[unlikely]]
        return fail(ItchFileProblem::wrong_length);
      const std::size_t size = length_at(bytes);
      if (static_cast<std::size_t>(end - bytes) - length_size < size) break;
      if (!take(bytes, size, sink)) return false;
      bytes += length_size + size;
    }
    keep_partial(bytes, end);
    return true;
  }

  // The input has ended. False: within a message, or error() was set before.
  bool finish() noexcept;

  [[nodiscard]] const ItchFileError& error() const noexcept { return error_; }
  [[nodiscard]] const ItchParser& parser() const noexcept { return parser_; }
  [[nodiscard]] const ItchDirectory& directory() const noexcept { return parser_.directory(); }
  // Messages read; and those that gave no event, by type, unknown types too.
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t without_event(char type) const noexcept {
    return without_event_[static_cast<unsigned char>(type)];
  }
  // The offset of the byte after the last whole message.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  static constexpr std::size_t length_size = 2;

  [[nodiscard]] static std::size_t length_at(const std::byte* at) noexcept {
    return load_big_endian<std::uint16_t>(at);
  }
  [[nodiscard]] static bool has_possible_length(const std::byte* at) noexcept { return length_at(at) <= max_length; }

  // `at` is the length, which a whole message follows. A length of 0 has none, as the end of a file may have.
  template <class Sink>
  bool take(const std::byte* at, std::size_t size, Sink& sink) {
    bool more = true, gave = false;
    if (size != 0) {
      const std::span<const std::byte> message{at + length_size, size};
      const auto give = [&](const Event& event) {
        gave = true;
        more = sink(event);
      };
      if (parser_.message(message, {messages_ + 1, {}, 0}, give) == itch::ParseStatus::wrong_length) [[unlikely]] {
        return fail(ItchFileProblem::wrong_length);
      }
      ++messages_;
      if (!gave) ++without_event_[std::to_integer<std::size_t>(message.front())];
    }
    offset_ += length_size + size;
    stopped_ = !more;
    return more;
  }

  // The record at the edge of two chunks.
  void keep_partial(const std::byte* bytes, const std::byte* end) noexcept;
  [[nodiscard]] bool complete_partial(const std::byte*& bytes, const std::byte* end, std::size_t size) noexcept;
  bool fail(ItchFileProblem problem) noexcept;

  ItchParser parser_;
  std::uint64_t messages_ = 0;
  std::uint64_t offset_ = 0;
  bool stopped_ = false;
  std::array<std::byte, length_size + max_length> partial_;  // a record that the next chunk continues
  std::size_t partial_size_ = 0;
  std::array<std::uint64_t, 256> without_event_{};
  ItchFileError error_;
};

}  // namespace nfx::market
