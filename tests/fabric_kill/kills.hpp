// Two processes that move pages and records over real rails, killed with SIGKILL at random moments and restarted.
// Thread: one; it forks. Errors: std::runtime_error for unknown rails and unavailable memory.
#pragma once

#include <cstdint>
#include <string>

namespace nfx::fabric_kill {

struct KillOptions {
  std::string rails = "shm,tcp";
  std::uint64_t kills = 200;
  std::uint64_t seed = 1;
};

struct KillResult {
  std::string finding;  // empty: everything reported is intact
  std::uint64_t kills = 0;
  std::uint64_t sender_sessions = 0;
  std::uint64_t receiver_sessions = 0;
  std::uint64_t complete = 0;  // transfers, at the receiver
  std::uint64_t failed = 0;
  std::uint64_t losses = 0;  // of links
};

[[nodiscard]] KillResult run_kills(const KillOptions& options);

}  // namespace nfx::fabric_kill
