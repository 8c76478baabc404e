// The control plane of a running engine: a client on the UNIX socket, sessions on loopback TCP.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "control/controlled_program.hpp"
#include "engine/session_command.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class Counting final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon(SessionHandle& session) override { change(session, true); }
  // Also called for a refused Logon.
  void on_logout(SessionHandle& session, std::string_view) override { change(session, false); }
  // Waits for both sides of one session: 2 when it is logged on. False after 20 s.
  bool wait_for(std::size_t logged_on) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10min, [&] { return logged_on_.size() == logged_on; });
  }

 private:
  void change(const SessionHandle& session, bool logged_on) {
    {
      const std::lock_guard lock{mutex_};
      if (logged_on) {
        logged_on_.insert(&session);
      } else {
        logged_on_.erase(&session);
      }
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<const SessionHandle*> logged_on_;
};

EngineConfig venue_config() {
  EngineConfig config;
  SessionSettings& settings = config.sessions.emplace_back();
  settings.session.begin_string = "FIX.4.4";
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = "DESK";
  settings.store_kind = StoreKind::memory;
  settings.listen = {"127.0.0.1", 0};
  return config;
}

class ControlledEngine : public test::ControlledProgram {
 protected:
  void begin() override {
    EngineConfig config = venue_config();
    config.control.socket = folder.file("control.sock");
    config.control.audit = folder.file("audit.log");
    serve(config, application);
    desk.emplace(peer_config("DESK"), application);
    desk_thread = std::jthread{[this] { desk->run(); }};
    ASSERT_TRUE(application.wait_for(2));
  }
  void TearDown() override {
    if (desk) desk->stop();
    ControlledProgram::TearDown();
  }
  Json shown() { return Json::parse(ask("GET", control_path(name)).body); }

  const std::string name = "FIX.4.4:VENUE->DESK";
  Counting application;
  std::optional<Engine> desk;
  std::jthread desk_thread;
};

TEST_F(ControlledEngine, shows_its_sessions) {
  const Json list = Json::parse(ask("GET", "/v1/sessions").body);
  ASSERT_EQ(list["sessions"].size(), 1U);
  EXPECT_EQ(list["complete"], true);
  EXPECT_EQ(list["sessions"][0]["name"], name);
  EXPECT_EQ(list["sessions"][0]["state"], "logged_on");
  EXPECT_EQ(shown()["next_in"], 2);
  EXPECT_EQ(ask("GET", control_path("FIX.4.4:VENUE->NOBODY")).status, 404U);
}

TEST_F(ControlledEngine, sets_a_number_against_the_etag_that_was_seen) {
  const ControlReply seen = ask("GET", control_path(name));
  const ControlReply set = ask("POST", control_path(name, "set"), R"({"next_out": 50})", seen.etag);
  EXPECT_EQ(set.status, 200U) << set.body;
  EXPECT_EQ(Json::parse(set.body)["next_out"], 50);
  EXPECT_EQ(ask("POST", control_path(name, "set"), R"({"next_out": 60})", seen.etag).status, 412U);
  EXPECT_EQ(shown()["next_out"], 50);
}

TEST_F(ControlledEngine, drains_and_takes_sessions_again) {
  EXPECT_EQ(ask("POST", "/v1/engine/drain", R"({"text": "maintenance"})").status, 200U);
  EXPECT_TRUE(application.wait_for(0));
  EXPECT_EQ(ask("GET", "/readyz").status, 503U);
  EXPECT_EQ(ask("GET", "/healthz").status, 200U);
  EXPECT_EQ(ask("POST", "/v1/engine/end-drain").status, 200U);
  EXPECT_TRUE(application.wait_for(2));
  EXPECT_EQ(ask("GET", "/readyz").status, 200U);
}

TEST_F(ControlledEngine, metrics_have_the_session) {
  const ControlReply metrics = ask("GET", "/metrics");
  EXPECT_NE(metrics.body.find("session=\"" + name + "\""), std::string::npos) << metrics.body;
  EXPECT_TRUE(metrics.body.ends_with("# EOF\n"));
}

TEST_F(ControlledEngine, threads_are_those_of_the_process) {
  EXPECT_EQ(ask("GET", control_path(name, "store")).status, 409U) << "its store is memory; both threads run";
  const Json running = Json::parse(ask("GET", "/v1/threads").body)["running"];
  std::set<std::string> names;
  int poll_threads = 0;
  for (const Json& each : running) {
    names.insert(each["name"].get<std::string>());
    poll_threads += each["poll_thread"] == 0 ? 1 : 0;
  }
  EXPECT_TRUE(names.contains("nfx-control"));
  EXPECT_TRUE(names.contains("nfx-control-io"));
  EXPECT_EQ(poll_threads, 1) << "of this engine, and not of the other one";
}

TEST_F(ControlledEngine, only_threads_that_no_message_waits_for_give_way) {
  // Answered by nfx-control, so it is running, and so are the poll threads.
  const Json running = Json::parse(ask("GET", "/v1/threads").body)["running"];
  int of_poll_threads = 0;
  std::set<std::string> giving_way;
  for (const Json& each : running) {
    const int nice_value = ::getpriority(PRIO_PROCESS, each["tid"].get<id_t>());
    const std::string thread = each["name"].get<std::string>();
    if (each["poll_thread"] == 0) {
      ++of_poll_threads;
      EXPECT_EQ(nice_value, ::getpriority(PRIO_PROCESS, 0)) << thread;
    }
    if (nice_value == 19) giving_way.insert(thread);
  }
  EXPECT_EQ(of_poll_threads, 1);
  for (const char* thread : {"nfx-control", "nfx-latency"}) EXPECT_TRUE(giving_way.contains(thread)) << thread;
  EXPECT_FALSE(giving_way.contains("nfx-control-io")) << "threads that it starts would inherit it";
}

TEST_F(ControlledEngine, latencies_and_slowest_moments_answer) {
  EXPECT_EQ(Json::parse(ask("GET", "/v1/latency?window=start").body)["threads"].size(), 1U);
  EXPECT_EQ(Json::parse(ask("GET", "/v1/latency").body)["measured"], true);
  EXPECT_TRUE(Json::parse(ask("GET", "/v1/slowest").body)["moments"].is_array());
}

TEST_F(ControlledEngine, shows_the_messages_from_the_first_request_on) {
  const Json first = Json::parse(ask("GET", control_path(name, "messages")).body);
  EXPECT_EQ(first["began"], true);
  EXPECT_EQ(first["messages"], Json::array());
  // A TestRequest to the peer, and its answer.
  ASSERT_EQ(ask("POST", control_path(name, "test-request")).status, 200U);
  Json messages;
  const auto give_up = std::chrono::steady_clock::now() + 10min;
  std::uint64_t after = 0;
  while (messages.size() < 2 && std::chrono::steady_clock::now() < give_up) {
    const Json more = Json::parse(ask("GET", control_path(name, "messages") + "?after=" + std::to_string(after)).body);
    EXPECT_EQ(more["began"], false);
    EXPECT_EQ(more["dropped"], 0);
    for (const Json& each : more["messages"]) {
      EXPECT_GT(each["number"], after);
      after = each["number"];
      messages.push_back(each);
    }
    std::this_thread::sleep_for(10ms);  // limits the requests of a user per second
  }
  ASSERT_GE(messages.size(), 2U);
  const auto field = [](const Json& message, int tag) {
    for (const Json& each : message["fields"]) {
      if (each[0] == tag) return each[1].get<std::string>();
    }
    return std::string{};
  };
  EXPECT_EQ(messages[0]["direction"], "out");
  EXPECT_EQ(field(messages[0], 35), "1");
  EXPECT_EQ(messages[1]["direction"], "in");
  EXPECT_EQ(field(messages[1], 35), "0");
  EXPECT_EQ(field(messages[1], 112), field(messages[0], 112));
}

TEST_F(ControlledEngine, a_password_in_a_message_is_not_shown) {
  ASSERT_EQ(ask("GET", control_path(name, "messages")).status, 200U);
  const auto sent = desk->submit(0, {.msg_type = "BE",
                                     .body = "923=1\x01"
                                             "924=1\x01"
                                             "553=me\x01"
                                             "554=geheim\x01"});
  ASSERT_TRUE(sent);
  std::string body;
  const auto give_up = std::chrono::steady_clock::now() + 10min;
  while (body.find("[35,\"BE\"]") == std::string::npos && std::chrono::steady_clock::now() < give_up) {
    body = ask("GET", control_path(name, "messages")).body;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_NE(body.find("[553,\"me\"]"), std::string::npos) << body;
  EXPECT_NE(body.find("[554,\"***\"]"), std::string::npos) << body;
  EXPECT_EQ(body.find("geheim"), std::string::npos);
}

TEST_F(ControlledEngine, changes_are_in_the_audit_log_with_who) {
  EXPECT_EQ(ask("POST", control_path(name, "hold")).status, 200U);
  std::ifstream in{folder.file("audit.log")};
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const Json asked = Json::parse(line);
  EXPECT_EQ(asked["event"], "requested");
  EXPECT_EQ(asked["via"], "unix");
  EXPECT_EQ(asked["role"], "operator");
  EXPECT_EQ(asked["what"], "POST " + control_path(name, "hold"));
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(Json::parse(line)["event"], "done");
}

TEST_F(ControlledEngine, stops) {
  EXPECT_EQ(ask("POST", "/v1/engine/stop").status, 200U);
  EXPECT_TRUE(application.wait_for(0));
  thread.join();
  EXPECT_TRUE(engine->finished());
}

TEST_F(ControlledEngine, has_the_switches_of_its_poll_threads_without_a_placement) {
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_TRUE(metrics.contains("\nnfx_thread_voluntary_switches_total{thread=\"nfx-poll-0\"} "));
  EXPECT_TRUE(metrics.contains("\nnfx_thread_involuntary_switches_total{thread=\"nfx-poll-0\"} "));
  EXPECT_EQ(Json::parse(ask("GET", "/v1/threads").body)["threads"].size(), 0U) << "those of a plan";
}

TEST_F(ControlledEngine, every_command_of_the_table_answers_while_others_ask_too) {
  std::vector<std::jthread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([this] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(ask("GET", "/v1/sessions").status, 200U);
    });
  }
  for (const SessionCommandRow& row : session_command_rows) {
    if (row.only_reads || row.kind == SessionCommandKind::remove) continue;
    std::string body;
    if (row.takes(CommandArguments::numbers)) body = R"({"next_out": 500})";
    if (row.takes(CommandArguments::from)) body = R"({"from": 1})";
    const unsigned status = ask("POST", control_path(name, row.name), body, "*").status;
    EXPECT_TRUE(status == 200 || status == 409 || status == 422) << row.name << ": " << status;
  }
  EXPECT_EQ(ask("POST", control_path(name, "remove")).status, 200U);
  EXPECT_EQ(ask("GET", control_path(name)).status, 404U);
}

TEST(ControlOfEngine, there_is_none_where_nothing_is_configured) {
  Counting application;
  Engine engine{venue_config(), application};
  EXPECT_EQ(make_control(engine), nullptr);
}

}  // namespace
}  // namespace nfx
