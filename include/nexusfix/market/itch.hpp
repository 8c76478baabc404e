// NASDAQ TotalView-ITCH 5.0: the layout of every message, views over received bytes, and dispatch by message type.
// Thread: any, no state. Cost: dispatch() is one table look-up, one compare and one jump; a field is one load and one
// byte swap when it is read. Lifetime: views borrow the caller's bytes. Errors: values; nothing is read outside a
// message, whose length is compared with its type's before anything else is read.
// A handler is called with the View of a message, and takes only the types that it wants:
//   itch::dispatch(message, [](itch::View<itch::OrderDelete> m) { use(m[itch::OrderDelete::order]); });
//
//    0      1         3         5            11
//   +------+---------+---------+------------+----------------------------
//   | type | locate  | tracking| ns of day  | what the type has of its own
//   +------+---------+---------+------------+----------------------------
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/language.hpp"

namespace nfx::market {

// Unsigned big-endian numbers, as exchanges' binary protocols write them. The caller has checked the length.
template <class Word>
[[nodiscard, gnu::always_inline]] inline Word load_big_endian(const std::byte* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = std::byteswap(word);
  return word;
}

template <class Word>
[[gnu::always_inline]] inline void store_big_endian(std::byte* at, Word word) noexcept {
  if constexpr (std::endian::native == std::endian::little) word = std::byteswap(word);
  std::memcpy(at, &word, sizeof word);
}

// Messages after their lengths, two big-endian bytes each, seen some messages before they are read: so that what each
// will need is loaded meanwhile. It stops before a message that the bytes do not have whole.
class FramesAhead {
 public:
  static constexpr unsigned distance = 16;

  FramesAhead(const std::byte* begin, const std::byte* end) noexcept : at_(begin), end_(end) {}

