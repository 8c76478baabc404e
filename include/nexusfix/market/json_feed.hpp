// Market data of large crypto venues: numbered depth updates with snapshots by HTTP, book tickers and trades to events.
// Thread: one owner; the time is an argument. Cost: a frame without white space, escapes and unknown long keys is read
// by a scan, any other one by simdjson; a look-up of the symbol and an event a level. No allocation after construction;
// bytes are copied when simdjson needs padding that the caller does not give. Lifetime: the output outlives the feed.
// Errors: JsonError, and counters; a depth update that cannot be read changes no book: its instrument needs a snapshot.
// Construction throws std::runtime_error in a build without simdjson. Bounds: JsonFeedOptions.
//
// An instrument's book is of one kind, JsonBook:
//   depth    An update brings the book from any number in [U - 1, u), or from `pu` where the venue sends it, to u. A
//            snapshot is applied if the buffered updates connect to its lastUpdateId; the first update after it is the
//            one that includes lastUpdateId + 1. Everything else is a gap, and the snapshot is requested.
//   ticker   The best prices alone: the price before is removed with a level_set of quantity 0. It is live with its
//            first ticker, has no gaps, and an older `u` changes nothing.
// Messages of the other kind are counted and left out. Trades are events of both kinds of instruments; a trade's number
// is Event::other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/feed.hpp"

namespace nfx::market {

// Bytes of a message and how many may be read from their beginning: json_padding more than the message is faster.
struct JsonBytes {
  const char* data = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;

  JsonBytes(std::string_view text) noexcept : data(text.data()), size(text.size()), capacity(text.size()) {}  // NOLINT
  JsonBytes(const char* at, std::size_t bytes, std::size_t readable) noexcept
      : data(at), size(bytes), capacity(readable) {}
  [[nodiscard]] std::string_view text() const noexcept { return {data, size}; }
};
inline constexpr std::size_t json_padding = 64;

enum class JsonError : std::uint8_t {
  none,
  not_json,         // not one JSON object
  other_message,    // an object of another kind
  missing_field,    // a field that this kind of message has
  wrong_type,       // text where a number is expected, for example
  repeated_key,     // a key twice in an object
  bad_number,       // an update number or time that is negative, not whole or too large; or an update that ends before
                    // it begins
  bad_price,        // not decimal text, or not exact in billionths
  bad_quantity,     // not decimal text, negative, or not exact in the instrument's scale
  too_large,        // JsonLimits::message_size
  too_many_levels,  // JsonLimits::levels
  unknown_symbol,   // of an instrument that was not added
};
inline constexpr std::size_t json_errors = 12;
[[nodiscard]] std::string_view to_string(JsonError error) noexcept;

struct JsonLimits {
  std::size_t message_size = 1u << 20;
  std::uint32_t levels = 10000;  // of a message, both sides
};

struct JsonFeedOptions {
  RecoveryOptions recovery;  // recovery.instruments: how many may be added
  JsonLimits limits = {};
};

enum class JsonBook : std::uint8_t { depth, ticker };

// Besides RecoveryCounters and the messages that ended in an error.
struct JsonFeedCounters {
  std::uint64_t tickers = 0;
  std::uint64_t depth_updates = 0;
  std::uint64_t trades = 0;
  std::uint64_t answers = 0;
  std::uint64_t refusals = 0;
  std::uint64_t old_tickers = 0;
  std::uint64_t other_book = 0;

  friend bool operator==(const JsonFeedCounters&, const JsonFeedCounters&) = default;
};

// Whether this build has simdjson.
[[nodiscard]] bool has_json_reader() noexcept;

class JsonFeed {
 public:
  JsonFeed(const JsonFeedOptions& options, FeedOutput& output);
  ~JsonFeed();
  JsonFeed(const JsonFeed&) = delete;
  JsonFeed& operator=(const JsonFeed&) = delete;

  // Before the first message. `quantity_scale`: decimals of its quantities, at most 18. Empty: there are
  // recovery.instruments already, or the symbol is empty or longer than 31 characters.
  std::optional<InstrumentIndex> add(std::string_view symbol, JsonBook book, unsigned quantity_scale = 8);

  // A message of the websocket.
  JsonError message(const JsonBytes& bytes, Instant now);
  // The body of the answer to a snapshot request, which does not name its instrument.
  JsonError snapshot(InstrumentIndex index, const JsonBytes& bytes, Instant now);
  // The HTTP server refused: the next request is after retry_max.
  void snapshot_refused(InstrumentIndex index, MonotonicTime now) noexcept;
  // As often as the poll loop runs: requests what is due.
  void tick(MonotonicTime now);
  // tick() does nothing before, unless messages come.
  [[nodiscard]] MonotonicTime due_at() const noexcept;
  // The connection is gone.
  void disconnected(Instant now);

  // Instruments of depth books that are not live.
  [[nodiscard]] std::size_t waiting() const noexcept;
  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept;
  // The number of the last update that was applied; empty before the first one.
  [[nodiscard]] std::optional<std::uint64_t> position(InstrumentIndex index) const noexcept;
  [[nodiscard]] std::string_view symbol(InstrumentIndex index) const noexcept;

  [[nodiscard]] const JsonFeedCounters& counters() const noexcept;
  [[nodiscard]] const RecoveryCounters& recovery_counters() const noexcept;
  // Messages and snapshots that ended in `error`.
  [[nodiscard]] std::uint64_t count(JsonError error) const noexcept;
  // Messages that were read by simdjson and not by the scan.
  [[nodiscard]] std::uint64_t left_to_simdjson() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::JsonFeedCounters> = std::to_array<CounterRow<market::JsonFeedCounters>>({
    {&market::JsonFeedCounters::tickers, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "ticker"},
    {&market::JsonFeedCounters::depth_updates, "nfx_json_feed_messages_total", "Messages that were read.", "kind",
     "depth_update"},
    {&market::JsonFeedCounters::trades, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "trade"},
    {&market::JsonFeedCounters::answers, "nfx_json_feed_messages_total", "Messages that were read.", "kind", "answer"},
    {&market::JsonFeedCounters::refusals, "nfx_json_feed_messages_total", "Messages that were read.", "kind",
     "refusal"},
    {&market::JsonFeedCounters::old_tickers, "nfx_json_feed_old_tickers_total",
     "Book tickers that are not newer than the one before, left out."},
    {&market::JsonFeedCounters::other_book, "nfx_json_feed_other_book_total",
     "Book tickers of instruments with a depth book, and depth updates of those with tickers, left out."},
});
static_assert(rows_are_complete<market::JsonFeedCounters>());

}  // namespace nfx
