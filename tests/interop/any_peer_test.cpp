// Requirements for every counterparty's engine: sessions, orders and their content, heartbeats, resets, and that
// nothing is lost across a broken connection. Linked with each counterparty's program (peer_tests.cmake).
#include <array>

#include "engine_rig.hpp"
#include "peer_program.hpp"

namespace nfx::interop {
namespace {

const bool plain_data = peer_program().plain_data;

class AnyPeer : public EngineAgainstQuickFix {
 protected:
  static RigOptions every_two_seconds() {
    return {.peer = {"--heartbeat", "2"},
            .adjust = [](SessionConfig& config) { config.heartbeat_interval = std::chrono::seconds{2}; }};
  }
};

// Only the initiator may begin a reset inside a running session: QuickFIX/Go does not answer an acceptor's.
class AnyAcceptor : public AnyPeer {};

// The rules by which both sides compose order number `n`; NewOrderSingle has parties since FIX 4.3.
struct Content {
  Content(std::size_t n, std::string_view begin_string) {
    constexpr std::array<const char*, 4> symbols{"MSFT", "EUR/USD", "VOD.L", "6758.T"};
    symbol = symbols[n % symbols.size()];
    side = n % 2 == 0 ? "1" : "2";
    quantity = std::to_string(100 * (n % 7 + 1));
    price = std::to_string(n % 500 + 1) + ".25";
    if (begin_string > "FIX.4.2")
      parties = {"firm-" + std::to_string(n) + "/1", "trader-" + std::to_string(n) + "/12/desk-" + std::to_string(n)};
  }
  std::string symbol, side, quantity, price;
  std::vector<std::string> parties;
};

std::string data_text(const char* whose, std::size_t n, char between) {
  return std::string{whose} + between + std::to_string(n) + between + "10=000" + between;
}

void expect_content(const TradingApplication::Received& one, const char* whose, const Content& expected,
                    std::size_t n) {
  EXPECT_EQ(one.symbol, expected.symbol) << one.id;
  EXPECT_EQ(one.side, expected.side) << one.id;
  EXPECT_EQ(one.quantity, expected.quantity) << one.id;
  EXPECT_EQ(one.price, one.ord_status == '0' ? "0" : expected.price) << one.id;
  EXPECT_EQ(one.data, data_text(whose, n, plain_data ? '|' : soh)) << one.id;
  EXPECT_EQ(one.parties, expected.parties) << one.id;
}

// Ids PREFIX1 to PREFIXcount, each once and in order.
void expect_in_order(const std::vector<std::string>& ids, const std::string& prefix, std::size_t count) {
  ASSERT_EQ(ids.size(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(ids[i], prefix + std::to_string(i + 1));
}

std::vector<std::string> orders_at_the_peer(EngineRig& rig) {
  std::vector<std::string> ids;
  for (const std::string& line : rig.peer().events("ORDER ")) ids.push_back(word(line, 1));
  return ids;
}

std::vector<std::string> orders_at_ours(EngineRig& rig) {
  std::vector<std::string> ids;
  for (const TradingApplication::Received& one : rig.ours().received()) {
    if (one.msg_type == "D") ids.push_back(one.id);
  }
  return ids;
}

TEST_P(AnyPeer, orders_of_both_sides_and_their_reports_carry_what_was_sent) {
  constexpr std::size_t count = 50;
  EngineRig rig(GetParam(), {.peer = {}, .rich = true, .plain_data = plain_data});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(count)) << rig.story();
  ASSERT_TRUE(rig.we_trade(count)) << rig.story();
  ASSERT_EQ(rig.ours().received().size(), 3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Content expected(i + 1, GetParam().begin_string);
    expect_content(rig.ours().received()[i], "data", expected, i + 1);
    expect_content(rig.ours().received()[count + 2 * i], "ours", expected, i + 1);
    expect_content(rig.ours().received()[count + 2 * i + 1], "ours", expected, i + 1);
  }
  const std::vector<std::string> orders = rig.peer().events("ORDER ");
  ASSERT_EQ(orders.size(), count);
  for (std::size_t n = 1; n <= count; ++n) {
    const Content sent(n, GetParam().begin_string);
    std::string line = "ORDER our-" + std::to_string(n) + ' ';
    line += std::to_string(1 + 2 * count + n) + " N ";  // after our Logon and our reports
    line += sent.symbol + ' ' + sent.side + ' ' + sent.quantity + ' ' + sent.price + ' ';
    line += sent.parties.empty() ? "-" : sent.parties[0] + ',' + sent.parties[1];
    line += ' ' + data_text("ours", n, '|');
    EXPECT_EQ(orders[n - 1], line);
  }
  EXPECT_EQ(rig.peer().count("EXEC"), 2 * count);
  EXPECT_TRUE(rig.ours().every_report_came_once(count));
  EXPECT_TRUE(rig.ours().rejects().empty()) << rig.story();
  EXPECT_EQ(rig.peer().count("REJECT"), 0U) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(AnyPeer, after_five_hundred_orders_our_logout_reaches_the_peer_with_its_text) {
  constexpr std::size_t count = 500;
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(count)) << rig.story();
  EXPECT_TRUE(we_connect() ? rig.ours().every_report_came_once(count) : rig.ours().every_order_came_once(count));
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  rig.session().logout("closing for today");
  EXPECT_EQ(rig.peer_says("LOGOUT"), "LOGOUT closing for today") << rig.story();
  EXPECT_TRUE(rig.pump_until([&] { return rig.ours().logouts().size() == 1; })) << rig.story();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
  EXPECT_EQ(rig.peer().count("REJECT"), 0U);
  EXPECT_TRUE(rig.ours().rejects().empty());
}

TEST_P(AnyPeer, our_logout_keeps_the_numbers_for_our_next_logon) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.session().logout({});
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  rig.session().logon();
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(we_connect() ? rig.ours().every_report_came_once(10) : rig.ours().every_order_came_once(10));
}

TEST_P(AnyPeer, a_logout_of_the_peer_arrives_with_its_text_and_keeps_the_numbers_for_its_next_logon) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(10)) << rig.story();
  rig.send_command("logout back in a moment");
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  EXPECT_EQ(rig.ours().logouts().front(), "back in a moment");
  rig.send_command("logon");
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(10)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(we_connect() ? rig.ours().every_report_came_once(20) : rig.ours().every_order_came_once(20));
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
}

