// Counters as tables: a struct of plain numbers has one row for each of them, written next to the struct. Sums, the
// metrics page and its documentation are made from the rows. To add a counter, add the member, its row, and count it.
// Thread: any, plain values. Cost: one addition a row; no part of a hot path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

template <class Counters>
struct CounterRow {
  std::uint64_t Counters::* member;
  std::string_view metric;      // on the metrics page; by convention its name ends in _total
  std::string_view help;        // of the metric: what is counted, for an operator
  std::string_view label = {};  // one more label, where several counters are one metric: direction="in"
  std::string_view label_value = {};
};

// Specialised for each struct of counters. A sum without the rows would be wrong, so there is no other definition.
template <class Counters>
inline constexpr auto counter_rows =
    [] { static_assert(sizeof(Counters) == 0, "include the header that has the rows of these counters"); }();

// Whether every member has a row of its own, and no two rows are the same on the page. `others` are the bytes of
// members that are not counters.
template <class Counters>
[[nodiscard]] consteval bool rows_are_complete(std::size_t others = 0) {
  const auto& rows = counter_rows<Counters>;
  if (rows.size() * sizeof(std::uint64_t) + others != sizeof(Counters)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CounterRow<Counters>& row = rows[i];
    if (!row.metric.starts_with("nfx_") || !row.metric.ends_with("_total") || !row.help.ends_with('.')) return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (rows[k].member == row.member) return false;
      if (rows[k].metric == row.metric && (row.label.empty() || rows[k].label_value == row.label_value)) return false;
    }
  }
  return true;
}

template <class Counters>
void add_counters(Counters& sum, const Counters& more) noexcept {
  for (const CounterRow<Counters>& row : counter_rows<Counters>) sum.*row.member += more.*row.member;
}

}  // namespace nfx
