// Typed readers over received messages.
#include <type_traits>

#include "fix44/execution_report.hpp"
#include "fix44/header.hpp"
#include "fix44/logon.hpp"
#include "fix44/market_data_incremental_refresh.hpp"
#include "fix44/names.hpp"
#include "fix44/new_order_single.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

using fix44::ExecutionReport;
using fix44::NewOrderSingle;

const std::string_view order_body =
    "11=order-7|453=2|448=BROKER|447=D|452=1|802=2|523=desk|803=4|523=lee|803=9|448=CLIENT|447=D|452=3|55=XYZ|54=1|"
    "60=20240315-12:00:00.125|38=100|40=2|44=101.250|59=0|114=Y|21=1|";

TEST(Readers, give_text_of_a_text_field) {
  const Received message{"D", order_body};
  const NewOrderSingle order{message.view()};
  EXPECT_EQ(order.cl_ord_id(), "order-7");
  EXPECT_EQ(order.symbol(), "XYZ");
}

TEST(Readers, give_exact_decimals) {
  const Received message{"D", order_body};
  const NewOrderSingle order{message.view()};
  ASSERT_TRUE(order.price());
  EXPECT_EQ(*order.price(), Decimal(101250, 3));
  EXPECT_EQ(order.price()->scale(), 3);
  EXPECT_EQ(*order.order_qty(), Decimal(100));
}

TEST(Readers, give_booleans_and_times) {
  const Received message{"D", order_body};
  const NewOrderSingle order{message.view()};
  EXPECT_TRUE(*order.locate_reqd());
  ASSERT_TRUE(order.transact_time());
  EXPECT_EQ(order.transact_time()->time.time_since_epoch() % std::chrono::seconds{1}, std::chrono::milliseconds{125});
}

TEST(Readers, give_enumerated_values) {
  const Received message{"D", order_body};
  const NewOrderSingle order{message.view()};
  EXPECT_EQ(order.side(), fix44::Side::buy);
  EXPECT_EQ(order.ord_type(), fix44::OrdType::limit);
  EXPECT_EQ(order.time_in_force(), fix44::TimeInForce::day);
  static_assert(std::is_same_v<decltype(order.side()), std::expected<fix44::Side, FieldError>>);
}

TEST(Readers, tell_missing_from_malformed) {
  const Received message{"D", "11=1|44=abc|54=12|"};
  const NewOrderSingle order{message.view()};
  EXPECT_EQ(order.price().error(), FieldError::bad_format);
  EXPECT_EQ(order.side().error(), FieldError::bad_format);
  EXPECT_EQ(order.order_qty().error(), FieldError::missing);
  EXPECT_EQ(order.ord_type().error(), FieldError::missing);
  EXPECT_TRUE(order.account().empty());
  EXPECT_TRUE(order.has_price());
  EXPECT_FALSE(order.has_order_qty());
  EXPECT_FALSE(order.has_account());
}

TEST(Readers, refuse_a_value_that_is_not_listed) {
  const Received message{"D", "11=1|54=Y|"};
  EXPECT_EQ(NewOrderSingle{message.view()}.side().error(), FieldError::bad_format);
}

TEST(Readers, refuse_an_integer_that_is_not_listed) {
  for (const auto& [text, listed] :
       {std::pair{"0", true}, {"99", true}, {"98", false}, {"-1", false}, {"128", false}}) {
    const Received message{"8", std::string{"37=1|103="} + text + "|"};
    EXPECT_EQ(ExecutionReport{message.view()}.ord_rej_reason().has_value(), listed) << text;
  }
}

TEST(Readers, know_the_values_and_fields_of_an_overlay) {
  const Received message{"8", "37=1|17=2|9730=R|54=Z|"};
  const ExecutionReport report{message.view()};
  EXPECT_EQ(report.side(), fix44::Side::odd_lot);
  EXPECT_EQ(report.trade_liquidity_indicator(), fix44::TradeLiquidityIndicator::removed);
}

TEST(Readers, compare_texts_with_constants) {
  const Received message{"D", "11=1|167=FUT|18=1 6|"};
  const NewOrderSingle order{message.view()};
  EXPECT_EQ(order.security_type(), fix44::SecurityType::future);
  EXPECT_EQ(order.exec_inst(), "1 6");
}

TEST(Readers, give_the_entries_of_a_group) {
  const Received message{"D", order_body};
  const NewOrderSingle order{message.view()};
  std::string seen;
  for (const auto party : order.no_party_ids()) {
    seen.append(party.party_id()).append("=").append(std::to_string(std::to_underlying(party.party_role().value())));
    seen += *party.party_id_source() == fix44::PartyIDSource::proprietary ? "," : "?";
  }
  EXPECT_EQ(seen, "BROKER=1,CLIENT=3,");
  EXPECT_EQ(order.no_party_ids().size(), 2U);
  EXPECT_EQ(order.no_party_ids().declared_size(), 2);
}

TEST(Readers, give_the_entries_of_a_nested_group) {
  const Received message{"D", order_body};
  std::string seen;
  for (const auto party : NewOrderSingle{message.view()}.no_party_ids()) {
    seen += "(";
    for (const auto sub : party.no_party_sub_ids()) seen.append(sub.party_sub_id()).append(" ");
    seen += ")";
  }
  EXPECT_EQ(seen, "(desk lee )()");
}

TEST(Readers, give_no_entries_of_a_group_that_is_not_there) {
  const Received message{"D", "11=1|55=XYZ|"};
  const NewOrderSingle order{message.view()};
  EXPECT_TRUE(order.no_party_ids().empty());
  EXPECT_FALSE(order.has_no_party_ids());
  EXPECT_EQ(order.no_party_ids().declared_size(), -1);
  for (const auto party : order.no_party_ids()) ADD_FAILURE() << party.party_id();
}

