// Messages beyond max_message_size and max_fields: their number counts, one line names the limit, and nothing goes on
// for ever. And what the defaults hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <tuple>

#include "engine/oversized_message.hpp"
#include "engine/venue_and_peer.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx::test {
namespace {

// A snapshot with `levels` levels on each side.
std::string snapshot(std::size_t levels) {
  std::string body = field(262, "book") + field(55, "BTCUSDT") + field(268, std::to_string(2 * levels));
  for (std::size_t i = 0; i < 2 * levels; ++i) {
    body += field(269, i < levels ? "0" : "1") + field(270, std::to_string(50000 + i) + ".12345678") +
            field(271, "1.123456789012345678") + field(346, std::to_string(i % 90));
  }
  return body;
}

class TooLargeMessages : public VenueAndPeer {
 protected:
  void begin() {
    rig.venue.application.when_message = [this](SessionHandle&, const MessageView& message) {
      last_size = message.bytes().size();
      last_fields = message.size();
    };
    rig.venue.start();
    log_on();
  }
  void send_all(std::string_view bytes, std::size_t piece = 1 << 20) {
    for (int i = 0; i < 100'000 && !bytes.empty(); ++i) {
      bytes.remove_prefix(peer.send(bytes.substr(0, piece)));
      rig.turn();
    }
    rig.turn(2);
    peer.read();
  }
  [[nodiscard]] std::vector<std::string> answers() {
    std::vector<std::string> types = peer.all(Tag::MsgType);
    types.erase(types.begin());  // of the Logon
    return types;
  }

  std::size_t last_size = 0;
  std::uint32_t last_fields = 0;
};

TEST_F(TooLargeMessages, defaults_hold_a_snapshot_of_5000_levels_a_side) {
  begin();
  const std::string message = peer.next("W", snapshot(5000));
  send_all(message);
  EXPECT_EQ(last_size, message.size());
  EXPECT_EQ(last_fields, 8U + 3U + 40000U);
  EXPECT_TRUE(answers().empty());
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_TRUE(rig.venue.application.at().notices.empty());
}

TEST_F(TooLargeMessages, beyond_max_message_size_count_as_received_and_the_session_goes_on) {
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{7}, std::size_t{3000}}) {
    SCOPED_TRACE(piece);
    LoopRig other;
    other.venue.config.sessions = {acceptor()};
    other.venue.config.max_message_size = 4096;
    other.venue.start();
    RawPeer from{other.network, other.clock};
    from.connect();
    other.turn();
    from.send(from.logon());
    other.turn(2);
    std::string bytes = from.next("D", order(1));
    bytes += from.next("W", snapshot(200));
    bytes += from.next("D", order(2));
    std::string_view rest = bytes;
    for (int i = 0; i < 100'000 && !rest.empty(); ++i) {
      rest.remove_prefix(from.send(rest.substr(0, piece)));
      other.turn();
    }
    other.turn(2);
    from.read();
    RecordingApplication::Session& seen = other.venue.application.at();
    EXPECT_EQ(seen.orders, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(other.venue.application.count(Notice::too_large), 1U);
    EXPECT_EQ(other.venue.session().counters().too_large, 1U);
    EXPECT_EQ(other.venue.session().counters().garbled, 0U);
    EXPECT_EQ(other.venue.session().next_inbound(), SeqNum{5});
    EXPECT_EQ(from.all(Tag::MsgType), std::vector<std::string>{"A"}) << "no ResendRequest, no Logout";
  }
}

TEST_F(TooLargeMessages, beyond_max_fields_count_as_received_and_the_session_goes_on) {
  rig.venue.config.max_fields = 512;
  begin();
  send_all(peer.next("W", snapshot(150)));
  send_all(peer.next("D", order(1)));
  EXPECT_EQ(rig.venue.application.at().orders, std::vector<std::string>{"1"});
  EXPECT_EQ(rig.venue.session().counters().too_large, 1U);
  EXPECT_TRUE(answers().empty());
}

TEST_F(TooLargeMessages, name_key_and_size_in_one_line) {
  rig.venue.config.max_message_size = 4096;
  rig.venue.config.max_fields = 512;
  begin();
  const std::string large = peer.next("W", snapshot(200));
  std::string many;
  for (int i = 0; i < 600; ++i) many += "1=\x01";
  const std::string full = peer.next("W", many);
  ASSERT_LT(full.size(), 4096U);
  send_all(large);
  rig.pass(1100ms);  // a line a second of each kind
  send_all(full);
  const std::vector<std::string> expected{
      std::to_string(large.size()) + " bytes, [engine] max_message_size = 4096: raise it",
      std::to_string(full.size()) + " bytes with more than [engine] max_fields = 512 fields: raise it"};
  EXPECT_EQ(rig.venue.application.at().notice_texts, expected);
}

