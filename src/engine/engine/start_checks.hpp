// Start-up checks that write nothing: certificates and listen addresses. An engine checks both before it opens logs and
// journals, so that a mistake leaves no files, and again for a session that is added later.
// Thread: any. Cost: reads the certificates' files; some system calls an address. Errors: ConfigError, which names the
// session or the address, and the fix.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "transport/transport.hpp"

namespace nfx {

// Loads the certificates for a session's connections, and the names of which the handshake requires one; nothing for a
// session without TLS.
void load_certificates(SessionSettings& settings, std::vector<std::string> handshake_names);
// The same for all sessions of a configuration.
void load_certificates(EngineConfig& config);

// Listens on all addresses together and releases them. Returns a line for each that another program has now: an error
// at a start, but not where only a configuration is checked, next to the engine that has them. An address that is free
// now may still be taken at the listening.
[[nodiscard]] std::vector<std::string> check_listen_addresses(const EngineConfig& config);

// "cannot listen: bind 127.0.0.1:9878: Address already in use; choose a free address for 'listen'"
[[nodiscard]] std::string cannot_listen(const TransportError& error);

}  // namespace nfx
