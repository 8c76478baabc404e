// Connects messages by the identifiers in them.
#include "decode/order.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "decode/fields.hpp"

namespace nfx::app {
namespace {

constexpr std::size_t unique_size = 6;  // of an identifier that is taken as unique everywhere

enum class IdKind : std::uint8_t { none, client, order, execution, any };

IdKind kind_of(std::uint32_t tag) noexcept {
  switch (tag) {
    case 11:
    case 41:
    case 526: return IdKind::client;
    case 37:
    case 198: return IdKind::order;
    case 17:
    case 19: return IdKind::execution;
    case 379: return IdKind::any;
    default: return IdKind::none;
  }
}

// What venues write where there is no identifier.
bool is_placeholder(std::string_view value) {
  constexpr std::array<std::string_view, 8> placeholders{"", "0", "NONE", "None", "UNKNOWN", "N/A", "NA", "[N/A]"};
  return std::ranges::find(placeholders, value) != placeholders.end();
}

struct Identifier {
  IdKind kind = IdKind::none;
  std::string_view value;
};

struct Identifiers {
  std::vector<Identifier> all;
  std::string_view sender, target;
  bool of_several_orders = false;  // a list, an allocation or a mass cancel: connects nothing
};

Identifiers identifiers_of(std::string_view message) {
  constexpr std::size_t most = 1000;
  Identifiers found;
  std::string_view client;
  for_each_field(message, [&](std::uint32_t tag, std::string_view value) {
    if (tag == 49 && found.sender.empty()) found.sender = value;
    if (tag == 56 && found.target.empty()) found.target = value;
    const IdKind kind = kind_of(tag);
    if (kind == IdKind::none || is_placeholder(value) || found.all.size() == most) return true;
    if (tag == 11) {
      found.of_several_orders = found.of_several_orders || (!client.empty() && client != value);
      client = value;
    }
    found.all.push_back({kind, value});
    return true;
  });
  return found;
}

std::string key_of(const Identifier& id, const Identifiers& of) {
  if (id.value.size() >= unique_size) return std::string{id.value};
  std::string key{static_cast<char>('0' + static_cast<int>(id.kind))};
  key.append(std::min(of.sender, of.target)).append("\x01").append(std::max(of.sender, of.target));
  return key.append("\x01").append(id.value);
}

std::string clock_time(const std::optional<UtcTime>& time) {
  if (!time) return "-";
  std::array<char, max_utc_timestamp_size> text;
  return {text.data(), write_utc_timestamp(text.data(), *time, 6)};
}

// "+1.234 ms".
std::string time_after(const std::optional<UtcTime>& time, const std::optional<UtcTime>& before) {
  if (!time || !before) return {};
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(*time - *before).count();
  if (us < 0) return "-";
  const auto with_point = [](std::int64_t thousandths) {
    std::string fraction = std::to_string(thousandths % 1000);
    return std::to_string(thousandths / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction;
  };
  if (us < 1'000'000) return with_point(us) + " ms";
  return with_point(us / 1000) + " s";
}

std::string_view first(const DecodedMessage& message, std::uint32_t tag) {
  for (const DecodedField& field : message.fields) {
    if (field.readable && static_cast<std::uint32_t>(value(field.tag)) == tag) return field.value;
  }
  return {};
}

// A value's meaning, or the value.
std::string meaning(const DecodedMessage& message, std::uint32_t tag) {
  const std::string_view text = first(message, tag);
  if (text.empty() || message.dictionary == nullptr) return std::string{text};
  const std::string_view name = message.dictionary->value_name(Tag{static_cast<std::int32_t>(tag)}, text);
  return std::string{name.empty() ? text : name};
}

std::string type_of(const DecodedMessage& message) {
  return std::string{message.type_name.empty() ? message.msg_type : message.type_name};
}

// What an execution report reports, and the reason of a reject.
std::string status_of(const DecodedMessage& message) {
  std::string status = meaning(message, 39);
  const std::string report = meaning(message, 150);
  if (!report.empty() && report != status) status = status.empty() ? report : report + ", " + status;
  for (const std::uint32_t reason : {102U, 103U, 380U}) {
    const std::string text = meaning(message, reason);
    if (!text.empty()) status += status.empty() ? text : ": " + text;
  }
  return status;
}

enum Column : std::uint8_t {
  time_column,
  after_column,
  session_column,
  type_column,
  id_column,
  side_column,
  status_column,
  quantity_column,
  price_column,
  last_column,
  cum_column,
  leaves_column,
  text_column,
  column_count,
};

constexpr std::array<std::string_view, column_count> titles{
    "TIME", "AFTER", "SESSION", "TYPE", "CLORDID", "SIDE", "STATUS", "QTY", "PRICE", "LAST", "CUM", "LEAVES", "TEXT"};

using Row = std::array<std::string, column_count>;

Row row_of(const DecodedMessage& message, const LogMessage& logged, const std::optional<UtcTime>& before) {
  Row row;
  row[time_column] = clock_time(logged.time);
  row[after_column] = time_after(logged.time, before);
  row[session_column] = std::string{message.sender} + " -> " + std::string{message.target};
  row[type_column] = type_of(message);
  row[id_column] = first(message, 11);
  if (const std::string_view original = first(message, 41); !original.empty() && original != row[id_column])
    row[id_column] += " (was " + std::string{original} + ")";
  row[side_column] = meaning(message, 54);
  row[status_column] = status_of(message);
  row[quantity_column] = first(message, 38);
  const std::string_view last_quantity = first(message, 32);
  if (!last_quantity.empty() && last_quantity != "0")
    row[last_column] = std::string{last_quantity} + " @ " + std::string{first(message, 31)};
  row[cum_column] = first(message, 14);
  row[leaves_column] = first(message, 151);
  row[price_column] = first(message, 44);
  row[text_column] = first(message, 58);
  if (message.bad())
    row[text_column] += row[text_column].empty() ? "BAD: " + message.problem : "; BAD: " + message.problem;
  return row;
}

// The size on the screen after escaping.
std::size_t shown_size(std::string_view text) {
  SafeText shown;
  shown += text;
  return shown.size();
}

void add_note(SafeText& out, const OrderTrace& order) {
  if (order.cut_short()) {
    out.add("cut short: only {} messages and {} identifiers are followed\n", OrderTrace::max_messages,
            OrderTrace::max_identifiers);
  }
}

}  // namespace

KeptMessage::KeptMessage(const LogMessage& message)
    : text(message.found.text),
      prefix(message.found.prefix),
      source(message.source),
      found(message.found),
      time(message.time),
      captured(message.captured) {
  found.separator = {};
}

LogMessage KeptMessage::view() const noexcept {
  LogMessage message{found, source, time, captured};
  message.found.text = text;
  message.found.prefix = prefix;
  return message;
}

void OrderTrace::begin_pass() {
  messages_.clear();
  grew_ = false;
}

void OrderTrace::take(const LogMessage& message) {
  const Identifiers found = identifiers_of(message.found.text);
  if (std::ranges::none_of(found.all, [&](const Identifier& id) {
        return id.value == id_ || keys_.contains(key_of(id, found)) ||
               (id.kind == IdKind::any && std::ranges::find(needles_, id.value) != needles_.end());
      }))
    return;
  if (messages_.size() == max_messages) {
    cut_short_ = true;
    return;
  }
  messages_.emplace_back(message);
  if (found.of_several_orders) return;
  for (const Identifier& id : found.all) {
    if (id.kind != IdKind::any) follow(key_of(id, found), id.value);
  }
}

void OrderTrace::follow(std::string key, std::string_view value) {
  if (keys_.contains(key)) return;
  if (keys_.size() == max_identifiers) {
    cut_short_ = true;
    return;
  }
  keys_.insert(std::move(key));
  if (std::ranges::find(needles_, value) != needles_.end()) return;
  needles_.emplace_back(value);
  grew_ = true;
}

void print_order_table(SafeText& out, const OrderTrace& order, Decoder& decoder, const Palette& palette,
                       std::size_t width) {
  std::vector<Row> rows;
  std::array<std::size_t, column_count> widths{};
  std::optional<UtcTime> before;
  for (const KeptMessage& each : order.messages()) {
    const LogMessage logged = each.view();
    rows.push_back(row_of(decoder.decode(logged.found), logged, before));
    before = each.time;
    for (std::size_t i = 0; i < column_count; ++i) widths[i] = std::max(widths[i], shown_size(rows.back()[i]));
  }
  // Columns without a value are omitted.
  std::size_t used = 0;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (widths[i] != 0) widths[i] = std::max(widths[i], titles[i].size());
    if (i != text_column && widths[i] != 0) used += widths[i] + 2;
  }
  if (width != 0) widths[text_column] = std::min(widths[text_column], width > used + 10 ? width - used : 10);
  const auto add_cell = [&](std::size_t column, std::string_view value) {
    if (widths[column] == 0) return;
    const std::size_t start = out.size();
    out += column == text_column && width != 0 ? value.substr(0, widths[text_column]) : value;
    if (column != text_column) out.pad_to(start, widths[column] + 2);
  };
  out += palette(Colour::bold);
  for (std::size_t i = 0; i < column_count; ++i) add_cell(i, titles[i]);
  out += palette(Colour::plain);
  out += '\n';
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < column_count; ++i) add_cell(i, row[i]);
    out += '\n';
  }
  add_note(out, order);
}

