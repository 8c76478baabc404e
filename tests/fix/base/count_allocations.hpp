// Counts the allocations of each thread: replaces operator new of the test program. Included by one .cpp of a program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace nfx::test {
inline thread_local std::size_t allocations = 0;
}

// Not inlined: the compiler would report the malloc inside as a mismatch with delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++nfx::test::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// Otherwise a sanitizer's version is used, whose memory free() must not get.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++nfx::test::allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
