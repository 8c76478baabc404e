// Pins threads as planned, restores them on leave(), and compares mask, migrations and switches with the plan.
#include "engine/engine_placement.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "config/placement.hpp"
#include "nexusfix/placement/machine.hpp"
#include "placement/place_thread.hpp"
#include "placement/thread_name.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx {
namespace {

std::string sentence(const PlanFinding& finding) {
  std::string text = finding.id + ": ";
  if (!finding.subject.empty()) text += finding.subject + ": ";
  text += finding.text;
  if (!finding.fix.empty()) text += "; " + finding.fix;
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " | ") + text;
  return all;
}

void read_thread(int tid, ThreadReport& report) {
  const auto sample = sample_thread(HostFiles{}, ::getpid(), tid);
  if (!sample) return;
  report.cpus = sample->allowed;
  report.voluntary_switches = sample->voluntary_switches;
  report.involuntary_switches = sample->involuntary_switches;
  report.migrations = sample->migrations;
}

}  // namespace

struct EnginePlacement::Entered {
  ThreadReport report;
  int tid = 0;
  bool running = true;
  // The CPUs that leave() restores.
  CpuSet old_cpus;
  std::array<char, 16> old_name{};
  int old_policy = SCHED_OTHER;
  sched_param old_parameters{};
};

EnginePlacement::EnginePlacement(EngineConfig& config, const std::function<Topology()>& topology,
                                 const std::function<HostFacts()>& host)
    : request_(placement_request(config)) {
  if (!request_.enabled) return;
  plan_ = plan_engine(config, topology(), host());
  std::vector<std::string> refusals;
  for (const PlanFinding& finding : plan_->findings) {
    if (finding.severity == Severity::refusal) refusals.push_back(sentence(finding));
    if (finding.severity == Severity::warning) warnings_.push_back(sentence(finding));
  }
  if (!refusals.empty()) throw ConfigError("[placement] " + joined(refusals));
  if (!warnings_.empty() && request_.on_violation == OnViolation::refuse)
    throw ConfigError("[placement] on_violation = \"refuse\": " + joined(warnings_));
  SessionCoreMapperConfig cpus{.allowed_cores = {}, .mapping = request_.mapping};
  for (const ThreadPlacement& thread : plan_->threads) {
    if (thread.role == ThreadRole::poll && thread.cpus.size() == 1) cpus.allowed_cores.push_back(thread.cpus.first());
  }
  std::ranges::sort(cpus.allowed_cores);
  if (cpus.allowed_cores.size() == request_.role(ThreadRole::poll).threads) mapper_.emplace(std::move(cpus));
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    config.sessions[i].poll_thread = plan_->session_threads.at(i);
    const SessionConfig& session = config.sessions[i].session;
    if (!mapper_) continue;
    mapper_->place(session.sender_comp_id, session.target_comp_id,
                   poll_thread(config.sessions[i].poll_thread).cpus.first());
    mapped_.emplace(i, std::pair{session.sender_comp_id, session.target_comp_id});
  }
}

EnginePlacement::~EnginePlacement() { stop_watching(); }

const ThreadPlacement* EnginePlacement::find(ThreadRole role, std::uint32_t index) const {
  const auto found = std::ranges::find_if(plan_->threads, [role, index](const ThreadPlacement& thread) {
    return thread.role == role && thread.index == index;
  });
  return found == plan_->threads.end() ? nullptr : &*found;
}

std::uint32_t EnginePlacement::join_mapping(const SessionSettings& settings) {
  const SessionConfig& session = settings.session;
  int cpu = session.cpu_affinity_core;
  if (cpu < 0 && !session.auto_pin_to_core) return settings.poll_thread;
  const std::string name = identity(session);
  if (!mapper_) {
    throw ConfigError(name +
                      " requests a core, but the poll threads are not pinned: set [placement], and "
                      "[engine] idle = \"spin\"");
  }
  const std::lock_guard lock{mapping_mutex_};
  if (cpu < 0) cpu = mapper_->add(session.sender_comp_id, session.target_comp_id);
  for (const ThreadPlacement& thread : plan_->threads) {
    if (thread.role == ThreadRole::poll && thread.cpus == CpuSet{cpu}) return thread.index;
  }
  throw ConfigError(name + ": cpu_affinity_core: no poll thread runs on CPU " + std::to_string(cpu) +
                    ". Poll threads are pinned once, at the start; choose a CPU that one of them runs on");
}

