// Builders: their output, the errors they detect, and that a strict counterparty would accept the messages.
#include "fix44/execution_report.hpp"
#include "fix44/logon.hpp"
#include "fix44/market_data_incremental_refresh.hpp"
#include "fix44/new_order_single.hpp"
#include "fix44/trade_capture_report.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

using fix44::NewOrderSingle;
using fix44::NewOrderSingleBuilder;
using fix44::Side;

constexpr UtcTime noon{std::chrono::seconds{1710504000}};

// All fields that FIX44.xml requires for a limit order.
template <typename Builder>
void set_required(Builder& order) {
  order.cl_ord_id("order-7").symbol("XYZ").side(Side::sell).transact_time(noon).order_qty(Decimal{100});
  order.ord_type(fix44::OrdType::limit).price(Decimal{10125, 2});
}

TEST(Builders, write_fields_in_the_order_of_the_calls) {
  char space[512];
  NewOrderSingleBuilder order{space};
  set_required(order);
  EXPECT_EQ(with_bars(order.body()), "11=order-7|55=XYZ|54=2|60=20240315-12:00:00.000|38=100|40=2|44=101.25|");
}

TEST(Builders, please_strict_validation) {
  char space[512];
  NewOrderSingleBuilder order{space};
  set_required(order);
  auto parties = order.no_party_ids(2);
  auto broker = parties.add().party_id("BROKER").party_id_source(fix44::PartyIDSource::proprietary);
  broker.party_role(fix44::PartyRole::executing_firm);
  auto subs = broker.no_party_sub_ids(2);
  subs.add().party_sub_id("desk").party_sub_id_type(fix44::PartySubIDType::application);
  subs.add().party_sub_id("lee");
  parties.add().party_id("CLIENT");
  order.security_type(fix44::SecurityType::future).time_in_force(fix44::TimeInForce::day).locate_reqd(false);
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(complaint("D", order.body()), "");
}

TEST(Builders, write_what_readers_read) {
  char space[512];
  NewOrderSingleBuilder built{space};
  set_required(built);
  auto parties = built.no_party_ids(1);
  parties.add().party_id("BROKER").party_role(fix44::PartyRole::client_id);
  const Received message{"D", built.body()};
  const NewOrderSingle order{message.view()};
  EXPECT_EQ(order.cl_ord_id(), "order-7");
  EXPECT_EQ(order.side(), Side::sell);
  EXPECT_EQ(*order.price(), Decimal(10125, 2));
  EXPECT_EQ(order.transact_time()->time, noon);
  for (const auto party : order.no_party_ids()) {
    EXPECT_EQ(party.party_id(), "BROKER");
    EXPECT_EQ(party.party_role(), fix44::PartyRole::client_id);
  }
}

TEST(Builders, write_a_times_fraction_with_as_many_digits_as_asked_for) {
  char space[128];
  NewOrderSingleBuilder order{space};
  order.transact_time(noon + std::chrono::nanoseconds{123456789}, 6);
  EXPECT_EQ(with_bars(order.body()), "60=20240315-12:00:00.123456|");
}

TEST(Builders, write_data_behind_its_length) {
  char space[128];
  fix44::LogonBuilder logon{space};
  logon.encrypt_method(fix44::EncryptMethod::none)
      .heart_bt_int(30)
      .raw_data(std::string_view("a\x01"
                                 "b"));
  EXPECT_EQ(with_bars(logon.body()), "98=0|108=30|95=3|96=a|b|");
  EXPECT_EQ(complaint("A", logon.body()), "");
}

TEST(Builders, say_which_required_fields_are_missing) {
  char space[512];
  NewOrderSingleBuilder order{space};
  EXPECT_EQ(std::vector<Tag>(order.required.begin(), order.required.end()).size(), 4U);
  order.side(Side::buy).ord_type(fix44::OrdType::market);
  std::vector<Tag> missing;
  for (const Tag tag : order.missing()) missing.push_back(tag);
  EXPECT_EQ(missing, (std::vector{Tag::ClOrdID, Tag::TransactTime}));
  set_required(order);
  EXPECT_TRUE(order.missing().empty());
}

TEST(Builders, say_which_required_fields_of_an_entry_are_missing) {
  char space[512];
  fix44::MarketDataIncrementalRefreshBuilder update{space};
  EXPECT_FALSE(update.missing().empty());
  auto entries = update.no_md_entries(1);
  EXPECT_TRUE(update.missing().empty());
  auto entry = entries.add();
  EXPECT_FALSE(entry.missing().empty());
  entry.md_update_action(fix44::MDUpdateAction::new_);
  EXPECT_TRUE(entry.missing().empty());
}

TEST(Builders, are_not_ok_when_an_announced_entry_is_missing) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(2);
  parties.add().party_id("A");
  EXPECT_FALSE(order.ok());
  EXPECT_TRUE(order.body().empty());
  parties.add().party_id("B");
  EXPECT_TRUE(order.ok());
}

