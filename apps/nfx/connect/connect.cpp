// nfx connect: logs on, sends messages from standard input, and shows the answers.
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "command.hpp"
#include "config/quickfix_settings.hpp"
#include "connect/input.hpp"
#include "connect/why_silent.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/gateway/gateway.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

struct ConnectOptions {
  std::string config;
  std::size_t session = 0;  // counted from 1; 0: the only initiator
  double wait_s = 2;
  double logon_wait_s = 10;
  bool no_reset = false;
  bool raw = false;
  std::string color = "auto";
};

Duration seconds(double count) { return Duration{std::llround(count * 1e9)}; }

// The session, used by two threads: callbacks run on the poll thread, the sender on its own.
class Client final : public Application, public Observer {
 public:
  enum class Sent : std::uint8_t { pending, sent, no_room, not_logged_on, refused };

  Client(const ConnectOptions& options, const SessionSettings& settings)
      : options_(options),
        settings_(settings),
        messages_(Stream::out, LineFormat::text, std::chrono::seconds{10}),
        events_(Stream::err),
        number_(settings.is_replicated() ? no_session : 0),
        out_(use_colour(options.color, Stream::out)),
        err_(use_colour(options.color, Stream::err)) {}

  [[nodiscard]] LineLog& lines() noexcept { return events_; }
  void set_engine(Engine& engine) noexcept { engine_ = &engine; }

  // Callbacks.

