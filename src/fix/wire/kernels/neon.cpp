// The kernel for AArch64: 16 bytes per vector.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "vector_kernel.hpp"

namespace nfx::kernels {
namespace {

struct NeonWords {
  uint16x8_t v;

  static NeonWords all(std::uint16_t number) noexcept { return {vdupq_n_u16(number)}; }
  static NeonWords load(const void* p) noexcept { return {vld1q_u16(static_cast<const std::uint16_t*>(p))}; }
  static NeonWords add(NeonWords a, NeonWords b) noexcept { return {vaddq_u16(a.v, b.v)}; }
  static NeonWords both(NeonWords a, NeonWords b) noexcept { return {vandq_u16(a.v, b.v)}; }
  static NeonWords either(NeonWords a, NeonWords b) noexcept { return {vorrq_u16(a.v, b.v)}; }
  template <int bits>
  static NeonWords shift_down(NeonWords a) noexcept {
    return {vshrq_n_u16(a.v, bits)};
  }
  // The table's entry at each low byte; indexes are below 16.
  static NeonWords look_up(const std::uint8_t* table, NeonWords index) noexcept {
    return {vreinterpretq_u16_u8(vqtbl1q_u8(vld1q_u8(table), vreinterpretq_u8_u16(index.v)))};
  }
  // Whether any low byte is not zero.
  static bool any(NeonWords a) noexcept { return vmaxvq_u16(vandq_u16(a.v, vdupq_n_u16(0xFF))) != 0; }
  static void store(std::uint16_t* to, NeonWords a) noexcept { vst1q_u16(to, a.v); }
};

struct Vector {
  using type = uint8x16_t;
  using Fields = Vector;
  using Words = NeonWords;
  static constexpr unsigned width = 16;

  static type pattern(const Pattern& p) noexcept { return load(p.bytes); }
  static std::uint64_t equal_bits(type a, type b) noexcept { return top_bits(equal(a, b)); }

  static type zero() noexcept { return vdupq_n_u8(0); }
  static type load(const void* p) noexcept { return vld1q_u8(static_cast<const std::uint8_t*>(p)); }
  static type both(type a, type b) noexcept { return vandq_u8(a, b); }
  static type either(type a, type b) noexcept { return vorrq_u8(a, b); }
  static type without(type a, type b) noexcept { return vbicq_u8(a, b); }
  static type equal(type a, type b) noexcept { return vceqq_u8(a, b); }
  static type add(type a, type b) noexcept { return vaddq_u8(a, b); }
  static type subtract(type a, type b) noexcept { return vsubq_u8(a, b); }
  static type add_saturated(type a, type b) noexcept { return vqaddq_u8(a, b); }

  // No instruction extracts one bit of each byte, so each byte keeps the bit of its position, and a sum combines them.
  static std::uint32_t top_bits(type v) noexcept {
    const type places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const type bits = vandq_u8(vtstq_u8(v, vdupq_n_u8(0x80)), places);
    return std::uint32_t{vaddv_u8(vget_low_u8(bits))} | std::uint32_t{vaddv_u8(vget_high_u8(bits))} << 8;
  }

  // For each 32-bit element.
  static type add_words(type a, type b) noexcept { return bytes(vaddq_u32(elements(a), elements(b))); }
  // The top bit of each.
  static std::uint32_t top_of_words(type v) noexcept {
    const uint32x4_t places = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vtstq_u32(elements(v), vdupq_n_u32(0x80000000)), places));
  }
  // The weights of a tag's digits, given eight times their number: the weights of three digits without the first ones.
  static const std::uint8_t* each_digit(const Constants& constant) noexcept { return constant.eight.bytes; }
  static constexpr int digit_shift = 3;
  static type weights(type sizes, const Constants& constant) noexcept {
    const uint32x4_t missing = vsubq_u32(elements(sizes), elements(load(constant.three_bytes.bytes)));
    return bytes(vshlq_u32(elements(load(constant.weights.bytes)), vreinterpretq_s32_u32(missing)));
  }
  // The sum of the products of the bytes; the sum of two products is below 65,536.
  static type dot(type a, type b, type) noexcept {
    const uint16x8_t low = vmull_u8(vget_low_u8(a), vget_low_u8(b));
    return bytes(vpaddlq_u16(vpaddq_u16(low, vmull_high_u8(a, b))));
  }
  // The four bytes at each of eight positions.
  template <class Position>
  static void put_words(type (&eight)[2], const char* p, const Position* places) noexcept {
    std::uint32_t words[8];
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&words[i], p + places[i], sizeof words[i]);
    eight[0] = bytes(vld1q_u32(words));
    eight[1] = bytes(vld1q_u32(words + 4));
  }
  static Words pack(const type (&eight)[2]) noexcept {
    return {vcombine_u16(vqmovn_u32(elements(eight[0])), vqmovn_u32(elements(eight[1])))};
  }

  // Only the low byte of the sum is used, so each lane may wrap.
  static std::uint8_t total(type sums) noexcept { return vaddvq_u8(sums); }

 private:
  static uint32x4_t elements(type v) noexcept { return vreinterpretq_u32_u8(v); }
  static type bytes(uint32x4_t v) noexcept { return vreinterpretq_u8_u32(v); }
};

}  // namespace

const KernelTable neon = VectorKernel<Vector>::table("neon");

}  // namespace nfx::kernels

#endif
