// nfx serve: an engine on a configuration file, with an application that echoes or rejects.
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "command.hpp"
#include "nexusfix/observe/line_log.hpp"
#include "nexusfix/config/quickfix_settings.hpp"
#include "nexusfix/config/tls_names.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/observe/metrics.hpp"
#include "nexusfix/placement/plan.hpp"
#include "nexusfix/store/journal_store.hpp"
#include "nexusfix/wire/field_text.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "nexusfix/engine/reload_on_hangup.hpp"
#include "nexusfix/engine/stop_on_signal.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct ServeOptions {
  std::string config;
  bool check = false;
  bool echo = false;
  bool messages = false;
};

// A server stores what it sent: in journals in the folder "store" next to the configuration, unless that sets another.
void choose_stores(EngineConfig& config, const std::filesystem::path& file) {
  for (SessionSettings& each : config.sessions) {
    if (each.store_kind != StoreKind::unset) continue;
    each.store_kind = StoreKind::journal;
    if (each.journal.directory.empty()) each.journal.directory = file.parent_path() / "store";
  }
}

UtcTime wall_clock() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// An optional header field that an echo copies: one that the session does not set by itself.
bool is_echoed_header(Tag tag) noexcept {
  switch (tag) {
    case Tag::BeginString:
    case Tag::BodyLength:
    case Tag::MsgType:
    case Tag::MsgSeqNum:
    case Tag::SenderCompID:
    case Tag::TargetCompID:
    case Tag::SendingTime:
    case Tag::PossDupFlag:
    case Tag::OrigSendingTime:
    case Tag::LastMsgSeqNumProcessed:
    case Tag::SecureDataLen:
    case Tag::SecureData: return false;
    default: return is_header_tag(tag);
  }
}

class Server final : public Application {
 public:
  // `refused` is for Logons that are refused, apart from what happens to sessions.
  Server(const ServeOptions& options, LineLog& log, LineLog& refused)
      : options_(options), log_(log), refused_(refused) {}

  void on_logon(SessionHandle& session) override {
    line(session, "logged on, next in " + std::to_string(value(session.next_inbound())) + ", next out " +
                      std::to_string(value(session.next_outbound())));
  }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    line(session, "logged out", reason == "logged out" ? std::string_view{} : reason);
  }
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override {
    std::string what = "notice: ";
    what += to_string(notice);
    if (seq != SeqNum{}) what += ", message " + std::to_string(value(seq));
    line(session, what, text);
  }
  void on_reject(SessionHandle& session, const MessageView& reject) override {
    line(session, "the peer rejected message " + std::string{reject.get_view(Tag::RefSeqNum)},
         reject.get_view(Tag::Text));
  }
  void on_added(SessionHandle& session) override { line(session, "added"); }
  void on_removed(SessionHandle& session) override { line(session, "removed"); }
  void on_cancel(SessionHandle& session, std::string_view reason) override {
    line(session, "open orders should be cancelled", reason);
  }
  // Each kind of violation once: a counterparty's extra tag comes with every message.
  void on_violations(SessionHandle& session, const MessageView& message, const ValidationReport& report) override {
    for (const Violation& each : report.violations()) {
      std::string what = "delivered although: " + std::string{to_text(each.reason)};
      if (each.has_tag()) what += ", tag " + std::to_string(value(each.tag));
      what += ", message type " + std::string{message.msg_type()};
      if (first_time(identity(session.config()) + what)) line(session, what);
    }
  }
  void on_message(SessionHandle& session, const MessageView& message) override {
    // Two programs that reject rejections would never stop.
    if (message.msg_type() == msg_type::business_message_reject) {
      return line(session, "the peer refused message " + std::string{message.get_view(Tag::RefSeqNum)},
                  message.get_view(Tag::Text));
    }
    const auto sent =
        options_.echo ? echo(session, message)
                      : session.reject_business(message, BusinessRejectReason::application_not_available,
                                                "nfx serve runs without an application; --echo sends messages back");
    if (!sent)
      line(session, "no answer to message " + std::string{message.get_view(Tag::MsgSeqNum)}, to_string(sent.error()));
  }
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override {
    if (!options_.messages) return;
    const MessageView& view = parsed(session, message);
    SafeText text{direction == Direction::in ? cli::Literal{"in   "} : cli::Literal{"out  "}};
    append_raw(text, view, false);
    line(session, std::string{text.view()});
  }
  void on_logon_refused(const LogonRefusal& refusal) override {
    refused_.line(refusal.time, "Logon refused: " + to_string(refusal));
  }
  void on_store_alert(std::string_view text) override { log_.line(wall_clock(), "store: " + std::string{text}); }
  void on_log_alert(std::string_view text) override {
    log_.line(wall_clock(), "log: " + std::string{text});
    log_.flush();
  }
  void on_metrics(MetricsPage& page) override {
    for (const auto& [name, log] : {std::pair{"stdout", &log_}, std::pair{"stderr", &refused_}}) {
      const LineCounters counters = log->counters();
      for (const CounterRow<LineCounters>& row : counter_rows<LineCounters>)
        page.counter({row.metric, row.help}, counters.*row.member, {{"stream", name}});
    }
  }
  void on_placement_alert(std::string_view text) override {
    log_.line(wall_clock(), "placement: " + std::string{text});
    log_.flush();
  }
  Duration on_turn(Instant) override {
    log_.flush();
    refused_.flush();
    return Duration::max();
  }

 private:
  static constexpr std::size_t violations_remembered = 4096;

  bool first_time(const std::string& violation) {
    const std::lock_guard lock{violations_mutex_};
    return violations_.size() < violations_remembered && violations_.insert(violation).second;
  }

  static std::expected<SeqNum, SendError> echo(SessionHandle& session, const MessageView& message) {
    std::string header, body;
    for (std::uint32_t i = 0; i < message.size(); ++i) {
      const Field field = message[i];
      const bool in_header = is_header_tag(field.tag);
      if (is_trailer_tag(field.tag) || (in_header && !is_echoed_header(field.tag))) continue;
      std::string& fields = in_header ? header : body;
      fields += std::to_string(value(field.tag));
      fields += '=';
      fields += field.value;
      fields += soh;
    }
    return session.send({.msg_type = message.msg_type(), .body = body, .header_fields = header});
  }

  // Callbacks of several poll threads each need a view of their own.
  static const MessageView& parsed(SessionHandle&, std::string_view message) {
    thread_local MessageView view{32768};
    view.parse_leniently(message);
    return view;
  }

  void line(SessionHandle& session, std::string text, std::string_view detail = {}) {
    text.insert(0, identity(session.config()) + ' ');
    if (!detail.empty()) text.append(": ").append(detail);
    log_.line(session.now().utc, text);
  }

  const ServeOptions& options_;
  LineLog& log_;
  LineLog& refused_;
  std::mutex violations_mutex_;
  std::set<std::string> violations_;
};

