// From the bytes of a day of ITCH to events, and to order books of all its stocks: from a file, and from packets.
#include <cstdio>
#include <memory>

#include "harness/measure.hpp"
#include "itch_day.hpp"
#include "itch_feed_books.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/order_book.hpp"
#include "plain_book.hpp"
#include "rows.hpp"

namespace nfx::bench {
namespace {

using namespace nfx::market;

// Messages to books, with or without look-ahead.
struct ToBooks {
  explicit ToBooks(const BookLimits& limits) : books(limits) {}
  void operator()(std::span<const std::byte> message) {
    parser.message(message, {.sequence = ++messages}, [this](const Event& event) {
      books.apply(InstrumentIndex{std::to_underlying(event.instrument)}, event);
    });
  }

  ItchParser parser{UtcTime{}};
  OrderBooks books;
  std::uint64_t messages = 0;
};
struct ToBooksAhead : ToBooks {
  using ToBooks::ToBooks;
  void expect(std::span<const std::byte> message) {
    if (const auto subject = itch::subject_of(message)) {
      books.expect(InstrumentIndex{subject->locate}, OrderId{subject->order}, itch_side(subject->side),
                   itch_price(subject->price));
    }
  }
};

std::uint64_t hash_of(const OrderBooks& books) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < books.instruments(); ++i) {
    sum = (sum ^ books.book(InstrumentIndex{i}).hash()) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 32;
  }
  return sum;
}

struct Checked {
  std::uint64_t messages = 0;
  std::uint32_t orders_most = 0;
  std::uint64_t hash = 0;
};

// Compares every book with a book made of maps.
Checked check(std::span<const std::byte> day) {
  ToBooksAhead fast{itch_book_limits(1u << 22)};
  itch::for_each_framed(day, fast);
  if (fast.books.anomalies() != 0) throw WrongAnswerError("orders of the day do not fit its books");
  PlainBooks plain;
  ItchParser parser{UtcTime{}};
  itch::for_each_framed(day, [&](std::span<const std::byte> message) {
    parser.message(message, {}, [&](const Event& event) { plain.apply(event); });
  });
  const std::string difference =
      plain.difference(fast.books, [](std::uint32_t instrument) { return InstrumentIndex{instrument}; });
  if (!difference.empty()) throw WrongAnswerError(difference);
  return {fast.messages, fast.books.orders_most(), hash_of(fast.books)};
}

void print_facts(std::span<const std::byte> day, const Checked& checked) {
  std::printf("checked   %llu messages, %zu MB, %u orders open at most, books %016llx\n",
              static_cast<unsigned long long>(checked.messages), day.size() >> 20, checked.orders_most,
              static_cast<unsigned long long>(checked.hash));
}

std::vector<MarketRow> rows_of(std::span<const std::byte> day, const MoldPackets& packets, const BookLimits& limits) {
  std::vector<MarketRow> rows;
  rows.push_back({"lengths alone",
                  [day] {
                    return timed([day] {
                      itch::for_each_framed(day, [](std::span<const std::byte> message) { keep(message.front()); });
                    });
                  },
                  {}});
  rows.push_back({"message to event",
                  [day] {
                    return timed([day] {
                      ItchParser parser{UtcTime{}};
                      std::uint64_t sequence = 0;
                      itch::for_each_framed(day, [&](std::span<const std::byte> message) {
                        parser.message(message, {.sequence = ++sequence}, [](const Event& event) { keep(event); });
                      });
                    });
                  },
                  {}});
  rows.push_back({"message to L3 book, nothing expected",
                  [day, limits] {
                    auto books = std::make_shared<ToBooks>(limits);
                    return timed([day, books] { itch::for_each_framed(day, *books); });
                  },
                  {}});
  rows.push_back({"message to L3 book",
                  [day, limits] {
                    auto books = std::make_shared<ToBooksAhead>(limits);
                    return timed([day, books] { itch::for_each_framed(day, *books); });
                  },
                  {}});
  rows.push_back({"MoldUDP64 packets to L3 book",
                  [&packets, limits] {
                    struct State {
                      explicit State(const BookLimits& l) : books(l) {}
                      ItchFeedBooks books;
                      ItchFeed<ItchFeedBooks> feed{{}, books};
                    };
                    auto state = std::make_shared<State>(limits);
                    return timed([&packets, state] {
                      Instant now{UtcTime{Duration{1}}, MonotonicTime{Duration{1}}};
                      for (std::size_t i = 0; i < packets.size(); ++i) {
                        now.monotonic += Duration{1000};
                        state->feed.tick(now);
                        state->feed.packet(MoldLine::a, packets[i], now);
                      }
                      if (state->feed.state() != FeedState::live) throw WrongAnswerError("the feed is not live");
                    });
                  },
                  {}});
  return rows;
}

LatencyHistogram time_messages(std::span<const std::byte> day, const BookLimits& limits, const CycleClock& clock,
                               double lap_cost) {
  struct Timed : ToBooksAhead {
    Timed(const BookLimits& l, const CycleClock& c, double cost) : ToBooksAhead(l), laps(c, cost) {}
    void operator()(std::span<const std::byte> message) {
      ToBooksAhead::operator()(message);
      laps.lap();
    }
    Laps laps;
  };
  const auto books = std::make_unique<Timed>(limits, clock, lap_cost);
  books->laps.begin();
  itch::for_each_framed(day, *books);
  return books->laps.histogram();
}

}  // namespace

void bench_itch(const MarketOptions& options, const CycleClock& clock) {
  const std::vector<std::byte> day = options.itch.empty()
                                         ? generate_itch_day({.seed = options.seed, .messages = options.messages})
                                         : read_whole_file(options.itch);
  std::printf("\nITCH day  %s\n", options.itch.empty() ? "generated, 8000 stocks" : options.itch.c_str());
  if (!options.save.empty()) write_whole_file(options.save + "/day.itch", day);
  const Checked checked = check(day);
  print_facts(day, checked);
  const MoldPackets packets{day};
  const BookLimits limits = itch_book_limits(checked.orders_most);
  std::vector<MarketRow> rows = rows_of(day, packets, limits);
  measure_rows(rows, options.repeats, checked.messages);
  print_rows(rows, "message");
  std::printf("packets of %.1f messages on average\n",
              static_cast<double>(checked.messages) / static_cast<double>(packets.size()));
  const double lap_cost = lap_cost_ticks();
  std::vector<LatencyHistogram> repeats;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    repeats.push_back(time_messages(day, limits, clock, lap_cost));
  }
  print_latencies("messages to L3 book", repeats);
}

}  // namespace nfx::bench
