// A target that records changes, and an audit log that keeps its lines.
#pragma once

#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "control/api.hpp"

namespace nfx::control {

class FakeTarget final : public Target {
 public:
  CommandOutcome command(std::size_t session, const SessionCommand& command) override {
    commands.push_back(command);
    if (session != 3) return {.status = CommandStatus::no_such_session};
    CommandOutcome outcome = next;
    outcome.session = status();
    if (command.expected.in.value_or(outcome.session.next_in) != outcome.session.next_in ||
        command.expected.out.value_or(outcome.session.next_out) != outcome.session.next_out ||
        command.expected_revision.value_or(0) != 0) {
      outcome.status = CommandStatus::refused;
      outcome.refusal = OperatorResult::numbers_differ;
      return outcome;
    }
    if (!row_of(command.kind).only_reads) ++changes;
    return outcome;
  }
  SessionList sessions() override { return {.sessions = {status()}, .complete = all_answer}; }
  AddOutcome add(std::string_view config) override {
    added.emplace_back(config);
    if (next_add.status != AddStatus::added) return next_add;
    ++changes;
    AddOutcome outcome = next_add;
    outcome.session = status();
    return outcome;
  }
  bool answers() override {
    ++asked_all;
    return all_answer;
  }
  std::expected<std::size_t, CommandStatus> find(std::string_view name) override {
    if (name == "FIX.4.4:A->B") return 3;
    return std::unexpected(all_answer ? CommandStatus::no_such_session : CommandStatus::timed_out);
  }
  EngineView engine() override {
    EngineView view;
    view.draining = draining;
    return view;
  }
  std::vector<ThreadReport> threads() override { return {}; }
  std::vector<std::string> placement_warnings() override { return {}; }
  std::vector<RunningThread> running_threads() override {
    RunningThread thread;
    thread.sample.name = "nfx-poll-0";
    thread.sample.run_ns = 1'500'000;
    thread.poll_thread = 0;
    thread.cpu_stolen = std::chrono::milliseconds{30};
    return {thread};
  }
  std::optional<LatencyReport> latency(LatencyWindow window) override {
    windows.push_back(window);
    if (!measures) return std::nullopt;
    LatencyReport report;
    for (const char* name : {"FIX.4.4:A->B", "FIX.4.4:A->C"}) {
      SessionLatency& session = report.sessions.emplace_back();
      session.session = name;
      for (int i = 0; i < 100; ++i) session.stages[LatencyStage::in_application].record(std::chrono::microseconds{7});
    }
    report.threads.emplace_back().loop.handling.record(std::chrono::microseconds{9});
    return report;
  }
  std::vector<SlowMoment> slowest(LatencyWindow window) override {
    windows.push_back(window);
    SlowMoment moment;
    moment.took = std::chrono::milliseconds{3};
    moment.session = "FIX.4.4:A->B";
    moment.cause = SlowCause::disk;
    return {moment};
  }
  RecentMessages messages(std::size_t session, std::uint64_t after, std::size_t most) override {
    ++looks;
    RecentMessages recent;
    recent.status = session == 3 ? recent_status : CommandStatus::no_such_session;
    recent.dropped = 2;
    if (after < 7 && most != 0)
      recent.messages.push_back(
          {.number = 7, .direction = Direction::out, .size = 90, .fields = {{Tag::MsgType, "D"}, {Tag{58}, "a\\x0a"}}});
    return recent;
  }
  std::optional<PlacementReport> placement() override { return placed; }
  StoreOutcome<StoreView> store(std::size_t session) override {
    ++looks;
    return {.status = session == 3 ? CommandStatus::done : CommandStatus::no_such_session,
            .answer = {.journal = {.session = "FIX.4.4:A->B", .folder = "/store/1", .last = SeqNum{8}},
                       .segments = {.files = 2, .bytes = 4096}}};
  }
  StoreOutcome<StoreVerification> verify_store(std::size_t /*session*/, JournalPosition from) override {
    ++looks;
    StoreOutcome<StoreVerification> outcome = next_verified;
    outcome.answer.from = from;
    return outcome;
  }
  StoreOutcome<std::vector<RecentMessage>> store_tail(std::size_t /*session*/, std::size_t most) override {
    ++looks;
    return {.answer = std::vector<RecentMessage>(most, {.number = 8, .fields = {{Tag::MsgType, "D"}}})};
  }
  bool add_metrics(MetricsPage& page) override {
    page.counter({"nfx_test_total", "A test."}, 7);
    return all_answer;
  }
  void stop() override { ++changes; }
  bool drain(std::string_view) override {
    if (has_no_memory) throw std::bad_alloc{};
    ++changes;
    return all_answer;
  }
  bool end_drain() override {
    ++changes;
    return all_answer;
  }
  std::vector<std::string> reload_tls() override {
    ++changes;
    return {};
  }

