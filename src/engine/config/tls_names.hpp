// Decides which client certificates may log on as which session, from the tls_peer_names of acceptors. This includes
// sessions that share an address, where the session is known only after the handshake.
// Thread: any, no state. Cost: allocates; no part of a hot path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// The names that a handshake at each listen address requires: the names of all configured sessions there. Logon checks
// the session's own names.
class HandshakeNames {
 public:
  explicit HandshakeNames(const EngineConfig& config);
  // At the address of a session. Empty if a session there accepts any name, or if the address is not configured. An
  // initiator uses its own.
  [[nodiscard]] std::vector<std::string> of(const SessionSettings& settings) const;

 private:
  std::map<std::pair<std::string, std::uint16_t>, std::vector<std::string>> by_address_;
};

// "a certificate with the name desk.example or sha256:..." for a session that requests certificates.
[[nodiscard]] std::string peer_names_text(const SessionSettings& settings);

// One line for each acceptor without a password that requests certificates but accepts every one that an authority
// signed: one client could log on as another.
[[nodiscard]] std::vector<std::string> tls_binding_warnings(const EngineConfig& config);

}  // namespace nfx
