// From a configuration file to an engine that serves until a signal ends it, with a line for what begins.
#include "nexusfix/engine/program.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "base/error_text.hpp"
#include "config/dictionary_warnings.hpp"
#include "config/quickfix_settings.hpp"
#include "config/tls_names.hpp"
#include "engine/engine_operations.hpp"
#include "engine/reload_on_hangup.hpp"
#include "engine/service_manager.hpp"
#include "engine/start_checks.hpp"
#include "log/print.hpp"
#include "nexusfix/base/secret.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/placement/machine.hpp"
#include "nexusfix/placement/plan.hpp"
#include "store/journal_store.hpp"

namespace nfx {
namespace {

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string{what} + (count == 1 ? "" : "s");
}

// "listens on 127.0.0.1:9878" or "connects to 192.0.2.7:9878".
std::string address_text(const EngineConfig& config, const SessionSettings& settings, const Endpoint& listen) {
  const std::string when = settings.is_replicated() ? " while this gateway owns it" : "";
  if (settings.session.role == Role::acceptor) {
    const bool hands_on = settings.is_replicated() && config.cluster.hands_on() && !settings.tls_enabled;
    return "listens on " + to_string(listen) + (hands_on ? ", and hands on while another gateway owns it" : when);
  }
  return "connects to " + to_string(settings.connect.front()) + when;
}

std::string name_of(const SessionSettings& settings) {
  return settings.is_template ? "template " + identity(settings.session) : identity(settings.session);
}

// The sequence numbers with which a session begins or resumes, and the state of its store.
void announce_store(const SessionHandle& session, UtcTime now, LineLog& lines) {
  const JournalStore* journal = session.journal();
  if (journal == nullptr) return;
  const JournalRecovery& found = journal->recovery();
  const std::string name = identity(session.config());
  const std::uint64_t in = value(session.next_inbound()), out = value(session.next_outbound());
  std::string text = std::string{in == 1 && out == 1 ? "begins" : "resumes"} + " with next in " + std::to_string(in) +
                     ", next out " + std::to_string(out);
  if (!found.clean) text += "; the last process did not close it";
  if (found.taken_from_ring != 0)
    text += ", and left " + std::to_string(found.taken_from_ring) + " bytes in memory, now on disk";
  if (found.cut_bytes != 0) {
    text += "; truncated " + std::to_string(found.cut_bytes) + " torn bytes after the last commit in " +
            found.cut_file + " at offset " + std::to_string(found.cut_offset);
  }
  const std::array fields{LogField{"next_in", in}, LogField{"next_out", out},
                          LogField{"truncated_bytes", std::uint64_t{found.cut_bytes}}};
  const LogLevel level = found.cut_bytes != 0 ? LogLevel::warning : LogLevel::info;
  lines.line({.time = now, .level = level, .what = "resumes", .session = name, .text = text, .fields = fields});
}

// A line "what: text".
void announce_as(LineLog& lines, LogLevel level, std::string_view what, const std::string& text) {
  const std::string line = std::string{what} + ": " + text;
  const std::array fields{LogField{"detail", text}};
  lines.line({.time = read_utc(), .level = level, .what = what, .text = line, .fields = fields});
}

void announce(Engine& engine, LineLog& lines) {
  const UtcTime now = read_utc();
  for (const std::string& warning : engine.placement_warnings())
    announce_as(lines, LogLevel::warning, "placement", warning);
  if (engine.plan() != nullptr) {
    for (const ThreadPlacement& thread : engine.plan()->threads) {
      if (thread.role == ThreadRole::poll)
        announce_as(lines, LogLevel::info, "placement",
                    thread.name + " on CPU " + thread.cpus.to_list() + ": " + thread.reason);
    }
  }
  for (std::size_t i = 0; i < engine.config().sessions.size(); ++i) {
    const SessionSettings& settings = engine.config().sessions[i];
    const auto endpoint = engine.local_endpoint(i);
    const std::string name = name_of(settings),
                      text = address_text(engine.config(), settings, endpoint ? *endpoint : settings.listen);
    lines.line({.time = now, .what = "address", .session = name, .text = text});
    if (const SessionHandle* session = settings.is_template ? nullptr : engine.session(i))
      announce_store(*session, now, lines);
  }
  if (!engine.config().sessions.empty()) announce_as(lines, LogLevel::info, "store", store_text(engine.config()));
  lines.line(now, engine.idle_text());
  for (const std::string& warning : dictionary_warnings(engine.config()))
    announce_as(lines, LogLevel::warning, "dictionary", warning);
  for (const std::string& warning : tls_binding_warnings(engine.config()))
    announce_as(lines, LogLevel::warning, "tls", warning);
  if (!engine.transport_text().empty()) announce_as(lines, LogLevel::info, "transport", engine.transport_text());
  for (const std::string& warning : engine.transport_warnings())
    announce_as(lines, LogLevel::warning, "transport", warning);
  lines.flush();
}

void reload(Engine& engine, bool has_files, LineLog& lines) {
  if (!has_files) {
    lines.line(read_utc(),
               "SIGHUP: nothing to reload: no session has TLS and [control] has no tokens; 'nfx engine reload' reloads "
               "the configuration");
  } else {
    const std::vector<std::string> problems = engine.reload_tls();
    for (const std::string& each : problems)
      announce_as(lines, LogLevel::error, "tls", each + "; the files loaded before stay in use");
    if (problems.empty())
      announce_as(lines, LogLevel::info, "tls", "certificates, keys and revocation lists are reloaded");
  }
  lines.flush();
}

ControlPart make_control_part = nullptr;

ClusterPart make_cluster_part = nullptr;

void require_parts(const EngineConfig& config) {
  if (config.cluster.wanted() && make_cluster_part == nullptr) {
    throw ConfigError(
        "[cluster]: built without nexusfix::cluster: link it and call "
        "nfx::use_cluster() before nfx::run(), or remove [cluster]");
  }
  if (config.control.wanted() && make_control_part == nullptr) {
    throw ConfigError(
        "[control]: built without nexusfix::control: link it and call "
        "nfx::use_control() before nfx::run(), or remove [control]");
  }
}

// Before the engine that they use is gone.
struct EndOfReloads {
  ReloadOnHangup& on_hangup;
  ~EndOfReloads() { on_hangup.end(); }
};

int report(std::string_view program, std::string text, int exit_code) noexcept {
  std::ranges::replace(text, '\n', ' ');
  print_error("{}: {}\n", program, text);
  return exit_code;
}

std::string user_name() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

// Why journals cannot be in this folder, as far as that is known without making it; empty: they can.
std::string folder_problem(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder).lexically_normal();
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there != there.root_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there, error)) return there.string() + " is not a folder";
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return "user " + user_name() + " may not write to " + there.string() + " (" + system_text(errno) + ")";
}

