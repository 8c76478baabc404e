// "Did you mean" for error messages: the nearest name by edit distance.
#include "base/suggest.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// The number of letters to insert, delete or change, or `most` if it is not less. Computes one row of the classic table
// at a time, and only the part of a row that can still be less.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t begin = i > most ? i - most : 0, end = std::min(b.size(), i + most + 1);
    std::size_t diagonal = row[begin];
    std::size_t least = row[begin] = begin == 0 ? i + 1 : most;
    for (std::size_t j = begin; j < end; ++j) {
      const std::size_t changed = diagonal + (lower(a[i]) != lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least >= most) return most;
  }
  return std::min(row[b.size()], most);
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;  // names are shorter; bounds the cost whatever a file contains
  std::string_view best;
  std::size_t best_distance = 3;
  if (name.size() > longest) return {};
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > name.size() + 2 || name.size() > candidate.size() + 2) continue;
    const std::size_t distance = edit_distance(name, candidate, best_distance);
    NFX_ASSERT(distance <= best_distance);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? std::string{} : "; did you mean " + std::string(best) + "?";
}

}  // namespace nfx
