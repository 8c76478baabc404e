// An engine with 1,000 sessions, some with traffic, and two operators who use every route of the API over HTTP, and
// session routes with every session: each request is answered, the audit log has each change, and no message is lost.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "control/routes.hpp"
#include "nexusfix/control/client.hpp"
#include "nexusfix/control/control.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/log/line_log.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "temporary_folder.hpp"
#include "transport/loopback.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr std::size_t session_count = 1000;
constexpr std::size_t busy_count = 8;
// A user has this many requests in a burst, and fewer per second afterwards, so an operator uses one token after the
// other.
constexpr std::size_t requests_of_a_token = 350;
constexpr std::size_t tokens_of_an_operator = 120;
// Routes of the engine follow after this number of sessions: four times in total, as many reload plans as a burst
// allows.
constexpr std::size_t sessions_between = session_count / 2;

using control::Route;

std::string desk_of(std::size_t number) { return "DESK" + std::to_string(number); }

SessionSettings initiator(std::string_view us, std::string_view them) {
  SessionSettings settings;
  settings.session.begin_string = "FIX.4.4";
  settings.session.sender_comp_id = us;
  settings.session.target_comp_id = them;
  settings.session.role = Role::initiator;
  settings.store_kind = StoreKind::memory;
  settings.reconnect_delay = 5ms;
  settings.reconnect_delay_max = 5ms;
  return settings;
}

constexpr std::string_view defaults_text =
    "[defaults]\nsender_comp_id = \"VENUE\"\nlisten = \"127.0.0.1:0\"\ndictionary = \"none\"\n";

// Sessions with traffic have a journal.
std::string session_text(const std::string& peer, bool has_journal, std::string_view more = {}) {
  std::string text = "[[session]]\ntarget_comp_id = \"" + peer + "\"\n";
  text += has_journal ? "store_directory = \"store\"\nstore_ring_directory = \"rings\"\nsegment_size = 1048576\n"
                      : "store = \"memory\"\n";
  return text.append(more);
}

// Sends numbered messages on each logged-on session until it is stopped.
class Desk final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon(SessionHandle& session) override { logged_on_.insert(&session); }
  void on_logout(SessionHandle& session, std::string_view) override { logged_on_.erase(&session); }
  Duration on_turn(Instant now) override {
    if (ends) return Duration::max();
    if (now.monotonic < due_) return due_ - now.monotonic;
    due_ = now.monotonic + 2ms;
    for (SessionHandle* session : logged_on_) {
      std::array<char, 128> space;
      FieldWriter body{space};
      body.append(Tag::ClOrdID, sent[session->id()] + 1);
      if (session->send({.msg_type = "D", .body = body.view()})) ++sent[session->id()];
    }
    return 2ms;
  }

  std::array<std::atomic<std::uint64_t>, busy_count> sent{};
  std::atomic<bool> ends{false};

 private:
  std::set<SessionHandle*> logged_on_;
  MonotonicTime due_{};
};

// Records which numbers arrived, however often.
class Venue final : public Application {
 public:
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    const auto number = message.get_int(Tag::ClOrdID);
    if (!number || session.id() >= busy_count) return Handled::done;
    {
      const std::lock_guard lock{mutex_};
      std::uint64_t& whole = whole_[session.id()];
      std::set<std::uint64_t>& further = further_[session.id()];
      further.insert(static_cast<std::uint64_t>(*number));
      while (further.erase(whole + 1) != 0) ++whole;
      std::erase_if(further, [&](std::uint64_t each) { return each <= whole; });
    }
    changed_.notify_all();
    return Handled::done;
  }
  // Whether 1 to `last` have arrived by then.
  bool wait_for(std::size_t session, std::uint64_t last, std::chrono::minutes patience) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [&] { return whole_[session] >= last; });
  }
  std::uint64_t whole(std::size_t session) {
    const std::lock_guard lock{mutex_};
    return whole_[session];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::uint64_t, busy_count> whole_{};
  std::array<std::set<std::uint64_t>, busy_count> further_;
};