// Throws ConfigError where the start could not make a journal.
void check_store_folders(const EngineConfig& config) {
  std::set<std::filesystem::path> folders;
  for (const SessionSettings& each : config.sessions) {
    if (each.store_kind == StoreKind::journal) folders.insert(each.journal.directory);
  }
  for (const std::filesystem::path& folder : folders) {
    if (const std::string problem = folder_problem(folder); !problem.empty())
      throw ConfigError("store_directory \"" + folder.string() + "\": " + problem +
                        ": name a folder that the user of the engine may write, such as /var/lib/nexusfix/store, and "
                        "check as that user");
  }
}

// Throws ConfigError where the start could not make the log or the files of the control plane.
void check_own_files(const EngineConfig& config) {
  namespace fs = std::filesystem;
  if (!config.log.directory.empty()) {
    if (const std::string problem = folder_problem(config.log.directory); !problem.empty())
      throw ConfigError("[log] directory \"" + config.log.directory + "\": " + problem +
                        ": name a folder that the user of the engine may write, and check as that user");
  }
  std::error_code none;
  if (const fs::file_status socket = fs::symlink_status(config.control.socket, none);
      fs::exists(socket) && !fs::is_socket(socket))
    throw ConfigError("[control] socket: " + config.control.socket + " is not a socket: remove it");
  if (fs::is_directory(config.control.audit, none))
    throw ConfigError("[control] audit: " + config.control.audit + " is a folder: name a file in it");
}

}  // namespace

void occupy_standard_descriptors() noexcept {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    static_cast<void>(::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));  // takes the lowest number that is free
  }
}

EngineConfig load_program_config(const std::string& file, std::string_view program) {
  std::vector<std::string> warnings;
  EngineConfig config = load_any_config(file, &warnings);
  for (SessionSettings& each : config.sessions) use_program_store(each, file);
  for (const std::string& warning : warnings) print_error("{}: {}\n", program, warning);
  return config;
}

void use_program_store(SessionSettings& session, const std::string& file) {
  if (session.store_kind != StoreKind::unset) return;
  session.store_kind = StoreKind::journal;
  if (session.journal.directory.empty())
    session.journal.directory = std::filesystem::path{file}.parent_path() / "store";
}

