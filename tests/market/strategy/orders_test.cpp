// Own orders by number, and their messages: what leaves and what is read back.
#include <gtest/gtest.h>

#include "nexusfix/strategy/order_messages.hpp"
#include "support.hpp"

namespace nfx::strategy::test {
namespace {

TEST(order_table, numbers_ascend_and_skip_those_in_use) {
  OwnOrders table{{.instruments = 1, .orders = 2, .first_number = 5}};
  const OrderNumber old = table.open(buy(10000, 1), 0).number;
  EXPECT_EQ(old, OrderNumber{5});
  std::uint64_t last = 5;
  for (int i = 0; i < 100; ++i) {
    const OrderNumber number = table.open(buy(10000, 1, 1), 0).number;
    EXPECT_GT(std::to_underlying(number), last);
    EXPECT_LE(std::to_underlying(number), last + 2);
    last = std::to_underlying(number);
    ASSERT_TRUE(table.apply({.number = number, .kind = ReportKind::canceled}));
  }
  EXPECT_TRUE(table.apply({.number = old, .kind = ReportKind::accepted})) << "the old one is still found";
  EXPECT_FALSE(table.apply({.number = OrderNumber{6}, .kind = ReportKind::accepted}));
  EXPECT_EQ(table.unknown_reports(), 1U);
}

TEST(order_table, follows_an_order_through_a_replacement) {
  OwnOrders table{{.instruments = 1, .orders = 4}};
  const OrderNumber first = table.open(buy(10000, 10), 3).number;
  Intent change = buy(10001, 15);
  change.action = Action::replace;
  const OrderNumber second = table.change(change, 3).change;
  const auto fill = table.apply({.number = first, .kind = ReportKind::filled, .price = cents(10000), .quantity = 10});
  ASSERT_TRUE(fill);
  EXPECT_EQ(fill->left, 0U);
  EXPECT_EQ(table.exposure(InstrumentIndex{0}).open_buy, 5U) << "the replacement may still add five";
  const auto replaced = table.apply({.number = second, .kind = ReportKind::replaced});
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->left, 5U);
  EXPECT_EQ(replaced->price, cents(10001));
  const auto end = table.apply({.number = second, .kind = ReportKind::filled, .price = cents(10001), .quantity = 5});
  EXPECT_EQ(end->left, 0U);
  EXPECT_EQ(table.open_orders(), 0U);
  EXPECT_EQ(table.exposure(InstrumentIndex{0}).position, 15);
  EXPECT_EQ(table.in_slot(3, 0), nullptr);
}

TEST(order_table, a_refused_change_leaves_the_order_as_it_was) {
  OwnOrders table{{.instruments = 1, .orders = 4}};
  table.open(sell(10000, 10), 0);
  const OrderNumber change = table.change({.action = Action::cancel}, 0).change;
  const auto report = table.apply({.number = change, .kind = ReportKind::rejected});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, ReportKind::change_rejected);
  EXPECT_EQ(report->left, 10U);
  ASSERT_NE(table.in_slot(0, 0), nullptr);
  EXPECT_FALSE(table.in_slot(0, 0)->changing());
}

TEST(order_table, refuses_bounds_that_it_cannot_keep) {
  EXPECT_THROW((OwnOrders{{.orders = 0}}), std::invalid_argument);
  EXPECT_THROW((OwnOrders{{.orders = OwnOrders::max_orders + 1}}), std::invalid_argument);
  EXPECT_THROW((OwnOrders{{.instruments = 0}}), std::invalid_argument);
  EXPECT_THROW((OwnOrders{{.first_number = 0}}), std::invalid_argument);
}

std::string readable(std::string_view body) {
  std::string text{body};
  for (char& c : text) {
    if (c == '\x01') c = '|';
  }
  return text;
}

TEST(order_messages, are_the_fields_of_an_order) {
  OrderMessages messages{{.symbol = "ALFA", .account = "ACC", .more_fields = "207=XNAS\x01", .price_digits = 4}};
  OwnOrder order{.number = OrderNumber{17}, .quantity = 250, .side = Side::ask};
  Intent intent = sell(10005, 250);
  const auto placed = messages.message(intent, order, UtcTime{1'700'000'000'123'456'789ns});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->msg_type, "D");
  EXPECT_EQ(readable(placed->body),
            "11=000000000017|1=ACC|55=ALFA|207=XNAS|54=2|60=20231114-22:13:20.123456|38=0000250|40=2|44=0100.05|59=0|");
  order.change = OrderNumber{18};
  intent.action = Action::replace;
  const auto replaced = messages.message(intent, order, UtcTime{1s});
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->msg_type, "G");
  EXPECT_TRUE(readable(replaced->body).starts_with("41=000000000017|11=000000000018|1=ACC|55=ALFA|"));
  intent.action = Action::cancel;
  const auto canceled = messages.message(intent, order, UtcTime{1s});
  EXPECT_EQ(canceled->msg_type, "F");
  EXPECT_EQ(readable(canceled->body),
            "41=000000000017|11=000000000018|1=ACC|55=ALFA|207=XNAS|54=2|60=19700101-00:00:01.000000|38=0000250|");
}

