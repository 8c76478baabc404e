// Loads certificates, and tries listen addresses.
#include "engine/start_checks.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "nexusfix/config/tls_names.hpp"
#include "nexusfix/transport/listen_address.hpp"
#include "nexusfix/transport/tls_context.hpp"

namespace nfx {

void load_certificates(const EngineConfig& config, SessionSettings& settings) {
  if (!settings.tls_enabled || settings.socket.tls) return;
  try {
    TlsOptions options = settings.tls;
    options.peer_names = handshake_peer_names(config, settings);
    settings.socket.tls = std::make_shared<TlsContext>(std::move(options));
  } catch (const TlsError& error) {
    throw ConfigError(identity(settings.session) + ": " + error.what());
  }
}

void load_certificates(EngineConfig& config) {
  for (SessionSettings& settings : config.sessions) load_certificates(config, settings);
}

void check_listen_addresses(const EngineConfig& config) {
  std::set<std::pair<std::string_view, std::uint16_t>> tried;  // thousands of sessions may share few addresses, or none
  for (const SessionSettings& settings : config.sessions) {
    if (settings.session.role != Role::acceptor) continue;
    if (!tried.emplace(settings.listen.host, settings.listen.port).second) continue;
    if (const auto free = check_listen_address(settings.listen); !free) throw ConfigError(cannot_listen(free.error()));
  }
}

std::string cannot_listen(const TransportError& error) {
  std::string text = "cannot listen: " + error.text();
  switch (error.code) {
    case no_such_host:
    case EADDRNOTAVAIL:
      return text + "; give 'listen' an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them";
    case EACCES: return text + "; choose a port from 1024 for 'listen', or give the program CAP_NET_BIND_SERVICE";
    default: return text + "; choose a free address for 'listen'";
  }
}

}  // namespace nfx