TEST_P(AnyPeer, an_idle_session_lives_on_heartbeats_both_ways) {
  EngineRig rig(GetParam(), every_two_seconds());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] {
    return rig.ours().traffic(Direction::in, "0") >= 2 && rig.ours().traffic(Direction::out, "0") >= 2;
  })) << rig.story();
  EXPECT_TRUE(rig.ours().logouts().empty()) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(AnyPeer, a_test_request_of_the_peer_is_answered_with_its_id) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("test-request are you there?");
  EXPECT_TRUE(rig.peer_says("ADMIN-IN 0 2 N id=are you there?")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(AnyPeer, a_peer_that_halts_is_asked_and_its_late_answer_keeps_the_session) {
  EngineRig rig(GetParam(), every_two_seconds());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.peer().freeze();
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().traffic(Direction::out, "1") == 1; })) << rig.story();
  rig.peer().thaw();
  ASSERT_TRUE(rig.peer_says("ADMIN-IN 1 ")) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  EXPECT_TRUE(rig.ours().logouts().empty()) << rig.story();
}

TEST_P(AnyPeer, when_we_stand_still_the_peer_asks_and_our_late_answer_keeps_the_session) {
  EngineRig rig(GetParam(), every_two_seconds());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_says_while_we_are_silent("ADMIN-OUT 1 ")) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().traffic(Direction::in, "1") == 1; })) << rig.story();
  ASSERT_TRUE(rig.peer_trades(5)) << rig.story();
  EXPECT_EQ(rig.peer().count("LOGOUT"), 0U) << rig.story();
}

TEST_P(AnyPeer, an_order_of_ours_that_its_dictionary_refuses_comes_back_with_the_tag_and_the_reason) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  std::string order = rig.ours().order_body(900);
  const std::string type = soh + std::string{"40=2"};
  order.erase(order.find(type), type.size());
  ASSERT_TRUE(rig.session().send({.msg_type = "D", .body = order}));
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().rejects().empty(); })) << rig.story();
  EXPECT_EQ(rig.ours().rejects()[0], (TradingApplication::Refusal{"2", "D", "40", "1"})) << rig.story();
  ASSERT_TRUE(rig.we_trade(3)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(AnyPeer, reset_on_logon_starts_over_with_every_connection) {
  RigOptions options{.peer = {}, .adjust = [](SessionConfig& config) { config.reset_on_logon = true; }};
  if (!we_connect()) options.peer = {"--reset-on-logon"};
  EngineRig rig(GetParam(), options);
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  for (int connection = 0; connection < 2; ++connection) {
    EXPECT_EQ(value(rig.session().next_outbound()), 2U);
    EXPECT_EQ(value(rig.session().next_inbound()), 2U);
    ASSERT_TRUE(rig.trade(5)) << rig.story();
    EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
    rig.session().drop_connection();
    ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
    ASSERT_TRUE(rig.logged_on()) << rig.story();
  }
  EXPECT_EQ(rig.ours().resent(Direction::in) + rig.ours().resent(Direction::out), 0U);
}

// An initiator resets with its Logon; an acceptor's reset needs an initiator that does the same.
TEST_P(AnyPeer, a_reset_between_two_sessions_by_the_peer_starts_both_sides_at_one) {
  EngineRig rig(GetParam(), {.peer = {}, .adjust = [](SessionConfig& config) {
                               config.reset_on_logon = config.role == Role::initiator;
                             }});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.send_command("reset");
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_outbound()), 2U);
  EXPECT_EQ(value(rig.session().next_inbound()), 2U);
  ASSERT_TRUE(rig.trade(5)) << rig.story();
}

