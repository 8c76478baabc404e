// The checks of a Logon before a session exists; a session makes the same checks.
#include "session/logon_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "nexusfix/dictionary/load.hpp"
#include "session/session_fixture.hpp"

namespace nfx::test {
namespace {

struct Case {
  std::string name;
  std::string logon;  // of the peer
  SessionConfig config = acceptor_config();
  std::string fault{};
  bool answered = false;
};

std::vector<Case> cases() {
  const SessionConfig secret = acceptor_config({.password = "secret"});
  const SessionConfig testing = acceptor_config({.environment = Environment::test});
  const SessionConfig ours = acceptor_config({.heartbeat_override = std::chrono::seconds{10}});
  static const Dictionary fix44 = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  const SessionConfig checked = acceptor_config({.dictionary = &fix44});
  const SessionConfig silent = acceptor_config({.answer_incomplete_logon = false});
  const SessionConfig fixt = acceptor_config({.begin_string = "FIXT.1.1", .default_appl_ver_id = "9"});
  const std::string remedy = ": correct the Logon, or the session's dictionary";
  const SessionConfig allowed = acceptor_config({.allow_no_heartbeats = true});
  return {
      {"good", "35=A|34=1|98=0|108=30|"},
      {"no number", "35=A|98=0|108=30|", acceptor_config(), "MsgSeqNum(34): Required tag missing: send it", true},
      {"no number, and silence is wanted", "35=A|98=0|108=30|", silent, "MsgSeqNum(34): Required tag missing: send it"},
      {"a number that is none", "35=A|34=1x|98=0|108=30|", silent,
       "MsgSeqNum(34)=1x: not a usable sequence number: correct it", true},
      {"no number, and a wrong password", "35=A|98=0|108=30|554=guess|", secret,
       "MsgSeqNum(34): Required tag missing: send it"},
      {"no version of the application", "35=A|34=1|98=0|108=30|", fixt,
       "DefaultApplVerID(1137): Required tag missing: send it", true},
      {"wrong password", "35=A|34=1|98=0|108=30|554=guess|", secret,
       "Logon with a wrong Username(553) or Password(554)"},
      {"right password", "35=A|34=1|98=0|108=30|554=secret|", secret},
      {"encrypted", "35=A|34=1|98=1|108=30|", acceptor_config(), "EncryptMethod(98)=1: only 0 (none) is supported",
       true},
      {"production", "35=A|34=1|98=0|108=30|", testing, "TestMessageIndicator(464): this is a test session: send Y",
       true},
      {"no interval", "35=A|34=1|98=0|", acceptor_config(), "HeartBtInt(108): Required tag missing: send it", true},
      {"no interval, and silence is wanted", "35=A|34=1|98=0|", silent,
       "HeartBtInt(108): Required tag missing: send it"},
      {"a wrong interval", "35=A|34=1|98=0|108=thirty|", acceptor_config(),
       "HeartBtInt(108)=thirty: not a number of seconds: correct it", true},
      {"against the dictionary", "35=A|34=1|98=0|108=thirty|", checked,
       "HeartBtInt(108)=thirty: Incorrect data format for value" + remedy, true},
      {"a field missing", "35=A|34=1|108=30|", checked, "EncryptMethod(98): Required tag missing" + remedy, true},
      {"a secret that is empty", "35=A|34=1|98=0|108=30|554=|", checked,
       "Password(554)=***: Tag specified without a value" + remedy, true},
      {"bytes that a terminal would act on", "35=A|34=1|98=\x1b[2J|108=30|", checked,
       "EncryptMethod(98)=?[2J: Incorrect data format for value" + remedy, true},
      {"negative interval", "35=A|34=1|98=0|108=-1|", acceptor_config(), "HeartBtInt(108)=-1: must not be negative",
       true},
      {"no heartbeats", "35=A|34=1|98=0|108=0|", acceptor_config(),
       "HeartBtInt(108)=0: must be above 0, as allow_no_heartbeats is not set here", true},
      {"no heartbeats, allowed", "35=A|34=1|98=0|108=0|", allowed},
      {"no heartbeats, but an override", "35=A|34=1|98=0|108=0|", ours},
      {"long interval", "35=A|34=1|98=0|108=3601|", acceptor_config(),
       "HeartBtInt(108)=3601: max_heartbeat_interval_s here is 3600", true},
      {"reset at 2", "35=A|34=2|98=0|108=30|141=Y|", acceptor_config(),
       "MsgSeqNum(34)=2: ResetSeqNumFlag(141)=Y needs 1", true},
  };
}

TEST(LogonCheck, finds_what_a_session_finds_and_a_session_does_what_it_says) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    SessionRig rig{each.config};
    const std::string bytes = peer_message(rig, each.logon);
    MessageView message;
    ASSERT_EQ(message.parse(bytes), WireError::none);
    ValidationReport scratch;
    std::array<char, clock_text_size> room{};
    LogonFault fault = logon_sender_fault(each.config, message, rig.now, scratch, room);
    if (!fault) fault = logon_terms_fault(each.config, message, room);
    EXPECT_EQ(fault.text, each.fault);
    EXPECT_EQ(fault.reason == LogonRefusalReason::none, each.fault.empty());
    EXPECT_EQ(fault.answered, each.answered);

