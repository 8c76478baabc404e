// Assertions: conditions that only a defect of this library can break. Mistakes of a peer or an operator are error
// values or messages instead.
// NFX_ASSERT is checked where NDEBUG is not defined: in debug, sanitizer and fuzz builds. Elsewhere the condition is
// compiled, so that it stays correct, but never evaluated: no instruction remains. NFX_REQUIRE is checked in every
// build. A condition that does not hold prints "file:line: assertion failed in function: condition" to stderr and
// aborts. Conditions have no side effects.
#pragma once

#include "nexusfix/base/language.hpp"

namespace nfx::detail {

// Not inline: a copy of it compiled with the flags of a vector kernel must not serve the rest of the program.
[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* function, const char* file,
                                              int line) noexcept;

}  // namespace nfx::detail

#define NFX_REQUIRE(condition)                         \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::nfx::detail::assertion_failed(#condition, __func__, __FILE__, __LINE__))

#ifdef NDEBUG
#define NFX_ASSERT(condition) (false ? static_cast<void>(condition) : static_cast<void>(0))
#else
#define NFX_ASSERT(condition) NFX_REQUIRE(condition)
#endif
