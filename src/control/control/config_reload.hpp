// Reads a changed configuration file while the engine runs: what would change, and then what can without
// disturbing a session that is logged on. Every key of the file is read and checked first, and the sessions that are to
// be added; then sessions are added, replaced, changed and removed, in this order.
// Thread: one, not a poll thread; command() and replaced() are for another one. Cost: reads the file; carry_out() waits
// for poll threads, two seconds for each session at most, and five for one that is replaced. Errors: an invalid file is
// a status, with the line; nothing is changed then.
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
  ChangeNeeds needs = ChangeNeeds::nothing;  // now: what needs a disconnect and has no connection needs nothing
  std::string why{};                         // it needs that, where the keys do not show it
  std::vector<KeyChange> keys{};
};

[[nodiscard]] std::string_view to_string(SessionChange::Kind kind) noexcept;

enum class ReloadStatus : std::uint8_t {
  planned,        // nothing was changed
  nothing_to_do,  // the engine runs with what the file has
  done,           // all of it
  incomplete,     // some of it needs a disconnect or a restart, or failed
  invalid,        // the file; nothing was changed
  no_file,        // a program has made the configuration
  stopping,       // the engine stops or drains
  not_answering,  // a poll thread: nothing was changed
  no_such_session,
  being_removed,  // the session that was to be changed
};

struct ReloadReport {
  ReloadStatus status = ReloadStatus::planned;
  std::string problem{};  // of invalid, no_file, stopping and not_answering
  std::vector<SessionChange> sessions{};
  std::vector<KeyChange> engine{};      // of other sections
  std::vector<std::string> problems{};  // what failed while it was carried out
};

// What a reload does with the engine that it changes: an Engine, or the simulator's. Each function does what the one of
// the same name of Engine does, and waits for poll threads as long.
class ReloadedEngine {
 public:
  virtual ~ReloadedEngine() = default;
  [[nodiscard]] virtual const EngineConfig& config() const = 0;  // that it began with
  [[nodiscard]] virtual ConfigWithKeys read_file() = 0;          // as it is now; throws ConfigError
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
  // `file` is the one that the engine's configuration was read from. The engine outlives this.
  ConfigReload(ReloadedEngine& engine, std::string file);

  [[nodiscard]] ReloadReport plan();
  [[nodiscard]] ReloadReport carry_out(std::string_view who);

  // One [[session]] that an operator gives as text: what was added, so that a later text can be compared with it, and
  // what is to become of a session that runs. Where that needs what is not so now, nothing is changed: `incomplete`.
  void added(std::string_view text, const std::string& name);
  [[nodiscard]] ReloadReport change(const SessionStatus& there, SessionSettings settings, std::string_view text,
                                    std::string_view who);

  // A command of an operator while a reload may be carried out. `busy` where it replaces this very session: the one
  // that comes would not have what the command has changed.
  [[nodiscard]] CommandOutcome command(std::size_t session, const SessionCommand& command);
  // The number of the session of this name that is being replaced.
  [[nodiscard]] std::optional<std::size_t> replaced(std::string_view name);

 private:
  struct Replaced {
    std::size_t number;
    std::string name;
  };
  struct Running {
    GivenKeys keys;
    bool in_file = false;  // and is removed once it is not any more
  };
  // A change of a session, and what is needed to make it.
  struct Step {
    SessionChange change{};
    std::size_t number = 0;                     // of the session that runs
    std::optional<SessionSettings> settings{};  // new ones; empty: it is removed
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
  // Empty: it is so already. `there` is the session that runs, null: none.
  [[nodiscard]] std::optional<Step> step_of(SessionSettings settings, const GivenKeys& keys,
                                            const SessionStatus* there) const;
  void plan_fixed(std::size_t index, Plan& plan);
  void plan_removals(const SessionList& running, Plan& plan);
  void require_addable(Step& step) const;
  // Returns what failed; empty: nothing.
  [[nodiscard]] std::string carry_out(Step& step, std::string_view who);
  [[nodiscard]] std::string replace(std::size_t number, const SessionSettings& settings, std::string_view who);
  void set_replaced(std::optional<Replaced> replaced);

  ReloadedEngine& engine_;
  const std::string file_;
  bool learnt_ = false;
  ConfigKeys before_;  // sections that the engine began with
  std::map<std::string, Running, std::less<>> running_;
  std::map<std::string, GivenKeys, std::less<>> fixed_;  // templates and replicated sessions
  // What an operator had decided for sessions that are removed and could not be added again yet.
  std::map<std::string, AddedSession, std::less<>> to_add_again_;
  std::mutex replaced_mutex_;
  std::optional<Replaced> replaced_;
};

}  // namespace nfx::control
