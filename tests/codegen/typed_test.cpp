// A program that receives and sends typed messages over a session: its answers, the sent bytes, and refusals.
#include <random>

#include "desk_rig.hpp"
#include "doc_example.cpp"
#include "fix44/market_data_request.hpp"
#include "fix44/order_cancel_request.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

// The answer to a message: "8: 37=1|..." from the body on.
template <typename Program>
std::string answer_of(DeskRig<Program>& rig, std::string_view type, std::string_view body) {
  rig.trader.send({type, body});
  rig.network.run();
  std::string all;
  for (const nfx::testing::Received& each : rig.trader.received()) {
    const MessageView& view = each.view();
    all += std::string{view.msg_type()} + ": ";
    for (std::uint32_t i = 7; i + 1 < view.size(); ++i)
      all += std::to_string(value(view.tag_at(i))) + '=' + std::string{view.value_at(i)} + '|';
    std::string fields{each.bytes().substr(view.offset_at(7) - std::to_string(value(view.tag_at(7))).size() - 1)};
    fields.resize(fields.size() - 7);
    if (view.msg_type() == "8") {
      EXPECT_EQ(complaint("8", with_bars(fields)), "");
    }
  }
  return all;
}

struct Typed : ::testing::Test, DeskRig<Desk> {
  std::string answer(std::string_view type, std::string_view body) { return answer_of(*this, type, body); }

  char space[512];
};

constexpr std::string_view rest = "|40=1|60=20240315-12:00:00|";

TEST_F(Typed, a_valid_order_is_confirmed_with_its_parties) {
  EXPECT_EQ(answer("D", "11=a|453=2|448=X|448=Y|55=XYZ|54=1|38=100" + std::string{rest}),
            "8: 37=1|17=1|150=0|39=0|11=a|55=XYZ|54=1|38=100|151=100|14=0|6=0|453=2|448=X|448=Y|");
  EXPECT_EQ(answer("D", "11=a|55=XYZ|54=1|38=100" + std::string{rest}),
            "8: 37=1|17=1|150=0|39=0|11=a|55=XYZ|54=1|38=100|151=100|14=0|6=0|");
}

TEST_F(Typed, an_order_without_a_quantity_is_refused_and_the_refusal_names_what_is_missing) {
  EXPECT_EQ(answer("D", "11=a|55=XYZ|54=1|152=1000" + std::string{rest}),
            "j: 45=2|58=the answer requires tag 151|372=D|380=5|");
}

TEST_F(Typed, a_quantity_that_is_no_number_is_refused_with_its_tag) {
  EXPECT_EQ(answer("D", "11=a|55=XYZ|54=1|38=lots" + std::string{rest}),
            "j: 45=2|58=field 38 of the answer: the value is not valid for the field|372=D|380=0|");
}

TEST_F(Typed, a_long_identifier_comes_back_whole) {
  const std::string id(460, 'i');
  EXPECT_EQ(answer("D", "11=" + id + "|55=XYZ|54=1|38=100" + std::string{rest}),
            "8: 37=1|17=1|150=0|39=0|11=" + id + "|55=XYZ|54=1|38=100|151=100|14=0|6=0|");
}

TEST_F(Typed, messages_without_a_function_are_refused_by_their_type) {
  EXPECT_EQ(answer("F", "11=b|41=a|55=XYZ|54=1|60=20240315-12:00:00|"),
            "j: 45=2|58=this program does not take messages of this type|372=F|380=3|");
  EXPECT_EQ(answer("B", "148=halted|33=1|58=x|"),
            "j: 45=3|58=this program does not take messages of this type|372=B|380=3|");
  EXPECT_EQ(answer("U123456789", "58=x|"),
            "j: 45=4|58=this program does not take messages of this type|372=U123456789|380=3|");
}

struct SendsHeartbeats : Application {
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    return session.create("0").send_or_reject(message);
  }
};

TEST(AnyProgram, an_answer_of_a_type_that_cannot_be_sent_refuses_the_message_without_naming_a_field) {
  DeskRig<SendsHeartbeats> rig;
  EXPECT_EQ(
      answer_of(rig, "B", "148=x|"),
      "j: 45=2|58=no application message type, a field that could not be written, or no SOH at the end|372=B|380=0|");
}

TEST_F(Typed, a_number_that_a_decimal_does_not_hold_fails_with_its_tag) {
  auto order = session().create<fix44::NewOrderSingle>();
  order.order_qty(UINT64_MAX);
  EXPECT_EQ(order.fault(), (WriteFault{WriteError::bad_value, Tag::OrderQty}));
  EXPECT_EQ(order.send().error(), SendError::bad_message);
}

