// A configuration file that changes while its engine runs: the answer lists the changes, possible ones are made, and a
// logged-on session continues.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "control/controlled_program.hpp"
#include "engine/engine_operations.hpp"
#include "nexusfix/log/line_log.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class LogonsAndLogouts final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon(SessionHandle&) override { count(logons_); }
  void on_logout(SessionHandle&, std::string_view) override { count(logouts_); }
  bool wait_for_logons(int count) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10min, [&] { return logons_ >= count; });
  }
  bool wait_for_logouts(int count) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10min, [&] { return logouts_ >= count; });
  }
  int logouts() {
    const std::lock_guard lock{mutex_};
    return logouts_;
  }

 private:
  void count(int& of) {
    {
      const std::lock_guard lock{mutex_};
      ++of;
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int logons_ = 0;
  int logouts_ = 0;
};

const std::string defaults = "[defaults]\nsender_comp_id = \"VENUE\"\nlisten = \"127.0.0.1:0\"\n";

std::string session(const std::string& peer, const std::string& more = {}) {
  return "[[session]]\ntarget_comp_id = \"" + peer + "\"\n" + more;
}

// A program that serves DESK and OTHER from a file; DESK is logged on by another engine.
class Reload : public test::ControlledProgram {
 protected:
  const std::string head = control_section + defaults;

  void begin() override {
    write(std::string{engine_section()} + head + session("DESK") + session("OTHER"));
    serve_file(application);
    peer.emplace(peer_config("DESK"), peer_application);
    peer_thread = std::jthread{[this] { peer->run(); }};
    ASSERT_TRUE(application.wait_for_logons(1));
  }
  [[nodiscard]] virtual std::string_view engine_section() const { return {}; }
  void TearDown() override {
    LineLog::set_least_level(LogLevel::info);
    if (peer) peer->stop();
    ControlledProgram::TearDown();
  }

  static std::string name_of(const std::string& peer_name) { return "FIX.4.4:VENUE->" + peer_name; }
  [[nodiscard]] Json plan() const { return answer("GET", "/v1/engine/reload"); }
  [[nodiscard]] Json reload() const { return answer("POST", "/v1/engine/reload"); }
  [[nodiscard]] Json shown(const std::string& peer_name) const {
    return Json::parse(ask("GET", control_path(name_of(peer_name))).body);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    const Json list = answer("GET", "/v1/sessions");
    for (const Json& each : list["sessions"]) all.push_back(each["name"]);
    return all;
  }
  // It is still logged on, and has sent and received only heartbeats.
  void expect_undisturbed() {
    EXPECT_EQ(shown("DESK")["state"], "logged_on");
    EXPECT_EQ(shown("DESK")["counters"]["logons_total"], 1);
    EXPECT_EQ(application.logouts(), 0);
  }

  LogonsAndLogouts application, peer_application;
  std::optional<Engine> peer;
  std::jthread peer_thread;
};

TEST_F(Reload, of_an_unchanged_file_has_nothing_to_do) {
  const Json planned = plan();
  EXPECT_EQ(planned["result"], "planned");
  EXPECT_EQ(planned["sessions"], Json::array());
  EXPECT_EQ(planned["engine"], Json::array());
  EXPECT_EQ(reload()["result"], "nothing_to_do");
  expect_undisturbed();
}

TEST_F(Reload, states_each_change_with_its_line_and_carries_out_none_of_the_plan) {
  write("[engine]\nmax_fields = 600\n" + head + session("DESK", "heartbeat_timeout_percent = 300\n") +
        session("OTHER", "timestamp_digits = 6\n") + session("LATER"));
  const Json planned = plan();
  ASSERT_EQ(planned["sessions"].size(), 3U) << planned;
  const Json& desk = planned["sessions"][0];
  EXPECT_EQ(desk["name"], name_of("DESK"));
  EXPECT_EQ(desk["change"], "change");
  EXPECT_EQ(desk["when"], "now");
  EXPECT_EQ(desk["keys"], Json::parse(R"([{"section": "session", "key": "heartbeat_timeout_percent", "before": "240",
                                           "after": "300", "place": "engine.toml:11", "when": "now"}])"));
  EXPECT_EQ(planned["sessions"][1]["name"], name_of("OTHER"));
  EXPECT_EQ(planned["sessions"][1]["when"], "now") << "it has no connection";
  EXPECT_EQ(planned["sessions"][1]["keys"][0]["when"], "disconnected");
  EXPECT_EQ(planned["sessions"][2]["change"], "add");
  EXPECT_EQ(planned["engine"], Json::parse(R"([{"section": "engine", "key": "max_fields", "before": "65536",
                                               "after": "600", "place": "engine.toml:2", "when": "restart"}])"));
  EXPECT_EQ(names().size(), 2U);
  EXPECT_EQ(plan(), planned);
  expect_undisturbed();
}