  // Before each message is read: calls `expect(message)` for what is now within `distance`.
  template <class Expect>
  [[gnu::always_inline]] void next(Expect&& expect) {
    while (lead_ < distance && end_ - at_ >= 2) {
      const std::size_t size = load_big_endian<std::uint16_t>(at_);
      if (static_cast<std::size_t>(end_ - at_) - 2 < size) break;
      expect(std::span<const std::byte>{at_ + 2, size});
      at_ += 2 + size;
      ++lead_;
    }
    lead_ -= lead_ != 0 ? 1 : 0;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
  unsigned lead_ = 0;  // messages that were announced and not read
};

}  // namespace nfx::market

namespace nfx::market::itch {

// A field's place and type. Prices have four decimals (the levels of MarketWideLevels: eight), the number as sent.
template <std::size_t Offset, class T>
struct Number {
  static constexpr std::size_t offset = Offset, end = Offset + sizeof(T);
  using type = T;
};
template <std::size_t Offset>
struct Letter {
  static constexpr std::size_t offset = Offset, end = Offset + 1;
};
// Left-justified, padded with spaces.
template <std::size_t Offset, std::size_t Size>
struct Text {
  static constexpr std::size_t offset = Offset, end = Offset + Size;
};
// 48 bits: nanoseconds since midnight in New York.
struct TimeOfDay {
  static constexpr std::size_t offset = 5, end = 11;
};

template <std::size_t Offset>
using U16 = Number<Offset, std::uint16_t>;
template <std::size_t Offset>
using U32 = Number<Offset, std::uint32_t>;
template <std::size_t Offset>
using U64 = Number<Offset, std::uint64_t>;

// The start of every message.
struct Header {
  static constexpr U16<1> locate{};
  static constexpr U16<3> tracking{};
  static constexpr TimeOfDay time{};
  static constexpr std::size_t size = 11;
};

template <char Type, class Last>
struct Layout : Header {
  static constexpr char type = Type;
  static constexpr std::size_t size = Last::end;
};

// O S Q M E C: start of messages, of system hours, of market hours, end of market hours, of system hours, of messages.
struct SystemEvent : Layout<'S', Letter<11>> {
  static constexpr Letter<11> event{};
};
struct StockDirectory : Layout<'R', Letter<38>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> market_category{};
  static constexpr Letter<20> financial_status{};
  static constexpr U32<21> round_lot_size{};
  static constexpr Letter<25> round_lots_only{};
  static constexpr Letter<26> issue_classification{};
  static constexpr Text<27, 2> issue_sub_type{};
  static constexpr Letter<29> authenticity{};
  static constexpr Letter<30> short_sale_threshold{};
  static constexpr Letter<31> ipo{};
  static constexpr Letter<32> luld_tier{};
  static constexpr Letter<33> etp{};
  static constexpr U32<34> etp_leverage{};
  static constexpr Letter<38> inverse{};
};
// H halted, P paused (SROs), Q quotation only, T trading.
struct TradingAction : Layout<'H', Text<21, 4>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> state{};
  static constexpr Letter<20> reserved{};
  static constexpr Text<21, 4> reason{};
};
struct RegShoRestriction : Layout<'Y', Letter<19>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> action{};
};
struct ParticipantPosition : Layout<'L', Letter<25>> {
  static constexpr Text<11, 4> participant{};
  static constexpr Text<15, 8> stock{};
  static constexpr Letter<23> primary{};
  static constexpr Letter<24> mode{};
  static constexpr Letter<25> state{};
};
struct MarketWideLevels : Layout<'V', U64<27>> {
  static constexpr U64<11> level_1{};
  static constexpr U64<19> level_2{};
  static constexpr U64<27> level_3{};
};
struct MarketWideStatus : Layout<'W', Letter<11>> {
  static constexpr Letter<11> breached_level{};
};
struct IpoQuotingPeriod : Layout<'K', U32<24>> {
  static constexpr Text<11, 8> stock{};
  static constexpr U32<19> release_time{};  // seconds since midnight
  static constexpr Letter<23> qualifier{};
  static constexpr U32<24> price{};
};
struct AuctionCollar : Layout<'J', U32<31>> {
  static constexpr Text<11, 8> stock{};
  static constexpr U32<19> reference_price{};
  static constexpr U32<23> upper_price{};
  static constexpr U32<27> lower_price{};
  static constexpr U32<31> extension{};
};
// H halted, T trading resumed.
struct OperationalHalt : Layout<'h', Letter<20>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> market{};
  static constexpr Letter<20> action{};
};
struct AddOrder : Layout<'A', U32<32>> {
  static constexpr U64<11> order{};
  static constexpr Letter<19> side{};  // B or S
  static constexpr U32<20> shares{};
  static constexpr Text<24, 8> stock{};
  static constexpr U32<32> price{};
};
struct AddOrderAttributed : Layout<'F', Text<36, 4>> {
  static constexpr U64<11> order{};
  static constexpr Letter<19> side{};
  static constexpr U32<20> shares{};
  static constexpr Text<24, 8> stock{};
  static constexpr U32<32> price{};
  static constexpr Text<36, 4> participant{};
};
struct OrderExecuted : Layout<'E', U64<23>> {
  static constexpr U64<11> order{};
  static constexpr U32<19> shares{};
  static constexpr U64<23> match{};
};
struct OrderExecutedWithPrice : Layout<'C', U32<32>> {
  static constexpr U64<11> order{};
  static constexpr U32<19> shares{};
  static constexpr U64<23> match{};
  static constexpr Letter<31> printable{};  // N: part of a cross, which reports the volume
  static constexpr U32<32> price{};
};
struct OrderCancel : Layout<'X', U32<19>> {
  static constexpr U64<11> order{};
  static constexpr U32<19> shares{};  // that are taken off
};
struct OrderDelete : Layout<'D', U64<11>> {
  static constexpr U64<11> order{};
};
struct OrderReplace : Layout<'U', U32<31>> {
  static constexpr U64<11> order{};
  static constexpr U64<19> new_order{};
  static constexpr U32<27> shares{};
  static constexpr U32<31> price{};
};
// A trade of an order that was not displayed.
struct Trade : Layout<'P', U64<36>> {
  static constexpr U64<11> order{};
  static constexpr Letter<19> side{};
  static constexpr U32<20> shares{};
  static constexpr Text<24, 8> stock{};
  static constexpr U32<32> price{};
  static constexpr U64<36> match{};
};
struct CrossTrade : Layout<'Q', Letter<39>> {
  static constexpr U64<11> shares{};
  static constexpr Text<19, 8> stock{};
  static constexpr U32<27> price{};
  static constexpr U64<31> match{};
  static constexpr Letter<39> cross{};  // O opening, C closing, H halted or new, I intraday
};
struct BrokenTrade : Layout<'B', U64<11>> {
  static constexpr U64<11> match{};
};
struct NetOrderImbalance : Layout<'I', Letter<49>> {
  static constexpr U64<11> paired_shares{};
  static constexpr U64<19> imbalance_shares{};
  static constexpr Letter<27> direction{};
  static constexpr Text<28, 8> stock{};
  static constexpr U32<36> far_price{};
  static constexpr U32<40> near_price{};
  static constexpr U32<44> reference_price{};
  static constexpr Letter<48> cross{};
  static constexpr Letter<49> price_variation{};
};
struct RetailInterest : Layout<'N', Letter<19>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> interest{};
};
struct CapitalRaiseDiscovery : Layout<'O', U32<44>> {
  static constexpr Text<11, 8> stock{};
  static constexpr Letter<19> open_eligible{};
  static constexpr U32<20> minimum_price{};
  static constexpr U32<24> maximum_price{};
  static constexpr U32<28> near_price{};
  static constexpr U64<32> near_time{};
  static constexpr U32<40> lower_collar{};
  static constexpr U32<44> upper_collar{};
};

