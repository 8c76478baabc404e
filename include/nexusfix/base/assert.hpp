// Assertions for what only this library can get wrong; peers and operators get error values and messages instead.
// NFX_ASSERT is checked in debug, sanitizer and fuzz builds; NFX_REQUIRE always.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace nfx::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace nfx::detail

#define NFX_REQUIRE(condition) \
  (static_cast<bool>(condition) ? void(0) : ::nfx::detail::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define NFX_ASSERT(condition) void(0)
#else
#define NFX_ASSERT(condition) NFX_REQUIRE(condition)
#endif