TEST_F(Typed, a_refusal_is_not_refused) {
  EXPECT_EQ(answer("j", "45=2|372=8|380=0|"), "");
  EXPECT_TRUE(desk.on_message(session(), Received{"j", "45=2|372=8|380=0|"}.view()).is_done());
  EXPECT_TRUE(session().logged_on());
}

// An error in a draft is found before anything is sent.
TEST_F(Typed, a_message_without_a_required_field_is_not_sent) {
  const SeqNum before = session().next_outbound();
  auto report = session().create<fix44::ExecutionReport>();
  report.order_id("1").exec_id("1").exec_type(fix44::ExecType::new_);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.why(), "required fields are missing: 39 54 151 14 6");
  EXPECT_EQ(report.send().error(), SendError::incomplete);
  report.ord_status(fix44::OrdStatus::new_).side(fix44::Side::buy).leaves_qty(1).cum_qty(0).avg_px(0);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.send().value(), before);
}

TEST_F(Typed, a_group_that_is_not_complete_is_not_sent) {
  auto order = session().create<fix44::NewOrderSingle>();
  order.cl_ord_id("1").side(fix44::Side::buy).transact_time(network.now()).ord_type(fix44::OrdType::market);
  auto parties = order.no_party_ids(2);
  parties.add().party_id("A");
  EXPECT_EQ(order.why(), "group 453 has fewer entries than its count");
  EXPECT_EQ(order.send().error(), SendError::bad_message);
  parties.add().party_id("B");
  EXPECT_TRUE(order.send().has_value());
}

// why() and the rejection of the peer's message name the error.
TEST_F(Typed, a_refusal_names_the_field_that_was_set_twice) {
  auto request = session().create<fix44::MarketDataRequest>();
  request.md_req_id("1").subscription_request_type(fix44::SubscriptionRequestType::snapshot).market_depth(1);
  request.no_md_entry_types(1).add().md_entry_type(fix44::MDEntryType::bid);
  request.no_related_sym(1).add().symbol("XYZ");
  EXPECT_TRUE(request.ok());
  request.md_req_id("2");
  EXPECT_EQ(request.why(), "field 262 was set twice");
  const Received answered{"D", "11=a|54=1|40=1|"};
  EXPECT_TRUE(request.send_or_reject(answered.view()).has_value());
  network.run();
  EXPECT_EQ(trader.receive("j")[Tag::Text], "field 262 was set twice");
}

TEST_F(Typed, an_empty_group_is_left_out) {
  auto order = session().create<fix44::NewOrderSingle>();
  order.cl_ord_id("1").side(fix44::Side::buy).transact_time(network.now()).ord_type(fix44::OrdType::market);
  static_cast<void>(order.no_party_ids(0));
  EXPECT_FALSE(order.fields().view().contains("453="));
  EXPECT_TRUE(order.send().has_value());
}

TEST_F(Typed, a_text_with_soh_fails_with_its_tag_and_a_missing_one_is_left_out) {
  auto order = session().create<fix44::NewOrderSingle>();
  order
      .cl_ord_id(
          "1\x01"
          "99=x")
      .side(fix44::Side::buy);
  EXPECT_EQ(order.fault(), (WriteFault{WriteError::contains_soh, Tag::ClOrdID}));
  EXPECT_EQ(order.send().error(), SendError::bad_message);
  auto other = session().create<fix44::NewOrderSingle>();
  other.cl_ord_id("1").account("").side(fix44::Side::buy);
  EXPECT_FALSE(
      other.fields().view().contains("\x01"
                                     "1="));
}

TEST_F(Typed, the_first_required_field_that_a_received_message_lacks_is_one_call_away) {
  const Received incomplete{"D", "11=a|54=1|40=1|"}, complete{"D", "11=a|54=1|40=1|60=20240315-12:00:00|"};
  EXPECT_EQ(fix44::NewOrderSingle{incomplete.view()}.missing(), Tag::TransactTime);
  EXPECT_EQ(fix44::NewOrderSingle{complete.view()}.missing(), std::nullopt);
}

// The peers of nexusfix::testing.
TEST_F(Typed, a_peer_writes_typed_messages_also_incomplete_ones_and_reads_typed_answers) {
  auto order = trader.create<fix44::NewOrderSingle>();
  order.cl_ord_id("a|b").symbol("XYZ").side(fix44::Side::buy).order_qty(100);
  auto parties = order.no_party_ids(1);
  parties.add().party_id("X");
  order.send();
  network.run();
  const auto report = trader.receive<fix44::ExecutionReport>();
  EXPECT_EQ(report.cl_ord_id(), "a|b");
  EXPECT_EQ(report.order_qty(), Decimal{100});
  for (const auto party : report.no_party_ids()) EXPECT_EQ(party.party_id(), "X");
  EXPECT_EQ(report.received()[Tag::OrdStatus], "0");

  fix44::NewOrderSingleBuilder<FieldWriter> other{space};
  other.cl_ord_id("c").side(fix44::Side::buy);
  trader.send(other);
  network.run();
  EXPECT_EQ(trader.receive("j")[Tag::Text], "the answer requires tag 151");
}

