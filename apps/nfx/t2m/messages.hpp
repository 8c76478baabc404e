// The messages of a run, made before it: a generated market of some names as messages of a feed, each with the time at
// which it is due, so that the publisher only has to send them. With FIX the demonstration's venue makes the messages,
// and there are only times.
// Thread: any. Cost: about a microsecond a message, and its bytes; allocates. Errors: std::runtime_error for a
// recording that cannot be read. The same options give the same bytes on every machine.
//
// Prices are around 120.00 in steps of 0.01, which the demonstration's venue takes. Each message holds one step of the
// exchange. ITCH, DBN and FIX messages have a time of the exchange, set when a message is sent: it is the time at which
// it was due. A book ticker has none; its update number is the message's, counted over all names.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"

namespace nfx::app::t2m {

enum class FeedKind : std::uint8_t { itch, dbn, ws, fix };

// The properties of a feed that a run uses.
struct FeedKindRow {
  std::string_view name;
  bool datagrams = false;              // by UDP, a message in each, whose events have the time at which it was due
  std::uint32_t first_instrument = 0;  // the number by which the feed knows its first name
  bool orders_unique = true;           // an order's number is of one instrument alone
};
inline constexpr std::array<FeedKindRow, 4> feed_rows{{
    {.name = "itch", .datagrams = true, .first_instrument = 1},
    {.name = "dbn", .datagrams = true, .first_instrument = 1},
    {.name = "ws"},
    {.name = "fix", .orders_unique = false},
}};
[[nodiscard]] constexpr const FeedKindRow& row_of(FeedKind feed) noexcept {
  return feed_rows[static_cast<std::size_t>(feed)];
}
inline constexpr auto feed_kinds = [] {
  std::array<std::string_view, feed_rows.size()> names;
  std::ranges::transform(feed_rows, names.begin(), &FeedKindRow::name);
  return names;
}();

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
    std::uint16_t name = 0;  // of a book ticker
  };
  [[nodiscard]] std::span<const Packet> packets() const noexcept { return packets_; }
  // The packet's bytes, with this time of the exchange in its messages. Until the next call.
  [[nodiscard]] std::string_view bytes(const Packet& packet, UtcTime due) noexcept;

  [[nodiscard]] UtcTime midnight() const noexcept { return midnight_; }
  void set_midnight(UtcTime midnight) noexcept { midnight_ = midnight; }
  // The number of the market's last message, and of the first that is measured: earlier messages build the books.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t first_measured() const noexcept { return first_measured_; }

 private:
  void make_datagrams(const MessageOptions& options, std::uint32_t warm);
  void make_tickers(const MessageOptions& options, std::uint32_t warm);
  void set_times(const MessageOptions& options);

  FeedKind feed_;
  UtcTime midnight_{};
  std::vector<Packet> packets_;
  std::vector<std::byte> bytes_;
  std::uint64_t last_ = 0;
  std::uint64_t first_measured_ = 0;
};

// The symbols of a feed, in the order of its instruments. Throws ConfigError where the feed has fewer.
[[nodiscard]] std::vector<std::string> names_of(FeedKind feed, std::uint16_t count);

// Which message of the run an event is of, and when that was due. A value that the receiving thread owns.
class Schedule {
 public:
  explicit Schedule(std::span<const Messages::Packet> packets) : packets_(packets) {}
  // The publisher starts then.
  void begin(UtcTime start) noexcept { start_ = start; }

  struct Found {
    std::uint64_t number = 0;  // 0: none of the run
    UtcTime due{};
  };
  // The message with this number, from 1 on.
  [[nodiscard]] Found numbered(std::uint64_t number) const noexcept {
    if (number == 0 || number > packets_.size()) return {};
    return {number, start_ + packets_[number - 1].due};
  }
  // The next one that was due at this time, if one was: other messages come at any time.
  [[nodiscard]] Found due_at(UtcTime time) noexcept {
    const auto rest = packets_.subspan(next_);
    const auto found = !rest.empty() && start_ + rest[0].due == time
                           ? rest.begin()
                           : std::ranges::lower_bound(rest, time - start_, {}, &Messages::Packet::due);
    if (found == rest.end() || start_ + found->due != time) return {};
    next_ += static_cast<std::size_t>(found - rest.begin()) + 1;
    return {next_, time};
  }

 private:
  std::span<const Messages::Packet> packets_;
  UtcTime start_ = UtcTime::max() - std::chrono::hours{24};
  std::size_t next_ = 0;
};

// The bytes that a DBN reader needs before the first record.
[[nodiscard]] std::vector<std::byte> dbn_beginning();

}  // namespace nfx::app::t2m
