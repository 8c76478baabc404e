// Market data by FIX: MarketDataSnapshotFullRefresh (W), MarketDataIncrementalRefresh (X), MarketDataRequestReject (Y)
// and SecurityStatus (f) to events, and MarketDataRequest (V) to get them.
// Thread: one owner; the time is an argument. Cost: one pass over a message's fields and a look-up an entry; no
// allocation after construction. Lifetime: the output outlives the feed; views of messages are not stored. Errors:
// FixFeedError, and counters. A message with an entry that cannot be read changes no book: its instruments need a
// snapshot. Bounds: FixFeedOptions.
//
// What an entry is follows from its fields, the first that applies:
//   MDPriceLevel (1023)         a level by its position: level_set events
//   MDEntryID (278), OrderID    an order, also of venues that identify each quote: add, modify, replace, remove
//   MDEntryPositionNo (290)     a level by its position
//   none of them                a level by its price
// A level that is new at a position moves those after it; one beyond `depth` is dropped, as venues with a bounded depth
// expect. A level whose price is not between its neighbours', a change of what is not there and an order whose number
// is known already do not fit: the instrument needs a snapshot. A deletion of an unknown identifier is only counted.
//
// With RptSeq (83) gaps are found by instrument and the snapshot's RptSeq states which increments it includes. Without
// it the order of the session is that of the venue: a snapshot is newer than everything before it, and increments
// before it are dropped. LastMsgSeqNumProcessed (369) is not read: in FIX it is about messages of the other direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/feed_output.hpp"
#include "nexusfix/market/fix_entries.hpp"
#include "nexusfix/market/fix_feed_counters.hpp"
#include "nexusfix/market/update_recovery.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {

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
  ShortText id;                               // empty if it is too long
};

class FixTranslator;

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
  [[nodiscard]] MonotonicTime due_at() const noexcept { return recovery_.due_at(); }
  // The session was logged out: subscriptions are gone, every book needs a snapshot.
  void disconnected(Instant now);

  // The body of the request that FeedOutput::request_snapshot() wants: snapshot and updates until something of the
  // instrument has been received in this session, afterwards a snapshot alone.
  bool write_request(FieldWriter& writer, InstrumentIndex index, FixMarketDataRequest request = {});

  [[nodiscard]] InstrumentState state(InstrumentIndex index) const noexcept { return recovery_.state(index); }
  [[nodiscard]] const InstrumentRecovery& recovery() const noexcept { return recovery_; }
  [[nodiscard]] const FixInstruments& instruments() const noexcept { return instruments_; }
  [[nodiscard]] const FixFeedCounters& counters() const noexcept { return counters_; }
  // Messages that ended in `error`.
  [[nodiscard]] std::uint64_t count(FixFeedError error) const noexcept {
    return errors_[static_cast<std::size_t>(error)];
  }
  [[nodiscard]] const FixReject& reject() const noexcept { return reject_; }

 private:
  struct Heard {
    std::uint64_t message = 0;  // the last one about it
    std::uint64_t number = 0;   // RptSeq of the last update in that message
    bool subscribed = false;    // something was received in this session
  };

  FixFeedError dispatch(const MessageView& message, Instant now);
  FixFeedError increments(const MessageView& message, Instant now);
  FixFeedError snapshot(const MessageView& message, Instant now);
  FixFeedError rejected(const MessageView& message, Instant now) noexcept;
  FixFeedError status(const MessageView& message, Instant now);
  void update(std::span<const FixEntry> entries);
  void emptied(InstrumentIndex index, std::uint64_t number, UtcTime time);
  void lost(InstrumentIndex index);
  void announce(InstrumentIndex index, bool was_live);
  [[nodiscard]] bool live(InstrumentIndex index) const noexcept { return state(index) == InstrumentState::live; }

  FixInstruments instruments_;
  UpdateRecovery<FixEntry> recovery_;
  FixFeedCounters counters_;
  std::array<std::uint64_t, fix_feed_errors> errors_{};
  std::vector<FixEntry> entries_;
  std::vector<Heard> heard_;
  std::unique_ptr<FixTranslator> translator_;
  FeedOutput* output_;
  FixReject reject_;
  std::uint64_t messages_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace nfx::market
