// The venue in a process of its own: forked before any thread exists, which reports through a pipe.
// Errors: the child reports them on stderr; the parent sees an early end of the pipe.
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

// What the venue reports when it is done.
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
  // Forks; the child serves one session and never returns from here.
  explicit VenueProcess(const VenueOptions& options);
  ~VenueProcess();
  VenueProcess(const VenueProcess&) = delete;
  VenueProcess& operator=(const VenueProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // The port it listens on; empty when it could not start.
  [[nodiscard]] std::optional<std::uint16_t> port();
  // Waits for its end. Empty when it ended in another way than with its report.
  [[nodiscard]] std::optional<VenueReport> report();

 private:
  pid_t pid_ = -1;
  int read_fd_ = -1;
};

// Throws std::runtime_error when a thread of the engine is not where it was planned to be.
void require_in_place(const Engine& engine);

// The session of both sides; addresses and roles are filled in by each.
[[nodiscard]] SessionSettings demo_session(Role role);

}  // namespace nfx::app::demo