// The sequence numbers with which a session resumes, and the state of its store.
void announce_store(const SessionHandle& session, UtcTime now, LineLog& log) {
  const JournalStore* journal = session.journal();
  if (journal == nullptr) return;
  const JournalRecovery& found = journal->recovery();
  std::string text = identity(session.config()) + " resumes with next in " +
                     std::to_string(value(session.next_inbound())) + ", next out " +
                     std::to_string(value(session.next_outbound()));
  if (!found.clean) text += "; the last process did not close it";
  if (found.taken_from_ring != 0)
    text += ", and left " + std::to_string(found.taken_from_ring) + " bytes in memory, now on disk";
  if (found.cut_bytes != 0) {
    text += "; truncated " + std::to_string(found.cut_bytes) + " torn bytes after the last commit in " +
            found.cut_file + " at offset " + std::to_string(found.cut_offset);
  }
  log.line(now, text);
}

void announce(Engine& engine, LineLog& log) {
  const UtcTime now = wall_clock();
  for (const std::string& warning : engine.placement_warnings()) log.line(now, "placement: " + warning);
  if (engine.plan() != nullptr) {
    for (const ThreadPlacement& thread : engine.plan()->threads) {
      if (thread.role == ThreadRole::poll)
        log.line(now, "placement: " + thread.name + " on CPU " + thread.cpus.to_list() + ": " + thread.reason);
    }
  }
  for (std::size_t i = 0; i < engine.config().sessions.size(); ++i) {
    const SessionSettings& settings = engine.config().sessions[i];
    std::string text = settings.is_template ? "template " + identity(settings.session) : identity(settings.session);
    if (settings.session.role == Role::acceptor) {
      const auto endpoint = engine.local_endpoint(i);
      text += " listens on " + to_string(endpoint ? *endpoint : settings.listen);
    } else {
      text += " connects to " + to_string(settings.connect.front());
    }
    log.line(now, text);
    if (const SessionHandle* session = settings.is_template ? nullptr : engine.session(i))
      announce_store(*session, now, log);
  }
  for (const std::string& warning : tls_binding_warnings(engine.config())) log.line(now, "tls: " + warning);
  if (!engine.transport_text().empty()) log.line(now, "transport: " + engine.transport_text());
  for (const std::string& warning : engine.transport_warnings()) log.line(now, "transport: " + warning);
  log.flush();
}

