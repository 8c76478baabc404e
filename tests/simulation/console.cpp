// Carries out reloads on a simulated poll loop, and compares the running sessions afterwards with the file and the
// report.
#include "simulation/console.hpp"

#include <algorithm>
#include <utility>

#include "config/listen_index.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;
using control::ReloadReport;
using control::ReloadStatus;

constexpr const char* file_name = "engine.toml";
constexpr const char* who = "alice";

[[nodiscard]] bool waits(const ReloadReport& report, ChangeNeeds needs) {
  return std::ranges::any_of(report.sessions, [needs](const auto& each) { return each.needs == needs; });
}

// Whether the report says that this session differs from the file.
[[nodiscard]] bool is_left(const ReloadReport& report, std::string_view name) {
  return std::ranges::any_of(
             report.sessions,
             [&](const auto& each) { return each.name == name && each.needs != ChangeNeeds::nothing; }) ||
         std::ranges::any_of(report.problems,
                             [&](const std::string& each) { return each.starts_with(std::string{name} + ": "); });
}

}  // namespace

Console::Console(Side side, Party& party, Ledger& ledger, Trace& trace, Surroundings world)
    : side_(side), party_(party), ledger_(ledger), trace_(trace), world_(std::move(world)) {}

// False if no process takes the request, or if it has ended before the answer.
template <class Work>
bool Console::in_process(Work&& work) {
  if (!party_.running() || party_.stopping()) return false;
  if (!reload_ || process_ != party_.process()) {
    process_ = party_.process();
    reload_.emplace(*this, file_name);
    added_.clear();
    lost_.clear();
  }
  changes_ = 0;
  may_change_ = true;
  try {
    work();
    return !party_.stopping();
  } catch (const ProcessEnded&) {
    ++counts_.cut_off;
    trace_.add(side_, "a reload ends with its process");
    return false;
  }
}

void Console::require_alive() const {
  if (!party_.running() || party_.process() != process_ || ledger_.violation()) throw ProcessEnded{};
}

void Console::pass_until(MonotonicTime until) {
  world_.pass(until);
  require_alive();
}

// Like call_on() of a real poll thread, which wakes up for it.
CommandStatus Console::call(const LoopCall::Work& work) {
  world_.disturb();
  require_alive();
  bool done = false;
  const auto made = std::make_shared<LoopCall>([&](OperatorRequests& requests) {
    try {
      work(requests);
    } catch (const std::exception& error) {
      const Holding world{Holder::world};
      violate(std::string{"a command of a reload throws: "} + error.what());
    }
    done = true;
  });
  if (!party_.loop().push(made)) return CommandStatus::busy;
  const MonotonicTime give_up = world_.now() + command_timeout;
  try {
    pass_until(world_.now() + 1us);
    while (!done && world_.now() < give_up) pass_until(give_up);
  } catch (const ProcessEnded&) {
    static_cast<void>(made->wait(0ns));  // `work` borrows from here
    throw;
  }
  return made->wait(0ns) ? CommandStatus::done : CommandStatus::timed_out;
}

ConfigWithKeys Console::read_file() {
  ConfigWithKeys read{parse_config(file_, file_name, "/"), keys_of(file_, file_name)};
  read.config.file_text = file_;
  return read;
}

SessionList Console::list_sessions() {
  SessionList list;
  std::vector<SessionStatus> rows(8);
  for (SessionStatus& row : rows) {
    row.name.reserve(256);
    row.peer.reserve(256);
  }
  SessionPage page;
  list.complete = call([&](OperatorRequests& requests) { page = requests.list(0, rows); }) == CommandStatus::done;
  if (!list.complete) return list;
  list.sessions.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(page.count));
  std::erase_if(list.sessions, [](const SessionStatus& each) { return each.removing; });
  std::ranges::sort(list.sessions, {}, &SessionStatus::number);
  return list;
}

void Console::check_added(const SessionSettings& settings) const {
  ListenIndex listening;
  for (const SessionSettings& each : party_.config().sessions) listening.add(each);
  check_session(party_.config(), listening, settings);
}

void Console::add_session(const SessionSettings& settings, AddedSession as) {
  ++changes_;
  if (!may_change_) violate("a plan adds a session");
  world_.disturb();
  require_alive();
  const std::string name = identity(settings.session);
  if (party_.loop().knows(name)) throw ConfigError("the session " + name + " exists already");
  check_added(settings);
  if (defect_ == Defect::adds_disabled) as.enabled = false;
  party_.add_session(settings, as);
}