  // A replicated session exists while this process owns it, each time with another number.
  void on_added(SessionHandle& session) override {
    logon_deadline_ = MonotonicTime::min();
    change([&] { number_ = session.id(); });
  }
  void on_removed(SessionHandle& session) override {
    event(session, "continues on another gateway of the cluster");
    change([&] { number_ = no_session; });
  }
  void on_logon(SessionHandle& session) override {
    event(session, "logged on");
    logged_on_before_ = true;
    change([this] { up_ = was_up_ = true; });
  }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    const bool was_logged_on = up_;
    silent_ = !was_logged_on && !answered_;
    answered_ = false;
    std::string text = was_logged_on ? "logged out" : "no logon";
    if (!reason.empty() && reason != text) text.append(": ").append(reason);
    if (!was_logged_on && !text.contains("SendingTime(52)")) text += clock_difference();
    event(session, text);
    if (was_logged_on) logon_deadline_ = MonotonicTime::min();
    // If the first Logon is refused, it will be refused again, unless there are other addresses. A Logon after a lost
    // connection may be too early, because the peer may not have noticed the loss yet.
    if (!was_logged_on && !logged_on_before_ && settings_.connect.size() == 1) fail(text);
    change([this] { up_ = false; });
  }
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override {
    if (notice == Notice::not_sent) return change([&] { outcome_ = outcome_of(text); });
    std::string line{to_string(notice)};
    if (seq != SeqNum{}) line += ", message " + std::to_string(value(seq));
    if (!text.empty()) line.append(": ").append(text);
    event(session, line);
  }
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    show(session, message, Colour::green);
    return Handled::done;
  }
  void on_reject(SessionHandle& session, const MessageView& reject) override { show(session, reject, Colour::red); }
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override {
    (direction == Direction::in ? answered_ : logon_sent_) = true;
    if (direction == Direction::in && up_) return;
    if (view_.parse(message) != WireError::none) return;
    if (direction == Direction::in) return compare_clocks(session.now().utc);
    // Resent messages do not answer a submission.
    if (is_session_msg_type(view_.msg_type()) || view_.get_view(Tag::PossDupFlag) == "Y") return;
    change([this] { outcome_ = Sent::sent; });
  }
  Duration on_turn(Instant now) override {
    messages_.flush();
    events_.flush();
    if (messages_.closed() && !stopping_) fail(output_is_closed);
    if (up_ || stopping_ || number_ == no_session) return Duration::max();
    if (logon_deadline_ == MonotonicTime::min()) logon_deadline_ = now.monotonic + seconds(options_.logon_wait_s);
    if (now.monotonic >= logon_deadline_) {
      silent_ = silent_ || (logon_sent_ && !answered_);
      fail("no Logon within --logon-wait");
      return Duration::max();
    }
    return logon_deadline_ - now.monotonic;
  }

  // For the sender's thread.

  // False if the session will never be established.
  [[nodiscard]] bool wait_until_up() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return up_ || stopping_; });
    return !stopping_;
  }
  // Submits one message and returns its result; pending if everything stops. Empty if it is too long.
  [[nodiscard]] std::optional<Sent> submit(const LineMessage& message) {
    std::unique_lock lock{mutex_};
    outcome_ = Sent::pending;
    // Only one message at a time is in flight, so the queue is never full.
    const SubmitResult queued = engine_->submit(number_, {.msg_type = message.msg_type, .body = message.body});
    if (queued.status == SubmitStatus::not_logged_on || queued.status == SubmitStatus::unknown_session)
      return Sent::not_logged_on;
    if (!queued) return std::nullopt;
    changed_.wait(lock, [this] { return outcome_ != Sent::pending || stopping_; });
    return outcome_;
  }
  // Waits until the time is over, the session is down or everything is stopping.
  void linger(Duration time) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, time, [this] { return stopping_ || !up_; });
  }

  void stop() noexcept {
    change([this] { stopping_ = true; });
    engine_->stop();
  }
  // The engine has ended: the sender gets no more answers, and the last output may have had no reader.
  void engine_stopped() {
    change([this] {
      stopping_ = true;
      if (failure_.empty() && messages_.closed()) failure_ = output_is_closed;
    });
  }

  // Prints a line about the input or the end, from any thread.
  void complain(std::string_view text) {
    events_.add(made("nfx: {}\n", text));
    events_.flush();
  }

  // Prints further lines about it.
  void explain(const SafeText& lines) {
    events_.add(lines);
    events_.flush();
  }

  [[nodiscard]] bool was_up() const {
    const std::lock_guard lock{mutex_};
    return was_up_;
  }
  [[nodiscard]] std::string failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
  }
  // After the engine has ended: whether the peer took our last Logon without sending anything.
  [[nodiscard]] bool peer_was_silent() const { return silent_; }

 private:
  static constexpr std::size_t no_session = static_cast<std::size_t>(-1);
  static constexpr const char* output_is_closed = "standard output is closed: nothing can be shown";

  template <class Change>
  void change(Change&& what) {
    {
      const std::lock_guard lock{mutex_};
      what();
    }
    changed_.notify_all();
  }
  void fail(const std::string& text) {
    change([&] {
      if (failure_.empty() && !stopping_) failure_ = text;
    });
    stop();
  }
  // The peer's answer to our Logon contains its time.
  void compare_clocks(UtcTime now) {
    using std::chrono::floor, std::chrono::seconds;
    const auto sent = view_.get_utc_timestamp(Tag::SendingTime);
    if (sent) peer_ahead_ = floor<seconds>(sent->time) - floor<seconds>(now);
  }
  // May explain a refusal. For the peer's own Logon, the session reports it.
  [[nodiscard]] std::string clock_difference() const {
    constexpr std::chrono::seconds notable{10};  // a smaller difference is due to latency, or accepted by most peers
    const std::chrono::seconds difference = std::chrono::abs(peer_ahead_);
    if (difference < notable) return {};
    return "; the peer's clock is " + std::to_string(difference.count()) +
           (peer_ahead_ > difference.zero() ? " s later than this host's" : " s earlier than this host's") +
           ": synchronise both with NTP or PTP";
  }

  static Sent outcome_of(std::string_view text) noexcept {
    if (text == to_string(SendError::would_block)) return Sent::no_room;
    return text == to_string(SendError::not_logged_on) ? Sent::not_logged_on : Sent::refused;
  }

  void event(SessionHandle& session, const std::string& text) {
    SafeText line;
    line += err_(Colour::dim);
    line.add("{} {}->{} ", timestamp(session.now().utc), session.config().sender_comp_id,
             session.config().target_comp_id);
    line += err_(Colour::plain);
    line.add("{}\n", text);
    events_.add(line);
  }
  void show(SessionHandle& session, const MessageView& message, Colour colour) {
    SafeText line;
    if (options_.raw) {
      append_raw(line, message, false);
    } else {
      const Dictionary* dictionary = settings_.dictionary.get();
      const std::string_view name =
          dictionary == nullptr ? std::string_view{} : dictionary->message_name(message.msg_type());
      line += out_(Colour::dim);
      line.add("{} ", timestamp(session.now().utc));
      line += out_(Colour::plain);
      line += out_(colour);
      line += name.empty() ? message.msg_type() : name;
      line += out_(Colour::plain);
      line.add(" #{} ", message.get_view(Tag::MsgSeqNum));
      append_summary(line, message, dictionary, false);
    }
    line += '\n';
    messages_.add(line);
  }

  const ConnectOptions& options_;
  const SessionSettings& settings_;
  Engine* engine_ = nullptr;
  LineLog messages_, events_;
  std::atomic<std::size_t> number_;  // number of the session; changed under the mutex
  Palette out_, err_;

  // Used only by the poll thread.
  MessageView view_{32768};
  MonotonicTime logon_deadline_ = MonotonicTime::min();
  bool logged_on_before_ = false;
  bool logon_sent_ = false;
  bool answered_ = false;  // on this connection
  bool silent_ = false;    // the last connection ended without an answer
  std::chrono::seconds peer_ahead_{0};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> up_{false};  // changed under the mutex; the poll thread reads it without
  std::atomic<bool> stopping_{false};
  bool was_up_ = false;
  Sent outcome_ = Sent::pending;
  std::string failure_;
};

