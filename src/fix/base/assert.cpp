// Handles a failed assertion. Separate from the header, so that no user of an assertion includes <cstdio>.
#include "nexusfix/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace nfx::detail {

void assertion_failed(const char* condition, const char* function, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed in %s: %s\n", file, line, function, condition);
  std::abort();
}

}  // namespace nfx::detail
