// Messages that a session sends for the application, and its errors: formats, refusals, texts.
#include <gtest/gtest.h>

#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

TEST(Send, refuses_what_is_not_an_application_message) {
  SessionRig rig = logged_on();
  EXPECT_EQ(rig.send("", "11=x\x01").error(), SendError::bad_message);
  for (const char* type : {"0", "1", "2", "3", "4", "5", "A"})
    EXPECT_EQ(rig.send(type, "").error(), SendError::bad_message);
  EXPECT_EQ(rig.send("D", "11=x").error(), SendError::bad_message);
  EXPECT_EQ(rig.send("D", "11=x\x01", "97=Y").error(), SendError::bad_message);
  for (const std::string& type : {std::string{"D\x01"
                                              "11=x"},
                                  std::string(1, '\0'), std::string{" "}})
    EXPECT_EQ(rig.send(type, "11=x\x01").error(), SendError::bad_message) << type;
  for (const char* body : {"garbage\x01", "\x01", "8=FIX.4.4\x01",
                           "34=9\x01"
                           "11=x\x01",
                           "011=x\x01", "11\x01"})
    EXPECT_EQ(rig.send("D", body).error(), SendError::bad_message) << body;
  for (const char* header : {"garbage\x01",
                             "97=Y\x01"
                             "garbage\x01",
                             "34=9\x01",
                             "115=A\x01"
                             "49=B\x01",
                             "115=\x01"})
    EXPECT_EQ(rig.send("D", "11=x\x01", header).error(), SendError::bad_message) << header;
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.session.next_outbound(), SeqNum{2});
}

TEST(Send, without_space_reports_it_and_consumes_no_sequence_number) {
  SessionRig rig = logged_on();
  rig.output_space = 50;
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::would_block);
  EXPECT_TRUE(rig.session.logged_on());
  rig.output_space = 500;
  EXPECT_EQ(rig.send("D", "11=x\x01"), SeqNum{2});
}

TEST(Send, with_one_actions_object_ends_with_no_room_instead_of_an_abort) {
  SessionRig rig = logged_on();
  std::vector<char> space(64 * 1024);
  Actions actions{space};
  std::size_t sent = 0;
  while (rig.session.send({.msg_type = "D", .body = "11=x\x01"}, rig.now, actions))
    ASSERT_LE(++sent, Actions::capacity);
  EXPECT_EQ(sent, Actions::capacity);
}

TEST(Send, is_over_once_a_logout_is_under_way) {
  SessionRig rig = logged_on();
  rig.logout("bye");
  EXPECT_EQ(rig.session.phase(), Phase::logout_sent);
  EXPECT_EQ(rig.send("D", "11=x\x01").error(), SendError::not_logged_on);
}

TEST(Send, writes_header_fields_between_its_own_and_the_body) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("8", "37=o\x01",
                       "97=Y\x01"
                       "128=DESK\x01"));
  const std::string text = with_bars(rig.take_sent());
  EXPECT_EQ(text.substr(0, text.size() - 7),
            "8=FIX.4.4|9=68|35=8|34=2|49=US|52=20240315-12:00:00.000|56=PEER|97=Y|128=DESK|37=o|");
}

TEST(Send, marks_only_the_applications_messages_as_stored) {
  SessionRig rig = logged_on();
  ASSERT_TRUE(rig.send("8", "11=x\x01"));
  say(rig, "35=1|34=2|112=x|");
  ASSERT_EQ(rig.store.size(), 1U);
  EXPECT_TRUE(rig.store.contains(2));
}

TEST(TimeStamps, have_whole_seconds_before_fix42_and_the_configured_digits_later) {
  const auto stamp = [](std::string_view version, unsigned digits) {
    SessionRig rig{acceptor_config({.begin_string = std::string{version}, .timestamp_digits = digits})};
    rig.now.utc += std::chrono::nanoseconds{123'456'789};
    log_on_acceptor(rig);
    EXPECT_TRUE(rig.send("8", "11=x\x01"));
    MessageView view;
    const std::string bytes = rig.take_sent();
    EXPECT_EQ(view.parse(bytes), WireError::none);
    return std::string{view.get_view(Tag::SendingTime)};
  };
  EXPECT_EQ(stamp("FIX.4.0", 3), "20240315-12:00:00");
  EXPECT_EQ(stamp("FIX.4.1", 9), "20240315-12:00:00");
  EXPECT_EQ(stamp("FIX.4.2", 3), "20240315-12:00:00.123");
  EXPECT_EQ(stamp("FIX.4.4", 0), "20240315-12:00:00");
  EXPECT_EQ(stamp("FIX.4.4", 6), "20240315-12:00:00.123456");
  EXPECT_EQ(stamp("FIX.4.4", 9), "20240315-12:00:00.123456789");
}

