// The control plane of a side's process, with one operator: plans and carries out reloads of the configuration file
// with src/control/control's code, on the simulated poll loop, and checks the results.
// Thread: one owner. Time passes within its functions. If the process ends meanwhile, the reload ends too.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "control/config_reload.hpp"
#include "engine/session_driver.hpp"
#include "simulation/party.hpp"

namespace nfx::simulation {

// The world around a console.
struct Surroundings {
  std::function<MonotonicTime()> now;
  std::function<void(MonotonicTime until)> pass;  // to the next event, or to `until`
  std::function<void()> disturb;                  // a fault may happen here
  std::function<bool()> stalled;                  // the poll thread does not run
};

struct ReloadCounts {
  std::array<std::uint64_t, 9> by_status{};  // of reloads with a report
  std::uint64_t plans = 0;
  std::uint64_t cut_off = 0;  // the process ended first

  ReloadCounts& operator+=(const ReloadCounts& more) noexcept {
    for (std::size_t i = 0; i < by_status.size(); ++i) by_status[i] += more.by_status[i];
    plans += more.plans;
    cut_off += more.cut_off;
    return *this;
  }
};

class Console final : public control::ReloadedEngine {
 public:
  Console(Side side, Party& party, Ledger& ledger, Trace& trace, Surroundings world);

  // The file is the party's, or this invalid text. True if nothing remains to be done except by a restart, or if the
  // next process will do it.
  bool reload(bool plan_first, std::string mistaken = {});
  // The session as given by an operator; add() first removes an existing one.
  void change(const SessionSettings& wanted);
  void add(const SessionSettings& wanted);
  // Waits until the session has no connection, at most half a minute.
  void wait_for_disconnect();

  void has(Defect defect) noexcept { defect_ = defect; }
  [[nodiscard]] const ReloadCounts& counts() const noexcept { return counts_; }

  // ReloadedEngine.
  const EngineConfig& config() const override { return party_.config(); }
  ConfigWithKeys read_file() override;
  SessionList list_sessions() override;
  void check_added(const SessionSettings& settings) const override;
  void add_session(const SessionSettings& settings, AddedSession as) override;
  CommandOutcome command(std::size_t session, const SessionCommand& command) override;
  CommandOutcome change_session(std::size_t session, const SessionSettings& settings, std::string_view what) override;
  void wait(Duration time) override;
  bool stopping() const override { return false; }

 private:
  struct ProcessEnded {};  // not a std::exception, so that nothing in the process can catch it
  struct Running {
    std::string text;
    AddedSession as;
  };
  using AllRunning = std::map<std::string, Running, std::less<>>;

  template <class Work>
  bool in_process(Work&& work);
  void require_alive() const;
  void pass_until(MonotonicTime until);
  [[nodiscard]] CommandStatus call(const LoopCall::Work& work);  // done, busy or timed_out
  [[nodiscard]] const SessionDriver* find(std::size_t number) const;
  [[nodiscard]] AllRunning running() const;
  void check(const control::ReloadReport& report, AllRunning before, std::uint64_t commands_before);
  void check_running(const control::ReloadReport& report, const AllRunning& now);
  void violate(const std::string& text) { ledger_.violate(side_, text); }

  Side side_;
  Party& party_;
  Ledger& ledger_;
  Trace& trace_;
  Surroundings world_;
  std::uint64_t process_ = 0;  // the process that `reload_` belongs to
  std::optional<control::ConfigReload> reload_;
  std::string file_;
  bool may_change_ = false;                                // whether anything ran in this request
  std::uint64_t changes_ = 0;                              // requests of that
  std::set<std::string, std::less<>> added_;               // added by an operator, and not in a file since
  std::map<std::string, AddedSession, std::less<>> lost_;  // sessions that a reload could not add again yet
  ReloadCounts counts_;
  Defect defect_ = Defect::none;
};

}  // namespace nfx::simulation
