// Sessions that an operator adds to a running engine: they log on, and an invalid one is refused with its line.
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "control/controlled_program.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class LogonCounter final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon(SessionHandle&) override {
    {
      const std::lock_guard lock{mutex_};
      ++logons_;
    }
    changed_.notify_all();
  }
  bool wait_for(int logons) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10min, [&] { return logons_ >= logons; });
  }
  int logons() {
    const std::lock_guard lock{mutex_};
    return logons_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int logons_ = 0;
};

class AddedSessions : public test::ControlledProgram {
 protected:
  void begin() override {
    write(control_section + session("DESK", "store = \"memory\"\n"));
    serve_file(application);
  }
  static std::string session(const std::string& peer, const std::string& more = {}) {
    return "[[session]]\nsender_comp_id = \"VENUE\"\ntarget_comp_id = \"" + peer + "\"\nlisten = \"127.0.0.1:0\"\n" +
           more;
  }
  static std::string type_of(const ControlReply& reply) { return Json::parse(reply.body).value("type", "none"); }
  static std::string detail_of(const ControlReply& reply) { return Json::parse(reply.body)["detail"]; }
  [[nodiscard]] std::size_t sessions() const { return answer("GET", "/v1/sessions")["sessions"].size(); }

  LogonCounter application;
};

TEST_F(AddedSessions, log_on_and_have_their_journal_next_to_the_configuration) {
  const ControlReply reply = add(session("LATER"));
  ASSERT_EQ(reply.status, 200U) << reply.body;
  const Json shown = Json::parse(reply.body);
  EXPECT_EQ(shown["name"], "FIX.4.4:VENUE->LATER");
  EXPECT_EQ(shown["result"], "done");
  EXPECT_EQ(sessions(), 2U);
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("store")));
  Engine peer{peer_config("LATER"), application};  // both acceptors have one listen address
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
  EXPECT_EQ(ask("POST", "/v1/engine/drain").status, 200U);
  EXPECT_EQ(add(session("LAST", "store = \"memory\"\n")).status, 409U);
  EXPECT_EQ(sessions(), 2U);
  EXPECT_EQ(ask("POST", control_path("FIX.4.4:VENUE->LATER", "remove")).status, 200U);
  EXPECT_EQ(sessions(), 1U);
}

TEST_F(AddedSessions, that_are_being_removed_are_a_conflict_until_they_are_gone) {
  const std::string later = session("LATER", "store = \"memory\"\nlogout_timeout_s = 60\n");
  const ControlReply added = add(later);
  ASSERT_EQ(added.status, 200U) << added.body;
  const std::string name = "FIX.4.4:VENUE->LATER";
  const std::string number = std::to_string(Json::parse(added.body)["number"].get<std::size_t>());
  auto peer = std::make_unique<Engine>(peer_config("LATER"), application);
  const auto end = std::chrono::steady_clock::now() + 10min;
  while (application.logons() < 2 && std::chrono::steady_clock::now() < end) peer->turn(1ms);
  ASSERT_EQ(application.logons(), 2);
  // The peer does not run any more, so the Logout is not answered.
  ASSERT_EQ(ask("POST", control_path(name, "remove")).status, 200U);
  const std::string body = Json{{"config", later}}.dump();
  for (const std::string& path : {control_path(name), "/v1/sessions/" + number}) {
    for (const auto& [method, part, with] : std::initializer_list<std::array<std::string, 3>>{{"GET", "", ""},
                                                                                              {"POST", "/disable", ""},
                                                                                              {"POST", "/logon", ""},
                                                                                              {"POST", "/remove", ""},
                                                                                              {"POST", "/change", body},
                                                                                              {"GET", "/messages", ""},
                                                                                              {"GET", "/store", ""}}) {
      const ControlReply reply = ask(method, path + part, with);
      EXPECT_EQ(reply.status, 409U) << method << ' ' << path << part << ": " << reply.body;
      EXPECT_EQ(type_of(reply), "urn:nexusfix:problem:being-removed") << method << ' ' << path << part;
    }
  }
  const ControlReply again = add(later);
  EXPECT_EQ(again.status, 409U) << again.body;
  EXPECT_EQ(type_of(again), "urn:nexusfix:problem:being-removed");
  EXPECT_EQ(sessions(), 1U);
  peer.reset();
  while (ask("GET", control_path(name)).status == 409 && std::chrono::steady_clock::now() < end) continue;
  EXPECT_EQ(ask("POST", control_path(name, "disable")).status, 404U);
  EXPECT_EQ(ask("POST", "/v1/sessions/" + number + "/disable").status, 404U);
  EXPECT_EQ(add(later).status, 200U);
}

}  // namespace
}  // namespace nfx
