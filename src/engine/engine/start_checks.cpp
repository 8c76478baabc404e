// Loads certificates, and tries listen addresses.
#include "engine/start_checks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "config/tls_names.hpp"
#include "transport/listen_address.hpp"
#include "transport/tls_context.hpp"

namespace nfx {

void load_certificates(SessionSettings& settings, std::vector<std::string> handshake_names) {
  if (!settings.tls_enabled || settings.socket.tls) return;
  try {
    TlsOptions options = settings.tls;
    options.peer_names = std::move(handshake_names);
    settings.socket.tls = std::make_shared<TlsContext>(std::move(options));
  } catch (const TlsError& error) {
    throw ConfigError(identity(settings.session) + ": " + error.what());
  }
}

void load_certificates(EngineConfig& config) {
  const HandshakeNames names{config};
  for (SessionSettings& settings : config.sessions) load_certificates(settings, names.of(settings));
}

std::vector<std::string> check_listen_addresses(const EngineConfig& config) {
  std::vector<std::string> in_use;
  ListenTrial trial;
  std::vector<Endpoint> tried;                                 // without an error
  std::set<std::pair<std::string_view, std::uint16_t>> known;  // thousands of sessions may share few addresses, or none
  for (const SessionSettings& settings : config.sessions) {
    const Endpoint& listen = settings.listen;
    if (settings.session.role != Role::acceptor || !known.emplace(listen.host, listen.port).second) continue;
    const auto free = trial.bind(listen);
    if (free) {
      tried.push_back(listen);
      continue;
    }
    const auto same_port = std::ranges::find(tried, listen.port, &Endpoint::port);
    if (free.error().code != EADDRINUSE || listen.port == 0) throw ConfigError(cannot_listen(free.error()));
    if (same_port != tried.end()) {
      throw ConfigError("cannot listen: " + free.error().text() +
                        ": another session of this configuration listens on " + to_string(*same_port) +
                        "; give both the same address, or another port");
    }
    in_use.push_back(cannot_listen(free.error()));
  }
  return in_use;
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
