// The messages of a run, made before it: a generated market of some names as datagrams of a feed, each with the time at
// which it is due, so that the publisher only has to send them.
// Thread: any. Cost: about a microsecond a message, and its bytes; allocates. Errors: std::runtime_error for a
// recording that cannot be read. The same options give the same bytes on every machine.
//
// Prices are around 120.00 in steps of 0.01, which the demonstration's venue takes. Each datagram holds what the
// exchange did in one step. The time of the exchange in it is set when it is sent: it is the time at which it was due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::app::t2m {

enum class FeedKind : std::uint8_t { itch, dbn };
inline constexpr std::array feed_kinds{std::string_view{"itch"}, std::string_view{"dbn"}};

enum class LoadKind : std::uint8_t { poisson, bursts, recorded };
inline constexpr std::array load_kinds{std::string_view{"poisson"}, std::string_view{"bursts"},
                                       std::string_view{"recorded"}};

struct MessageOptions {
  FeedKind feed = FeedKind::itch;
  LoadKind load = LoadKind::poisson;
  std::uint16_t names = 1;
  std::uint32_t messages = 100'000;
  double rate_per_s = 10'000;  // on average
  std::uint32_t burst = 6;     // bursts: messages of one; about one arrival of fifty is one
  std::string recording;       // recorded: a DBN file, of which the times are taken
  std::uint64_t seed = 1;
};

class Messages {
 public:
  explicit Messages(const MessageOptions& options);

  struct Packet {
    Duration due{};  // from the start
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
  };
  [[nodiscard]] std::span<const Packet> packets() const noexcept { return packets_; }
  // The packet's bytes, with this time of the exchange in its messages. Until the next call.
  [[nodiscard]] std::string_view bytes(const Packet& packet, UtcTime due) noexcept;

  [[nodiscard]] UtcTime midnight() const noexcept { return midnight_; }
  void set_midnight(UtcTime midnight) noexcept { midnight_ = midnight; }
  // The number of the last message of the market, and of the first that is measured: those before it build the books.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t first_measured() const noexcept { return first_measured_; }

 private:
  void add_itch(std::span<const std::byte> message);
  void add_dbn(std::span<const std::byte> message);
  void set_times(const MessageOptions& options);

  FeedKind feed_;
  UtcTime midnight_{};
  std::vector<Packet> packets_;
  std::vector<std::byte> bytes_;
  std::uint64_t last_ = 0;
  std::uint64_t first_measured_ = 0;
};

// What a DBN reader needs before the first record.
[[nodiscard]] std::vector<std::byte> dbn_beginning();

}  // namespace nfx::app::t2m
