// The connection of a gateway to its cluster: servers and streams as its configuration has them.
// Thread: one. Cost: up to 20 seconds while the servers start or elect, after a call of warns(text). Errors: NatsError,
// ConfigError.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/clocks.hpp"
#include "nats/nats_stream.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::gateway {

inline void require_lease(const ClusterConfig& config, Duration lease) {
  if (lease == Duration{config.lease}) return;
  const auto seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lease).count());
  throw ConfigError("[cluster] lease_s: the streams of " + config.stream + " were made with a lease of " + seconds +
                    " seconds: write lease_s = " + seconds);
}

// The machine's servers may start at the same time, or be in the middle of an election: that is waited for.
template <class Warns>
[[nodiscard]] nats::NatsStream connect(const ClusterConfig& config, Warns&& warns) {
  constexpr std::chrono::milliseconds pause{250};
  std::string servers;
  for (const std::string& server : config.servers) servers += (servers.empty() ? "" : ",") + server;
  const nats::NatsOptions options{.url = servers,
                                  .credentials = config.credentials,
                                  .certificate_authority = config.certificate_authority,
                                  .stream = config.stream};
  if (const std::string plain = nats::plain_servers(options); !plain.empty())
    warns("without TLS to " + plain +
          ": whoever is between can read and change what is sent; write tls:// before the addresses and name ca");
  bool waited = false;
  for (const MonotonicTime end = read_monotonic() + std::chrono::seconds{20};;) {
    try {
      nats::NatsStream stream{options};
      require_lease(config, stream.lease());
      return stream;
    } catch (const nats::NatsTimeout& failure) {
      if (read_monotonic() + pause >= end) throw;
      if (!std::exchange(waited, true)) warns(failure.what() + std::string{": it is tried again for 20 seconds"});
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace nfx::gateway
