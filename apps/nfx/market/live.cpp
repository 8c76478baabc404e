// nfx market live: maintains order books from a live feed, and records it on request.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "base/clocks.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "concurrent/snapshot_box.hpp"
#include "engine/metrics.hpp"
#include "json_output.hpp"
#include "market/feed_replay.hpp"
#include "market/feeds.hpp"
#include "market/market.hpp"
#include "market/stop_flag.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/transport/udp.hpp"
#include "store/disk.hpp"
#include "store/flusher_thread.hpp"
#include "store/journal_flusher.hpp"
#include "transport/tls_context.hpp"

namespace nfx::app::market {
namespace {

using namespace nfx::market;

constexpr Duration longest_wait = std::chrono::milliseconds{100};  // in case a signal arrived just before the wait
constexpr Duration tend_every = std::chrono::seconds{1};
constexpr Duration show_every = std::chrono::milliseconds{100};
constexpr Duration idle_after = std::chrono::milliseconds{200};

// The data of the metrics file, copied to the thread that writes it.
struct Snapshot {
  Figures figures;
  FeedState state = FeedState::waiting;
  Duration lag{};
};

class LiveRun {
 public:
  explicit LiveRun(const LiveOptions& options) : options_(options) {
    if (!options.folder.empty()) {
      recorder_.emplace(
          posix_disk(),
          RecorderOptions{
              .folder = options.folder, .ring_directory = options.ring_directory, .buffer_bytes = options.buffer},
          flusher_, read_utc());
    }
    const FeedRow& row = feed_named(options.feed);
    const FeedDescription description = row.describe(options);
    feed_ = row.live({options, description, &hashes_, recorder_ ? &*recorder_ : nullptr});
    if (!options.metrics.empty()) {
      metrics_.emplace(MetricsFileOptions{.path = options.metrics, .period = tend_every, .on_failure = {}},
                       [this](MetricsPage& page) { fill(page); });
      metrics_box_.ask();
    }
  }

  int run() {
    const StopFlag stop;
    line(SafeText::lines(feed_->start_text()));
    {
      std::optional<FlusherThread> worker;
      if (recorder_ || metrics_)
        worker.emplace(flusher_, FlusherThreadOptions{.also = [this](Instant now) { write_metrics(now); }});
      loop(stop);
      feed_->stop();
      tend(read_utc());
    }
    if (metrics_) {
      Snapshot last = snapshot();
      metrics_box_.ask();
      metrics_box_.publish(last);
      metrics_->write();
    }
    return finish();
  }

 private:
  void loop(const StopFlag& stop) {
    const MonotonicTime begin = read_monotonic();
    MonotonicTime tend_at = begin, changed_at = begin;
    std::uint64_t seen = 0, shown = 0;
    const Duration wait = options_.idle == "spin" ? Duration::zero() : longest_wait;
    for (std::uint32_t turns = 0; !stop.wanted(); ++turns) {
      const std::size_t count = feed_->poll(wait);
      if (!hashes_.text.empty()) show_hashes();
      note_state();
      if (count != 0 && turns % 1024 != 0) continue;  // the clock is read less often under load
      const MonotonicTime now = read_monotonic();
      if (feed_->books().counters().events != seen) {
        seen = feed_->books().counters().events;
        changed_at = now;
      } else if (seen != shown && now - changed_at >= idle_after) {
        shown = seen;
        line(made("{} events, {}: books {}\n", seen, to_string(state_), hexadecimal(feed_->books().hash())));
      }
      if (now >= tend_at) {
        tend_at = now + tend_every;
        tend(read_utc());
      }
      if (options_.seconds && now - begin >= std::chrono::seconds{*options_.seconds}) return;
      if (options_.once && feed_->ended()) return;
    }
  }

  void tend(UtcTime now) {
    if (metrics_box_.wanted()) metrics_box_.publish(snapshot());
    if (!recorder_) return;
    recorder_->tend(now);
    const std::uint64_t dropped = recorder_->counters().dropped;
    if (dropped == dropped_) return;
    print_error("nfx market live: {} inputs were not recorded: {}\n", dropped - dropped_, recorder_->trouble());
    dropped_ = dropped;
  }

  [[nodiscard]] Snapshot snapshot() const {
    Snapshot made;
    feed_->add_to(made.figures);
    if (recorder_) add_figures(made.figures, recorder_->counters());
    made.state = feed_->state();
    made.lag = feed_->lag().lag();
    return made;
  }

  // Runs on the worker's thread.
  void write_metrics(Instant now) {
    if (!metrics_ || metrics_box_.look() == nullptr) return;
    if (metrics_->step(now.monotonic)) metrics_box_.ask();
  }
  void fill(MetricsPage& page) const {
    const Snapshot* const from = metrics_box_.look();
    if (from == nullptr) return;
    for (const Figure& each : from->figures) {
      std::vector<MetricLabel> labels{{"feed", options_.feed}};
      if (!each.line.empty()) labels.push_back({"line", each.line});
      if (!each.label.empty()) labels.push_back({each.label, each.label_value});
      page.counter({each.metric, each.help}, labels, each.value);
    }
    page.gauge({"nfx_feed_live", "1 while every book of the feed equals the venue's, otherwise 0."},
               from->state == FeedState::live ? 1 : 0, {{"feed", options_.feed}});
    page.gauge({"nfx_feed_lag_seconds", "Age of the newest event when the books had it."},
               std::chrono::duration<double>(from->lag).count(), {{"feed", options_.feed}});
  }