void print_program(EngineConfig config, const std::string& file, std::string_view program) {
  require_parts(config);
  load_certificates(config);
  check_store_folders(config);
  check_own_files(config);
  const std::vector<std::string> in_use = check_listen_addresses(config);
  SafeText out;
  out.add("{}: ok, {}\n", file, counted(config.sessions.size(), "session"));
  for (const SessionSettings& each : config.sessions) {
    out.add("  {} {} {}{}\n", to_string(each.session.role), name_of(each), address_text(config, each, each.listen),
            each.dictionary ? "" : ", without a dictionary");
  }
  if (!config.sessions.empty()) out.add("  {}\n", store_text(config));
  print(out);
  for (const std::string& warning : dictionary_warnings(config)) print_error("{}: warning: {}\n", program, warning);
  for (const std::string& warning : tls_binding_warnings(config)) print_error("{}: {}\n", program, warning);
  for (const std::string& each : in_use) print_error("{}: a start now fails: {}\n", program, each);
}

std::string store_text(const EngineConfig& config) {
  std::map<std::string, std::size_t> folders;
  std::size_t in_memory = 0;
  for (const SessionSettings& each : config.sessions) {
    if (each.store_kind == StoreKind::journal) {
      ++folders[std::filesystem::absolute(each.journal.directory).lexically_normal().string()];
    } else {
      ++in_memory;
    }
  }
  std::string text;
  for (const auto& [folder, count] : folders) {
    if (!text.empty()) text += "; ";
    text += counted(count, "session") + (count == 1 ? " has its journal in " : " have journals in ") + folder;
  }
  if (in_memory != 0) {
    if (!text.empty()) text += "; ";
    text += counted(in_memory, "session") + " in memory: a process that ends loses sequence numbers and messages";
  }
  return text;
}

void set_control_part(ControlPart make) noexcept { make_control_part = make; }
void set_cluster_part(ClusterPart make) noexcept { make_cluster_part = make; }

std::shared_ptr<void> start_control_part(Engine& engine, const std::string& file) {
  require_parts(engine.config());
  return engine.config().control.wanted() ? make_control_part(engine, file) : nullptr;
}

void run_program(EngineConfig config, Callbacks program, LineLog& lines, const std::string& file) {
  require_parts(config);
  LineLog::set_least_level(config.log.level);
  const bool has_files = config.control.encrypted() || !config.control.tokens.empty() ||
                         std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled);
  hide_environment_secrets();
  ReloadOnHangup on_hangup;  // before the engine, whose threads inherit the blocked signal
  {
    Engine engine{std::move(config), std::move(program)};
    const StopOnSignal stop_on_signal{engine};
    // Before the sessions begin, so that an address in use ends the program before a peer has seen it.
    std::shared_ptr<void> control = start_control_part(engine, file);
    engine.start();
    announce(engine, lines);
    // Sessions that it owns log out while the engine stops, so it ends after that.
    std::shared_ptr<void> gateway = engine.config().cluster.wanted() ? make_cluster_part(engine, lines) : nullptr;
    const EndOfReloads end_of_reloads{on_hangup};
    const auto on_housekeeping = [&engine](std::string_view name, const std::function<void()>& work) {
      engine.run_on_housekeeping(name, work);
    };
    EngineOperations{engine}.adopt_housekeeping(lines.thread_id(), LineLog::thread_name);
    on_hangup.begin([&engine, &lines, has_files] { reload(engine, has_files, lines); }, on_housekeeping);
    // The service is ready when the poll threads, which run() starts, answer.
    ServiceManager service{
        read_service_environment(),
        {.answers = [&engine](Duration timeout) { return EngineOperations{engine}.answers(timeout); },
         .stopping = [&engine] { return engine.stopping(); },
         .problem =
             [&lines](std::string_view text) {
               announce_as(lines, LogLevel::warning, "service manager", std::string{text});
               lines.flush();
             },
         .in_place = on_housekeeping}};
    service.begin();
    engine.run();
    service.end();
    gateway.reset();  // gives its sessions to the other gateways
    control.reset();  // its requests would wait for poll threads that have ended
    for (const ThreadReport& each : engine.thread_reports())
      announce_as(lines, LogLevel::info, "placement", to_string(each));
  }
}

int report_exception(std::string_view program) noexcept {
  try {
    throw;
  } catch (const ConfigError& error) {
    return report(program, error.what(), ExitCode::wrong_usage);
  } catch (const TopologyError& error) {
    return report(program, error.what(), ExitCode::wrong_usage);
  } catch (const DictionaryError& error) {
    return report(program, error.what(), ExitCode::wrong_usage);
  } catch (const std::filesystem::filesystem_error& error) {
    const std::filesystem::path& path = error.path2().empty() ? error.path1() : error.path2();
    return report(program, path.empty() ? error.code().message() : path.string() + ": " + error.code().message(),
                  ExitCode::failed);
  } catch (const std::bad_alloc&) {
    return report(program, "out of memory", ExitCode::failed);
  } catch (const std::exception& error) {
    return report(program, error.what(), ExitCode::failed);
  } catch (...) {
    return report(program, "an exception that is not a std::exception", ExitCode::failed);
  }
}

}  // namespace nfx
