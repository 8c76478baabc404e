// When orders trade in a recorded market: places in queues, prices that cross, and the time that everything takes.
#include "nexusfix/strategy/simulated_venue.hpp"

#include <gtest/gtest.h>

#include "market/support.hpp"
#include "support.hpp"

namespace nfx::strategy::test {
namespace {

using market::OrderBooks;
using market::test::whole;

constexpr InstrumentIndex only{0};

struct Rig {
  explicit Rig(QueueModel queue = QueueModel::risk_averse, Duration each_way = 10us)
      : venue({.to_venue = each_way, .from_venue = each_way, .queue = queue}) {}

  // One event, at this time of the exchange and received just then.
  void pass(Event event, Duration at) {
    event.event_time = event.receive_time = UtcTime{at};
    venue.before(books.book(only), only, event);
    books.apply(only, event);
    venue.after(books.book(only), only, event);
    venue.reports(event.receive_time, [this](const OwnOrders::VenueReport& each) {
      reports.push_back(each);
      table.apply(each);
    });
  }
  void tick(Duration at) { pass(market::test::event_of(market::EventKind::none), at); }
  void add(std::uint64_t id, Side side, std::int64_t price, Quantity quantity, Duration at) {
    pass(market::test::add({id, side, price, quantity}), at);
  }
  void execute(std::uint64_t id, Quantity quantity, Duration at) {
    Event event = market::test::event_of(market::EventKind::execute);
    event.order = market::OrderId{id};
    event.quantity = quantity;
    pass(event, at);
  }
  OrderNumber place(Side side, std::int64_t price, Quantity quantity, Duration at, std::uint8_t slot = 0,
                    TimeInForce time_in_force = TimeInForce::day) {
    const Intent intent{
        .price = whole(price), .quantity = quantity, .side = side, .time_in_force = time_in_force, .slot = slot};
    const OwnOrder& order = table.open(intent, 0);
    venue.send(intent, order, UtcTime{at});
    return order.number;
  }
  void change(Intent intent, Duration at) {
    const OwnOrder& order = table.change(intent, 0);
    venue.send(intent, order, UtcTime{at});
  }
  [[nodiscard]] Quantity filled() const {
    Quantity sum = 0;
    for (const auto& each : reports) sum += each.kind == ReportKind::filled ? each.quantity : 0;
    return sum;
  }

