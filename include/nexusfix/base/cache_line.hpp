// Separation of data written by different threads.
#pragma once

#include <cstddef>

#include "nexusfix/base/language.hpp"

namespace nfx {

// Two 64-byte lines: the adjacent-line prefetcher of x86 fetches them in pairs, so padding to one line is not enough.
inline constexpr std::size_t cache_line = 128;

}  // namespace nfx
