// Entries of FIX market data messages as values: MarketDataSnapshotFullRefresh (W), MarketDataIncrementalRefresh (X),
// of FIX 4.2 to 5.0. FixFeed decides the meaning of an entry for a book.
// Thread: any, one owner of the array. Cost: one pass over the fields of the group; no allocation. Lifetime: entries
// are values. Errors: FixFeedError; a message with one bad entry is refused as a whole. Bounds: as many entries as the
// given array has; identifiers of at most 31 characters; prices to 9 decimals; quantities to the instrument's scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "market/symbol_table.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/fix_feed.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {

// MDUpdateAction; a snapshot's entries are `add`.
enum class FixAction : std::uint8_t { add, change, remove, remove_through, remove_from, overlay };

enum class FixEntryType : std::uint8_t { bid, ask, trade, empty_book, statistic };

struct FixEntry {
  ShortText id;              // MDEntryID, or OrderID if there is none
  ShortText ref;             // MDEntryRefID: the entry's identifier before
  Price price;               // undefined: not in the message
  Quantity quantity = 0;     // if has_quantity
  std::uint64_t number = 0;  // RptSeq, 0 if there is none
  UtcTime time{};            // the entry's time, or else the message's
  InstrumentIndex instrument{};
  std::uint32_t position = 0;  // MDPriceLevel, or MDEntryPositionNo of an entry without an identifier; 0: none
  std::uint32_t orders = 0;    // NumberOfOrders
  FixAction action = FixAction::add;
  FixEntryType type = FixEntryType::statistic;
  Side aggressor = Side::none;
  bool has_quantity = false;
  bool has_type = false;
};
static_assert(std::is_trivially_copyable_v<FixEntry>);

// The instruments of a feed, and the scale of the quantities of each.
class FixInstruments {
 public:
  explicit FixInstruments(std::uint32_t capacity) : symbols_(capacity) { scales_.reserve(capacity); }

  // `quantity_scale`: decimals of its quantities, at most 9. Empty: no place is left, or the symbol is too long.
  std::optional<InstrumentIndex> add(std::string_view symbol, unsigned quantity_scale);
  [[nodiscard]] std::optional<InstrumentIndex> find(std::string_view symbol) const noexcept {
    return symbols_.find(symbol);
  }
  [[nodiscard]] std::string_view symbol(InstrumentIndex index) const noexcept { return symbols_.symbol(index); }
  [[nodiscard]] unsigned quantity_scale(InstrumentIndex index) const noexcept {
    return scales_[std::to_underlying(index)];
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return symbols_.size(); }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return symbols_.capacity(); }

 private:
  SymbolTable symbols_;
  std::vector<std::uint8_t> scales_;
};

// The contents of one message.
struct FixEntries {
  FixFeedError error = FixFeedError::none;
  std::size_t count = 0;              // of entries in the array; with an error, bad ones too, for their instruments
  std::uint32_t unknown_symbols = 0;  // entries that were left out
  bool all_affected = false;          // with an error: it may be about any instrument
  bool all_emptied = false;           // an empty book without an instrument: every book is empty
};

// X: its entries name their instruments, or use the instrument of the entry before.
[[nodiscard]] FixEntries read_increments(const MessageView& message, const FixInstruments& instruments,
                                         std::span<FixEntry> out) noexcept;

// W: one instrument; `instrument` is set if it is known, and `number` is RptSeq of the message, 0 before any update.
struct FixSnapshot : FixEntries {
  std::optional<InstrumentIndex> instrument;
  std::optional<std::uint64_t> number;
};
[[nodiscard]] FixSnapshot read_snapshot(const MessageView& message, const FixInstruments& instruments,
                                        std::span<FixEntry> out) noexcept;

// SecurityTradingStatus (326) of SecurityStatus (f); unknown for other values.
[[nodiscard]] TradingStatus trading_status(const MessageView& message) noexcept;

namespace fix_tag {
inline constexpr Tag MarketDepth{264}, AggregatedBook{266}, RptSeq{83}, SecurityTradingStatus{326}, NumberOfOrders{346},
    MDPriceLevel{1023}, AggressorSide{2446}, TransactTime{60}, MDReqRejReason{281};
}

}  // namespace nfx::market