  // With --json, standard output contains only the document.
  void line(const SafeText& text) const { options_.json ? print_error(text) : print(text); }
  void show_hashes() {
    if (!options_.json) print(hashes_.text);
    hashes_.text.clear();
  }
  // Prints a line at most every 100 ms, with the number of changes since the previous one.
  void note_state() {
    if (feed_->state() != state_ || feed_->lag().outdated() != outdated_) {
      state_ = feed_->state();
      outdated_ = feed_->lag().outdated();
      ++changes_;
    }
    if (changes_ == 0) return;
    const MonotonicTime now = read_monotonic();
    if (now < show_at_) return;
    show_at_ = now + show_every;
    show_state();
    changes_ = 0;
  }
  void show_state() {
    SafeText text;
    text.add("{} {} after {} events", time_text(read_utc()), to_string(state_), feed_->books().counters().events);
    if (outdated_) text.add(": the books are {} ms old", feed_->lag().lag() / std::chrono::milliseconds{1});
    const std::string trouble = feed_->trouble();
    if (!outdated_ && !trouble.empty()) text.add(": {}", trouble);
    if (changes_ > 1) text.add(" ({} changes)", changes_);
    text += "\n";
    line(text);
  }

  int finish() {
    const Snapshot last = snapshot();
    const std::string trouble = recorder_ && recorder_->failed() ? recorder_->trouble() : std::string{};
    recorder_.reset();
    options_.json ? print_json(last) : print_text(last);
    if (!trouble.empty()) print_error("nfx market live: {}\n", trouble);
    const bool good = feed_->books().counters().misfits == 0 && dropped_ == 0 && trouble.empty();
    return good && feed_->books().counters().events != 0 ? exit_done : exit_failed;
  }

  void print_text(const Snapshot& last) {
    SafeText out;
    for (const Figure& each : last.figures) {
      if (each.value == 0) continue;
      out.add("{} {}{}", each.value, each.metric, each.line.empty() && each.label.empty() ? "" : " ");
      if (!each.line.empty()) out.add("line {} ", each.line);
      if (!each.label.empty()) out.add("{} {}", each.label, each.label_value);
      out += "\n";
    }
    out.add("{} events of {} instruments; the feed is {}; books {}\n", feed_->books().counters().events,
            feed_->books().instruments().size(), to_string(last.state), hexadecimal(feed_->books().hash()));
    print(out);
  }

  void print_json(const Snapshot& last) {
    Json counters = Json::array(), instruments = Json::object();
    for (const Figure& each : last.figures) {
      Json& counter = counters.emplace_back(Json{{"name", each.metric}});
      if (!each.line.empty()) counter["line"] = each.line;
      if (!each.label.empty()) counter[std::string{each.label}] = each.label_value;
      counter["value"] = each.value;
    }
    const FeedBooks& books = feed_->books();
    for (std::uint32_t i = 0; i < books.instruments().size(); ++i) {
      const std::string symbol = feed_->symbol(books.instruments().id(InstrumentIndex{i}));
      if (symbol.empty()) continue;
      for (const Side side : {Side::bid, Side::ask}) {
        const auto best = books.best(InstrumentIndex{i}, side);
        instruments[symbol][std::string{to_string(side)}] = best ? Json(short_price(best->price)) : Json{};
      }
    }
    print(json_line({{"feed", options_.feed},
                     {"state", to_string(last.state)},
                     {"outdated", feed_->lag().outdated()},
                     {"events", books.counters().events},
                     {"books", hexadecimal(books.hash())},
                     {"counters", std::move(counters)},
                     {"instruments", std::move(instruments)}}));
  }

  const LiveOptions& options_;
  HashLines hashes_;
  JournalFlusher flusher_;
  std::optional<Recorder> recorder_;
  std::unique_ptr<RunningFeed> feed_;
  SnapshotBox<Snapshot> metrics_box_;
  std::optional<MetricsFile> metrics_;
  FeedState state_ = FeedState::waiting;
  bool outdated_ = false;
  std::uint64_t changes_ = 0;  // state changes not yet shown
  MonotonicTime show_at_{};    // earliest time
  std::uint64_t dropped_ = 0;  // drops already reported
};

int run(const LiveOptions& options) {
  try {
    return LiveRun{options}.run();
  } catch (const UdpError& error) {
    throw ConfigError(error.what());
  } catch (const TlsError& error) {
    throw ConfigError(error.what());
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());  // wrong symbols or path in the options
  }
}

}  // namespace

