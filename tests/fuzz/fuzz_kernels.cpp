// Fuzz target for the kernels: for any bytes each must equal the scalar one and stay inside its memory. The first byte
// chooses the capacity; the second one the page next to the bytes, and the start of a second scan.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "differential/guarded_memory.hpp"
#include "differential/kernel_comparer.hpp"
#include "fuzz_target.hpp"
#include "nexusfix/base/assert.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.control_size = 2};

namespace nfx::test {
namespace {

// Larger than two control bytes can require, and large enough for a -max_len of a million.
constexpr std::size_t max_size = std::size_t{1} << 20;
constexpr std::uint32_t plenty = 2048;

// Up to 127 the capacity itself: few fields reach it. Above, one that only messages of many tiny fields reach.
std::uint32_t capacity_of(std::uint8_t control) { return control < 128 ? control : plenty; }

void compare(std::string_view bytes, std::uint8_t first, std::uint8_t second) {
  static KernelComparer comparer{KernelComparer::available()};
  static GuardedMemory memory{max_size};
  const Against against = second % 2 == 0 ? Against::page_behind : Against::page_in_front;
  const std::string_view placed = memory.place(bytes, against);
  const KernelQuestion question{
      .capacity = capacity_of(first), .part_from = placed.size() * (second / 2) / 128, .wide = true};
  if (const auto difference = comparer.compare(placed, question)) {
    std::fprintf(stderr, "capacity %u, part from %zu: %s\n", question.capacity, question.part_from,
                 to_string(*difference).c_str());
    NFX_REQUIRE(!difference);
  }
}

}  // namespace
}  // namespace nfx::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < nfx_fuzz_target.control_size || size - nfx_fuzz_target.control_size > nfx::test::max_size) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  nfx::test::compare(bytes.substr(nfx_fuzz_target.control_size), data[0], data[1]);
  return 0;
}
