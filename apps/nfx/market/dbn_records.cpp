// Counts records, and formats them as lines.
#include "market/dbn_records.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.hpp"
#include "command.hpp"
#include "json_output.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "market/price_text.hpp"
#include "nexusfix/market/dbn.hpp"
#include "text.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::DbnField;
using nfx::market::DbnFieldKind;
using nfx::market::DbnLayout;
using nfx::market::InstrumentId;
using nfx::market::Price;
using Record = std::span<const std::byte>;

// The header, which is the same in all records.
constexpr DbnField publisher_field{"publisher_id", DbnFieldKind::u16, 2};
constexpr DbnField instrument_field{"instrument_id", DbnFieldKind::u32, 4};
constexpr DbnField time_field{"ts_event", DbnFieldKind::time, 8};
constexpr std::array header_fields{time_field, publisher_field, instrument_field};

std::uint8_t type_of(Record record) { return std::to_integer<std::uint8_t>(record[1]); }

std::uint32_t instrument_of(Record record) {
  return static_cast<std::uint32_t>(nfx::market::number_in(record, instrument_field));
}

// Empty if the field does not exist or has no value.
std::optional<std::int64_t> value_of(const DbnLayout& layout, Record record, std::string_view name) {
  const DbnField* field = find_field(layout, name);
  if (field == nullptr) return std::nullopt;
  const std::int64_t number = number_in(record, *field);
  return is_none(number, field->kind) ? std::nullopt : std::optional{number};
}

void append_value(std::string& out, Record record, const DbnField& field) {
  if (field.kind == DbnFieldKind::text) return append_csv_text(out, text_in(record, field));
  const std::int64_t number = number_in(record, field);
  if (is_none(number, field.kind)) return;
  std::array<char, 48> text;
  switch (field.kind) {
    case DbnFieldKind::letter:
      if (number != 0) append_csv_text(out, std::string(1, static_cast<char>(number)));
      return;
    case DbnFieldKind::price: out.append(text.data(), write_decimal(text.data(), Price{number})); return;
    case DbnFieldKind::u64:
    case DbnFieldKind::time:
      out.append(text.data(), write_number(text.data(), static_cast<std::uint64_t>(number)));
      return;
    case DbnFieldKind::u8:
    case DbnFieldKind::i8:
    case DbnFieldKind::u16:
    case DbnFieldKind::i16:
    case DbnFieldKind::u32:
    case DbnFieldKind::i32:
    case DbnFieldKind::i64:
    case DbnFieldKind::text: break;
  }
  out += std::to_string(number);
}

void append_count(SafeText& out, const RecordCount& count) {
  out.add("{} records", count.records);
  if (count.timed()) out.add(", {} to {}", time_text(count.first), time_text(count.last));
  if (count.traded.exists()) {
    out.add("; traded {}, first {}, low {}, high {}, last {}", count.traded.size, short_price(count.traded.first),
            short_price(count.traded.low), short_price(count.traded.high), short_price(count.traded.last));
  }
  out += '\n';
}

Json json_of(const RecordCount& count) {
  Json json{{"records", count.records}};
  if (count.timed()) json.update({{"first", time_text(count.first)}, {"last", time_text(count.last)}});
  if (count.traded.exists())
    json.update({{"traded_size", count.traded.size},
                 {"first_price", short_price(count.traded.first)},
                 {"low", short_price(count.traded.low)},
                 {"high", short_price(count.traded.high)},
                 {"last_price", short_price(count.traded.last)}});
  return json;
}

}  // namespace

std::string record_type_name(std::uint8_t type) {
  const auto row = std::ranges::find(nfx::market::dbn_record_types(), type, &nfx::market::DbnRecordType::type);
  if (row != nfx::market::dbn_record_types().end()) return std::string{row->name};
  constexpr std::string_view digits = "0123456789abcdef";
  return std::string{"type 0x"} + digits[type >> 4] + digits[type & 15];
}

std::uint8_t record_type_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (const nfx::market::DbnRecordType& row : nfx::market::dbn_record_types()) {
    if (row.name == name) return row.type;
    names.push_back(row.name);
  }
  std::string list;
  for (const std::string_view each : names) list.append(list.empty() ? "" : ", ").append(each);
  throw cli::UsageError("--records: unknown type \"" + name + "\"; expected one of " + list +
                        did_you_mean(name, names));
}