TEST(Readers, read_each_entry_of_market_data_by_itself) {
  const Received message{"X", "268=3|279=0|269=0|278=a|55=X|270=1.5|271=10|279=2|278=b|279=1|269=1|278=c|270=-2|"};
  std::string seen;
  for (const auto entry : fix44::MarketDataIncrementalRefresh{message.view()}.no_md_entries()) {
    seen.append(entry.md_entry_id()).append(to_text(entry.md_update_action().value()));
    seen += entry.has_md_entry_px() ? "+" : "-";
    if (const auto size = entry.md_entry_size()) seen += "!";
  }
  EXPECT_EQ(seen, "aNEW+!bDELETE-cCHANGE+");
}

TEST(Readers, give_header_fields) {
  const Received message{"D", "11=1|", "43=Y|627=1|628=HUB|630=77|"};
  const fix44::Header header{message.view()};
  EXPECT_EQ(header.sender_comp_id(), "A");
  EXPECT_EQ(header.msg_seq_num(), SeqNum{2});
  EXPECT_TRUE(*header.poss_dup_flag());
  std::string hops;
  for (const auto hop : header.no_hops())
    hops.append(hop.hop_comp_id()).append(std::to_string(value(*hop.hop_ref_id())));
  EXPECT_EQ(hops, "HUB77");
}

TEST(Readers, give_data_with_any_byte) {
  const Received message{"A",
                         "98=0|108=30|95=3|96=a\x01"
                         "b|"};
  const fix44::Logon logon{message.view()};
  EXPECT_EQ(logon.raw_data(), std::string_view("a\x01"
                                               "b"));
  EXPECT_EQ(logon.encrypt_method(), fix44::EncryptMethod::none);
  EXPECT_EQ(*logon.heart_bt_int(), 30);
}

TEST(Readers, lead_back_to_the_view) {
  const Received message{"D", "11=1|9999=own|"};
  EXPECT_EQ(NewOrderSingle{message.view()}.view().get_view(Tag{9999}), "own");
  static_assert(NewOrderSingle::msg_type == "D");
}

TEST(Readers, cannot_borrow_a_view_that_is_about_to_die) {
  static_assert(!std::is_constructible_v<NewOrderSingle, MessageView>);
  static_assert(std::is_constructible_v<NewOrderSingle, const MessageView&>);
}

TEST(EnumeratedValues, have_the_dictionarys_names_both_ways) {
  using generated::from_text;
  EXPECT_EQ(to_text(fix44::Side::sell_short), "SELL_SHORT");
  EXPECT_EQ(from_text<fix44::Side>("SELL_SHORT"), fix44::Side::sell_short);
  EXPECT_FALSE(from_text<fix44::Side>("SELL_LONG"));
  EXPECT_EQ(to_text(fix44::Side{'?'}), "");
  for (const auto side : values_of(fix44::Side{})) EXPECT_EQ(from_text<fix44::Side>(to_text(side)), side);
}

TEST(EnumeratedValues, are_read_from_wire_text) {
  using generated::parse;
  EXPECT_EQ(parse<fix44::Side>("1"), fix44::Side::buy);
  EXPECT_EQ(parse<fix44::Side>("11").error(), FieldError::bad_format);
  EXPECT_EQ(parse<fix44::Side>("").error(), FieldError::bad_format);
  EXPECT_EQ(parse<fix44::OrdRejReason>("99"), fix44::OrdRejReason::other);
  EXPECT_EQ(parse<fix44::OrdRejReason>("x").error(), FieldError::bad_format);
}

// Without the header fields, which are the same in all messages.
std::string printed(const Received& message) {
  const std::string text = to_string(NewOrderSingle{message.view()});
  const std::string begin =
      "NewOrderSingle | MsgSeqNum(34)=2 | SenderCompID(49)=A | SendingTime(52)=20240315-12:00:00 | ";
  EXPECT_TRUE(text.starts_with(begin + "TargetCompID(56)=B | ")) << text;
  return text.substr(begin.size() + std::string_view{"TargetCompID(56)=B | "}.size());
}

TEST(Readers, are_printed_with_the_names_of_fields_and_values) {
  EXPECT_EQ(
      printed({"D", "11=a|453=1|448=X|447=D|452=1|54=1|44=12.50|18=G 6|114=Y|"}),
      "ClOrdID(11)=a | NoPartyIDs(453)=1 | PartyID(448)=X | PartyIDSource(447)=D (PROPRIETARY) | PartyRole(452)=1 "
      "(EXECUTING_FIRM) | Side(54)=1 (BUY) | Price(44)=12.50 | ExecInst(18)=G 6 (ALL_OR_NONE "
      "PARTICIPATE_DO_NOT_INITIATE) | "
      "LocateReqd(114)=Y (YES)");
}

TEST(Readers, are_printed_with_what_the_dictionary_does_not_have) {
  EXPECT_EQ(printed({"D", "54=?|9999=1|58=|"}), "Side(54)=? | 9999=1 | Text(58)=");
  EXPECT_EQ(fix44::to_string(Received{"ZZ", "1=a|"}.view()).substr(0, 4), "ZZ |");
}

TEST(Readers, are_printed_without_passwords_and_control_characters) {
  EXPECT_EQ(printed({"D", "1=\x1b[2J\n|"}), "Account(1)=\\x1b[2J\\x0a");
  const Received logon{"A", "98=0|108=30|554=hunter2|"};
  const std::string text = to_string(fix44::Logon{logon.view()});
  EXPECT_TRUE(text.ends_with("EncryptMethod(98)=0 (NONE) | HeartBtInt(108)=30 | Password(554)=***")) << text;
}

}  // namespace
}  // namespace nfx::codegen_test
