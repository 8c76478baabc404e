// Compares a kernel's results with the scalar kernel's, in arrays that end at a guard page.
#include "differential/kernel_comparer.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::test {
namespace {

using kernels::IndexResult;
using kernels::KernelTable;

// Written to the arrays before a kernel runs, so that it cannot pass with the results of another one.
constexpr int unwritten = 0xA5;

// The index of the first element that differs; both arrays must have a difference.
template <class T>
std::uint32_t first_different(const T* a, const T* b) noexcept {
  std::uint32_t i = 0;
  while (a[i] == b[i]) ++i;
  return i;
}

template <class T>
std::optional<KernelDifference> differs_in(const T* actual, const T* expected, std::uint32_t count,
                                           KernelAnswer answer) noexcept {
  if (count == 0 || std::memcmp(actual, expected, count * sizeof(T)) == 0) return std::nullopt;
  const std::uint32_t i = first_different(actual, expected);
  return KernelDifference{"", KernelFunction::index_fields, answer, i, actual[i], expected[i]};
}

std::optional<KernelDifference> differs_in(std::int64_t actual, std::int64_t expected, KernelAnswer answer) noexcept {
  if (actual == expected) return std::nullopt;
  return KernelDifference{"", KernelFunction::index_fields, answer, 0, actual, expected};
}

template <class Arrays>
std::optional<KernelDifference> differs_in(const IndexResult& actual, const Arrays& actual_fields,
                                           const IndexResult& expected, const Arrays& expected_fields) noexcept {
  if (auto found = differs_in(actual.needs_wide, expected.needs_wide, KernelAnswer::needs_wide)) return found;
  if (expected.needs_wide) return std::nullopt;  // nothing else is meaningful
  const auto error = [](const IndexResult& result) { return std::int64_t{std::to_underlying(result.error)}; };
  if (auto found = differs_in(error(actual), error(expected), KernelAnswer::error)) return found;
  if (auto found = differs_in(actual.count, expected.count, KernelAnswer::count)) return found;
  if (expected.error == WireError::none && actual.sum != expected.sum)
    return differs_in(actual.sum, expected.sum, KernelAnswer::sum);
  const std::uint32_t count = expected.count;
  if (auto found = differs_in(actual_fields.tags, expected_fields.tags, count, KernelAnswer::tags)) return found;
  if (auto found = differs_in(actual_fields.begins, expected_fields.begins, count, KernelAnswer::begins)) return found;
  return differs_in(actual_fields.ends, expected_fields.ends, count, KernelAnswer::ends);
}

template <class Arrays>
void forget(const Arrays& fields, std::uint32_t count) noexcept {
  std::memset(fields.tags, unwritten, count * sizeof *fields.tags);
  std::memset(fields.begins, unwritten, count * sizeof *fields.begins);
  std::memset(fields.ends, unwritten, count * sizeof *fields.ends);
}

}  // namespace

std::string_view to_string(KernelFunction function) noexcept {
  switch (function) {
    case KernelFunction::index_fields: return "index_fields";
    case KernelFunction::index_wide_fields: return "index_wide_fields";
    case KernelFunction::check_sum: return "check_sum";
    case KernelFunction::scan_soh: return "scan_soh";
  }
  return "";
}

std::string_view to_string(KernelAnswer answer) noexcept {
  switch (answer) {
    case KernelAnswer::error: return "error";
    case KernelAnswer::needs_wide: return "needs_wide";
    case KernelAnswer::count: return "count";
    case KernelAnswer::sum: return "sum";
    case KernelAnswer::tags: return "tag";
    case KernelAnswer::begins: return "begin";
    case KernelAnswer::ends: return "end";
    case KernelAnswer::place: return "place";
  }
  return "";
}

std::string to_string(const KernelDifference& difference) {
  std::string text = difference.kernel;
  text.append(" ").append(to_string(difference.function)).append(": ");
  switch (difference.answer) {
    case KernelAnswer::tags:
    case KernelAnswer::begins:
    case KernelAnswer::ends:
      text.append(to_string(difference.answer)).append(" of field ").append(std::to_string(difference.field));
      break;
    case KernelAnswer::error:
    case KernelAnswer::needs_wide:
    case KernelAnswer::count:
    case KernelAnswer::sum:
    case KernelAnswer::place: text.append(to_string(difference.answer)); break;
  }
  text.append(" is ").append(std::to_string(difference.actual));
  return text.append(", scalar returns ").append(std::to_string(difference.expected));
}

