// A reset of both sequence numbers requested by this side: answered, carried out without an answer, refused, requested
// again, and withdrawn.
#include <gtest/gtest.h>

#include "nexusfix/session/session_message.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view reset_logon = "35=A|34=1|98=0|108=30|141=Y|";

// Logged on, with next numbers 40 in and 50 out.
SessionRig used_rig(SessionConfig config) {
  SessionRig rig{config};
  rig.session.restore(SeqNum{39}, SeqNum{49});
  if (config.role == Role::acceptor) {
    log_on_acceptor(rig);
  } else {
    log_on_initiator(rig);
  }
  return rig;
}

void ask_reset(SessionRig& rig) {
  EXPECT_EQ(rig.ask([&](Actions& out) { return rig.session.reset_numbers(rig.now, out); }), OperatorResult::done);
}

TEST(AskedReset, leaves_the_numbers_as_they_are_until_the_peer_answers) {
  SessionRig rig = used_rig(acceptor_config());
  ask_reset(rig);
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{40});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{50});
  EXPECT_EQ(rig.store_resets, 0);
  say(rig, reset_logon);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  EXPECT_EQ(rig.store_resets, 1);
  EXPECT_FALSE(rig.session.reset_asked());
}

TEST(AskedReset, refuses_messages_of_the_application_until_the_peer_answers) {
  SessionRig rig = used_rig(acceptor_config());
  ask_reset(rig);
  rig.sent.clear();
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::resetting);
  EXPECT_TRUE(rig.sent.empty());
  say(rig, reset_logon);
  EXPECT_EQ(rig.send("D", "11=x\x01"), SeqNum{2});
}

TEST(AskedReset, is_carried_out_when_the_peer_goes_on_with_number_one) {
  for (const std::string_view first : {"35=0|34=1|", "35=D|34=1|11=x|", "35=1|34=1|112=t|"}) {
    SessionRig rig = used_rig(acceptor_config());
    ask_reset(rig);
    rig.sent.clear();
    say(rig, "35=0|34=40|");  // sent before the peer saw the reset
    say(rig, first);
    EXPECT_FALSE(rig.session.reset_asked());
    EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
    EXPECT_EQ(rig.store_resets, 1);
    EXPECT_EQ(std::ranges::count(rig.notices, Notice::sequence_reset, &RigNotice::notice), 1);
    say(rig, "35=D|34=2|11=next|");
    EXPECT_EQ(rig.session.next_inbound(), SeqNum{3});
    EXPECT_EQ(rig.delivered.empty(), false);
    EXPECT_EQ(std::ranges::count(rig.notices, Notice::sequence_reset, &RigNotice::notice), 1);
    EXPECT_TRUE(rig.session.logged_on());
  }
}

TEST(AskedReset, is_not_carried_out_by_a_duplicate_or_a_gap_fill_of_number_one) {
  SessionRig rig = used_rig(acceptor_config());
  ask_reset(rig);
  say(rig, "35=D|34=1|43=Y|" + original_time(rig) + "11=x|");
  say(rig, "35=4|34=1|123=Y|36=40|");
  EXPECT_TRUE(rig.session.reset_asked());
  EXPECT_TRUE(rig.delivered.empty());
}

TEST(AskedReset, is_tested_after_half_the_time_so_that_a_silent_peer_shows_its_number) {
  SessionConfig config = acceptor_config();
  config.logon_timeout = 10s;
  SessionRig rig = used_rig(config);
  ask_reset(rig);
  rig.sent.clear();
  rig.advance(5s);
  EXPECT_EQ(rig.take(), "35=1|34=2|112=TEST|");
  say(rig, "35=0|34=1|112=TEST|");
  EXPECT_FALSE(rig.session.reset_asked());
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{3});
  rig.advance(20s);
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(AskedReset, of_an_initiator_is_repeated_with_each_logon_until_it_is_answered) {
  SessionRig rig = used_rig(initiator_config());
  ask_reset(rig);
  rig.cut();
  EXPECT_TRUE(rig.noticed(Notice::reset_unanswered));
  for (int attempt = 0; attempt < 2; ++attempt) {
    rig.sent.clear();
    rig.connect();
    EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|") << attempt;
    EXPECT_EQ(rig.session.next_outbound(), SeqNum{50});
    rig.cut();
  }
  rig.sent.clear();
  rig.connect();
  say(rig, reset_logon);
  EXPECT_TRUE(rig.session.logged_on());
  EXPECT_FALSE(rig.session.reset_asked());
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  rig.cut();
  rig.sent.clear();
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=2|98=0|108=30|");
}

TEST(AskedReset, is_repeated_by_the_next_process) {
  SessionRig rig{initiator_config()};
  rig.session.restore(SeqNum{40}, SeqNum{50});
  rig.session.restore_asked_reset();
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
  say(rig, reset_logon);
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
}

TEST(AskedReset, that_the_peer_refuses_by_logout_costs_no_number_and_is_asked_for_again) {
  SessionRig rig = used_rig(initiator_config());
  ask_reset(rig);
  rig.sent.clear();
  say(rig, "35=5|34=40|58=no reset here|");
  EXPECT_EQ(rig.take(), "35=5|34=50|") << "the peer counts on as before";
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{41});
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|141=Y|");
}

