// Reads the groups of W and X.
#include "market/fix_entries.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/enumerator_name.hpp"
#include "market/exact_number.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::market {
namespace {

// Members of NoMDEntries in FIX 4.2 to 5.0 SP2, so that the last entry ends with its last member.
constexpr auto increment_members = [] {
  constexpr int numbers[] = {279,  285,  269, 278, 280, 55,  65,  48,   22,   460,  461,  167,  200, 541,  205,
                             201,  202,  206, 231, 223, 207, 106, 348,  349,  107,  350,  351,  454, 455,  456,
                             711,  311,  555, 600, 291, 292, 270, 15,   271,  272,  273,  274,  275, 336,  625,
                             276,  277,  282, 283, 284, 286, 59,  432,  126,  110,  18,   287,  37,  198,  288,
                             289,  346,  290, 546, 811, 451, 58,  354,  355,  83,   1023, 1024, 423, 1070, 40,
                             1093, 1048, 332, 333, 528, 828, 829, 1003, 1020, 2446, 60,   54,   5797};
  std::array<Tag, std::size(numbers)> tags{};
  for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = Tag{numbers[i]};
  return tags;
}();
// A snapshot's entries begin with MDEntryType and have no instrument of their own.
constexpr auto snapshot_members = [] {
  auto tags = increment_members;
  std::swap(tags[0], tags[2]);
  return tags;
}();
constexpr GroupShape increments{Tag::NoMDEntries, increment_members, {}};
constexpr GroupShape snapshots{Tag::NoMDEntries, snapshot_members, {}};

// The fields of an entry as text; what is missing is not in `seen`.
struct Texts {
  enum Name : unsigned {
    action,
    type,
    price,
    size,
    symbol,
    security,
    id,
    ref,
    order,
    position,
    level,
    number,
    orders,
    date,
    time,
    aggressor,
    names
  };
  std::array<std::string_view, names> text;
  std::uint32_t seen = 0;
  bool repeated = false;

