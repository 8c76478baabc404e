// QuickFIX against QuickFIX: the peer program must work as documented before anything else is compared with it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "peer_process.hpp"
#include "peer_program.hpp"
#include "transport/loopback.hpp"

namespace nfx::interop {
namespace {

struct Pair {
  explicit Pair(const std::vector<std::string>& both = {}, const std::string& initiator_store = {})
      : port(std::to_string(test::free_port())),
        acceptor(peer_program().path, with({"--acceptor", port, "--sender", "ACC", "--target", "INI"}, both)) {
    // The initiator would wait a whole ReconnectInterval if it started before the listener.
    listening = acceptor.wait_for("READY").has_value();
    std::vector<std::string> arguments = {"--initiator", "127.0.0.1:" + port, "--sender", "INI", "--target", "ACC"};
    if (!initiator_store.empty()) arguments.insert(arguments.end(), {"--store", "file", initiator_store});
    initiator.emplace(peer_program().path, with(std::move(arguments), both));
  }

  static std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  [[nodiscard]] bool logged_on() { return listening && initiator->wait_for("LOGON") && acceptor.wait_for("LOGON"); }

  [[nodiscard]] bool fills(int count) {
    for (int i = 0; i < count; ++i) {
      const auto filled = initiator->wait_for("EXEC id-" + std::to_string(++filled_) + ' ');
      const auto complete = filled ? initiator->wait_for("EXEC id-" + std::to_string(filled_) + ' ') : filled;
      if (!complete || word(*complete, 3) != "2") return false;
    }
    return true;
  }

  [[nodiscard]] bool both_finish_cleanly() { return initiator->finish() == 0 && acceptor.finish() == 0; }

  [[nodiscard]] std::string tails() const { return "initiator, " + initiator->tail() + "acceptor, " + acceptor.tail(); }

  std::string port;
  PeerProcess acceptor;
  std::optional<PeerProcess> initiator;
  bool listening = false;

