// The contents of messages: rejects in both directions, data fields with SOH inside, nested groups.
#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

class EngineContent : public EngineAgainstQuickFix {
 protected:
  [[nodiscard]] static bool fix44() { return GetParam().begin_string == "FIX.4.4"; }
};

// The order with one field replaced, or omitted if `field` ends with '='.
std::string altered(std::string body, std::string_view field) {
  const std::string tag = soh + std::string{field.substr(0, field.find('=') + 1)};
  body.insert(0, 1, soh);
  const std::size_t begin = body.find(tag);
  const std::size_t end = body.find(soh, begin + 1);
  body.replace(begin, end - begin, field.ends_with('=') ? std::string{} : soh + std::string{field});
  return body.substr(1);
}

TEST_P(EngineContent, a_message_of_ours_that_quickfix_rejects_reaches_the_application_with_its_reason) {
  using Refusal = TradingApplication::Refusal;
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  const std::string order = rig.ours().order_body(900);
  for (const char* field : {"40=", "54=Z", "44=cheap"}) {
    ASSERT_TRUE(rig.session().send({.msg_type = "D", .body = std::string_view{altered(order, field)}})) << field;
  }
  ASSERT_TRUE(rig.session().send({.msg_type = "ZZ", .body = order}));
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().rejects().size() >= 4; })) << rig.story();
  EXPECT_EQ(rig.ours().rejects()[0], (Refusal{"2", "D", "40", "1"})) << rig.story();
  EXPECT_EQ(rig.ours().rejects()[1], (Refusal{"3", "D", "54", "5"})) << rig.story();
  EXPECT_EQ(rig.ours().rejects()[2], (Refusal{"4", "D", "44", "6"})) << rig.story();
  EXPECT_EQ(rig.ours().rejects()[3].reason, "11") << rig.story();
  ASSERT_TRUE(rig.we_trade(3)) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(EngineContent, a_message_of_the_peer_that_breaks_the_dictionary_is_rejected_and_the_next_is_taken) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  const std::vector<std::pair<std::string, std::string>> cases = {{"40=", "REJECT in 3 2 D 40 1 "},
                                                                  {"54=Z", "REJECT in 3 3 D 54 5 "},
                                                                  {"44=cheap", "REJECT in 3 4 D 44 6 "},
                                                                  {"9001=x", "REJECT in 3 5 D 9001 "},
                                                                  {"60=today", "REJECT in 3 6 D 60 6 "}};
  for (const auto& [field, answer] : cases) {
    rig.send_command("order-with " + field);
    EXPECT_TRUE(rig.peer_says(answer)) << field << '\n' << rig.story();
  }
  EXPECT_EQ(rig.ours().orders_in(), 0U);
  EXPECT_EQ(rig.session().counters().rejected, cases.size());
  rig.send_command("order 1");
  ASSERT_TRUE(rig.peer_says("EXEC id-6 ")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(EngineContent, without_a_dictionary_of_ours_the_same_messages_are_delivered) {
  EngineRig rig(GetParam(), {.peer = {}, .we_validate = false});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.send_command("order-with 9001=x 54=Z");
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().orders_in() == 1; })) << rig.story();
  EXPECT_EQ(rig.session().counters().rejected, 0U);
}

TEST_P(EngineContent, an_order_the_application_refuses_comes_back_as_business_reject) {
  EngineRig rig(GetParam());
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.ours().refuse_orders();
  rig.send_command("order 1");
  EXPECT_TRUE(rig.peer_says("REJECT in j 2 D - 4 closed for lunch")) << rig.story();
  EXPECT_TRUE(rig.numbers_agree()) << rig.numbers();
}

TEST_P(EngineContent, data_and_groups_survive_a_resend_both_ways) {
  EngineRig rig(GetParam(), {.peer = {}, .rich = true});
  ASSERT_TRUE(rig.logged_on()) << rig.story();
  rig.ours().ask_orders(100, 40);
  ASSERT_TRUE(rig.pump_until([&] { return rig.ours().reports_in() >= 200; })) << rig.story();
  rig.send_command("order 100 cut 40");
  ASSERT_TRUE(rig.pump_until([&] { return rig.peer().count("EXEC") >= 200; })) << rig.story();
  EXPECT_GE(rig.ours().resent(Direction::out), 1U);
  EXPECT_GE(rig.ours().resent(Direction::in), 60U);
  EXPECT_TRUE(rig.ours().rejects().empty()) << rig.story();
  EXPECT_EQ(rig.peer().count("REJECT"), 0U) << rig.story();
  for (const TradingApplication::Received& one : rig.ours().received()) {
    const std::string n = one.id.substr(one.id.find('-') + 1);
    ASSERT_EQ(one.data, (one.msg_type == "8" ? "ours\001" : "data\001") + n + "\00110=000\001") << one.id;
    ASSERT_EQ(one.parties.size(), fix44() ? 2U : 0U) << one.id;
  }
}

INSTANTIATE_TEST_SUITE_P(Matchups, EngineContent, testing::ValuesIn(every_matchup()), matchup_name);

}  // namespace
}  // namespace nfx::interop
