// Passes requests of the control plane on to an engine.
#include "control/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "base/clocks.hpp"
#include "control/placement_check.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/placement/machine.hpp"
#include "store/disk.hpp"

namespace nfx::control {
namespace {

bool is_late(CommandStatus status) noexcept {
  return status == CommandStatus::timed_out || status == CommandStatus::busy;
}

constexpr const char* stops_or_drains = "the engine stops or drains";

// Waits after add_session() until the poll thread has the session and, if it accepts connections, listens. Throws
// ConfigError if it cannot listen. A late poll thread listens later, and reports a failure as a notice.
SessionStatus wait_until_added(Engine& engine, std::size_t session) {
  CommandOutcome outcome = EngineOperations{engine}.command(session, {});
  if (const auto why = EngineOperations{engine}.why_not_added(session)) throw ConfigError(*why);
  return std::move(outcome.session);
}

// Calls `read(journal)`, which reads the files of a session with a journal.
template <class Answer, class Read>
StoreOutcome<Answer> store_outcome(JournalStatus journal, Read&& read) {
  StoreOutcome<Answer> outcome{.status = journal.status, .exists = journal.exists};
  if (outcome.status != CommandStatus::done || !outcome.exists) return outcome;
  try {
    outcome.answer = read(std::move(journal));
  } catch (const StoreError& error) {
    outcome.unreadable = error.what();
  }
  return outcome;
}

class EngineTarget final : public Target {
 public:
  EngineTarget(Engine& engine, std::string file)
      : engine_(engine), operations_(engine), file_(std::move(file)), started_(read_utc()) {}
  CommandOutcome command(std::size_t session, const SessionCommand& command) override {
    return reload_.command(session, command);
  }
  SessionList sessions() override { return operations_.list_sessions(); }
  AddOutcome add(std::string_view config) override {
    if (draining_ || engine_.stopping()) return {.status = AddStatus::stopping, .problem = stops_or_drains};
    try {
      SessionSettings settings = settings_of(config);
      const std::string name = identity(settings.session);
      const SessionList running = operations_.list_sessions();
      if (std::ranges::find(running.sessions, name, &SessionStatus::name) != running.sessions.end())
        return {.status = AddStatus::exists, .problem = "the session " + name + " exists already"};
      if (std::ranges::find(running.leaving, name, &SessionStatus::name) != running.leaving.end()) {
        return {.status = AddStatus::being_removed,
                .problem = "the session " + name + " is being removed: add it again once it is gone"};
      }
      const std::size_t number = engine_.add_session(std::move(settings));
      AddOutcome outcome{.status = AddStatus::added, .session = wait_until_added(engine_, number)};
      reload_.added(config, name);
      // A late poll thread has the session nevertheless.
      outcome.session.number = number;
      outcome.session.name = name;
      return outcome;
    } catch (const std::exception& error) {
      return {.status = AddStatus::invalid, .problem = error.what()};
    }
  }
  std::expected<std::size_t, CommandStatus> find(std::string_view name) override {
    if (const auto replaced = reload_.replaced(name)) return *replaced;
    if (const auto known = numbers_.find(name); known != numbers_.end()) {
      const CommandOutcome there = operations_.command(known->second, {});
      // A poll thread that does not answer probably still has the session.
      if (there.session.name == name || is_late(there.status)) return known->second;
    }
    const SessionList list = operations_.list_sessions();
    if (list.complete) numbers_.clear();
    for (const auto* sessions : {&list.leaving, &list.sessions}) {
      for (const SessionStatus& each : *sessions) numbers_.insert_or_assign(each.name, each.number);
    }
    for (const auto* sessions : {&list.sessions, &list.leaving}) {
      const auto found = std::ranges::find(*sessions, name, &SessionStatus::name);
      if (found != sessions->end()) return found->number;
    }
    return std::unexpected(list.complete ? CommandStatus::no_such_session : CommandStatus::timed_out);
  }
  bool answers() override { return operations_.answers(); }
  EngineView engine() override {
    return {.version = NFX_VERSION,
            .pid = ::getpid(),
            .started = started_,
            .poll_threads = engine_.config().poll_threads,
            .idle = engine_.idle_text(),
            .transport = engine_.transport_text(),
            .log_level = LineLog::least_level(),
            .draining = draining_,
            .stopping = engine_.stopping()};
  }
  std::vector<ThreadReport> threads() override { return engine_.thread_reports(); }
  std::vector<std::string> placement_warnings() override { return engine_.placement_warnings(); }
  std::vector<RunningThread> running_threads() override {
    constexpr Duration tick{std::chrono::milliseconds{10}};  // resolution of /proc/stat
    const WatchSample sample =
        sample_host(HostFiles{}, {.pid = ::getpid(), .isolated_cpus = {}}, read_monotonic().time_since_epoch());
    const std::vector<int> poll_threads = operations_.poll_thread_ids();
    std::vector<RunningThread> threads;
    for (const ThreadSample& each : sample.threads) {
      RunningThread& thread = threads.emplace_back(RunningThread{.sample = each});
      const auto number = std::ranges::find(poll_threads, each.tid);
      if (number != poll_threads.end()) thread.poll_thread = static_cast<std::uint32_t>(number - poll_threads.begin());
      const auto cpu = std::ranges::find(sample.counters.cpus, each.cpu, &CpuCounters::cpu);
      if (cpu != sample.counters.cpus.end()) thread.cpu_stolen = tick * cpu->steal;
    }
    return threads;
  }
  std::optional<PlacementReport> placement() override {
    const PlacementPlan* plan = engine_.plan();
    if (plan == nullptr) return std::nullopt;
    return PlacementReport{.plan = plan->hash,
                           .problems = placement_problems(*plan, engine_.thread_reports(), running_threads())};
  }
  std::optional<LatencyReport> latency(LatencyWindow window) override {
    if (!engine_.config().latency) return std::nullopt;
    return engine_.latency(window);
  }
  std::vector<SlowMoment> slowest(LatencyWindow window) override { return engine_.slowest(window); }
  RecentMessages messages(std::size_t session, std::uint64_t after, std::size_t most) override {
    return operations_.recent_messages(session, after, most);
  }
  StoreOutcome<StoreView> store(std::size_t session) override {
    return store_outcome<StoreView>(operations_.journal(session),
                                    [](JournalStatus journal) { return store_view(posix_disk(), std::move(journal)); });
  }
  StoreOutcome<StoreVerification> verify_store(std::size_t session, JournalPosition from) override {
    return store_outcome<StoreVerification>(operations_.journal(session), [from](const JournalStatus& journal) {
      return control::verify_store(posix_disk(), journal, from);
    });
  }
  StoreOutcome<std::vector<RecentMessage>> store_tail(std::size_t session, std::size_t most) override {
    return store_outcome<std::vector<RecentMessage>>(
        operations_.journal(session),
        [most](const JournalStatus& journal) { return control::store_tail(posix_disk(), journal, most); });
  }
  bool add_metrics(MetricsPage& page) override { return operations_.add_metrics(page); }
  void stop() override { engine_.stop(); }
  bool drain(std::string_view text) override {
    draining_ = true;
    return operations_.drain(text);
  }
  bool end_drain() override {
    if (!operations_.end_drain()) return false;
    draining_ = false;
    return true;
  }
  std::vector<std::string> reload_tls() override { return engine_.reload_tls(); }
  ReloadReport plan_reload() override { return reload_.plan(); }
  ReloadReport reload(std::string_view who) override {
    if (draining_ || engine_.stopping()) return {.status = ReloadStatus::stopping, .problem = stops_or_drains};
    return reload_.carry_out(who);
  }
  ReloadReport change(std::size_t session, std::string_view config, std::string_view who) override {
    if (draining_ || engine_.stopping()) return {.status = ReloadStatus::stopping, .problem = stops_or_drains};
    const CommandOutcome there = operations_.command(session, {});
    if (there.status == CommandStatus::no_such_session) return {.status = ReloadStatus::no_such_session};
    if (there.status == CommandStatus::being_removed) return {.status = ReloadStatus::being_removed};
    if (!there) return {.status = ReloadStatus::not_answering, .problem = std::string{explain(there)}};
    try {
      SessionSettings settings = settings_of(config);
      const std::string name = identity(settings.session);
      if (name != there.session.name) {
        return {.status = ReloadStatus::invalid,
                .problem = "config: this is the session " + name + ", not " + there.session.name +
                           ": CompIDs and BeginString(8) cannot change, so add it as another session"};
      }
      return reload_.change(there.session, std::move(settings), config, who);
    } catch (const std::exception& error) {
      return {.status = ReloadStatus::invalid, .problem = error.what()};
    }
  }
  void set_log_level(LogLevel level) override { LineLog::set_least_level(level); }

 private:
  class Reloaded final : public ReloadedEngine {
   public:
    Reloaded(Engine& engine, const std::string& file) : engine_(engine), operations_(engine), file_(file) {}
    const EngineConfig& config() const override { return engine_.config(); }
    ConfigWithKeys read_file() override { return load_with_keys(file_); }
    SessionList list_sessions() override { return operations_.list_sessions(); }
    void check_added(const SessionSettings& settings) const override { operations_.check_added(settings); }
    void add_session(const SessionSettings& settings, AddedSession as) override {
      static_cast<void>(wait_until_added(engine_, engine_.add_session(settings, as)));
    }
    CommandOutcome command(std::size_t session, const SessionCommand& command) override {
      return operations_.command(session, command);
    }
    CommandOutcome change_session(std::size_t session, const SessionSettings& settings,
                                  std::string_view what) override {
      return operations_.change_session(session, settings, what);
    }
    void wait(Duration time) override { std::this_thread::sleep_for(time); }
    bool stopping() const override { return engine_.stopping(); }

   private:
    Engine& engine_;
    EngineOperations operations_;
    const std::string& file_;
  };

  // Throws ConfigError, with the line.
  [[nodiscard]] SessionSettings settings_of(std::string_view config) const {
    const std::filesystem::path folder = std::filesystem::path{file_}.parent_path();
    SessionSettings settings =
        parse_added_session(config, "config", folder.empty() ? "." : folder.string(), engine_.config());
    if (!file_.empty()) use_program_store(settings, file_);
    return settings;
  }

  Engine& engine_;
  EngineOperations operations_;
  const std::string file_;
  Reloaded reloaded_{engine_, file_};
  ConfigReload reload_{reloaded_, file_};
  const UtcTime started_;
  // Sessions seen in a list. A number is never reused; a removed number has no session.
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::atomic<bool> draining_{false};  // used by both threads
};

}  // namespace

std::unique_ptr<Target> engine_target(Engine& engine, std::string file) {
  return std::make_unique<EngineTarget>(engine, std::move(file));
}

}  // namespace nfx::control
