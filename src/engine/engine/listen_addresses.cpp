// Counts the sessions of each listen address.
#include "engine/listen_addresses.hpp"

#include "config/tls_names.hpp"
#include "engine/start_checks.hpp"
#include "nexusfix/base/assert.hpp"
#include "transport/listen_address.hpp"

namespace nfx {

ListenAddresses::ListenAddresses(const EngineConfig& config) : config_(config) {
  const HandshakeNames names{config};
  for (const SessionSettings& settings : config.sessions) {
    if (settings.session.role != Role::acceptor) continue;
    index_.add(settings, names.of(settings));
    // As Admission::start() does.
    const bool listens = !settings.is_replicated() || (config.cluster.hands_on() && !settings.tls_enabled);
    if (listens) ++listening_[{settings.listen.host, settings.listen.port}];
  }
}

void ListenAddresses::check(const SessionSettings& settings) const {
  const std::lock_guard lock{mutex_};
  check_session(config_, index_, settings);
}

// Without the mutex: a look-up of a name may take long.
void ListenAddresses::require_free(const SessionSettings& settings) const {
  if (settings.session.role != Role::acceptor) return;
  {
    const std::lock_guard lock{mutex_};
    if (listening_.contains({settings.listen.host, settings.listen.port})) return;
  }
  if (const auto free = ListenTrial{}.bind(settings.listen); !free) throw ConfigError(cannot_listen(free.error()));
}

std::vector<std::string> ListenAddresses::handshake_names(const SessionSettings& settings) const {
  const std::lock_guard lock{mutex_};
  return index_.handshake_names(settings);
}

void ListenAddresses::join(const SessionSettings& settings, std::vector<std::string> handshake_names) {
  if (settings.session.role != Role::acceptor) return;
  const std::lock_guard lock{mutex_};
  check_session(config_, index_, settings);
  // A replicated one has its place from the start.
  if (!settings.is_replicated() && !index_.add(settings, std::move(handshake_names)))
    throw ConfigError("the session " + identity(settings.session) + " exists already");
  ++listening_[{settings.listen.host, settings.listen.port}];
}

void ListenAddresses::leave(const SessionConfig& session, const Endpoint& listen, bool is_replicated) {
  if (session.role != Role::acceptor) return;
  const std::lock_guard lock{mutex_};
  if (!is_replicated) index_.remove(session, listen);
  const auto there = listening_.find({listen.host, listen.port});
  NFX_ASSERT(there != listening_.end());
  if (--there->second == 0) listening_.erase(there);
}

}  // namespace nfx
