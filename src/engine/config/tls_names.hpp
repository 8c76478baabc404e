// Decides which client certificates may log on as which session, from the tls_peer_names of acceptors. This includes
// sessions that share an address, where the session is known only after the handshake.
// Thread: any, no state. Cost: allocates; no part of a hot path.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// The names that a handshake at a session's address requires: the names of all configured sessions there. Empty if one
// of them accepts any name, or if the address is not configured. Logon checks the session's own names. An initiator
// uses its own.
[[nodiscard]] std::vector<std::string> handshake_peer_names(const EngineConfig& config,
                                                            const SessionSettings& settings);

// "a certificate with the name desk.example or sha256:..." for a session that requests certificates.
[[nodiscard]] std::string peer_names_text(const SessionSettings& settings);

// One line for each acceptor without a password that requests certificates but accepts every one that an authority
// signed: one client could log on as another.
[[nodiscard]] std::vector<std::string> tls_binding_warnings(const EngineConfig& config);

}  // namespace nfx
