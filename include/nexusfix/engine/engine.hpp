// The engine: sessions on poll threads over TCP, from start to a clean stop. Thread: run() uses the calling thread as
// poll thread 0 and starts the others; stop() and submit() from any thread, stop() also from a signal handler. Errors:
// the constructor and start() throw ConfigError, or StoreError for a journal that cannot be opened; run() ends when
// stopped. run() and turn() throw std::logic_error if a callback calls them. Destroying a running engine ends the
// program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/latency.hpp"
#include "nexusfix/engine/submit.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

struct PlacementPlan;

// Where a poll thread should run, and how the kernel scheduled it. Numbers that the kernel does not report are empty.
struct ThreadReport {
  std::string name;  // "nfx-poll-0"
  CpuSet planned;
  CpuSet cpus;                                        // its mask
  std::optional<std::uint64_t> migrations;            // between CPUs, since the thread began
  std::optional<std::uint64_t> voluntary_switches;    // it waited
  std::optional<std::uint64_t> involuntary_switches;  // its CPU was given to another task
  // The longest time of a busy-polling thread from a poll that found nothing to its next iteration: time that the host
  // took. The time of Application::on_turn is not included. Zero: the thread does not busy-poll.
  Duration worst_idle_gap{};
};

// "nfx-poll-0 on CPU 3, 1 migrations, 2 voluntary and 0 involuntary switches, worst gap 12.3 us"
[[nodiscard]] std::string to_string(const ThreadReport& report);

class Engine {
 public:
  // `program` is an application, which may also be an Observer and an Authenticator: see Callbacks. It outlives the
  // engine; with several poll threads its callbacks run on all of them.
  Engine(EngineConfig config, Callbacks program);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Opens the listeners and begins to connect. Optional: run() does it if the program has not.
  void start();

  // Serves until stop(), then logs out, waits for the answers as long as logout_timeout allows, and returns.
  void run();

  // One iteration of a single-threaded engine, for programs with their own loop. Returns how much happened. With a
  // plan, the first call pins the calling thread as planned.
  std::size_t turn(Duration max_wait);

  // Call it before run(). A sleeping poll thread then also wakes when this descriptor is readable, so that the program
  // reads it in on_turn(): for example market data, on the thread of the session that sends the orders. The engine
  // neither reads nor closes it. Throws ConfigError when there is no such thread, std::system_error when the kernel
  // cannot watch it.
  void wake_when_readable(int descriptor, std::uint32_t poll_thread = 0);

  void stop() noexcept;
  // Whether stop() was called. From any thread.
  [[nodiscard]] bool stopping() const noexcept;
  // Only from the thread that calls turn(), or from any thread after run() has returned.
  [[nodiscard]] bool finished() const noexcept;

  // Queues a message for the session's poll thread, which sends it in its next iteration. From any other thread. Cost:
  // a copy and a system call, under a mutex that a poll thread takes only when a session comes or goes.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  // The number of the session with these names; empty if there is none now. From any thread.
  [[nodiscard]] std::optional<std::size_t> find_session(const SessionId& id) const;

  // Add or remove a session while the engine runs, from any thread. A new session is checked as at start, also against
  // those at its listen address; its callbacks begin with Observer::on_added. A removed session logs out first; its
  // store is closed with it, and its listener when it was the last session there. Throws ConfigError naming what to
  // change; remove_session returns false when there is no such session. If another program takes the listen address
  // between the check and the poll thread's next iteration, a notice reports it and on_removed follows. A session that
  // is removed and added again continues with its sequence numbers, even without a journal.
  std::size_t add_session(SessionSettings settings, AddedSession as = {});
  [[nodiscard]] bool remove_session(std::size_t session, std::string_view text);

  // The address where a session's acceptor listens, with the actual port if the configured one is 0. Valid after
  // start(). From any thread, but not while an acceptor is added or removed.
  [[nodiscard]] std::optional<Endpoint> local_endpoint(std::size_t session) const;

  // Where the threads run, and why (nexusfix/placement/plan.hpp). Null: nothing was configured, nothing is pinned.
  [[nodiscard]] const PlacementPlan* plan() const noexcept;
  // Makes the calling thread, which the program created, thread `index` of one of the program's roles: feed, model,
  // orders, recorder or ui. It gets the name, CPUs and priority of the plan, and is watched and reported like the
  // engine's threads until leave_role(). Returns false if the plan has no such thread; it then gets only the name.
  // Throws ConfigError for one of the engine's roles.
  [[nodiscard]] bool enter_role(ThreadRole role, std::uint32_t index = 0);
  void leave_role();
  // Runs `work` on the calling thread, which the program created and no message waits for. The thread gets this name,
  // runs on the housekeeping CPUs if there is a plan, and is watched and reported like the engine's threads.
  void run_on_housekeeping(std::string_view name, const std::function<void()>& work);
  // Warnings of the plan, and threads that could not be placed as planned: one sentence each.
  [[nodiscard]] const std::vector<std::string>& placement_warnings() const noexcept;
  // One report for each poll thread, helper, thread on the housekeeping CPUs and thread that entered a role. From any
  // thread, during the run or afterwards. Empty without a plan. Reads /proc.
  [[nodiscard]] std::vector<ThreadReport> thread_reports() const;

  // How the poll threads wait while idle, and why, in one line.
  [[nodiscard]] std::string idle_text() const;
  // The transport in use, and why, in one line; empty when the configuration names epoll.
  [[nodiscard]] const std::string& transport_text() const noexcept;
  // Socket options that this host refused. Only before run() begins or after it has returned.
  [[nodiscard]] std::vector<std::string> transport_warnings() const;
  // Reloads certificates, keys and revocation lists, for connections that begin from now on. From any thread. A file
  // that cannot be loaded leaves the old one in use; the result has one text for each, with the reason.
  [[nodiscard]] std::vector<std::string> reload_tls();

  [[nodiscard]] const EngineConfig& config() const noexcept;
  // The sum of all poll threads, from any thread, while they run or afterwards. Each number is exact, but until run()
  // has returned they are not all from one moment.
  [[nodiscard]] PollLoopCounters counters() const noexcept;
  // The latencies of all sessions and poll threads, from any thread, while they run or afterwards. Empty with [engine]
  // latency = false.
  [[nodiscard]] LatencyReport latency(LatencyWindow window = LatencyWindow::since_start) const;
  // The slowest hundred moments of the window, slowest first.
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window) const;
  // Only from the session's poll thread, or from any thread after run() has returned.
  [[nodiscard]] SessionHandle* session(std::size_t id) noexcept;

 private:
  friend class EngineOperations;  // what the control plane and the cluster call
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Ctrl-C and SIGTERM stop an engine cleanly; a second one ends the program immediately.
// Thread: one object at a time, made and destroyed on the main thread. Lifetime: the engine outlives it.
class StopOnSignal {
 public:
  explicit StopOnSignal(Engine& engine) noexcept;
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] bool signalled() const noexcept;
};

}  // namespace nfx
