// The connection of a gateway to its cluster: servers and streams as its configuration has them.
// Thread: one. Cost: up to 20 seconds while the servers elect. Errors: NatsError, ConfigError.
#pragma once

#include <chrono>
#include <string>

#include "nexusfix/base/clocks.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/nats/nats_stream.hpp"

namespace nfx::gateway {

inline void require_lease(const ClusterConfig& config, Duration lease) {
  if (lease == Duration{config.lease}) return;
  const auto seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lease).count());
  throw ConfigError("[cluster] lease_s: the streams of " + config.stream + " were made with a lease of " + seconds +
                    " seconds: write lease_s = " + seconds);
}

// A start may be in the middle of an election of the servers, which is waited for.
[[nodiscard]] inline nats::NatsStream connect(const ClusterConfig& config) {
  std::string servers;
  for (const std::string& server : config.servers) servers += (servers.empty() ? "" : ",") + server;
  for (const MonotonicTime end = read_monotonic() + std::chrono::seconds{20};;) {
    try {
      nats::NatsStream stream{{.url = servers,
                               .credentials = config.credentials,
                               .certificate_authority = config.certificate_authority,
                               .stream = config.stream}};
      require_lease(config, stream.lease());
      return stream;
    } catch (const nats::NatsTimeout&) {
      if (read_monotonic() >= end) throw;
    }
  }
}

}  // namespace nfx::gateway