  ReloadReport plan_reload() override { return next_reload; }
  ReloadReport reload(std::string_view) override { return changed(); }
  ReloadReport change(std::size_t session, std::string_view config, std::string_view) override {
    if (session != 3) return {.status = ReloadStatus::no_such_session};
    added.emplace_back(config);
    return changed();
  }
  void set_log_level(LogLevel level) override {
    ++changes;
    log_level = level;
  }
  ReloadReport changed() {
    ReloadReport report = next_reload;
    const bool refused = report.status != ReloadStatus::planned && report.status != ReloadStatus::incomplete;
    if (refused) return report;
    ++changes;
    if (report.status == ReloadStatus::planned) report.status = ReloadStatus::done;
    return report;
  }

  static SessionStatus status() {
    SessionStatus session;
    session.number = 3;
    session.name = "FIX.4.4:A->B";
    session.next_in = SeqNum{5};
    session.next_out = SeqNum{9};
    session.counters.messages_in = 11;
    session.counters.messages_out = 22;
    return session;
  }

  CommandOutcome next{.status = CommandStatus::done};
  std::vector<SessionCommand> commands;
  AddOutcome next_add{.status = AddStatus::added, .problem = {}};
  std::vector<std::string> added;
  ReloadReport next_reload{.sessions = {{.name = "FIX.4.4:A->B",
                                         .keys = {{.section = "session",
                                                   .key = "password",
                                                   .before = "\"***\"",
                                                   .after = "\"***\"",
                                                   .place = "engine.toml:7",
                                                   .needs = ChangeNeeds::nothing}}}}};
  LogLevel log_level = LogLevel::info;
  std::vector<LatencyWindow> windows;
  std::optional<PlacementReport> placed;
  StoreOutcome<StoreVerification> next_verified{.answer = {.to = 700, .complete = true, .segments = 1, .records = 9}};
  CommandStatus recent_status = CommandStatus::done;
  int looks = 0;
  bool measures = true;
  int changes = 0;
  bool all_answer = true;
  bool has_no_memory = false;
  int asked_all = 0;
  bool draining = false;
};

class FakeAudit final : public AuditLog {
 public:
  bool write(const Entry& entry) override {
    lines.push_back(std::string{entry.event} + ' ' + entry.caller.name + ' ' + std::string{entry.what} + ' ' +
                    std::string{entry.detail});
    return works;
  }
  std::vector<std::string> lines;
  bool works = true;
};

// A path of the route, and a body that it accepts.
inline std::string path_of(const Route& route, std::string_view session = "3") {
  std::string path = route.path;
  if (const auto at = path.find("{session}"); at != std::string::npos) path.replace(at, 9, session);
  return path;
}
inline std::string body_of(const Route& route) { return route.body_example; }

inline Caller caller_of(Role role, std::string via = "http") {
  return {.role = role, .name = "alice", .via = std::move(via)};
}

}  // namespace nfx::control
