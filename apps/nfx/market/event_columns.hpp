// The columns of converted events, one row each: text for CSV, numbers of a fixed size for column files.
// Thread: any. Cost: some nanoseconds per value. Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "market/price_text.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::app::market {

// The type of a number in a column file. names() lists the texts of kinds, sides and states.
enum class ColumnType : std::uint8_t { u8, u32, u64, i64 };

struct EventColumn {
  static constexpr std::size_t max_text = 48;

  std::string_view name;
  ColumnType type;
  std::string_view about;
  std::uint64_t (*number)(const nfx::market::Event&);
  char* (*text)(char* out, const nfx::market::Event&);  // returns its end
  std::size_t names = 0;                                // for a number that stands for a text
  std::string_view (*name_of)(std::uint64_t number) = nullptr;
};

namespace columns {

using nfx::market::Event;
using nfx::market::EventKind;
using nfx::market::Side;
using nfx::market::TradingStatus;

inline char* append(char* out, std::string_view text) { return std::copy(text.begin(), text.end(), out); }
inline std::uint64_t nanoseconds(UtcTime time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

inline std::string_view side_name(std::uint64_t side) {
  return side == std::to_underlying(Side::none) ? std::string_view{} : to_string(static_cast<Side>(side));
}
inline std::string_view status_name(std::uint64_t status) {
  return status == 0 ? std::string_view{} : to_string(static_cast<TradingStatus>(status));
}
inline std::string_view kind_name(std::uint64_t kind) { return to_string(static_cast<EventKind>(kind)); }

inline constexpr std::size_t sides = 3;
inline constexpr std::size_t statuses = std::to_underlying(TradingStatus::closed) + std::size_t{1};

template <std::uint64_t (*Number)(const Event&)>
char* number_text(char* out, const Event& event) {
  return write_number(out, Number(event));
}
template <std::uint64_t (*Number)(const Event&), std::string_view (*Name)(std::uint64_t)>
char* name_text(char* out, const Event& event) {
  return append(out, Name(Number(event)));
}

inline std::uint64_t receive_time(const Event& e) { return nanoseconds(e.receive_time); }
inline std::uint64_t event_time(const Event& e) { return nanoseconds(e.event_time); }
inline std::uint64_t instrument(const Event& e) { return std::to_underlying(e.instrument); }
inline std::uint64_t kind(const Event& e) { return std::to_underlying(e.kind); }
inline std::uint64_t side(const Event& e) { return std::to_underlying(e.side); }
inline std::uint64_t order(const Event& e) { return std::to_underlying(e.order); }
inline std::uint64_t price(const Event& e) { return static_cast<std::uint64_t>(e.price.nano); }
inline std::uint64_t quantity(const Event& e) { return e.quantity; }
inline std::uint64_t flags(const Event& e) { return e.flags; }
inline std::uint64_t sequence(const Event& e) { return e.sequence; }
inline std::uint64_t other(const Event& e) { return e.other; }
inline std::uint64_t status(const Event& e) { return std::to_underlying(e.status); }

inline char* price_text(char* out, const Event& event) {
  return event.price.defined() ? write_decimal(out, event.price) : out;
}

}  // namespace columns

inline constexpr std::array event_columns{
    EventColumn{"receive_time", ColumnType::i64,
                "nanoseconds since 1970; of an ITCH file without a date, since midnight", columns::receive_time,
                columns::number_text<columns::receive_time>},
    EventColumn{"event_time", ColumnType::i64, "the exchange's time, in the same unit", columns::event_time,
                columns::number_text<columns::event_time>},
    EventColumn{"instrument", ColumnType::u32, "number in the file", columns::instrument,
                columns::number_text<columns::instrument>},
    EventColumn{"event", ColumnType::u8, "what happened", columns::kind,
                columns::name_text<columns::kind, columns::kind_name>, nfx::market::event_kinds, columns::kind_name},
    EventColumn{"side", ColumnType::u8, "", columns::side, columns::name_text<columns::side, columns::side_name>,
                columns::sides, columns::side_name},
    EventColumn{"order", ColumnType::u64, "", columns::order, columns::number_text<columns::order>},
    EventColumn{"price", ColumnType::i64, "billionths; 9223372036854775807: none", columns::price, columns::price_text},
    EventColumn{"quantity", ColumnType::u64, "", columns::quantity, columns::number_text<columns::quantity>},
    EventColumn{"flags", ColumnType::u8, "128: last of an event, 32: snapshot, 4: after a loss", columns::flags,
                columns::number_text<columns::flags>},
    EventColumn{"sequence", ColumnType::u64, "", columns::sequence, columns::number_text<columns::sequence>},
    EventColumn{"other", ColumnType::u64, "of a replace the new order, of an execution or trade the match",
                columns::other, columns::number_text<columns::other>},
    EventColumn{"status", ColumnType::u8, "of a status: what trading is possible", columns::status,
                columns::name_text<columns::status, columns::status_name>, columns::statuses, columns::status_name},
};

}  // namespace nfx::app::market
