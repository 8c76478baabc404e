// Measures our part from tick to model to order, after the read has returned: each message alone, between two readings
// of the processor's counter. bench_tick_to_model --help. Exit status 1 if a book or an order is wrong, 2 if the run is
// not possible.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cycle_clock.hpp"
#include "harness/figures.hpp"
#include "harness/machine.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "publish/websocket_peer.hpp"
#include "t2m/feeds.hpp"
#include "t2m/stamps.hpp"

namespace {

using namespace nfx::bench;
using namespace nfx::strategy;
using namespace std::chrono_literals;
using nfx::Actions;
using nfx::Instant;
using nfx::LatencyHistogram;
using nfx::UtcTime;
using nfx::app::t2m::FeedKind;
using nfx::app::t2m::Messages;
using nfx::app::t2m::Quotes;
using nfx::app::t2m::quotes;
using nfx::app::t2m::Stamps;
using nfx::app::t2m::with_feed;
using nfx::market::append_frame;
using nfx::market::FeedInput;
using nfx::market::InputKind;
using nfx::market::WebsocketLines;
using nfx::market::WebsocketOpcode;

struct Options {
  std::uint32_t repeats = 5;
  std::uint32_t messages = 200'000;
  std::uint32_t names = 4;
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> core;
};

constexpr UtcTime midnight{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};

// The received datagrams of a run.
struct Day {
  FeedKind feed;
  std::uint16_t names;
  std::vector<std::byte> bytes;
  struct Packet {
    std::size_t offset;
    std::size_t size;
    UtcTime due;
    std::uint16_t name;  // of a book ticker
  };
  std::vector<Packet> packets;
  std::size_t first_measured = 0;
};

Day make_day(FeedKind feed, const Options& options) {
  Messages messages{{.feed = feed,
                     .names = static_cast<std::uint16_t>(options.names),
                     .messages = options.messages,
                     .rate_per_s = 100'000,
                     .recording = {},
                     .seed = options.seed}};
  messages.set_midnight(midnight);
  Day day{.feed = feed, .names = static_cast<std::uint16_t>(options.names), .bytes = {}, .packets = {}};
  for (const Messages::Packet& each : messages.packets()) {
    const UtcTime due = midnight + nfx::Duration{10h} + each.due;
    const std::string_view bytes = messages.bytes(each, due);
    std::string frame;
    if (feed == FeedKind::ws) append_frame(frame, WebsocketOpcode::text, bytes);
    const std::string_view sent = feed == FeedKind::ws ? std::string_view{frame} : bytes;
    day.packets.push_back({day.bytes.size(), sent.size(), due, each.name});
    const auto* const begin = reinterpret_cast<const std::byte*>(sent.data());
    day.bytes.insert(day.bytes.end(), begin, begin + sent.size());
  }
  day.first_measured = messages.first_measured();
  return day;
}

// A logged-on session whose orders are encoded into memory.
class EncodedOrders : public nfx::market::NoSimulation {
 public:
  EncodedOrders() : session_(config_of(nfx::Role::initiator)) {
    Actions out{output_};
    session_.on_connect(now_, out);
    nfx::Composer venue{config_of(nfx::Role::acceptor)};
    std::array<char, 512> space;
    const auto size = venue.compose({.msg_type = "A",
                                     .seq = nfx::SeqNum{1},
                                     .body = "98=0\x01"
                                             "108=0\x01"},
                                    now_.utc, space);
    nfx::MessageView view;
    Actions answer{output_};
    if (!size || view.parse({space.data(), *size}) != nfx::WireError::none) throw std::runtime_error("no Logon");
    session_.on_message(view, now_, answer);
    if (!session_.logged_on()) throw std::runtime_error("the session did not log on");
  }

