// Sizes of rings, segments and messages in the tests of journals.
#pragma once

#include <cstdint>

namespace nfx::test {

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;

}  // namespace nfx::test