// Sends line by line, in order; returns the number of failed lines.
class Sender {
 public:
  Sender(Client& client, LineInput& input) : client_(client), input_(input) {}

  void run(Duration wait) {
    if (!client_.wait_until_up()) return;
    std::string line;
    for (;;) {
      switch (input_.next(line)) {
        case LineInput::Status::stopped: return;
        case LineInput::Status::end: client_.linger(wait); return client_.stop();
        case LineInput::Status::too_long: bad("longer than 64 KiB"); continue;
        case LineInput::Status::line: break;
      }
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
      line.erase(0, line.find_first_not_of(" \t"));
      if (line.empty() || line.front() == '#') continue;
      if (const auto message = read_line_message(line); !message) {
        bad(message.error());
      } else if (!send(*message)) {
        return;
      }
    }
  }
  [[nodiscard]] std::uint64_t failed_lines() const noexcept { return failed_lines_; }

 private:
  void bad(const std::string& text) {
    ++failed_lines_;
    client_.complain("line " + std::to_string(input_.line_number()) + ": " + text);
  }
  // False if everything stops.
  bool send(const LineMessage& message) {
    while (client_.wait_until_up()) {
      const auto outcome = client_.submit(message);
      if (!outcome) {
        bad("the message is longer than max_message_size");
        return true;
      }
      switch (*outcome) {
        case Client::Sent::sent: return true;
        case Client::Sent::refused: bad("not accepted as an application message"); return true;
        case Client::Sent::not_logged_on: continue;
        // The peer reads too slowly: waits.
        case Client::Sent::no_room: client_.linger(std::chrono::milliseconds{10}); continue;
        case Client::Sent::pending: break;
      }
      break;
    }
    bad("not sent: the session ended");
    return false;
  }

  Client& client_;
  LineInput& input_;
  std::uint64_t failed_lines_ = 0;
};

// Loads the configuration with only the selected session.
EngineConfig load_one_session(const ConnectOptions& options) {
  std::vector<std::string> warnings;
  EngineConfig config = load_any_config(options.config, &warnings);
  for (const std::string& warning : warnings) print_error("nfx: {}\n", warning);
  std::vector<std::size_t> initiators;
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    if (config.sessions[i].session.role == Role::initiator) initiators.push_back(i);
  }
  if (initiators.empty())
    throw ConfigError(options.config +
                      ": no session is an initiator: set role = \"initiator\" and connect = \"host:port\"");
  std::size_t chosen = initiators.front();
  if (options.session != 0) {
    chosen = options.session - 1;
    if (std::ranges::find(initiators, chosen) == initiators.end()) {
      throw ConfigError(options.config + ": session " + std::to_string(options.session) + " of " +
                        std::to_string(config.sessions.size()) + " is not an initiator; session " +
                        std::to_string(initiators.front() + 1) + " is");
    }
  } else if (initiators.size() > 1) {
    throw ConfigError(options.config + ": " + std::to_string(initiators.size()) +
                      " sessions are initiators: choose one, such as --session " +
                      std::to_string(initiators.front() + 1));
  }
  SessionSettings settings = std::move(config.sessions[chosen]);
  settings.poll_thread = 0;
  // Nothing is remembered between runs, so the last run's sequence numbers are unknown.
  if (settings.is_replicated()) {
    use_program_store(settings, options.config);  // the cluster remembers them
  } else if (!options.no_reset) {
    settings.session.reset_on_logon = true;
  }
  if (config.control.wanted()) {
    print_error("nfx: {}: [control] is for 'nfx serve' and has no effect here\n", options.config);
    config.control = {};
  }
  config.poll_threads = 1;
  config.sessions.clear();
  config.sessions.push_back(std::move(settings));
  return config;
}