void print_order_ladder(SafeText& out, const OrderTrace& order, Decoder& decoder, const Palette& palette) {
  constexpr std::size_t most_parties = 6, column_width = 52, time_width = 26;
  std::vector<std::string> parties;
  const auto party = [&](std::string_view name) {
    const auto known = std::ranges::find(parties, name);
    if (known != parties.end()) return static_cast<std::size_t>(known - parties.begin());
    if (parties.size() == most_parties) return most_parties - 1;
    parties.emplace_back(parties.size() + 1 == most_parties ? "(others)" : name);
    return parties.size() - 1;
  };
  struct Arrow {
    std::string time, label;
    std::size_t from, to;
  };
  std::vector<Arrow> arrows;
  for (const KeptMessage& each : order.messages()) {
    const LogMessage logged = each.view();
    const DecodedMessage& message = decoder.decode(logged.found);
    const Row row = row_of(message, logged, {});
    std::string label = row[type_column];
    for (const Column column : {id_column, side_column, quantity_column, price_column, status_column, last_column}) {
      // The quantity and price of the order matter where nothing is reported.
      const bool of_order = column == side_column || column == quantity_column || column == price_column;
      if (!row[column].empty() && !(of_order && !row[status_column].empty())) label += ' ' + row[column];
    }
    const std::size_t from = party(message.sender);
    arrows.push_back({row[time_column], std::move(label), from, party(message.target)});
  }
  out.append_spaces(time_width);
  for (const std::string& name : parties) {
    const std::size_t start = out.size();
    out += palette(Colour::bold);
    out += name;
    out += palette(Colour::plain);
    if (&name != &parties.back()) out.pad_to(start, column_width);
  }
  out += '\n';
  for (const Arrow& arrow : arrows) {
    const std::size_t left = std::min(arrow.from, arrow.to), right = std::max(arrow.from, arrow.to);
    std::size_t start = out.size();
    out += arrow.time;
    out.pad_to(start, time_width);
    for (std::size_t i = 0; i + 1 < parties.size(); ++i) {
      if (i < left || i >= right || left == right) {
        out += '|';
        out.append_spaces(column_width - 1);
        continue;
      }
      if (i != left) continue;
      const bool forward = arrow.from < arrow.to;
      out += forward ? Literal{"|--"} : Literal{"|<-"};
      start = out.size();
      out += ' ';
      out += arrow.label.substr(0, (right - left) * column_width - 8);
      out += ' ';
      const std::size_t width = (right - left) * column_width - 6;
      while (out.size() < start + width) out += '-';
      out += forward ? Literal{"->"} : Literal{"--"};
      out.append_spaces(1);
      i = right - 1;
    }
    out += '|';
    if (left == right) {
      out += ' ';
      out += arrow.label;
    }
    out += '\n';
  }
  add_note(out, order);
}

}  // namespace nfx::app
