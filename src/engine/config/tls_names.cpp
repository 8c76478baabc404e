// Decides which certificate names a handshake accepts if sessions share an address, and warns if any client may log on.
#include "config/tls_names.hpp"

#include <algorithm>

#include "transport/tls_facts.hpp"

namespace nfx {

std::vector<std::string> handshake_peer_names(const EngineConfig& config, const SessionSettings& settings) {
  if (settings.session.role == Role::initiator) return settings.tls.peer_names;
  std::vector<std::string> names;
  for (const SessionSettings& each : config.sessions) {
    if (each.session.role != Role::acceptor || each.listen != settings.listen || !each.tls_enabled) continue;
    const bool any = each.tls.peer_names.empty() || std::ranges::any_of(each.tls.peer_names, [](const auto& name) {
                       return name.contains(comp_id_placeholder);
                     });
    if (any) return {};
    for (const std::string& name : each.tls.peer_names) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string peer_names_text(const SessionSettings& settings) {
  if (settings.tls.client_certificate == ClientCertificate::none) return "no certificate is requested";
  const std::string certificate =
      settings.tls.client_certificate == ClientCertificate::require ? "a certificate" : "no certificate, or one";
  if (settings.tls.peer_names.empty()) return certificate + " with any name, signed by " + settings.tls.ca;
  std::string text = certificate + " with the name ";
  for (const std::string& name : settings.tls.peer_names) {
    if (&name != settings.tls.peer_names.data()) text += " or ";
    text += name;
  }
  return text;
}

std::vector<std::string> tls_binding_warnings(const EngineConfig& config) {
  std::vector<std::string> warnings;
  for (const SessionSettings& each : config.sessions) {
    const bool requests = each.session.role == Role::acceptor && each.tls_enabled &&
                          each.tls.client_certificate != ClientCertificate::none;
    if (!requests || !each.tls.peer_names.empty() || !each.session.password.empty()) continue;
    warnings.push_back(identity(each.session) + ": every client with a certificate of " + each.tls.ca +
                       " may log on: name its own in tls_peer_names, or set a password");
  }
  return warnings;
}

}  // namespace nfx