void EnginePlacement::withdraw(const SessionConfig& config) {
  const std::lock_guard lock{mapping_mutex_};
  if (mapper_ && config.auto_pin_to_core) mapper_->remove(config.sender_comp_id, config.target_comp_id);
}

void EnginePlacement::joined_as(std::size_t session, const SessionConfig& config) {
  if (!config.auto_pin_to_core || config.cpu_affinity_core >= 0) return;
  const std::lock_guard lock{mapping_mutex_};
  mapped_.insert_or_assign(session, std::pair{config.sender_comp_id, config.target_comp_id});
}

void EnginePlacement::leave_mapping(std::size_t session) {
  const std::lock_guard lock{mapping_mutex_};
  const auto found = mapped_.find(session);
  if (found == mapped_.end()) return;
  mapper_->remove(found->second.first, found->second.second);
  mapped_.erase(found);
}

// Empty when the calling thread now is where it should be.
std::string EnginePlacement::put_in_place(const ThreadPlacement& thread) const {
  const AffinityResult pinned = place_thread(thread.cpus);
  if (!pinned) return thread.name + " cannot run on CPU " + thread.cpus.to_list() + ": " + pinned.message();
  if (thread.priority > 0) {
    const AffinityResult priority = CpuAffinity::set_fifo_priority(thread.priority);
    if (!priority) {
      return thread.name + " cannot have real-time priority " + std::to_string(thread.priority) + ": " +
             priority.message();
    }
  }
  return {};
}

void EnginePlacement::violation(std::string text) {
  if (request_.on_violation == OnViolation::refuse) throw ConfigError("[placement] on_violation = \"refuse\": " + text);
  if (std::ranges::find(warnings_, text) == warnings_.end()) warnings_.push_back(std::move(text));
}

void EnginePlacement::build(std::uint32_t index, const std::function<void()>& make) {
  if (!plan_) return make();
  std::string problem;
  std::exception_ptr thrown;
  std::thread builder{[&] {
    CpuAffinity::name_thread("nfx-build-" + std::to_string(index));
    problem = put_in_place(poll_thread(index));
    try {
      make();
    } catch (...) {
      thrown = std::current_exception();
    }
  }};
  builder.join();
  if (thrown) std::rethrow_exception(thrown);
  if (!problem.empty()) violation(std::move(problem));
}

void EnginePlacement::enter(std::uint32_t index) {
  if (plan_) return enter_as(poll_thread(index));
  if (index != 0) CpuAffinity::name_thread(thread_name(ThreadRole::poll, index));
}

bool EnginePlacement::enter_role(ThreadRole role, std::uint32_t index) {
  CpuAffinity::name_thread(thread_name(role, index));
  if (!plan_) return false;
  // A helper started for a session that was added later is not in the plan: it runs on any CPU of the process.
  const ThreadPlacement* const thread = find(role, index);
  if (thread != nullptr) enter_as(*thread);
  return thread != nullptr;
}

void EnginePlacement::run_on_housekeeping(std::string_view name, const std::function<void()>& work) {
  struct Stay {
    EnginePlacement& placement;
    ~Stay() { placement.leave(); }
  };
  CpuAffinity::name_thread(name);
  if (plan_) {
    ThreadPlacement thread;
    thread.name = name;
    thread.cpus = plan_->housekeeping;
    enter_as(thread);
  }
  const Stay stay{*this};
  work();
}

void EnginePlacement::adopt_housekeeping(int tid, std::string_view name) {
  if (!plan_) return;
  static_cast<void>(CpuAffinity::set(plan_->housekeeping, tid));
  Entered entered;
  entered.tid = tid;
  entered.report.name = name;
  entered.report.planned = plan_->housekeeping;
  read_thread(tid, entered.report);
  const std::lock_guard lock{mutex_};
  entered_.push_back(std::move(entered));
}

