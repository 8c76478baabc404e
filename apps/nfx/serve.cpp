// nfx serve: runs an engine with a configuration file, and an application that echoes or rejects.
#include <array>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "command.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct ServeOptions {
  std::string config;
  bool check = false;
  bool echo = false;
  bool messages = false;
};

// Whether an echo copies this optional header field, because the session does not set it by itself.
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

class Server final : public Application, public LineObserver {
 public:
  Server(const ServeOptions& options, LineLog& log, LineLog& refused)
      : LineObserver(log, refused), options_(options), log_(log) {}

  // Reports each kind of violation once, because a counterparty's extra tag is in every message.
  void on_violations(SessionHandle& session, const MessageView& message, const ValidationReport& report) override {
    for (const Violation& each : report.violations()) {
      std::string what = "delivered although: " + std::string{to_text(each.reason)};
      if (each.has_tag()) what += ", tag " + std::to_string(value(each.tag));
      what += ", message type " + std::string{message.msg_type()};
      if (first_time(identity(session.config()) + what)) line(session, {LogLevel::warning, "violation"}, what);
    }
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    // Two programs that reject rejections would never stop.
    if (message.msg_type() == msg_type::business_message_reject) {
      line(session, {LogLevel::warning, "refused by the peer"},
           "the peer refused message " + std::string{message.get_view(Tag::RefSeqNum)}, message.get_view(Tag::Text));
      return Handled::done;
    }
    const auto sent =
        options_.echo ? echo(session, message)
                      : session.reject_business(message, BusinessRejectReason::application_not_available,
                                                "nfx serve runs without an application; --echo sends messages back");
    if (!sent && is_back_pressure(sent.error())) return Handled::not_now;
    if (!sent)
      line(session, {LogLevel::warning, "no answer"},
           "no answer to message " + std::string{message.get_view(Tag::MsgSeqNum)}, to_string(sent.error()));
    return Handled::done;
  }
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override {
    if (!options_.messages) return;
    const MessageView& view = parsed(session, message);
    SafeText text{direction == Direction::in ? Literal{"in   "} : Literal{"out  "}};
    append_raw(text, view, false);
    line(session, {LogLevel::info, direction == Direction::in ? "message in" : "message out"},
         std::string{text.view()});
  }
  Duration on_turn(Instant) override {
    log_.flush();
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

  // Callbacks of several poll threads need a view each.
  static const MessageView& parsed(SessionHandle&, std::string_view message) {
    thread_local MessageView view{32768};
    view.parse_leniently(message);
    return view;
  }

  struct Kind {
    LogLevel level;
    std::string_view what;
  };
  void line(SessionHandle& session, Kind kind, std::string text, std::string_view detail = {}) {
    const std::string name = identity(session.config());
    if (!detail.empty()) text.append(": ").append(detail);
    const std::array fields{LogField{"detail", detail}};
    log_.line({.time = session.now().utc,
               .level = kind.level,
               .what = kind.what,
               .session = name,
               .text = text,
               .fields = std::span{fields}.first(detail.empty() ? 0 : 1)});
  }

  const ServeOptions& options_;
  LineLog& log_;
  std::mutex violations_mutex_;
  std::set<std::string> violations_;
};

int serve(const ServeOptions& options) {
  EngineConfig config = load_program_config(options.config, "nfx");
  if (options.check) {
    print_program(std::move(config), options.config, "nfx");
    return exit_done;
  }
  LineLog log{Stream::out, config.log.lines};  // outlives the engine, which prints until its end
  LineLog refused{Stream::err, config.log.lines};
  Server server{options, log, refused};
  run_program(std::move(config), server, log, options.config);
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
                   .help = "TOML configuration or QuickFIX settings",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--check",
                   .target = &options.check,
                   .help =
                       "Check the configuration, certificates, keys, journal folders and listen addresses, and exit"},
                  {.names = "--echo",
                   .target = &options.echo,
                   .help = "Send every application message back with the same type, body and optional header fields "
                           "(default: answer it with BusinessMessageReject, before FIX 4.2 with Reject)"},
                  {.names = "--messages",
                   .target = &options.messages,
                   .help = "Print every message in and out, '|' for SOH, passwords masked; costs latency"}},
      .details =
          R"(The smallest configuration:
  [[session]]
  sender_comp_id = "NEXUSFIX"
  target_comp_id = "CLIENT"
  listen = "127.0.0.1:9878"
'nfx config init' writes a commented one, and 'nfx config keys --text' lists all keys with their defaults.

Output: one line for each logon, logout, reject and notice, in UTC. Refused Logons go to standard error with the reason, the names in the Logon and the address. For each reason max_refusal_reports are shown within a second, then their number.
Output is asynchronous. If the reader stalls, lines beyond 1 MiB are dropped and counted (nfx_lines_dropped_total). If standard output is closed, standard error says so once.

Signals: Ctrl-C or SIGTERM logs all sessions out and stops; a second one ends the program immediately. SIGHUP reloads certificates, keys and revocation lists. 'nfx engine reload' reloads the configuration if it has [control].
Sent and received messages are stored in journals, in the folder 'store' next to the configuration unless that names another folder. 'nfx store ls store' lists them.
A message with fields that the dictionary does not expect is delivered; each kind of deviation is shown once.

[control] lets operators and monitoring reach the running engine: 'nfx session', 'nfx engine', docs/control.md.
[cluster] lets several processes share sessions with durability = "replicated" or "async": docs/cluster.md.
[placement] pins threads and checks them while they run: 'nfx host plan' shows where, docs/placement.md.)",
      .examples = {{.line = "nfx serve acceptor.toml --echo", .about = "wait for counterparties"},
                   {.line = "nfx serve acceptor.toml --check"},
                   {.line = "nfx serve broker.cfg --echo", .about = "'nfx config check broker.cfg' explains it"}},
  };
}

}  // namespace nfx::app
