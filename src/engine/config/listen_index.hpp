// The listen addresses of acceptors: who shares each, and what those have in common. One check for a configuration,
// and for a session that is added or changed while an engine runs.
// Thread: one owner. Cost: allocates; no part of a hot path. Errors: what two sessions cannot share is a value.
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
    std::string_view key;  // of [[session]]
    std::string text;      // what to write instead
  };

  // What prevents this session from sharing its address with those that are there, itself not counted. Templates count
  // as sessions. Empty: nothing does, or it is an initiator, which has no address.
  [[nodiscard]] std::optional<Conflict> find_conflict(const SessionSettings& settings) const;

  // A session without a conflict takes its place. The handshake at its address requires one of `handshake_names` where
  // it is the first one there; empty: any name. False: a session of its name is at this address already.
  bool add(const SessionSettings& settings, std::vector<std::string> handshake_names = {});
  // A session that was added goes.
  void remove(const SessionConfig& session, const Endpoint& listen);

  // The certificate names that the handshake for this session requires; those of an initiator are its own.
  [[nodiscard]] std::vector<std::string> handshake_names(const SessionSettings& settings) const;

 private:
  using Address = std::pair<std::string, std::uint16_t>;

  // What sessions that share an address have in common.
  struct Terms {
    std::uint32_t poll_thread = 0;
    SocketOptions socket{};  // without TLS
    bool tls_enabled = false;
    TlsOptions tls{};  // without peer_names; empty without TLS
  };
  struct Place {
    Terms terms;
    std::vector<std::string> handshake_names;
    std::map<std::string, std::string> sessions;  // by what a Logon has: the name of each
  };

  [[nodiscard]] static Terms terms_of(const SessionSettings& settings);
  [[nodiscard]] static Address address_of(const Endpoint& listen) { return {listen.host, listen.port}; }

  std::map<Address, Place> places_;
};

}  // namespace nfx
