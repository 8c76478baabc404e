// The exception that ends a test: the test itself is wrong, or something that it requires did not happen. Its text is
// one line that names what happened instead, and what to write.
#pragma once

#include <stdexcept>

#include "nexusfix/base/language.hpp"

namespace nfx::testing {

class TestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nfx::testing
