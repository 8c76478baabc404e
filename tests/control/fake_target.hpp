// A target that records what was changed, and an audit log that keeps its lines.
#pragma once

#include <string>
#include <vector>

#include "control/api.hpp"

namespace nfx::control {

class FakeTarget final : public Target {
 public:
  CommandOutcome command(std::size_t session, const SessionCommand& command) override {
    commands.push_back(command);
    if (session != 3) return {.status = CommandStatus::no_such_session};
    if (!row_of(command.kind).only_reads) ++changes;
    CommandOutcome outcome = next;
    outcome.session = status();
    return outcome;
  }
  Engine::SessionList sessions() override { return {.sessions = {status()}, .complete = answers}; }
  std::optional<std::size_t> find(std::string_view name) override {
    return name == "FIX.4.4:A->B" ? std::optional<std::size_t>{3} : std::nullopt;
  }
  EngineView engine() override {
    EngineView view;
    view.draining = draining;
    return view;
  }
  std::vector<ThreadReport> threads() override { return {}; }
  std::vector<std::string> placement_warnings() override { return {}; }
  bool add_metrics(MetricsPage& page) override {
    page.counter({"nfx_test_total", "A test."}, 7);
    return answers;
  }
  void stop() override { ++changes; }
  bool drain(std::string_view) override {
    ++changes;
    return answers;
  }
  bool end_drain() override {
    ++changes;
    return answers;
  }
  std::vector<std::string> reload_tls() override {
    ++changes;
    return {};
  }

  static SessionStatus status() {
    SessionStatus session;
    session.number = 3;
    session.name = "FIX.4.4:A->B";
    session.next_in = SeqNum{5};
    session.next_out = SeqNum{9};
    return session;
  }

  CommandOutcome next{.status = CommandStatus::done};
  std::vector<SessionCommand> commands;
  int changes = 0;
  bool answers = true;
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

inline Caller caller_of(Role role, std::string via = "http") {
  return {.role = role, .name = "alice", .via = std::move(via)};
}

}  // namespace nfx::control
