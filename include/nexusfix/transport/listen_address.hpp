// Whether an address could be listened on, before anything depends on it.
// Thread: any. Cost: some system calls, and a name look-up where the host is a name. Errors: a TransportError.
#pragma once

#include <expected>

#include "nexusfix/transport/transport.hpp"

namespace nfx {

// Binds the address, without listening, and releases it.
[[nodiscard]] std::expected<void, TransportError> check_listen_address(const Endpoint& endpoint);

}  // namespace nfx