void TradedRange::add(std::int64_t price) noexcept {
  const Price of{price};
  if (!exists()) first = of;
  last = of;
  low = std::min(low, of);
  high = std::max(high, of);
}

void RecordCount::add(Record record) noexcept {
  ++records;
  if (const std::int64_t time = number_in(record, time_field); !is_none(time, DbnFieldKind::time) && time > 0) {
    first = std::min(first, UtcTime{Duration{time}});
    last = std::max(last, UtcTime{Duration{time}});
  }
  const DbnLayout* layout = nfx::market::find_dbn_layout(record);
  if (layout == nullptr) return;
  if (find_field(*layout, "volume") != nullptr) {
    traded.size += static_cast<std::uint64_t>(value_of(*layout, record, "volume").value_or(0));
    for (const std::string_view name : {"open", "high", "low", "close"}) {
      if (const auto price = value_of(*layout, record, name)) traded.add(*price);
    }
  } else if (value_of(*layout, record, "action") == 'T' && find_field(*layout, "size") != nullptr) {
    traded.size += static_cast<std::uint64_t>(value_of(*layout, record, "size").value_or(0));
    if (const auto price = value_of(*layout, record, "price")) traded.add(*price);
  }
}

void RecordTally::add(Record record) {
  types_[type_of(record)].add(record);
  const std::pair key{type_of(record), instrument_of(record)};
  const auto row = rows_.find(key);
  if (row != rows_.end()) {
    row->second.add(record);
  } else if (rows_.size() < most_rows) {
    rows_[key].add(record);
  }
}

void RecordTally::append_text(SafeText& out, const MarketFile& file) const {
  constexpr std::size_t most_shown = 20;
  for (const auto& [type, sum] : types_) {
    out.add("{}: ", record_type_name(type));
    append_count(out, sum);
    std::vector<std::pair<std::uint32_t, const RecordCount*>> rows;
    for (auto row = rows_.lower_bound({type, 0}); row != rows_.end() && row->first.first == type; ++row)
      rows.emplace_back(row->first.second, &row->second);
    std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.second->records; });
    for (std::size_t i = 0; i < rows.size() && i < most_shown; ++i) {
      const std::string_view symbol = file.symbol(InstrumentId{rows[i].first});
      out.add("  instrument {}{}{}: ", rows[i].first, symbol.empty() ? "" : " ", symbol);
      append_count(out, *rows[i].second);
    }
    if (rows.size() > most_shown) out.add("  and {} more instruments; --json has all\n", rows.size() - most_shown);
  }
  if (rows_.size() >= most_rows)
    out.add("only the first {} types of instruments are told apart\n", std::size_t{most_rows});
}

Json RecordTally::json(const MarketFile& file) const {
  Json types = Json::object();
  for (const auto& [type, sum] : types_) {
    Json& of = types[record_type_name(type)] = json_of(sum);
    Json& instruments = of["instruments"] = Json::object();
    for (auto row = rows_.lower_bound({type, 0}); row != rows_.end() && row->first.first == type; ++row) {
      Json& each = instruments[std::to_string(row->first.second)];
      each["symbol"] = file.symbol(InstrumentId{row->first.second});
      each.update(json_of(row->second));
    }
  }
  return types;
}

void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool RecordLines::add(Record record, const MarketFile& file, std::string& out) {
  if (type_of(record) != type_) return false;
  const DbnLayout* layout = nfx::market::find_dbn_layout(record);
  if (layout == nullptr || (layout_ != nullptr && layout_ != layout)) return false;
  if (layout_ == nullptr) {
    layout_ = layout;
    for (const DbnField& field : header_fields) out.append(field.name).append(",");
    for (const DbnField& field : layout->fields) out.append(field.name).append(",");
    out += "symbol\n";
  }
  const auto append = [&](const DbnField& field) {
    append_value(out, record, field);
    out += ',';
  };
  for (const DbnField& field : header_fields) append(field);
  for (const DbnField& field : layout->fields) append(field);
  append_csv_text(out, file.symbol(InstrumentId{instrument_of(record)}));
  out += '\n';
  return true;
}

}  // namespace nfx::app::market
