// An engine as the control plane sees it. Lifetime: borrows the engine. Thread: as Target's.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "control/target.hpp"
#include "engine/engine_operations.hpp"

namespace nfx::control {

class EngineTarget final : public Target {
 public:
  // `file` as make_control() has it.
  EngineTarget(Engine& engine, std::string file);
  CommandOutcome command(std::size_t session, const SessionCommand& command) override;
  SessionList sessions() override;
  AddOutcome add(std::string_view config) override;
  std::expected<std::size_t, CommandStatus> find(std::string_view name) override;
  bool answers() override { return operations_.answers(); }
  EngineView engine() override;
  std::vector<ThreadReport> threads() override { return engine_.thread_reports(); }
  std::vector<std::string> placement_warnings() override { return engine_.placement_warnings(); }
  std::vector<RunningThread> running_threads() override;
  std::optional<PlacementReport> placement() override;
  std::optional<LatencyReport> latency(LatencyWindow window) override;
  std::vector<SlowMoment> slowest(LatencyWindow window) override { return engine_.slowest(window); }
  RecentMessages messages(std::size_t session, std::uint64_t after, std::size_t most) override {
    return operations_.recent_messages(session, after, most);
  }
  StoreOutcome<StoreView> store(std::size_t session) override;
  StoreOutcome<StoreVerification> verify_store(std::size_t session, JournalPosition from) override;
  StoreOutcome<std::vector<RecentMessage>> store_tail(std::size_t session, std::size_t most) override;
  bool add_metrics(MetricsPage& page) override { return operations_.add_metrics(page); }
  void stop() override { engine_.stop(); }
  bool drain(std::string_view text) override;
  bool end_drain() override;
  std::vector<std::string> reload_tls() override { return engine_.reload_tls(); }
  ReloadReport plan_reload() override { return reload_.plan(); }
  ReloadReport reload(std::string_view who) override;
  ReloadReport change(std::size_t session, std::string_view config, std::string_view who) override;
  void set_log_level(LogLevel level) override;

 private:
  class Reloaded final : public ReloadedEngine {
   public:
    Reloaded(Engine& engine, const std::string& file) : engine_(engine), operations_(engine), file_(file) {}
    const EngineConfig& config() const override { return engine_.config(); }
    ConfigWithKeys read_file() override { return load_with_keys(file_); }
    SessionList list_sessions() override { return operations_.list_sessions(); }
    void check_added(const SessionSettings& settings) const override { operations_.check_added(settings); }
    void add_session(const SessionSettings& settings, AddedSession as) override;
    CommandOutcome command(std::size_t session, const SessionCommand& command) override {
      return operations_.command(session, command);
    }
    CommandOutcome change_session(std::size_t session, const SessionSettings& settings,
                                  std::string_view what) override {
      return operations_.change_session(session, settings, what);
    }
    void wait(Duration time) override;
    bool stopping() const override { return engine_.stopping(); }

   private:
    Engine& engine_;
    EngineOperations operations_;
    const std::string& file_;
  };

  // Throws ConfigError, with the line.
  [[nodiscard]] SessionSettings settings_of(std::string_view config) const;

  Engine& engine_;
  EngineOperations operations_;
  const std::string file_;
  Reloaded reloaded_{engine_, file_};
  ConfigReload reload_{reloaded_, file_};
  const UtcTime started_;
  // Of sessions seen in a list. A number is never used again, and one that is gone has no session.
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::atomic<bool> draining_{false};  // of both threads
};

}  // namespace nfx::control