// Every message: type, length and name. The lengths of the layouts above are compared with these.
struct MessageRow {
  char type;
  std::uint8_t size;
  std::string_view name;
};
inline constexpr std::array message_rows{
    MessageRow{'S', 12, "System Event"},
    MessageRow{'R', 39, "Stock Directory"},
    MessageRow{'H', 25, "Stock Trading Action"},
    MessageRow{'Y', 20, "Reg SHO Restriction"},
    MessageRow{'L', 26, "Market Participant Position"},
    MessageRow{'V', 35, "MWCB Decline Level"},
    MessageRow{'W', 12, "MWCB Status"},
    MessageRow{'K', 28, "IPO Quoting Period Update"},
    MessageRow{'J', 35, "LULD Auction Collar"},
    MessageRow{'h', 21, "Operational Halt"},
    MessageRow{'A', 36, "Add Order"},
    MessageRow{'F', 40, "Add Order with MPID"},
    MessageRow{'E', 31, "Order Executed"},
    MessageRow{'C', 36, "Order Executed with Price"},
    MessageRow{'X', 23, "Order Cancel"},
    MessageRow{'D', 19, "Order Delete"},
    MessageRow{'U', 35, "Order Replace"},
    MessageRow{'P', 44, "Trade"},
    MessageRow{'Q', 40, "Cross Trade"},
    MessageRow{'B', 19, "Broken Trade"},
    MessageRow{'I', 50, "Net Order Imbalance"},
    MessageRow{'N', 20, "Retail Interest"},
    MessageRow{'O', 48, "Direct Listing with Capital Raise"},
};
inline constexpr std::size_t max_message_size = 50;

namespace detail {
[[nodiscard]] consteval auto sizes_by_type() {
  std::array<std::uint8_t, 256> sizes{};
  for (const MessageRow& row : message_rows) sizes[static_cast<unsigned char>(row.type)] = row.size;
  return sizes;
}
}  // namespace detail

// By type; 0: not a type.
inline constexpr std::array<std::uint8_t, 256> message_sizes = detail::sizes_by_type();

// The bytes of one message, whose type and length have been checked. M is a layout.
template <class M>
class View {
 public:
  explicit View(const std::byte* at) noexcept : at_(at) { NFX_ASSERT(static_cast<char>(*at) == M::type); }

