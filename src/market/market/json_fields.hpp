// The fields of a message as text, whichever way they were found, and what they mean together.
// Thread: one owner. Cost: a few assignments a field. Errors: JsonError. Lifetime: borrows the text. Bounds: the levels
// given at construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "market/json_message.hpp"

namespace nfx::market {

// Named by their keys; keys of one letter by their meaning.
enum class JsonKey : std::uint8_t {
  event,        // e
  event_time,   // E
  time,         // T
  symbol,       // s
  last,         // u
  first,        // U
  previous,     // pu
  b,            // best bid's price, bids, or a trade's buyer
  bid_size,     // B
  a,            // price of the best ask, levels, an aggregate trade's number, or a trade's seller
  ask_size,     // A
  trade,        // t
  price,        // p
  size,         // q
  maker,        // m
  last_update,  // lastUpdateId
  bids,
  asks,
  result,
  error,
  code,
  data,
  other,
};

enum class JsonType : std::uint8_t { text, number, boolean, levels, rest };

[[nodiscard]] JsonKey json_key(std::string_view key) noexcept;
// Keys of one letter.
inline constexpr std::array<JsonKey, 128> json_letters = [] {
  std::array<JsonKey, 128> keys{};
  keys.fill(JsonKey::other);
  keys['e'] = JsonKey::event;
  keys['E'] = JsonKey::event_time;
  keys['T'] = JsonKey::time;
  keys['s'] = JsonKey::symbol;
  keys['u'] = JsonKey::last;
  keys['U'] = JsonKey::first;
  keys['b'] = JsonKey::b;
  keys['B'] = JsonKey::bid_size;
  keys['a'] = JsonKey::a;
  keys['A'] = JsonKey::ask_size;
  keys['t'] = JsonKey::trade;
  keys['p'] = JsonKey::price;
  keys['q'] = JsonKey::size;
  keys['m'] = JsonKey::maker;
  return keys;
}();

class JsonFields {
 public:
  explicit JsonFields(std::uint32_t levels) { levels_.reserve(levels); }

  void clear() noexcept {
    seen_ = 0;
    levels_.clear();
    bids_ = asks_ = {};
  }
  [[nodiscard]] bool has(JsonKey key) const noexcept { return (seen_ >> static_cast<unsigned>(key) & 1) != 0; }

  // False: the key was set before.
  bool set(JsonKey key, JsonType type, std::string_view text) noexcept {
    if (key == JsonKey::other) return true;
    if (has(key)) return false;
    seen_ |= std::uint32_t{1} << static_cast<unsigned>(key);
    fields_[static_cast<std::size_t>(key)] = {text, type};
    return true;
  }

  // Levels follow individually, after the set() of their key.
  JsonError add_level(std::string_view price, std::string_view quantity) noexcept {
    if (levels_.size() == levels_.capacity()) [[unlikely]]
      return JsonError::too_many_levels;
    const auto at = Decimal::parse(price);
    if (!at) return JsonError::bad_price;
    const auto size = Decimal::parse(quantity);
    if (!size) return JsonError::bad_quantity;
    levels_.push_back({*at, *size});
    return JsonError::none;
  }
  [[nodiscard]] std::size_t level_count() const noexcept { return levels_.size(); }
  // Those from `begin` on are the value of this key.
  void end_levels(JsonKey key, std::size_t begin) noexcept {
    Range& range = key == JsonKey::b || key == JsonKey::bids ? bids_ : asks_;
    range = {begin, levels_.size()};
  }

  // The combined meaning of the fields.
  JsonError interpret(JsonMessage& out) const noexcept;

 private:
  struct Field {
    std::string_view text;
    JsonType type;
  };
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  [[nodiscard]] const Field& field(JsonKey key) const noexcept { return fields_[static_cast<std::size_t>(key)]; }
  JsonError text_of(JsonKey key, std::string_view& out) const noexcept {
    if (!has(key)) return JsonError::missing_field;
    if (field(key).type != JsonType::text) return JsonError::wrong_type;
    out = field(key).text;
    return JsonError::none;
  }
  JsonError number_of(JsonKey key, std::uint64_t& out) const noexcept;
  JsonError decimal_of(JsonKey key, JsonError bad, Decimal& out) const noexcept;
  JsonError read_time(JsonMessage& out) const noexcept;
  JsonError ticker(JsonMessage& out) const noexcept;
  JsonError depth(JsonMessage& out) const noexcept;
  JsonError snapshot(JsonMessage& out) const noexcept;
  JsonError trade(JsonMessage& out, JsonKey number) const noexcept;
  void take_levels(JsonMessage& out) const noexcept;

  std::uint32_t seen_ = 0;
  std::array<Field, static_cast<std::size_t>(JsonKey::other)> fields_;
  std::vector<JsonLevel> levels_;
  Range bids_, asks_;
};

// Reads a message of the shape that venues send: no white space, no escapes, ASCII. False: something else, which may be
// good JSON all the same.
[[nodiscard]] bool scan_json(const JsonBytes& bytes, JsonFields& out) noexcept;

}  // namespace nfx::market
