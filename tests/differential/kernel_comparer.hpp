// Runs the scalar kernel and others on the same bytes, and reports the first difference.
// Thread: one per comparer. Cost: the kernels' own, one comparison of memory per array, no allocation. The output
// arrays end before an inaccessible page, so writing beyond their padding ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "differential/guarded_memory.hpp"
#include "wire/kernels/kernels.hpp"

namespace nfx::test {

enum class KernelFunction : std::uint8_t { index_fields, index_wide_fields, check_sum, scan_soh };
enum class KernelAnswer : std::uint8_t { error, needs_wide, count, sum, tags, begins, ends, place };

[[nodiscard]] std::string_view to_string(KernelFunction function) noexcept;
[[nodiscard]] std::string_view to_string(KernelAnswer answer) noexcept;

struct KernelDifference {
  const char* kernel;
  KernelFunction function;
  KernelAnswer answer;
  std::uint32_t field;  // the first that differs, for tags, begins and ends
  std::int64_t actual;
  std::int64_t expected;
};

// "avx2 index_fields: end of field 3 is 18, scalar returns 17"
[[nodiscard]] std::string to_string(const KernelDifference& difference);

// The input of a comparison.
struct KernelQuestion {
  std::uint32_t capacity = 64;  // at most KernelComparer::max_capacity
  std::size_t part_from = 0;    // check_sum and scan_soh also get the bytes from here on; at most their number
  bool wide = true;             // also run index_wide_fields on bytes that index_fields can take
};

class KernelComparer {
 public:
  static constexpr std::uint32_t max_capacity = 40000;
  static constexpr std::size_t max_narrow_size = 65535;

  explicit KernelComparer(std::vector<const kernels::KernelTable*> others);

  // All kernels that this machine can run, except the scalar one.
  [[nodiscard]] static std::vector<const kernels::KernelTable*> available();

  // The first difference, if there is one.
  [[nodiscard]] std::optional<KernelDifference> compare(std::string_view bytes,
                                                        const KernelQuestion& question) noexcept;

  // The scalar kernel's last result: from index_fields if the message is short enough, otherwise from
  // index_wide_fields.
  [[nodiscard]] const kernels::IndexResult& expected() const noexcept { return expected_; }

  // The function that ran last, for explaining a fault.
  [[nodiscard]] const char* kernel_running() const noexcept { return kernel_running_; }
  [[nodiscard]] KernelFunction function_running() const noexcept { return function_running_; }

 private:
  template <class Arrays>
  struct GuardedArrays {
    GuardedMemory tags{(max_capacity + kernels::array_padding) * sizeof(typename Arrays::tag_type)};
    GuardedMemory begins{(max_capacity + kernels::array_padding) * sizeof(typename Arrays::position_type)};
    GuardedMemory ends{(max_capacity + kernels::array_padding) * sizeof(typename Arrays::position_type)};
    [[nodiscard]] Arrays with_capacity(std::uint32_t capacity) noexcept;
  };
  template <class Arrays>
  struct BothArrays {
    GuardedArrays<Arrays> expected;
    GuardedArrays<Arrays> actual;
  };

  template <auto function, class Arrays>
  std::optional<KernelDifference> compare_index(std::string_view bytes, std::uint32_t capacity,
                                                BothArrays<Arrays>& arrays) noexcept;
  std::optional<KernelDifference> compare_scans(std::string_view bytes) noexcept;
  const kernels::KernelTable& run(const kernels::KernelTable& table, KernelFunction function) noexcept;

  std::vector<const kernels::KernelTable*> others_;
  BothArrays<kernels::FieldArrays> narrow_;
  BothArrays<kernels::WideFieldArrays> wide_;
  kernels::IndexResult expected_{};
  const char* kernel_running_ = "";
  KernelFunction function_running_ = KernelFunction::index_fields;
};

}  // namespace nfx::test