TEST_P(AnyAcceptor, our_reset_inside_the_session_starts_both_sides_at_one) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  rig.session().reset_sequence_numbers();
  ASSERT_TRUE(rig.peer_says("ADMIN-OUT A 1 N heartbeat=30 reset=Y")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_EQ(value(rig.session().next_outbound()), 2U);
  EXPECT_EQ(value(rig.session().next_inbound()), 2U);
  ASSERT_TRUE(rig.trade(5)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.ours().logouts().empty()) << rig.story();
}

TEST_P(AnyPeer, what_the_peer_sent_while_we_were_away_arrives_in_order_as_possible_duplicates) {
  constexpr std::size_t before = 5, away = 50, all = before + away;
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  ASSERT_TRUE(rig.peer_trades(before)) << rig.story();
  rig.session().logout({});
  ASSERT_TRUE(rig.pump_until([&] { return !rig.ours().logouts().empty(); })) << rig.story();
  ASSERT_TRUE(rig.peer_says("LOGOUT")) << rig.story();
  rig.send_command("order " + std::to_string(away));
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("APP-OUT D ") == all; })) << rig.story();
  EXPECT_EQ(rig.ours().orders_in(), before);
  rig.session().logon();
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().orders_in() >= all; })) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * all; })) << rig.story();
  expect_in_order(orders_at_ours(rig), "id-", all);
  for (const TradingApplication::Received& one : rig.ours().received()) {
    EXPECT_EQ(one.poss_dup, one.seq > before + 1) << one.id;  // after the Logon
  }
  EXPECT_EQ(rig.peer().count("EXEC"), 2 * all);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
}

TEST_P(AnyPeer, orders_of_ours_that_a_cut_kept_back_arrive_in_order_as_possible_duplicates) {
  constexpr std::size_t count = 200;
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  // At the cut there are encoded orders that were never sent.
  rig.ours().ask_orders(count, count / 2);
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("ORDER") >= count; })) << rig.story();
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().reports_in() >= 2 * count; })) << rig.story();
  expect_in_order(orders_at_the_peer(rig), "our-", count);
  const std::vector<std::string> orders = rig.peer().events("ORDER ");
  EXPECT_EQ(word(orders[count / 2 - 1], 3), "Y") << "the last one before the cut";
  EXPECT_TRUE(rig.ours().every_report_came_once(count));
  EXPECT_GE(rig.ours().resent(Direction::out), 1U);
  EXPECT_EQ(rig.ours().resent_without_original_time(), 0U);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
}

TEST_P(AnyPeer, a_cut_by_us_among_their_orders_loses_neither_order_nor_report) {
  constexpr std::size_t count = 500;
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.ours().cut_after_orders(count / 5);
  rig.send_command("order " + std::to_string(count));
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * count; })) << rig.story();
  expect_in_order(orders_at_ours(rig), "id-", count);
  EXPECT_EQ(rig.peer().count("EXEC"), 2 * count);
  EXPECT_GE(rig.ours().resent(Direction::out), 1U);
  EXPECT_EQ(rig.session().counters().logons, 2U);
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
  EXPECT_TRUE(rig.both_finish_cleanly()) << rig.story();
}

INSTANTIATE_TEST_SUITE_P(Matchups, AnyPeer, testing::ValuesIn(every_matchup()), matchup_name);
INSTANTIATE_TEST_SUITE_P(Matchups, AnyAcceptor, testing::ValuesIn(matchups({Role::initiator})), matchup_name);

}  // namespace
}  // namespace nfx::interop
