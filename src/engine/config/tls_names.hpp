// Which client certificates may log on as which session: tls_peer_names of acceptors, also where several sessions share
// an address and the session is known only after the handshake.
// Thread: any, no state. Cost: allocates; no part of a hot path.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// The names that a handshake at a session's address requires: the union of those of all configured sessions there.
// Empty where one of them takes any name, or the address is not configured; the session's own are compared at Logon. An
// initiator's are its own.
[[nodiscard]] std::vector<std::string> handshake_peer_names(const EngineConfig& config,
                                                            const SessionSettings& settings);

// "a certificate with the name desk.example or sha256:..." for a session that requests certificates.
[[nodiscard]] std::string peer_names_text(const SessionSettings& settings);

// One line for each acceptor that requests certificates and takes all that an authority signed, without a password: a
// client may log on as another.
[[nodiscard]] std::vector<std::string> tls_binding_warnings(const EngineConfig& config);

}  // namespace nfx
