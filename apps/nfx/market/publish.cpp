// nfx market publish: runs a venue on this host for trying a live feed, one for each feed of feeds.hpp.
#include <chrono>
#include <memory>

#include "base/clocks.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "market/feed_replay.hpp"
#include "market/feeds.hpp"
#include "market/market.hpp"
#include "market/stop_flag.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/transport/udp.hpp"
#include "transport/tls_context.hpp"

namespace nfx::app::market {
namespace {

using namespace nfx::market;

std::unique_ptr<Publishing> make_venue(const PublishOptions& options) {
  try {
    return feed_named(options.feed).publish(options);
  } catch (const UdpError& error) {
    throw ConfigError(error.what());
  } catch (const TlsError& error) {
    throw ConfigError(error.what());
  }
}

// Publishes at the given rate, starting when enough subscribers are connected. A message has its due time as time, even
// if it is published later.
void publish_all(const PublishOptions& options, Publishing& venue, const StopFlag& stop) {
  constexpr Duration longest = std::chrono::milliseconds{10};
  while (!stop.wanted() && !venue.ready(options.wait_for)) venue.serve(read_clocks(), longest);
  const Instant begin = read_clocks();
  for (std::uint64_t done = 0; !stop.wanted();) {
    const Instant now = read_clocks();
    const double elapsed = std::chrono::duration<double>(now.monotonic - begin.monotonic).count();
    const auto due = static_cast<std::uint64_t>(elapsed * options.rate) + 1;
    for (int burst = 0; done < due && burst < 64; ++burst, ++done) {
      const Duration since{static_cast<Duration::rep>(static_cast<double>(done) * 1e9 / options.rate)};
      if (!venue.publish({begin.utc + since, now.monotonic})) return venue.flush(now);
    }
    venue.flush(now);
    venue.serve(now, done < due ? Duration::zero() : std::chrono::microseconds{100});
  }
}

int run(const PublishOptions& options) {
  const std::unique_ptr<Publishing> venue = make_venue(options);
  const StopFlag stop;
  print(venue->start_text());
  publish_all(options, *venue, stop);
  print("published; books {}\n", hexadecimal(venue->hash()));
  venue->published(read_clocks());
  while (!stop.wanted()) venue->serve(read_clocks(), std::chrono::milliseconds{10});
  venue->end(read_clocks());
  SafeText out;
  venue->print_end(out);
  print(out);
  return exit_done;
}

}  // namespace

cli::Command publish_command() {
  static PublishOptions options;
  static const std::string feed_text = feed_help(&FeedRow::venue);
  return {
      .name = "publish",
      .summary = "A venue on this host that publishes generated market data, to try live feeds with",
      .run = [] { return run(options); },
      .options =
          {{.names = "--feed", .target = &options.feed, .help = feed_text, .required = true, .one_of = feed_names()},
           {.names = "--line",
            .target = &options.lines,
            .help = "itch: where a line is sent to; once for A, once for B",
            .value = "[NAME=]ADDRESS"},
           {.names = "--rerequest", .target = &options.rerequest, .help = "itch: where requests are received"},
           {.names = "--snapshot", .target = &options.snapshot, .help = "itch: where snapshots are served"},
           {.names = "--listen", .target = &options.listen, .help = "ws, fix: where to listen"},
           {.names = "--recording",
            .target = &options.recording,
            .help = "ws: publish the messages and snapshots that 'nfx market live' recorded in this folder",
            .kind = cli::Kind::existing_folder},
           {.names = "--ring-directory",
            .target = &options.ring_directory,
            .help = "Folder of the recorder's shared memory",
            .kind = cli::Kind::folder},
           {.names = "--certificate",
            .target = &options.certificate,
            .help = "ws: PEM, for wss",
            .kind = cli::Kind::existing_file,
            .needs = {"--key"}},
           {.names = "--key", .target = &options.key, .help = "ws: its key, PEM", .kind = cli::Kind::existing_file},
           {.names = "--messages", .target = &options.messages, .help = "Number of messages to publish"},
           {.names = "--names",
            .target = &options.names,
            .help = "itch, ws: instruments",
            .range = cli::Range{1, 65000}},
           {.names = "--rate", .target = &options.rate, .help = "Messages per second", .range = cli::Range{0.1, 1e8}},
           {.names = "--wait-for",
            .target = &options.wait_for,
            .help = "ws, fix: number of subscribers to wait for before it begins"},
           {.names = "--lost",
            .target = &options.lost,
            .help = "Packets of each line, or messages, to leave out of every 10,000",
            .range = cli::Range{0, 10'000}},
           {.names = "--duplicated",
            .target = &options.duplicated,
            .help = "itch: packets of a line to send twice, of every 10,000",
            .range = cli::Range{0, 10'000}},
           {.names = "--reordered",
            .target = &options.reordered,
            .help = "itch: packets of a line to send after the next one, of every 10,000",
            .range = cli::Range{0, 10'000}},
           {.names = "--seed", .target = &options.seed, .help = "Random seed of the messages and faults"}},
      .details =
          R"(When everything is published, prints the hash of its books, which a subscriber's are equal to, and serves on until Ctrl-C or SIGTERM, which ends the sessions in order.)",
      .exit_codes = "0 done, 1 failed, 2 wrong usage, or an address that cannot be used",
      .examples = {{.line = "nfx market publish --feed ws --listen 127.0.0.1:9443 --rate 1000"},
                   {.line = "nfx market publish --feed itch --line A=239.1.1.1:5000@lo --line B=239.1.2.1:5000@lo "
                            "--rerequest 127.0.0.1:6000 --snapshot 127.0.0.1:7000 --lost 100",
                    .about = "1% of each line's packets are lost"},
                   {.line = "nfx market publish --feed fix --listen 127.0.0.1:9880"}},
  };
}

}  // namespace nfx::app::market