TEST_F(TooLargeMessages, end_the_session_for_good_where_that_is_chosen) {
  rig.venue.config.max_message_size = 4096;
  settings().too_large_message = TooLargeMessage::logout;
  begin();
  send_all(peer.next("W", snapshot(200)));
  EXPECT_EQ(answers(), std::vector<std::string>{"5"});
  EXPECT_EQ(peer.all(Tag::Text).back(), "message too large");
  send_all(peer.next(msg_type::logout));
  EXPECT_TRUE(peer.closed);
  peer.closed = false;
  peer.connect();
  rig.turn();
  peer.send(peer.logon());
  rig.turn(2);
  peer.read();
  EXPECT_TRUE(peer.closed) << "it stays logged out";
  EXPECT_EQ(rig.venue.application.refusals.back().reason, LogonRefusalReason::disabled);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{4}) << "the large message and the Logout count";
}

TEST_F(TooLargeMessages, with_a_wrong_check_sum_are_garbled_and_the_next_message_opens_the_gap) {
  rig.venue.config.max_message_size = 4096;
  begin();
  std::string wrong = peer.next("W", snapshot(200));
  wrong[wrong.size() / 2] ^= 1;
  send_all(wrong);
  EXPECT_EQ(rig.venue.session().counters().garbled, 1U);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{2});
  send_all(peer.next("D", order(1)));
  EXPECT_EQ(answers(), std::vector<std::string>{"2"});
}

TEST_F(TooLargeMessages, that_are_only_a_wrong_body_length_swallow_no_message) {
  rig.venue.config.max_message_size = 4096;
  begin();
  const std::string whole = peer.next("D", order(1));
  const std::string lost =
      "8=FIX.4.4\x01"
      "9=7000000\x01" +
      whole.substr(whole.find("35="));
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{200}}) {
    const std::uint64_t number = peer.seq;
    std::string bytes = lost + peer.next("D", order(number));
    bytes += peer.next("D", order(number + 1));
    send_all(bytes, piece);
  }
  EXPECT_EQ(rig.venue.session().counters().garbled, 2U);
  EXPECT_EQ(rig.venue.session().counters().too_large, 0U);
  EXPECT_EQ(answers(), std::vector<std::string>{"2"}) << "the message with the wrong length is requested again";
  EXPECT_EQ(rig.venue.session().counters().messages_in, 5U) << "with the Logon";
}

// A message that is right but for its length, as it would be sent again and again.
std::string with_length(const std::string& whole, const std::string& length) {
  return "8=FIX.4.4\x01"
         "9=" +
         length + '\x01' + whole.substr(whole.find("35="));
}

// A message with a valid CheckSum, whose Text gives it this size.
std::string message_of_size(RawPeer& peer, std::size_t size) {
  const std::string small = peer.message("B", field(58, "x"), peer.seq++);
  const std::size_t body = small.find("35="), end = small.rfind("10=");
  std::string fields = small.substr(body, end - body - 1);  // to the end of the Text
  const std::size_t around = std::string_view{"8=FIX.4.4|9=|10=000|"}.size() + std::to_string(size).size();
  fields.append(size - around - fields.size() - 1, 'x') += '\x01';
  std::string message =
      "8=FIX.4.4\x01"
      "9=" +
      std::to_string(fields.size()) + '\x01' + fields;
  std::array<char, 7> trailer;
  write_check_sum_field(trailer.data(), check_sum(message));
  return message.append(trailer.data(), trailer.size());
}

TEST_F(TooLargeMessages, beyond_any_possible_limit_count_as_received_too) {
  begin();
  for (const std::size_t size : {8'400'000U, 9'900'000U, 12'000'000U}) {
    const std::string large = message_of_size(peer, size);
    rig.pass(1100ms);
    send_all(large);
    EXPECT_FALSE(peer.closed) << size;
    send_all(peer.next("D", order(size)));
  }
  EXPECT_EQ(rig.venue.session().counters().too_large, 3U);
  EXPECT_EQ(rig.venue.session().counters().garbled, 0U);
  EXPECT_EQ(rig.venue.application.at().orders.size(), 3U);
  EXPECT_TRUE(answers().empty()) << "no ResendRequest, no Logout";
  EXPECT_EQ(rig.venue.application.at().notice_texts.size(), 3U);
}

