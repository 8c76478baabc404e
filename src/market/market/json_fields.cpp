// The combined meaning of a message's fields.
#include "market/json_fields.hpp"

#include "base/enumerator_name.hpp"
#include "nexusfix/base/digits.hpp"

namespace nfx::market {
namespace {

// Digits alone, at most 19 of them.
bool read_number(std::string_view text, std::uint64_t& out) noexcept {
  if (text.empty() || text.size() > 19) return false;
  std::uint64_t number = 0;
  const std::size_t first = (text.size() - 1) % 8 + 1;
  std::uint64_t word = digits::load_last(text.data(), first);
  if (digits::non_digits(word) != 0) return false;
  number = digits::value(word);
  for (std::size_t i = first; i < text.size(); i += 8) {
    word = digits::load_8(text.data() + i);
    if (digits::non_digits(word) != 0) return false;
    number = number * 100'000'000 + digits::value(word);
  }
  out = number;
  return number <= std::uint64_t{1} << 62;
}

constexpr std::uint64_t nanoseconds_per_millisecond = 1'000'000;

}  // namespace

std::string_view to_string(JsonError error) noexcept { return enumerator_name(error); }

JsonKey json_key(std::string_view key) noexcept {
  if (key.size() == 1) {
    const auto letter = static_cast<unsigned char>(key[0]);
    return letter < json_letters.size() ? json_letters[letter] : JsonKey::other;
  }
  if (key == "pu") return JsonKey::previous;
  if (key == "bids") return JsonKey::bids;
  if (key == "asks") return JsonKey::asks;
  if (key == "data") return JsonKey::data;
  if (key == "lastUpdateId") return JsonKey::last_update;
  if (key == "result") return JsonKey::result;
  if (key == "error") return JsonKey::error;
  if (key == "code") return JsonKey::code;
  return JsonKey::other;
}

JsonError JsonFields::number_of(JsonKey key, std::uint64_t& out) const noexcept {
  if (!has(key)) return JsonError::missing_field;
  if (field(key).type != JsonType::number) return JsonError::wrong_type;
  return read_number(field(key).text, out) ? JsonError::none : JsonError::bad_number;
}

JsonError JsonFields::decimal_of(JsonKey key, JsonError bad, Decimal& out) const noexcept {
  std::string_view text;
  if (const JsonError error = text_of(key, text); error != JsonError::none) return error;
  const auto value = Decimal::parse(text);
  if (!value) return bad;
  out = *value;
  return JsonError::none;
}

// Milliseconds; from the year 5138 on microseconds, which venues send on request.
JsonError JsonFields::read_time(JsonMessage& out) const noexcept {
  const JsonKey key = has(JsonKey::event_time) ? JsonKey::event_time : JsonKey::time;
  if (!has(key)) return JsonError::none;
  std::uint64_t time = 0;
  if (const JsonError error = number_of(key, time); error != JsonError::none) return error;
  const std::uint64_t unit = time < 100'000'000'000'000 ? nanoseconds_per_millisecond : 1'000;
  if (time > 9'000'000'000'000'000'000 / unit) return JsonError::bad_number;
  out.time_ns = time * unit;
  return JsonError::none;
}

JsonError JsonFields::ticker(JsonMessage& out) const noexcept {
  out.kind = JsonKind::book_ticker;
  JsonError error = number_of(JsonKey::last, out.last);
  if (error == JsonError::none) error = decimal_of(JsonKey::b, JsonError::bad_price, out.bid.price);
  if (error == JsonError::none) error = decimal_of(JsonKey::bid_size, JsonError::bad_quantity, out.bid.quantity);
  if (error == JsonError::none) error = decimal_of(JsonKey::a, JsonError::bad_price, out.ask.price);
  if (error == JsonError::none) error = decimal_of(JsonKey::ask_size, JsonError::bad_quantity, out.ask.quantity);
  return error;
}

void JsonFields::take_levels(JsonMessage& out) const noexcept {
  const std::span<const JsonLevel> all{levels_};
  out.bids = all.subspan(bids_.begin, bids_.end - bids_.begin);
  out.asks = all.subspan(asks_.begin, asks_.end - asks_.begin);
}

JsonError JsonFields::depth(JsonMessage& out) const noexcept {
  out.kind = JsonKind::depth_update;
  JsonError error = number_of(JsonKey::first, out.first);
  if (error == JsonError::none) error = number_of(JsonKey::last, out.last);
  out.has_previous = has(JsonKey::previous);
  if (error == JsonError::none && out.has_previous) error = number_of(JsonKey::previous, out.previous);
  if (error != JsonError::none) return error;
  if (out.first == 0 || out.first > out.last || (out.has_previous && out.previous >= out.last)) {
    return JsonError::bad_number;
  }
  if (!has(JsonKey::b) || !has(JsonKey::a)) return JsonError::missing_field;
  if (field(JsonKey::b).type != JsonType::levels || field(JsonKey::a).type != JsonType::levels) {
    return JsonError::wrong_type;
  }
  take_levels(out);
  return JsonError::none;
}

JsonError JsonFields::snapshot(JsonMessage& out) const noexcept {
  out.kind = JsonKind::depth_snapshot;
  if (const JsonError error = number_of(JsonKey::last_update, out.last); error != JsonError::none) return error;
  if (!has(JsonKey::bids) || !has(JsonKey::asks)) return JsonError::missing_field;
  if (field(JsonKey::bids).type != JsonType::levels || field(JsonKey::asks).type != JsonType::levels) {
    return JsonError::wrong_type;
  }
  take_levels(out);
  return JsonError::none;
}

JsonError JsonFields::trade(JsonMessage& out, JsonKey number) const noexcept {
  out.kind = JsonKind::trade;
  JsonError error = number_of(number, out.last);
  if (error == JsonError::none) error = decimal_of(JsonKey::price, JsonError::bad_price, out.bid.price);
  if (error == JsonError::none) error = decimal_of(JsonKey::size, JsonError::bad_quantity, out.bid.quantity);
  if (error != JsonError::none) return error;
  if (!has(JsonKey::maker)) return JsonError::missing_field;
  if (field(JsonKey::maker).type != JsonType::boolean) return JsonError::wrong_type;
  out.buyer_is_maker = field(JsonKey::maker).text == "true";
  return JsonError::none;
}

JsonError JsonFields::interpret(JsonMessage& out) const noexcept {
  out = JsonMessage{};
  if (has(JsonKey::symbol) && field(JsonKey::symbol).type == JsonType::text) out.symbol = field(JsonKey::symbol).text;
  if (const JsonError error = read_time(out); error != JsonError::none) return error;
  std::string_view event;
  if (has(JsonKey::event)) {
    if (const JsonError error = text_of(JsonKey::event, event); error != JsonError::none) return error;
  } else if (has(JsonKey::last_update)) {
    return snapshot(out);
  } else if (has(JsonKey::last) && has(JsonKey::bid_size)) {
    // Spot tickers have no name of their kind.
    event = "bookTicker";
  } else if (has(JsonKey::error) || (has(JsonKey::code) && !has(JsonKey::symbol))) {
    out.kind = JsonKind::refusal;
    return JsonError::none;
  } else if (has(JsonKey::result)) {
    out.kind = JsonKind::answer;
    return JsonError::none;
  } else {
    return JsonError::other_message;
  }
  const bool ticker_event = event == "bookTicker";
  if (!ticker_event && event != "depthUpdate" && event != "trade" && event != "aggTrade") {
    return JsonError::other_message;
  }
  if (const JsonError error = text_of(JsonKey::symbol, out.symbol); error != JsonError::none) return error;
  if (ticker_event) return ticker(out);
  if (event == "depthUpdate") return depth(out);
  return trade(out, event == "trade" ? JsonKey::trade : JsonKey::a);
}

}  // namespace nfx::market