int serve(const ServeOptions& options) {
  std::vector<std::string> warnings;
  EngineConfig config = load_any_config(options.config, &warnings);
  choose_stores(config, options.config);
  for (const std::string& warning : warnings) print_error("nfx: {}\n", warning);
  if (options.check) {
    const std::size_t count = config.sessions.size();
    print("{}: ok, {}{}\n", options.config, count, count == 1 ? " session" : " sessions");
    for (const SessionSettings& each : config.sessions) {
      print("  {} {}{}\n", to_string(each.session.role), identity(each.session),
            each.dictionary ? "" : ", without a dictionary");
    }
    for (const std::string& warning : tls_binding_warnings(config)) print_error("nfx: {}\n", warning);
    return exit_done;
  }
  LineLog log{cli::Stream::out};  // outlives the engine, which prints until its end
  LineLog refused{cli::Stream::err};
  Server server{options, log, refused};
  const bool encrypted = std::ranges::any_of(config.sessions, &SessionSettings::tls_enabled);
  std::optional<ReloadOnHangup> reload;  // before the engine, whose threads inherit the blocked signal
  if (encrypted) reload.emplace();
  Engine engine{std::move(config), server};
  const StopOnSignal stop_on_signal{engine};
  engine.start();
  announce(engine, log);
  if (reload) {
    reload->begin([&engine, &log] {
      const std::vector<std::string> problems = engine.reload_tls();
      for (const std::string& each : problems)
        log.line(wall_clock(), "tls: " + each + "; the files loaded before stay in use");
      if (problems.empty()) log.line(wall_clock(), "tls: certificates, keys and revocation lists are reloaded");
      log.flush();
    });
  }
  engine.run();
  reload.reset();
  for (const ThreadReport& report : engine.thread_reports()) log.line(wall_clock(), "placement: " + to_string(report));
  return exit_done;
}

}  // namespace

cli::Command serve_command() {
  static ServeOptions options;
  return {
      .name = "serve",
      .summary = "Run an engine on a configuration file",
      .run = [] { return serve(options); },
      .options = {{.names = "CONFIG",
                   .target = &options.config,
                   .help = "TOML configuration, see below, or QuickFIX settings",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--check", .target = &options.check, .help = "Only check the configuration"},
                  {.names = "--echo",
                   .target = &options.echo,
                   .help = "Send every application message back: same type, body and optional header fields. Without "
                           "it each is answered with BusinessMessageReject (before FIX 4.2 with Reject)"},
                  {.names = "--messages",
                   .target = &options.messages,
                   .help = "Show every message in and out, '|' for SOH, passwords masked"}},
      .details =
          R"(Prints one line per logon, logout, reject and notice, in UTC. BusinessMessageRejects are never answered.
Each refused Logon is a line on standard error, with its reason, the names it claims and its address: at most max_refusal_reports of a reason within a second, then their number.
Ctrl-C or SIGTERM logs all sessions out and stops; a second one ends the program immediately. SIGHUP reloads certificates, keys and revocation lists when sessions are encrypted.
Messages sent and received are stored in journals, in the folder 'store' next to the configuration unless that specifies another; 'nfx store ls store' shows them.
Lines are written by a thread of their own: of a reader that stalls, lines beyond 1 MiB are dropped and counted (nfx_lines_dropped_total in the metrics file), and a closed standard output is reported on standard error, once. --messages costs latency.
Of messages delivered although the dictionary does not expect them, each kind is shown once.

The least a configuration needs:
  [[session]]
  sender_comp_id = "NEXUSFIX"
  target_comp_id = "CLIENT"
  listen = "127.0.0.1:9878"

With [placement], threads are pinned ('nfx host plan' shows where) and compared with the plan while they run. At the end each reports how often it was moved or interrupted.)",
      .examples = {{.line = "nfx serve acceptor.toml --echo", .about = "wait for counterparties"},
                   {.line = "nfx serve acceptor.toml --check"},
                   {.line = "nfx serve broker.cfg --echo", .about = "'nfx config check broker.cfg' explains it"}},
      .more = [] { return "All keys with their defaults:\n" + config_reference(); },
  };
}

}  // namespace nfx::app