TEST_F(TooLargeMessages, whose_start_of_the_next_message_is_cut_in_two_swallow_nothing) {
  begin();
  for (std::size_t cut = 0; cut <= 6; ++cut) {
    SCOPED_TRACE(cut);
    const std::uint64_t before = rig.venue.session().counters().garbled;
    const std::string next_one = peer.message("0", {}, 1, true);  // a possible duplicate: it changes nothing
    const std::string bytes = with_length(peer.message("D", order(1), 1), "5000000") + next_one;
    send_all(bytes.substr(0, bytes.size() - next_one.size() + cut));
    const std::uint64_t messages = rig.venue.session().counters().messages_in;
    send_all(bytes.substr(bytes.size() - next_one.size() + cut));
    EXPECT_EQ(rig.venue.session().counters().garbled, before + 1);
    EXPECT_EQ(rig.venue.session().counters().messages_in, messages + 1) << "the second one is whole";
  }
}

// The peer of a session that logs on again whenever it is cut off, and answers every ResendRequest with the same bytes.
class SameAnswer : public TooLargeMessages {
 protected:
  void log_on_again() {
    peer.connect();
    rig.turn();
    send_all(peer.next(msg_type::logon, field(98, "0") + field(108, "30")));
  }
  // How often the number is requested while the condition holds. Messages that the peer sent after it are filled.
  std::size_t requests_while(const std::function<bool()>& condition, const std::string& bytes, std::uint64_t number) {
    std::size_t requests = 0;
    for (int second = 0; second < 2000 && condition(); ++second) {
      if (peer.closed) log_on_again();
      peer.read();
      for (const std::string& each : peer.take_messages()) {
        const std::string type = RawPeer::get(each, Tag::MsgType);
        const std::string from = RawPeer::get(each, Tag::BeginSeqNo);
        if (type == "2" && from == std::to_string(number)) {
          ++requests;
          send_all(bytes);
        } else if (type == "2") {
          const std::string fill = field(123, "Y") + field(36, std::to_string(peer.seq));
          send_all(peer.message("4", fill, std::stoull(from), true));
        } else if (type == "1") {
          send_all(peer.next("0", field(112, RawPeer::get(each, Tag::TestReqID))));
        } else if (type == "5") {
          send_all(peer.next("5"));
        }
      }
      rig.pass(1s, 1s);
      peer.read();
    }
    return requests;
  }
  std::size_t requests_until_given_up(const std::string& bytes, std::uint64_t number) {
    return requests_while([&] { return rig.venue.session().next_inbound() <= SeqNum{number}; }, bytes, number);
  }
};

// The announced length, and whether nothing follows it.
class AnyLength : public SameAnswer, public ::testing::WithParamInterface<std::tuple<std::string, bool>> {};

TEST_P(AnyLength, is_requested_as_often_as_configured_and_then_given_up) {
  const auto [length, header_alone] = GetParam();
  settings().session.max_resend_attempts = 3;
  begin();
  const std::uint64_t number = peer.seq++;
  std::string bytes = with_length(peer.message("D", order(1), number), length);
  if (header_alone) bytes.resize(bytes.find("35="));
  send_all(bytes);
  send_all(peer.next("D", order(2)));
  const std::size_t requests = requests_until_given_up(bytes, number);
  EXPECT_GE(requests, 1U);
  EXPECT_LE(requests, 9U) << "an answer counts when later bytes show that it is wrong";
  RecordingApplication& seen = rig.venue.application;
  ASSERT_EQ(seen.count(Notice::unreadable), 1U);
  const auto at = std::ranges::find(seen.at().notices, Notice::unreadable) - seen.at().notices.begin();
  const std::string text = seen.at().notice_texts[static_cast<std::size_t>(at)];
  EXPECT_TRUE(text.contains("BodyLength(9)=" + length.substr(0, 18))) << text;
  EXPECT_EQ(text.contains("[engine] max_message_size = 1000000"), length.size() >= 7) << text;
  const auto behind = [&] { return peer.closed || rig.venue.session().next_inbound() < SeqNum{peer.seq}; };
  EXPECT_EQ(requests_while(behind, bytes, number), 0U) << "not requested again";
  send_all(peer.next("D", order(3)));
  ASSERT_FALSE(seen.at().orders.empty());
  EXPECT_EQ(seen.at().orders.back(), "3") << "the session goes on";
}

