// A program that receives and sends typed messages over a session: what it answers, what leaves, and what is refused.
#include <random>

#include "doc_example.cpp"
#include "engine/loop_rig.hpp"
#include "fix44/market_data_request.hpp"
#include "fix44/order_cancel_request.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

using test::field;

struct Typed : ::testing::Test {
  Typed() {
    rig.venue.config.sessions = {test::acceptor()};
    rig.venue.application.when_message = [this](SessionHandle& session, const MessageView& message) {
      desk.on_message(session, message);
    };
    rig.venue.start();
    peer.connect();
    peer.send(peer.logon());
    rig.turn(4);
    peer.read();
    peer.received.clear();
  }
  // The answer to a message: "8: 37=1|..." from the body on.
  std::string answer(std::string_view type, std::string body) {
    std::ranges::replace(body, '|', soh);
    peer.received.clear();
    peer.send(peer.next(type, body));
    rig.turn(4);
    peer.read();
    std::string all;
    for (const std::string& bytes : peer.messages()) {
      MessageView view;
      EXPECT_EQ(view.parse(bytes), WireError::none) << bytes;
      all += std::string{view.msg_type()} + ": ";
      for (std::uint32_t i = 7; i + 1 < view.size(); ++i)
        all += std::to_string(value(view.tag_at(i))) + '=' + std::string{view.value_at(i)} + '|';
      std::string fields{bytes.substr(view.offset_at(7) - std::to_string(value(view.tag_at(7))).size() - 1)};
      fields.resize(fields.size() - 7);
      if (view.msg_type() == "8") {
        EXPECT_EQ(complaint("8", with_bars(fields)), "");
      }
    }
    return all;
  }
  SessionHandle& session() { return rig.venue.session(); }

  test::LoopRig rig;
  test::RawPeer peer{rig.network, rig.clock};
  Desk desk;
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
            "j: 45=2|58=field 38 of the answer: the value copied from another message is not valid|372=D|380=0|");
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

TEST_F(Typed, an_answer_of_a_type_that_cannot_be_sent_refuses_the_message_without_naming_a_field) {
  rig.venue.application.when_message = [](SessionHandle& handle, const MessageView& message) {
    EXPECT_TRUE(handle.create("0").send_or_reject(message).has_value());
  };
  EXPECT_EQ(
      answer("B", "148=x|"),
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
  EXPECT_TRUE(session().logged_on());
}

// What is wrong in a draft is found before anything leaves.
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
  order.cl_ord_id("1").side(fix44::Side::buy).transact_time(rig.clock.now().utc).ord_type(fix44::OrdType::market);
  auto parties = order.no_party_ids(2);
  parties.add().party_id("A");
  EXPECT_EQ(order.why(), "a repeating group is not complete, or not in order");
  EXPECT_EQ(order.send().error(), SendError::bad_message);
  parties.add().party_id("B");
  EXPECT_TRUE(order.send().has_value());
}

TEST_F(Typed, an_empty_group_is_left_out) {
  auto order = session().create<fix44::NewOrderSingle>();
  order.cl_ord_id("1").side(fix44::Side::buy).transact_time(rig.clock.now().utc).ord_type(fix44::OrdType::market);
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

// Whatever is set, in whatever order, is refused with a reason or comes back equal from a valid message.
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
    if (has_time) order.transact_time(rig.clock.now().utc);
    if (random() % 10 != 0) order.ord_type(fix44::OrdType::limit);
    auto group = order.no_party_ids(parties);
    for (std::uint32_t k = 0; k < added; ++k) {
      auto entry = group.add().party_id(party);
      if (random() % 20 == 0)
        entry.party_role(fix44::PartyRole::client_id).party_id_source(fix44::PartyIDSource::proprietary);
    }
    const bool ok = order.ok();
    const std::string why = order.why();
    peer.received.clear();
    const auto result = order.send();
    EXPECT_EQ(result.has_value(), ok) << why;
    EXPECT_EQ(why.empty(), ok);
    rig.turn(2);
    peer.read();
    peer.read();  // the rest, where the stream's ring ends within the message
    if (!ok) {
      ++refused;
      EXPECT_TRUE(peer.messages().empty());
      continue;
    }
    ++sent;
    ASSERT_EQ(peer.messages().size(), 1U);
    const std::string bytes = peer.messages()[0];
    MessageView view;
    ASSERT_EQ(view.parse(bytes), WireError::none);
    const fix44::NewOrderSingle read{view};
    EXPECT_EQ(read.missing(), std::nullopt);
    EXPECT_EQ(read.cl_ord_id(), id);
    EXPECT_EQ(read.account(), account);
    EXPECT_EQ(read.symbol(), symbol);
    EXPECT_EQ(read.has_price(), has_price);
    if (has_price) {
      EXPECT_EQ(read.price(), price);
    }
    EXPECT_EQ(read.transact_time()->time, rig.clock.now().utc);
    EXPECT_EQ(read.no_party_ids().size(), added);
    for (const auto each : read.no_party_ids()) EXPECT_EQ(each.party_id(), party);
    ValidationReport report;
    EXPECT_FALSE(validate(view, venue_dictionary(), ValidationPolicy::strict(), report).has_value())
        << with_bars(bytes);
  }
  EXPECT_GT(sent, 100U);
  EXPECT_GT(refused, 100U);
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomFields, ::testing::Range(1U, 9U),
                         [](const auto& param) { return "seed_" + std::to_string(param.param); });

}  // namespace
}  // namespace nfx::codegen_test
