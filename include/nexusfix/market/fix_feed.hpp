// Market data by FIX: MarketDataSnapshotFullRefresh (W), MarketDataIncrementalRefresh (X), MarketDataRequestReject (Y)
// and SecurityStatus (f) to events, and MarketDataRequest (V) to get them.
// Thread: one owner; the time is an argument. Cost: one pass over a message's fields and a look-up an entry; no
// allocation after construction. Lifetime: the output outlives the feed; views of messages are not stored. Errors:
// FixFeedError, and counters. A message with an entry that cannot be read changes no book: its instruments need a
// snapshot. Bounds: FixFeedOptions.
//
// The fields of an entry determine its kind; the first row that applies is used:
//   MDPriceLevel (1023)         a level by its position: level_set events
//   MDEntryID (278), OrderID    an order, also of venues that identify each quote: add, modify, replace, remove
//   MDEntryPositionNo (290)     a level by its position
//   none of them                a level by its price
// A level that is new at a position moves those after it; one beyond `depth` is dropped, as venues with a bounded depth
// expect. A level whose price is not between its neighbours', a change of what is not there and an order whose number
// is known already do not fit: the instrument needs a snapshot. A deletion of an unknown identifier is only counted.
//
// With RptSeq (83) gaps are found by instrument and the snapshot's RptSeq states which increments it includes. Without
// it the session's order is the venue's: a snapshot is newer than everything before it, and increments
// before it are dropped. LastMsgSeqNumProcessed (369) is not read: in FIX it is about messages of the other direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {

// Why a message was not used, or not as a whole.
enum class FixFeedError : std::uint8_t {
  none,
  other_message,      // a MsgType that is not market data
  no_symbol,          // an entry, or a snapshot, without an instrument
  unknown_symbol,     // entries of instruments that were not added; the others were used
  no_entries,         // NoMDEntries is missing
  wrong_entry_count,  // NoMDEntries is not the number of entries
  too_many_entries,   // more than FixFeedOptions::entries
  bad_action,         // MDUpdateAction is missing or not 0 to 5
  no_entry_type,      // MDEntryType is missing or longer than a character
  bad_price,          // not a number, or not exact in billionths, or missing where it is needed
  bad_size,           // not a number, negative, not exact in the instrument's scale, or missing where it is needed
  bad_position,       // MDPriceLevel or MDEntryPositionNo is not a number from 1 on
  bad_sequence,       // RptSeq is not a number from 1 on, or from 0 on of a snapshot
  bad_id,             // MDEntryID, MDEntryRefID or OrderID is empty or longer than 31 characters
  repeated_field,     // a field twice in an entry
  rejected,           // the venue refused a request: FixFeed::reject()
};
inline constexpr std::size_t fix_feed_errors = 16;
[[nodiscard]] std::string_view to_string(FixFeedError error) noexcept;

struct FixFeedOptions {
  RecoveryOptions recovery;      // recovery.instruments: how many may be added
  std::uint32_t entries = 4096;  // of one message
  std::uint32_t depth = 64;      // levels a side that have positions, at most 1024
  std::uint32_t orders = 65536;  // entries with an identifier, of all instruments
};

// The fields of MarketDataRequest.
struct FixMarketDataRequest {
  std::string_view id = {};        // MDReqID
  char subscription = '1';         // SubscriptionRequestType: 0 snapshot, 1 snapshot and updates, 2 no more updates
  std::uint32_t depth = 0;         // MarketDepth: 0 full, 1 best prices, n levels
  char update_type = '1';          // MDUpdateType: 0 full, 1 incremental
  bool by_order = false;           // AggregatedBook=N
  std::string_view types = "012";  // MDEntryType, one character each
  std::span<const std::string_view> symbols = {};
};
// Appends the body. False: the writer has failed, or there is no symbol or no type.
bool write_market_data_request(FieldWriter& writer, const FixMarketDataRequest& request) noexcept;

