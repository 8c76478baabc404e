// The placement that a configuration requests: the threads, how they wait, and which devices they should be near.
// Thread: a value, filled in before anything runs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {

enum class ThreadRole : std::uint8_t {
  poll,       // serves sessions
  deferred,   // works off what poll threads defer
  flusher,    // syncs the journal
  log,        // writes logs and metrics
  handshake,  // computes TLS handshakes
  feed,       // reads market data into books
  model,      // calls models
  orders,     // sends their orders, where that is not a poll thread
  recorder,   // writes what was received
  ui,         // shows and measures
};

// The owner and kind of the threads. A program's threads move to their CPUs with Engine::enter_role.
enum class RoleKind : std::uint8_t {
  engine,
  critical,  // the program's, from a message to an order
  other,     // the program's, which a message never waits for: never on a core of its own
};

// The name of each role: in [placement.NAME], and before the number in the names of its threads.
struct ThreadRoleRow {
  ThreadRole role;
  std::string_view name;
  std::string_view thread_prefix;
  RoleKind kind;
};
inline constexpr std::array thread_role_table{
    ThreadRoleRow{ThreadRole::poll, "poll", "nfx-poll-", RoleKind::engine},
    ThreadRoleRow{ThreadRole::deferred, "deferred", "nfx-defer-", RoleKind::engine},
    ThreadRoleRow{ThreadRole::flusher, "flusher", "nfx-flush-", RoleKind::engine},
    ThreadRoleRow{ThreadRole::log, "log", "nfx-log-", RoleKind::engine},
    ThreadRoleRow{ThreadRole::handshake, "handshake", "nfx-tls-", RoleKind::engine},
    ThreadRoleRow{ThreadRole::feed, "feed", "nfx-feed-", RoleKind::critical},
    ThreadRoleRow{ThreadRole::model, "model", "nfx-model-", RoleKind::critical},
    ThreadRoleRow{ThreadRole::orders, "orders", "nfx-orders-", RoleKind::critical},
    ThreadRoleRow{ThreadRole::recorder, "recorder", "nfx-record-", RoleKind::other},
    ThreadRoleRow{ThreadRole::ui, "ui", "nfx-ui-", RoleKind::other},
};
inline constexpr auto thread_roles = [] {
  std::array<ThreadRole, thread_role_table.size()> roles{};
  for (std::size_t i = 0; i < roles.size(); ++i) roles[i] = thread_role_table[i].role;
  return roles;
}();
static_assert(
    [] {
      for (std::size_t i = 0; i < thread_roles.size(); ++i) {
        if (std::to_underlying(thread_roles[i]) != i) return false;
      }
      return true;
    }(),
    "a row of thread_role_table is found by its role's value");

[[nodiscard]] std::string_view to_string(ThreadRole role) noexcept;
[[nodiscard]] std::optional<ThreadRole> parse_thread_role(std::string_view text) noexcept;
[[nodiscard]] RoleKind kind_of(ThreadRole role) noexcept;

enum class ThreadWait : std::uint8_t {
  spin,   // owns its core
  block,  // sleeps in the kernel: belongs to the housekeeping cores, not onto one core
};

[[nodiscard]] std::string_view to_string(ThreadWait wait) noexcept;

struct RoleRequest {
  std::uint32_t threads = 0;
  ThreadWait wait = ThreadWait::block;
  // A device's name or PCI address: threads go to its group of cores. "each_group": one thread after the other to the
  // middle core of each group of devices. "": anywhere.
  std::string near;
  std::optional<ThreadRole> same_cache_as;  // the last-level cache of that role's thread of the same number
  CpuSet cpus;                              // only these; empty: any
  int priority = 0;                         // SCHED_FIFO 1 to 99; 0: the ordinary scheduler
};

enum class SessionMapping : std::uint8_t {
  hash,      // session_hash modulo the cores: needs no state, but two sessions may share a core that others leave idle
  balanced,  // no core has two sessions while another has none; sessions that were added before stay where they are
};

[[nodiscard]] std::string_view to_string(SessionMapping mapping) noexcept;

struct SessionRequest {
  std::string sender_comp_id;
  std::string target_comp_id;
  std::uint32_t poll_thread = 0;  // unless one of these is set:
  int cpu_affinity_core = -1;     // this CPU; -1: none is requested
  bool auto_pin_to_core = false;  // one of the poll threads' CPUs, by the mapping
};

enum class OnViolation : std::uint8_t {
  warn,    // report it and start
  refuse,  // do not start; while running: only report it, as trading must not stop for it
};

[[nodiscard]] std::string_view to_string(OnViolation on_violation) noexcept;

struct PlacementRequest {
  bool enabled = false;                  // off by default: no thread is pinned
  CpuSet housekeeping;                   // empty: chosen
  std::uint32_t housekeeping_cores = 1;  // how many whole cores at least, when chosen
  bool share_smt = false;                // busy-polling threads may use the SMT siblings of others' cores
  SessionMapping mapping = SessionMapping::hash;
  OnViolation on_violation = OnViolation::warn;
  std::chrono::milliseconds check_interval{1000};
  std::array<RoleRequest, thread_roles.size()> roles;  // by ThreadRole
  std::vector<SessionRequest> sessions;

  [[nodiscard]] RoleRequest& role(ThreadRole which) noexcept { return roles[std::to_underlying(which)]; }
  [[nodiscard]] const RoleRequest& role(ThreadRole which) const noexcept { return roles[std::to_underlying(which)]; }
};

}  // namespace nfx