struct Reply {
  unsigned status = 0;  // 0: no answer
  std::string etag;
  std::string body;
};

// One user of the API, with a connection and a token for each part of the requests.
class Operator {
 public:
  Operator(std::uint16_t port, std::vector<std::string> tokens) : port_(port), tokens_(std::move(tokens)) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() { disconnect(); }

  // Repeats the request if the poll thread was busy or late: the answer says that nothing was done.
  Reply ask(std::string_view method, const std::string& path, const std::string& body = {},
            const std::string& if_match = {}) {
    for (int tries = 0; tries < 50; ++tries) {
      Reply reply = once(method, path, body, if_match);
      if (reply.status != 503 && reply.status != 504) return reply;
      ++repeated;
    }
    return {};
  }

  Reply once(std::string_view method, const std::string& path, const std::string& body, const std::string& if_match) {
    if (!connect()) return {};
    const std::string& token = tokens_.at(used_++ / requests_of_a_token);
    std::string text{method};
    text += ' ' + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\nAuthorization: Bearer " + token;
    if (!if_match.empty()) text += "\r\nIf-Match: " + if_match;
    text += "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
    if (method == "GET") text.resize(text.rfind("\r\nContent-Type"));
    text += "\r\n\r\n" + body;
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) return {};
    return hear();
  }

  std::size_t repeated = 0;

 private:
  void disconnect() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  // The server closes a connection that was idle for as long as a request may take.
  bool is_open() const {
    pollfd closed{fd_, POLLIN, 0};
    return fd_ >= 0 && ::poll(&closed, 1, 0) == 0;
  }
  bool connect() {
    if (is_open() && used_ % requests_of_a_token != 0) return true;
    disconnect();
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = test::loopback(port_);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Reply hear() {
    std::string all;
    std::size_t head = std::string::npos, size = 0;
    char bytes[16384];
    while (head == std::string::npos || all.size() < head + size) {
      pollfd ready{fd_, POLLIN, 0};
      if (::poll(&ready, 1, 60'000) != 1) return {};
      const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
      if (got <= 0) return {};
      all.append(bytes, static_cast<std::size_t>(got));
      if (head != std::string::npos) continue;
      if (head = all.find("\r\n\r\n"); head == std::string::npos) continue;
      head += 4;
      size = std::strtoul(value_of(all, "Content-Length").c_str(), nullptr, 10);
    }
    Reply reply;
    reply.body = all.substr(head);
    reply.status = static_cast<unsigned>(std::strtoul(all.c_str() + sizeof "HTTP/1.1", nullptr, 10));
    all.resize(head);
    reply.etag = value_of(all, "ETag");
    return reply;
  }
  static std::string value_of(const std::string& head, const std::string& name) {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

  const std::uint16_t port_;
  const std::vector<std::string> tokens_;
  std::size_t used_ = 0;
  int fd_ = -1;
};

// An operator's answers.
struct Answers {
  std::size_t given = 0;  // number of requests for a change
  std::size_t done = 0;
  std::size_t refused = 0;
  std::map<std::string, std::size_t> done_of;     // "GET /metrics", including read requests
  std::map<std::string, std::size_t> unexpected;  // "POST /v1/engine/drain: 500"
};

std::size_t count_in(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::string name_of(const Route& route) { return std::string{route.method} + ' ' + route.path; }

// Answers that refuse a request because of the other operator's changes.
bool may_refuse(const Route& route, unsigned status) {
  if (route.operation == "plan_reload") return status == 409 || status == 429;
  if (route.operation == "get_messages") return status == 404 || status == 503;  // for eight sessions at a time
  if (route.operation == "reload" || route.operation == "add_session") return status == 409;  // while it drains
  if (route.operation == "is_ready") return status == 503;
  // Includes a missing journal.
  return route.of_session() && (status == 404 || status == 409 || status == 412 || status == 422);
}

class ControlLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!control_supported()) GTEST_SKIP() << "built without Boost.Beast";
    const std::string tokens_file = folder.file("tokens"), file = folder.file("engine.toml");
    {
      std::ofstream out{tokens_file};
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        for (std::size_t k = 0; k < tokens_of_an_operator; ++k) {
          std::string number = std::to_string(1000 * (i + 1) + k);
          out << "operator user" << number << ' ' << tokens[i].emplace_back(40 - number.size(), 't').append(number)
              << '\n';
        }
      }
    }
    ::chmod(tokens_file.c_str(), 0600);
    {
      std::ofstream out{file};
      out << "[control]\nhttp = \"127.0.0.1:0\"\ntokens = \"tokens\"\naudit = \"audit.log\"\n" << defaults_text;
      for (std::size_t i = 0; i < session_count; ++i) out << session_text(desk_of(i), i < busy_count);
    }
    engine.emplace(load_program_config(file, "test"), venue);
    engine->start();
    control = make_control(*engine, file);
    EngineConfig desk_config;
    for (std::size_t i = 0; i < busy_count; ++i) {
      desk_config.sessions.push_back(initiator(desk_of(i), "VENUE"));
      desk_config.sessions.back().connect = {*engine->local_endpoint(i)};
    }
    desk_engine.emplace(std::move(desk_config), desk);
    threads.emplace_back([this] { engine->run(); });
    threads.emplace_back([this] { desk_engine->run(); });
  }
  void TearDown() override {
    if (desk_engine) desk_engine->stop();
    if (engine) engine->stop();
    threads.clear();
    control.reset();
    desk_engine.reset();
    engine.reset();
    LineLog::set_least_level(LogLevel::info);
  }

  // Sets the body of a request, and the state that it is for. False if the session no longer exists.
  static bool complete(Operator& who, const Route& route, const std::string& session, std::size_t number,
                       std::string& body, std::string& if_match) {
    body = route.body_example;
    if (route.operation == "change_session") {
      const bool has_journal = number < busy_count;
      const std::string text = session_text(desk_of(number), has_journal, "max_latency_s = 60\n");
      body = Json{{"config", std::string{defaults_text} + text}}.dump();
    }
    if (route.command == nullptr || !route.command->takes(CommandArguments::expected)) return true;
    const SessionCommandRow& row = *route.command;
    // Like a person: reads the present state, and changes that.
    const Reply seen = who.ask("GET", session);
    if (seen.status != 200) return false;
    if_match = seen.etag;
    const std::uint64_t next_out = Json::parse(seen.body)["next_out"];
    if (row.takes(CommandArguments::numbers)) body = R"({"next_out": )" + std::to_string(next_out + 3) + "}";
    if (row.takes(CommandArguments::from)) body = R"({"from": 1})";
    return true;
  }
  static void note(const Route& route, unsigned status, Answers& answers) {
    if (route.changes()) ++answers.given;
    if (status == 200) {
      ++answers.done_of[name_of(route)];
      answers.done += route.changes() ? 1 : 0;
    } else if (may_refuse(route, status)) {
      answers.refused += route.changes() ? 1 : 0;
    } else {
      ++answers.unexpected[name_of(route) + ": " + std::to_string(status)];
    }
  }
  static void give(Operator& who, const Route& route, std::size_t number, bool by_name, Answers& answers) {
    const std::string session =
        by_name ? control_path("FIX.4.4:VENUE->" + desk_of(number)) : "/v1/sessions/" + std::to_string(number);
    std::string path = route.path, body, if_match;
    if (route.of_session()) path.replace(0, path.find('}') + 1, session);
    if (!complete(who, route, session, number, body, if_match)) {
      ++answers.unexpected["show for " + name_of(route)];
      return;
    }
    // It is a valid answer that eight sessions are already copied, or that the engine drains.
    const bool once = route.operation == "get_messages" || route.operation == "is_ready";
    const Reply reply =
        once ? who.once(route.method, path, body, if_match) : who.ask(route.method, path, body, if_match);
    note(route, reply.status, answers);
  }
  // Adds a session of this operator's own, and removes it again.
  static void add_and_remove(Operator& who, const Route& route, std::size_t i, Answers& answers) {
    const std::string peer = "ADDED" + std::to_string(i);
    const Json body{{"config", std::string{defaults_text} + session_text(peer, false)}};
    const Reply reply = who.ask(route.method, route.path, body.dump());
    note(route, reply.status, answers);
    if (reply.status != 200) return;
    const Route* remove = control::find_route("POST", control_path("FIX.4.4:VENUE->" + peer, "remove")).route;
    note(*remove, who.ask("POST", control_path("FIX.4.4:VENUE->" + peer, "remove")).status, answers);
  }
  // Both at the same time: the first starts with the first session, the second with the last one.
  template <class Chosen>
  void both(Chosen&& chosen) {
    std::vector<std::jthread> both_threads;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      both_threads.emplace_back([&, i] {
        for (std::size_t k = 0; k < session_count; ++k) {
          const std::size_t session = i == 0 ? k : session_count - 1 - k;
          for (const Route& route : control::routes()) {
            if (!chosen(route) || (!route.of_session() && k % sessions_between != 0)) continue;
            const bool removes = is_command(route, SessionCommandKind::remove);
            if (route.operation == "add_session") {
              add_and_remove(*operators[i], route, i, answers[i]);
            } else {
              give(*operators[i], route, session, i == 1 && !removes, answers[i]);
            }
          }
        }
      });
    }
  }
  // Commands that need a logged-on session; the earlier commands had logged all sessions out.
  void expect_done_while_logged_on() {
    const auto give_up = std::chrono::steady_clock::now() + 10min;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const Route& route : control::routes()) {
        if (!is_command(route, SessionCommandKind::test_request) && !is_command(route, SessionCommandKind::resend))
          continue;
        const std::string name = name_of(route);
        for (std::size_t k = 0; !answers[i].done_of.contains(name) && std::chrono::steady_clock::now() < give_up; ++k)
          give(*operators[i], route, k % busy_count, true, answers[i]);
      }
    }
  }
  static bool is_command(const Route& route, SessionCommandKind kind) {
    return route.command != nullptr && route.command->kind == kind;
  }
  // The number of audit lines by event.
  std::map<std::string, std::size_t> audited() const {
    std::map<std::string, std::size_t> events;
    std::ifstream in{folder.file("audit.log")};
    for (std::string line; std::getline(in, line);) ++events[Json::parse(line)["event"].get<std::string>()];
    return events;
  }
  static double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }

  test::TemporaryFolder folder;
  Venue venue;
  Desk desk;
  std::array<std::vector<std::string>, 2> tokens;
  std::optional<Engine> engine, desk_engine;
  std::unique_ptr<Control> control;
  std::vector<std::jthread> threads;
  std::array<std::unique_ptr<Operator>, 2> operators;
  std::array<Answers, 2> answers;
};

