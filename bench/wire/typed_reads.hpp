// The typed reads that a handler does after the parse, from anything that gives a field's text by its tag.
#pragma once

#include <string_view>
#include <utility>

#include "nexusfix/base/decimal.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/readings.hpp"

namespace nfx::bench {

// What a typed getter returned.
template <typename Value>
[[gnu::always_inline]] inline void add_decimal(Fold& fold, std::size_t place, const Value& value) noexcept {
  value ? fold.decimal(place, value->mantissa(), value->scale()) : fold.unreadable(place);
}
template <typename Value>
[[gnu::always_inline]] inline void add_character(Fold& fold, std::size_t place, const Value& value) noexcept {
  value ? fold.character(place, static_cast<char>(*value)) : fold.unreadable(place);
}
template <typename Value>
[[gnu::always_inline]] inline void add_time(Fold& fold, std::size_t place, const Value& value) noexcept {
  value ? fold.integer(place, value->time.time_since_epoch().count()) : fold.unreadable(place);
}

template <ReadAs as>
[[gnu::always_inline]] inline void read_one(Fold& fold, std::size_t place, std::string_view text) noexcept {
  if constexpr (as == ReadAs::text) {
    fold.text(place, text.data(), text.size());
  } else if constexpr (as == ReadAs::character) {
    const auto value = parse_char(text);
    value ? fold.character(place, *value) : fold.unreadable(place);
  } else if constexpr (as == ReadAs::integer) {
    const auto value = parse_int(text);
    value ? fold.integer(place, *value) : fold.unreadable(place);
  } else if constexpr (as == ReadAs::decimal) {
    const auto value = parse_decimal(text);
    value ? fold.decimal(place, value->mantissa(), value->scale()) : fold.unreadable(place);
  } else {
    const auto value = parse_utc_timestamp(text);
    value ? fold.integer(place, value->time.time_since_epoch().count()) : fold.unreadable(place);
  }
}

// `text_of(Tag)` looks a field up. The tags are constants, as they are in a handler's code.
template <const Reading (&readings)[reading_count], typename TextOf>
[[gnu::always_inline]] inline std::uint64_t read_eight(const TextOf& text_of) noexcept {
  Fold fold;
  [&]<std::size_t... place>(std::index_sequence<place...>) {
    (read_one<readings[place].as>(fold, place, text_of(Tag{readings[place].tag})), ...);
  }(std::make_index_sequence<reading_count>{});
  return fold.sum();
}

}  // namespace nfx::bench
