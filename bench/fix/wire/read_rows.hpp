// The sum of one parsed message's typed reads, for the rows that read.
#pragma once

#include <array>
#include <utility>

#include "nexusfix/wire/group_view.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/readings.hpp"

namespace nfx::bench {

inline constexpr std::array entry_members{Tag::MDUpdateAction, Tag::MDEntryType, Tag::Symbol, Tag::MDEntryPx,
                                          Tag::MDEntrySize};
inline constexpr GroupShape entry_shape{Tag::NoMDEntries, entry_members, {}};

// One field of a message, or of an entry of its group, through its typed getter.
template <ReadAs as, typename Source>
[[gnu::always_inline]] inline void get_one(Fold& fold, std::size_t place, const Source& source, Tag tag) noexcept {
  if constexpr (as == ReadAs::text) {
    const std::string_view value = source.get_view(tag);
    fold.text(place, value.data(), value.size());
  } else if constexpr (as == ReadAs::character) {
    const auto value = source.get_char(tag);
    value ? fold.character(place, *value) : fold.unreadable(place);
  } else if constexpr (as == ReadAs::integer) {
    const auto value = source.get_int(tag);
    value ? fold.integer(place, *value) : fold.unreadable(place);
  } else if constexpr (as == ReadAs::decimal) {
    const auto value = source.get_decimal(tag);
    value ? fold.decimal(place, value->mantissa(), value->scale()) : fold.unreadable(place);
  } else {
    const auto value = source.get_utc_timestamp(tag);
    value ? fold.integer(place, value->time.time_since_epoch().count()) : fold.unreadable(place);
  }
}

template <const Reading (&readings)[reading_count]>
[[nodiscard]] inline std::uint64_t get_eight(const MessageView& view) noexcept {
  Fold fold;
  [&]<std::size_t... place>(std::index_sequence<place...>) {
    (get_one<readings[place].as>(fold, place, view, Tag{readings[place].tag}), ...);
  }(std::make_index_sequence<reading_count>{});
  return fold.sum();
}

[[nodiscard]] inline std::uint64_t read_report(const MessageView& view) noexcept {
  return get_eight<report_readings>(view);
}

[[nodiscard]] inline std::uint64_t read_order(const MessageView& view) noexcept {
  return get_eight<order_readings>(view);
}

[[nodiscard]] inline std::uint64_t read_entries(const MessageView& view) noexcept {
  Fold fold;
  std::size_t place = 0;
  for (const GroupEntry entry : view.group(entry_shape)) {
    get_one<ReadAs::character>(fold, place, entry, Tag::MDEntryType);
    get_one<ReadAs::decimal>(fold, place + 1, entry, Tag::MDEntryPx);
    get_one<ReadAs::decimal>(fold, place + 2, entry, Tag::MDEntrySize);
    place += 3;
  }
  return fold.sum();
}

}  // namespace nfx::bench