TEST(AskedReset, is_taken_back_after_the_last_attempt_with_the_numbers_of_before) {
  SessionRig rig = used_rig(initiator_config());
  ask_reset(rig);
  rig.cut();
  for (std::uint32_t attempt = 1; attempt < Session::max_reset_attempts; ++attempt) {
    ASSERT_TRUE(rig.session.reset_asked()) << attempt;
    rig.connect();
    say(rig, "35=5|34=40|58=MsgSeqNum too low|");
  }
  EXPECT_FALSE(rig.session.reset_asked());
  EXPECT_EQ(rig.notices.back().notice, Notice::reset_unanswered);
  EXPECT_NE(rig.notices.back().text.find("taken back"), std::string::npos);
  rig.sent.clear();
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=50|98=0|108=30|");
  EXPECT_EQ(rig.store_resets, 0);
}

TEST(AskedReset, of_an_acceptor_is_taken_back_when_the_peer_logs_on_with_its_old_number) {
  SessionRig rig = used_rig(acceptor_config());
  ask_reset(rig);
  rig.cut();
  rig.sent.clear();
  rig.connect();
  say(rig, "35=A|34=40|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=A|34=50|98=0|108=30|");
  EXPECT_FALSE(rig.session.reset_asked());
  EXPECT_EQ(rig.store_resets, 0);
  EXPECT_NE(rig.notices.back().text.find("taken back"), std::string::npos);
}

TEST(AskedReset, of_an_acceptor_is_carried_out_when_the_peer_logs_on_with_a_low_number) {
  SessionRig rig = used_rig(acceptor_config());
  ask_reset(rig);
  rig.cut();
  rig.sent.clear();
  rig.connect();
  say(rig, "35=A|34=1|98=0|108=30|");
  EXPECT_TRUE(rig.session.logged_on());
  EXPECT_EQ(rig.take(), "35=A|34=2|98=0|108=30|") << "our Logon with the flag was number 1";
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  EXPECT_EQ(rig.store_resets, 1);
}

TEST(AskedReset, of_an_acceptor_that_was_restarted_answers_above_what_the_peer_may_have_counted) {
  SessionRig rig{acceptor_config()};
  rig.session.restore(SeqNum{40}, SeqNum{50});
  rig.session.restore_asked_reset();
  rig.connect();
  say(rig, "35=A|34=2|98=0|108=30|");
  EXPECT_TRUE(rig.session.logged_on());
  EXPECT_EQ(rig.take(), "35=A|34=64|98=0|108=30|");
  EXPECT_EQ(rig.take(), "35=2|34=65|7=1|16=0|");
  // The peer requests the messages it has not received, none of which is an application message.
  say(rig, "35=2|34=3|7=2|16=0|");
  EXPECT_EQ(rig.take(), "35=4|34=2|43=Y|36=66|123=Y|");
}

TEST(AskedReset, ends_with_numbers_that_an_operator_sets) {
  SessionRig rig = used_rig(initiator_config());
  ask_reset(rig);
  rig.cut();
  rig.sent.clear();
  EXPECT_EQ(rig.ask([&](Actions& out) {
    return rig.session.set_numbers({.in = SeqNum{40}, .out = SeqNum{50}}, rig.now, out);
  }),
            OperatorResult::done);
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=50|98=0|108=30|");
}

TEST(AskedReset, ends_with_the_time_of_the_session_at_which_both_sides_start_over) {
  SessionRig rig = used_rig(initiator_config());
  ask_reset(rig);
  rig.cut();
  rig.sent.clear();
  rig.ask([&](Actions& out) {
    rig.session.start_over(out);
    return OperatorResult::done;
  });
  rig.connect();
  EXPECT_EQ(rig.take(), "35=A|34=1|98=0|108=30|");
}

TEST(ScheduledReset, takes_the_peers_number_one_for_its_answer) {
  SessionRig rig = used_rig(initiator_config());
  rig.reset();
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
  say(rig, "35=D|34=40|11=old|");
  say(rig, "35=D|34=1|11=new|");
  EXPECT_EQ(rig.delivered.size(), 1U);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{2});
  rig.advance(std::chrono::seconds{20});
  EXPECT_TRUE(rig.session.logged_on());
}

TEST(TestRequest, is_answered_with_an_id_as_long_as_a_message) {
  for (const std::size_t size : {1019U, 1020U, 1100U, 6 * 1024U, 60'000U}) {
    SessionRig rig = logged_on();
    const std::string id(size, 'x');
    say(rig, "35=1|34=2|112=" + id + "|");
    EXPECT_EQ(rig.take(), "35=0|34=2|112=" + id + "|") << size;
    EXPECT_TRUE(rig.session.logged_on());
  }
}

struct AddingHook final : SessionMessageHook {
  void on_sending(SessionMessage& message) noexcept override {
    seen = message.get_view(Tag::TestReqID);
    added = message.set(Tag::Text, "more");
    header = message.set_header(Tag::OnBehalfOfCompID, "DESK");
    removed = message.remove(Tag::Text);
  }
  std::string seen;
  bool added = false, header = false, removed = false;
};

TEST(TestRequest, with_a_long_id_is_shown_to_the_program_which_can_add_header_fields_only) {
  SessionRig rig = logged_on();
  AddingHook hook;
  rig.session.set_hook(&hook);
  const std::string id(20'000, 'x');
  say(rig, "35=1|34=2|112=" + id + "|");
  EXPECT_EQ(rig.take(), "35=0|34=2|115=DESK|112=" + id + "|");
  EXPECT_EQ(hook.seen, id);
  EXPECT_FALSE(hook.added);
  EXPECT_TRUE(hook.header);
  EXPECT_FALSE(hook.removed);
}

}  // namespace
}  // namespace nfx::test