TEST(Builders, are_not_ok_when_an_entry_was_added_but_not_begun) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  static_cast<void>(parties.add());
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_with_more_entries_than_announced) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  parties.add().party_id("A");
  parties.add().party_id("B");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_too_many_entries_here_make_up_for_too_few_there) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  parties.add().party_id("A");
  static_cast<void>(order.no_stipulations(1));
  parties.add().party_id("B");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_an_entry_starts_with_another_member) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  parties.add().party_role(fix44::PartyRole::client_id).party_id("A");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_members_are_out_of_order) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  parties.add()
      .party_id("A")
      .party_role(fix44::PartyRole::client_id)
      .party_id_source(fix44::PartyIDSource::proprietary);
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_a_member_comes_twice) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(2);
  parties.add().party_id("A").party_id("B");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_the_message_goes_on_within_a_group) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(2);
  parties.add().party_id("A");
  order.symbol("XYZ");
  parties.add().party_id("B");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_an_entry_goes_on_after_the_next_has_begun) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(2);
  auto first = parties.add().party_id("A");
  parties.add().party_id("B");
  first.party_role(fix44::PartyRole::client_id);
  EXPECT_FALSE(order.ok());
}

TEST(Builders, are_not_ok_when_copies_of_a_group_or_an_entry_add_more_than_announced) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(1);
  auto copied = parties;
  parties.add().party_id("A");
  EXPECT_TRUE(order.ok());
  copied.add().party_id("B");
  EXPECT_FALSE(order.ok());
  order.clear();
  auto entry = order.no_party_ids(1).add();
  auto again = entry;
  entry.party_id("A");
  again.party_id("B");
  EXPECT_FALSE(order.ok());
}

TEST(Builders, leave_out_data_and_texts_that_are_empty_or_null) {
  char space[512];
  NewOrderSingleBuilder order{space};
  const char* const nothing = nullptr;
  order.symbol("X").account(nothing).encoded_text("");
  EXPECT_EQ(with_bars(order.body()), "55=X|");
}

TEST(Builders, fail_for_a_day_that_a_time_cannot_have) {
  char space[512];
  NewOrderSingleBuilder order{space};
  order.expire_time(std::chrono::sys_days{std::chrono::year{2262} / 4 / 11});
  EXPECT_EQ(with_bars(order.body()), "126=22620411-00:00:00.000|");
  order.transact_time(std::chrono::sys_days{std::chrono::year{9999} / 12 / 31});
  EXPECT_EQ(order.fields().fault(), (WriteFault{WriteError::bad_value, Tag::TransactTime}));
  NewOrderSingleBuilder past{space};
  past.transact_time(std::chrono::sys_days{std::chrono::year{1600} / 1 / 1});
  EXPECT_FALSE(past.ok());
}

// Why a builder is not ok.
template <typename Builder>
std::string why(const Builder& built) {
  char text[128];
  return std::string{nfx::generated::to_text(built.build_fault(), text)};
}

TEST(Builders, name_the_entry_that_goes_on_after_a_field_of_the_message) {
  char space[512];
  NewOrderSingleBuilder order{space};
  auto party = order.no_party_ids(1).add().party_id("A");
  order.symbol("XYZ");
  EXPECT_EQ(why(order), "");
  party.party_role(fix44::PartyRole::client_id);
  EXPECT_EQ(why(order), "field 452 of an entry of group 453 was set after the entry had ended");
}

TEST(Builders, name_the_nested_entry_that_goes_on_after_its_parent_has) {
  char space[512];
  fix44::TradeCaptureReportBuilder report{space};
  auto side = report.no_sides(1).add().side(Side::buy).order_id("1");
  auto party = side.no_party_ids(1).add().party_id("A");
  side.account("ACCOUNT");
  EXPECT_EQ(why(report), "");
  party.party_role(fix44::PartyRole::client_id);
  EXPECT_EQ(why(report), "field 452 of an entry of group 453 was set after the entry had ended");
}

TEST(Builders, name_the_required_field_that_an_entry_lacks) {
  char space[512];
  fix44::TradeCaptureReportBuilder report{space};
  auto sides = report.no_sides(2);
  sides.add().side(Side::buy).order_id("1");
  auto second = sides.add().side(Side::sell);
  EXPECT_EQ(why(report), "an entry of group 552 has no field 37");
  EXPECT_FALSE(report.ok());
  second.order_id("2");
  EXPECT_EQ(why(report), "");
  EXPECT_TRUE(report.ok());
}

TEST(Builders, name_the_required_field_that_an_entry_lacked_when_the_next_began) {
  char space[512];
  fix44::TradeCaptureReportBuilder report{space};
  auto sides = report.no_sides(2);
  sides.add().side(Side::buy);
  sides.add().side(Side::sell).order_id("2");
  EXPECT_EQ(why(report), "an entry of group 552 has no field 37");
}