    rig.connect();
    rig.receive(bytes);
    EXPECT_EQ(rig.session.logged_on(), each.fault.empty());
    if (each.fault.empty()) continue;
    EXPECT_TRUE(rig.closed);
    EXPECT_EQ(rig.refusal, fault.reason);
    EXPECT_EQ(rig.take(), each.answered ? "35=5|34=1|58=" + each.fault + "|" : "nothing");
  }
}

// Also for times so far apart that their difference in nanoseconds overflows.
TEST(LogonCheck, states_by_how_many_seconds_the_clocks_differ) {
  const SessionConfig config = acceptor_config();
  const Instant now{.utc = parse_utc_timestamp("20240315-12:00:00.250")->time, .monotonic = {}};
  const auto text = [&](std::string_view sending_time) {
    std::array<char, clock_text_size> room{};
    return std::string{clock_text(config, parse_utc_timestamp(sending_time)->time, now, room)};
  };
  const std::string fix = ", and max_latency_s allows 120: synchronise both clocks with NTP or PTP";
  EXPECT_EQ(text("20240315-11:00:00.000"), "SendingTime(52) is 3600 s earlier than our clock" + fix);
  EXPECT_EQ(text("20240315-13:00:00.999"), "SendingTime(52) is 3600 s later than our clock" + fix);
  EXPECT_EQ(text("17000101-00:00:00"), "SendingTime(52) is 10230840000 s earlier than our clock" + fix);
}

TEST(LogonCheck, refuses_a_clock_that_is_off_with_the_difference_in_the_reason) {
  SessionRig rig{acceptor_config()};
  const std::string bytes = peer_message(rig, "35=A|34=1|98=0|108=30|");
  rig.now.utc += std::chrono::seconds{600};
  rig.connect();
  rig.receive(bytes);
  EXPECT_EQ(rig.refusal, LogonRefusalReason::sending_time);
  EXPECT_TRUE(rig.close_text.starts_with("SendingTime(52) is 600 s earlier than our clock")) << rig.close_text;
}

TEST(LogonCheck, later_messages_of_a_clock_that_is_off_are_noticed_with_the_difference) {
  SessionRig rig = logged_on();
  const std::string bytes = peer_message(rig, "35=0|34=2|");
  rig.now.utc += std::chrono::seconds{600};
  rig.receive(bytes);
  ASSERT_FALSE(rig.notices.empty());
  EXPECT_EQ(rig.notices.back().notice, Notice::message_rejected);
  EXPECT_TRUE(rig.notices.back().text.starts_with("SendingTime(52) is 600 s earlier than our clock"))
      << rig.notices.back().text;
  EXPECT_NE(rig.take().find("58=SendingTime accuracy problem|"), std::string::npos) << "the peer reads what FIX states";
}

// A program's dictionary may have orders alone.
TEST(LogonCheck, leaves_session_messages_that_the_dictionary_lacks_to_the_session) {
  static const Dictionary orders = Dictionary::parse(R"(<fix type="FIX" major="4" minor="4">
  <messages><message name="Order" msgtype="D" msgcat="app"><field name="ClOrdID" required="Y"/></message></messages>
  <fields><field number="11" name="ClOrdID" type="STRING"/></fields></fix>)",
                                                     "order.xml");
  SessionRig rig = logged_on({.dictionary = &orders, .validation = ValidationPolicy::strict()});
  ASSERT_TRUE(rig.session.logged_on());
  static_cast<void>(rig.take());
  say(rig, "35=1|34=2|112=hello|");
  EXPECT_EQ(rig.take(), "35=0|34=2|112=hello|");
  say(rig, "35=U9|34=3|");
  EXPECT_NE(rig.take().find("372=U9|"), std::string::npos) << "a type of the application is still checked";
}

TEST(LogonCheck, takes_an_answer_without_heartbeats_for_an_initiator_that_proposed_none) {
  SessionRig rig{initiator_config({.heartbeat_interval = std::chrono::seconds{0}})};
  log_on_initiator(rig);
  SessionRig other{initiator_config()};
  other.connect();
  say(other, "35=A|34=1|98=0|108=0|");
  EXPECT_FALSE(other.session.logged_on());
}

}  // namespace
}  // namespace nfx::test
