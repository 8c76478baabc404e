// The target of the control plane: an engine, or a substitute in tests.
// Thread: the control plane's; the second half of Target its worker's, at the same time. Errors: a poll thread that
// does not answer is a status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config_reload.hpp"
#include "control/store_view.hpp"
#include "engine/engine_operations.hpp"
#include "engine/metrics.hpp"
#include "nexusfix/log/log_format.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::control {

struct EngineView {
  std::string version;
  int pid = 0;
  UtcTime started{};
  std::size_t poll_threads = 0;
  std::string idle;
  std::string transport;
  LogLevel log_level = LogLevel::info;
  bool draining = false;
  bool stopping = false;
};

// The result of adding a session.
enum class AddStatus : std::uint8_t { added, invalid, exists, being_removed, stopping };

struct AddOutcome {
  AddStatus status = AddStatus::invalid;
  std::string problem{};    // names the line; empty if it was added
  SessionStatus session{};  // if it was added
};

// The result of a request for a session's journal: the poll thread's answer, and `unreadable` if a file cannot be read.
// `exists` is false if the session's store is memory.
template <class Answer>
struct StoreOutcome {
  CommandStatus status = CommandStatus::done;
  bool exists = true;
  std::string unreadable{};
  Answer answer{};
};

struct PlacementReport {
  std::string plan;  // its hash
  std::vector<std::string> problems;
};

// A thread of the process, with the kernel's figures since it started.
struct RunningThread {
  ThreadSample sample;
  std::optional<std::uint32_t> poll_thread{};  // its number
  std::optional<Duration> cpu_stolen{};        // stolen by the hypervisor from its current CPU since the host started
};

class Target {
 public:
  virtual ~Target() = default;
  virtual CommandOutcome command(std::size_t session, const SessionCommand& command) = 0;  // called from both threads
  virtual SessionList sessions() = 0;
  virtual bool answers() = 0;  // all poll threads
  // Finds a session by its name, "FIX.4.4:DESK->VENUE". Otherwise no_such_session, or timed_out if a poll thread that
  // may have it does not answer.
  virtual std::expected<std::size_t, CommandStatus> find(std::string_view name) = 0;
  virtual EngineView engine() = 0;
  virtual std::vector<ThreadReport> threads() = 0;
  virtual std::vector<std::string> placement_warnings() = 0;
  virtual std::vector<RunningThread> running_threads() = 0;
  // Empty if there is no plan.
  virtual std::optional<PlacementReport> placement() = 0;
  // Empty if nothing is measured.
  virtual std::optional<LatencyReport> latency(LatencyWindow window) = 0;
  virtual std::vector<SlowMoment> slowest(LatencyWindow window) = 0;
  virtual RecentMessages messages(std::size_t session, std::uint64_t after, std::size_t most) = 0;
  virtual bool add_metrics(MetricsPage& page) = 0;
  virtual void stop() = 0;
  virtual void set_log_level(LogLevel level) = 0;

  // Called on the worker's thread, for work of routes.
  virtual StoreOutcome<StoreView> store(std::size_t session) = 0;
  virtual StoreOutcome<StoreVerification> verify_store(std::size_t session, JournalPosition from) = 0;
  virtual StoreOutcome<std::vector<RecentMessage>> store_tail(std::size_t session, std::size_t most) = 0;
  // `config` is one [[session]] as in a configuration file.
  virtual AddOutcome add(std::string_view config) = 0;
  virtual bool drain(std::string_view text) = 0;
  virtual bool end_drain() = 0;
  virtual std::vector<std::string> reload_tls() = 0;
  // The changes that a reload would make, and the reload itself.
  virtual ReloadReport plan_reload() = 0;
  virtual ReloadReport reload(std::string_view who) = 0;
  // `config` as in add(), for the session with this number.
  virtual ReloadReport change(std::size_t session, std::string_view config, std::string_view who) = 0;
};

// `engine` is borrowed. `file` as in make_control().
[[nodiscard]] std::unique_ptr<Target> engine_target(Engine& engine, std::string file);

}  // namespace nfx::control