std::string error_of(nfx::testing::PeerDraft<fix44::NewOrderSingle>& order) {
  try {
    order.send();
  } catch (const nfx::testing::TestError& error) {
    return error.what();
  }
  return {};
}

TEST_F(Typed, a_peer_does_not_send_what_cannot_be_written) {
  auto order = trader.create<fix44::NewOrderSingle>();
  order.cl_ord_id("a\x01");
  EXPECT_EQ(error_of(order),
            "a message of type D cannot be sent: " + to_string({WriteError::contains_soh, Tag::ClOrdID}));
  auto other = trader.create<fix44::NewOrderSingle>();
  auto parties = other.no_party_ids(2);
  parties.add().party_id("X");
  EXPECT_EQ(error_of(other), "a message of type D cannot be sent: group 453 has fewer entries than its count");
  EXPECT_EQ(trader.next_number(), SeqNum{2});
}

// Any fields set in any order are either refused with a reason, or read back equal from a valid message.
class RandomFields : public Typed, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(RandomFields, are_sent_valid_or_not_at_all) {
  std::mt19937 random{GetParam()};
  std::size_t sent = 0, refused = 0;
  const auto text = [&] {
    std::string value(random() % 12 == 0 ? 0 : 1 + random() % 30, 'a');
    for (char& c : value) c = random() % 200 == 0 ? soh : static_cast<char>('!' + random() % 90);
    return value;
  };
  for (int i = 0; i < 1500; ++i) {
    auto order = session().create<fix44::NewOrderSingle>();
    const std::string id = text(), account = text(), symbol = text(), party = text();
    const Decimal price{static_cast<std::int64_t>(random() % 1'000'000) - 500'000,
                        static_cast<std::uint8_t>(random() % 7)};
    const bool has_price = random() % 2 == 0, has_time = random() % 10 != 0;
    const auto parties = static_cast<std::uint32_t>(random() % 3), added = parties + (random() % 15 == 0 ? 1 : 0);
    if (random() % 10 != 0) order.cl_ord_id(id);
    order.account(account).symbol(symbol).side(random() % 2 == 0 ? fix44::Side::buy : fix44::Side::sell);
    if (has_price) order.price(price);
    if (has_time) order.transact_time(network.now());
    if (random() % 10 != 0) order.ord_type(fix44::OrdType::limit);
    auto group = order.no_party_ids(parties);
    for (std::uint32_t k = 0; k < added; ++k) {
      auto entry = group.add().party_id(party);
      if (random() % 20 == 0)
        entry.party_role(fix44::PartyRole::client_id).party_id_source(fix44::PartyIDSource::proprietary);
    }
    const bool ok = order.ok();
    const std::string why = order.why();
    const auto result = order.send();
    EXPECT_EQ(result.has_value(), ok) << why;
    EXPECT_EQ(why.empty(), ok);
    network.run();
    const auto received = trader.received();
    ASSERT_EQ(received.size(), ok ? 1U : 0U);
    if (!ok) {
      ++refused;
      continue;
    }
    ++sent;
    const MessageView& view = received.front().view();
    const fix44::NewOrderSingle read{view};
    EXPECT_EQ(read.missing(), std::nullopt);
    EXPECT_EQ(read.cl_ord_id(), id);
    EXPECT_EQ(read.account(), account);
    EXPECT_EQ(read.symbol(), symbol);
    EXPECT_EQ(read.has_price(), has_price);
    if (has_price) {
      EXPECT_EQ(read.price(), price);
    }
    EXPECT_EQ(read.transact_time()->time, network.now());
    EXPECT_EQ(read.no_party_ids().size(), added);
    for (const auto each : read.no_party_ids()) EXPECT_EQ(each.party_id(), party);
    ValidationReport report;
    EXPECT_FALSE(validate(view, venue_dictionary(), ValidationPolicy::strict(), report).has_value())
        << received.front().text();
  }
  EXPECT_GT(sent, 100U);
  EXPECT_GT(refused, 100U);
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomFields, ::testing::Range(1U, 9U),
                         [](const auto& param) { return "seed_" + std::to_string(param.param); });

}  // namespace
}  // namespace nfx::codegen_test