 private:
  int filled_ = 0;
};

struct Version {
  std::string name;
  std::string begin_string;
  std::string dictionary;  // none when empty
};

class QuickFixWithItself : public testing::TestWithParam<Version> {
 protected:
  static std::vector<std::string> options() {
    std::vector<std::string> both = {"--begin-string", GetParam().begin_string};
    if (!GetParam().dictionary.empty()) {
      // Without a dictionary QuickFIX does not know which fields are data and may contain SOH.
      both.insert(both.end(), {"--rich", "--dictionary", NFX_SOURCE_DIR "/dictionaries/" + GetParam().dictionary});
    }
    return both;
  }
};

void PrintTo(const Version& version, std::ostream* out) { *out << version.name; }

std::string version_name(const testing::TestParamInfo<Version>& info) { return info.param.name; }

TEST_P(QuickFixWithItself, fills_a_thousand_orders_in_order_and_rejects_none) {
  Pair pair(options());
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("order 1000");
  ASSERT_TRUE(pair.fills(1000)) << pair.tails();
  pair.initiator->send_command("seq");
  EXPECT_EQ(pair.initiator->wait_for("SEQ"), "SEQ 1002 2002");
  EXPECT_TRUE(pair.both_finish_cleanly());
  EXPECT_EQ(pair.acceptor.events("REJECT"), std::vector<std::string>{});
  EXPECT_EQ(pair.initiator->events("REJECT"), std::vector<std::string>{});
  const std::vector<std::string> orders = pair.acceptor.events("ORDER");
  ASSERT_EQ(orders.size(), 1000U);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    ASSERT_TRUE(orders[i].starts_with("ORDER id-" + std::to_string(i + 1) + ' ' + std::to_string(i + 2) + " N "));
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, QuickFixWithItself,
                         testing::Values(Version{"fix42_unvalidated", "FIX.4.2", ""},
                                         Version{"fix42_with_our_dictionary", "FIX.4.2", "FIX42.xml"},
                                         Version{"fix44_unvalidated", "FIX.4.4", ""},
                                         Version{"fix44_with_our_dictionary", "FIX.4.4", "FIX44.xml"}),
                         version_name);

TEST(QuickFixCut, loses_no_order_and_delivers_none_twice) {
  Pair pair;
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("order 1000 cut 400");
  ASSERT_TRUE(pair.initiator->wait_for("LOGOUT"));
  ASSERT_TRUE(pair.initiator->wait_for("LOGON")) << pair.tails();
  // The last order was only stored, so it can arrive only by a resend.
  ASSERT_TRUE(pair.acceptor.wait_for("ORDER id-1000 1001 Y")) << pair.tails();
  EXPECT_TRUE(pair.both_finish_cleanly());
  std::set<std::string> ids;
  for (const std::string& order : pair.acceptor.events("ORDER")) {
    EXPECT_TRUE(ids.insert(word(order, 1)).second) << order;
  }
  EXPECT_EQ(ids.size(), 1000U);
}

TEST(QuickFixSkip, makes_the_other_side_ask_for_the_gap_and_fills_it) {
  Pair pair;
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("skip 5");
  pair.initiator->send_command("order 1");
  ASSERT_TRUE(pair.fills(1)) << pair.tails();
  EXPECT_EQ(pair.initiator->events("ADMIN-IN 2").size(), 1U) << pair.tails();
  EXPECT_EQ(pair.initiator->events("ADMIN-OUT 4 2 Y new=7 gapfill=Y").size(), 1U) << pair.tails();
}

TEST(QuickFixSetIn, makes_the_peer_ask_for_a_resend) {
  Pair pair;
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("order 3");
  ASSERT_TRUE(pair.fills(3)) << pair.tails();
  pair.initiator->send_command("set-in 4");
  pair.initiator->send_command("order 1");
  ASSERT_TRUE(pair.initiator->wait_for("ADMIN-OUT 2 6 N begin=4 end=0")) << pair.tails();
  ASSERT_TRUE(pair.initiator->wait_for("EXEC id-2 0 0 4 Y")) << pair.tails();
  ASSERT_TRUE(pair.initiator->wait_for("EXEC id-4 F 2 9")) << pair.tails();
}

TEST(QuickFixSequenceReset, continues_from_the_new_number) {
  for (const char* command : {"sequence-reset 50", "gap-fill 50"}) {
    Pair pair;
    ASSERT_TRUE(pair.logged_on()) << pair.tails();
    pair.initiator->send_command(command);
    pair.initiator->send_command("order 1");
    ASSERT_TRUE(pair.acceptor.wait_for("ORDER id-1 50 N")) << pair.tails();
    EXPECT_TRUE(pair.fills(1));
    EXPECT_EQ(pair.initiator->events("ADMIN-IN 2").size(), 0U) << command;
  }
}

TEST(QuickFixReset, starts_both_sides_at_one_again) {
  Pair pair;
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("order 3");
  ASSERT_TRUE(pair.fills(3)) << pair.tails();
  pair.initiator->send_command("reset");
  ASSERT_TRUE(pair.acceptor.wait_for("LOGOUT"));
  ASSERT_TRUE(pair.acceptor.wait_for("ADMIN-IN A 1 N heartbeat=30 reset=Y")) << pair.tails();
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("reset-live");
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("seq");
  EXPECT_EQ(pair.initiator->wait_for("SEQ"), "SEQ 2 2");
}

TEST(QuickFixLogout, of_the_acceptor_carries_its_text_and_holds_until_logon) {
  Pair pair;
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.acceptor.send_command("logout closing for today");
  EXPECT_EQ(pair.initiator->wait_for("LOGOUT"), "LOGOUT closing for today");
  ASSERT_TRUE(pair.acceptor.wait_for("LOGOUT"));
  pair.acceptor.send_command("status");
  EXPECT_EQ(pair.acceptor.wait_for("STATUS"), "STATUS off 3 3 0 0 0");
  pair.acceptor.send_command("logon");
  EXPECT_TRUE(pair.logged_on()) << pair.tails();
}

// Waits for the Heartbeat that answers TestRequest `id`; regular Heartbeats have no id.
bool answered(PeerProcess& peer, const std::string& id) {
  for (auto heartbeat = peer.wait_for("ADMIN-IN 0 "); heartbeat; heartbeat = peer.wait_for("ADMIN-IN 0 ")) {
    if (heartbeat->ends_with(" id=" + id)) return true;
  }
  return false;
}

TEST(QuickFixPause, keeps_silent_until_the_other_side_asks_and_answers_after_resume) {
  Pair pair({"--heartbeat", "1"});
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.acceptor.send_command("pause");
  ASSERT_TRUE(pair.initiator->wait_for("ADMIN-OUT 1 ")) << pair.tails();
  pair.acceptor.send_command("resume");
  EXPECT_TRUE(answered(*pair.initiator, "TEST")) << pair.tails();
  pair.initiator->send_command("test-request are you there");
  EXPECT_TRUE(answered(*pair.initiator, "are you there")) << pair.tails();
  EXPECT_EQ(pair.initiator->events("LOGOUT").size(), 0U);
}

TEST(QuickFixFileStore, carries_sequence_numbers_into_the_next_process) {
  const std::filesystem::path store =
      std::filesystem::path(testing::TempDir()) / ("quickfix_" + std::to_string(::getpid()));
  {
    Pair pair({}, store.string());
    ASSERT_TRUE(pair.logged_on()) << pair.tails();
    pair.initiator->send_command("order 10");
    ASSERT_TRUE(pair.fills(10)) << pair.tails();
    ASSERT_EQ(pair.initiator->finish(), 0);
    pair.initiator.emplace(peer_program().path,
                           std::vector<std::string>{"--initiator", "127.0.0.1:" + pair.port, "--sender", "INI",
                                                    "--target", "ACC", "--store", "file", store.string()});
    EXPECT_TRUE(pair.acceptor.wait_for("ADMIN-IN A 12 N")) << pair.tails();
    EXPECT_TRUE(pair.logged_on()) << pair.tails();
  }
  std::filesystem::remove_all(store);
}

TEST(QuickFixOrderWith, changes_and_leaves_out_fields_of_one_order) {
  Pair pair({"--begin-string", "FIX.4.4", "--dictionary", NFX_SOURCE_DIR "/dictionaries/FIX44.xml"});
  ASSERT_TRUE(pair.logged_on()) << pair.tails();
  pair.initiator->send_command("order-with 11=special");
  ASSERT_TRUE(pair.acceptor.wait_for("ORDER special 2 N")) << pair.tails();
  pair.initiator->send_command("order-with 40= 11=headless");
  EXPECT_TRUE(pair.acceptor.wait_for("REJECT out 3 3 D 40 1 ")) << pair.tails();
}

TEST(QuickFixPeer, reports_a_wrong_command_and_says_so_in_its_exit_code) {
  PeerProcess peer(peer_program().path, {"--acceptor", std::to_string(test::free_port())});
  ASSERT_TRUE(peer.wait_for("READY"));
  for (const char* command : {"sell everything", "order", "order 5 slice 3", "order 5 cut 6", "order-with symbol"}) {
    peer.send_command(command);
    EXPECT_TRUE(peer.wait_for("ERROR " + std::string(command))) << peer.tail();
  }
  EXPECT_EQ(peer.finish(), 1);
}

TEST(QuickFixPeer, refuses_to_start_without_a_usable_port_or_dictionary) {
  const std::string port = std::to_string(test::free_port());
  PeerProcess first(peer_program().path, {"--acceptor", port});
  ASSERT_TRUE(first.wait_for("READY"));
  PeerProcess second(peer_program().path, {"--acceptor", port});
  EXPECT_EQ(second.finish(), 2) << second.tail();
  PeerProcess third(peer_program().path, {"--acceptor", port, "--dictionary", NFX_SOURCE_DIR "/CMakeLists.txt"});
  EXPECT_EQ(third.finish(), 2) << third.tail();
}

}  // namespace
}  // namespace nfx::interop
