// Sets of CPUs and the kernel's notations for them: lists, masks and strides.
#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <optional>

namespace nfx {
namespace {

constexpr int bits = 64;

std::size_t word_of(int cpu) { return static_cast<std::size_t>(cpu) / bits; }
std::uint64_t bit_of(int cpu) { return std::uint64_t{1} << (static_cast<unsigned>(cpu) % bits); }

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

struct Range {
  int first = 0;
  int last = 0;
  int used = 1;   // of each group of this many ...
  int group = 1;  // ... CPUs
};

// "3", "0-7" or "0-31:2/8".
std::optional<Range> parse_range(std::string_view text) {
  Range range;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view stride = text.substr(colon + 1);
    const std::size_t slash = stride.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto used = number(stride.substr(0, slash)), group = number(stride.substr(slash + 1));
    if (!used || !group || *group < 1 || *used > *group) return std::nullopt;
    range.used = *used;
    range.group = *group;
    text = text.substr(0, colon);
  }
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first || (colon != std::string_view::npos && dash == std::string_view::npos))
    return std::nullopt;
  range.first = *first;
  range.last = *last;
  return range;
}

std::string in_quotes(std::string_view text) { return '"' + std::string{text.substr(0, 60)} + '"'; }

}  // namespace

CpuSet::CpuSet(std::initializer_list<int> cpus) {
  for (const int cpu : cpus) insert(cpu);
}

CpuSet CpuSet::range(int first, int last) {
  CpuSet set;
  for (int cpu = std::max(first, 0); cpu <= std::min(last, max_cpus - 1); ++cpu) set.insert(cpu);
  return set;
}

std::expected<CpuSet, std::string> CpuSet::parse_list(std::string_view text) {
  CpuSet set;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const auto range = parse_range(item);
    if (!range) return std::unexpected(in_quotes(item) + " is not a CPU or a range of CPUs such as 3 or 0-7");
    if (range->last >= max_cpus)
      return std::unexpected(in_quotes(item) + ": expected CPUs from 0 to " + std::to_string(max_cpus - 1));
    for (int cpu = range->first; cpu <= range->last; ++cpu) {
      if ((cpu - range->first) % range->group < range->used) set.insert(cpu);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return std::unexpected(in_quotes(text) + " ends with a comma");
  }
  return set;
}

std::expected<CpuSet, std::string> CpuSet::parse_mask(std::string_view text) {
  CpuSet set;
  std::string_view rest = trimmed(text);
  if (rest.empty()) return std::unexpected("an empty mask: expected hexadecimal digits");
  // From the end: words of 32 bits separated by commas, lowest last. A single word may be longer.
  int base = 0;
  bool more = true;
  while (more) {
    const std::size_t comma = rest.rfind(',');
    std::string_view word = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
    if (base == 0 && comma == std::string_view::npos && word.starts_with("0x")) word.remove_prefix(2);
    const bool alone = base == 0 && comma == std::string_view::npos;
    if (word.empty() || (word.size() > 8 && !alone))
      return std::unexpected(in_quotes(text) + " is not a mask such as ff or 1,00000000");
    int at = base;
    for (std::size_t i = word.size(); i-- > 0; at += 4) {
      unsigned digit = 0;
      const auto [end, error] = std::from_chars(word.data() + i, word.data() + i + 1, digit, 16);
      if (error != std::errc{}) return std::unexpected(in_quotes(word) + " has a digit that is not hexadecimal");
      if (digit != 0 && at + 3 >= max_cpus) return std::unexpected(in_quotes(text) + " names more CPUs than exist");
      for (int bit = 0; bit < 4; ++bit) {
        if ((digit >> bit & 1U) != 0) set.insert(at + bit);
      }
    }
    base += 32;
    more = comma != std::string_view::npos;
    if (more) rest = rest.substr(0, comma);
  }
  return set;
}

void CpuSet::insert(int cpu) {
  if (cpu < 0 || cpu >= max_cpus) return;
  if (word_of(cpu) >= words_.size()) words_.resize(word_of(cpu) + 1);
  words_[word_of(cpu)] |= bit_of(cpu);
  NFX_ASSERT(words_.back() != 0);  // sets are compared word by word, so no set ends in an empty word
}

void CpuSet::erase(int cpu) noexcept {
  if (!contains(cpu)) return;
  words_[word_of(cpu)] &= ~bit_of(cpu);
  trim();
}

bool CpuSet::contains(int cpu) const noexcept {
  return cpu >= 0 && cpu < max_cpus && word_of(cpu) < words_.size() && (words_[word_of(cpu)] & bit_of(cpu)) != 0;
}

std::size_t CpuSet::size() const noexcept {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

int CpuSet::first() const noexcept {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) return static_cast<int>(i) * bits + std::countr_zero(words_[i]);
  }
  return -1;
}

int CpuSet::last() const noexcept {
  if (words_.empty()) return -1;
  NFX_ASSERT(words_.back() != 0);
  return static_cast<int>(words_.size()) * bits - 1 - std::countl_zero(words_.back());
}

std::vector<int> CpuSet::members() const {
  std::vector<int> cpus;
  cpus.reserve(size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
      cpus.push_back(static_cast<int>(i) * bits + std::countr_zero(word));
    }
  }
  return cpus;
}

bool CpuSet::contains_all(const CpuSet& other) const noexcept {
  if (other.words_.size() > words_.size()) return false;
  for (std::size_t i = 0; i < other.words_.size(); ++i) {
    if ((other.words_[i] & ~words_[i]) != 0) return false;
  }
  return true;
}

bool CpuSet::intersects(const CpuSet& other) const noexcept {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
    if ((other.words_[i] & words_[i]) != 0) return true;
  }
  return false;
}

std::string CpuSet::to_list() const {
  std::string text;
  const std::vector<int> cpus = members();
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

std::string CpuSet::to_mask(int cpus) const {
  const int wanted = std::max({cpus, last() + 1, 1});
  std::string text;
  char digits[16];
  for (int word = (wanted - 1) / 32; word >= 0; --word) {
    const auto index = static_cast<std::size_t>(word) / 2;
    const std::uint64_t both = index < words_.size() ? words_[index] : 0;
    const auto value = static_cast<std::uint32_t>(both >> (word % 2 == 0 ? 0 : 32));
    // The highest word has one digit per four CPUs, the others have eight digits.
    const int width = text.empty() ? (wanted - word * 32 + 3) / 4 : 8;
    std::snprintf(digits, sizeof digits, "%s%0*x", text.empty() ? "" : ",", width, value);
    text += digits;
  }
  return text;
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  NFX_ASSERT(words_.empty() || words_.back() != 0);
  return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  trim();
  return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) words_[i] &= ~other.words_[i];
  trim();
  return *this;
}

void CpuSet::trim() noexcept {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace nfx
