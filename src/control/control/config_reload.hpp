// Applies a changed configuration file while the engine runs: lists the changes, then makes the changes that do not
// disturb a session that is logged on. First every key of the file is read and checked, and so are the sessions to be
// added. Then sessions are added, replaced, changed and removed, in this order.
// Thread: one, not a poll thread; command() and replaced() are for another one. Cost: reads the file; carry_out() waits
// for poll threads, at most two seconds for each session, and five for a replaced one. Errors: an invalid file is a
// status, with the line; nothing is changed then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_changes.hpp"
#include "engine/engine_operations.hpp"

namespace nfx::control {

struct SessionChange {
  enum class Kind : std::uint8_t { add, remove, change };

  std::string name{};
  Kind kind = Kind::change;
  ChangeNeeds needs = ChangeNeeds::nothing;  // needed now: without a connection no disconnect is needed
  std::string why{};                         // the reason, if the keys do not show it
  std::vector<KeyChange> keys{};
};

[[nodiscard]] std::string_view to_string(SessionChange::Kind kind) noexcept;

enum class ReloadStatus : std::uint8_t {
  planned,        // nothing was changed
  nothing_to_do,  // the engine already runs with this configuration
  done,           // everything was changed
  incomplete,     // some changes need a disconnect or a restart, or failed
  invalid,        // an error in the file; nothing was changed
  no_file,        // a program created the configuration
  stopping,       // the engine is stopping or draining
  not_answering,  // a poll thread does not answer; nothing was changed
  no_such_session,
  being_removed,  // the session is being removed
};

struct ReloadReport {
  ReloadStatus status = ReloadStatus::planned;
  std::string problem{};  // for invalid, no_file, stopping and not_answering
  std::vector<SessionChange> sessions{};
  std::vector<KeyChange> engine{};      // keys of other sections
  std::vector<std::string> problems{};  // failures while the changes were made
};

// The engine that a reload changes: an Engine, or the simulator's. Each function works like the one of the same name in
// Engine, and waits as long for poll threads.
class ReloadedEngine {
 public:
  virtual ~ReloadedEngine() = default;
  [[nodiscard]] virtual const EngineConfig& config() const = 0;  // the configuration it started with
  [[nodiscard]] virtual ConfigWithKeys read_file() = 0;          // the current file; throws ConfigError
  [[nodiscard]] virtual SessionList list_sessions() = 0;
  virtual void check_added(const SessionSettings& settings) const = 0;
  virtual void add_session(const SessionSettings& settings, AddedSession as) = 0;
  virtual CommandOutcome command(std::size_t session, const SessionCommand& command) = 0;
  virtual CommandOutcome change_session(std::size_t session, const SessionSettings& settings,
                                        std::string_view what) = 0;
  virtual void wait(Duration time) = 0;
  [[nodiscard]] virtual bool stopping() const = 0;
};

class ConfigReload {
 public:
  // `file` is the engine's configuration file. The engine must outlive this object.
  ConfigReload(ReloadedEngine& engine, std::string file);

  [[nodiscard]] ReloadReport plan();
  [[nodiscard]] ReloadReport carry_out(std::string_view who);

  // One [[session]] given as text by an operator. added() remembers a new session, so that a later text can be compared
  // with it; change() applies a text to a running session. If that is not possible now, nothing is changed:
  // `incomplete`.
  void added(std::string_view text, const std::string& name);
  [[nodiscard]] ReloadReport change(const SessionStatus& there, SessionSettings settings, std::string_view text,
                                    std::string_view who);

  // A command of an operator, possibly during a reload. Returns `busy` if the reload is replacing this session, because
  // the new session would lose the command's change.
  [[nodiscard]] CommandOutcome command(std::size_t session, const SessionCommand& command);
  // The number of the session with this name that is being replaced.
  [[nodiscard]] std::optional<std::size_t> replaced(std::string_view name);

 private:
  struct Replaced {
    std::size_t number;
    std::string name;
  };
  struct Running {
    GivenKeys keys;
    bool in_file = false;  // and is removed when it no longer is
  };
  // A change of a session, and its requirements.
  struct Step {
    SessionChange change{};
    std::size_t number = 0;                     // number of the running session
    std::optional<SessionSettings> settings{};  // new settings; empty: it is removed
    GivenKeys keys{};
    bool in_file = true;
    bool replaces = false;
  };
  struct Plan {
    ReloadReport report;
    ConfigWithKeys file;
    std::vector<Step> steps;
  };

  void learn_running();
  [[nodiscard]] Plan make_plan();
  // Empty if nothing has to change. `there` is the running session, or null.
  [[nodiscard]] std::optional<Step> step_of(SessionSettings settings, const GivenKeys& keys,
                                            const SessionStatus* there) const;
  void plan_fixed(std::size_t index, Plan& plan);
  void plan_removals(const SessionList& running, Plan& plan);
  void require_addable(Step& step) const;
  // Returns the failure; empty on success.
  [[nodiscard]] std::string carry_out(Step& step, std::string_view who);
  [[nodiscard]] std::string replace(std::size_t number, const SessionSettings& settings, std::string_view who);
  void set_replaced(std::optional<Replaced> replaced);

  ReloadedEngine& engine_;
  const std::string file_;
  bool learnt_ = false;
  ConfigKeys before_;  // sections that the engine started with
  std::map<std::string, Running, std::less<>> running_;
  std::map<std::string, GivenKeys, std::less<>> fixed_;  // templates and replicated sessions
  // An operator's decisions about removed sessions that could not be added again yet.
  std::map<std::string, AddedSession, std::less<>> to_add_again_;
  std::mutex replaced_mutex_;
  std::optional<Replaced> replaced_;
};

}  // namespace nfx::control
