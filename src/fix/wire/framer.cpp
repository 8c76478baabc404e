// Finds message boundaries by BodyLength, and the start of the next message after damaged bytes.
#include "nexusfix/wire/framer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {
namespace {

constexpr std::string_view message_start = "8=FIX";
constexpr std::string_view check_sum_start =
    "\x01"
    "10=";
constexpr std::size_t max_begin_string_size = 16;
constexpr std::size_t max_body_length_digits = 9;
constexpr std::size_t familiar_digits = 7;
constexpr std::size_t check_sum_field_size = 7;  // "10=ddd<SOH>"

// The size of "8=...|9=...|", or why it is missing.
struct Header {
  FrameStatus status = FrameStatus::need_more;
  WireError error = WireError::none;
  std::size_t size = 0;
  std::size_t body_length = 0;
};

// Every check fails at the first wrong byte, so the result does not depend on how much has arrived.
Header read_header(std::string_view buffer) noexcept {
  const auto garbled = [](WireError error) { return Header{FrameStatus::garbled, error, 0, 0}; };
  const std::size_t common = std::min(buffer.size(), message_start.size());
  if (buffer.substr(0, common) != message_start.substr(0, common)) return garbled(WireError::not_fix);

  std::size_t at = common;
  for (;; ++at) {
    if (at == buffer.size()) return {};
    if (buffer[at] == soh) break;
    // A '=' means that the SOH is missing; another message may start here.
    if (buffer[at] == '=' || at == 2 + max_begin_string_size) return garbled(WireError::not_fix);
  }
  ++at;
  for (const char expected : {'9', '='}) {
    if (at == buffer.size()) return {};
    if (buffer[at++] != expected) return garbled(WireError::header_order);
  }
  const std::size_t digits_begin = at;
  std::size_t body_length = 0;
  for (;; ++at) {
    if (at == buffer.size()) return {};
    if (buffer[at] == soh) break;
    const unsigned digit = static_cast<unsigned char>(buffer[at]) - unsigned{'0'};
    if (digit > 9 || at - digits_begin == max_body_length_digits) return garbled(WireError::bad_body_length);
    body_length = body_length * 10 + digit;
  }
  if (at == digits_begin) return garbled(WireError::bad_body_length);
  return {FrameStatus::complete, WireError::none, at + 1, body_length};
}

// Drops everything before the next message start. Keeps the end of the buffer if a message may begin there.
[[gnu::cold, gnu::noinline]] Frame skip_garbage(std::string_view buffer, WireError error) noexcept {
  std::size_t next = buffer.find(message_start, 1);
  if (next == std::string_view::npos) {
    next = buffer.size();
    for (std::size_t kept = std::min(message_start.size() - 1, buffer.size() - 1); kept > 0; --kept) {
      if (buffer.ends_with(message_start.substr(0, kept))) {
        next = buffer.size() - kept;
        break;
      }
    }
  }
  return {FrameStatus::garbled, error, next};
}

// CheckSum is not (yet) at the position given by BodyLength. `body_end` is one past the body's last SOH.
[[gnu::cold, gnu::noinline]] Frame search_check_sum(std::string_view buffer, std::size_t body_end,
                                                    std::size_t max_message_size) noexcept {
  // Bytes beyond the maximum are ignored, so that the result does not depend on how the stream is split into reads.
  const std::string_view searched = buffer.substr(0, max_message_size);
  NFX_ASSERT(body_end != 0);
  const std::size_t from = body_end - 1;
  const std::size_t start = searched.find(check_sum_start, from);
  if (start != std::string_view::npos) {
    const std::size_t end = searched.find(soh, start + check_sum_start.size());
    if (end != std::string_view::npos) {
      const WireError error = start == from ? WireError::bad_check_sum : WireError::body_length_mismatch;
      return {FrameStatus::garbled, error, end + 1};
    }
  }
  if (buffer.size() >= max_message_size) return {FrameStatus::too_large, WireError::too_large, 0};
  // The shortest CheckSum field that can follow is "10=<SOH>".
  return {FrameStatus::need_more, WireError::none, std::max(buffer.size() + 1, body_end + check_sum_start.size())};
}

bool ends_with_check_sum(const char* body_end) noexcept {
  return std::memcmp(body_end - 1, check_sum_start.data(), check_sum_start.size()) == 0 && body_end[3] != soh &&
         body_end[4] != soh && body_end[5] != soh && body_end[6] == soh;
}

}  // namespace