  OrderBooks books{{.orders = 1024, .levels = 256, .orders_expected = 64}};
  OwnOrders table{{.orders = 16}};
  SimulatedVenue venue;
  std::vector<OwnOrders::VenueReport> reports;
};

TEST(simulated_venue, takes_time_in_both_directions) {
  Rig rig;
  rig.add(1, Side::bid, 99, 5, 1us);
  rig.place(Side::bid, 98, 1, 100us);
  rig.tick(109us);
  EXPECT_EQ(rig.venue.resting(), 0U) << "on its way";
  rig.tick(110us);
  EXPECT_EQ(rig.venue.resting(), 1U);
  EXPECT_TRUE(rig.reports.empty()) << "its report is on its way";
  rig.tick(120us);
  ASSERT_EQ(rig.reports.size(), 1U);
  EXPECT_EQ(rig.reports[0].kind, ReportKind::accepted);
}

TEST(simulated_venue, takes_what_is_there_at_its_prices) {
  Rig rig;
  rig.add(1, Side::ask, 101, 3, 1us);
  rig.add(2, Side::ask, 102, 3, 2us);
  rig.add(3, Side::ask, 104, 3, 3us);
  rig.place(Side::bid, 103, 10, 10us, 0, TimeInForce::immediate_or_cancel);
  rig.tick(1ms);
  ASSERT_EQ(rig.reports.size(), 4U);
  EXPECT_EQ(rig.reports[1].price, whole(101));
  EXPECT_EQ(rig.reports[2].price, whole(102));
  EXPECT_EQ(rig.filled(), 6U);
  EXPECT_EQ(rig.reports[3].kind, ReportKind::canceled);
  EXPECT_EQ(rig.table.open_orders(), 0U);
}

TEST(simulated_venue, fills_after_the_queue_before_it) {
  Rig rig;
  rig.add(1, Side::bid, 99, 5, 1us);
  rig.place(Side::bid, 99, 4, 10us);
  rig.add(2, Side::bid, 99, 5, 100us);  // after our order
  rig.execute(1, 5, 200us);
  rig.tick(1ms);
  EXPECT_EQ(rig.filled(), 0U);
  rig.execute(2, 3, 2ms);
  rig.tick(3ms);
  EXPECT_EQ(rig.filled(), 3U);
  rig.execute(2, 2, 4ms);
  rig.tick(5ms);
  EXPECT_EQ(rig.filled(), 4U) << "no more than it had";
  EXPECT_EQ(rig.venue.resting(), 0U);
}

TEST(simulated_venue, models_differ_in_what_a_cancel_means) {
  for (const QueueModel queue : {QueueModel::risk_averse, QueueModel::proportional}) {
    Rig rig{queue};
    rig.add(1, Side::bid, 99, 10, 1us);
    rig.place(Side::bid, 99, 4, 10us);
    rig.add(2, Side::bid, 99, 10, 100us);
    rig.pass(market::test::cancel(1, 8), 200us);  // 10 of 20 are before our order, so four of these
    rig.execute(2, 8, 300us);
    rig.tick(1ms);
    EXPECT_EQ(rig.filled(), queue == QueueModel::risk_averse ? 0U : 2U);
  }
}

TEST(simulated_venue, the_queue_is_never_longer_than_the_level) {
  Rig rig;
  rig.add(1, Side::bid, 99, 10, 1us);
  rig.place(Side::bid, 99, 4, 10us);
  rig.tick(50us);
  rig.pass(market::test::remove(1), 100us);
  rig.add(2, Side::bid, 99, 5, 200us);
  rig.execute(2, 1, 300us);
  rig.tick(1ms);
  EXPECT_EQ(rig.filled(), 1U);
}

TEST(simulated_venue, fills_what_the_market_has_passed) {
  Rig rig;
  rig.add(1, Side::bid, 99, 1, 1us);
  rig.place(Side::bid, 99, 4, 10us);
  rig.tick(50us);
  rig.add(2, Side::ask, 98, 1, 100us);
  rig.tick(1ms);
  EXPECT_EQ(rig.filled(), 4U);
  EXPECT_EQ(rig.reports.back().price, whole(99));
  rig.place(Side::ask, 105, 4, 2ms);
  rig.tick(3ms);
  rig.add(3, Side::ask, 106, 2, 4ms);
  rig.execute(3, 1, 5ms);
  rig.tick(6ms);
  EXPECT_EQ(rig.filled(), 8U) << "a worse offer traded";
}

TEST(simulated_venue, replaces_and_cancels_what_is_still_there) {
  Rig rig;
  rig.add(1, Side::bid, 99, 10, 1us);
  rig.place(Side::bid, 99, 4, 10us);
  rig.tick(50us);
  rig.tick(60us);
  rig.change({.price = whole(99), .quantity = 2, .action = Action::replace}, 70us);
  rig.tick(200us);
  EXPECT_EQ(rig.reports.back().kind, ReportKind::replaced);
  rig.execute(1, 10, 300us);
  rig.add(2, Side::bid, 99, 5, 400us);
  rig.execute(2, 5, 500us);
  rig.change({.action = Action::cancel}, 501us);
  rig.tick(1ms);
  EXPECT_EQ(rig.filled(), 2U) << "less at the same price stays in its place";
  EXPECT_EQ(rig.reports.back().kind, ReportKind::change_rejected);
  EXPECT_EQ(rig.table.open_orders(), 0U);
}

// The queue by its orders: an order that leaves before us moves us, one that leaves after us does not.
TEST(simulated_venue, knows_which_orders_are_before_ours) {
  Rig rig{QueueModel::by_order};
  const auto remove = [&rig](std::uint64_t id, Duration at) {
    Event event = market::test::event_of(market::EventKind::remove);
    event.order = market::OrderId{id};
    rig.pass(event, at);
  };
  rig.add(1, Side::bid, 99, 5, 1us);
  rig.add(2, Side::bid, 99, 3, 2us);
  rig.place(Side::bid, 99, 4, 10us);
  rig.tick(100us);
  rig.add(3, Side::bid, 99, 7, 110us);
  remove(3, 120us);
  rig.execute(1, 5, 130us);
  EXPECT_EQ(rig.filled(), 0U) << "order 2 is before it";
  remove(2, 140us);
  rig.add(4, Side::bid, 99, 9, 150us);
  rig.execute(4, 3, 160us);
  rig.tick(1ms);
  EXPECT_EQ(rig.filled(), 3U) << "order 4 came after it, and traded";
}

// A feed that has trades alone, each before the change of the order that traded.
TEST(simulated_venue, fills_by_trades_where_the_feed_has_no_more) {
  for (const bool by_trade : {false, true}) {
    Rig rig;
    rig.venue = SimulatedVenue{
        {.to_venue = 10us, .from_venue = 10us, .queue = QueueModel::by_order, .fills_by_trade = by_trade}};
    const auto trade = [&rig](Quantity quantity, Duration at) {
      Event event = market::test::event_of(market::EventKind::trade);
      event.side = Side::ask;
      event.price = whole(99);
      event.quantity = quantity;
      rig.pass(event, at);
    };
    rig.add(1, Side::bid, 99, 5, 1us);
    rig.place(Side::bid, 99, 4, 10us);
    rig.tick(100us);
    trade(5, 110us);
    EXPECT_EQ(rig.filled(), 0U);
    Event gone = market::test::event_of(market::EventKind::remove);
    gone.order = market::OrderId{1};
    rig.pass(gone, 111us);
    trade(3, 120us);
    rig.tick(1ms);
    EXPECT_EQ(rig.filled(), by_trade ? 3U : 0U);
  }
}

}  // namespace
}  // namespace nfx::strategy::test