  bool send(const Intent& intent, const OwnOrder& order, UtcTime now) noexcept {
    const auto message = messages_.message(intent, order, now);
    Actions out{output_};
    if (!message || !session_.send(*message, {now, nfx::market::FeedClock::of(now)}, out)) return false;
    sent_ = order.request();
    kind_ = intent.action == Action::place     ? ReportKind::accepted
            : intent.action == Action::replace ? ReportKind::replaced
                                               : ReportKind::canceled;
    ++count_;
    bytes_ += out.output_used();
    return true;
  }
  // The venue's answer to the last order, outside of the timed part.
  template <class Pipeline>
  void answer(Pipeline& pipeline) {
    if (sent_ == OrderNumber{}) return;
    pipeline.report({.number = std::exchange(sent_, OrderNumber{}), .kind = kind_});
  }
  [[nodiscard]] bool waiting() const noexcept { return sent_ != OrderNumber{}; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t mean_bytes() const noexcept { return count_ == 0 ? 0 : bytes_ / count_; }

 private:
  static nfx::SessionConfig config_of(nfx::Role role) {
    const bool venue = role == nfx::Role::acceptor;
    nfx::SessionConfig config;
    config.role = role;
    config.sender_comp_id = venue ? "VENUE" : "TRADER";
    config.target_comp_id = venue ? "TRADER" : "VENUE";
    config.allow_no_heartbeats = true;
    config.heartbeat_interval = 0s;
    config.timestamp_digits = 6;
    return config;
  }

  Instant now_{midnight, nfx::MonotonicTime{1000s}};
  std::array<char, 8192> output_{};
  nfx::Session session_;
  OrderMessages messages_{{.symbol = "ALFA"}};
  OrderNumber sent_{};
  ReportKind kind_{};
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

// The server of a websocket in memory.
class MemoryServer final : public nfx::market::FeedPorts {
 public:
  // Opens the websocket of this handler.
  template <class Trader>
  void open(Trader& trader, UtcTime at) {
    trader.use(*this);
    trader.take(FeedInput{.at = at});  // connects
    const std::string random(16, 'x');
    trader.take(FeedInput{InputKind::opened, nfx::StampSource::program, WebsocketLines::stream, 1, at, random});
    nfx::market::WebsocketPeer server;
    server.received(sent_);
    std::string_view target;
    if (server.next(target) != nfx::market::WebsocketPeerEvent::upgrade) throw std::runtime_error("no handshake");
    const std::string answer{server.answer()};
    trader.take(FeedInput{InputKind::received, nfx::StampSource::kernel, WebsocketLines::stream, 1, at, answer});
    if (trader.handler().counters().opened != 1) throw std::runtime_error("the websocket did not open");
  }

  void connect(std::uint16_t) noexcept override {}
  bool send(std::uint16_t, std::string_view bytes) noexcept override {
    sent_ += bytes;
    return true;
  }
  void close(std::uint16_t) noexcept override {}
  void random(std::span<std::uint8_t> out) noexcept override { std::ranges::fill(out, std::uint8_t{7}); }

 private:
  std::string sent_;
};

template <class Feed, class Model>
struct Rig {
  static constexpr bool by_websocket = std::is_same_v<Feed, nfx::market::WebsocketFeedOptions>;

  Rig(const Day& day, const Feed& feed, Model model)
      : trader(feed, options(day), {}, Stamps<NoStages>{}, std::move(model)) {
    if constexpr (by_websocket) server.open(trader, day.packets.front().due);
  }
  [[gnu::always_inline]] void packet(const Day& day, const Day::Packet& each) {
    trader.set_now({each.due, nfx::MonotonicTime{each.due.time_since_epoch()}});
    const char* const bytes = reinterpret_cast<const char*>(day.bytes.data()) + each.offset;
    trader.take(FeedInput{by_websocket ? InputKind::received : InputKind::datagram,
                          nfx::StampSource::kernel,
                          0,
                          by_websocket ? 1u : 0u,
                          each.due,
                          {bytes, each.size}});
  }
  [[nodiscard]] EncodedOrders& orders() noexcept { return trader.venue(); }

  MemoryServer server;
  nfx::market::Trader<Feed, typename nfx::market::FeedOf<Feed>::Books, EncodedOrders, Stamps<NoStages>, Model> trader;

 private:
  static nfx::market::TraderOptions options(const Day& day) {
    nfx::market::TraderOptions made = nfx::app::t2m::trader_options(day.feed, day.names);
    made.risk = {.orders_per_second = 1'000'000, .burst = 100'000};
    made.sent_max = 0;
    return made;
  }
};

// Calls with a rig of the day's feed.
template <class Model, class Call>
auto with_rig(const Day& day, Model model, Call&& call) {
  return with_feed(day.feed, day.names, midnight, [&](const auto& feed) {
    using AnyRig = Rig<std::remove_cvref_t<decltype(feed)>, Model>;
    return call(*std::make_unique<AnyRig>(day, feed, std::move(model)));
  });
}

// Times each datagram alone; with `orders_only`, only datagrams that caused an order.
template <class Model>
LatencyHistogram time_packets(const Day& day, Model model, bool orders_only, const CycleClock& clock, double own_cost) {
  return with_rig(day, std::move(model), [&](auto& rig) {
    LatencyHistogram histogram;
    for (std::size_t i = 0; i < day.packets.size(); ++i) {
      const std::uint64_t begin = ticks_before();
      rig.packet(day, day.packets[i]);
      const std::uint64_t end = ticks_after();
      const bool counted = i >= day.first_measured && (!orders_only || rig.orders().waiting());
      rig.orders().answer(rig.trader.pipeline());
      if (counted) histogram.record(clock.ps_between(begin, end, own_cost));
    }
    if (rig.trader.books().anomalies() != 0) throw WrongAnswerError("events did not fit the books");
    return histogram;
  });
}

struct BestPrices {
  std::optional<nfx::market::Level> bid, ask;
  friend bool operator==(const BestPrices&, const BestPrices&) = default;
};
// The state at the end of a day, by the feed's instruments.
struct DayEnd {
  std::vector<BestPrices> prices;
  std::uint64_t orders = 0;
  std::uint64_t order_bytes = 0;
};
DayEnd end_of(const Day& day) {
  return with_rig(day, quotes(day.feed), [&](auto& rig) {
    for (const Day::Packet& each : day.packets) {
      rig.packet(day, each);
      rig.orders().answer(rig.trader.pipeline());
    }
    const auto& books = rig.trader.books();
    if (books.anomalies() != 0) throw WrongAnswerError("events did not fit the books");
    if (day.feed == FeedKind::ws && rig.trader.observer().scheduled() != day.packets.size())
      throw WrongAnswerError("a book ticker did not come to the model");
    DayEnd end{.prices = {}, .orders = rig.orders().count(), .order_bytes = rig.orders().mean_bytes()};
    for (std::uint32_t i = nfx::app::t2m::row_of(day.feed).first_instrument; i < books.instruments(); ++i) {
      const auto& book = books.book(nfx::market::InstrumentIndex{i});
      end.prices.push_back({book.best(nfx::market::Side::bid), book.best(nfx::market::Side::ask)});
    }
    return end;
  });
}

// The books of both feeds are the same, and there are orders.
void check(const Day& itch, const Day& dbn) {
  const DayEnd one = end_of(itch), other = end_of(dbn);
  if (one.prices != other.prices) throw WrongAnswerError("the books of ITCH and DBN differ");
  if (one.orders == 0) throw WrongAnswerError("the quoter sent nothing");
  std::printf("checked   %zu datagrams of ITCH, %zu of DBN: the same best prices; %llu orders of %llu bytes\n",
              itch.packets.size(), dbn.packets.size(), static_cast<unsigned long long>(one.orders),
              static_cast<unsigned long long>(one.order_bytes));
}

// The text after `key` in a book ticker as billionths; it has two decimals.
std::int64_t price_in(std::string_view ticker, std::string_view key) {
  std::int64_t cents = 0;
  for (const char c : ticker.substr(ticker.find(key) + key.size())) {
    if (c == '"') break;
    if (c != '.') cents = cents * 10 + (c - '0');
  }
  return cents * 10'000'000;
}

// Each message must have reached the model, and each book must have the prices of its name's last message.
void check(const Day& ws) {
  const DayEnd end = end_of(ws);
  std::vector<std::string_view> last(ws.names);
  for (const Day::Packet& each : ws.packets)
    last[each.name] = {reinterpret_cast<const char*>(ws.bytes.data() + each.offset), each.size};
  for (std::uint16_t name = 0; name < ws.names; ++name) {
    const auto& [bid, ask] = end.prices[name];
    if (!bid || !ask || bid->price.nano != price_in(last[name], "\"b\":\"") ||
        ask->price.nano != price_in(last[name], "\"a\":\"")) {
      throw WrongAnswerError("a book is not that of the last book ticker");
    }
  }
  std::printf("checked   %zu book tickers: the prices of the last ones; %llu orders\n", ws.packets.size(),
              static_cast<unsigned long long>(end.orders));
}

int run(const Options& options) {
  std::printf("machine   %s\n", describe(this_machine()).c_str());
  run_on_core(options.core);
  const CycleClock clock = calibrate_clock();
  const double own_cost = stamp_cost_ticks();
  const Day itch = make_day(FeedKind::itch, options);
  const Day dbn = make_day(FeedKind::dbn, options);
  const Day ws = make_day(FeedKind::ws, options);
  check(itch, dbn);
  check(ws);

  RepeatedGroup alone{"alone", "ns of each, after the read", {}};
  for (const char* section : {"to the model", "to a FIX order, encoded"})
    for (const char* name : {"ITCH datagram", "DBN datagram", "JSON book ticker"})
      alone.rows.push_back(empty_row(section, name));
  // The first round warms up and is left out.
  for (std::uint32_t repeat = 0; repeat <= options.repeats; ++repeat) {
    std::vector<LatencyHistogram> histograms;
    for (const Day* day : {&itch, &dbn, &ws})
      histograms.push_back(time_packets(*day, NoModel{}, false, clock, own_cost));
    for (const Day* day : {&itch, &dbn, &ws})
      histograms.push_back(time_packets(*day, quotes(day->feed), true, clock, own_cost));
    if (repeat == 0) continue;
    for (std::size_t i = 0; i < histograms.size(); ++i) {
      alone.rows[i].repeats.push_back(figures_of(histograms[i], 1000));
      alone.rows[i].note = "of " + std::to_string(histograms[i].count());
    }
  }
  print_table(stdout, alone);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const nfx::cli::Command program{
      .name = "bench_tick_to_model",
      .summary = "Our part of market data to model to FIX order, after the read",
      .options = {repeats_option(options.repeats),
                  {.names = "--messages",
                   .target = &options.messages,
                   .help = "Messages of the generated market that are timed",
                   .range = {{1000, 10'000'000}}},
                  {.names = "--names", .target = &options.names, .help = "Instruments", .range = {{1, 1000}}},
                  seed_option(options.seed),
                  core_option(options.core)},
  };
  return run_program(program, argc, argv, [&] { return run(options); });
}
