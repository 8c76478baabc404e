// nfx market stats: messages by kind, rates, gaps, trades and spreads of a recording.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "command.hpp"
#include "market/book_replay.hpp"
#include "market/dbn_records.hpp"
#include "market/market.hpp"
#include "market/market_file.hpp"
#include "market/statistics.hpp"
#include "output_file.hpp"
#include "report/report.hpp"
#include "text.hpp"

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

void append_entries(SafeText& out, const Highest& highest, Literal value_name) {
  out += '[';
  for (const Highest::Entry& entry : highest.entries()) {
    if (&entry != highest.entries().data()) out += ", ";
    out += "{\"time\": \"";
    out.add("{}\", \"", time_text(entry.time));
    out += value_name;
    out.add("\": {}}", entry.value);
  }
  out += ']';
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// "[1,null,2]": one value per stretch of time, null if it is not finite.
template <class Stretch>
void append_curve(SafeText& out, Literal name, const std::vector<Stretch>& stretches,
                  double (*value)(const Stretch& stretch)) {
  out += '"';
  out += name;
  out += "\": [";
  for (const Stretch& stretch : stretches) {
    if (&stretch != stretches.data()) out += ',';
    std::array<char, 32> text;
    const double number = value(stretch);
    const int size = std::snprintf(text.data(), text.size(), "%.9g", number);
    out += std::isfinite(number) ? std::string_view{text.data(), static_cast<std::size_t>(size)} : "null";
  }
  out += ']';
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();
double price_of(std::int64_t nano) { return static_cast<double>(nano) * 1e-9; }

// Values of an instrument over time for its chart.
void append_json_prices(SafeText& out, const std::vector<PriceStretch>& prices) {
  using Stretch = const PriceStretch&;
  out += ", \"series\": {";
  append_curve<PriceStretch>(out, "high", prices,
                             [](Stretch at) { return at.low <= at.high ? price_of(at.high) : none; });
  out += ", ";
  append_curve<PriceStretch>(out, "low", prices,
                             [](Stretch at) { return at.low <= at.high ? price_of(at.low) : none; });
  out += ", ";
  append_curve<PriceStretch>(out, "traded", prices, [](Stretch at) { return static_cast<double>(at.traded); });
  out += ", ";
  append_curve<PriceStretch>(out, "widest", prices,
                             [](Stretch at) { return at.time > 0 ? price_of(at.spread_max) : none; });
  out += ", ";
  append_curve<PriceStretch>(out, "mean", prices,
                             [](Stretch at) { return at.time > 0 ? at.spread_time / at.time * 1e-9 : none; });
  out += '}';
}

void append_json_series(SafeText& out, const Series& series) {
  const auto number = [&](double value) {
    std::array<char, 32> text;
    out +=
        std::string_view{text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.9f", value))};
  };
  out += ",\n \"series\": {\"begin_s\": ";
  number(seconds_of(series.axis().begin().time_since_epoch()));
  out += ", \"width_s\": ";
  number(seconds_of(series.axis().width()));
  out += ", ";
  append_curve<RateStretch>(out, "messages", series.rates(),
                            [](const RateStretch& at) { return static_cast<double>(at.messages); });
  out += ", ";
  append_curve<RateStretch>(out, "most", series.rates(),
                            [](const RateStretch& at) { return static_cast<double>(at.most); });
  out += ", \"gaps\": [";
  for (const std::uint64_t& count : series.gaps()) out.add("{}{}", &count == series.gaps().data() ? "" : ",", count);
  out += "]}";
}

void append_json_instrument(SafeText& out, Recording& recording, std::size_t index, bool with_series) {
  const InstrumentStatistics& of = recording.statistics.instruments[index];
  const auto id = recording.replay.instruments().id(InstrumentIndex{static_cast<std::uint32_t>(index)});
  out.add("\"{}\": {\"symbol\": ", std::to_underlying(id));
  append_json_text(out, recording.file.symbol(id));
  out.add(", \"messages\": {}, \"trades\": {}, \"traded_size\": {}", of.messages, of.trades, of.traded);
  if (of.priced()) {
    out.add(", \"largest\": {}, \"first\": \"{}\", \"low\": \"{}\", \"high\": \"{}\", \"last\": \"{}\"", of.largest,
            short_price(of.first), short_price(of.low), short_price(of.high), short_price(of.last));
  }
  if (of.quoted != 0) {
    out.add(", \"spread_min\": \"{}\", \"spread_mean\": \"{}\", \"spread_max\": \"{}\"", short_price({of.spread_min}),
            short_price(of.spread_mean()), short_price({of.spread_max}));
  }
  out.add(", \"crossed\": {}", of.crossed);
  if (with_series) append_json_prices(out, recording.series->prices(index));
  out += '}';
}

// Appends these instruments, with data for charts if there are series. Calls `flush()` between instruments.
template <class Flush>
void append_json(SafeText& out, Recording& recording, std::span<const std::size_t> instruments, bool with_series,
                 Flush&& flush) {
  const Statistics& s = recording.statistics;
  out.add("{\"first\": \"{}\", \"last\": \"{}\", \"messages\": {}, \"events\": {}, \"snapshot\": {}, ",
          time_text(s.first), time_text(s.last), s.messages, s.events, s.snapshot);
  out.add("\"recovering\": {}, \"backwards\": {}, \"unfit\": {}, \"orders_most\": {}, \"messages_per_second\": {},\n",
          s.recovering, s.backwards, recording.replay.books().anomalies(), recording.replay.books().orders_most(),
          mean_rate(s));
  out += " \"kinds\": {";
  bool first = true;
  for (std::size_t kind = 0; kind < s.kinds.size(); ++kind) {
    if (s.kinds[kind] == 0) continue;
    out.add("{}\"{}\": {}", first ? "" : ", ", to_string(static_cast<EventKind>(kind)), s.kinds[kind]);
    first = false;
  }
  out += "},\n \"left_out\": {";
  first = true;
  for (const MarketFile::Count& each : recording.file.left_out()) {
    out.add("{}\"{}\": {}", first ? "" : ", ", each.name, each.count);
    first = false;
  }
  out += "},\n ";
  recording.others.append_json(out, recording.file);
  out += ",\n \"bursts\": {";
  for (const Rate& rate : s.rates) {
    out.add("{}\"{}\": ", &rate == s.rates.data() ? "" : ", ", window_text(rate.window()));
    append_entries(out, rate.highest(), "messages");
  }
  out += "},\n \"gaps\": ";
  append_entries(out, s.gaps, "nanoseconds");
  if (with_series) {
    out += ",\n \"format\": ";
    append_json_text(out, recording.file.format());
    out.add(", \"all_instruments\": {}", s.instruments.size());
    append_json_series(out, *recording.series);
  }
  out += ",\n \"instruments\": {";
  for (const std::size_t& index : instruments) {
    out += &index == instruments.data() ? Literal{"\n  "} : Literal{",\n  "};
    append_json_instrument(out, recording, index, with_series);
    flush();
  }
  out += "}}\n";
}

void print_json(Recording& recording) {
  Output output;
  std::vector<std::size_t> all(recording.statistics.instruments.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  append_json(output.text, recording, all, false, [&] { output.flush_when_large(); });
  output.flush();
}

void write_report(Recording& recording, const StatsOptions& options) {
  constexpr std::size_t plotted = 3;
  std::vector<std::size_t> instruments = busiest(recording.statistics);
  instruments.resize(std::min(instruments.size(), plotted));
  SafeText json;
  append_json(json, recording, instruments, true, [] {});
  OutputFile out{{.path = options.report, .overwrite = true, .printable = true}};
  out.bytes = report_page(ReportKind::market, "Market data of " + options.file.path, json.view());
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
      .options = with_file_options(options.file,
                                   {json_option(options.json),
                                    {.names = "--report",
                                     .target = &options.report,
                                     .help = "Also write an HTML page with tables and charts, which loads nothing else",
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
