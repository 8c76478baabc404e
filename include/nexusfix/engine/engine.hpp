// The engine: sessions on poll threads over TCP, from start to a clean stop.
// Thread: run() uses the calling thread as poll thread 0 and starts the others; stop() and submit() from any thread,
// stop() also from a signal handler. Errors: the constructor and start() throw ConfigError, or StoreError for a journal
// that cannot be opened; run() ends when stopped.
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
#include "nexusfix/engine/journal_status.hpp"
#include "nexusfix/engine/latency.hpp"
#include "nexusfix/engine/recent_messages.hpp"
#include "nexusfix/engine/session_command.hpp"
#include "nexusfix/placement/cpu_set.hpp"
#include "nexusfix/placement/placement_request.hpp"

namespace nfx {

class HandOnQueue;
class MetricsPage;
class TlsContext;
struct PlacementPlan;

// Where a poll thread should run, and how the kernel has run it. What the kernel does not report is empty.
struct ThreadReport {
  std::string name;  // "nfx-poll-0"
  CpuSet planned;
  CpuSet cpus;                                        // its mask
  std::optional<std::uint64_t> migrations;            // between CPUs, since the thread began
  std::optional<std::uint64_t> voluntary_switches;    // it waited
  std::optional<std::uint64_t> involuntary_switches;  // its CPU was given to another task
  // The longest that a busy-polling thread took from a poll that found nothing to its next iteration: time that the
  // host took. What Application::on_turn takes is not in it. Zero: it does not busy-poll.
  Duration worst_idle_gap{};
};

// "nfx-poll-0 on CPU 3, 1 migrations, 2 voluntary and 0 involuntary switches, worst gap 12.3 us"
[[nodiscard]] std::string to_string(const ThreadReport& report);

class Engine {
 public:
  // `application` outlives the engine; with several poll threads its callbacks run on all of them.
  Engine(EngineConfig config, Application& application);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Opens the listeners and begins to connect. Optional: run() does it when it has not been done.
  void start();

  // Serves until stop(), then logs out, waits for the answers as long as logout_timeout allows, and returns.
  void run();

  // One iteration of a single-threaded engine, for programs with their own loop. Returns how much happened. With a
  // plan, the first call pins the calling thread as planned.
  std::size_t turn(Duration max_wait);

  // Before run(): a poll thread that sleeps wakes when this descriptor is readable too, so that the program reads it in
  // on_turn(): market data on the thread of the session that its orders take. The engine neither reads nor closes it.
  // Throws ConfigError when there is no such thread, std::system_error when the kernel cannot watch it.
  void wake_when_readable(int descriptor, std::uint32_t poll_thread = 0);

  void stop() noexcept;
  // Whether stop() was called. From any thread.
  [[nodiscard]] bool stopping() const noexcept;
  // For the thread that calls turn(), or for any once run() has returned.
  [[nodiscard]] bool finished() const noexcept;

  // Queues a message for the session's poll thread, which sends it in its next iteration. From any other thread. Cost:
  // a copy and a system call, under a mutex that a poll thread takes only when a session comes or goes.
  [[nodiscard]] SubmitResult submit(std::size_t session, const Outgoing& message, SubmitOptions options = {}) noexcept;
  // The number of the session with these names. From any thread. Empty: there is none at present.
  [[nodiscard]] std::optional<std::size_t> find_session(const SessionId& id) const;

  // Add or remove a session while the engine runs, from any thread. A new session is checked as at start, also against
  // those at its listen address; its callbacks begin with Application::on_added. A removed session logs out first; its
  // store is closed with it, and its listener when it was the last session there. Throws ConfigError naming what to
  // change; remove_session returns false when there is no such session. Another program may take the listen address
  // between the check and the poll thread's next iteration: then a notice states it, on_removed follows, and
  // why_not_added() has the reason.
  // One that was removed and is added again continues with its sequence numbers, also without a journal.
  std::size_t add_session(SessionSettings settings, AddedSession as = {});
  [[nodiscard]] bool remove_session(std::size_t session, std::string_view text);
  // Why a session of this number could not listen and went again; of the last 16 of a poll thread. It is known once the
  // poll thread has answered a command() for the session. From any thread. Empty: that did not happen.
  [[nodiscard]] std::optional<std::string> why_not_added(std::size_t session) const;
  // What add_session() would throw for these settings, without adding; except that there is such a session, or no
  // place.
  void check_added(SessionSettings settings) const;
  // Gives a session the settings that may change while it is connected (nexusfix/config/live_keys.hpp); all others stay
  // as they are. Waits as command() does. `what` is written to the event log. Throws ConfigError as add_session() does.
  [[nodiscard]] CommandOutcome change_session(std::size_t session, SessionSettings settings, std::string_view what,
                                              Duration timeout = command_timeout);

