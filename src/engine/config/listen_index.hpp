// The listen addresses of acceptors, with the sessions that share each and the settings they must have in common. The
// same check applies to a configuration and to a session that is added or changed while an engine runs.
// Thread: one owner. Cost: allocates; no part of a hot path. Errors: a conflict is a return value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

class ListenIndex {
 public:
  struct Conflict {
    std::string_view key;  // key of [[session]]
    std::string text;      // the fix
  };

  // The reason why this session cannot share its address with the sessions already there, itself not counted. Templates
  // count as sessions. Empty if there is no conflict, or for an initiator, which has no listen address.
  [[nodiscard]] std::optional<Conflict> find_conflict(const SessionSettings& settings) const;

  // Adds a session that has no conflict. If it is the first at its address, the handshake there requires one of
  // `handshake_names`; empty: any name. Returns false if a session of its name is already at this address.
  bool add(const SessionSettings& settings, std::vector<std::string> handshake_names = {});
  // Removes a session that was added.
  void remove(const SessionConfig& session, const Endpoint& listen);

  // The certificate names that the handshake for this session requires. An initiator uses its own.
  [[nodiscard]] std::vector<std::string> handshake_names(const SessionSettings& settings) const;

 private:
  using Address = std::pair<std::string, std::uint16_t>;

  // Settings that sessions sharing an address must have in common.
  struct Terms {
    std::uint32_t poll_thread = 0;
    SocketOptions socket{};  // without TLS
    bool tls_enabled = false;
    TlsOptions tls{};  // without peer_names; empty without TLS
  };
  struct Place {
    Terms terms;
    std::vector<std::string> handshake_names;
    std::map<std::string, std::string> sessions;  // maps the identity in a Logon to the session's name
  };

  [[nodiscard]] static Terms terms_of(const SessionSettings& settings);
  [[nodiscard]] static Address address_of(const Endpoint& listen) { return {listen.host, listen.port}; }

  std::map<Address, Place> places_;
};

}  // namespace nfx
