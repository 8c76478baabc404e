// Reads messages byte by byte with independent code: the reference for every row's answer.
#include "wire/plain_reading.hpp"

#include <chrono>
#include <span>

#include "wire/readings.hpp"

namespace nfx::bench {
namespace {

constexpr char soh = '\x01';

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// -1 unless all of it is digits.
std::int64_t number_of(std::string_view text) {
  if (text.empty()) return -1;
  std::int64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

void fold_reading(Fold& fold, std::size_t place, ReadAs as, const std::string& text, Prices prices) {
  switch (as) {
    case ReadAs::text: fold.text(place, text.data(), text.size()); return;
    case ReadAs::character: fold.character(place, text.at(0)); return;
    case ReadAs::integer: fold.integer(place, number_of(text)); return;
    case ReadAs::time: fold.integer(place, plain_time_ns(text)); return;
    case ReadAs::decimal: {
      const PlainDecimal number = plain_decimal(text);
      if (prices == Prices::exact) {
        fold.decimal(place, number.mantissa, number.scale);
      } else {
        std::int64_t mantissa = number.mantissa;
        for (unsigned scale = number.scale; scale < 5; ++scale) mantissa *= 10;
        fold.integer(place, mantissa);
      }
      return;
    }
  }
}

std::uint64_t fold_readings(std::span<const Reading> readings, const PlainMessage& message, Prices prices) {
  Fold fold;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    fold_reading(fold, i, readings[i].as, plain_text(message, readings[i].tag), prices);
  }
  return fold.sum();
}

std::uint64_t fold_entries(const PlainMessage& message, Prices prices) {
  Fold fold;
  std::size_t entry = 0;
  for (const PlainField& field : message) {
    if (field.tag == 279) ++entry;
    if (field.tag == 269) fold_reading(fold, 3 * (entry - 1), ReadAs::character, field.text, prices);
    if (field.tag == 270) fold_reading(fold, 3 * (entry - 1) + 1, ReadAs::decimal, field.text, prices);
    if (field.tag == 271) fold_reading(fold, 3 * (entry - 1) + 2, ReadAs::decimal, field.text, prices);
  }
  return fold.sum();
}

}  // namespace

std::optional<PlainMessage> read_plainly(std::string_view message) {
  PlainMessage fields;
  std::size_t body_begin = 0;
  std::size_t body_end = 0;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t equals = message.find('=', at);
    const std::size_t end = message.find(soh, at);
    if (end == std::string_view::npos || equals == std::string_view::npos || equals > end) return {};
    const std::int64_t tag = number_of(message.substr(at, equals - at));
    if (tag <= 0 || equals + 1 == end) return {};
    if (tag == 10) body_end = at;
    fields.push_back({static_cast<int>(tag), equals + 1, std::string{message.substr(equals + 1, end - equals - 1)}});
    at = end + 1;
    if (fields.size() == 2) body_begin = at;
  }
  if (fields.size() < 4 || fields[0].tag != 8 || fields[1].tag != 9 || fields[2].tag != 35) return {};
  if (fields.back().tag != 10 || fields.back().text.size() != 3) return {};
  if (number_of(fields[1].text) != static_cast<std::int64_t>(body_end - body_begin)) return {};
  unsigned sum = 0;
  for (const char c : message.substr(0, body_end)) sum += static_cast<unsigned char>(c);
  if (number_of(fields.back().text) != sum % 256) return {};
  return fields;
}

std::string plain_text(const PlainMessage& message, int tag) {
  for (const PlainField& field : message) {
    if (field.tag == tag) return field.text;
  }
  return {};
}

PlainDecimal plain_decimal(std::string_view text) {
  PlainDecimal number;
  bool behind_point = false;
  for (const char c : text) {
    if (c == '.') {
      behind_point = true;
    } else {
      number.mantissa = number.mantissa * 10 + (c - '0');
      if (behind_point) ++number.scale;
    }
  }
  return number;
}

std::int64_t plain_time_ns(std::string_view text) {
  using namespace std::chrono;
  const auto part = [&](std::size_t at, std::size_t size) {
    return static_cast<int>(number_of(text.substr(at, size)));
  };
  const sys_days day{year{part(0, 4)} / part(4, 2) / part(6, 2)};
  const auto time = day + hours{part(9, 2)} + minutes{part(12, 2)} + seconds{part(15, 2)} + milliseconds{part(18, 3)};
  return nanoseconds{time.time_since_epoch()}.count();
}

bool same_value(std::string_view a, std::string_view b) {
  const auto shortest = [](std::string_view text) {
    if (text.find('.') == std::string_view::npos) return text;
    while (text.ends_with('0')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
    return text;
  };
  return shortest(a) == shortest(b);
}

std::uint64_t expected_readings(Kind kind, const PlainMessage& message, Prices prices) {
  switch (kind) {
    case Kind::new_order_single: return fold_readings(order_readings, message, prices);
    case Kind::execution_report: return fold_readings(report_readings, message, prices);
    case Kind::market_data: return fold_entries(message, prices);
    case Kind::heartbeat: return 0;
  }
  return 0;
}

}  // namespace nfx::bench
