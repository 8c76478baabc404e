// ITCH messages to events: the changes of the books, and the directory of stocks; ItchFileReader reads files of
// them. Thread: one owner. Cost: a few nanoseconds a message; no allocation after the parser is made. Lifetime: an
// event is a value; a View borrows the message. Errors: a message of an unknown type or a wrong length gives no event,
// is counted, and is the result.
//
// The sink is called with an Event, and also with the View of each message of a type that it takes. That is how those
// without an event are read: imbalances, market makers, price collars, broken trades.
//
//   ITCH     event
//   A F      add
//   E        execute at the order's price. `other` is the match number
//   C        execute with a price; not_printable unless the message is marked as printable
//   X D      cancel, remove
//   U        replace. The order is last in the queue of its new price, under its new number, also if the price is equal
//   P        trade, without a side. ITCH does not have it
//   Q        trade of the cross's shares; none when nothing crossed
//   H h      status of the stock, both taken together
//   S W      status without an instrument: the whole market
// Other types give no event. A broken trade changes no book: the execution took its shares off, and they stay off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nexusfix/base/call_hook.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/itch.hpp"

namespace nfx::market {

// Four decimals, as the messages have them.
[[nodiscard]] constexpr Price itch_price(std::uint32_t ten_thousandths) noexcept {
  return {std::int64_t{ten_thousandths} * 100'000};
}

// By table: a branch on it would often be mispredicted.
inline constexpr std::array<Side, 256> itch_sides = [] {
  std::array<Side, 256> sides{};
  sides.fill(Side::none);
  sides['B'] = Side::bid;
  sides['S'] = Side::ask;
  return sides;
}();
[[nodiscard]] inline Side itch_side(char letter) noexcept { return itch_sides[static_cast<unsigned char>(letter)]; }

// Information that the message does not contain.
struct ItchReceipt {
  std::uint64_t sequence = 0;
  UtcTime received{};      // none: the event's own time
  std::uint8_t flags = 0;  // more flags of the events
};

// A locate code without an entry in the directory has no symbol.
struct ItchStock {
  std::array<char, 8> padded;  // with spaces; zeros: not in the directory
  std::uint32_t round_lot;
  char market_category;
  char state;             // of the last TradingAction: T, H, P, Q; 0: none came
  char operational_halt;  // H: Nasdaq's own market is halted
  char reserved;

  // Empty: not in the directory.
  [[nodiscard]] std::string_view symbol() const noexcept {
    std::string_view text{padded.data(), padded.size()};
    if (text[0] == '\0') return {};
    const std::size_t end = text.find_last_not_of(' ');
    return text.substr(0, end == text.npos ? 0 : end + 1);
  }
  [[nodiscard]] TradingStatus status() const noexcept;
};
static_assert(sizeof(ItchStock) == 16);

// The stocks of a day by locate code, which ITCH gives out again every day from 1 on, without large gaps. at() is an
// array access, find() compares all symbols. Takes 1 MiB of address space; a page is used when it is first written.
class ItchDirectory {
 public:
  ItchDirectory();

  [[nodiscard]] const ItchStock& at(std::uint16_t locate) const noexcept { return stocks_[locate]; }
  // Empty: no stock has this symbol.
  [[nodiscard]] std::optional<std::uint16_t> find(std::string_view symbol) const noexcept;
  // The highest locate code that has an entry. 0: there is none.
  [[nodiscard]] std::uint16_t highest() const noexcept { return highest_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(itch::View<itch::StockDirectory> message) noexcept;
  // Each returns what is now possible in the stock.
  TradingStatus update(itch::View<itch::TradingAction> message) noexcept;
  TradingStatus update(itch::View<itch::OperationalHalt> message) noexcept;
  void clear() noexcept;

 private:
  PageArray<ItchStock> stocks_;
  std::size_t size_ = 0;
  std::uint16_t highest_ = 0;
};

struct ItchCounters {
  std::uint64_t unknown_type = 0;
  std::uint64_t wrong_length = 0;
  std::uint64_t wrong_side = 0;

  friend bool operator==(const ItchCounters&, const ItchCounters&) = default;
};

namespace detail {

// The offsets of the fields of a message about an order, by type. The next type in a market cannot be predicted, so
// these messages are read without a branch on their type. An offset of 0 is the message's type: the field does not
// exist.
struct alignas(32) ItchOrderRow {
  std::uint8_t size = 0;  // of the message; 0: not such a message
  EventKind kind = EventKind::none;
  std::uint8_t side = 0;
  std::uint8_t quantity = 0;
  std::uint8_t price = 0;
  std::uint8_t other = 0;
  std::uint8_t printable = 0;
  std::uint8_t flag = 0;  // if it is not printable
  // All bits where the message has the field.
  std::uint32_t quantity_mask = 0;
  std::uint64_t other_mask = 0;
  std::int64_t no_price = Price::undefined().nano;  // else 0
};

template <class M>
[[nodiscard]] consteval ItchOrderRow itch_order_row(EventKind kind) {
  static_assert(M::order.offset == itch::Header::size);
  ItchOrderRow row;
  row.size = M::size;
  row.kind = kind;
  if constexpr (requires { M::side; }) row.side = M::side.offset;
  if constexpr (requires { M::shares; }) row.quantity = M::shares.offset;
  if constexpr (requires { M::price; }) row.price = M::price.offset;
  if constexpr (requires { M::match; }) row.other = M::match.offset;
  if constexpr (requires { M::new_order; }) row.other = M::new_order.offset;
  if constexpr (requires { M::printable; }) {
    row.printable = M::printable.offset;
    row.flag = event_flag::not_printable;
  }
  if (row.quantity != 0) row.quantity_mask = ~std::uint32_t{0};
  if (row.other != 0) row.other_mask = ~std::uint64_t{0};
  if (row.price != 0) row.no_price = 0;
  return row;
}

inline constexpr std::array<ItchOrderRow, 256> itch_order_rows = [] {
  std::array<ItchOrderRow, 256> rows{};
  rows['A'] = itch_order_row<itch::AddOrder>(EventKind::add);
  rows['F'] = itch_order_row<itch::AddOrderAttributed>(EventKind::add);
  rows['E'] = itch_order_row<itch::OrderExecuted>(EventKind::execute);
  rows['C'] = itch_order_row<itch::OrderExecutedWithPrice>(EventKind::execute);
  rows['X'] = itch_order_row<itch::OrderCancel>(EventKind::cancel);
  rows['D'] = itch_order_row<itch::OrderDelete>(EventKind::remove);
  rows['U'] = itch_order_row<itch::OrderReplace>(EventKind::replace);
  return rows;
}();

}  // namespace detail

class ItchParser {
 public:
  // Midnight in New York, at which the times of the messages begin.
  explicit ItchParser(UtcTime midnight) : midnight_(midnight) {}

  // One message without its length. The sink is called before it returns.
  template <class Sink>
  [[gnu::always_inline]] itch::ParseStatus message(std::span<const std::byte> bytes, const ItchReceipt& receipt,
                                                   Sink&& sink);

  [[nodiscard]] const ItchDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const ItchCounters& counters() const noexcept { return counters_; }
  // Forgets the directory: another session gives out its own locate codes.
  void clear() noexcept { directory_.clear(); }

 private:
  template <class Sink>
  struct Handler;

  [[gnu::cold, gnu::noinline]] void count(itch::ParseStatus status) noexcept;

  UtcTime midnight_;
  ItchDirectory directory_;
  ItchCounters counters_;
};

// The events of each type of message.
template <class Sink>
struct ItchParser::Handler {
  ItchParser& parser;
  const ItchReceipt& receipt;
  Sink& sink;

  template <class M>
  static constexpr bool gives_event =
      std::is_same_v<M, itch::AddOrder> || std::is_same_v<M, itch::AddOrderAttributed> ||
      std::is_same_v<M, itch::OrderExecuted> || std::is_same_v<M, itch::OrderExecutedWithPrice> ||
      std::is_same_v<M, itch::OrderCancel> || std::is_same_v<M, itch::OrderDelete> ||
      std::is_same_v<M, itch::OrderReplace> || std::is_same_v<M, itch::Trade> || std::is_same_v<M, itch::CrossTrade> ||
      std::is_same_v<M, itch::TradingAction> || std::is_same_v<M, itch::OperationalHalt> ||
      std::is_same_v<M, itch::SystemEvent> || std::is_same_v<M, itch::MarketWideStatus> ||
      std::is_same_v<M, itch::StockDirectory>;

  template <class M>
  static constexpr bool takes_view = std::is_invocable_v<Sink&, itch::View<M>>;
  static constexpr bool takes_order_views = takes_view<itch::AddOrder> || takes_view<itch::AddOrderAttributed> ||
                                            takes_view<itch::OrderExecuted> ||
                                            takes_view<itch::OrderExecutedWithPrice> || takes_view<itch::OrderCancel> ||
                                            takes_view<itch::OrderDelete> || takes_view<itch::OrderReplace>;

  template <class M>
    requires(gives_event<M> || takes_view<M>)
  [[gnu::always_inline]] void operator()(itch::View<M> message) const {
    if constexpr (takes_view<M>) sink(message);
    if constexpr (gives_event<M>) event_of(message);
  }

  template <class M>
  [[gnu::always_inline]] Event begin(itch::View<M> message, EventKind kind) const {
    Event event;
    event.event_time = parser.midnight_ + Duration{static_cast<std::int64_t>(message[itch::Header::time])};
    event.receive_time = receipt.received == UtcTime{} ? event.event_time : receipt.received;
    event.sequence = receipt.sequence;
    event.instrument = InstrumentId{message[itch::Header::locate]};
    event.kind = kind;
    event.flags = static_cast<std::uint8_t>(receipt.flags | event_flag::last);
    return event;
  }

  // For the types in itch_order_rows.
  [[gnu::always_inline]] void order_event(const std::byte* at, const detail::ItchOrderRow& row) const {
    using M = itch::OrderDelete;  // its fields are at the same places in all of them
    Event event;
    event.order = OrderId{load_big_endian<std::uint64_t>(at + M::order.offset)};
    event.other = load_big_endian<std::uint64_t>(at + row.other) & row.other_mask;
    event.price.nano = itch_price(load_big_endian<std::uint32_t>(at + row.price)).nano | row.no_price;
    event.quantity = load_big_endian<std::uint32_t>(at + row.quantity) & row.quantity_mask;
    const std::uint64_t time = load_big_endian<std::uint64_t>(at + M::tracking.offset) & 0xFFFF'FFFF'FFFF;
    event.event_time = parser.midnight_ + Duration{static_cast<std::int64_t>(time)};
    event.receive_time = receipt.received == UtcTime{} ? event.event_time : receipt.received;
    event.sequence = receipt.sequence;
    event.instrument = InstrumentId{load_big_endian<std::uint16_t>(at + M::locate.offset)};
    event.kind = row.kind;
    event.side = itch_side(static_cast<char>(at[row.side]));
    const std::uint8_t hidden = static_cast<char>(at[row.printable]) == 'Y' ? 0 : row.flag;
    event.flags = static_cast<std::uint8_t>(receipt.flags | event_flag::last | hidden);
    if (event.kind == EventKind::add && event.side == Side::none) [[unlikely]] {
      ++parser.counters_.wrong_side;
      return;
    }
    sink(std::as_const(event));
  }
  template <class M>
    requires(detail::itch_order_rows[static_cast<unsigned char>(M::type)].size != 0)
  [[gnu::always_inline]] void event_of(itch::View<M> message) const {
    order_event(message.bytes().data(), detail::itch_order_rows[static_cast<unsigned char>(M::type)]);
  }
  void event_of(itch::View<itch::Trade> message) const {
    using M = itch::Trade;
    Event event = begin(message, EventKind::trade);
    event.order = OrderId{message[M::order]};
    event.quantity = message[M::shares];
    event.other = message[M::match];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  void event_of(itch::View<itch::CrossTrade> message) const {
    using M = itch::CrossTrade;
    if (message[M::shares] == 0) return;
    Event event = begin(message, EventKind::trade);
    event.quantity = message[M::shares];
    event.other = message[M::match];
    event.price = itch_price(message[M::price]);
    sink(std::as_const(event));
  }
  void event_of(itch::View<itch::StockDirectory> message) const { parser.directory_.add(message); }
  void event_of(itch::View<itch::TradingAction> message) const { status(message, parser.directory_.update(message)); }
  void event_of(itch::View<itch::OperationalHalt> message) const { status(message, parser.directory_.update(message)); }
  void event_of(itch::View<itch::MarketWideStatus> message) const { status(message, TradingStatus::halted); }
  void event_of(itch::View<itch::SystemEvent> message) const {
    switch (message[itch::SystemEvent::event]) {
      case 'O':
      case 'S': return status(message, TradingStatus::pre_open);
      case 'Q': return status(message, TradingStatus::trading);
      case 'E':
      case 'C': return status(message, TradingStatus::closed);
      default: return;  // M, the end of market hours: trading continues after hours
    }
  }
  template <class M>
  void status(itch::View<M> message, TradingStatus status) const {
    Event event = begin(message, EventKind::status);
    event.status = status;
    sink(std::as_const(event));
  }
};

template <class Sink>
inline itch::ParseStatus ItchParser::message(std::span<const std::byte> bytes, const ItchReceipt& receipt,
                                             Sink&& sink) {
  trace_call();
  using Plain = std::remove_reference_t<Sink>;
  static_assert(std::is_invocable_v<Plain&, const Event&>);
  Handler<Plain> handler{*this, receipt, sink};
  if constexpr (!Handler<Plain>::takes_order_views) {
    if (!bytes.empty()) [[likely]] {
      const auto type = std::to_integer<unsigned char>(bytes.front());
      const detail::ItchOrderRow& row = detail::itch_order_rows[type];
      if (bytes.size() == row.size) [[likely]] {
        handler.order_event(bytes.data(), row);
        return itch::ParseStatus::ok;
      }
    }
  }
  const itch::ParseStatus status = itch::dispatch(bytes, handler);
  if (status != itch::ParseStatus::ok) [[unlikely]]
    count(status);
  return status;
}

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::ItchCounters> = std::to_array<CounterRow<market::ItchCounters>>({
    {&market::ItchCounters::unknown_type, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "unknown_type"},
    {&market::ItchCounters::wrong_length, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "wrong_length"},
    {&market::ItchCounters::wrong_side, "nfx_itch_ignored_total", "ITCH messages that are ignored.", "reason",
     "wrong_side"},
});
static_assert(rows_are_complete<market::ItchCounters>());

}  // namespace nfx

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

// Files of ITCH messages, each after its length in two big-endian bytes: bytes in chunks of any size in, events out.
// Thread: one owner. Cost: as the parser's; only a message that two chunks share is copied. No allocation after
// construction. Lifetime: a chunk is borrowed for the call.
// Errors: the first one ends the reading: ItchFileError gives what is wrong and at which byte of the input. A message
// of an unknown type is passed over and counted, because a later version of ITCH may have more. The messages have no
// checksum: damage inside of a message's fields is not found.
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
  // Messages read, and messages without an event by type, including unknown types.
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