CommandOutcome Console::command(std::size_t session, const SessionCommand& command) {
  ++changes_;
  if (!may_change_) violate("a plan gives a session a command");
  CommandOutcome outcome;
  const CommandStatus result = call([&](OperatorRequests& requests) {
    const CommandOutcome carried_out = requests.command(session, command);
    const Holding world{Holder::world};
    trace_.add(side_, "reload", static_cast<std::uint64_t>(carried_out.status), row_of(command.kind).name);
    outcome = carried_out;
  });
  if (result != CommandStatus::done) outcome.status = result;
  return outcome;
}

// There must be no other result.
CommandOutcome Console::change_session(std::size_t session, const SessionSettings& settings, std::string_view what) {
  ++changes_;
  if (!may_change_) violate("a plan changes a session");
  check_added(settings);
  if (defect_ == Defect::changes_nothing) return {.status = CommandStatus::done};
  CommandOutcome outcome;
  const CommandStatus result = call([&](OperatorRequests& requests) {
    const SessionHandle* const there = party_.loop().find(session);
    if (there == nullptr) {
      outcome.status = CommandStatus::no_such_session;
      return;
    }
    const NextNumbers before{.in = there->next_inbound(), .out = there->next_outbound()};
    const bool was_logged_on = there->logged_on();
    SessionSettings changed = settings;
    SessionConfig rules = changed.session;
    const CommandStatus status = requests.change(session, changed, rules, what).status;
    const Holding world{Holder::world};
    trace_.add(side_, "reload", static_cast<std::uint64_t>(status), "change");
    outcome.status = status;
    if (status == CommandStatus::no_such_session || status == CommandStatus::being_removed) return;
    if (status != CommandStatus::done ||
        before != NextNumbers{.in = there->next_inbound(), .out = there->next_outbound()} ||
        was_logged_on != there->logged_on())
      violate("a reload disturbed the session");
    if (party_.is_own(identity(settings.session))) party_.changed_to(settings);
  });
  if (result != CommandStatus::done) outcome.status = result;
  return outcome;
}

void Console::wait(Duration time) {
  const MonotonicTime until = world_.now() + time;
  while (world_.now() < until) pass_until(until);
}

const SessionDriver* Console::find(std::size_t number) const {
  return static_cast<const SessionDriver*>(party_.loop().find(number));
}

// The actual sessions of the loop, without those being removed.
Console::AllRunning Console::running() const {
  AllRunning all;
  for (std::size_t number = 0; number < party_.numbers_used(); ++number) {
    const SessionDriver* const there = find(number);
    if (there == nullptr || there->removing()) continue;
    SessionSettings settings = there->settings();
    settings.session = there->config();
    all[there->name()] = {session_text(settings), {.enabled = there->enabled(), .sending_held = there->sending_held()}};
  }
  return all;
}

bool Console::reload(bool plan_first, std::string mistaken) {
  const bool is_mistaken = !mistaken.empty();
  file_ = is_mistaken ? std::move(mistaken) : party_.file().text();
  bool complete = false;
  const bool answered = in_process([&] {
    const AllRunning before = running();
    const std::uint64_t commands = party_.commands_done();
    if (plan_first) {
      may_change_ = false;
      const ReloadReport plan = reload_->plan();
      ++counts_.plans;
      if ((plan.status == ReloadStatus::invalid) != is_mistaken) violate("a plan: " + plan.problem);
      may_change_ = true;
    }
    const ReloadReport report = reload_->carry_out(who);
    ++counts_.by_status[static_cast<std::size_t>(report.status)];
    trace_.add(side_, "has reloaded its file", static_cast<std::uint64_t>(report.status),
               report.problems.empty() ? report.problem : report.problems.front());
    if (party_.stopping()) return;
    if ((report.status == ReloadStatus::invalid) != is_mistaken) return violate("a reload: " + report.problem);
    check(report, before, commands);
    complete = report.status == ReloadStatus::done || report.status == ReloadStatus::nothing_to_do ||
               (report.status == ReloadStatus::incomplete && report.problems.empty() &&
                !waits(report, ChangeNeeds::disconnect));
  });
  return !answered || complete;
}

