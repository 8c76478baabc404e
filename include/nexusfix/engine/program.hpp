// The parts of nfx::run, for programs with a command line of their own; `nfx serve` is one.
// Thread: the main one, before any other. Cost: as an engine's. Errors: ConfigError and what Engine throws;
// report_exception() makes the line and the exit code of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/engine/run.hpp"
#include "nexusfix/log/line_log.hpp"

namespace nfx {

class Engine;

// What run_program() makes after the engine has started and destroys before it ends: the control plane, which is a
// library of its own. nfx::use_control() sets it, before any thread. A configuration with [control] is refused without.
using ControlPart = std::shared_ptr<void> (*)(Engine& engine, const std::string& file);
void set_control_part(ControlPart make) noexcept;
// For programs with their own Engine that link only the core: makes the control plane with the function that was set,
// if the configuration has [control]. It ends before the engine does. Throws ConfigError if none was set.
[[nodiscard]] std::shared_ptr<void> start_control_part(Engine& engine, const std::string& file = {});

// The same for the gateway of a cluster: nfx::use_cluster() sets it. A configuration with replicated sessions is
// refused without.
using ClusterPart = std::shared_ptr<void> (*)(Engine& engine, LineLog& lines);
void set_cluster_part(ClusterPart make) noexcept;

// A socket or journal could get the number of a closed standard descriptor and receive printed text. This opens a
// replacement that fails like a closed one.
void occupy_standard_descriptors() noexcept;

// A configuration of either format. Sessions whose store is not set have journals, in the folder "store" next to the
// file unless they name another. Warnings are lines on standard error, after the name of the program.
[[nodiscard]] EngineConfig load_program_config(const std::string& file, std::string_view program);

// The same for one session, with `file` as the configuration that it is added to.
void use_program_store(SessionSettings& session, const std::string& file);

// Prints what would run: sessions, addresses, stores, dictionaries. Reads the certificates and keys, checks whether the
// folders of journals can be made and written by this user, and listens on all addresses for a moment; throws
// ConfigError if the start would. An address in use is only a line on standard error, so that a configuration can be
// checked next to the engine that runs with it.
void print_program(EngineConfig config, const std::string& file, std::string_view program);

// Where messages are stored, in one line: "2 sessions have journals in /var/lib/desk/store".
[[nodiscard]] std::string store_text(const EngineConfig& config);

// Prints a line for each session that starts, serves until SIGINT or SIGTERM, and returns when all sessions are logged
// out. SIGHUP reloads certificates, keys and revocation lists. `file` is the configuration's path: paths of sessions
// that are added later are relative to it. Passwords are cleared in the environment: see hide_environment_secrets().
void run_program(EngineConfig config, Callbacks program, LineLog& lines, const std::string& file = {});

// Within a catch block: prints the exception as one line, and returns the exit code for it.
[[nodiscard]] int report_exception(std::string_view program) noexcept;

// Writes a line for each logon, logout, reject, notice, refused Logon and alert, as programs of nfx::run do on standard
// error, and counts the lines in the metrics. A program's own observer may derive from it.
// Thread: any; the lines are written by LineLog's. Cost: formats one line per event; nothing per message. Lifetime:
// both logs outlive it. When a log is full its lines are dropped and counted.
class LineObserver : public Observer {
 public:
  // `refusals` is for refused Logons; it may be the same log.
  LineObserver(LineLog& lines, LineLog& refusals) noexcept : lines_(lines), refusals_(refusals) {}

  void on_session_message(SessionHandle& session, const MessageView& message) override;
  void on_added(SessionHandle& session) override;
  void on_removed(SessionHandle& session) override;
  void on_session_up(SessionHandle& session) override;
  void on_session_down(SessionHandle& session, std::string_view reason) override;
  void on_cancel_due(SessionHandle& session, std::string_view reason) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  void on_logon_refused(const LogonRefusal& refusal) override;
  void on_alert(AlertKind kind, std::string_view text) override;
  void on_metrics(MetricsPage& page) override;

 private:
  LineLog& lines_;
  LineLog& refusals_;
};

}  // namespace nfx