TEST(order_messages, refuse_what_does_not_fit) {
  OrderMessages messages{{.symbol = "A", .price_digits = 3, .price_scale = 2, .quantity_digits = 3}};
  const OwnOrder order{.number = OrderNumber{1}, .side = Side::bid};
  EXPECT_TRUE(messages.message(buy(99999, 999), order, UtcTime{}));
  EXPECT_FALSE(messages.message(buy(100000, 1), order, UtcTime{}));
  EXPECT_FALSE(messages.message(buy(1, 1000), order, UtcTime{}));
  Intent finer = buy(1, 1);
  finer.price.nano += 1'000'000;
  EXPECT_FALSE(messages.message(finer, order, UtcTime{})) << "a price that would have to be rounded";
}

std::optional<OwnOrders::VenueReport> read(std::string_view type, std::string body) {
  for (char& c : body) {
    if (c == '|') c = '\x01';
  }
  const HeaderTemplate header{{.begin_string = "FIX.4.4", .sender_comp_id = "V", .target_comp_id = "T"}};
  MessageTemplate message = MessageTemplateBuilder{header, type}.fields(body).build();
  MessageView view{64};
  EXPECT_EQ(view.parse(message.view()), WireError::none);
  return read_report(view);
}

TEST(order_messages, read_what_the_venue_answers) {
  const auto fill = read("8", "37=1|11=000000000017|17=2|150=F|39=1|32=5|31=100.05|151=5|");
  ASSERT_TRUE(fill);
  EXPECT_EQ(fill->number, OrderNumber{17});
  EXPECT_EQ(fill->kind, ReportKind::filled);
  EXPECT_EQ(fill->quantity, 5U);
  EXPECT_EQ(fill->price, cents(10005));
  EXPECT_EQ(read("8", "11=17|150=0|")->kind, ReportKind::accepted);
  EXPECT_EQ(read("8", "11=17|150=4|")->kind, ReportKind::canceled);
  EXPECT_EQ(read("8", "11=17|150=C|")->kind, ReportKind::canceled);
  EXPECT_EQ(read("8", "11=17|150=5|")->kind, ReportKind::replaced);
  EXPECT_EQ(read("8", "11=17|150=8|")->kind, ReportKind::rejected);
  EXPECT_EQ(read("9", "11=17|41=16|434=1|")->kind, ReportKind::change_rejected);
  EXPECT_EQ(read("j", "45=3|372=D|379=17|380=0|")->kind, ReportKind::rejected);
  EXPECT_FALSE(read("8", "11=17|150=A|")) << "pending: nothing has changed";
  EXPECT_FALSE(read("8", "11=mine|150=0|"));
  EXPECT_FALSE(read("B", "148=news|"));
}

TEST(order_messages, a_fill_that_cannot_be_read_is_nobodys) {
  for (const char* body : {"11=17|150=F|32=5|", "11=17|150=F|31=1|", "11=17|150=F|32=-5|31=1|", "150=F|32=5|31=1|"}) {
    const auto fill = read("8", body);
    ASSERT_TRUE(fill) << body;
    EXPECT_EQ(fill->kind, ReportKind::filled);
    EXPECT_EQ(fill->number, OrderNumber{});
  }
}

TEST(order_messages, prices_are_exact_or_nothing) {
  EXPECT_EQ(price_of(Decimal{-15, 1}), (Price{-1'500'000'000}));
  EXPECT_EQ(price_of(Decimal{1'500, 12}), std::nullopt);
  EXPECT_EQ(price_of(Decimal{15'000, 13}), std::nullopt);
  EXPECT_EQ(price_of(Decimal{10'000, 12}), (Price{10}));
  EXPECT_EQ(price_of(Decimal{INT64_MAX, 0}), std::nullopt);
}

}  // namespace
}  // namespace nfx::strategy::test