TEST(Builders, name_the_group_whose_entries_are_not_as_many_as_announced) {
  char space[512];
  NewOrderSingleBuilder fewer{space};
  auto parties = fewer.no_party_ids(2);
  parties.add().party_id("A").no_party_sub_ids(1).add().party_sub_id("x");
  fewer.symbol("XYZ");
  EXPECT_EQ(why(fewer), "group 453 has fewer entries than its count");
  NewOrderSingleBuilder more{space};
  auto nested = more.no_party_ids(1).add().party_id("A").no_party_sub_ids(1);
  nested.add().party_sub_id("x");
  nested.add().party_sub_id("y");
  EXPECT_EQ(why(more), "group 802 has more entries than its count");
}

TEST(Builders, name_the_field_that_was_set_twice) {
  char space[512];
  NewOrderSingleBuilder order{space};
  set_required(order);
  EXPECT_EQ(why(order), "");
  order.text("a");
  order.text("b");
  EXPECT_EQ(why(order), "field 58 was set twice");
  EXPECT_EQ(order.body(), "");
  order.clear();
  order.text("c");
  EXPECT_TRUE(order.ok());

  char more[512];
  fix44::ExecutionReportBuilder report{more};
  report.trade_liquidity_indicator(fix44::TradeLiquidityIndicator::added);
  EXPECT_EQ(why(report), "");
  report.trade_liquidity_indicator(fix44::TradeLiquidityIndicator::removed);
  EXPECT_EQ(why(report), "field 9730 was set twice") << "a field above 1023";
}

TEST(Builders, let_an_entry_go_on_behind_its_nested_group) {
  char space[512];
  fix44::NewOrderSingleBuilder order{space};
  auto parties = order.no_party_ids(2);
  auto first = parties.add().party_id("A");
  first.no_party_sub_ids(1).add().party_sub_id("x");
  parties.add().party_id("B");
  EXPECT_TRUE(order.ok());
}

TEST(Builders, are_not_ok_when_the_buffer_is_full) {
  char space[16];
  NewOrderSingleBuilder order{space};
  order.cl_ord_id("far too long for the space").symbol("X");
  EXPECT_FALSE(order.ok());
  EXPECT_TRUE(order.body().empty());
}

TEST(Builders, take_fields_that_the_dictionary_does_not_have) {
  char space[128];
  NewOrderSingleBuilder order{space};
  order.cl_ord_id("1").fields().append(Tag{9999}, "own");
  EXPECT_EQ(with_bars(order.body()), "11=1|9999=own|");
}

TEST(Builders, start_over_when_cleared) {
  char space[128];
  NewOrderSingleBuilder order{space};
  order.cl_ord_id("1");
  static_cast<void>(order.no_party_ids(3));
  order.clear();
  order.symbol("X");
  EXPECT_EQ(with_bars(order.body()), "55=X|");
  EXPECT_EQ(*order.missing().begin(), Tag::ClOrdID);
}

Outgoing sent(const Outgoing& message) { return message; }

TEST(Builders, are_what_a_session_sends) {
  char space[512];
  NewOrderSingleBuilder order{space};
  set_required(order);
  const Outgoing message = sent(order);
  EXPECT_EQ(message.msg_type, "D");
  EXPECT_EQ(message.body, order.body());
}

TEST(Builders, that_are_not_ok_have_no_type_to_send) {
  char space[512];
  NewOrderSingleBuilder order{space};
  static_cast<void>(order.no_party_ids(1));
  const Outgoing message = sent(order);
  EXPECT_TRUE(message.msg_type.empty());
  EXPECT_TRUE(message.body.view().empty());
}

TEST(Builders, write_behind_the_header_of_an_encoder) {
  char space[512];
  Encoder encoder{space};
  HeaderTemplate header{{.begin_string = "FIX.4.4", .sender_comp_id = "A", .target_comp_id = "B"}};
  encoder.begin(header, NewOrderSingle::msg_type, SeqNum{7}, noon);
  NewOrderSingleBuilder order{encoder.fields()};
  set_required(order);
  EXPECT_TRUE(order.ok());
  MessageView view;
  ASSERT_EQ(view.parse(encoder.finish()), WireError::none);
  EXPECT_EQ(NewOrderSingle{view}.cl_ord_id(), "order-7");
}

TEST(Builders, write_a_user_defined_field_of_an_overlay) {
  char space[128];
  fix44::ExecutionReportBuilder report{space};
  report.trade_liquidity_indicator(fix44::TradeLiquidityIndicator::added).ord_rej_reason(fix44::OrdRejReason::other);
  EXPECT_EQ(with_bars(report.body()), "9730=A|103=99|");
}

}  // namespace
}  // namespace nfx::codegen_test
