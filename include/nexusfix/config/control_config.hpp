// The configuration of the control plane, [control]; docs/control.md describes it.
// Thread: values.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/transport/transport.hpp"

namespace nfx {

struct ControlConfig {
  std::string socket;  // path of a UNIX socket; empty: none
  std::string socket_mode = "0600";
  std::string socket_owner;            // a user's name; empty: the process's
  std::string socket_group;            // a group's name; empty: the process's
  std::vector<std::string> operators;  // users, or groups as "@name"; empty: root and the process's own user
  std::vector<std::string> viewers;
  Endpoint http;       // on loopback; without a host: none
  std::string tokens;  // file with the bearer tokens of `http`
  // Mutual TLS on `http` instead of tokens: its certificate and key, the authorities of its clients, what they have
  // revoked, and the file with the roles of their certificates' names.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_key_password_env;
  std::string tls_ca;
  std::vector<std::string> tls_crl;
  std::string clients;
  std::string audit;  // file for a line of each change

  [[nodiscard]] bool encrypted() const noexcept { return !tls_certificate.empty(); }
  // Nothing is started otherwise.
  [[nodiscard]] bool wanted() const noexcept { return !socket.empty() || !http.host.empty(); }
};

}  // namespace nfx