namespace {

Frame find_frame(std::string_view buffer, std::size_t max_message_size) noexcept {
  const Header header = read_header(buffer);
  if (header.status == FrameStatus::garbled) return skip_garbage(buffer, header.error);
  if (header.status == FrameStatus::need_more) return {FrameStatus::need_more, WireError::none, buffer.size() + 1};

  const std::size_t body_end = header.size + header.body_length;
  const std::size_t total = body_end + check_sum_field_size;
  if (total > max_message_size) return {FrameStatus::too_large, WireError::too_large, total};
  if (buffer.size() >= total && ends_with_check_sum(buffer.data() + body_end)) {
    return {FrameStatus::complete, WireError::none, total};
  }
  return search_check_sum(buffer, body_end, max_message_size);
}

// A whole message or garbage is inside the buffer; an incomplete message needs more bytes than it has.
bool fits(const Frame& frame, std::string_view buffer, std::size_t max_message_size) noexcept {
  switch (frame.status) {
    case FrameStatus::need_more: return frame.size > buffer.size();
    case FrameStatus::complete:
    case FrameStatus::garbled: return frame.size > 0 && frame.size <= buffer.size();
    case FrameStatus::too_large: return frame.size == 0 || frame.size > max_message_size;
  }
  return false;
}

}  // namespace

Frame next_frame(std::string_view buffer, std::size_t max_message_size) noexcept {
  const Frame frame = find_frame(buffer, max_message_size);
  NFX_ASSERT(fits(frame, buffer, max_message_size));
  NFX_ASSERT((frame.error != WireError::none) ==
             (frame.status == FrameStatus::garbled || frame.status == FrameStatus::too_large));
  return frame;
}

Frame FrameReader::next(std::string_view buffer) noexcept {
  NFX_TRACE();
  if (const std::size_t size = familiar_message_size(buffer)) return {FrameStatus::complete, WireError::none, size};
  const Frame frame = next_frame(buffer, max_message_size_);
  if (frame.status == FrameStatus::complete) remember(buffer);
  return frame;
}

// The size of a whole message that begins like the last one; otherwise 0.
std::size_t FrameReader::familiar_message_size(std::string_view buffer) const noexcept {
  using digits::load;
  if (start_size_ == 0 || buffer.size() < start_size_ + 8) return 0;
  const char* const start = buffer.data();
  if (load<std::uint64_t>(start) != load<std::uint64_t>(start_) ||
      load<std::uint64_t>(start + start_size_ - 8) != load<std::uint64_t>(start_ + start_size_ - 8)) {
    return 0;
  }
  const std::uint64_t word = digits::load_8(start + start_size_);
  const std::uint64_t marks = digits::non_digits(word);
  const auto count = static_cast<std::size_t>(std::countr_zero(marks)) / 8;
  if (count - 1 >= familiar_digits || (word >> 8 * count & 0xFF) != (soh ^ '0')) return 0;
  const std::size_t body_length = digits::value(word << (64 - 8 * count));
  const std::size_t body_end = start_size_ + count + 1 + body_length;
  NFX_ASSERT(count <= familiar_digits && start_size_ <= sizeof start_);
  const std::size_t total = body_end + check_sum_field_size;
  if (total > max_message_size_ || total > buffer.size() || !ends_with_check_sum(start + body_end)) return 0;
  return total;
}

void FrameReader::remember(std::string_view message) noexcept {
  const std::size_t size = message.find(soh) + sizeof "9=";  // SOH and "9="
  start_size_ = size >= 8 && size <= sizeof start_ ? size : 0;
  NFX_ASSERT(size < message.size());
  std::memcpy(start_, message.data(), start_size_);
}

}  // namespace nfx
