// Assembles an engine from its configuration: placement, helpers, logs and poll threads, started and ended in order.
#include "nexusfix/engine/engine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clocks.hpp"
#include "config/placement.hpp"
#include "engine/callback_failure.hpp"
#include "engine/engine_control.hpp"
#include "engine/engine_counter_rows.hpp"
#include "engine/engine_helpers.hpp"
#include "engine/engine_logs.hpp"
#include "engine/engine_metrics.hpp"
#include "engine/engine_operations.hpp"
#include "engine/engine_placement.hpp"
#include "engine/handed_on.hpp"
#include "engine/latency_monitor.hpp"
#include "engine/left_numbers.hpp"
#include "engine/listen_addresses.hpp"
#include "engine/loop_parts.hpp"
#include "engine/message_taps.hpp"
#include "engine/poll_thread.hpp"
#include "engine/start_checks.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/engine/stop_listener.hpp"
#include "placement/thread_name.hpp"
#include "store/disk.hpp"
#include "transport/tls_context.hpp"

namespace nfx {
namespace {

// A file that reaches RLIMIT_FSIZE is an error of the write, as a full disk is; by default the signal ends the process.
void ignore_file_size_signal() noexcept {
  struct sigaction now{};
  if (::sigaction(SIGXFSZ, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL)
    std::signal(SIGXFSZ, SIG_IGN);
}

// Each page from its first use on, because most mapped memory is never used.
void lock_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0) return;
  throw ConfigError("[engine] lock_memory: mlockall: " + std::generic_category().message(errno) +
                    "; raise RLIMIT_MEMLOCK (LimitMEMLOCK=infinity of a service, ulimit -l unlimited)");
}

// A session borrows its dictionary. An acceptor compares the peer's password with its own, and never sends it.
void take_settings(SessionSettings& settings) {
  if (settings.dictionary) settings.session.dictionary = settings.dictionary.get();
  if (settings.session.role == Role::acceptor) settings.session.password.keep_digest();
}

// One call of run() or turn() at a time.
class Serving {
 public:
  explicit Serving(std::atomic<bool>& now) : now_(now) {
    if (now.exchange(true, std::memory_order_acq_rel))
      throw std::logic_error("the engine runs already: run() and turn() are called by one thread, and by no callback");
  }
  ~Serving() { now_.store(false, std::memory_order_release); }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  std::atomic<bool>& now_;
};

}  // namespace