  template <std::size_t Offset, class T>
  [[nodiscard]] T operator[](Number<Offset, T>) const noexcept {
    static_assert(Offset + sizeof(T) <= M::size);
    return load_big_endian<T>(at_ + Offset);
  }
  template <std::size_t Offset>
  [[nodiscard]] char operator[](Letter<Offset>) const noexcept {
    static_assert(Offset < M::size);
    return static_cast<char>(at_[Offset]);
  }
  // With its padding.
  template <std::size_t Offset, std::size_t Size>
  [[nodiscard]] std::string_view operator[](Text<Offset, Size>) const noexcept {
    static_assert(Offset + Size <= M::size);
    return {reinterpret_cast<const char*>(at_ + Offset), Size};
  }
  // The tracking number and the time are one word.
  [[nodiscard]] std::uint64_t operator[](TimeOfDay) const noexcept {
    return load_big_endian<std::uint64_t>(at_ + 3) & 0xFFFF'FFFF'FFFF;
  }

  [[nodiscard]] std::span<const std::byte, M::size> bytes() const noexcept {
    return std::span<const std::byte, M::size>{at_, M::size};
  }

 private:
  const std::byte* at_;
};

enum class ParseStatus : std::uint8_t {
  ok,
  unknown_type,
  wrong_length,  // of a known type; also a message without a byte
};
[[nodiscard]] std::string_view to_string(ParseStatus status) noexcept;

namespace detail {
template <class M, class Handler>
[[gnu::always_inline]] inline void give(const std::byte* message, Handler& handler) {
  static_assert(message_sizes[static_cast<unsigned char>(M::type)] == M::size);
  if constexpr (std::is_invocable_v<Handler&, View<M>>) handler(View<M>{message});
}
}  // namespace detail

// Calls `handler` with the View of the message if it takes this type. Nothing is called unless the result is ok.
template <class Handler>
[[gnu::always_inline]] inline ParseStatus dispatch(std::span<const std::byte> message, Handler&& handler) {
  if (message.empty()) [[unlikely]]
    return ParseStatus::wrong_length;
  const auto type = std::to_integer<unsigned char>(message.front());
  if (message_sizes[type] != message.size()) [[unlikely]] {
    return message_sizes[type] == 0 ? ParseStatus::unknown_type : ParseStatus::wrong_length;
  }
  const std::byte* const at = message.data();
  switch (static_cast<char>(type)) {
    case SystemEvent::type: detail::give<SystemEvent>(at, handler); break;
    case StockDirectory::type: detail::give<StockDirectory>(at, handler); break;
    case TradingAction::type: detail::give<TradingAction>(at, handler); break;
    case RegShoRestriction::type: detail::give<RegShoRestriction>(at, handler); break;
    case ParticipantPosition::type: detail::give<ParticipantPosition>(at, handler); break;
    case MarketWideLevels::type: detail::give<MarketWideLevels>(at, handler); break;
    case MarketWideStatus::type: detail::give<MarketWideStatus>(at, handler); break;
    case IpoQuotingPeriod::type: detail::give<IpoQuotingPeriod>(at, handler); break;
    case AuctionCollar::type: detail::give<AuctionCollar>(at, handler); break;
    case OperationalHalt::type: detail::give<OperationalHalt>(at, handler); break;
    case AddOrder::type: detail::give<AddOrder>(at, handler); break;
    case AddOrderAttributed::type: detail::give<AddOrderAttributed>(at, handler); break;
    case OrderExecuted::type: detail::give<OrderExecuted>(at, handler); break;
    case OrderExecutedWithPrice::type: detail::give<OrderExecutedWithPrice>(at, handler); break;
    case OrderCancel::type: detail::give<OrderCancel>(at, handler); break;
    case OrderDelete::type: detail::give<OrderDelete>(at, handler); break;
    case OrderReplace::type: detail::give<OrderReplace>(at, handler); break;
    case Trade::type: detail::give<Trade>(at, handler); break;
    case CrossTrade::type: detail::give<CrossTrade>(at, handler); break;
    case BrokenTrade::type: detail::give<BrokenTrade>(at, handler); break;
    case NetOrderImbalance::type: detail::give<NetOrderImbalance>(at, handler); break;
    case RetailInterest::type: detail::give<RetailInterest>(at, handler); break;
    case CapitalRaiseDiscovery::type: detail::give<CapitalRaiseDiscovery>(at, handler); break;
  }
  return ParseStatus::ok;
}

