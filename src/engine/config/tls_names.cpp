// Decides which certificate names a handshake accepts if sessions share an address, and warns if any client may log on.
#include "config/tls_names.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "transport/tls_facts.hpp"

namespace nfx {

HandshakeNames::HandshakeNames(const EngineConfig& config) {
  using Address = decltype(by_address_)::key_type;
  std::set<Address> any_name;
  std::set<std::pair<Address, std::string_view>> known;  // thousands of sessions may share an address
  for (const SessionSettings& each : config.sessions) {
    if (each.session.role != Role::acceptor || !each.tls_enabled) continue;
    const Address address{each.listen.host, each.listen.port};
    const bool any = each.tls.peer_names.empty() || std::ranges::any_of(each.tls.peer_names, [](const auto& name) {
                       return name.contains(comp_id_placeholder);
                     });
    if (any) any_name.insert(address);
    for (const std::string& name : each.tls.peer_names) {
      if (known.emplace(address, name).second) by_address_[address].push_back(name);
    }
  }
  for (const Address& address : any_name) by_address_.erase(address);
}

std::vector<std::string> HandshakeNames::of(const SessionSettings& settings) const {
  if (settings.session.role == Role::initiator) return settings.tls.peer_names;
  const auto found = by_address_.find({settings.listen.host, settings.listen.port});
  return found == by_address_.end() ? std::vector<std::string>{} : found->second;
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