void EnginePlacement::enter_as(const ThreadPlacement& thread) {
  Entered entered;
  entered.tid = ::gettid();
  entered.old_cpus = CpuAffinity::get();
  ::pthread_getname_np(::pthread_self(), entered.old_name.data(), entered.old_name.size());
  ::pthread_getschedparam(::pthread_self(), &entered.old_policy, &entered.old_parameters);
  entered.report.name = thread.name;
  entered.report.planned = thread.cpus;
  CpuAffinity::name_thread(thread.name);
  // Pinning succeeded when the thread was built; the monitor reports what has changed since then.
  static_cast<void>(put_in_place(thread));
  read_thread(entered.tid, entered.report);
  const std::lock_guard lock{mutex_};
  entered_.push_back(std::move(entered));
}

void EnginePlacement::leave() {
  if (!plan_) return;
  const std::lock_guard lock{mutex_};
  const auto found =
      std::ranges::find_if(entered_, [](const Entered& each) { return each.running && each.tid == ::gettid(); });
  if (found == entered_.end()) return;
  read_thread(found->tid, found->report);
  found->running = false;
  ::pthread_setschedparam(::pthread_self(), found->old_policy, &found->old_parameters);
  static_cast<void>(CpuAffinity::set(found->old_cpus));
  CpuAffinity::name_thread(found->old_name.data());
}

std::vector<ThreadReport> EnginePlacement::reports() const {
  const std::lock_guard lock{mutex_};
  std::vector<ThreadReport> reports;
  for (const Entered& each : entered_) {
    reports.push_back(each.report);
    if (each.running) read_thread(each.tid, reports.back());
  }
  std::ranges::sort(reports, natural_less, &ThreadReport::name);
  return reports;
}

ThreadReport EnginePlacement::counted(int tid, std::string name) {
  ThreadReport report;
  report.name = std::move(name);
  read_thread(tid, report);
  return report;
}

void EnginePlacement::watch(Alert alert) {
  if (!plan_ || request_.check_interval.count() == 0 || monitor_.joinable()) return;
  alert_ = std::move(alert);
  monitor_ = std::thread{[this] { run_on_housekeeping("nfx-monitor", [this] { monitor(); }); }};
}

void EnginePlacement::stop_watching() {
  if (!monitor_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  stop_changed_.notify_all();
  monitor_.join();
  stop_ = false;
}

void EnginePlacement::monitor() {
  CpuAffinity::give_way();
  std::unique_lock lock{mutex_};
  while (!stop_changed_.wait_for(lock, request_.check_interval, [this] { return stop_; })) {
    std::vector<std::string> alerts;
    for (Entered& each : entered_) {
      if (!each.running) continue;
      ThreadReport now = each.report;
      read_thread(each.tid, now);
      if (now.cpus != each.report.cpus && now.cpus != now.planned) {
        alerts.push_back(now.name + " was planned for CPU " + now.planned.to_list() + " and may now run on " +
                         now.cpus.to_list() + ": something outside the engine changed its mask");
      }
      // A thread that was asleep when it was put onto the housekeeping CPUs moves there when it wakes.
      const bool has_own_cpu = now.planned.size() == 1 && now.planned != plan_->housekeeping;
      if (has_own_cpu && now.migrations && each.report.migrations && *now.migrations > *each.report.migrations) {
        alerts.push_back(now.name + " was moved between CPUs " +
                         std::to_string(*now.migrations - *each.report.migrations) + " times");
      }
      if (now.planned.size() == 1 && plan_->isolated_cpus.contains_all(now.planned) && now.involuntary_switches &&
          each.report.involuntary_switches && *now.involuntary_switches > *each.report.involuntary_switches) {
        alerts.push_back(now.name + " lost CPU " + now.planned.to_list() + " to other tasks " +
                         std::to_string(*now.involuntary_switches - *each.report.involuntary_switches) + " times");
      }
      each.report = std::move(now);
    }
    lock.unlock();
    for (const std::string& text : alerts) alert_(text);
    lock.lock();
  }
}

}  // namespace nfx