TEST(BusinessReject, is_a_stored_application_message_from_fix42_on) {
  for (const char* version : {"FIX.4.2", "FIX.4.3", "FIX.4.4"}) {
    SessionRig rig = logged_on(acceptor_config(version));
    say(rig, "35=B|34=2|148=x|");
    ASSERT_TRUE(rig.reject_business(rig.delivered.front(), BusinessRejectReason::unknown_id, "who?"));
    EXPECT_EQ(rig.take(), "35=j|34=2|45=2|58=who?|372=B|380=1|");
    EXPECT_TRUE(rig.store.contains(2));
  }
}

TEST(BusinessReject, is_a_plain_reject_before_fix42) {
  for (const char* version : {"FIX.4.0", "FIX.4.1"}) {
    SessionRig rig = logged_on(acceptor_config(version));
    say(rig, "35=B|34=2|115=DESK|148=x|");
    EXPECT_EQ(rig.reject_business(rig.delivered.front(), BusinessRejectReason::unknown_id, "who?"), SeqNum{2});
    EXPECT_EQ(rig.take(), "35=3|34=2|128=DESK|45=2|58=who?|");
    EXPECT_TRUE(rig.store.empty());
  }
}

TEST(BusinessReject, without_a_text_has_no_field_for_it) {
  SessionRig rig = logged_on();
  say(rig, "35=B|34=2|148=x|");
  EXPECT_EQ(rig.reject_business(rig.delivered.front(), BusinessRejectReason::other, ""), SeqNum{2});
  EXPECT_EQ(rig.take(), "35=j|34=2|45=2|372=B|380=0|");
}

TEST(BusinessReject, with_a_text_that_is_not_a_field_value_is_refused) {
  SessionRig rig = logged_on();
  say(rig, "35=B|34=2|148=x|");
  const std::string& news = rig.delivered.front();
  EXPECT_EQ(rig.reject_business(news, BusinessRejectReason::other,
                                "a\x01"
                                "b")
                .error(),
            SendError::bad_message);
  EXPECT_EQ(rig.reject_business(news, BusinessRejectReason::other, std::string(5000, 'x')).error(),
            SendError::bad_message);
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Reject, names_the_tag_in_its_text_before_fix42) {
  SessionRig rig = logged_on(acceptor_config("FIX.4.1"));
  say(rig, "35=0|34=2|");
  say(rig, "35=0|34=2|43=Y|");
  EXPECT_EQ(rig.take(), "35=3|34=2|45=2|58=Required tag missing (122)|");
}

TEST(Reject, leaves_out_routing_fields_too_long_to_echo) {
  SessionRig rig = logged_on();
  say(rig, "35=0|34=2|");
  say(rig, "35=0|34=2|43=Y|115=" + std::string(600, 'r') + "|");
  EXPECT_EQ(rig.take(), "35=3|34=2|45=2|58=Required tag missing|371=122|372=0|373=1|");
}

TEST(Logout, text_of_the_peer_outlives_its_message_and_is_bounded) {
  SessionRig rig = logged_on();
  std::vector<char> space(4096);
  Actions actions{space};
  {
    const std::string bytes = peer_message(rig, "35=5|34=2|58=" + std::string(1000, 'y') + "|");
    MessageView view;
    ASSERT_EQ(view.parse(bytes), WireError::none);
    rig.session.on_message(view, rig.now, actions);
  }
  const Action& last = actions.list().back();
  ASSERT_EQ(last.kind, ActionKind::logged_out);
  EXPECT_EQ(last.text, std::string(160, 'y'));
}

TEST(Logout, requested_twice_is_sent_once) {
  SessionRig rig = logged_on();
  rig.logout("first");
  rig.logout("second");
  EXPECT_EQ(rig.take(), "35=5|34=2|58=first|");
  EXPECT_TRUE(rig.sent.empty());
}

TEST(Logout, before_the_logon_just_closes) {
  SessionRig rig{acceptor_config()};
  rig.logout();
  EXPECT_TRUE(rig.sent.empty());
  rig.connect();
  rig.logout();
  EXPECT_TRUE(rig.closed);
  EXPECT_TRUE(rig.sent.empty());
  EXPECT_EQ(rig.logged_out_count, 0);
}

TEST(Logout, in_flight_still_takes_what_the_peer_had_sent) {
  SessionRig rig = logged_on();
  rig.logout();
  say(rig, "35=D|34=2|11=x|");
  EXPECT_EQ(rig.delivered.size(), 1U);
  say(rig, "35=5|34=3|");
  EXPECT_TRUE(rig.closed);
  EXPECT_EQ(rig.session.next_inbound(), SeqNum{4});
}

}  // namespace
}  // namespace nfx::test