TEST_F(Reload, adds_changes_and_removes_sessions_while_another_is_logged_on) {
  write(head + session("DESK", "heartbeat_timeout_percent = 300\n") + session("LATER"));
  const Json done = reload();
  EXPECT_EQ(done["result"], "done") << done;
  EXPECT_EQ(names(), (std::vector<std::string>{name_of("DESK"), name_of("LATER")}));
  EXPECT_EQ(reload()["result"], "nothing_to_do");
  expect_undisturbed();
  write(head + session("DESK") + session("OTHER", "timestamp_digits = 6\n"));
  EXPECT_EQ(reload()["result"], "done");
  EXPECT_EQ(names(), (std::vector<std::string>{name_of("DESK"), name_of("OTHER")}));
  expect_undisturbed();
}

// A changed setting takes effect with the next event: the peer's next Logon is refused.
TEST_F(Reload, changes_what_a_session_looks_up_later) {
  write(head + session("DESK", "password = \"geheim\"\nallowed_addresses = [\"127.0.0.1\"]\n") + session("OTHER"));
  const ControlReply reply = ask("POST", "/v1/engine/reload");
  EXPECT_EQ(Json::parse(reply.body)["result"], "done") << reply.body;
  EXPECT_EQ(reply.body.find("geheim"), std::string::npos);
  expect_undisturbed();
  ASSERT_EQ(ask("POST", control_path(name_of("DESK"), "drop")).status, 200U);
  ASSERT_TRUE(application.wait_for_logouts(1));
  const auto give_up = std::chrono::steady_clock::now() + 10min;
  const auto refused = [this] { return engine->counters().credentials; };
  while (refused() == 0 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_GT(refused(), 0U);
  EXPECT_EQ(shown("DESK")["counters"]["logons_total"], 1);
}

TEST_F(Reload, and_a_change_give_a_session_another_etag) {
  const std::string other = control_path(name_of("OTHER"));
  const auto etag = [&] { return ask("GET", other).etag; };
  const auto command = [&](std::string_view name, const std::string& if_match) {
    return ask("POST", control_path(name_of("OTHER"), name), {}, if_match).status;
  };
  const auto change = [&](const std::string& keys, const std::string& if_match) {
    return ask("POST", control_path(name_of("OTHER"), "change"),
               Json{{"config", defaults + session("OTHER", keys)}}.dump(), if_match);
  };
  const std::string first = etag();
  EXPECT_EQ(reload()["result"], "nothing_to_do");
  EXPECT_EQ(etag(), first);
  write(head + session("DESK") + session("OTHER", "heartbeat_timeout_percent = 300\n"));
  EXPECT_EQ(reload()["result"], "done");
  for (const std::string_view name : {"disable", "reset", "remove"}) EXPECT_EQ(command(name, first), 412U) << name;
  const std::string second = etag();
  const ControlReply changed = change("heartbeat_timeout_percent = 350\n", second);
  EXPECT_EQ(changed.status, 200U) << changed.body;
  EXPECT_EQ(Json::parse(changed.body)["result"], "done") << changed.body;
  EXPECT_EQ(change("heartbeat_timeout_percent = 400\n", second).status, 412U);
  EXPECT_EQ(command("reset", second), 412U);
  EXPECT_EQ(command("reset", etag()), 200U);
}

TEST_F(Reload, leaves_what_needs_a_disconnect_until_there_is_one) {
  write(head + session("DESK", "timestamp_digits = 6\n") + session("OTHER"));
  const Json waits = reload();
  EXPECT_EQ(waits["result"], "incomplete");
  EXPECT_EQ(waits["sessions"][0]["when"], "disconnected");
  EXPECT_EQ(reload()["result"], "incomplete") << "it is still to be done";
  expect_undisturbed();
  ASSERT_EQ(ask("POST", control_path(name_of("DESK"), "logout")).status, 200U);
  ASSERT_TRUE(application.wait_for_logouts(1));
  const auto give_up = std::chrono::steady_clock::now() + 10min;
  while (shown("DESK")["connected"] == true && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_EQ(reload()["result"], "done");
  EXPECT_EQ(shown("DESK")["enabled"], false) << "as before";
  EXPECT_GE(shown("DESK")["next_out"].get<int>(), 3) << "its journal has the sequence numbers";
  ASSERT_EQ(ask("POST", control_path(name_of("DESK"), "logon")).status, 200U);
  EXPECT_TRUE(application.wait_for_logons(2));
}

TEST_F(Reload, of_an_invalid_file_names_its_line_and_changes_nothing) {
  const auto refused = [&](const std::string& text, std::string_view begin) {
    write(text);
    for (const std::string_view method : {"GET", "POST"}) {
      const ControlReply reply = ask(method, "/v1/engine/reload");
      EXPECT_EQ(reply.status, 422U) << reply.body;
      const std::string detail = Json::parse(reply.body)["detail"];
      EXPECT_TRUE(detail.starts_with(file() + std::string{begin})) << detail;
    }
  };
  const std::string good = head + session("LATER") + session("DESK", "heartbeat_timeout_percent = 300\n");
  refused(good + "heartbeet = 1\n", ":12:13: [session] heartbeet: unknown key");
  refused(good + session("LATER"), ":13:18: [session] target_comp_id: ");
  refused(good + "[[session", ":12:");
  refused("", ":1:1: no session");
  EXPECT_EQ(names(), (std::vector<std::string>{name_of("DESK"), name_of("OTHER")}));
  std::filesystem::remove(file());
  EXPECT_EQ(ask("POST", "/v1/engine/reload").status, 422U);
  expect_undisturbed();
}

TEST_F(Reload, leaves_what_needs_a_restart_and_says_why) {
  write(head + session("DESK") + session("OTHER") + session("*", "template = true\n") +
        session("SECURE",
                "listen = \"127.0.0.2:0\"\ntls = true\ntls_certificate = "
                "\"none.pem\"\n"));
  const Json done = reload();
  EXPECT_EQ(done["result"], "incomplete");
  ASSERT_EQ(done["sessions"].size(), 2U);
  for (const Json& each : done["sessions"]) {
    EXPECT_EQ(each["when"], "restart");
    EXPECT_FALSE(each["why"].get<std::string>().empty());
  }
  EXPECT_EQ(names().size(), 2U);
  expect_undisturbed();
}

constexpr std::string_view cluster =
    "[cluster]\nservers = [\"nats://127.0.0.1\"]\ngateway = \"a\"\ngateways = [\"a\", \"b\"]\n";
constexpr const char* replicated = "store = \"journal\"\nstore_directory = \"store\"\ndurability = \"replicated\"\n";

TEST_F(Reload, leaves_a_session_that_becomes_replicated_and_the_cluster_as_they_are) {
  write(head + std::string{cluster} + session("DESK") + session("OTHER", replicated) + session("LATER", replicated));
  for (int turn = 0; turn < 2; ++turn) {
    const Json left = reload();
    EXPECT_EQ(left["result"], "incomplete") << left;
    ASSERT_EQ(left["sessions"].size(), 2U) << left;
    for (const Json& each : left["sessions"]) {
      EXPECT_EQ(each["when"], "restart");
      EXPECT_EQ(each["why"], "it is replicated, or was");
    }
    EXPECT_EQ(left["sessions"][0]["change"], "change");
    EXPECT_EQ(left["sessions"][1]["change"], "add");
    ASSERT_FALSE(left["engine"].empty());
    for (const Json& each : left["engine"]) {
      EXPECT_EQ(each["section"], "cluster");
      EXPECT_EQ(each["when"], "restart");
    }
    EXPECT_EQ(names(), (std::vector<std::string>{name_of("DESK"), name_of("OTHER")}));
  }
  expect_undisturbed();
}

// Another gateway or none owns the session, so this engine does not have it.
class ReloadOfACluster : public test::ControlledProgram {
 protected:
  void begin() override {
    write_sessions(session("DESK") + session("SHARED", replicated));
    serve_file(application);
  }
  void write_sessions(const std::string& sessions) const {
    write(control_section + defaults + std::string{cluster} + sessions);
  }
  void expect_left(const std::string& sessions, std::string_view change) {
    write_sessions(sessions);
    const Json left = answer("POST", "/v1/engine/reload");
    EXPECT_EQ(left["result"], "incomplete") << left;
    ASSERT_EQ(left["sessions"].size(), 1U) << left;
    EXPECT_EQ(left["sessions"][0]["name"], "FIX.4.4:VENUE->SHARED");
    EXPECT_EQ(left["sessions"][0]["change"], change);
    EXPECT_EQ(left["sessions"][0]["when"], "restart");
    EXPECT_EQ(EngineOperations{*engine}.list_sessions().sessions.size(), 1U);
  }

  LogonsAndLogouts application;
};

TEST_F(ReloadOfACluster, leaves_replicated_sessions_to_their_gateways) {
  EXPECT_EQ(answer("POST", "/v1/engine/reload")["result"], "nothing_to_do") << "also where it does not run";
  expect_left(session("DESK") + session("SHARED", std::string{replicated} + "max_latency_s = 60\n"), "change");
  expect_left(session("DESK") + session("SHARED"), "change");
  expect_left(session("DESK"), "remove");
}

TEST_F(Reload, keeps_sessions_that_an_operator_has_added) {
  const Json added = Json::parse(add(defaults + session("GUEST")).body);
  EXPECT_EQ(added["name"], name_of("GUEST"));
  EXPECT_EQ(reload()["result"], "nothing_to_do");
  EXPECT_EQ(names().size(), 3U);
  write(head + session("DESK") + session("OTHER") + session("GUEST"));
  EXPECT_EQ(reload()["result"], "nothing_to_do") << "the file has what was added";
  write(head + session("DESK") + session("OTHER"));
  EXPECT_EQ(reload()["result"], "done");
  EXPECT_EQ(names().size(), 2U);
}

class LargeReload : public Reload {
 protected:
  [[nodiscard]] std::string_view engine_section() const override { return "[engine]\nmax_dynamic_sessions = 1000\n"; }
};

TEST_F(LargeReload, does_not_delay_other_requests) {
  constexpr int sessions = 1000;
  std::string file = std::string{engine_section()} + head + session("DESK") + session("OTHER");
  for (int i = 0; i < sessions; ++i) file += session("LATER" + std::to_string(i), "store = \"memory\"\n");
  write(file);
  auto reloaded = std::async(std::launch::async, [this] { return reload(); });
  int answered = 0;
  for (; reloaded.wait_for(0s) == std::future_status::timeout; ++answered) {
    EXPECT_EQ(ask("GET", "/healthz").status, 200U);
  }
  const Json done = reloaded.get();
  EXPECT_EQ(done["result"], "done") << done["problems"];
  EXPECT_GE(answered, 3) << "while the sessions were added; one could have waited for the end";
  EXPECT_EQ(names().size(), 2U + sessions);
  expect_undisturbed();
}

// A file is in the place of its journal, so that it cannot be added again until the test restores the folder; the
// reload tries for five seconds.
TEST_F(Reload, refuses_commands_to_a_session_while_it_is_replaced) {
  const std::filesystem::path journal =
      answer("GET", control_path(name_of("OTHER"), "store"))["folder"].get<std::string>();
  const std::filesystem::path aside = folder.file("aside");
  std::filesystem::rename(journal, aside);
  std::ofstream{journal} << "in the way";
  write(head + session("DESK") + session("OTHER", "timestamp_digits = 6\n"));
  auto reloaded = std::async(std::launch::async, [this] { return reload(); });
  const auto give_up = std::chrono::steady_clock::now() + 10min;
  unsigned status = 0;
  while (status != 503 && std::chrono::steady_clock::now() < give_up) {
    status = ask("GET", control_path(name_of("OTHER"))).status;
    std::this_thread::sleep_for(10ms);  // the reload counts towards the user's requests per second
  }
  EXPECT_EQ(status, 503U);
  EXPECT_EQ(ask("POST", control_path(name_of("OTHER"), "disable")).status, 503U);
  EXPECT_EQ(ask("POST", control_path(name_of("DESK"), "test-request")).status, 200U) << "others are not concerned";
  // Both at once: the reload would make the folder in between.
  ASSERT_EQ(::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, journal.c_str(), RENAME_EXCHANGE), 0);
  const Json done = reloaded.get();
  EXPECT_EQ(done["result"], "done") << done;
  EXPECT_EQ(shown("OTHER")["enabled"], true);
}

TEST_F(Reload, leaves_a_session_whose_new_address_is_in_use) {
  std::optional<EpollTransport> other{std::in_place};
  const auto listener = other->listen({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(listener.has_value());
  const std::string there = to_string(other->local_endpoint(*listener).value());
  write(head + session("DESK") + session("OTHER", "listen = \"" + there + "\"\n") +
        session("THIRD", "listen = \"" + there + "\"\n"));
  const std::string why =
      "cannot listen: bind " + there + ": Address already in use; choose a free address for 'listen'";
  for (const Json& report : {plan(), reload()}) {
    ASSERT_EQ(report["sessions"].size(), 2U) << report;
    for (const Json& each : report["sessions"]) {
      EXPECT_EQ(each["when"], "restart");
      EXPECT_EQ(each["why"], why);
    }
  }
  EXPECT_EQ(shown("OTHER")["enabled"], true);
  other.reset();
  EXPECT_EQ(reload()["result"], "done");
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(Reload, is_refused_while_the_engine_drains_and_is_in_the_audit_log) {
  write(head + session("DESK", "username = \"me\"\n") + session("OTHER"));
  EXPECT_EQ(reload()["result"], "done");
  ASSERT_EQ(ask("POST", "/v1/engine/drain").status, 200U);
  EXPECT_EQ(ask("POST", "/v1/engine/reload").status, 409U);
  std::ifstream in{folder.file("audit.log")};
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(Json::parse(line)["what"], "POST /v1/engine/reload");
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(Json::parse(line)["event"], "done");
  EXPECT_EQ(Json::parse(line)["detail"], "change " + name_of("DESK") + " username");
}

TEST_F(Reload, of_one_session_takes_its_text_from_the_operator) {
  const auto change = [&](const std::string& text) {
    return ask("POST", control_path(name_of("DESK"), "change"), Json{{"config", text}}.dump());
  };
  ControlReply reply = change(defaults + session("DESK", "max_latency_s = 60\n"));
  EXPECT_EQ(reply.status, 200U) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["result"], "done");
  EXPECT_EQ(Json::parse(reply.body)["sessions"][0]["keys"][0]["place"], "config:6");
  reply = change(defaults + session("DESK", "max_latency_s = 60\n"));
  EXPECT_EQ(Json::parse(reply.body)["result"], "nothing_to_do");
  reply = change(defaults + session("DESK", "timestamp_digits = 6\n"));
  EXPECT_EQ(Json::parse(reply.body)["result"], "incomplete");
  EXPECT_EQ(change(defaults + session("OTHER")).status, 422U);
  EXPECT_EQ(change(defaults + session("DESK", "max_latency_s = 0\n")).status, 422U);
  EXPECT_EQ(ask("POST", control_path("FIX.4.4:VENUE->NOBODY", "change"), R"({"config": ""})").status, 404U);
  const Json planned = plan();
  ASSERT_EQ(planned["sessions"].size(), 1U) << "the file has it otherwise";
  EXPECT_EQ(planned["sessions"][0]["keys"][0]["before"], "60");
  EXPECT_EQ(planned["sessions"][0]["keys"][0]["after"], "120");
  expect_undisturbed();
}

TEST_F(Reload, sets_the_level_of_the_lines) {
  write("[log]\nlevel = \"warning\"\n" + head + session("DESK") + session("OTHER"));
  EXPECT_EQ(reload()["result"], "done");
  EXPECT_EQ(LineLog::least_level(), LogLevel::warning);
  EXPECT_EQ(answer("POST", "/v1/engine/log-level", R"({"level": "error"})")["result"], "done");
  EXPECT_EQ(LineLog::least_level(), LogLevel::error);
  EXPECT_EQ(answer("GET", "/v1/engine")["log_level"], "error");
  EXPECT_EQ(reload()["result"], "nothing_to_do") << "the file has not changed since";
  EXPECT_EQ(ask("POST", "/v1/engine/log-level", R"({"level": "loud"})").status, 400U);
}

class ReloadOfAProgram : public test::ControlledProgram {
 protected:
  void begin() override {
    EngineConfig config;
    config.control.socket = folder.file("control.sock");
    config.control.audit = folder.file("audit.log");
    config.sessions.emplace_back();
    config.sessions[0].session.sender_comp_id = "VENUE";
    config.sessions[0].session.target_comp_id = "DESK";
    config.sessions[0].listen = {"127.0.0.1", 0};
    config.sessions[0].store_kind = StoreKind::memory;
    serve(config, application);
  }
  LogonsAndLogouts application;
};

TEST_F(ReloadOfAProgram, is_refused_as_there_is_no_file) { EXPECT_EQ(ask("POST", "/v1/engine/reload").status, 409U); }

}  // namespace
}  // namespace nfx
