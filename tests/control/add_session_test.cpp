// Sessions that an operator adds to an engine that runs: they log on, and what is invalid is refused with its line.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/control/client.hpp"
#include "nexusfix/control/control.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class LogonCounter final : public Application {
 public:
  void on_message(SessionHandle&, const MessageView&) override {}
  void on_logon(SessionHandle&) override {
    {
      const std::lock_guard lock{mutex_};
      ++logons_;
    }
    changed_.notify_all();
  }
  bool wait_for(int logons) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 30s, [&] { return logons_ >= logons; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int logons_ = 0;
};

// A program with an acceptor, and its configuration in a folder of its own.
class AddedSessions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!control_supported()) GTEST_SKIP() << "built without Boost.Beast";
    std::string made = (std::filesystem::temp_directory_path() / "nfx-added-XXXXXX").string();
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    folder = made;
    socket = folder / "control.sock";
    const std::string text =
        "[control]\nsocket = \"control.sock\"\naudit = \"audit.log\"\n" + session("DESK", "store = \"memory\"\n");
    engine.emplace(parse_config(text, "engine.toml", folder), application);
    engine->start();
    port = engine->local_endpoint(0)->port;
    control = make_control(*engine, folder / "engine.toml");
    thread = std::jthread{[this] { engine->run(); }};
  }
  void TearDown() override {
    if (engine) engine->stop();
    if (thread.joinable()) thread.join();
    control.reset();
    engine.reset();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  static std::string session(const std::string& peer, const std::string& more = {}) {
    return "[[session]]\nsender_comp_id = \"VENUE\"\ntarget_comp_id = \"" + peer + "\"\nlisten = \"127.0.0.1:0\"\n" +
           more;
  }
  ControlReply add(const std::string& config) {
    const auto reply = ask_control(
        {.socket = socket}, {.method = "POST", .target = "/v1/sessions", .body = Json{{"config", config}}.dump()});
    EXPECT_TRUE(reply) << (reply ? "" : reply.error());
    return reply ? *reply : ControlReply{};
  }
  static std::string detail_of(const ControlReply& reply) { return Json::parse(reply.body)["detail"]; }
  [[nodiscard]] std::size_t sessions() const {
    const auto reply = ask_control({.socket = socket}, {.target = "/v1/sessions"});
    return reply ? Json::parse(reply->body)["sessions"].size() : 0;
  }

  LogonCounter application;
  std::filesystem::path folder;
  std::string socket;
  std::uint16_t port = 0;
  std::optional<Engine> engine;
  std::unique_ptr<Control> control;
  std::jthread thread;
};

TEST_F(AddedSessions, log_on_and_have_their_journal_next_to_the_configuration) {
  const ControlReply reply = add(session("LATER"));
  ASSERT_EQ(reply.status, 200U) << reply.body;
  const Json shown = Json::parse(reply.body);
  EXPECT_EQ(shown["name"], "FIX.4.4:VENUE->LATER");
  EXPECT_EQ(shown["result"], "done");
  EXPECT_EQ(sessions(), 2U);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "store"));
  EngineConfig desk;
  desk.sessions.emplace_back();
  desk.sessions[0].session.begin_string = "FIX.4.4";
  desk.sessions[0].session.sender_comp_id = "LATER";
  desk.sessions[0].session.target_comp_id = "VENUE";
  desk.sessions[0].session.role = Role::initiator;
  desk.sessions[0].reconnect_delay = 10ms;
  desk.sessions[0].connect = {{"127.0.0.1", port}};  // both acceptors have one listen address
  Engine peer{desk, application};
  const std::jthread running{[&peer] { peer.run(); }};
  EXPECT_TRUE(application.wait_for(2)) << "both sides";
  peer.stop();
}

TEST_F(AddedSessions, that_are_invalid_are_refused_with_their_line) {
  const auto refused = [&](const std::string& config, std::string_view begin) {
    const ControlReply reply = add(config);
    EXPECT_EQ(reply.status, 422U) << config;
    EXPECT_TRUE(detail_of(reply).starts_with(begin)) << detail_of(reply);
  };
  refused("", "config:1:1: no session");
  refused("[[session]\n", "config:1:");
  refused(session("LATER", "heartbeet_s = 30\n"), "config:5:15: [session] heartbeet_s: unknown key");
  refused(session("LATER", "heartbeat_s = \"x\"\n"), "config:5:15: [session] heartbeat_s: ");
  refused(session("LATER", "poll_thread = 7\n"), "config:5:15: [session] poll_thread: ");
  refused("[engine]\npoll_threads = 2\n" + session("LATER"), "config:1:1: engine: a session that is added");
  refused(session("LATER") + session("OTHER"), "config:5:1: session: one session at a time");
  refused("session = []\n", "config:1:");
  refused(session("*", "template = true\n"), "config:5:12: [session] template: ");
  refused(session("LATER", "dictionary = \"none-such.xml\"\n"), "config:5:14: [session] dictionary: ");
  EXPECT_EQ(sessions(), 1U);
}

TEST_F(AddedSessions, are_added_once_and_not_while_the_engine_drains) {
  EXPECT_EQ(add("[defaults]\nstore = \"memory\"\n" + session("LATER")).status, 200U);
  const ControlReply again = add(session("LATER"));
  EXPECT_EQ(again.status, 409U);
  EXPECT_EQ(detail_of(again), "the session FIX.4.4:VENUE->LATER exists already");
  EXPECT_EQ(add(session("DESK")).status, 409U);
  const auto drained = ask_control({.socket = socket}, {.method = "POST", .target = "/v1/engine/drain"});
  ASSERT_TRUE(drained);
  EXPECT_EQ(add(session("LAST", "store = \"memory\"\n")).status, 409U);
  EXPECT_EQ(sessions(), 2U);
  const auto removed =
      ask_control({.socket = socket}, {.method = "POST", .target = control_path("FIX.4.4:VENUE->LATER", "remove")});
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->status, 200U);
  EXPECT_EQ(sessions(), 1U);
}

}  // namespace
}  // namespace nfx