INSTANTIATE_TEST_SUITE_P(BodyLength, AnyLength,
                         ::testing::Combine(::testing::ValuesIn(std::vector<std::string>{
                                                "1", "40", "500", "5000", "60000", "900000", "1000000", "8000000",
                                                "9000000", "9999999", "10000000", "99999999", "999999999", "9999999999",
                                                "99999999999999999999", "x"}),
                                            ::testing::Bool()));

TEST_F(SameAnswer, ends_the_session_for_good_where_that_is_chosen) {
  settings().session.max_resend_attempts = 3;
  settings().too_large_message = TooLargeMessage::logout;
  begin();
  const std::uint64_t number = peer.seq++;
  const std::string bytes = with_length(peer.message("D", order(1), number), "999999999");
  send_all(bytes);
  send_all(peer.next("D", order(2)));
  EXPECT_LE(requests_until_given_up(bytes, number), 6U);
  peer.read();
  EXPECT_EQ(peer.all(Tag::Text).back(), "message too large");
}

TEST_F(SameAnswer, that_the_network_cuts_off_is_requested_for_as_long_as_it_takes) {
  settings().session.max_resend_attempts = 2;
  begin();
  const std::uint64_t number = peer.seq++;
  const std::string whole = peer.message("B", field(58, std::string(100'000, 'x')), number);
  send_all(peer.next("D", order(2)));
  for (int i = 0; i < 10; ++i) {
    send_all(whole.substr(0, 50'000));
    peer.close();
    rig.turn(2);
    log_on();
  }
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{number});
  send_all(whole);
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{number + 1});
  EXPECT_EQ(rig.venue.application.at().orders.size(), 1U);
}

TEST_F(TooLargeMessages, resent_after_a_gap_close_it) {
  rig.venue.config.max_message_size = 4096;
  begin();
  const std::string missing = peer.next("D", order(1));
  const std::uint64_t number = peer.seq;
  send_all(peer.next("W", snapshot(200)));
  EXPECT_EQ(answers(), std::vector<std::string>{"2"});
  send_all(missing + peer.message("W", snapshot(200), number));
  send_all(peer.next("D", order(2)));
  EXPECT_EQ(rig.venue.application.at().orders, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(answers().size(), 1U) << "the gap is requested once";
}

TEST_F(TooLargeMessages, stay_within_the_memory_of_an_ordinary_session) {
  begin();
  send_all(peer.next("D", order(1)));
  const auto resident = [] {
    std::ifstream in("/proc/self/statm");
    std::size_t all = 0, pages = 0;
    in >> all >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  };
  constexpr std::size_t sessions = 100;
  LoopRig other;
  for (std::size_t i = 0; i < sessions; ++i) other.venue.config.sessions.push_back(acceptor("T" + std::to_string(i)));
  other.venue.start();
  const std::size_t before = resident();
  LoopRig more;
  for (std::size_t i = 0; i < sessions; ++i) more.venue.config.sessions.push_back(acceptor("T" + std::to_string(i)));
  more.venue.start();
  EXPECT_LT((resident() - before) / sessions, std::size_t{64} * 1024) << "bytes of an idle session";
}

TEST(OversizedMessage, keeps_the_first_bytes_and_finds_a_wrong_check_sum_in_whatever_pieces) {
  std::vector<char> buffer(20'000);
  Encoder encoder{buffer};
  encoder.begin("FIX.4.4", "W");
  encoder.fields().append(Tag::MsgSeqNum, 7).append(Tag::Text, std::string(15'000, 'x'));
  std::string message{encoder.finish()};
  for (const std::size_t piece : {1U, 5U, 7U, 100U, 20'000U}) {
    for (const bool right : {true, false}) {
      message[9'000] = right ? 'x' : 'y';
      std::array<char, 4096> memory{};
      OversizedMessage oversized{memory, message.size()};
      std::string_view rest = message;
      while (oversized.under_way()) rest.remove_prefix(oversized.take(rest.substr(0, piece)));
      EXPECT_TRUE(rest.empty());
      EXPECT_EQ(oversized.is_right(), right);
      EXPECT_EQ(oversized.head(), std::string_view{message}.substr(0, memory.size()));
    }
  }
}

}  // namespace
}  // namespace nfx::test
