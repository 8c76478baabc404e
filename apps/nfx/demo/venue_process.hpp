// The venue in a separate process, forked before any thread exists; it reports through a pipe. Errors: the child prints
// them on stderr; the parent sees an early end of the pipe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "demo/market.hpp"
#include "demo/venue.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/engine.hpp"

namespace nfx::app::demo {

// The venue's report at its end.
struct VenueReport {
  VenueCounts counts;
  SessionCounters session;
  std::uint64_t next_inbound = 0;
  std::uint64_t next_outbound = 0;
  ThreadStats thread_before;
  ThreadStats thread_after;
  std::vector<OrderSummary> orders;
};

struct VenueOptions {
  SessionSettings session;
  IdleMode idle{};
  std::uint32_t max_requests = 0;
  bool latency = true;  // of its engine
  PlacementRequest placement{};
};

class VenueProcess {
 public:
  // Forks; the child serves one session and never returns.
  explicit VenueProcess(const VenueOptions& options);
  ~VenueProcess();
  VenueProcess(const VenueProcess&) = delete;
  VenueProcess& operator=(const VenueProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // The port it listens on; empty if it could not start.
  [[nodiscard]] std::optional<std::uint16_t> port();
  // Waits for its end. Empty if it ended without its report.
  [[nodiscard]] std::optional<VenueReport> report();

 private:
  pid_t pid_ = -1;
  int read_fd_ = -1;
};

// Throws std::runtime_error if a thread of the engine does not run where planned.
void require_in_place(const Engine& engine);

// The session of both sides; each fills in addresses and role.
[[nodiscard]] SessionSettings demo_session(Role role);

}  // namespace nfx::app::demo