  [[nodiscard]] bool has(Name name) const noexcept { return (seen >> name & 1) != 0; }
  void set(Name name, std::string_view value) noexcept {
    repeated |= has(name);
    seen |= 1u << name;
    text[name] = value;
  }
};

Texts texts_of(const GroupEntry& entry) noexcept {
  Texts texts;
  for (std::uint32_t i = 0; i < entry.size(); ++i) {
    const Field field = entry[i];
    switch (value(field.tag)) {
      case 279: texts.set(Texts::action, field.value); break;
      case 269: texts.set(Texts::type, field.value); break;
      case 270: texts.set(Texts::price, field.value); break;
      case 271: texts.set(Texts::size, field.value); break;
      case 55: texts.set(Texts::symbol, field.value); break;
      case 48: texts.set(Texts::security, field.value); break;
      case 278: texts.set(Texts::id, field.value); break;
      case 280: texts.set(Texts::ref, field.value); break;
      case 37:
        // Groups within the entry have it as well: the first one is the entry's.
        if (!texts.has(Texts::order)) texts.set(Texts::order, field.value);
        break;
      case 290: texts.set(Texts::position, field.value); break;
      case 1023: texts.set(Texts::level, field.value); break;
      case 83: texts.set(Texts::number, field.value); break;
      case 346: texts.set(Texts::orders, field.value); break;
      case 272: texts.set(Texts::date, field.value); break;
      case 273: texts.set(Texts::time, field.value); break;
      case 2446: texts.set(Texts::aggressor, field.value); break;
      default: break;
    }
  }
  return texts;
}

std::optional<std::uint64_t> positive(std::string_view text, std::uint64_t most) noexcept {
  const auto number = parse_int(text);
  if (!number || *number < 1 || static_cast<std::uint64_t>(*number) > most) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

FixEntryType type_of(char type) noexcept {
  switch (type) {
    case '0': return FixEntryType::bid;
    case '1': return FixEntryType::ask;
    case '2': return FixEntryType::trade;
    case 'J': return FixEntryType::empty_book;
    default: return FixEntryType::statistic;
  }
}

bool read_id(std::string_view text, ShortText& out) noexcept {
  if (text.empty() || text.size() > ShortText::max_size) return false;
  out = ShortText{text};
  return true;
}

// Date and time of the entry, if it has both and they are valid.
std::optional<UtcTime> entry_time(const Texts& texts) noexcept {
  if (!texts.has(Texts::date) || !texts.has(Texts::time)) return std::nullopt;
  const std::string_view date = texts.text[Texts::date], time = texts.text[Texts::time];
  std::array<char, max_utc_timestamp_size + 3> joined;
  if (date.size() != 8 || time.size() > joined.size() - 9) return std::nullopt;
  std::memcpy(joined.data(), date.data(), 8);
  joined[8] = '-';
  std::memcpy(joined.data() + 9, time.data(), time.size());
  const auto parsed = parse_utc_timestamp({joined.data(), 9 + time.size()});
  if (!parsed) return std::nullopt;
  return parsed->time;
}

FixFeedError read_numbers(const Texts& texts, unsigned quantity_scale, FixEntry& out) noexcept {
  out.price = Price::undefined();
  if (texts.has(Texts::price)) {
    const auto price = parse_price(texts.text[Texts::price]);
    if (!price) return FixFeedError::bad_price;
    out.price = *price;
  }
  if (texts.has(Texts::size)) {
    const auto quantity = parse_quantity(texts.text[Texts::size], quantity_scale);
    if (!quantity) return FixFeedError::bad_size;
    out.quantity = *quantity;
    out.has_quantity = true;
  }
  const bool adds = out.action == FixAction::add || out.action == FixAction::overlay;
  const bool priced = out.type == FixEntryType::bid || out.type == FixEntryType::ask || out.type == FixEntryType::trade;
  if (adds && priced && !out.price.defined()) return FixFeedError::bad_price;
  if (adds && priced && !out.has_quantity) return FixFeedError::bad_size;
  if (texts.has(Texts::orders)) {
    // Not needed for the book: a bad value counts as unknown.
    out.orders = static_cast<std::uint32_t>(positive(texts.text[Texts::orders], 1u << 31).value_or(0));
  }
  return FixFeedError::none;
}

FixFeedError read_identity(const Texts& texts, FixEntry& out) noexcept {
  if (texts.has(Texts::id) && !read_id(texts.text[Texts::id], out.id)) return FixFeedError::bad_id;
  if (texts.has(Texts::ref) && !read_id(texts.text[Texts::ref], out.ref)) return FixFeedError::bad_id;
  const bool level = texts.has(Texts::level);
  const bool order = texts.has(Texts::order);
  if (!level && order && out.id.empty() && !read_id(texts.text[Texts::order], out.id)) return FixFeedError::bad_id;
  if (level || (texts.has(Texts::position) && out.id.empty())) {
    const auto position = positive(texts.text[level ? Texts::level : Texts::position], 1u << 30);
    if (!position) return FixFeedError::bad_position;
    out.position = static_cast<std::uint32_t>(*position);
  }
  return FixFeedError::none;
}

// A statistic takes part in the sequence; nothing else of it is read.
FixFeedError read_number(const Texts& texts, FixEntry& out) noexcept {
  if (!texts.has(Texts::number)) return FixFeedError::none;
  const auto number = positive(texts.text[Texts::number], std::numeric_limits<std::int64_t>::max());
  if (!number) return FixFeedError::bad_sequence;
  out.number = *number;
  return FixFeedError::none;
}

// Everything but the instrument.
FixFeedError read_entry(const Texts& texts, bool snapshot, unsigned quantity_scale, FixEntry& out) noexcept {
  if (texts.repeated) return FixFeedError::repeated_field;
  if (!snapshot) {
    const std::string_view action = texts.text[Texts::action];
    if (action.size() != 1 || action[0] < '0' || action[0] > '5') return FixFeedError::bad_action;
    out.action = static_cast<FixAction>(action[0] - '0');
  }
  // A deletion by identifier may leave out the type, and a statistic has any.
  const std::string_view type = texts.text[Texts::type];
  const bool by_id = texts.has(Texts::id) || texts.has(Texts::ref);
  if (type.empty() && out.action != FixAction::add && by_id) {
    out.type = FixEntryType::bid;
  } else if (type.size() == 1) {
    out.type = type_of(type[0]);
    out.has_type = true;
  } else {
    return FixFeedError::no_entry_type;
  }
  if (const FixFeedError error = read_number(texts, out); error != FixFeedError::none) return error;
  if (out.type == FixEntryType::statistic) return FixFeedError::none;
  if (const FixFeedError error = read_numbers(texts, quantity_scale, out); error != FixFeedError::none) return error;
  if (const auto time = entry_time(texts)) out.time = *time;
  const std::string_view aggressor = texts.text[Texts::aggressor];
  if (aggressor == "1") out.aggressor = Side::bid;
  if (aggressor == "2") out.aggressor = Side::ask;
  return read_identity(texts, out);
}

UtcTime message_time(const MessageView& message) noexcept {
  if (const auto time = message.get_utc_timestamp(fix_tag::TransactTime)) return time->time;
  if (const auto time = message.get_utc_timestamp(Tag::SendingTime)) return time->time;
  return {};
}

void keep_first(FixFeedError& error, FixFeedError found) noexcept {
  if (error == FixFeedError::none) error = found;
}

}  // namespace

std::optional<InstrumentIndex> FixInstruments::add(std::string_view symbol, unsigned quantity_scale) {
  NFX_REQUIRE(quantity_scale <= Price::scale);
  const auto index = symbols_.add(symbol);
  if (!index) return std::nullopt;
  if (std::to_underlying(*index) == scales_.size()) {
    scales_.push_back(static_cast<std::uint8_t>(quantity_scale));
  }
  return index;
}

FixEntries read_increments(const MessageView& message, const FixInstruments& instruments,
                           std::span<FixEntry> out) noexcept {
  FixEntries result;
  if (!message.has(Tag::NoMDEntries)) {
    result.error = FixFeedError::no_entries;
    result.all_affected = true;
    return result;
  }
  const UtcTime time = message_time(message);
  const GroupView group = message.group(increments);
  std::int64_t entries = 0;
  bool named = false;  // an entry had an instrument
  std::optional<InstrumentIndex> instrument;
  for (const GroupEntry entry : group) {
    ++entries;
    const Texts texts = texts_of(entry);
    if (texts.has(Texts::symbol) || texts.has(Texts::security)) {
      named = true;
      instrument = instruments.find(texts.text[Texts::symbol]);
      if (!instrument) instrument = instruments.find(texts.text[Texts::security]);
    }
    if (!named) {
      // A book that is emptied without an instrument is every book.
      if (texts.text[Texts::type] == "J") {
        result.all_emptied = true;
      } else {
        keep_first(result.error, FixFeedError::no_symbol);
        result.all_affected = true;
      }
      continue;
    }
    if (!instrument) {
      ++result.unknown_symbols;
      continue;
    }
    if (result.count == out.size()) {
      keep_first(result.error, FixFeedError::too_many_entries);
      result.all_affected = true;
      break;
    }
    FixEntry& read = out[result.count++] = FixEntry{};
    read.instrument = *instrument;
    read.time = time;
    keep_first(result.error, read_entry(texts, false, instruments.quantity_scale(*instrument), read));
  }
  if (result.error == FixFeedError::none && entries != group.declared_size()) {
    result.error = FixFeedError::wrong_entry_count;
    result.all_affected = true;
  }
  if (result.unknown_symbols != 0) keep_first(result.error, FixFeedError::unknown_symbol);
  return result;
}

FixSnapshot read_snapshot(const MessageView& message, const FixInstruments& instruments,
                          std::span<FixEntry> out) noexcept {
  FixSnapshot result;
  const std::string_view symbol = message.get_view(Tag::Symbol), security = message.get_view(Tag::SecurityID);
  if (symbol.empty() && security.empty()) {
    result.error = FixFeedError::no_symbol;
    return result;
  }
  result.instrument = instruments.find(symbol);
  if (!result.instrument) result.instrument = instruments.find(security);
  if (!result.instrument) {
    result.error = FixFeedError::unknown_symbol;
    result.unknown_symbols = 1;
    return result;
  }
  const std::uint32_t group_at = message.find(Tag::NoMDEntries);
  if (group_at == MessageView::npos) {
    result.error = FixFeedError::no_entries;
    return result;
  }
  const std::uint32_t number_at = message.find(fix_tag::RptSeq);
  const UtcTime time = message_time(message);
  const GroupView group = message.group(snapshots);
  std::int64_t entries = 0;
  for (const GroupEntry entry : group) {
    ++entries;
    if (result.count == out.size()) {
      keep_first(result.error, FixFeedError::too_many_entries);
      return result;
    }
    FixEntry& read = out[result.count++] = FixEntry{};
    read.instrument = *result.instrument;
    read.time = time;
    keep_first(result.error, read_entry(texts_of(entry), true, instruments.quantity_scale(*result.instrument), read));
    if (result.error != FixFeedError::none) return result;
    // Venues that number entries give a snapshot the number of its newest one.
    if (read.number != 0) result.number = std::max(result.number.value_or(0), read.number);
  }
  if (number_at != MessageView::npos && number_at < group_at) {
    const auto number = message.int_at(number_at);
    if (!number || *number < 0) {
      result.error = FixFeedError::bad_sequence;
      return result;
    }
    result.number = static_cast<std::uint64_t>(*number);
  }
  if (entries != group.declared_size()) result.error = FixFeedError::wrong_entry_count;
  return result;
}

TradingStatus trading_status(const MessageView& message) noexcept {
  const auto status = message.get_int(fix_tag::SecurityTradingStatus);
  if (!status) return TradingStatus::unknown;
  switch (*status) {
    case 1: return TradingStatus::paused;
    case 2: return TradingStatus::halted;
    case 3:
    case 17:
    case 23: return TradingStatus::trading;
    case 21: return TradingStatus::pre_open;
    case 22:
    case 24:
    case 25: return TradingStatus::auction;
    case 4:
    case 18:
    case 19:
    case 26: return TradingStatus::closed;
    default: return TradingStatus::unknown;
  }
}

std::string_view to_string(FixFeedError error) noexcept { return enumerator_name(error); }

}  // namespace nfx::market
