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
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/order_messages.hpp"
#include "publish/websocket_peer.hpp"
#include "t2m/market_path.hpp"

namespace {

using namespace nfx::bench;
using namespace nfx::strategy;
using namespace std::chrono_literals;
using nfx::Actions;
using nfx::Instant;
using nfx::LatencyHistogram;
using nfx::UtcTime;
using nfx::app::t2m::FeedKind;
using nfx::app::t2m::MarketPath;
using nfx::app::t2m::Messages;
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
class EncodedOrders {
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

  bool send(const Intent& intent, const OwnOrder& order, Instant now) noexcept {
    const auto message = messages_.message(intent, order, now.utc);
    Actions out{output_};
    if (!message || !session_.send(*message, now, out)) return false;
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

PipelineOptions pipeline_options(std::uint16_t names) {
  return {.risk = {.orders_per_second = 1'000'000, .burst = 100'000},
          .instruments = std::vector<InstrumentLimits>(names + 1u)};
}

// A websocket opened in memory.
template <class Path>
class Tickers final : public nfx::market::FeedPorts {
 public:
  Tickers(std::uint16_t names, UtcTime at, Path& path) : handler_(options(names), path, *this) {
    const FeedInput input{.at = at};
    handler_.take(input);  // connects
    const std::string random(16, 'x');
    handler_.take({InputKind::opened, nfx::StampSource::program, WebsocketLines::stream, 1, at, random});
    nfx::market::WebsocketPeer server;
    server.received(sent_);
    std::string_view target;
    if (server.next(target) != nfx::market::WebsocketPeerEvent::upgrade) throw std::runtime_error("no handshake");
    take(server.answer(), at);
    if (handler_.counters().opened != 1) throw std::runtime_error("the websocket did not open");
  }
  void take(std::string_view bytes, UtcTime at) {
    handler_.take({InputKind::received, nfx::StampSource::kernel, WebsocketLines::stream, 1, at, bytes});
  }

  void connect(std::uint16_t) noexcept override {}
  bool send(std::uint16_t, std::string_view bytes) noexcept override {
    sent_ += bytes;
    return true;
  }
  void close(std::uint16_t) noexcept override {}
  void random(std::span<std::uint8_t> out) noexcept override { std::ranges::fill(out, std::uint8_t{7}); }

 private:
  static nfx::market::WebsocketFeedOptions options(std::uint16_t names) {
    nfx::market::WebsocketFeedOptions made;
    made.host = made.snapshot_host = "memory";
    for (const std::string& name : nfx::app::t2m::names_of(FeedKind::ws, names))
      made.instruments.push_back({name, nfx::market::JsonBook::ticker, 8});
    return made;
  }
  std::string sent_;
  nfx::market::WebsocketHandler handler_;
};

template <class Stages, class Model>
struct Rig {
  Rig(const Day& day, Model model, Stages with = {})
      : stages(std::move(with)),
        path({.feed = day.feed, .names = day.names, .midnight = midnight}, stages, orders, pipeline_options(day.names),
             nullptr, std::move(model)) {
    if (day.feed == FeedKind::ws) tickers.emplace(day.names, day.packets.front().due, path);
  }
  [[gnu::always_inline]] void packet(const Day& day, const Day::Packet& each) {
    if (tickers) {
      path.input_begins(each.due, {each.due, nfx::MonotonicTime{each.due.time_since_epoch()}});
      return tickers->take({reinterpret_cast<const char*>(day.bytes.data() + each.offset), each.size}, each.due);
    }
    path.packet({day.bytes.data() + each.offset, each.size}, each.due,
                {each.due, nfx::MonotonicTime{each.due.time_since_epoch()}});
  }
  Stages stages;
  EncodedOrders orders;
  MarketPath<Stages, EncodedOrders, Model> path;
  std::optional<Tickers<MarketPath<Stages, EncodedOrders, Model>>> tickers;
};

using Quotes = OnlyFor<Quoter>;
Quotes quotes(FeedKind feed) {
  return {nfx::market::InstrumentId{nfx::app::t2m::row_of(feed).first_instrument}, Quoter{}};
}

// Times each datagram alone; with `orders_only`, only datagrams that caused an order.
template <class Model>
LatencyHistogram time_packets(const Day& day, Model model, bool orders_only, const CycleClock& clock, double own_cost) {
  LatencyHistogram histogram;
  const auto rig = std::make_unique<Rig<NoStages, Model>>(day, std::move(model));
  for (std::size_t i = 0; i < day.packets.size(); ++i) {
    const std::uint64_t begin = ticks_before();
    rig->packet(day, day.packets[i]);
    const std::uint64_t end = ticks_after();
    const bool counted = i >= day.first_measured && (!orders_only || rig->orders.waiting());
    rig->orders.answer(rig->path.pipeline());
    if (counted) histogram.record(clock.ps_between(begin, end, own_cost));
  }
  if (rig->path.anomalies() != 0) throw WrongAnswerError("events did not fit the books");
  return histogram;
}

// Times all datagrams together, in nanoseconds each, with or without stamps and histograms.
struct Together {
  double all = 0;
  double histograms = 0;
};
template <class Stages>
Together time_all(const Day& day, Stages stages, double ns_per_tick) {
  const auto rig = std::make_unique<Rig<Stages, NoModel>>(day, NoModel{}, std::move(stages));
  std::chrono::steady_clock::time_point begin;
  std::chrono::duration<double, std::nano> histograms{};
  std::size_t i = 0;
  for (; i < day.packets.size(); ++i) {
    if (i == day.first_measured) begin = std::chrono::steady_clock::now();
    if (i % 8 == 0) {  // as if a read had returned eight
      rig->stages.poll_begins();
      rig->stages.read_returned();
    }
    rig->packet(day, day.packets[i]);
    if (rig->stages.room() >= 64) continue;
    const auto collecting = std::chrono::steady_clock::now();
    rig->stages.collect({.ticks = nfx::cycle_count(), .utc = day.packets[i].due, .ns_per_tick = ns_per_tick});
    if (i >= day.first_measured) histograms += std::chrono::steady_clock::now() - collecting;
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  const auto count = static_cast<double>(day.packets.size() - day.first_measured);
  return {time.count() / count, histograms.count() / count};
}

// The models' view and the orders must equal a second path's, and the books of both feeds must be equal.
void check(const Day& itch, const Day& dbn) {
  const auto a = std::make_unique<Rig<NoStages, Quotes>>(itch, quotes(itch.feed));
  const auto b = std::make_unique<Rig<NoStages, Quotes>>(dbn, quotes(dbn.feed));
  for (auto [day, rig] : {std::pair{&itch, a.get()}, std::pair{&dbn, b.get()}}) {
    for (const Day::Packet& each : day->packets) {
      rig->packet(*day, each);
      rig->orders.answer(rig->path.pipeline());
    }
    if (rig->path.anomalies() != 0) throw WrongAnswerError("events did not fit the books");
  }
  for (std::uint32_t i = 1; i <= itch.names; ++i) {
    const auto index = nfx::market::InstrumentIndex{i};
    const auto one = a->path.books().book(index), other = b->path.books().book(index);
    for (const auto side : {nfx::market::Side::bid, nfx::market::Side::ask}) {
      if (one.best(side) != other.best(side)) throw WrongAnswerError("the books of ITCH and DBN differ");
    }
  }
  if (a->orders.count() == 0) throw WrongAnswerError("the quoter sent nothing");
  std::printf("checked   %zu datagrams of ITCH, %zu of DBN: the same best prices; %llu orders of %llu bytes\n",
              itch.packets.size(), dbn.packets.size(), static_cast<unsigned long long>(a->orders.count()),
              static_cast<unsigned long long>(a->orders.mean_bytes()));
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
  const auto rig = std::make_unique<Rig<NoStages, Quotes>>(ws, quotes(ws.feed));
  std::vector<std::string_view> last(ws.names);
  for (const Day::Packet& each : ws.packets) {
    rig->packet(ws, each);
    rig->orders.answer(rig->path.pipeline());
    last[each.name] = {reinterpret_cast<const char*>(ws.bytes.data() + each.offset), each.size};
  }
  if (rig->path.anomalies() != 0) throw WrongAnswerError("events did not fit the books");
  if (rig->path.scheduled() != ws.packets.size()) throw WrongAnswerError("a book ticker did not come to the model");
  for (std::uint16_t name = 0; name < ws.names; ++name) {
    const auto bid = rig->path.ticker(name).best(nfx::market::Side::bid);
    const auto ask = rig->path.ticker(name).best(nfx::market::Side::ask);
    if (!bid || !ask || bid->price.nano != price_in(last[name], "\"b\":\"") ||
        ask->price.nano != price_in(last[name], "\"a\":\"")) {
      throw WrongAnswerError("a book is not that of the last book ticker");
    }
  }
  std::printf("checked   %zu book tickers: the prices of the last ones; %llu orders\n", ws.packets.size(),
              static_cast<unsigned long long>(rig->orders.count()));
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
  std::vector<Together> off, on, switched_off;
  // The first round warms up and is left out.
  for (std::uint32_t repeat = 0; repeat <= options.repeats; ++repeat) {
    std::vector<LatencyHistogram> histograms;
    for (const Day* day : {&itch, &dbn, &ws})
      histograms.push_back(time_packets(*day, NoModel{}, false, clock, own_cost));
    for (const Day* day : {&itch, &dbn, &ws})
      histograms.push_back(time_packets(*day, quotes(day->feed), true, clock, own_cost));
    const Together none = time_all(itch, NoStages{}, 1);
    const Together all = time_all(itch, StageRecorder<>{}, 1 / clock.ticks_per_ns);
    const Together idle = time_all(itch, StageRecorder<>{{.on = false}}, 1);
    if (repeat == 0) continue;
    for (std::size_t i = 0; i < histograms.size(); ++i) {
      alone.rows[i].repeats.push_back(figures_of(histograms[i], 1000));
      alone.rows[i].note = "of " + std::to_string(histograms[i].count());
    }
    off.push_back(none);
    on.push_back(all);
    switched_off.push_back(idle);
  }
  print_table(stdout, alone);
  std::printf("\n%-44s %9s\n", "ns a datagram of ITCH, all together", "mean");
  const auto row = [](const char* name, double ns) { std::printf("%-44s %9.1f\n", name, ns); };
  row("compiled without stamps", middle(off, &Together::all));
  row("stamps switched off", middle(switched_off, &Together::all));
  row("stamps and histograms, every message", middle(on, &Together::all));
  std::vector<double> stamps;
  for (std::size_t i = 0; i < on.size(); ++i) stamps.push_back(on[i].all - on[i].histograms - off[i].all);
  row("... of it the stamps, before the order", median(stamps));
  row("... of it the histograms, when idle", middle(on, &Together::histograms));
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
