// Market data of large crypto venues: numbered depth updates with snapshots by HTTP, book tickers and trades to events.
// Thread: one owner; the time is an argument. Cost: see JsonReader; a look-up of the symbol and an event a level. No
// allocation after construction. Lifetime: the output outlives the feed. Errors: JsonError, and counters; a depth
// update that cannot be read changes no book: its instrument needs a snapshot. Bounds: JsonFeedOptions. Construction
// throws std::runtime_error in a build without simdjson.
//
// An instrument's book is of one kind, JsonBook:
//   depth    An update brings the book from any number in [U - 1, u), or from `pu` where the venue sends it, to u. A
//            snapshot is applied if the buffered updates connect to its lastUpdateId; the first update after it is the
//            one that includes lastUpdateId + 1. Everything else is a gap, and the snapshot is requested.
//   ticker   The best prices alone: the price before is removed with a level_set of quantity 0. It is live with the
//   first
//            ticker, has no gaps, and an older `u` changes nothing.
// Messages of the other kind are counted and left out. Trades are events of both kinds of instruments; a trade's number
// is Event::other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/feed_output.hpp"
#include "nexusfix/market/json_feed_counters.hpp"
#include "nexusfix/market/json_message.hpp"
#include "nexusfix/market/symbol_table.hpp"
#include "nexusfix/market/update_recovery.hpp"

namespace nfx::market {

struct JsonFeedOptions {
  RecoveryOptions recovery;  // recovery.instruments: how many may be added
  JsonLimits limits = {};
};

enum class JsonBook : std::uint8_t { depth, ticker };

class JsonFeed {
 public:
  JsonFeed(const JsonFeedOptions& options, FeedOutput& output);

  // Before the first message. `quantity_scale`: decimals of its quantities, at most 18. Empty: there are
  // recovery.instruments already, or the symbol is empty or longer than 31 characters.
  std::optional<InstrumentIndex> add(std::string_view symbol, JsonBook book, unsigned quantity_scale = 8);

  // A message of the websocket.
  JsonError message(const JsonBytes& bytes, Instant now);
  // The body of the answer to a snapshot request, which does not name its instrument.
  JsonError snapshot(InstrumentIndex index, const JsonBytes& bytes, Instant now);
  // The HTTP server refused: the next request is after retry_max.
  void snapshot_refused(InstrumentIndex index, MonotonicTime now) noexcept { recovery_.refused(index, now); }
  // As often as the poll loop runs: requests what is due.
  void tick(MonotonicTime now) {
    while (const auto index = recovery_.due(now)) output_->request_snapshot(*index);
  }
  // tick() does nothing before, unless messages come.
  [[nodiscard]] MonotonicTime due_at() const noexcept { return recovery_.due_at(); }
  // The connection is gone.
  void disconnected(Instant now);

  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept;
  [[nodiscard]] const InstrumentRecovery& recovery() const noexcept { return recovery_; }
  [[nodiscard]] const SymbolTable& symbols() const noexcept { return symbols_; }
  [[nodiscard]] const JsonFeedCounters& counters() const noexcept { return counters_; }
  // Messages and snapshots that ended in `error`.
  [[nodiscard]] std::uint64_t count(JsonError error) const noexcept { return errors_[static_cast<std::size_t>(error)]; }
  [[nodiscard]] std::uint64_t left_to_simdjson() const noexcept { return reader_->left_to_simdjson(); }

 private:
  struct Entry {
    Price price;
    Quantity quantity;
    UtcTime event_time;
    UtcTime receive_time;
    std::uint64_t sequence;
    Side side;
  };
  struct Best {
    Price price = Price::undefined();
    Quantity quantity = 0;
  };
  struct Instrument {
    JsonBook book = JsonBook::depth;
    std::uint8_t scale = 0;
    bool ticked = false;
    std::uint64_t last = 0;    // of the tickers
    std::array<Best, 2> best;  // by Side
  };

  JsonError dispatch(JsonError read, Instant now);
  JsonError ticker(InstrumentIndex index, Instrument& instrument, Instant now);
  JsonError depth(InstrumentIndex index, const Instrument& instrument, Instant now);
  JsonError trade(InstrumentIndex index, const Instrument& instrument, Instant now);
  JsonError read_entries(unsigned scale, std::uint64_t sequence, Instant now);
  JsonError add_entries(std::span<const JsonLevel> levels, Side side, unsigned scale, const Entry& like);
  void lost(InstrumentIndex index, Instant now);
  void announce(InstrumentIndex index, bool was_live, Instant now);
  void apply(InstrumentIndex index, const Entry& entry, std::uint8_t flags) noexcept;
  void emit(const Event& event) noexcept;
  void finish() noexcept;
  [[nodiscard]] UtcTime event_time(Instant now) const noexcept;
  [[nodiscard]] Event event_of(EventKind kind, InstrumentIndex index, Instant now) const noexcept;
  [[nodiscard]] Instrument& at(InstrumentIndex index) noexcept { return instruments_[std::to_underlying(index)]; }
  JsonError counted(JsonError error) noexcept {
    ++errors_[static_cast<std::size_t>(error)];
    return error;
  }

  SymbolTable symbols_;
  std::vector<Instrument> instruments_;
  UpdateRecovery<Entry> recovery_;
  std::unique_ptr<JsonReader> reader_;
  FeedOutput* output_;
  JsonMessage message_;
  std::vector<Entry> entries_;  // of the message
  std::optional<Event> pending_;
  JsonFeedCounters counters_;
  std::array<std::uint64_t, json_errors> errors_{};
};

}  // namespace nfx::market
