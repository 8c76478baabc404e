// Compares the file with the running sessions, and makes the changes that are possible now.
#include "control/config_reload.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/enumerator_name.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/log/line_log.hpp"

namespace nfx::control {
namespace {

// Time for the old session of this name to leave its poll thread and to close its journal.
constexpr std::chrono::seconds time_to_replace{5};
constexpr std::chrono::milliseconds before_next_try{2};

const SessionStatus* find(const SessionList& running, std::string_view name) noexcept {
  const auto found = std::ranges::find(running.sessions, name, &SessionStatus::name);
  return found == running.sessions.end() ? nullptr : &*found;
}

bool has_session(const EngineConfig& config, std::string_view name) {
  return std::ranges::any_of(config.sessions,
                             [name](const SessionSettings& each) { return identity(each.session) == name; });
}

// "changed connect, heartbeat_timeout_percent, by alice"
std::string line_of(const std::vector<KeyChange>& keys, std::string_view who) {
  std::string line;
  for (const KeyChange& each : keys) line.append(line.empty() ? "changed " : ", ").append(each.key);
  return line.append(", by ").append(who);
}

// A template, or a session that starts and ends by other means than a reload.
bool is_fixed(const SessionSettings& settings) noexcept { return settings.is_template || settings.is_replicated(); }

bool is_now(const SessionChange& change) noexcept { return change.needs == ChangeNeeds::nothing; }

}  // namespace

std::string_view to_string(SessionChange::Kind kind) noexcept { return enumerator_name(kind); }

ConfigReload::ConfigReload(ReloadedEngine& engine, std::string file) : engine_(engine), file_(std::move(file)) {}

// Called when first needed: learns the configuration that the engine started with.
void ConfigReload::learn_running() {
  if (std::exchange(learnt_, true)) return;
  const EngineConfig& config = engine_.config();
  before_ = keys_of(config.file_text, file_);
  for (std::size_t i = 0; i < config.sessions.size() && i < before_.sessions.size(); ++i) {
    const std::string name = identity(config.sessions[i].session);
    if (is_fixed(config.sessions[i])) {
      fixed_[name] = std::move(before_.sessions[i]);
    } else {
      running_[name] = {.keys = std::move(before_.sessions[i]), .in_file = true};
    }
  }
  before_.sessions.clear();
}

void ConfigReload::added(std::string_view text, const std::string& name) {
  if (engine_.config().file_text.empty()) return;
  to_add_again_.erase(name);
  learn_running();
  ConfigKeys keys = keys_of(text, "config");
  running_[name] = {.keys = std::move(keys.sessions.at(0)), .in_file = false};
}

// A session that add_session() refuses waits for a restart.
void ConfigReload::require_addable(Step& step) const {
  try {
    engine_.check_added(*step.settings);
  } catch (const std::exception& error) {
    step.change.needs = ChangeNeeds::restart;
    step.change.why = error.what();
  }
}

std::optional<ConfigReload::Step> ConfigReload::step_of(SessionSettings settings, const GivenKeys& keys,
                                                        const SessionStatus* there) const {
  Step step{.change = {.name = identity(settings.session)}, .settings = std::move(settings), .keys = keys};
  SessionChange& change = step.change;
  if (there == nullptr) {
    change.kind = SessionChange::Kind::add;
    require_addable(step);
    return step;
  }
  step.number = there->number;
  const auto known = running_.find(change.name);
  if (known != running_.end() && !there->from_template) {
    change.keys = changes_of_session(known->second.keys, keys);
    if (change.keys.empty()) return std::nullopt;
    change.needs = need_of(change.keys);
    step.replaces = change.needs != ChangeNeeds::nothing;
  } else {
    change.why = there->from_template ? "a template has made it" : "the program has added it";
    step.replaces = true;
  }
  if (step.replaces) {
    change.needs = there->connected ? ChangeNeeds::disconnect : ChangeNeeds::nothing;
    require_addable(step);
  }
  return step;
}

// Templates, and sessions that exist only while a gateway of a cluster owns them.
void ConfigReload::plan_fixed(std::size_t index, Plan& plan) {
  const SessionSettings& settings = plan.file.config.sessions[index];
  Step step{.change = {.name = identity(settings.session),
                       .needs = ChangeNeeds::restart,
                       .why = settings.is_template ? "it is a template" : "it is replicated, or was"}};
  const auto fixed = fixed_.find(step.change.name);
  const auto known = running_.find(step.change.name);
  if (fixed == fixed_.end() && known == running_.end()) {
    step.change.kind = SessionChange::Kind::add;
  } else {
    step.change.keys =
        changes_of_session(fixed != fixed_.end() ? fixed->second : known->second.keys, plan.file.keys.sessions[index]);
    if (step.change.keys.empty()) return;
  }
  plan.steps.push_back(std::move(step));
}

void ConfigReload::plan_removals(const SessionList& running, Plan& plan) {
  const auto in_new_file = [&plan](std::string_view name) { return has_session(plan.file.config, name); };
  for (const auto& [name, known] : running_) {
    const SessionStatus* there = find(running, name);
    if (!known.in_file || there == nullptr || in_new_file(name)) continue;
    plan.steps.push_back({.change = {.name = name, .kind = SessionChange::Kind::remove}, .number = there->number});
  }
  for (const auto& [name, keys] : fixed_) {
    if (in_new_file(name)) continue;
    plan.steps.push_back({.change = {.name = name,
                                     .kind = SessionChange::Kind::remove,
                                     .needs = ChangeNeeds::restart,
                                     .why = "it is a template, or replicated"}});
  }
}

ConfigReload::Plan ConfigReload::make_plan() {
  Plan plan;
  ReloadReport& report = plan.report;
  if (engine_.config().file_text.empty()) {
    report.status = ReloadStatus::no_file;
    report.problem = "the program built this configuration: no file to reload";
    return plan;
  }
  try {
    learn_running();
    plan.file = engine_.read_file();
    for (SessionSettings& each : plan.file.config.sessions) use_program_store(each, file_);
    check_config(plan.file.config);
  } catch (const std::exception& error) {
    report.status = ReloadStatus::invalid;
    report.problem = error.what();
    return plan;
  }
  const SessionList running = engine_.list_sessions();
  if (!running.complete) {
    report.status = ReloadStatus::not_answering;
    report.problem = "a poll thread did not answer in time";
    return plan;
  }
  for (std::size_t i = 0; i < plan.file.config.sessions.size(); ++i) {
    const SessionSettings& settings = plan.file.config.sessions[i];
    const std::string name = identity(settings.session);
    if (is_fixed(settings) || fixed_.contains(name)) {
      plan_fixed(i, plan);
      continue;
    }
    auto step = step_of(settings, plan.file.keys.sessions[i], find(running, name));
    if (step) {
      plan.steps.push_back(*std::move(step));
    } else {
      running_[name].in_file = true;  // as added by an operator
    }
  }
  plan_removals(running, plan);
  report.engine = changes_of_engine(before_, plan.file.keys);
  return plan;
}

ReloadReport ConfigReload::plan() {
  Plan plan = make_plan();
  for (Step& each : plan.steps) plan.report.sessions.push_back(std::move(each.change));
  return std::move(plan.report);
}

ReloadReport ConfigReload::carry_out(std::string_view who) {
  Plan plan = make_plan();
  ReloadReport& report = plan.report;
  if (report.status != ReloadStatus::planned) return std::move(report);
  // A new session may need the place of one that is removed; but sessions that cannot be added are detected before any
  // is removed.
  const auto order = [](const Step& step) {
    return step.change.kind == SessionChange::Kind::add ? 0 : step.replaces ? 1 : step.settings ? 2 : 3;
  };
  // The cause that removed one session would remove the others too.
  bool has_lost = false;
  for (int turn = 0; turn < 4; ++turn) {
    for (Step& step : plan.steps) {
      if (order(step) != turn || !is_now(step.change)) continue;
      std::string failed;
      if (engine_.stopping()) {
        failed = "unchanged: the engine stops";
      } else if (has_lost) {
        failed = "unchanged: another session could not be added again";
      } else {
        failed = carry_out(step, who);
        has_lost = step.replaces && to_add_again_.contains(step.change.name);
      }
      if (!failed.empty()) report.problems.push_back(step.change.name + ": " + failed);
    }
  }
  std::erase_if(to_add_again_, [&plan](const auto& each) { return !has_session(plan.file.config, each.first); });
  for (const KeyChange& each : report.engine) {
    if (each.section != "log" || each.key != "level") continue;
    LineLog::set_least_level(plan.file.config.log.level);
    GivenKeys& log = before_.sections["log"];
    const auto given = plan.file.keys.sections["log"].find("level");
    if (given == plan.file.keys.sections["log"].end()) {
      log.erase("level");
    } else {
      log["level"] = given->second;
    }
  }
  const auto waits = [](const Step& step) { return !is_now(step.change); };
  const bool all =
      report.problems.empty() && std::ranges::none_of(plan.steps, waits) &&
      std::ranges::none_of(report.engine, [](const KeyChange& each) { return each.needs != ChangeNeeds::nothing; });
  report.status = !all                                          ? ReloadStatus::incomplete
                  : plan.steps.empty() && report.engine.empty() ? ReloadStatus::nothing_to_do
                                                                : ReloadStatus::done;
  for (Step& each : plan.steps) report.sessions.push_back(std::move(each.change));
  return std::move(report);
}

std::string ConfigReload::carry_out(Step& step, std::string_view who) {
  const std::string& name = step.change.name;
  std::string failed;
  try {
    if (!step.settings) {
      const CommandOutcome outcome = engine_.command(
          step.number, {.kind = SessionCommandKind::remove, .text = "removed", .who = std::string{who}});
      if (!outcome) failed = explain(outcome);
    } else if (step.change.kind == SessionChange::Kind::add) {
      const auto before = to_add_again_.find(name);
      engine_.add_session(*step.settings, before == to_add_again_.end() ? AddedSession{} : before->second);
    } else if (step.replaces) {
      failed = replace(step.number, *step.settings, who);
    } else {
      const CommandOutcome outcome =
          engine_.change_session(step.number, *step.settings, line_of(step.change.keys, who));
      if (!outcome) failed = explain(outcome);
    }
  } catch (const std::exception& error) {
    failed = error.what();
  }
  if (!failed.empty()) return failed;
  to_add_again_.erase(name);
  if (step.settings) {
    running_[name] = {.keys = std::move(step.keys), .in_file = step.in_file};
  } else {
    running_.erase(name);
  }
  return {};
}

ReloadReport ConfigReload::change(const SessionStatus& there, SessionSettings settings, std::string_view text,
                                  std::string_view who) {
  ReloadReport report;
  if (!engine_.config().file_text.empty()) learn_running();
  if (is_fixed(settings) || fixed_.contains(there.name)) {
    report.status = ReloadStatus::incomplete;
    report.sessions.push_back(
        {.name = there.name, .needs = ChangeNeeds::restart, .why = "it is replicated: change the file"});
    return report;
  }
  const ConfigKeys keys = keys_of(text, "config");
  auto step = step_of(std::move(settings), keys.sessions.at(0), &there);
  if (!step) {
    report.status = ReloadStatus::nothing_to_do;
    return report;
  }
  report.status = ReloadStatus::incomplete;
  if (is_now(step->change)) {
    const auto known = running_.find(there.name);
    step->in_file = known != running_.end() && known->second.in_file;
    const std::string failed = carry_out(*step, who);
    if (failed.empty()) report.status = ReloadStatus::done;
    if (!failed.empty()) report.problems.push_back(there.name + ": " + failed);
  }
  report.sessions.push_back(std::move(step->change));
  return report;
}

CommandOutcome ConfigReload::command(std::size_t session, const SessionCommand& command) {
  const std::lock_guard lock{replaced_mutex_};
  if (replaced_ && replaced_->number == session) return {.status = CommandStatus::busy};
  return engine_.command(session, command);
}

std::optional<std::size_t> ConfigReload::replaced(std::string_view name) {
  const std::lock_guard lock{replaced_mutex_};
  return replaced_ && replaced_->name == name ? std::optional{replaced_->number} : std::nullopt;
}

void ConfigReload::set_replaced(std::optional<Replaced> replaced) {
  const std::lock_guard lock{replaced_mutex_};
  replaced_ = std::move(replaced);
}

// It stays disabled or held if an operator has decided so. Its journal closes on another thread and is then opened
// again.
std::string ConfigReload::replace(std::size_t number, const SessionSettings& settings, std::string_view who) {
  struct Ends {
    ConfigReload& reload;
    ~Ends() { reload.set_replaced(std::nullopt); }
  };
  const std::string name = identity(settings.session);
  set_replaced(Replaced{number, name});
  const Ends ends{*this};
  CommandOutcome outcome = engine_.command(number, {.kind = SessionCommandKind::show});
  if (!outcome) return std::string{explain(outcome)};
  const AddedSession as{.enabled = outcome.session.enabled, .sending_held = outcome.session.sending_held};
  // One command, so that nothing has changed if the poll thread does not take it.
  outcome =
      engine_.command(number, {.kind = SessionCommandKind::remove, .unless_connected = true, .who = std::string{who}});
  if (outcome.status == CommandStatus::refused) return "it has connected; reload when it is disconnected";
  if (!outcome) return std::string{explain(outcome)};
  to_add_again_[name] = as;
  for (auto left = time_to_replace / before_next_try;; --left) {
    try {
      engine_.add_session(settings, as);
      return {};
    } catch (const std::exception& error) {
      if (left == 0 || engine_.stopping())
        return std::string{"it is removed and could not be added again: "} + error.what() + "; reload once more";
    }
    engine_.wait(before_next_try);
  }
}

}  // namespace nfx::control
