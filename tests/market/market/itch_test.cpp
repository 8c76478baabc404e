// ITCH messages by their published layouts, and the events they become.
#include "nexusfix/market/itch.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nexusfix/market/itch_parser.hpp"

namespace nfx::market {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime midnight{1'700'000'000s};
constexpr std::uint64_t ten_o_clock = 36'000'000'000'123;

// Every message's bytes count up from its type, so that a field's value shows where it was read.
std::vector<std::byte> counting(const itch::MessageRow& row) {
  std::vector<std::byte> bytes(row.size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  bytes[0] = static_cast<std::byte>(row.type);
  return bytes;
}

template <class Word>
Word at(std::size_t offset) {
  Word value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = static_cast<Word>(std::uint64_t{value} << 8 | (offset + i));
  return value;
}

struct Taken {
  std::vector<Event> events;
  void operator()(const Event& event) { events.push_back(event); }
};

Event only_event(ItchParser& parser, std::span<const std::byte> bytes) {
  Taken taken;
  EXPECT_EQ(parser.message(bytes, {77, midnight + 1h, 0}, taken), itch::ParseStatus::ok);
  EXPECT_EQ(taken.events.size(), 1U);
  return taken.events.empty() ? Event{} : taken.events.front();
}

TEST(Itch, has_the_23_types_of_messages_each_once) {
  std::set<char> types;
  for (const itch::MessageRow& row : itch::message_rows) {
    types.insert(row.type);
    EXPECT_LE(row.size, itch::max_message_size);
    EXPECT_EQ(itch::message_sizes[static_cast<unsigned char>(row.type)], row.size);
  }
  EXPECT_EQ(std::string(types.begin(), types.end()), "ABCDEFHIJKLNOPQRSUVWXYh");
}

TEST(Itch, reads_fields_at_their_published_offsets) {
  std::size_t seen = 0;
  const auto header = [&seen](auto message) {
    ++seen;
    EXPECT_EQ(message[itch::Header::locate], at<std::uint16_t>(1));
    EXPECT_EQ(message[itch::Header::tracking], at<std::uint16_t>(3));
    EXPECT_EQ(message[itch::Header::time], at<std::uint64_t>(3) & 0xFFFF'FFFF'FFFF);
  };
  for (const itch::MessageRow& row : itch::message_rows) {
    EXPECT_EQ(itch::dispatch(counting(row), header), itch::ParseStatus::ok) << row.name;
  }
  EXPECT_EQ(seen, itch::message_rows.size());

  const auto bytes_of = [](char type) {
    for (const itch::MessageRow& row : itch::message_rows) {
      if (row.type == type) return counting(row);
    }
    return std::vector<std::byte>{};
  };
  const auto replace = bytes_of('U');
  const itch::View<itch::OrderReplace> u{replace.data()};
  EXPECT_EQ(u[itch::OrderReplace::order], at<std::uint64_t>(11));
  EXPECT_EQ(u[itch::OrderReplace::new_order], at<std::uint64_t>(19));
  EXPECT_EQ(u[itch::OrderReplace::shares], at<std::uint32_t>(27));
  EXPECT_EQ(u[itch::OrderReplace::price], at<std::uint32_t>(31));
  const auto executed = bytes_of('C');
  const itch::View<itch::OrderExecutedWithPrice> c{executed.data()};
  EXPECT_EQ(c[itch::OrderExecutedWithPrice::match], at<std::uint64_t>(23));
  EXPECT_EQ(c[itch::OrderExecutedWithPrice::printable], 31);
  EXPECT_EQ(c[itch::OrderExecutedWithPrice::price], at<std::uint32_t>(32));
  const auto imbalance = bytes_of('I');
  const itch::View<itch::NetOrderImbalance> i{imbalance.data()};
  EXPECT_EQ(i[itch::NetOrderImbalance::paired_shares], at<std::uint64_t>(11));
  EXPECT_EQ(i[itch::NetOrderImbalance::stock].front(), 28);
  EXPECT_EQ(i[itch::NetOrderImbalance::reference_price], at<std::uint32_t>(44));
  EXPECT_EQ(i[itch::NetOrderImbalance::price_variation], 49);
  const auto discovery = bytes_of('O');
  const itch::View<itch::CapitalRaiseDiscovery> o{discovery.data()};
  EXPECT_EQ(o[itch::CapitalRaiseDiscovery::near_time], at<std::uint64_t>(32));
  EXPECT_EQ(o[itch::CapitalRaiseDiscovery::upper_collar], at<std::uint32_t>(44));
}

TEST(Itch, refuses_every_wrong_length_and_unknown_type_without_reading_past_the_end) {
  const auto nothing = [](auto) { FAIL() << "a broken message was given on"; };
  EXPECT_EQ(itch::dispatch({}, nothing), itch::ParseStatus::wrong_length);
  for (unsigned type = 0; type < 256; ++type) {
    const std::size_t right = itch::message_sizes[type];
    for (std::size_t size = 1; size <= itch::max_message_size + 1; ++size) {
      if (size == right) continue;
      // A separate allocation, so that a sanitizer sees a read past its end.
      const auto bytes = std::make_unique<std::byte[]>(size);
      bytes[0] = static_cast<std::byte>(type);
      EXPECT_EQ(itch::dispatch({bytes.get(), size}, nothing),
                right == 0 ? itch::ParseStatus::unknown_type : itch::ParseStatus::wrong_length);
    }
  }
}

TEST(Itch, counts_what_it_ignores) {
  ItchParser parser{midnight};
  Taken taken;
  const std::array unknown{std::byte{'z'}, std::byte{1}};
  EXPECT_EQ(parser.message(unknown, {}, taken), itch::ParseStatus::unknown_type);
  EXPECT_EQ(parser.message(std::span{unknown}.first(0), {}, taken), itch::ParseStatus::wrong_length);
  itch::Message<itch::AddOrder> add{1, 0};
  add.set(itch::AddOrder::side, 'X').set(itch::AddOrder::shares, 5).set(itch::AddOrder::price, 10'000);
  EXPECT_EQ(parser.message(add.bytes(), {}, taken), itch::ParseStatus::ok);
  EXPECT_TRUE(taken.events.empty());
  EXPECT_EQ(parser.counters(), (ItchCounters{.unknown_type = 1, .wrong_length = 1, .wrong_side = 1}));
}

TEST(Itch, makes_an_add_with_exact_price_time_and_locate) {
  ItchParser parser{midnight};
  using M = itch::AddOrder;
  itch::Message<M> message{4711, ten_o_clock};
  message.set(M::order, 9'000'000'000)
      .set(M::side, 'S')
      .set(M::shares, 300)
      .set(M::stock, "ACME")
      .set(M::price, 1234567);
  const Event event = only_event(parser, message.bytes());
  EXPECT_EQ(event.kind, EventKind::add);
  EXPECT_EQ(event.order, OrderId{9'000'000'000});
  EXPECT_EQ(event.side, Side::ask);
  EXPECT_EQ(event.quantity, 300U);
  EXPECT_EQ(event.price.nano, 123'456'700'000);
  EXPECT_EQ(event.instrument, InstrumentId{4711});
  EXPECT_EQ(event.event_time, midnight + Duration{ten_o_clock});
  EXPECT_EQ(event.receive_time, midnight + 1h);
  EXPECT_EQ(event.sequence, 77U);
  EXPECT_TRUE(event.last());
}

TEST(Itch, takes_the_times_of_messages_where_none_was_received) {
  ItchParser parser{midnight};
  Taken taken;
  parser.message(itch::Message<itch::OrderDelete>{1, ten_o_clock}.bytes(), {}, taken);
  ASSERT_EQ(taken.events.size(), 1U);
  EXPECT_EQ(taken.events[0].receive_time, midnight + Duration{ten_o_clock});
}

TEST(Itch, makes_an_event_of_each_change_of_an_order) {
  ItchParser parser{midnight};
  itch::Message<itch::AddOrderAttributed> f{1, 0};
  f.set(itch::AddOrderAttributed::side, 'B').set(itch::AddOrderAttributed::price, 1);
  EXPECT_EQ(only_event(parser, f.bytes()).kind, EventKind::add);
  EXPECT_EQ(only_event(parser, f.bytes()).price.nano, 100'000);

  itch::Message<itch::OrderExecuted> e{1, 0};
  e.set(itch::OrderExecuted::order, 8).set(itch::OrderExecuted::shares, 7).set(itch::OrderExecuted::match, 6);
  Event event = only_event(parser, e.bytes());
  EXPECT_EQ(event.kind, EventKind::execute);
  EXPECT_EQ(event.order, OrderId{8});
  EXPECT_EQ(event.quantity, 7U);
  EXPECT_EQ(event.other, 6U);
  EXPECT_FALSE(event.price.defined());
  EXPECT_EQ(event.flags & event_flag::not_printable, 0);

  itch::Message<itch::OrderExecutedWithPrice> c{1, 0};
  using C = itch::OrderExecutedWithPrice;
  c.set(C::order, 8).set(C::shares, 7).set(C::match, 6).set(C::price, 5).set(C::printable, 'N');
  event = only_event(parser, c.bytes());
  EXPECT_EQ(event.kind, EventKind::execute);
  EXPECT_EQ(event.price.nano, 500'000);
  EXPECT_NE(event.flags & event_flag::not_printable, 0);
  EXPECT_EQ(only_event(parser, c.set(C::printable, 'Y').bytes()).flags & event_flag::not_printable, 0);

  itch::Message<itch::OrderCancel> x{1, 0};
  event = only_event(parser, x.set(itch::OrderCancel::order, 3).set(itch::OrderCancel::shares, 2).bytes());
  EXPECT_EQ(event.kind, EventKind::cancel);
  EXPECT_EQ(event.quantity, 2U);
  itch::Message<itch::OrderDelete> d{1, 0};
  event = only_event(parser, d.set(itch::OrderDelete::order, 3).bytes());
  EXPECT_EQ(event.kind, EventKind::remove);
  EXPECT_EQ(event.order, OrderId{3});
  itch::Message<itch::OrderReplace> u{1, 0};
  using U = itch::OrderReplace;
  event = only_event(parser, u.set(U::order, 3).set(U::new_order, 4).set(U::shares, 5).set(U::price, 60'000).bytes());
  EXPECT_EQ(event.kind, EventKind::replace);
  EXPECT_EQ(event.order, OrderId{3});
  EXPECT_EQ(event.other_order(), OrderId{4});
  EXPECT_EQ(event.quantity, 5U);
  EXPECT_EQ(event.price.nano, 6'000'000'000);
}

TEST(Itch, makes_trades_of_hidden_orders_and_crosses_but_not_of_a_cross_of_nothing) {
  ItchParser parser{midnight};
  itch::Message<itch::Trade> p{1, 0};
  p.set(itch::Trade::side, 'B').set(itch::Trade::shares, 10).set(itch::Trade::price, 20).set(itch::Trade::match, 30);
  Event event = only_event(parser, p.bytes());
  EXPECT_EQ(event.kind, EventKind::trade);
  EXPECT_EQ(event.side, Side::none);
  EXPECT_EQ(event.quantity, 10U);
  EXPECT_EQ(event.price.nano, 2'000'000);
  EXPECT_EQ(event.other, 30U);
  itch::Message<itch::CrossTrade> q{1, 0};
  q.set(itch::CrossTrade::shares, 5'000'000'000).set(itch::CrossTrade::price, 20);
  event = only_event(parser, q.bytes());
  EXPECT_EQ(event.kind, EventKind::trade);
  EXPECT_EQ(event.quantity, 5'000'000'000);
  Taken taken;
  EXPECT_EQ(parser.message(q.set(itch::CrossTrade::shares, 0).bytes(), {}, taken), itch::ParseStatus::ok);
  EXPECT_TRUE(taken.events.empty());
}

TEST(Itch, gives_messages_without_an_event_to_a_sink_that_takes_them) {
  struct Breaks : Taken {
    using Taken::operator();
    void operator()(itch::View<itch::BrokenTrade> message) { match = message[itch::BrokenTrade::match]; }
    std::uint64_t match = 0;
  } breaks;
  ItchParser parser{midnight};
  itch::Message<itch::BrokenTrade> broken{1, 0};
  EXPECT_EQ(parser.message(broken.set(itch::BrokenTrade::match, 99).bytes(), {}, breaks), itch::ParseStatus::ok);
  EXPECT_EQ(breaks.match, 99U);
  EXPECT_TRUE(breaks.events.empty());
}

TEST(Itch, keeps_the_directory_and_what_trading_is_possible) {
  ItchParser parser{midnight};
  Taken taken;
  itch::Message<itch::StockDirectory> r{12, 0};
  parser.message(r.set(itch::StockDirectory::stock, "ZVZZT").set(itch::StockDirectory::round_lot_size, 10).bytes(), {},
                 taken);
  EXPECT_TRUE(taken.events.empty());
  EXPECT_EQ(parser.directory().find("ZVZZT"), 12);
  EXPECT_EQ(parser.directory().find("ZVZZ"), std::nullopt);
  EXPECT_EQ(parser.directory().at(12).symbol(), "ZVZZT");
  EXPECT_EQ(parser.directory().at(12).round_lot, 10U);
  EXPECT_EQ(parser.directory().at(13).symbol(), "");
  EXPECT_EQ(parser.directory().size(), 1U);
  EXPECT_EQ(parser.directory().highest(), 12);

  const auto action = [&](char state) {
    itch::Message<itch::TradingAction> h{12, 0};
    return only_event(parser, h.set(itch::TradingAction::state, state).bytes()).status;
  };
  const auto operational = [&](char market, char what) {
    itch::Message<itch::OperationalHalt> h{12, 0};
    h.set(itch::OperationalHalt::market, market).set(itch::OperationalHalt::action, what);
    return only_event(parser, h.bytes()).status;
  };
  EXPECT_EQ(action('T'), TradingStatus::trading);
  EXPECT_EQ(action('Q'), TradingStatus::quoting_only);
  EXPECT_EQ(action('P'), TradingStatus::paused);
  EXPECT_EQ(action('H'), TradingStatus::halted);
  EXPECT_EQ(operational('Q', 'H'), TradingStatus::halted);
  EXPECT_EQ(action('T'), TradingStatus::halted) << "the operational halt continues";
  EXPECT_EQ(operational('Q', 'T'), TradingStatus::trading);
  EXPECT_EQ(operational('B', 'H'), TradingStatus::trading) << "another market of the group";
  parser.clear();
  EXPECT_EQ(parser.directory().size(), 0U);
  EXPECT_EQ(parser.directory().find("ZVZZT"), std::nullopt);
}

TEST(Itch, gives_the_status_of_the_whole_market_without_an_instrument) {
  ItchParser parser{midnight};
  itch::Message<itch::SystemEvent> open{0, 0};
  const Event event = only_event(parser, open.set(itch::SystemEvent::event, 'Q').bytes());
  EXPECT_EQ(event.status, TradingStatus::trading);
  EXPECT_EQ(event.instrument, InstrumentId{0});
  itch::Message<itch::MarketWideStatus> breached{0, 0};
  EXPECT_EQ(only_event(parser, breached.bytes()).status, TradingStatus::halted);
  Taken taken;
  parser.message(open.set(itch::SystemEvent::event, 'M').bytes(), {}, taken);
  EXPECT_TRUE(taken.events.empty()) << "trading continues after hours";
}

TEST(Itch, reads_files_in_pieces_and_says_what_is_left) {
  std::vector<std::byte> file;
  const itch::Message<itch::OrderDelete> d{1, 5};
  const itch::Message<itch::OrderCancel> x{2, 6};
  const auto append = [&file](std::span<const std::byte> message) {
    file.push_back(std::byte{0});
    file.push_back(static_cast<std::byte>(message.size()));
    file.insert(file.end(), message.begin(), message.end());
  };
  append(d.bytes());
  append({});
  append(x.bytes());
  std::vector<std::size_t> sizes;
  const auto note = [&sizes](std::span<const std::byte> message) { sizes.push_back(message.size()); };
  EXPECT_EQ(itch::for_each_framed(file, note), file.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{19, 23}));
  for (std::size_t size = 0; size < file.size(); ++size) {
    sizes.clear();
    const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const std::size_t taken = itch::for_each_framed(part, note);
    EXPECT_EQ(taken, size < 21 ? 0U : size < 23 ? 21U : 23U) << size;
    EXPECT_EQ(sizes.size(), size < 21 ? 0U : 1U);
  }
}

}  // namespace
}  // namespace nfx::market
