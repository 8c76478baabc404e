// What can fail at the start without anything being written: certificates and listen addresses. An engine checks both
// before it opens logs and journals, so that a mistake leaves no files, and again for a session that comes later.
// Thread: the one that makes the engine; ListenAddresses: any. Cost: reads the certificates' files; some system calls
// an address. Errors: ConfigError, which names the session or the address, and the fix.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/transport/transport.hpp"

namespace nfx {

// What the connections of a session are encrypted with; nothing for one without TLS.
void load_certificates(const EngineConfig& config, SessionSettings& settings);
// The same for all of its sessions.
void load_certificates(EngineConfig& config);

// Listens on all addresses together and releases them. Returns a line for each that another program has now: an error
// at a start, but not where only a configuration is checked, next to the engine that has them. An address that is free
// now may still be taken at the listening.
[[nodiscard]] std::vector<std::string> check_listen_addresses(const EngineConfig& config);

// The addresses of an engine's acceptors. It listens on one until its end, also after the last session there has gone;
// on that of a replicated session from the first time on that it owns it, or where it hands connections on.
class ListenAddresses {
 public:
  explicit ListenAddresses(const EngineConfig& config);

  // Throws ConfigError where a session that is added now would listen on an address that another program has.
  void require_free(const SessionSettings& settings) const;
  void add(Role role, const Endpoint& listen);

 private:
  using Address = std::pair<std::string, std::uint16_t>;

  mutable std::mutex mutex_;
  std::set<Address> addresses_;
};

// "cannot listen: bind 127.0.0.1:9878: Address already in use; choose a free address for 'listen'"
[[nodiscard]] std::string cannot_listen(const TransportError& error);

}  // namespace nfx
