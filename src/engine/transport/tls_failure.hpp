// OpenSSL's errors of a connection as text with a fix.
#pragma once

#include <string>

namespace nfx::detail {

// `error` is an OpenSSL code; `established`: whether the handshake had succeeded.
[[nodiscard]] std::string describe_failure(unsigned long error, bool established);

}  // namespace nfx::detail