// A message to be sent: spaces and zeros where nothing is set.
template <class M>
class Message {
 public:
  Message(std::uint16_t locate, std::uint64_t time_of_day_ns) noexcept {
    bytes_[0] = static_cast<std::byte>(M::type);
    store_big_endian<std::uint64_t>(bytes_.data() + 3, time_of_day_ns & 0xFFFF'FFFF'FFFF);
    set(Header::locate, locate);
  }

  template <std::size_t Offset, class T>
  Message& set(Number<Offset, T>, std::type_identity_t<T> value) noexcept {
    static_assert(Offset + sizeof(T) <= M::size);
    store_big_endian<T>(bytes_.data() + Offset, value);
    return *this;
  }
  template <std::size_t Offset>
  Message& set(Letter<Offset>, char value) noexcept {
    static_assert(Offset < M::size);
    bytes_[Offset] = static_cast<std::byte>(value);
    return *this;
  }
  template <std::size_t Offset, std::size_t Size>
  Message& set(Text<Offset, Size>, std::string_view value) noexcept {
    static_assert(Offset + Size <= M::size);
    for (std::size_t i = 0; i < Size; ++i)
      bytes_[Offset + i] = static_cast<std::byte>(i < value.size() ? value[i] : ' ');
    return *this;
  }

  [[nodiscard]] std::span<const std::byte, M::size> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, M::size> bytes_{};
};

// The stock and the order of a message, for prefetching. All types with an order have its number at the same place, and
// all types that add an order have its side and price at the same place. In other types these bytes are other numbers.
struct Subject {
  std::uint16_t locate;
  std::uint64_t order;
  char side;
  std::uint32_t price;
};
// Empty: the message is shorter.
[[nodiscard]] inline std::optional<Subject> subject_of(std::span<const std::byte> message) noexcept {
  if (message.size() < OrderDelete::size) [[unlikely]]
    return std::nullopt;
  const std::byte* const at = message.data();
  // Without a branch on what cannot be predicted: 0 is a place in every message.
  const std::size_t whole = message.size() >= AddOrder::size ? ~std::size_t{0} : 0;
  return Subject{load_big_endian<std::uint16_t>(at + Header::locate.offset),
                 load_big_endian<std::uint64_t>(at + OrderDelete::order.offset),
                 static_cast<char>(at[AddOrder::side.offset & whole]),
                 load_big_endian<std::uint32_t>(at + (AddOrder::price.offset & whole))};
}

// The usual file of a day: each message follows its length, a big-endian number of two bytes. Calls `message(span)` for
// each whole message of `bytes` and returns how many bytes they took. The remaining bytes are the start of a message
// that the next bytes complete, or the end of a truncated file. A length of 0, as at the file's end, is two bytes
// without a message, and is skipped. A sink may also have expect(span), which is called for each message some messages
// before it.
template <class Sink>
[[gnu::always_inline]] inline std::size_t for_each_framed(std::span<const std::byte> bytes, Sink&& message) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  [[maybe_unused]] FramesAhead ahead{at, end};
  while (end - at >= 2) {
    const std::size_t size = load_big_endian<std::uint16_t>(at);
    if (static_cast<std::size_t>(end - at) - 2 < size) break;
    if constexpr (requires { message.expect(bytes); }) {
      ahead.next([&](std::span<const std::byte> expected) { message.expect(expected); });
    }
    if (size != 0) message(std::span<const std::byte>{at + 2, size});
    at += 2 + size;
  }
  return static_cast<std::size_t>(at - bytes.data());
}

}  // namespace nfx::market::itch
