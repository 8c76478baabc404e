// Pins an engine's threads as planned, before they allocate anything, and compares them with the plan while they run.
// Thread: made and queried by the owner of the engine; enter() and leave() are called by the thread to be placed; the
// monitor has its own thread on the housekeeping CPUs. Errors: ConfigError before anything runs, alerts afterwards.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "nexusfix/engine/engine.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/plan.hpp"
#include "placement/session_core_mapper.hpp"

namespace nfx {

class EnginePlacement {
 public:
  using Alert = std::function<void(const std::string& text)>;

  // Off when the configuration requests no placement. Otherwise makes the plan and writes each session's poll thread
  // into `config`. Throws ConfigError when the plan is refused, or has warnings and on_violation is refuse.
  EnginePlacement(EngineConfig& config, const std::function<Topology()>& topology,
                  const std::function<HostFacts()>& host);
  ~EnginePlacement();

  [[nodiscard]] const PlacementPlan* plan() const noexcept { return plan_ ? &*plan_ : nullptr; }
  // The plan's warnings, and the threads that could not be placed, one text each.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  // The poll thread for a session that joins later; `settings.poll_thread` when it requests no CPU. Throws ConfigError
  // when no poll thread has the requested CPU. withdraw() and leave_mapping() make its place free again.
  [[nodiscard]] std::uint32_t join_mapping(const SessionSettings& settings);
  void withdraw(const SessionConfig& config);
  void joined_as(std::size_t session, const SessionConfig& config);
  void leave_mapping(std::size_t session);

  // Calls `make` on a thread that runs where poll thread `index` will, so that its memory is first touched there.
  // Rethrows the exceptions of `make`. Throws ConfigError when pinning fails and on_violation is refuse.
  void build(std::uint32_t index, const std::function<void()>& make);

  // The calling thread becomes helper `index` with this role: name, CPUs and scheduler, until leave(). False: it is not
  // in the plan, and has only the name.
  bool enter_role(ThreadRole role, std::uint32_t index);

  // Runs `work` on the calling thread, which no message waits for: under this name and, with a plan, on the
  // housekeeping CPUs. It is watched and reported like the others.
  void run_on_housekeeping(std::string_view name, const std::function<void()>& work);
  // The same for a thread that began before this, from now on.
  void adopt_housekeeping(int tid, std::string_view name);

  // The calling thread becomes poll thread `index`: name, CPU, scheduler. leave() restores its former ones.
  void enter(std::uint32_t index);
  void leave();

  // Watches the threads that have entered; `alert` is called on the monitor's thread.
  void watch(Alert alert);
  void stop_watching();

  // One report for each thread that has entered; for a thread that has ended, its state at that time.
  [[nodiscard]] std::vector<ThreadReport> reports() const;
  // The kernel's counts for a thread, with or without a plan. A thread that has ended has no counts.
  [[nodiscard]] static ThreadReport counted(int tid, std::string name);

 private:
  struct Entered;

  [[nodiscard]] const ThreadPlacement* find(ThreadRole role, std::uint32_t index) const;
  [[nodiscard]] const ThreadPlacement& poll_thread(std::uint32_t index) const { return *find(ThreadRole::poll, index); }
  void enter_as(const ThreadPlacement& thread);
  [[nodiscard]] std::string put_in_place(const ThreadPlacement& thread) const;
  void violation(std::string text);
  void monitor();

  PlacementRequest request_;
  std::optional<PlacementPlan> plan_;
  std::vector<std::string> warnings_;

  std::mutex mapping_mutex_;
  std::optional<SessionCoreMapper> mapper_;  // over the poll threads' CPUs; empty when no poll thread is pinned
  std::map<std::size_t, std::pair<std::string, std::string>> mapped_;  // sessions with a place in a balanced mapping

  mutable std::mutex mutex_;
  std::vector<Entered> entered_;
  Alert alert_;
  std::condition_variable stop_changed_;
  bool stop_ = false;
  std::thread monitor_;
};

}  // namespace nfx
