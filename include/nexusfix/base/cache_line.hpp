// Separation of data written by different threads.
#pragma once

#include <cstddef>

namespace nfx {

// Two 64-byte lines: the adjacent-line prefetcher of x86 pairs them, so one line alone still bounces.
inline constexpr std::size_t cache_line = 128;

}  // namespace nfx