TEST_F(ControlLoad, two_operators_use_every_route_with_a_thousand_sessions_and_no_message_is_lost) {
  for (std::size_t i = 0; i < operators.size(); ++i)
    operators[i] = std::make_unique<Operator>(control->http_port(), tokens[i]);
  for (std::size_t i = 0; i < busy_count; ++i) ASSERT_TRUE(venue.wait_for(i, 1, 10min)) << "session " << i;
  // A reset begins a new sequence and a removal ends one; messages in flight may then be lost. So they come afterwards,
  // and the end of the engine comes last.
  const auto ends = [](const Route& route) {
    return route.operation == "stop_engine" || is_command(route, SessionCommandKind::reset) ||
           is_command(route, SessionCommandKind::remove);
  };
  const double before = cpu_seconds();
  both([&](const Route& route) { return !ends(route); });
  ASSERT_EQ(operators[0]->ask("POST", "/v1/engine/end-drain").status, 200U);
  ++answers[0].given;
  ++answers[0].done;
  both([](const Route& route) {
    return is_command(route, SessionCommandKind::enable) || is_command(route, SessionCommandKind::logon) ||
           is_command(route, SessionCommandKind::release);
  });
  expect_done_while_logged_on();
  desk.ends = true;
  // The messages sent before it ended. An iteration that began earlier may add one more, which arrives too.
  for (std::size_t i = 0; i < busy_count; ++i) {
    EXPECT_TRUE(venue.wait_for(i, desk.sent[i], 10min))
        << "session " << i << ": " << venue.whole(i) << " of " << desk.sent[i];
    EXPECT_GT(desk.sent[i], 1U);
  }
  const Json list = Json::parse(operators[0]->ask("GET", "/v1/sessions").body);
  EXPECT_EQ(list["sessions"].size(), session_count);
  EXPECT_EQ(list["complete"], true);
  for (const Json& each : list["sessions"]) {
    EXPECT_EQ(each["enabled"], true) << each["name"];
    EXPECT_EQ(each["held"], false) << each["name"];
  }
  const std::string metrics = operators[0]->ask("GET", "/metrics").body;
  for (const Json& each : list["sessions"])
    EXPECT_TRUE(metrics.contains("\nnfx_session_up{session=\"" + each["name"].get<std::string>() + "\"} "))
        << each["name"];
  EXPECT_EQ(count_in(metrics, "\nnfx_session_up{"), session_count) << "each once";
  both([](const Route& route) { return is_command(route, SessionCommandKind::reset); });
  const std::size_t done = answers[0].done + answers[1].done;
  both([](const Route& route) { return is_command(route, SessionCommandKind::remove); });
  EXPECT_EQ(answers[0].done + answers[1].done - done, session_count) << "each is removed once";
  EXPECT_EQ(Json::parse(operators[0]->ask("GET", "/v1/sessions").body)["sessions"].size(), 0U);
  for (const Route& route : control::routes()) {
    if (route.operation != "stop_engine") continue;
    for (std::size_t i = 0; i < operators.size(); ++i) give(*operators[i], route, 0, false, answers[i]);
  }

  const auto events = audited();
  std::size_t given = 0, again = 0;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    EXPECT_EQ(answers[i].unexpected, (std::map<std::string, std::size_t>{}));
    EXPECT_EQ(answers[i].done + answers[i].refused, answers[i].given);
    for (const Route& route : control::routes())
      EXPECT_TRUE(answers[i].done_of.contains(name_of(route))) << name_of(route) << " by operator " << i;
    given += answers[i].given;
    again += operators[i]->repeated;
  }
  EXPECT_GE(events.at("requested"), given);
  EXPECT_LE(events.at("requested"), given + again);
  const auto count_of = [&](const char* event) { return events.contains(event) ? events.at(event) : 0; };
  EXPECT_EQ(count_of("requested"), count_of("done") + count_of("refused") + count_of("incomplete"));
  EXPECT_GE(count_of("done") + count_of("incomplete"), answers[0].done + answers[1].done);
  EXPECT_LE(count_of("done"), answers[0].done + answers[1].done);
  // Processor time of all threads, to which other programs on the host do not add.
  const double used = cpu_seconds() - before;
  std::printf("%zu commands, %zu again, %.1f s of processor time\n", given, again, used);
#ifdef NFX_OPTIMISED
  // Twenty on an idle machine. Processes that share its caches and cores multiply it.
  EXPECT_LT(used, 200.0);
#endif
}

}  // namespace
}  // namespace nfx
