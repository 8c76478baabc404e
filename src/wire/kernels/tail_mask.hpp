// 64 zero bytes, then 64 of all ones: loaded at offset n, the last n of 64 bytes stay and those in front become zero.
#pragma once

#include <cstdint>

namespace nfx::kernels {
namespace {

struct TailMask {
  alignas(64) std::uint8_t bytes[128];
  constexpr TailMask() noexcept : bytes{} {
    for (int i = 64; i < 128; ++i) bytes[i] = 0xFF;
  }
};
constexpr TailMask tail_mask;

}  // namespace
}  // namespace nfx::kernels