  // Commands of an operator, from any thread but a poll thread, which would wait for itself. Each is carried out by the
  // session's poll thread between two events; the calling thread waits for the answer. At most 64 wait at a time; one
  // that has not begun within `timeout` never will.
  [[nodiscard]] CommandOutcome command(std::size_t session, const SessionCommand& command,
                                       Duration timeout = command_timeout);
  // All sessions, by number; those of a poll thread that does not answer in time are missing. Read in pieces, so that
  // no message waits for more than one piece. Sessions that are being removed are apart from the others.
  struct SessionList {
    std::vector<SessionStatus> sessions;
    std::vector<SessionStatus> leaving{};
    bool complete = true;
  };
  [[nodiscard]] SessionList list_sessions(Duration timeout = command_timeout);
  // Logs all sessions out with this text and refuses Logons until end_drain(), which enables what drain() disabled.
  // False: a poll thread did not answer in time.
  [[nodiscard]] bool drain(std::string_view text, Duration timeout = command_timeout);
  [[nodiscard]] bool end_drain(Duration timeout = command_timeout);
  // Whether all poll threads take a request in time. From any thread but a poll thread.
  [[nodiscard]] bool answers(Duration timeout = command_timeout);
  // What the metrics file has, now. False: a poll thread did not answer in time, and its metrics are missing.
  [[nodiscard]] bool add_metrics(MetricsPage& page, Duration timeout = command_timeout);
  static constexpr Duration command_timeout{std::chrono::seconds{2}};
  // The session's journal: where it is, how far it is synced, which messages it has.
  [[nodiscard]] JournalStatus journal(std::size_t session, Duration timeout = command_timeout);
  // The session's last messages in both directions after the one of this number, at most `most`. The first call begins
  // to copy them, and copying ends some seconds after the last call: see RecentMessages.
  [[nodiscard]] RecentMessages recent_messages(std::size_t session, std::uint64_t after = 0,
                                               std::size_t most = RecentMessages::most_messages,
                                               Duration timeout = command_timeout);

  // Where a session's acceptor listens, with the actual port where the configured one is 0. Valid after start(). From
  // any thread, but not while an acceptor is added or goes.
  [[nodiscard]] std::optional<Endpoint> local_endpoint(std::size_t session) const;

  // Where the threads run, and why (nexusfix/placement/plan.hpp). Null: nothing was configured, nothing is pinned.
  [[nodiscard]] const PlacementPlan* plan() const noexcept;
  // The calling thread, which the program made, becomes thread `index` of a role of the program's: feed, model, orders,
  // recorder or ui. It gets the name, CPUs and priority that the plan has for it, and is watched and reported as the
  // engine's own are, until leave_role(). False: the plan has no such thread, and it has only the name. Throws
  // ConfigError for a role of the engine's own.
  [[nodiscard]] bool enter_role(ThreadRole role, std::uint32_t index = 0);
  void leave_role();
  // Runs `work` on the calling thread, which the program made and no message waits for: under this name and, with a
  // plan, on the housekeeping CPUs, watched and reported as the engine's own threads are. The second one is for a
  // thread that began before the engine, from now on; it outlives the engine.
  void run_on_housekeeping(std::string_view name, const std::function<void()>& work);
  void adopt_housekeeping(int tid, std::string_view name);
  // What the plan warns of, and threads that could not be put in their place: one sentence each.
  [[nodiscard]] const std::vector<std::string>& placement_warnings() const noexcept;
  // Of the poll threads, helpers, threads on the housekeeping CPUs and threads that entered, from any thread, while
  // they run or afterwards. Empty without a plan. Reads /proc.
  [[nodiscard]] std::vector<ThreadReport> thread_reports() const;
  // What the kernel calls the poll threads, by number; 0: it has not begun. From any thread.
  [[nodiscard]] std::vector<int> poll_thread_ids() const;

  // What the poll threads do while idle, and why, in one line.
  [[nodiscard]] std::string idle_text() const;
  // The transport in use, and why, in one line; empty when the configuration names epoll.
  [[nodiscard]] const std::string& transport_text() const noexcept;
  // Socket options that this host refused. Once run() has returned, or before it begins.
  [[nodiscard]] std::vector<std::string> transport_warnings() const;
  // Reloads certificates, keys and revocation lists, for connections that begin from now on. From any thread. What
  // cannot be loaded stays as it is; the result has one text for each, with the reason.
  [[nodiscard]] std::vector<std::string> reload_tls();
  // Has reload_tls() call this too, from any thread; its text is why something cannot be loaded, or empty. `name` is
  // for that.
  void reload_with_sessions(const std::string& name, std::function<std::string()> reload);

  // For the gateway of a cluster: connections whose session another gateway owns, with [cluster] wrong_gateway =
  // "hand_on".
  [[nodiscard]] HandOnQueue& hand_on_queue() noexcept;

  [[nodiscard]] const EngineConfig& config() const noexcept;
  // The sum of all poll threads, from any thread, while they run or afterwards. Each number is exact; they are not of
  // one moment before run() has returned.
  [[nodiscard]] PollLoopCounters counters() const noexcept;
  // The latencies of all sessions and poll threads, from any thread, while they run or afterwards. Empty with [engine]
  // latency = false, and windows also before run().
  [[nodiscard]] LatencyReport latency(LatencyWindow window = LatencyWindow::since_start) const;
  // The slowest hundred moments of the window, slowest first.
  [[nodiscard]] std::vector<SlowMoment> slowest(LatencyWindow window) const;
  // For the session's poll thread only, or for any thread once run() has returned.
  [[nodiscard]] SessionHandle* session(std::size_t id) noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx
