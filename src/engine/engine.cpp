#include "nexusfix/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "engine/engine_placement.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/transport/epoll_transport.hpp"

namespace nfx {
namespace {

EpollOptions transport_options(const EngineConfig& config) {
  EpollOptions options;
  // Every session, everybody who has not logged on yet, and as many again that are delivering their last bytes.
  options.max_connections = 2 * (config.sessions.size() + config.max_dynamic_sessions + config.max_pending_logons) + 16;
  options.max_listeners = std::min<std::size_t>(config.sessions.size() + config.max_dynamic_sessions + 1, 1024);
  return options;
}

void take_dictionary(SessionSettings& settings) {
  if (settings.dictionary) settings.session.dictionary = settings.dictionary.get();
}

// Sessions are told to log out, then given this much longer than their own timeout to be closed.
constexpr std::chrono::seconds stop_grace{3};

// The longest turn that found nothing to do. Written by the poll thread, read by any.
class IdleGap {
 public:
  void turn_began(MonotonicTime at) noexcept {
    if (idle_) {
      const Duration gap = at - last_;
      if (gap > worst_.load(std::memory_order_relaxed)) worst_.store(gap, std::memory_order_relaxed);
    }
    last_ = at;
  }
  void turn_ended(bool idle) noexcept { idle_ = idle; }
  [[nodiscard]] Duration worst() const noexcept { return worst_.load(std::memory_order_relaxed); }

 private:
  MonotonicTime last_{};
  bool idle_ = false;
  std::atomic<Duration> worst_{Duration::zero()};
};
static_assert(std::atomic<Duration>::is_always_lock_free);

}  // namespace

struct Engine::PollThread {
  PollThread(const EngineConfig& config, std::uint32_t number, Application& application)
      : transport(transport_options(config)), loop(config, number, transport, clock, application), idle(config.idle) {}

  std::size_t turn(Duration max_wait) {
    const std::size_t work = loop.turn(idle.max_wait(max_wait));
    gap.turn_began(loop.turn_began());
    gap.turn_ended(work == 0 && idle.mode() == IdleMode::spin);
    idle.idle(work);
    return work;
  }

  void run() {
    MonotonicTime give_up = MonotonicTime::max();
    for (;;) {
      turn(give_up == MonotonicTime::max() ? Duration::max() : Duration{std::chrono::milliseconds{20}});
      if (!stop.load(std::memory_order_acquire)) continue;
      const MonotonicTime now = clock.now().monotonic;
      if (give_up == MonotonicTime::max()) {
        loop.request_stop();
        give_up = now + longest_logout + stop_grace;
      }
      if (loop.finished() || now >= give_up) return;
    }
  }

  SystemClock clock;
  EpollTransport transport;
  PollLoop<EpollTransport, SystemClock> loop;
  IdleStrategy idle;
  IdleGap gap;
  std::atomic<bool> stop{false};
  std::chrono::seconds longest_logout{0};
};

struct Engine::Parts {
  explicit Parts(EngineConfig checked)
      : config(std::move(checked)), placement(config, load_this_machine, [] { return read_host_facts(HostFiles{}); }) {}

  EngineConfig config;
  EnginePlacement placement;
  std::vector<std::unique_ptr<PollThread>> threads;
  bool started = false;
  Application* application = nullptr;
  bool placed = false;  // the thread that calls turn()

  void watch() {
    placement.watch([this](const std::string& text) { application->on_placement_alert(text); });
  }

