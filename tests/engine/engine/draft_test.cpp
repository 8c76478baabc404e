// Messages that are written into the session's output: the same bytes as with send(), nothing left behind, and an error
// for every wrong use.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "engine/loop_rig.hpp"

namespace nfx::test {
namespace {

struct Drafts : ::testing::Test {
  LoopRig rig;
  std::vector<std::string> received;  // Text(58) of what the trader got

  void start(const std::function<void(SessionSettings&)>& change = {}) {
    SessionSettings venue = acceptor(), trader = initiator();
    if (change) {
      change(venue);
      change(trader);
    }
    rig.venue.config.sessions = {venue};
    rig.trader.config.sessions = {trader};
    rig.trader.application.when_message = [this](SessionHandle&, const MessageView& message) {
      received.emplace_back(message.get_view(Tag::Text));
    };
    rig.start_both();
    rig.turn(4);
    ASSERT_TRUE(session().logged_on());
  }
  SessionHandle& session() { return rig.venue.session(); }
  [[nodiscard]] std::vector<std::string>& sent() { return rig.venue.application.at().traffic_out; }

  // The last message that was sent, without MsgSeqNum and what depends on it.
  std::string last_sent() {
    MessageView view;
    EXPECT_EQ(view.parse(sent().back()), WireError::none) << sent().back();
    std::string text;
    for (std::uint32_t i = 0; i + 1 < view.size(); ++i) {
      if (view.tag_at(i) == Tag::MsgSeqNum || view.tag_at(i) == Tag::BodyLength) continue;
      text += std::to_string(value(view.tag_at(i))) + '=' + std::string{view.value_at(i)} + '|';
    }
    return text;
  }
};

TEST_F(Drafts, give_the_bytes_that_send_gives_at_every_length) {
  start([](SessionSettings& settings) {
    settings.send_buffer_size = 1 << 20;
    settings.session.sender_sub_id = "desk";
  });
  std::vector<std::size_t> sizes{1, 2, 20, 40};
  for (const std::size_t around : {200UL, 1000UL, 10'000UL, 100'000UL})
    for (std::size_t size = around - 110; size < around + 10; ++size) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    const std::string text(size, 'x'), body = field(58, text);
    ASSERT_TRUE(session().send({.msg_type = "B", .body = body}).has_value());
    const std::string expected = last_sent();
    auto news = session().create("B");
    news.append(Tag::Text, text);
    ASSERT_TRUE(news.ok());
    ASSERT_TRUE(news.send().has_value());
    EXPECT_EQ(last_sent(), expected) << size;
    rig.turn(4);
  }
  EXPECT_EQ(received.size(), 2 * sizes.size());
  EXPECT_EQ(rig.trader.session().counters().garbled, 0U);
}

TEST_F(Drafts, have_optional_header_fields_where_send_has_them) {
  start([](SessionSettings& settings) { settings.session.send_last_msg_seq_num_processed = true; });
  for (const std::string& header :
       {std::string{}, field(97, "Y"), field(115, "A") + field(116, "B"), field(97, "Y") + field(627, "1")}) {
    const std::string body = field(58, "x");
    ASSERT_TRUE(session().send({.msg_type = "B", .body = body, .header_fields = header}).has_value());
    const std::string expected = last_sent();
    auto news = session().create("B", header);
    news.append<Tag::Text>("x");
    ASSERT_TRUE(news.send().has_value());
    EXPECT_EQ(last_sent(), expected);
  }
}

TEST_F(Drafts, that_end_unsent_leave_nothing_behind) {
  start();
  const SeqNum before = session().next_outbound();
  const std::size_t count = sent().size();
  {
    auto news = session().create("B");
    news.append(Tag::Text, "never");
  }
  {
    auto news = session().create("B");
    news.append(Tag::Text, "never");
    news.discard();
    EXPECT_EQ(news.send().error(), SendError::discarded);
  }
  rig.turn(4);
  EXPECT_EQ(session().next_outbound(), before);
  EXPECT_EQ(sent().size(), count);
  auto news = session().create("B");
  news.append(Tag::Text, "this one");
  EXPECT_EQ(news.send().value(), before);
  rig.turn(4);
  EXPECT_EQ(received, std::vector<std::string>{"this one"});
}

TEST_F(Drafts, are_sent_once) {
  start();
  auto news = session().create("B");
  news.append(Tag::Text, "x");
  ASSERT_TRUE(news.send().has_value());
  EXPECT_EQ(news.send().error(), SendError::discarded);
  news.append(Tag::Text, "y");
  EXPECT_EQ(news.send().error(), SendError::discarded);
  rig.turn(4);
  EXPECT_EQ(received, std::vector<std::string>{"x"});
}

TEST_F(Drafts, are_discarded_by_whatever_else_uses_the_output) {
  start();
  const std::string body = field(58, "other");
  MessageView order;
  RawPeer peer{rig.network, rig.clock};
  const std::string bytes = peer.message("D", field(11, "1"), 1);
  ASSERT_EQ(order.parse(bytes), WireError::none);
  const std::vector<std::function<void()>> uses{
      [&] { ASSERT_TRUE(session().send({.msg_type = "B", .body = body}).has_value()); },
      [&] {
        auto other = session().create("B");
        other.append(Tag::Text, "other");
        ASSERT_TRUE(other.send().has_value());
      },
      [&] { ASSERT_TRUE(session().reject_business(order, BusinessRejectReason::other, "no").has_value()); },
      [&] { session().flush(); },
      [&] {
        ASSERT_TRUE(rig.trader.session().send({.msg_type = "D", .body = body}).has_value());
        rig.turn(2);
      },
      [&] { session().reset_sequence_numbers(); },
      [&] { session().logout("done"); },
      [&] { session().drop_connection(); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!session().logged_on()) {
      session().logon();
      rig.trader.session().logon();
      rig.pass(20s);
    }
    ASSERT_TRUE(session().logged_on()) << i;
    auto news = session().create("B");
    news.append(Tag::Text, "first");
    uses[i]();
    news.append(Tag::Text, std::string(400, 'z'));  // goes nowhere
    EXPECT_FALSE(news.ok());
    EXPECT_EQ(news.send().error(), SendError::discarded) << i;
    EXPECT_EQ(news.why(),
              "the draft is over: it was sent or given up, or the session sent or received another message");
    rig.turn(6);
  }
  EXPECT_EQ(std::ranges::count(received, "first"), 0);
  EXPECT_EQ(std::ranges::count(received, "other"), 2);
  EXPECT_EQ(rig.trader.session().counters().garbled, 0U);
}

TEST_F(Drafts, outlive_their_session) {
  start();
  std::unique_ptr<Draft> news{new Draft{session().create("B")}};
  rig.venue.loop.reset();
  news->append(Tag::Text, "nobody");
  EXPECT_EQ(news->send().error(), SendError::discarded);
}

TEST_F(Drafts, tell_wrong_fields_by_their_tag) {
  start();
  const SeqNum before = session().next_outbound();
  const auto refused = [&](auto&& write, WriteFault fault, std::string_view why) {
    auto report = session().create("8");
    report.append(Tag::OrderID, "1");
    write(report);
    report.append(Tag::ExecID, "1");
    EXPECT_FALSE(report.ok());
    EXPECT_EQ(report.fault(), fault);
    EXPECT_EQ(report.why(), why);
    EXPECT_EQ(report.send().error(), SendError::bad_message);
    EXPECT_EQ(report.why(), why) << "also afterwards";
  };
  refused([](Draft& report) { report.append(Tag::LeavesQty, std::string_view{}); },
          {WriteError::empty_value, Tag::LeavesQty}, "tag 151: the value is empty");
  refused([](Draft& report) { report.append<Tag::LeavesQty>(""); }, {WriteError::empty_value, Tag::LeavesQty},
          "tag 151: the value is empty");
  refused([](Draft& report) { report.append(Tag::Side, '\0'); }, {WriteError::empty_value, Tag::Side},
          "tag 54: the value is empty");
  refused(
      [](Draft& report) {
        report.append(Tag::Text,
                      "a\x01"
                      "b");
      },
      {WriteError::contains_soh, Tag::Text}, "tag 58: the value contains SOH");
  refused([](Draft& report) { report.append(Tag::Text, std::string(100, 'a') + '\x01'); },
          {WriteError::contains_soh, Tag::Text}, "tag 58: the value contains SOH");
  refused([](Draft& report) { report.append(Tag{0}, 1); }, {WriteError::bad_tag, Tag{0}}, "tag 0: not a tag");
  refused([](Draft& report) { report.append(Tag{-5}, 1); }, {WriteError::bad_tag, Tag{-5}}, "tag -5: not a tag");
  refused([](Draft& report) { report.append_data(Tag::RawDataLength, Tag::RawData, {}); },
          {WriteError::empty_value, Tag::RawData}, "tag 96: the value is empty");
  refused([](Draft& report) { report.append_raw("58=x"); }, {WriteError::incomplete, Tag{0}},
          "tag 0: fields whose last one does not end with SOH");
  EXPECT_EQ(session().next_outbound(), before);
}

// Messages that send() refuses because they were not checked when they were written.
TEST_F(Drafts, refuse_fields_of_the_header_and_texts_that_are_no_fields_however_they_were_written) {
  start();
  const SeqNum before = session().next_outbound();
  const auto refused = [&](auto&& write, WriteFault fault) {
    auto report = session().create("8", "97=Y\x01");
    report.append(Tag::OrderID, "1");
    write(report);
    EXPECT_EQ(report.send().error(), SendError::bad_message);
    EXPECT_EQ(report.fault(), fault) << report.why();
  };
  for (const Tag tag : {Tag::BeginString, Tag::MsgType, Tag::CheckSum, Tag::SenderSubID, Tag::PossResend,
                        Tag::OnBehalfOfCompID, Tag::OrigSendingTime})
    refused([tag](Draft& report) { report.append(tag, "5"); }, {WriteError::header_field, tag});
  refused([](Draft& report) { report.fields().append(Tag::MsgSeqNum, 9); }, {WriteError::header_field, Tag::MsgSeqNum});
  refused([](Draft& report) { report.append_data(Tag::MsgSeqNum, Tag{5000}, "abc"); },
          {WriteError::header_field, Tag::MsgSeqNum});
  refused(
      [](Draft& report) {
        report.append_raw(
            "58=x\x01"
            "10=000\x01");
      },
      {WriteError::header_field, Tag::CheckSum});
  refused([](Draft& report) { report.append_raw("garbage\x01"); }, {WriteError::bad_tag, Tag{}});
  refused([](Draft& report) { report.append_raw("\x01"); }, {WriteError::bad_tag, Tag{}});
  refused([](Draft& report) { report.append_raw("058=x\x01"); }, {WriteError::bad_tag, Tag{}});
  refused([](Draft& report) { report.append_raw("58\x01"); }, {WriteError::bad_tag, Tag::Text});
  refused([](Draft& report) { report.append_raw("99999999999=x\x01"); }, {WriteError::bad_tag, Tag{}});
  refused([](Draft& report) { report.append_raw("58=\x01"); }, {WriteError::empty_value, Tag::Text});
  refused([](Draft& report) { report.append(Tag::RawDataLength, 3).append(Tag::RawData, "abcd"); },
          {WriteError::bad_value, Tag::RawData});
  refused([](Draft& report) { report.append<Tag::RawDataLength>(30).append<Tag::RawData>("abcd"); },
          {WriteError::bad_value, Tag::RawData});
  EXPECT_EQ(session().next_outbound(), before);
  auto report = session().create("8", "97=Y\x01");
  report.append(Tag::RawDataLength, 4)
      .append(Tag::RawData, "abcd")
      .append_data(Tag::EncodedTextLen, Tag::EncodedText,
                   "a\x01"
                   "34=1");
  report.append_raw("58=last\x01").fields().append(Tag{5001}, 1);
  EXPECT_TRUE(report.send().has_value());
  rig.turn(4);
  EXPECT_EQ(received, std::vector<std::string>{"last"});
}

TEST_F(Drafts, name_the_field_that_was_given_a_null_pointer_or_a_value_out_of_range) {
  start();
  const char* const nothing = nullptr;
  auto news = session().create("B", nothing);
  news.append(Tag::Text, nothing);
  EXPECT_EQ(news.fault(), (WriteFault{WriteError::empty_value, Tag::Text}));
  auto late = session().create("B");
  late.append(Tag::TransactTime, std::chrono::sys_days{std::chrono::year{9999} / 12 / 31});
  EXPECT_EQ(late.fault(), (WriteFault{WriteError::bad_value, Tag::TransactTime}));
#ifdef NDEBUG
  auto order = session().create("D");
  order.append(Tag::Price, Decimal{1, 19});
  EXPECT_EQ(order.fault(), (WriteFault{WriteError::bad_value, Tag::Price}));
#endif
}

TEST_F(Drafts, and_other_requests_from_another_thread_are_refused) {
  start();
  const SeqNum before = session().next_outbound();
  std::vector<SendError> errors;
  std::thread{[&] {
    const std::string body = field(58, "x");
    errors.push_back(session().send({.msg_type = "B", .body = body}).error());
    auto news = session().create("B");
    news.append(Tag::Text, "x");
    EXPECT_EQ(news.why(), "not the session's poll thread: Engine::submit sends from other threads");
    errors.push_back(news.send().error());
    const MessageView nothing;
    errors.push_back(session().reject_business(nothing, BusinessRejectReason::other, "x").error());
  }}.join();
  EXPECT_EQ(errors, (std::vector<SendError>(3, SendError::wrong_thread)));
  EXPECT_EQ(session().next_outbound(), before);
  EXPECT_TRUE(session().send({.msg_type = "B", .body = "58=x\x01"}).has_value());
  rig.turn(4);
  EXPECT_EQ(received, std::vector<std::string>{"x"});
}

TEST_F(Drafts, whose_fields_were_cleared_are_not_sent) {
  start();
  const SeqNum before = session().next_outbound();
  {
    auto news = session().create("B");
    news.fields().clear();
    news.append(Tag::Text, "no header");
    EXPECT_EQ(news.send().error(), SendError::bad_message);
  }
  const std::string body = field(58, "other");
  {
    auto news = session().create("B");
    news.append(Tag::Text, "");
    ASSERT_TRUE(session().send({.msg_type = "B", .body = body}).has_value());
    EXPECT_EQ(news.fault(), (WriteFault{WriteError::empty_value, Tag::Text}));
    news.fields().clear();
    news.append(Tag::Text, "into what is sent");
    EXPECT_EQ(news.send().error(), SendError::discarded);
  }
  rig.turn(4);
  EXPECT_EQ(session().next_outbound(), next(before));
  EXPECT_EQ(received, std::vector<std::string>{"other"});
  EXPECT_EQ(rig.trader.session().counters().garbled, 0U);
}

TEST_F(Drafts, cannot_begin_without_a_session_a_type_or_a_right_to_send) {
  rig.venue.config.sessions = {acceptor()};
  rig.venue.start();
  const auto error = [&](std::string_view type, std::string_view header = {}) {
    auto draft = session().create(type, header);
    draft.append(Tag::Text, "x");
    EXPECT_FALSE(draft.ok());
    return draft.send().error();
  };
  EXPECT_EQ(error("B"), SendError::not_logged_on);
  rig.trader.config.sessions = {initiator()};
  rig.trader.start();
  rig.turn(6);
  ASSERT_TRUE(session().logged_on());
  for (const char* type : {"", "0", "A", "5", "4", "2", "1", "3"})
    EXPECT_EQ(error(type), SendError::bad_message) << type;
  EXPECT_EQ(error("B", "97=Y"), SendError::bad_message);
  auto odd = session().create(
      "B\x01"
      "58=");
  EXPECT_EQ(odd.send().error(), SendError::bad_message);
  std::vector<SendError> errors;
  rig.venue.application.when_traffic = [&](SessionHandle& handle, Direction) {
    auto draft = handle.create("B");
    errors.push_back(draft.send().error());
  };
  ASSERT_TRUE(session().send({.msg_type = "B", .body = "58=x\x01"}).has_value());
  EXPECT_EQ(errors, std::vector<SendError>{SendError::not_here});
}

TEST_F(Drafts, distinguish_what_is_too_long_from_what_has_no_space_now) {
  start([](SessionSettings& settings) { settings.send_buffer_size = 131072; });
  {
    auto news = session().create("B");
    news.append(Tag::Text, std::string(120'000, 'x'));
    EXPECT_EQ(news.fault(), (WriteFault{WriteError::no_space, Tag::Text}));
    EXPECT_EQ(news.send().error(), SendError::too_long);
  }
  const std::string text(1000, 'x');
  std::size_t taken = 0;
  for (;; ++taken) {  // the peer does not read meanwhile
    ASSERT_LT(taken, 200U);
    auto news = session().create("B");
    news.append(Tag::Text, text);
    const auto result = news.send();
    if (result) continue;
    EXPECT_EQ(result.error(), SendError::would_block);
    EXPECT_TRUE(is_back_pressure(result.error()));
    break;
  }
  EXPECT_EQ(session().counters().send_refused, 1U);
  rig.turn(20);
  auto news = session().create("B");
  news.append(Tag::Text, text);
  EXPECT_TRUE(news.send().has_value());
  rig.turn(20);
  EXPECT_EQ(received.size(), taken + 1);
}

class RandomDrafts : public Drafts, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(RandomDrafts, arrive_in_order_and_whole_whatever_is_given_up_between_them) {
  start([](SessionSettings& settings) { settings.send_buffer_size = 131072; });
  std::mt19937 random{GetParam()};
  std::vector<std::string> expected;
  const auto text = [&] {
    const std::size_t size = 1 + random() % (random() % 10 == 0 ? 3000 : 120);
    std::string result(size, ' ');
    for (char& c : result) c = static_cast<char>('a' + random() % 26);
    return result;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string first = text(), second = text();
    switch (random() % 6) {
      case 0: {
        const std::string body = field(58, first);
        if (session().send({.msg_type = "B", .body = body})) expected.push_back(first);
        break;
      }
      case 1: {
        auto news = session().create("B");
        news.append(Tag::Text, first);
        break;
      }
      case 2: {  // given up by another one
        auto news = session().create("B");
        news.append(Tag::Text, first);
        auto other = session().create("B");
        other.append(Tag::Text, second);
        news.append(Tag::Headline, first);
        if (other.send()) expected.push_back(second);
        EXPECT_EQ(news.send().error(), SendError::discarded);
        break;
      }
      case 3: rig.turn(static_cast<int>(random() % 3)); break;
      default: {
        auto news = session().create("B");
        news.append(Tag::Text, first);
        if (news.send()) expected.push_back(first);
      }
    }
  }
  rig.turn(50);
  EXPECT_EQ(received, expected);
  EXPECT_GT(expected.size(), 300U);
  EXPECT_EQ(rig.trader.session().counters().garbled, 0U);
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomDrafts, ::testing::Range(1U, 9U),
                         [](const auto& param) { return "seed_" + std::to_string(param.param); });

// Code that must not compile.
template <typename Text>
concept TakenAsBody = requires(Text&& text) { Outgoing{.msg_type = "8", .body = std::forward<Text>(text)}; };
static_assert(!TakenAsBody<std::string>, "a string that ends with the expression");
static_assert(!TakenAsBody<const std::string>);
static_assert(TakenAsBody<std::string&> && TakenAsBody<std::string_view> && TakenAsBody<const char*>);
static_assert(!std::is_copy_constructible_v<Draft> && !std::is_move_constructible_v<Draft>);
static_assert(!std::is_copy_assignable_v<Draft> && !std::is_move_assignable_v<Draft>);

}  // namespace
}  // namespace nfx::test
