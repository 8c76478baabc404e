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
  // The lowest byte first.
  static NeonWords from_bytes(std::uint64_t bytes) noexcept { return {vmovl_u8(vcreate_u8(bytes))}; }
  static NeonWords add(NeonWords a, NeonWords b) noexcept { return {vaddq_u16(a.v, b.v)}; }
  static NeonWords both(NeonWords a, NeonWords b) noexcept { return {vandq_u16(a.v, b.v)}; }
  static NeonWords either(NeonWords a, NeonWords b) noexcept { return {vorrq_u16(a.v, b.v)}; }
  template <int bits>
  static NeonWords shift_down(NeonWords a) noexcept {
    return {vshrq_n_u16(a.v, bits)};
  }
  // The low byte of each: that of the table, at an index below 16.
  static NeonWords look_up(const std::uint8_t* table, NeonWords index) noexcept {
    return {vreinterpretq_u16_u8(vqtbl1q_u8(vld1q_u8(table), vreinterpretq_u8_u16(index.v)))};
  }
  // Whether a low byte is not zero.
  static bool any(NeonWords a) noexcept { return vmaxvq_u16(vandq_u16(a.v, vdupq_n_u16(0xFF))) != 0; }
  static void store(std::uint16_t* to, NeonWords a) noexcept { vst1q_u16(to, a.v); }
};

struct Vector {
  using type = uint8x16_t;
  using Words = NeonWords;
  static constexpr unsigned width = 16;

  static type zero() noexcept { return vdupq_n_u8(0); }
  static type load(const void* p) noexcept { return vld1q_u8(static_cast<const std::uint8_t*>(p)); }
  static type both(type a, type b) noexcept { return vandq_u8(a, b); }
  static type without(type a, type b) noexcept { return vbicq_u8(a, b); }
  static type equal(type a, type b) noexcept { return vceqq_u8(a, b); }
  static type add(type a, type b) noexcept { return vaddq_u8(a, b); }
  static type subtract(type a, type b) noexcept { return vsubq_u8(a, b); }
  static type add_saturated(type a, type b) noexcept { return vqaddq_u8(a, b); }

  // There is no instruction that takes one bit of each byte: each keeps the bit of its position, and a sum combines
  // them.
  static std::uint32_t top_bits(type v) noexcept {
    const type places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const type bits = vandq_u8(vtstq_u8(v, vdupq_n_u8(0x80)), places);
    return std::uint32_t{vaddv_u8(vget_low_u8(bits))} | std::uint32_t{vaddv_u8(vget_high_u8(bits))} << 8;
  }

  // In each element of 32 bits.
  static type add_words(type a, type b) noexcept { return bytes(vaddq_u32(elements(a), elements(b))); }
  static type subtract_words(type a, type b) noexcept { return bytes(vsubq_u32(elements(a), elements(b))); }
  // By this number of bits; a negative number shifts up.
  static type shift_down(type v, type bits) noexcept {
    return bytes(vshlq_u32(elements(v), vnegq_s32(vreinterpretq_s32_u8(bits))));
  }
  // The sum of the products of its bytes, of which two are below 65,536.
  static type dot(type a, type b, type) noexcept {
    const uint16x8_t low = vmull_u8(vget_low_u8(a), vget_low_u8(b));
    return bytes(vpaddlq_u16(vpaddq_u16(low, vmull_high_u8(a, b))));
  }
  // The four bytes at each place, in one half of the eight elements.
  static void put_words(type (&eight)[2], unsigned half, const char* p, const std::uint64_t (&place)[4]) noexcept {
    std::uint32_t four[4];
    for (int i = 0; i < 4; ++i) __builtin_memcpy(&four[i], p + place[i], sizeof four[i]);
    eight[half] = bytes(vld1q_u32(four));
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