int connect(const ConnectOptions& options) {
  EngineConfig config = load_one_session(options);
  const SessionSettings settings = config.sessions.front();
  Client client{options, settings};
  Engine engine{std::move(config), client};
  client.set_engine(engine);
  LineInput input;
  Sender sender{client, input};
  const StopOnSignal stop_on_signal{engine};
  std::jthread sending{[&] { sender.run(seconds(options.wait_s)); }};
  engine.start();
  std::unique_ptr<Gateway> gateway = make_gateway(engine, client.lines());
  engine.run();
  gateway.reset();
  client.engine_stopped();
  input.stop();
  sending.join();
  if (const std::string failure = client.failure(); !failure.empty()) {
    client.complain(failure);
    if (client.peer_was_silent()) client.explain(why_silent(settings));
    return exit_failed;
  }
  return client.was_up() && sender.failed_lines() == 0 ? exit_done : exit_failed;
}

}  // namespace

cli::Command connect_command() {
  static ConnectOptions options;
  return {
      .name = "connect",
      .summary = "Log on as an initiator, send messages, show the answers",
      .run = [] { return connect(options); },
      .options = {{.names = "CONFIG",
                   .target = &options.config,
                   .help = "TOML configuration; 'nfx config keys --text' lists all keys",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--session",
                   .target = &options.session,
                   .help = "Number of the [[session]] in the file, from 1; required if several are initiators",
                   .range = {{1}}},
                  {.names = "--wait",
                   .target = &options.wait_s,
                   .help = "Time to continue receiving after the end of the input",
                   .value = "SECONDS",
                   .range = {{0, 86400}}},
                  {.names = "--logon-wait",
                   .target = &options.logon_wait_s,
                   .help =
                       "Time limit for logging on, at first and after a lost connection; a first Logon that the only "
                       "address refuses ends it at once",
                   .value = "SECONDS",
                   .range = {{0.1, 86400}}},
                  {.names = "--no-reset",
                   .target = &options.no_reset,
                   .help = "Log on without ResetSeqNumFlag(141) unless the configuration sets reset_on_logon; outgoing "
                           "sequence numbers still start at 1 with every run"},
                  {.names = "--raw",
                   .target = &options.raw,
                   .help = "Show messages as their fields, '|' for SOH, instead of by name"},
                  color_option(options.color)},
      .details =
          R"(Reads one message per line: 35=D|11=1|55=IBM|54=1, with '|' or SOH between fields. 35 is needed; 8, 9, 10, 34, 43, 49, 52, 56 and 122 are ignored, as the session sets them. Empty lines and lines that begin with # are skipped.
Received messages go to standard output, session events to standard error. Passwords are masked. A peer that answers a Logon with nothing does not state why: then the probable causes are listed, and what to check for each. Logs out at the end of the input, or with Ctrl-C.

The least a configuration needs:
  [[session]]
  role = "initiator"
  sender_comp_id = "CLIENT"
  target_comp_id = "NEXUSFIX"
  connect = "127.0.0.1:9878")",
      .exit_codes = "0 done, 1 no logon, or a line could not be sent, 2 wrong usage or configuration",
      .examples = {{.line = "nfx connect initiator.toml", .about = "log on, type messages, see the answers"},
                   {.line = "echo '35=D|11=1|55=IBM|54=1|38=100|40=1|60=20240102-12:00:00' | nfx connect "
                            "initiator.toml --wait 1"}},
  };
}

}  // namespace nfx::app