KernelComparer::KernelComparer(std::vector<const KernelTable*> others) : others_(std::move(others)) {}

std::vector<const KernelTable*> KernelComparer::available() {
  std::vector<const KernelTable*> tables;
  for (const KernelTable* table : kernels::available_kernels()) {
    if (table != &kernels::scalar) tables.push_back(table);
  }
  return tables;
}

template <class Arrays>
Arrays KernelComparer::GuardedArrays<Arrays>::with_capacity(std::uint32_t capacity) noexcept {
  const std::size_t room = capacity + kernels::array_padding;
  using TagNumber = typename Arrays::tag_type;
  using Position = typename Arrays::position_type;
  return {reinterpret_cast<TagNumber*>(tags.last(room * sizeof(TagNumber)).data()),
          reinterpret_cast<Position*>(begins.last(room * sizeof(Position)).data()),
          reinterpret_cast<Position*>(ends.last(room * sizeof(Position)).data()), capacity};
}

const KernelTable& KernelComparer::run(const KernelTable& table, KernelFunction function) noexcept {
  kernel_running_ = table.name;
  function_running_ = function;
  return table;
}

template <auto function, class Arrays>
std::optional<KernelDifference> KernelComparer::compare_index(std::string_view bytes, std::uint32_t capacity,
                                                              BothArrays<Arrays>& arrays) noexcept {
  constexpr bool is_narrow = std::is_same_v<Arrays, kernels::FieldArrays>;
  constexpr KernelFunction running = is_narrow ? KernelFunction::index_fields : KernelFunction::index_wide_fields;
  const Arrays expected_fields = arrays.expected.with_capacity(capacity);
  const Arrays actual_fields = arrays.actual.with_capacity(capacity);
  const IndexResult expected = (run(kernels::scalar, running).*function)(bytes.data(), bytes.size(), expected_fields);
  if (is_narrow || bytes.size() > max_narrow_size) expected_ = expected;
  for (const KernelTable* table : others_) {
    forget(actual_fields, expected.count);
    const IndexResult actual = (run(*table, running).*function)(bytes.data(), bytes.size(), actual_fields);
    if (auto found = differs_in(actual, actual_fields, expected, expected_fields)) [[unlikely]] {
      found->kernel = table->name;
      found->function = running;
      return found;
    }
  }
  return std::nullopt;
}

std::optional<KernelDifference> KernelComparer::compare_scans(std::string_view bytes) noexcept {
  const char* const data = bytes.data();
  const std::size_t size = bytes.size();
  const std::uint8_t sum = run(kernels::scalar, KernelFunction::check_sum).check_sum(data, size);
  const char* const soh = run(kernels::scalar, KernelFunction::scan_soh).scan_soh(data, size);
  for (const KernelTable* table : others_) {
    const std::uint8_t other_sum = run(*table, KernelFunction::check_sum).check_sum(data, size);
    if (other_sum != sum) [[unlikely]]
      return KernelDifference{table->name, KernelFunction::check_sum, KernelAnswer::sum, 0, other_sum, sum};
    const char* const other_soh = run(*table, KernelFunction::scan_soh).scan_soh(data, size);
    if (other_soh != soh) [[unlikely]] {
      return KernelDifference{table->name, KernelFunction::scan_soh, KernelAnswer::place,
                              0,           other_soh - data,         soh - data};
    }
  }
  return std::nullopt;
}

std::optional<KernelDifference> KernelComparer::compare(std::string_view bytes,
                                                        const KernelQuestion& question) noexcept {
  NFX_REQUIRE(question.capacity <= max_capacity && question.part_from <= bytes.size());
  const bool narrow = bytes.size() <= max_narrow_size;
  if (narrow) {
    if (auto found = compare_index<&KernelTable::index_fields>(bytes, question.capacity, narrow_)) return found;
  }
  if (!narrow || question.wide) {
    if (auto found = compare_index<&KernelTable::index_wide_fields>(bytes, question.capacity, wide_)) return found;
  }
  if (auto found = compare_scans(bytes.substr(question.part_from))) return found;
  return question.part_from != 0 && question.wide ? compare_scans(bytes) : std::nullopt;
}

}  // namespace nfx::test
