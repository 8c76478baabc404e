// The kernel for AArch64: 16 bytes per vector.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "vector_kernel.hpp"

namespace nfx::kernels {
namespace {

struct Vector {
  using type = uint8x16_t;
  static constexpr int width = 16;

  static type zero() noexcept { return vdupq_n_u8(0); }
  static type load(const void* p) noexcept { return vld1q_u8(static_cast<const std::uint8_t*>(p)); }
  static void store(void* p, type v) noexcept { vst1q_u8(static_cast<std::uint8_t*>(p), v); }
  static type both(type a, type b) noexcept { return vandq_u8(a, b); }
  static type either(type a, type b) noexcept { return vorrq_u8(a, b); }
  static type add(type a, type b) noexcept { return vaddq_u8(a, b); }
  static type subtract(type v, char c) noexcept { return vsubq_u8(v, vdupq_n_u8(static_cast<std::uint8_t>(c))); }
  static type above_nine(type v) noexcept { return vqsubq_u8(v, vdupq_n_u8(9)); }
  static bool is_zero(type v) noexcept { return vmaxvq_u8(v) == 0; }

  // There is no instruction that takes one bit of each byte: each keeps the bit of its position, and a sum combines
  // them.
  static std::uint64_t equal_bits(type v, char c) noexcept {
    const type bits = vandq_u8(vceqq_u8(v, vdupq_n_u8(static_cast<std::uint8_t>(c))), places());
    return std::uint64_t{vaddv_u8(vget_low_u8(bits))} | std::uint64_t{vaddv_u8(vget_high_u8(bits))} << 8;
  }

  // A byte of all ones for each of the low 16 bits.
  static type from_bits(std::uint64_t bits) noexcept {
    const type bytes =
        vcombine_u8(vdup_n_u8(static_cast<std::uint8_t>(bits)), vdup_n_u8(static_cast<std::uint8_t>(bits >> 8)));
    return vtstq_u8(bytes, places());
  }

  // v moved up by one byte, the last of `before` below it.
  static type shift_in(type before, type v) noexcept { return vextq_u8(before, v, 15); }

  static type times_ten(type v) noexcept {
    const type table = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0, 0, 0, 0, 0, 0};
    return vqtbl1q_u8(table, v);
  }

  // Only the low byte of the sum is used, so each lane may wrap.
  static std::uint8_t total(type sums) noexcept { return vaddvq_u8(sums); }

 private:
  static type places() noexcept { return type{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128}; }
};

}  // namespace

const KernelTable neon = VectorKernel<Vector>::table("neon");

}  // namespace nfx::kernels

#endif
