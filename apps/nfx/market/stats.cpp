// nfx market stats: messages by kind, rates, gaps, trades and spreads of a recording.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "command.hpp"
#include "json_output.hpp"
#include "market/book_replay.hpp"
#include "market/dbn_records.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "market/statistics.hpp"
#include "output_file.hpp"
#include "report/report.hpp"

namespace nfx::app::market {
namespace {

using nfx::market::EventKind;
using nfx::market::InstrumentIndex;
using nfx::market::Price;

struct StatsOptions {
  FileOptions file;
  bool json = false;
  std::string report;
};

struct Recording {
  Recording(MarketFile& from, const ReplayOptions& options, bool with_series) : file(from), replay(options) {
    if (with_series) statistics = Statistics{&series.emplace()};
  }
  MarketFile& file;
  BookReplay replay;
  std::optional<Series> series;
  Statistics statistics;
  RecordTally others;
};

// Instruments with the most messages first.
std::vector<std::size_t> busiest(const Statistics& statistics) {
  std::vector<std::size_t> order(statistics.instruments.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const std::uint64_t of_a = statistics.instruments[a].messages, of_b = statistics.instruments[b].messages;
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return order;
}

// Messages per second, over the whole recording.
std::uint64_t mean_rate(const Statistics& statistics) {
  const double seconds = std::chrono::duration<double>(statistics.last - statistics.first).count();
  return seconds > 0
             ? static_cast<std::uint64_t>(static_cast<double>(statistics.messages - statistics.snapshot) / seconds)
             : 0;
}

void append_instrument(SafeText& out, Recording& recording, std::size_t index) {
  const InstrumentStatistics& of = recording.statistics.instruments[index];
  const auto id = recording.replay.instruments().id(InstrumentIndex{static_cast<std::uint32_t>(index)});
  const std::string_view symbol = recording.file.symbol(id);
  out.add("instrument {}{}{}: {} messages\n", std::to_underlying(id), symbol.empty() ? "" : " ", symbol, of.messages);
  if (of.priced()) {
    out.add("  trades     {} of {}, the largest of {}; first {}, low {}, high {}, last {}\n", of.trades, of.traded,
            of.largest, short_price(of.first), short_price(of.low), short_price(of.high), short_price(of.last));
  }
  if (of.quoted != 0) {
    out.add("  spread     {} to {}, {} on average over time\n", short_price({of.spread_min}),
            short_price({of.spread_max}), short_price(of.spread_mean()));
  }
  if (of.crossed != 0) out.add("  crossed    at the end of {} events\n", of.crossed);
}

void print_text(Recording& recording, const StatsOptions& options) {
  Output output;
  SafeText& out = output.text;
  const Statistics& s = recording.statistics;
  out.add("{}: {}\n", options.file.path, recording.file.format());
  if (!recording.others.empty() && !recording.file.has_events()) {
    recording.others.append_text(out, recording.file);
    output.flush();
    return;
  }
  out.add("time         {} to {}\n", time_text(s.first), time_text(s.last));
  out.add("messages     {}, {} events, {} of snapshots, {} after a loss, {} received before their predecessor\n",
          s.messages, s.events, s.snapshot, s.recovering, s.backwards);
  out += "by kind     ";
  for (std::size_t kind = 0; kind < s.kinds.size(); ++kind) {
    if (s.kinds[kind] != 0) out.add(" {} {}", to_string(static_cast<EventKind>(kind)), s.kinds[kind]);
  }
  out += '\n';
  for (const MarketFile::Count& each : recording.file.left_out()) {
    out.add("left out     {} {} records\n", each.count, each.name);
  }
  out.add("did not fit  {} events\n", recording.replay.books().anomalies());
  out.add("open orders  {} at most\n", recording.replay.books().orders_most());
  out.add("rate         {} messages a second on average\n", mean_rate(s));
  for (const Rate& rate : s.rates) {
    out.add("  in {}:", window_text(rate.window()));
    for (const Highest::Entry& entry : rate.highest().entries()) {
      out.add("  {} at {}", entry.value, time_text(entry.time));
      if (rate.window() != s.rates[0].window()) break;  // of the shorter ones, the worst
    }
    out += '\n';
  }
  out += "gaps        ";
  for (const Highest::Entry& entry : s.gaps.entries()) {
    out.add(" {} from {}", duration_text(Duration{static_cast<std::int64_t>(entry.value)}), time_text(entry.time));
  }
  out += "\n\n";
  constexpr std::size_t most = 20;
  const auto order = busiest(s);
  for (std::size_t i = 0; i < order.size() && i < most; ++i) append_instrument(out, recording, order[i]);
  if (order.size() > most) out.add("and {} more instruments; --json has all\n", order.size() - most);
  if (!recording.others.empty()) {
    out += '\n';
    recording.others.append_text(out, recording.file);
  }
  output.flush();
}

Json json_of(const Highest& highest, std::string_view value_name) {
  Json all = Json::array();
  for (const Highest::Entry& entry : highest.entries())
    all.push_back({{"time", time_text(entry.time)}, {value_name, entry.value}});
  return all;
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// One value per stretch of time, null if it is not finite.
template <class Stretch, class Value>
Json curve(const std::vector<Stretch>& stretches, Value&& value) {
  Json all = Json::array();
  for (const Stretch& stretch : stretches) all.push_back(value(stretch));
  return all;
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();
double price_of(std::int64_t nano) { return static_cast<double>(nano) * 1e-9; }

// Values of an instrument over time for its chart.
Json json_of(const std::vector<PriceStretch>& prices) {
  using Stretch = const PriceStretch&;
  return {{"high", curve(prices, [](Stretch at) { return at.low <= at.high ? price_of(at.high) : none; })},
          {"low", curve(prices, [](Stretch at) { return at.low <= at.high ? price_of(at.low) : none; })},
          {"traded", curve(prices, [](Stretch at) { return at.traded; })},
          {"widest", curve(prices, [](Stretch at) { return at.time > 0 ? price_of(at.spread_max) : none; })},
          {"mean", curve(prices, [](Stretch at) { return at.time > 0 ? at.spread_time / at.time * 1e-9 : none; })}};
}

Json json_of(const Series& series) {
  return {{"begin_s", seconds_of(series.axis().begin().time_since_epoch())},
          {"width_s", seconds_of(series.axis().width())},
          {"messages", curve(series.rates(), [](const RateStretch& at) { return at.messages; })},
          {"most", curve(series.rates(), [](const RateStretch& at) { return at.most; })},
          {"gaps", series.gaps()}};
}

Json instrument_json(const Recording& recording, std::size_t index, bool with_series) {
  const InstrumentStatistics& of = recording.statistics.instruments[index];
  const auto id = recording.replay.instruments().id(InstrumentIndex{static_cast<std::uint32_t>(index)});
  Json json{{"symbol", recording.file.symbol(id)},
            {"messages", of.messages},
            {"trades", of.trades},
            {"traded_size", of.traded}};
  if (of.priced())
    json.update({{"largest", of.largest},
                 {"first", short_price(of.first)},
                 {"low", short_price(of.low)},
                 {"high", short_price(of.high)},
                 {"last", short_price(of.last)}});
  if (of.quoted != 0)
    json.update({{"spread_min", short_price({of.spread_min})},
                 {"spread_mean", short_price(of.spread_mean())},
                 {"spread_max", short_price({of.spread_max})}});
  json["crossed"] = of.crossed;
  if (with_series) json["series"] = json_of(recording.series->prices(index));
  return json;
}

// The statistics of these instruments, with data for charts if there are series.
SafeText json_of(const Recording& recording, std::span<const std::size_t> instruments, bool with_series) {
  const Statistics& s = recording.statistics;
  Json kinds = Json::object(), left_out = Json::object(), bursts = Json::object(), by_instrument = Json::object();
  for (std::size_t kind = 0; kind < s.kinds.size(); ++kind)
    if (s.kinds[kind] != 0) kinds[std::string{to_string(static_cast<EventKind>(kind))}] = s.kinds[kind];
  for (const MarketFile::Count& each : recording.file.left_out()) left_out[std::string{each.name}] = each.count;
  for (const Rate& rate : s.rates) bursts[window_text(rate.window())] = json_of(rate.highest(), "messages");
  for (const std::size_t index : instruments) {
    const auto id = recording.replay.instruments().id(InstrumentIndex{static_cast<std::uint32_t>(index)});
    by_instrument[std::to_string(std::to_underlying(id))] = instrument_json(recording, index, with_series);
  }
  Json json{{"first", time_text(s.first)},
            {"last", time_text(s.last)},
            {"messages", s.messages},
            {"events", s.events},
            {"snapshot", s.snapshot},
            {"recovering", s.recovering},
            {"backwards", s.backwards},
            {"unfit", recording.replay.books().anomalies()},
            {"orders_most", recording.replay.books().orders_most()},
            {"messages_per_second", mean_rate(s)},
            {"kinds", std::move(kinds)},
            {"left_out", std::move(left_out)},
            {"records", recording.others.json(recording.file)},
            {"bursts", std::move(bursts)},
            {"gaps", json_of(s.gaps, "nanoseconds")}};
  if (with_series)
    json.update({{"format", recording.file.format()},
                 {"all_instruments", s.instruments.size()},
                 {"series", json_of(*recording.series)}});
  json["instruments"] = std::move(by_instrument);
  return json_line(json);
}

void print_json(const Recording& recording) {
  std::vector<std::size_t> all(recording.statistics.instruments.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  print(json_of(recording, all, false));
}

void write_report(const Recording& recording, const StatsOptions& options) {
  constexpr std::size_t plotted = 3;
  std::vector<std::size_t> instruments = busiest(recording.statistics);
  instruments.resize(std::min(instruments.size(), plotted));
  OutputFile out{{.path = options.report, .overwrite = true, .printable = true}};
  out.bytes = report_page(ReportKind::market, "Market data of " + options.file.path,
                          json_of(recording, instruments, true).view());
  out.finish();
}

// Trades at the price of their order have no price of their own.
Price price_of(const nfx::market::Event& event, const BookReplay& replay) {
  if (event.kind != EventKind::execute || event.price.defined()) return event.price;
  const auto index = replay.instruments().find(event.instrument);
  const auto order = index ? replay.books().find(*index, event.order) : std::nullopt;
  return order ? order->price : event.price;
}

int run(const StatsOptions& options) {
  if (!options.report.empty() && !options.report.ends_with(".html"))
    throw cli::UsageError("--report " + options.report + ": write a file that ends in .html");
  MarketFile file{options.file};
  ReplayOptions replay_options;
  replay_options.limits.orders_unique = file.orders_unique();
  replay_options.hash_best_prices = false;
  Recording recording{file, replay_options, !options.report.empty()};
  BookReplay& replay = recording.replay;
  const auto take = [&](const nfx::market::Event& event) {
    const Price price = price_of(event, replay);
    replay.take(event);
    if (const auto index = replay.instruments().find(event.instrument)) {
      recording.statistics.add(event, *index, replay.books().book(*index), price);
    }
    return true;
  };
  const bool good =
      file.for_each_record(false, take, [&](std::span<const std::byte> record) { recording.others.add(record); });
  if (!options.report.empty() && !file.has_events() && !recording.others.empty())
    throw cli::UsageError("--report is of records by order, and " + options.file.path + " has none");
  recording.statistics.end();
  if (!options.report.empty()) write_report(recording, options);
  options.json ? print_json(recording) : print_text(recording, options);
  return good ? exit_done : exit_failed;
}

}  // namespace

cli::Command stats_command() {
  static StatsOptions options;
  return {
      .name = "stats",
      .summary = "Show messages by kind, rates and bursts, gaps, trades and spreads of a recording",
      .run = [] { return run(options); },
      .options =
          with_file_options(options.file, {json_option(options.json),
                                           {.names = "--report",
                                            .target = &options.report,
                                            .help = "Also write a self-contained HTML page with tables and charts",
                                            .value = "FILE",
                                            .kind = cli::Kind::file}}),
      .details =
          R"(Rates and gaps are of times of receipt, without the messages of snapshots, in windows of 1 s, 100 ms, 10 ms and 1 ms that begin at multiples of their length; the five worst seconds are listed, and the worst of each shorter window. Gaps are the longest times without a message. A spread counts at the end of an event with both sides, weighted by the time until it changes.
Of DBN records that are not by order it shows the types, and for each instrument how many there are, their times, and what the trades or bars sum up to.
A report has charts of the rate and of the gaps, and of the prices, quantities and spreads of the three instruments with the most messages. An existing report is overwritten.)",
      .examples = {{.line = "nfx market stats es.mbo.dbn.zst", .about = "rates, bursts and spreads of a day"},
                   {.line = "nfx market stats day.itch --instrument AAPL --report aapl.html"}},
  };
}

}  // namespace nfx::app::market
