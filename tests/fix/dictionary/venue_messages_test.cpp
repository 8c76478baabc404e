// Messages in the documented layouts of venues: groups in orders of their own, user-defined fields, many digits. The
// layouts are facts of the public documentation; the messages are composed here. By default all of them are delivered.
#include <fstream>
#include <iterator>

#include "dictionary/support.hpp"
#include "interop/group_orders.hpp"
#include "nexusfix/wire/group_view.hpp"

namespace nfx {
namespace {

using namespace dictionary_test;
using Reason = SessionRejectReason;

// "269 270 271 | 269 270 271"
std::string entries_of(const GroupView& group) {
  std::string text;
  for (const GroupEntry entry : group) {
    if (!text.empty()) text += " |";
    for (std::uint32_t i = 0; i < entry.size(); ++i) {
      if (!text.empty()) text += ' ';
      text += std::to_string(value(entry[i].tag));
    }
  }
  return text;
}

struct VenueMessage {
  std::string_view name;
  std::string_view msg_type;
  std::string_view body;
  int count = 0;  // count field of the group whose entries are checked; 0: none
  std::string_view entries{};
};

void PrintTo(const VenueMessage& message, std::ostream* out) { *out << message.name; }

const VenueMessage venue_messages[] = {
    // Crypto venues.
    {"binance_logon", "A", "98=0|108=30|95=8|96=c2lnbmF0|141=Y|553=key|25035=2|9406=N|"},
    {"binance_new_order", "D",
     "11=a1|38=1.5|40=2|44=10.123456789012345678|54=1|55=BTCUSDT|59=1|60=20240105-10:00:00.123456|25001=1|"},
    {"binance_report", "8",
     "17=144|11=a1|14=0.00000000|32=0.00000000|37=44|38=5.00000000|39=0|40=2|44=10.00000000|54=1|55=LTCBNB|59=4|"
     "60=20240105-10:00:00.123|150=0|151=5.00000000|6=0|636=Y|25001=3|25017=0.00000000|25023=20240105-10:00:00.123|"},
    {"binance_report_with_fees", "8",
     "37=1|17=2|150=F|39=2|55=LTCBNB|54=1|151=0|14=1|6=1|136=2|138=BNB|137=0.00001000|139=4|138=USD|137=0.5|139=4|",
     136, "138 137 139 | 138 137 139"},
    {"binance_fees_with_the_amount_first_in_one_entry", "8",
     "37=1|17=2|150=F|39=2|55=LTCBNB|54=1|151=0|14=1|6=1|136=2|137=0.1|138=BNB|139=4|138=USD|137=0.5|139=4|", 136,
     "137 138 139 | 138 137 139"},
    {"binance_depth", "X",
     "262=d|268=3|279=1|269=0|270=10.01|271=5.12345678|55=BTCUSDT|25043=7|25044=9|279=2|269=1|270=10.02|279=0|269=1|"
     "270=10.03|271=1|",
     268, "279 269 270 271 55 25043 25044 | 279 269 270 | 279 269 270 271"},
    {"a_depth_with_the_entry_type_first", "X", "268=2|269=0|279=0|270=10.01|271=5|269=1|279=0|270=10.02|271=6|", 268,
     "269 279 270 271 | 269 279 270 271"},
    {"a_depth_with_the_symbol_first", "X",
     "268=2|55=BTCUSDT|269=0|270=10.01|271=5|279=0|55=BTCUSDT|269=1|279=0|270=10.02|271=6|", 268,
     "55 269 270 271 279 | 55 269 279 270 271"},
    {"binance_trades", "X", "268=2|279=0|269=2|270=1.1|271=2|1003=7|2446=1|279=0|269=2|270=1.2|271=2|1003=8|2446=2|",
     268, "279 269 270 271 1003 2446 | 279 269 270 271"},
    {"binance_snapshot", "W",
     "262=d|55=BTCUSDT|25044=77|268=2|269=0|270=1.10000000|271=2.00000000|269=1|270=1.2|271=3|", 268,
     "269 270 271 | 269 270 271"},
    {"binance_instruments", "y",
     "320=i|560=0|146=2|55=BTCUSDT|15=USDT|562=0.00001000|1140=9000.00000000|25040=0.00000001|55=ETHUSDT|15=USDT|562=0."
     "001|1140=9|",
     146, "55 15 562 1140 25040 | 55 15 562"},
    {"coinbase_logon", "A", "98=0|108=30|141=Y|553=key|554=phrase|95=5|96=c2lnb|8013=Y|9406=Y|"},
    {"coinbase_order", "D",
     "21=1|11=b7f0|55=BTC-USD|54=1|38=0.00000001|40=2|44=50000.01|59=1|60=20240105-10:00:00|7928=D|"},
    {"coinbase_report", "8",
     "37=1|17=2|150=1|39=1|55=BTC-USD|54=1|151=0.5|14=0.5|6=50000.0123456789|1003=33|1057=N|32=0.5|31=5E|"},
    {"coinbase_fees", "8",
     "37=1|17=2|150=1|39=1|55=BTC-USD|54=1|151=0.5|14=0.5|6=1|136=1|891=0|139=4|137=0.000000000000000001|", 136,
     "891 139 137"},
    {"deribit_logon", "A", "98=0|108=5|95=14|96=1704448800.abc|553=id|554=secret|9001=Y|9002=2|"},
    {"deribit_book", "W",
     "55=BTC-PERPETUAL|231=1.0000|100087=1.5|100090=43210.5|268=2|269=0|270=43210.0000|271=10000.000000|272=20240105|"
     "269=1|270=43211.0|271=5000|",
     268, "269 270 271 272 | 269 270 271"},
    {"deribit_increment", "X",
     "55=BTC-PERPETUAL|268=2|279=1|269=0|270=43210|271=100|272=20240105|279=2|269=1|270=43211|271=0|", 268,
     "279 269 270 271 272 | 279 269 270 271"},
    {"deribit_positions", "AP",
     "721=x|710=y|728=0|702=1|703=TQ|704=10.0|705=0|883=43000|730=43100|731=1|732=0|55=BTC-PERPETUAL|"},
    {"kraken_order", "D",
     "11=k1|1=A|55=XBT/USD|54=1|38=0.12345678|40=2|44=50000.1|60=20240105-10:00:00.000|59=1|21=1|5021=Y|"},
    {"kraken_book", "W",
     "262=1|55=XBT/USD|268=2|269=0|270=50000.1|271=1.00000000|346=3|269=1|270=50000.2|271=2|346=1|5040=77|", 268,
     "269 270 271 346 | 269 270 271 346"},
    {"okx_order", "D", "11=o1|54=1|38=1|40=2|44=10|55=BTC-USDT|60=20240105-10:00:00.000|1815=0|9000=cash|"},
    {"okx_report", "8",
     "37=1|17=2|150=F|39=2|55=BTC-USDT|54=1|151=0|14=1|6=10.123456789012345678|136=1|137=-0.00080000000000000000|138="
     "USDT|139=7|",
     136, "137 138 139"},
    {"a_quantity_in_wei", "8", "37=1|17=2|150=0|39=0|55=ETH|54=1|151=1234567890.123456789012345678|14=0|6=0|"},
    {"a_chain_id_of_30_digits", "D",
     "11=w|54=1|38=1|40=1|55=X|60=20240105-10:00:00|9100=123456789012345678901234567890|"},

    // Exchanges and banks.
    {"cme_increment", "X",
     "75=20240105|268=2|279=0|22=8|48=998902|83=11|107=ESH4|269=0|270=4700.25|271=12|1023=1|346=3|279=1|22=8|48=998902|"
     "83=12|"
     "107=ESH4|269=1|270=4700.50|271=9|1023=1|346=2|",
     268, "279 22 48 83 107 269 270 271 1023 346 | 279 22 48 83 107 269 270 271 1023 346"},
    {"cme_snapshot", "W",
     "369=7|911=1|83=11|48=998902|22=8|55=ES|268=2|269=0|1023=1|270=4700.25|271=12|269=1|1023=1|270=4700.5|271=9|", 268,
     "269 1023 270 271 | 269 1023 270 271"},
    {"cme_order", "D",
     "11=1|1=ACC|55=ES|107=ESH4|167=FUT|54=1|38=1|40=2|44=4700.25|59=0|60=20240105-10:00:00.000|1028=Y|9702=1|204=0|"},
    {"lmax_snapshot", "W",
     "262=1|48=4001|22=8|55=EUR/"
     "USD|268=2|269=0|270=1.09451|271=10|272=20240105|273=10:00:00.123|269=1|270=1.09455|271=10|",
     268, "269 270 271 272 273 | 269 270 271"},
    {"lmax_report", "8",
     "1=1|11=c|48=4001|22=8|54=1|37=AAA|17=BBB|527=CCC|150=0|39=0|40=2|44=1.1|59=0|151=1|14=0|6=0|55=X|60=20240105-10:"
     "00:00.123|38=1|"},
    {"currenex_mass_quote", "i",
     "117=0|296=1|302=0|311=EUR/USD|304=2|295=2|299=0|188=1.1|134=1000000|299=1|190=1.2|135=1000000|", 296,
     "302 311 304 295 299 188 134 299 190 135"},
    {"currenex_quotes_in_another_order", "i", "117=0|296=1|302=0|304=2|295=2|188=1.1|134=1000000|299=0|190=1.2|299=1|",
     296, "302 304 295 188 134 299 190 299"},
    {"ice_report_with_parties", "8",
     "37=1|17=2|150=0|39=0|55=BRN|54=1|151=1|14=0|6=0|453=2|448=trader|447=D|452=11|448=firm|447=D|452=13|", 453,
     "448 447 452 | 448 447 452"},
    {"parties_with_the_role_first", "8",
     "37=1|17=2|150=0|39=0|55=BRN|54=1|151=1|14=0|6=0|453=2|452=11|448=trader|447=D|452=13|448=firm|447=D|", 453,
     "452 448 447 | 452 448 447"},
    {"parties_where_only_the_second_begins_with_its_role", "8",
     "37=1|17=2|150=0|39=0|55=BRN|54=1|151=1|14=0|6=0|453=2|448=trader|452=11|452=13|448=firm|", 453,
     "448 452 | 452 448"},
    {"ice_legs", "8",
     "37=1|17=2|150=0|39=0|55=BRN|54=1|151=1|14=0|6=0|442=3|555=2|654=1|600=BRN|602=9|603=8|637=70.1|654=2|600=WTI|602="
     "8|603=8|637=69|",
     555, "654 600 602 603 637 | 654 600 602 603 637"},
    {"legs_with_parties_in_another_order", "8",
     "37=1|17=2|150=0|39=0|55=BRN|54=1|151=1|14=0|6=0|555=2|600=BRN|539=2|525=D|524=a|525=D|524=b|602=9|600=WTI|539=1|"
     "524=c|525=D|",
     555, "600 539 525 524 525 524 602 | 600 539 524 525"},
    {"a_list_of_orders", "E", "66=L|394=1|68=2|73=2|11=a|67=1|54=1|38=1|55=A|11=b|54=2|67=2|55=B|38=1|", 73,
     "11 67 54 38 55 | 11 54 67 55 38"},
    {"security_definition", "d", "320=1|322=2|323=4|55=ESH4|864=2|866=20240315|865=7|866=20231215|865=5|", 864,
     "866 865 | 866 865"},
    {"positions_with_the_size_first", "AP",
     "721=x|728=0|710=r|715=20240105|1=A|581=1|730=1|731=1|734=1|702=2|704=5|703=TQ|704=6|703=TA|", 702,
     "704 703 | 704 703"},
};

class EachVenueMessage : public testing::TestWithParam<VenueMessage> {};

INSTANTIATE_TEST_SUITE_P(, EachVenueMessage, testing::ValuesIn(venue_messages),
                         [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(EachVenueMessage, is_delivered_by_default_and_its_group_is_divided) {
  const VenueMessage& given = GetParam();
  const std::string bytes = message("FIX.4.4", given.msg_type, std::string(header) + std::string(given.body));
  MessageView view;
  ASSERT_EQ(view.parse(bytes), WireError::none);
  ValidationReport report_of;
  // The last entry ends with its last member in the dictionary. Fields that these venues omit and FIX 4.4 requires are
  // another matter.
  ValidationChecks checks;
  checks.required_fields = checks.enum_values = ValidationMode::lenient;
  if (given.name == "coinbase_report") checks.formats = ValidationMode::lenient;
  EXPECT_EQ(validate(view, fix44(), checks, report_of), std::nullopt);
  if (given.count == 0) return;
  const GroupShape* shape = fix44().group_shape(given.msg_type, Tag{given.count});
  ASSERT_NE(shape, nullptr);
  const GroupView group = view.group(*shape);
  EXPECT_EQ(entries_of(group), given.entries);
  EXPECT_EQ(group.size(), group.declared_size());
}

// The two messages and the dictionary of a public report.
constexpr std::string_view feed_xml = R"(<fix type="FIX" major="4" minor="4" servicepack="0">
 <header><field name="BeginString" required="Y"/><field name="BodyLength" required="Y"/><field name="MsgType" required="Y"/>
 <field name="SenderCompID" required="Y"/><field name="TargetCompID" required="Y"/><field name="MsgSeqNum" required="Y"/>
 <field name="SendingTime" required="Y"/></header><trailer><field name="CheckSum" required="Y"/></trailer>
 <messages><message name="Feed" msgtype="X" msgcat="app"><group name="NoLegs" required="Y">
 <field name="LegRefID" required="Y"/><field name="LegSymbol" required="N"/><field name="PartyID" required="N"/></group></message></messages>
 <components/><fields><field number="8" name="BeginString" type="STRING"/><field number="9" name="BodyLength" type="LENGTH"/>
 <field number="10" name="CheckSum" type="STRING"/><field number="34" name="MsgSeqNum" type="SEQNUM"/>
 <field number="35" name="MsgType" type="STRING"/><field number="49" name="SenderCompID" type="STRING"/>
 <field number="52" name="SendingTime" type="UTCTIMESTAMP"/><field number="56" name="TargetCompID" type="STRING"/>
 <field number="448" name="PartyID" type="STRING"/><field number="555" name="NoLegs" type="NUMINGROUP"/>
 <field number="600" name="LegSymbol" type="STRING"/><field number="654" name="LegRefID" type="STRING"/></fields></fix>)";

TEST(GroupOrder, of_members_and_of_the_first_one_is_delivered_with_a_report_and_rejected_by_choice) {
  const Dictionary feed = Dictionary::parse(feed_xml, "feed.xml");
  const std::string legs = "555=2|654=a|448=p|600=s|654=b|448=q|600=t|";
  const std::string begins = "555=2|600=s|654=a|600=t|654=b|";
  for (const auto& [body, first, entries] :
       {std::tuple{legs, 600, "654 448 600 | 654 448 600"}, std::tuple{begins, 600, "600 654 | 600 654"}}) {
    const std::string bytes = message("FIX.4.4", "X", std::string(header) + body);
    ValidationReport found;
    EXPECT_EQ(validate_bytes(feed, bytes, {}, &found), std::nullopt) << body;
    ASSERT_FALSE(found.empty()) << body;
    EXPECT_EQ(found.violations()[0], (Violation{Reason::repeating_group_fields_out_of_order, Tag{first}})) << body;
    MessageView view;
    ASSERT_EQ(view.parse(bytes), WireError::none);
    EXPECT_EQ(entries_of(view.group(*feed.group_shape("X", Tag{555}))), entries);
    EXPECT_EQ(validate_bytes(feed, bytes, ValidationChecks{.groups = ValidationMode::strict}),
              violation(Reason::repeating_group_fields_out_of_order, first))
        << body;
  }
}

// tests/interop gives the same list to QuickFIX C++.
TEST(GroupOrder, is_judged_as_stated_beside_quickfix) {
  const std::string order = "11=id-1|21=1|55=MSFT|54=1|60=20240102-03:04:05|38=100|40=2|44=10.25|";
  for (const interop::GroupOrder& each : interop::group_orders) {
    EXPECT_EQ(!validate_body(fix44(), "D", order + std::string(each.fields), {}), each.we_deliver) << each.fields;
    EXPECT_TRUE(each.we_deliver || !each.quickfix_accepts) << each.fields;
  }
}

TEST(Numbers, of_any_length_are_delivered) {
  const std::string plain = "11=id-1|21=1|55=MSFT|54=1|60=20240102-03:04:05|40=2|";
  for (const interop::LongNumber& each : interop::long_numbers) {
    EXPECT_EQ(validate_body(fix44(), "D", plain + std::string(each.field) + '|'), std::nullopt) << each.field;
  }
  for (const std::string_view wrong : {"44=1.1.1", "44=1234567890123456789x", "44=--1", "44=.",
                                       "38=123456789012345678901e5", "110=12345678901234567890-"}) {
    const auto found = validate_body(fix44(), "D", plain + std::string(wrong) + '|');
    ASSERT_TRUE(found) << wrong;
    EXPECT_EQ(found->reason, Reason::incorrect_data_format) << wrong;
  }
}

TEST(Numbers, that_do_not_fit_are_out_of_range_for_the_reader_alone) {
  const std::string bytes = message(
      "FIX.4.4", "8", "14=1.123456789012345678|151=12.123456789012345678|38=1" + std::string(60, '0') + "|6=1,5|");
  MessageView view;
  ASSERT_EQ(view.parse(bytes), WireError::none);
  EXPECT_EQ(view.get_decimal(Tag{14}), Decimal(1'123'456'789'012'345'678, 18));
  EXPECT_EQ(view.get_decimal(Tag{151}).error(), FieldError::out_of_range);
  char text[WideDecimal::max_text_size];
  const auto wide = view.get_wide_decimal(Tag{151});
  ASSERT_TRUE(wide);
  EXPECT_EQ(std::string_view(text, wide->write(text)), "12.123456789012345678");
  EXPECT_EQ(view.get_wide_decimal(Tag{38}).error(), FieldError::out_of_range);
  EXPECT_EQ(view.get_int(Tag{38}).error(), FieldError::out_of_range);
  EXPECT_EQ(view.get_decimal(Tag{6}).error(), FieldError::bad_format);
  EXPECT_EQ(view.get_wide_decimal(Tag{44}).error(), FieldError::missing);
}

TEST(GroupCounts, of_any_length_are_wrong_counts_and_no_overflow) {
  for (const std::string_view count : {"99999999999999999999999999", "18446744073709551617", "18446744073709551618"}) {
    EXPECT_EQ(
        validate_body(fix44(), "D",
                      "11=ID|21=1|40=1|54=1|38=1|55=A|60=20240102-03:04:05|453=" + std::string(count) + "|448=A|", {}),
        violation(Reason::incorrect_num_in_group_count, 453))
        << count;
  }
}

}  // namespace
}  // namespace nfx