cli::Command live_command() {
  static LiveOptions options;
  static const std::string feed_text = feed_help(&FeedRow::about);
  return {
      .name = "live",
      .summary = "Order books of a live feed, recorded if you want: NASDAQ ITCH, a websocket, or a FIX session",
      .run = [] { return run(options); },
      .options =
          {{.names = "--feed", .target = &options.feed, .help = feed_text, .required = true, .one_of = feed_names()},
           {.names = "--line",
            .target = &options.lines,
            .help = "itch: name and address of a line; once for A, once for B",
            .value = "NAME=ADDRESS"},
           {.names = "--rerequest",
            .target = &options.rerequest,
            .help = "itch: the server of missed messages, by UDP",
            .value = "HOST:PORT"},
           {.names = "--snapshot",
            .target = &options.snapshot,
            .help = "itch: the GLIMPSE server, by TCP",
            .value = "HOST:PORT"},
           {.names = "--user", .target = &options.user, .help = "itch: user name at the GLIMPSE server"},
           {.names = "--password-env",
            .target = &options.password_env,
            .help = "itch: environment variable with the password",
            .value = "NAME"},
           {.names = "--midnight",
            .target = &options.midnight,
            .help = "itch: midnight of the day, from which the times of messages count",
            .value = "TIME",
            .default_text = "of today in New York"},
           {.names = "--url",
            .target = &options.url,
            .help = "ws: the websocket, ws:// or wss://, with a path if the names do not make it; fix: HOST:PORT"},
           {.names = "--snapshot-url",
            .target = &options.snapshot_url,
            .help = "ws: where snapshots are, http:// or https://; without it the websocket's host"},
           {.names = "--name",
            .target = &options.names,
            .help = "ws, fix: name of an instrument; repeatable",
            .value = "SYMBOL"},
           {.names = "--tickers", .target = &options.tickers, .help = "ws: only the best prices, from book tickers"},
           {.names = "--subscribe",
            .target = &options.subscribe,
            .help = "ws: subscribe with a message instead of the path"},
           {.names = "--scale",
            .target = &options.scale,
            .help = "ws, fix: decimals of quantities",
            .range = cli::Range{0, 9},
            .default_text = "ws: 8, fix: 0"},
           {.names = "--ca",
            .target = &options.ca,
            .help = "ws: PEM file of trusted authorities. Default: this host's authorities",
            .kind = cli::Kind::existing_file},
           {.names = "--config",
            .target = &options.config,
            .help = "fix: configuration with the session, an initiator; without it SUBSCRIBER logs on to VENUE",
            .kind = cli::Kind::existing_file},
           {.names = "--record",
            .target = &options.folder,
            .help = "Record everything to this folder; 'nfx market replay --feed' makes the same books from it",
            .kind = cli::Kind::folder},
           {.names = "--every",
            .target = &options.every,
            .help = "Print the hash of all books after this number of events; 0: only when no data arrives",
            .value = "EVENTS"},
           {.names = "--max-lag-ms",
            .target = &options.max_lag_ms,
            .help = "The books are stale when their newest event is older; 0: never"},
           {.names = "--receive-buffer",
            .target = &options.receive_buffer,
            .help = "itch: the kernel's buffer of each line",
            .value = "BYTES",
            .range = cli::Range{2048, 1 << 30}},
           {.names = "--buffer",
            .target = &options.buffer,
            .help = "Memory in which inputs wait for the disk: a power of two",
            .value = "BYTES",
            .range = cli::Range{256 << 10, 1 << 30}},
           {.names = "--ring-directory",
            .target = &options.ring_directory,
            .help = "Folder in shared memory where inputs wait for the disk",
            .kind = cli::Kind::folder},
           {.names = "--idle", .target = &options.idle, .help = "Idle mode of the thread", .one_of = {"block", "spin"}},
           {.names = "--metrics",
            .target = &options.metrics,
            .help = "Write all counters to this file every second, for Prometheus",
            .kind = cli::Kind::file},
           {.names = "--seconds", .target = &options.seconds, .help = "End after this time"},
           {.names = "--once", .target = &options.once, .help = "End when the venue ends the session"},
           json_option(options.json)},
      .details =
          R"(Prints changes of the state of the books, in a line at most every 100 ms, and after 200 ms without an event how many there were and the hash of all books: the publisher and a replay of the recording have the same. Ctrl-C or SIGTERM ends it, with all counters that are not 0.
States: waiting, live, recovering (something is missing, and requested), stale (not current: do not trade on it), ended.)",
      .exit_codes =
          "0 done, 1 nothing came, an event did not fit its book, or something was not recorded, 2 wrong usage",
      .examples =
          {{.line = "nfx market live --feed itch --line A=239.1.1.1:5000@eth0 --line B=239.1.2.1:5000@eth1 "
                    "--rerequest 10.0.0.9:6000 --snapshot 10.0.0.9:7000 --record today",
            .about = "both lines of a feed"},
           {.line = "nfx market live --feed ws --url wss://127.0.0.1:9443 --ca ca.pem --name BTCUSDT --name ETHUSDT"},
           {.line = "nfx market live --feed fix --url 127.0.0.1:9880 --name ALFA"}},
  };
}

}  // namespace nfx::app::market
