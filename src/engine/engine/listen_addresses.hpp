// The listen addresses of a running engine: which sessions have each, and what a session that is added or changed must
// share with them. A session has its place from before it is given to its poll thread until it has gone and its
// listener is closed. Templates and replicated sessions of the configuration have a place always.
// Thread: any, with a mutex. Cost: allocates; require_free() some system calls. Errors: ConfigError, with what to write
// instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "config/listen_index.hpp"

namespace nfx {

class ListenAddresses {
 public:
  // `config` outlives this; its sessions have certificates.
  explicit ListenAddresses(const EngineConfig& config);

  // Throws where check_session() refuses a session that is added, or changed, now.
  void check(const SessionSettings& settings) const;
  // Throws where the session would listen on an address that another program has.
  void require_free(const SessionSettings& settings) const;
  // The certificate names that the handshake for this session requires.
  [[nodiscard]] std::vector<std::string> handshake_names(const SessionSettings& settings) const;

  // An added session takes its place; its certificates were loaded for `handshake_names`. Throws as check() does, or
  // where a session of its name has a place there.
  void join(const SessionSettings& settings, std::vector<std::string> handshake_names);
  // It has gone, or was not added after all.
  void leave(const SessionConfig& session, const Endpoint& listen, bool is_replicated);

 private:
  using Address = std::pair<std::string, std::uint16_t>;

  const EngineConfig& config_;
  mutable std::mutex mutex_;
  ListenIndex index_;
  std::map<Address, std::size_t> listening_;  // sessions for which the engine listens there, or is about to
};

}  // namespace nfx