void Console::check(const ReloadReport& report, AllRunning before, std::uint64_t commands_before) {
  switch (report.status) {
    case ReloadStatus::planned:
    case ReloadStatus::no_file:
    case ReloadStatus::stopping:
    case ReloadStatus::no_such_session:
    case ReloadStatus::being_removed: return violate("a reload ends with a status that it cannot have");
    case ReloadStatus::invalid:
    case ReloadStatus::not_answering:
      if (changes_ != 0) violate("a reload that was refused has changed something");
      return;
    case ReloadStatus::nothing_to_do:
      if (changes_ != 0) violate("a reload that had nothing to do has changed something");
      break;
    case ReloadStatus::incomplete:
      if (report.problems.empty() && !waits(report, ChangeNeeds::disconnect) && report.engine.empty())
        return violate("a reload is incomplete and its report does not state why");
      break;
    case ReloadStatus::done: break;
  }
  wait(1us);  // an added session exists from the next iteration on
  const AllRunning now = running();
  for (const auto& [name, as] : std::exchange(lost_, {})) before[name] = {.text = {}, .as = as};
  for (const auto& [name, was] : before) {
    const auto is = now.find(name);
    if (is == now.end() && is_left(report, name)) lost_[name] = was.as;
    if (is == now.end() || commands_before != party_.commands_done()) continue;
    if (is->second.as.enabled != was.as.enabled || is->second.as.sending_held != was.as.sending_held)
      violate("a reload has enabled, disabled, held or released the session " + name);
  }
  check_running(report, now);
}

// The running sessions must equal the file, except for the differences in the report.
void Console::check_running(const ReloadReport& report, const AllRunning& now) {
  AllRunning wanted;
  for (const SessionSettings& each : read_file().config.sessions)
    wanted[identity(each.session)] = {.text = session_text(each), .as = {}};
  for (const auto& [name, session] : wanted) {
    const auto there = now.find(name);
    const bool is_so = there != now.end() && there->second.text == session.text;
    const bool left = is_left(report, name);
    if (!is_so && !left && !world_.stalled())
      violate("after a reload the session " + name + (there == now.end() ? " does not run" : " has other settings") +
              ", and the report does not state it");
    if (!left) added_.erase(name);
  }
  for (const auto& [name, session] : now) {
    if (!wanted.contains(name) && !added_.contains(name) && !is_left(report, name))
      violate("after a reload the session " + name +
              " runs, which is not in the file, and the report does not state it");
  }
}

void Console::change(const SessionSettings& wanted) {
  const std::string text = session_text(wanted, party_.file().schedule);
  in_process([&] {
    const CommandOutcome there = command(party_.number(), {});
    if (!there) return;
    SessionSettings settings = parse_added_session(text, "config", "/", config());
    const ReloadReport report = reload_->change(there.session, settings, text, who);
    trace_.add(side_, "an operator has changed the session", static_cast<std::uint64_t>(report.status),
               report.problems.empty() ? std::string_view{} : report.problems.front());
    if (report.status != ReloadStatus::done) return;
    wait(1us);  // an added session exists from the next iteration on
    const AllRunning now = running();
    const auto is = now.find(there.session.name);
    if (!world_.stalled() && !party_.stopping() && (is == now.end() || is->second.text != session_text(settings)))
      violate("a session that was changed has other settings");
  });
}

void Console::add(const SessionSettings& wanted) {
  const std::string text = session_text(wanted, party_.file().schedule);
  in_process([&] {
    const std::string name = identity(wanted.session);
    static_cast<void>(command(party_.number(), {.kind = SessionCommandKind::remove, .text = "operator", .who = who}));
    const MonotonicTime until = world_.now() + 30s;
    while (party_.loop().knows(name) && world_.now() < until) wait(10ms);
    try {
      add_session(parse_added_session(text, "config", "/", config()), {});
    } catch (const std::exception& error) {
      return trace_.add(side_, "an operator cannot add the session", 0, error.what());
    }
    reload_->added(text, name);
    added_.insert(name);
    lost_.erase(name);
  });
}

void Console::wait_for_disconnect() {
  in_process([&] {
    const MonotonicTime until = world_.now() + 30s;
    for (;;) {
      const SessionDriver* const session = find(party_.number());
      if (session == nullptr || !session->connection().exists() || world_.now() >= until) return;
      wait(100ms);
    }
  });
}

}  // namespace nfx::simulation
