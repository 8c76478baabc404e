// OpenSSL's errors of a connection in words that say what to do.
#pragma once

#include <string>

namespace nfx::detail {

// `error` is one of OpenSSL's codes; `established` tells what went on before.
[[nodiscard]] std::string describe_failure(unsigned long error, bool established);

}  // namespace nfx::detail