struct Engine::Parts {
  Parts(EngineConfig checked, Callbacks program)
      : config(std::move(checked)),
        callbacks(std::move(program)),
        stop_listener(dynamic_cast<StopListener*>(callbacks.application)),
        placement(config, load_this_machine, [] { return read_host_facts(HostFiles{}); }),
        transport(choose_transport(config)),
        addresses(config),
        helpers(config, placement, posix_disk(), [this] { wake_all(); }),
        logs(config, [this](std::string_view text) { alert(AlertKind::log, text); }) {}
  ~Parts() { end_threads(); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  EngineConfig config;
  const Callbacks callbacks;
  StopListener* const stop_listener;                  // null: the application is none
  std::atomic<std::uint64_t> callback_exceptions{0};  // of callbacks that no poll thread calls; before the logs
  EnginePlacement placement;
  TransportChoice transport;
  ListenAddresses addresses;
  LeftNumbers left_numbers{config.sessions.size() + std::size_t{config.poll_threads} * config.max_dynamic_sessions};
  EngineHelpers helpers;
  EngineLogs logs;  // outlives the threads that record
  MessageTaps taps;
  HandOnQueue hand_on;  // outlives the threads that push
  std::vector<std::unique_ptr<PollThread>> threads;
  std::mutex threads_mutex;  // guards `threads` where wake_all() may read it
  std::mutex added_tls_mutex;
  std::vector<std::pair<std::string, std::weak_ptr<TlsContext>>> added_tls;  // of sessions that came later
  std::vector<std::pair<std::string, std::function<std::string()>>> reloads;
  std::mutex on_metrics_mutex;  // for the metrics file and add_metrics()
  std::mutex gathered_mutex;
  ThreadFigures gathered;  // keeps its memory from one call of add_metrics() to the next
  std::optional<TraceLog> traces;
  std::optional<LatencyMonitor> monitor;  // ends before the threads; empty: nothing is measured
  bool started = false;
  bool placed = false;               // the thread that calls turn()
  std::atomic<bool> serving{false};  // within run() or turn()

  void make_thread(std::uint32_t number) {
    const IdleMode idle = poll_idle(config, placement.plan(), number).mode;
    for (SessionSettings& each : config.sessions) {
      if (each.poll_thread == number && !each.is_template && !each.prefault) each.prefault = idle != IdleMode::block;
    }
    threads.push_back(make_poll_thread(transport, {.config = config,
                                                   .number = number,
                                                   .idle = idle,
                                                   .callbacks = callbacks,
                                                   .stores = helpers.stores(),
                                                   .handshakes = &helpers.handshakes()}));
    LoopParts& loop = threads.back()->loop();
    loop.log_to(
        {logs.message_lane(number), logs.event_lane(number), [this](std::size_t session, const std::string* name) {
           name != nullptr ? logs.name(session, *name) : logs.forget(session);
         }});
    if (config.cluster.hands_on()) loop.admission.hand_on_to(hand_on);
    loop.sessions.when_gone([this](const SessionDriver& session) { session_gone(session); });
  }

  // Starts the log thread, after the poll threads that it collects statistics from exist.
  void begin_logs() {
    if (!logs.wanted()) return;
    for (std::size_t i = 0; i < config.sessions.size(); ++i) logs.name(i, identity(config.sessions[i].session));
    std::vector<EngineLogs::Figures*> figures;
    for (const auto& thread : threads) figures.push_back(&thread->figures);
    logs.begin([this] { placement.enter_role(ThreadRole::log, 0); }, helper_threads(config, ThreadRole::log).idle,
               std::move(figures), [this](MetricsPage& page) { add_other_metrics(page); });
  }
  // One poll thread after the other, so that they are not all delayed at once.
  bool add_metrics(MetricsPage& page, Duration timeout) {
    const std::lock_guard lock{gathered_mutex};
    bool all = true;
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      const bool there = gather_from(*threads[i], gathered, timeout);
      if (there) add_poll_thread(page, thread_name(ThreadRole::poll, i), gathered);
      all = all && there;
    }
    add_other_metrics(page);
    return all;
  }
  template <class Ask>
  bool on_all(Ask&& ask) {
    bool all = true;
    for (const auto& thread : threads) all = ask(*thread) && all;
    return all;
  }
  // Metrics that the poll threads do not count themselves.
  void add_other_metrics(MetricsPage& page) {
    add_threads(page);
    add_latencies(page);
    helpers.add_metrics(page);
    if (config.cluster.hands_on()) add_hand_on(page, config.cluster.gateway, hand_on.counters());
    add_callback_exceptions(page, callback_exceptions.load(std::memory_order_relaxed));
    const std::lock_guard lock{on_metrics_mutex};
    guarded("on_metrics", [&](Observer& each) { each.on_metrics(page); });
  }
  void add_latencies(MetricsPage& page) {
    if (!monitor) return;
    LatencyReport report = monitor->window(LatencyWindow::since_start);
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const std::string name = thread_name(ThreadRole::poll, report.threads[i].poll_thread);
      add_stages(page, name, report.threads[i].stages);
      page.counter(slow_lost_metric, threads[i]->slow().lost(), {{"thread", name}});
      if (threads[i]->traces() != nullptr)
        page.counter(traces_lost_metric, threads[i]->traces()->lost(), {{"reason", "full"}, {"thread", name}});
    }
    if (traces) page.counter(traces_lost_metric, traces->lost(), {{"reason", "file"}, {"thread", "nfx-latency"}});
    add_session_latencies(page, monitor->window(LatencyWindow::minute));
    add_session_stages(page, report.sessions, config.latency_histograms);
  }
  void add_threads(MetricsPage& page) {
    for (const ThreadReport& report : thread_reports()) add_thread(page, report);
    if (placement.plan() != nullptr) return;
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      if (threads[i]->thread_id() == 0) continue;  // it has not begun
      ThreadReport report = EnginePlacement::counted(threads[i]->thread_id(), thread_name(ThreadRole::poll, i));
      report.worst_idle_gap = threads[i]->gap.worst();
      add_thread(page, report);
    }
  }
  [[nodiscard]] std::vector<ThreadReport> thread_reports() const {
    std::vector<ThreadReport> reports = placement.reports();
    for (ThreadReport& report : reports) {
      report.worst_idle_gap = helpers.worst_gap(report.name);
      if (report.name == thread_name(ThreadRole::log, 0)) report.worst_idle_gap = logs.watch().worst_gap();
      for (std::uint32_t i = 0; i < threads.size(); ++i) {
        if (report.name == thread_name(ThreadRole::poll, i)) report.worst_idle_gap = threads[i]->gap.worst();
      }
    }
    return reports;
  }

  // Jobs end before the poll threads, because a job that opens a store hands it to its poll thread. Stores close with
  // their sessions, and the flushers end after them.
  void end_threads() {
    if (monitor) monitor->end();
    // First, while the poll threads exist.
    logs.end([this] {
      for (const auto& thread : threads) thread->publish();
    });
    helpers.end_jobs();
    std::vector<std::unique_ptr<PollThread>> ending;
    {
      const std::lock_guard lock{threads_mutex};
      ending.swap(threads);
    }
    ending.clear();
    helpers.end();
  }
  void wake_all() noexcept {
    const std::lock_guard lock{threads_mutex};
    for (const auto& thread : threads) thread->wake();
  }

  // Entries of removed sessions are dropped.
  void remember_tls(const std::string& session, const std::weak_ptr<TlsContext>& context) {
    const std::lock_guard lock{added_tls_mutex};
    std::erase_if(added_tls, [](const auto& each) { return each.second.expired(); });
    added_tls.emplace_back(session, context);
  }

  // Calls the observers outside the poll threads. If one throws, the exception is reported and counted.
  template <class Call>
  void guarded(std::string_view callback, Call&& call) noexcept {
    for (Observer* const each : callbacks.observers) {
      try {
        call(*each);
      } catch (...) {
        callback_threw(callback);
      }
    }
  }
  void alert(AlertKind kind, std::string_view text) noexcept {
    guarded("on_alert", [&](Observer& each) { each.on_alert(kind, text); });
  }
  void callback_threw(std::string_view callback) noexcept {
    const CallbackFailure failure{callback};
    callback_exceptions.fetch_add(1, std::memory_order_relaxed);
    for (Observer* const each : callbacks.observers) {
      try {
        each->on_alert(AlertKind::callback, failure.text());
      } catch (...) {
        callback_exceptions.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  void watch() {
    placement.watch([this](const std::string& text) { alert(AlertKind::placement, text); });
    if (monitor) monitor->begin(placement);
  }

  // Called on its poll thread. A session that a template has made shares the place of that.
  void session_gone(const SessionDriver& session) {
    if (session.removed_by_request()) {
      left_numbers.remember(session.name(), {.next_inbound = session.next_inbound(),
                                             .next_outbound = session.next_outbound(),
                                             .begun = session.creation_time(),
                                             .has_journal = session.journal() != nullptr});
    } else {
      left_numbers.forget(session.name());
    }
    if (session.from_template()) return;
    const SessionSettings& settings = session.settings();
    addresses.leave(settings.session, settings.listen, settings.is_replicated());
  }

  // Prepares a session that is added, or throws the reason to refuse it. Returns the certificate names that its
  // handshake requires.
  std::vector<std::string> prepare(SessionSettings& settings) const {
    take_settings(settings);
    std::vector<std::string> names = addresses.handshake_names(settings);
    load_certificates(settings, names);
    if (settings.tls_enabled && !transport.tls) {
      throw ConfigError("tls: a session with TLS can be added only if the configuration had one at start");
    }
    if (settings.is_template) throw ConfigError("a template cannot be added while the engine runs");
    if (settings.is_replicated() && settings.journal.replica == nullptr)
      throw ConfigError("a replicated session is added by the gateway that owns it: see docs/cluster.md");
    return names;
  }

  // The number of a session that was added later determines the thread that serves it.
  [[nodiscard]] std::size_t thread_number_of(std::size_t session) const noexcept {
    const std::size_t configured = config.sessions.size();
    return session < configured ? config.sessions[session].poll_thread : (session - configured) % threads.size();
  }
  [[nodiscard]] PollThread& thread_of(std::size_t session) const noexcept {
    return *threads[thread_number_of(session)];
  }
};

Engine::Engine(EngineConfig config, Callbacks program) {
  check_config(config);
  ignore_file_size_signal();
  for (SessionSettings& settings : config.sessions) take_settings(settings);
  load_certificates(config);
  if (const auto in_use = check_listen_addresses(config); !in_use.empty()) throw ConfigError(in_use.front());
  if (config.lock_memory) lock_memory();
  parts_ = std::make_unique<Parts>(std::move(config), std::move(program));
  // The plan may have given sessions other threads.
  if (parts_->placement.plan() != nullptr) check_config(parts_->config);
  for (std::uint32_t i = 0; i < parts_->config.poll_threads; ++i) {
    parts_->placement.build(i, [&] { parts_->make_thread(i); });
    for (const SessionSettings& settings : parts_->config.sessions) {
      auto& longest = parts_->threads.back()->longest_logout;
      if (settings.poll_thread == i) longest = std::max(longest, settings.session.logout_timeout);
    }
  }
  const auto on_disk = [](const SessionSettings& each) { return each.store_kind == StoreKind::journal; };
  const bool asked_for = helper_threads(parts_->config, ThreadRole::flusher).asked_for ||
                         helper_threads(parts_->config, ThreadRole::deferred).asked_for;
  if (asked_for || std::ranges::any_of(parts_->config.sessions, on_disk)) parts_->helpers.begin();
  if (parts_->transport.tls || helper_threads(parts_->config, ThreadRole::handshake).asked_for)
    parts_->helpers.begin_handshakes();
  if (parts_->config.latency) {
    std::vector<const MeasuredThread*> measured;
    for (const auto& thread : parts_->threads) measured.push_back(thread.get());
    if (parts_->config.log.trace_every != 0) {
      parts_->traces.emplace(parts_->config.log,
                             [parts = parts_.get()](std::string_view text) { parts->alert(AlertKind::log, text); });
    }
    parts_->monitor.emplace(std::move(measured), parts_->traces ? &*parts_->traces : nullptr);
  }
  parts_->begin_logs();
}

// A callback that destroys the engine, or a thread that does while another one runs it, would return into freed memory.
Engine::~Engine() {
  const bool run_has_returned = !parts_->serving.load(std::memory_order_acquire);
  NFX_REQUIRE(run_has_returned);
}

void Engine::start() {
  if (std::exchange(parts_->started, true)) return;
  for (const auto& thread : parts_->threads) thread->start();
}

void Engine::run() {
  start();
  Parts& parts = *parts_;
  const Serving serving{parts.serving};
  const auto serve = [&parts](std::uint32_t index) {
    parts.placement.enter(index);
    parts.threads[index]->begin();
    parts.threads[index]->run();
    parts.placement.leave();
  };
  std::vector<std::jthread> others;
  for (std::uint32_t i = 1; i < parts.threads.size(); ++i) others.emplace_back(serve, i);
  parts.threads[0]->begin();  // before the first sample of it
  parts.watch();
  serve(0);
  others.clear();
  parts.placement.stop_watching();
  if (parts.monitor) parts.monitor->end();
}

std::size_t Engine::turn(Duration max_wait) {
  start();
  const Serving serving{parts_->serving};
  if (!std::exchange(parts_->placed, true)) {
    parts_->placement.enter(0);
    parts_->threads[0]->begin();
    parts_->watch();
  }
  PollThread& thread = *parts_->threads[0];
  if (thread.stop.load(std::memory_order_acquire)) thread.request_stop();
  return thread.turn(max_wait);
}

void Engine::wake_when_readable(int descriptor, std::uint32_t poll_thread) {
  if (poll_thread >= parts_->threads.size()) {
    throw ConfigError("wake_when_readable: no such poll thread " + std::to_string(poll_thread) + ", [engine] has " +
                      std::to_string(parts_->threads.size()));
  }
  parts_->threads[poll_thread]->wake_when_readable(descriptor);
}

void Engine::stop() noexcept {
  const bool delayed = parts_->stop_listener != nullptr && parts_->stop_listener->delays_stop(*this);
  for (const auto& thread : parts_->threads) {
    if (!delayed) thread->stop.store(true, std::memory_order_release);
    thread->wake();
  }
}

bool Engine::stopping() const noexcept {
  return std::ranges::any_of(parts_->threads,
                             [](const auto& thread) { return thread->stop.load(std::memory_order_acquire); });
}

bool Engine::finished() const noexcept {
  return std::ranges::all_of(parts_->threads, [](const auto& thread) { return thread->finished(); });
}

SubmitResult Engine::submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept {
  return parts_->thread_of(session).loop().submit(session, message, options);
}

std::optional<std::size_t> Engine::find_session(const SessionId& id) const {
  for (const auto& thread : parts_->threads) {
    if (const auto found = thread->loop().find(id)) return found;
  }
  return std::nullopt;
}

void EngineOperations::check_added(SessionSettings settings) const {
  static_cast<void>(parts_->prepare(settings));
  parts_->addresses.check(settings);
  parts_->addresses.require_free(settings);
}

std::size_t Engine::add_session(SessionSettings settings, AddedSession as) {
  if (stopping()) throw ConfigError("the engine is stopping: no session can be added");
  std::vector<std::string> handshake_names = parts_->prepare(settings);
  const std::string name = identity(settings.session);
  for (const auto& thread : parts_->threads) {
    if (thread->loop().knows(name)) throw ConfigError("the session " + name + " exists already");
  }
  const SessionConfig config = settings.session;
  const Endpoint listen = settings.listen;
  const std::weak_ptr<TlsContext> tls = settings.socket.tls;
  if (settings.store_kind == StoreKind::journal) parts_->helpers.begin();
  // A replicated session has its place from the start.
  const bool is_new = !settings.is_replicated();
  if (is_new) parts_->left_numbers.continue_with(settings);
  if (is_new) settings.poll_thread = parts_->placement.join_mapping(settings);
  bool joined = false;
  try {
    parts_->addresses.check(settings);
    if (is_new) parts_->addresses.require_free(settings);
    parts_->addresses.join(settings, std::move(handshake_names));
    joined = true;
    const std::uint32_t number = settings.poll_thread;
    const std::size_t session = parts_->threads[number]->loop().add(std::move(settings), as);
    joined = false;  // from now on it leaves when it has gone
    if (is_new) parts_->placement.joined_as(session, config);
    if (tls.lock()) parts_->remember_tls(identity(config), tls);
    return session;
  } catch (...) {
    if (joined) parts_->addresses.leave(config, listen, !is_new);
    if (is_new) parts_->placement.withdraw(config);
    throw;
  }
}

std::optional<std::string> EngineOperations::why_not_added(std::size_t session) const {
  return parts_->thread_of(session).loop().commands.why_not_added(session);
}

bool Engine::remove_session(std::size_t session, std::string_view text) {
  if (!parts_->thread_of(session).loop().remove(session, std::string{text})) return false;
  parts_->placement.leave_mapping(session);
  return true;
}

CommandOutcome EngineOperations::command(std::size_t session, const SessionCommand& command, Duration timeout) const {
  CommandOutcome outcome = command_on(parts_->thread_of(session), session, command, timeout);
  if (command.kind == SessionCommandKind::remove && outcome) parts_->placement.leave_mapping(session);
  return outcome;
}

CommandOutcome EngineOperations::change_session(std::size_t session, SessionSettings settings, std::string_view what,
                                                Duration timeout) const {
  take_settings(settings);
  settings.poll_thread = static_cast<std::uint32_t>(parts_->thread_number_of(session));  // it stays there
  parts_->addresses.check(settings);
  return change_on(parts_->thread_of(session), session, std::move(settings), what, timeout);
}

SessionList EngineOperations::list_sessions(Duration timeout) const {
  SessionList list;
  for (const auto& thread : parts_->threads) list.complete = list_of(*thread, list.sessions, timeout) && list.complete;
  std::ranges::sort(list.sessions, {}, &SessionStatus::number);
  std::ranges::copy_if(list.sessions, std::back_inserter(list.leaving), &SessionStatus::removing);
  std::erase_if(list.sessions, [](const SessionStatus& each) { return each.removing; });
  return list;
}

bool EngineOperations::drain(std::string_view text, Duration timeout) const {
  return parts_->on_all([&](PollThread& thread) { return drain_on(thread, text, timeout); });
}

bool EngineOperations::end_drain(Duration timeout) const {
  return parts_->on_all([&](PollThread& thread) { return end_drain_on(thread, timeout); });
}

bool EngineOperations::answers(Duration timeout) const {
  return std::ranges::all_of(parts_->threads, [timeout](const auto& thread) { return answers_in(*thread, timeout); });
}

RecentMessages EngineOperations::recent_messages(std::size_t session, std::uint64_t after, std::size_t most,
                                                 Duration timeout) const {
  return parts_->taps.read(parts_->thread_of(session), session, after, most, read_monotonic(), timeout);
}

JournalStatus EngineOperations::journal(std::size_t session, Duration timeout) const {
  return journal_on(parts_->thread_of(session), session, timeout);
}

bool EngineOperations::add_metrics(MetricsPage& page, Duration timeout) const {
  return parts_->add_metrics(page, timeout);
}

std::optional<Endpoint> Engine::local_endpoint(std::size_t session) const {
  if (session >= parts_->config.sessions.size()) return std::nullopt;
  const SessionSettings& settings = parts_->config.sessions[session];
  return parts_->threads[settings.poll_thread]->local_endpoint(settings.listen);
}

const PlacementPlan* Engine::plan() const noexcept { return parts_->placement.plan(); }

bool Engine::enter_role(ThreadRole role, std::uint32_t index) {
  if (kind_of(role) == RoleKind::engine) {
    throw ConfigError("a thread of the program cannot have the role \"" + std::string{to_string(role)} +
                      "\": the engine starts those itself; feed, model, orders, recorder and ui are for programs");
  }
  return parts_->placement.enter_role(role, index);
}

void Engine::leave_role() { parts_->placement.leave(); }

void Engine::run_on_housekeeping(std::string_view name, const std::function<void()>& work) {
  parts_->placement.run_on_housekeeping(name, work);
}

void EngineOperations::adopt_housekeeping(int tid, std::string_view name) const {
  parts_->placement.adopt_housekeeping(tid, name);
}

const std::vector<std::string>& Engine::placement_warnings() const noexcept { return parts_->placement.warnings(); }

std::vector<ThreadReport> Engine::thread_reports() const { return parts_->thread_reports(); }

std::vector<int> EngineOperations::poll_thread_ids() const {
  std::vector<int> ids;
  for (const auto& thread : parts_->threads) ids.push_back(thread->thread_id());
  return ids;
}

std::string Engine::idle_text() const { return poll_idle_text(parts_->config, parts_->placement.plan()); }

const std::string& Engine::transport_text() const noexcept { return parts_->transport.text; }

std::vector<std::string> Engine::transport_warnings() const {
  std::vector<std::string> all;
  for (const auto& thread : parts_->threads) std::ranges::move(thread->transport_warnings(), std::back_inserter(all));
  return all;
}

std::vector<std::string> Engine::reload_tls() {
  std::vector<std::string> problems;
  const auto reload = [&problems](const std::string& session, TlsContext& context) {
    if (const auto done = context.reload(); !done) problems.push_back(session + ": " + done.error());
  };
  for (const SessionSettings& settings : parts_->config.sessions) {
    if (settings.socket.tls) reload(identity(settings.session), *settings.socket.tls);
  }
  const std::lock_guard lock{parts_->added_tls_mutex};
  for (const auto& [session, context] : parts_->added_tls) {
    if (const auto alive = context.lock()) reload(session, *alive);
  }
  for (const auto& [name, load] : parts_->reloads) {
    if (const std::string problem = load(); !problem.empty()) problems.push_back(name + ": " + problem);
  }
  return problems;
}

void EngineOperations::reload_with_sessions(const std::string& name, std::function<std::string()> reload) const {
  const std::lock_guard lock{parts_->added_tls_mutex};
  parts_->reloads.emplace_back(name, std::move(reload));
}

std::string to_string(const ThreadReport& report) {
  const auto known = [](const auto& count) { return count ? std::to_string(*count) : std::string{"unknown"}; };
  std::string text = report.name + " on CPU " + report.cpus.to_list();
  if (report.cpus != report.planned) text += " (planned: " + report.planned.to_list() + ')';
  text += ", " + known(report.migrations) + " migrations, " + known(report.voluntary_switches) + " voluntary and " +
          known(report.involuntary_switches) + " involuntary switches";
  if (report.worst_idle_gap > Duration::zero()) {
    char gap[48];
    std::snprintf(gap, sizeof gap, ", worst gap %.1f us",
                  std::chrono::duration<double, std::micro>(report.worst_idle_gap).count());
    text += gap;
  }
  return text;
}

HandOnQueue& EngineOperations::hand_on_queue() const noexcept { return parts_->hand_on; }

const EngineConfig& Engine::config() const noexcept { return parts_->config; }

PollLoopCounters Engine::counters() const noexcept {
  PollLoopCounters sum;
  for (const auto& thread : parts_->threads) add_counters(sum, thread->loop().counters());
  sum.callback_exceptions += parts_->callback_exceptions.load(std::memory_order_relaxed);
  return sum;
}

LatencyReport Engine::latency(LatencyWindow window) const {
  return parts_->monitor ? parts_->monitor->window(window) : LatencyReport{};
}

std::vector<SlowMoment> Engine::slowest(LatencyWindow window) const {
  return parts_->monitor ? parts_->monitor->slowest(window) : std::vector<SlowMoment>{};
}

SessionHandle* Engine::session(std::size_t id) noexcept { return parts_->thread_of(id).loop().find(id); }

}  // namespace nfx