// MarketDataRequestReject as received, its text cut off.
struct FixReject {
  std::optional<InstrumentIndex> instrument;  // if the request was made by write_request()
  char reason = 0;                            // MDReqRejReason; 0: none
  std::string_view id;                        // valid until the next message; empty if it is longer than 31 characters
};

// Besides RecoveryCounters and the messages that ended in an error.
struct FixFeedCounters {
  std::uint64_t entries = 0;
  std::uint64_t statistics = 0;
  std::uint64_t unknown_symbols = 0;
  std::uint64_t unknown_ids = 0;
  std::uint64_t trade_corrections = 0;
  std::uint64_t misfits = 0;
  std::uint64_t table_full = 0;

  friend bool operator==(const FixFeedCounters&, const FixFeedCounters&) = default;
};

class FixFeed {
 public:
  FixFeed(const FixFeedOptions& options, FeedOutput& output);
  ~FixFeed();
  FixFeed(const FixFeed&) = delete;
  FixFeed& operator=(const FixFeed&) = delete;

  // Before the first message. Empty: there are recovery.instruments already, or the symbol is empty or longer than 31
  // characters. `quantity_scale`: decimals of its quantities, at most 9.
  std::optional<InstrumentIndex> add(std::string_view symbol, unsigned quantity_scale = 0);

  // A message of the session, of any type.
  FixFeedError message(const MessageView& message, Instant now);
  // As often as the poll loop runs: requests what is due.
  void tick(MonotonicTime now);
  // tick() does nothing before, unless messages come.
  [[nodiscard]] MonotonicTime due_at() const noexcept;
  // The session was logged out: subscriptions are gone, every book needs a snapshot.
  void disconnected(Instant now);

  // The body of the request that FeedOutput::request_snapshot() wants: snapshot and updates until something of the
  // instrument has been received in this session, afterwards a snapshot alone.
  bool write_request(FieldWriter& writer, InstrumentIndex index, FixMarketDataRequest request = {});

  // The number of instruments that were added, and how many of them are not live.
  [[nodiscard]] std::size_t instruments() const noexcept;
  [[nodiscard]] std::size_t waiting() const noexcept;
  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept;
  // RptSeq of the last update that was applied; empty before the first one.
  [[nodiscard]] std::optional<std::uint64_t> position(InstrumentIndex index) const noexcept;

  [[nodiscard]] const FixFeedCounters& counters() const noexcept;
  [[nodiscard]] const RecoveryCounters& recovery_counters() const noexcept;
  // Messages that ended in `error`.
  [[nodiscard]] std::uint64_t count(FixFeedError error) const noexcept;
  [[nodiscard]] const FixReject& reject() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::FixFeedCounters> = std::to_array<CounterRow<market::FixFeedCounters>>({
    {&market::FixFeedCounters::entries, "nfx_fix_feed_entries_total", "Entries of W and X that were read."},
    {&market::FixFeedCounters::statistics, "nfx_fix_feed_statistics_total",
     "Entries that change no book, such as opening prices and volumes, left out."},
    {&market::FixFeedCounters::unknown_symbols, "nfx_fix_feed_unknown_symbols_total",
     "Entries of instruments that were not added, left out."},
    {&market::FixFeedCounters::unknown_ids, "nfx_fix_feed_unknown_ids_total",
     "Changes and deletions of entries whose MDEntryID is not known."},
    {&market::FixFeedCounters::trade_corrections, "nfx_fix_feed_trade_corrections_total",
     "Changes and deletions of trades, left out."},
    {&market::FixFeedCounters::misfits, "nfx_fix_feed_misfits_total",
     "Entries that did not fit the book, which needs a snapshot then."},
    {&market::FixFeedCounters::table_full, "nfx_fix_feed_table_full_total",
     "Entries with an identifier for which no place was left, so that the book needs a snapshot."},
});
static_assert(rows_are_complete<market::FixFeedCounters>());

}  // namespace nfx