  // The numbers of sessions made later say which thread serves them.
  [[nodiscard]] PollThread& thread_of(std::size_t session) const noexcept {
    const std::size_t configured = config.sessions.size();
    return *threads[session < configured ? config.sessions[session].poll_thread
                                         : (session - configured) % threads.size()];
  }
};

Engine::Engine(EngineConfig config, Application& application) {
  check_config(config);
  parts_ = std::make_unique<Parts>(std::move(config));
  // The plan may have given sessions other threads.
  if (parts_->placement.plan() != nullptr) check_config(parts_->config);
  for (SessionSettings& settings : parts_->config.sessions) take_dictionary(settings);
  for (std::uint32_t i = 0; i < parts_->config.poll_threads; ++i) {
    parts_->placement.build(
        i, [&] { parts_->threads.push_back(std::make_unique<PollThread>(parts_->config, i, application)); });
    for (const SessionSettings& settings : parts_->config.sessions) {
      auto& longest = parts_->threads.back()->longest_logout;
      if (settings.poll_thread == i) longest = std::max(longest, settings.session.logout_timeout);
    }
  }
  parts_->application = &application;
}

Engine::~Engine() = default;

void Engine::start() {
  if (std::exchange(parts_->started, true)) return;
  for (const auto& thread : parts_->threads) thread->loop.start();
}

void Engine::run() {
  start();
  Parts& parts = *parts_;
  const auto serve = [&parts](std::uint32_t index) {
    parts.placement.enter(index);
    parts.threads[index]->run();
    parts.placement.leave();
  };
  std::vector<std::jthread> others;
  for (std::uint32_t i = 1; i < parts.threads.size(); ++i) others.emplace_back(serve, i);
  parts.watch();
  serve(0);
  others.clear();
  parts.placement.stop_watching();
}

std::size_t Engine::turn(Duration max_wait) {
  start();
  if (!std::exchange(parts_->placed, true)) {
    parts_->placement.enter(0);
    parts_->watch();
  }
  PollThread& thread = *parts_->threads[0];
  if (thread.stop.load(std::memory_order_acquire)) thread.loop.request_stop();
  return thread.turn(max_wait);
}

void Engine::stop() noexcept {
  for (const auto& thread : parts_->threads) {
    thread->stop.store(true, std::memory_order_release);
    thread->transport.wake();
  }
}

bool Engine::finished() const noexcept {
  return std::ranges::all_of(parts_->threads, [](const auto& thread) { return thread->loop.finished(); });
}

bool Engine::submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept {
  return parts_->thread_of(session).loop.submit(session, msg_type, body);
}

std::size_t Engine::add_session(SessionSettings settings) {
  take_dictionary(settings);
  if (settings.is_template) throw ConfigError("a template cannot be added while the engine runs");
  const std::string name = identity(settings.session);
  for (const auto& thread : parts_->threads) {
    if (thread->loop.knows(name)) throw ConfigError("the session " + name + " exists already");
  }
  const SessionConfig config = settings.session;
  settings.poll_thread = parts_->placement.join_mapping(settings);
  try {
    check_session(parts_->config, settings);
    const std::size_t session = parts_->threads[settings.poll_thread]->loop.add(std::move(settings));
    parts_->placement.joined_as(session, config);
    return session;
  } catch (...) {
    parts_->placement.withdraw(config);
    throw;
  }
}

bool Engine::remove_session(std::size_t session, std::string_view text) {
  if (!parts_->thread_of(session).loop.remove(session, std::string{text})) return false;
  parts_->placement.leave_mapping(session);
  return true;
}

std::optional<Endpoint> Engine::local_endpoint(std::size_t session) const {
  const SessionSettings& settings = parts_->config.sessions.at(session);
  return parts_->threads[settings.poll_thread]->loop.local_endpoint(settings.listen);
}

const PlacementPlan* Engine::plan() const noexcept { return parts_->placement.plan(); }

const std::vector<std::string>& Engine::placement_warnings() const noexcept { return parts_->placement.warnings(); }

std::vector<ThreadReport> Engine::thread_reports() const {
  std::vector<ThreadReport> reports = parts_->placement.reports();
  for (ThreadReport& report : reports) {
    for (std::size_t i = 0; i < parts_->threads.size(); ++i) {
      if (report.name == "nfx-poll-" + std::to_string(i)) report.worst_idle_gap = parts_->threads[i]->gap.worst();
    }
  }
  return reports;
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

const EngineConfig& Engine::config() const noexcept { return parts_->config; }

PollLoopCounters Engine::counters() const noexcept {
  PollLoopCounters sum;
  for (const auto& thread : parts_->threads) {
    const PollLoopCounters& one = thread->loop.counters();
    sum.pending_accepted += one.pending_accepted;
    sum.pending_refused += one.pending_refused;
    sum.pending_timed_out += one.pending_timed_out;
    sum.pending_rejected += one.pending_rejected;
    sum.dynamic_refused += one.dynamic_refused;
  }
  return sum;
}

SessionHandle* Engine::session(std::size_t id) noexcept { return parts_->thread_of(id).loop.find(id); }

}  // namespace nfx
