// Market data by NASDAQ ITCH over multicast, orders by a FIX session, both on one poll thread: takes where the best
// prices lean to one side. At Ctrl-C, and when the market data becomes stale, it cancels what is open. Try it in this
// folder, the publisher last, so that nothing is missed:
//   desk desk.toml &                                                               takes the orders
//   itch_trader trader.toml AAAA A=239.1.1.1:5000@lo B=239.1.2.1:5000@lo &
//   nfx market publish --feed itch --line A=239.1.1.1:5000@lo --line B=239.1.2.1:5000@lo --names 20 --rate 10000
#include <nexusfix/market.hpp>

#include <chrono>
#include <cstdio>

using namespace nfx::market;
using namespace nfx::strategy;

namespace {

// Prices are in billionths: ticks of 0.01, at most 10.00 from the middle of the best prices.
const TraderOptions limits{
    .risk = {.orders_per_second = 100, .burst = 20, .max_event_age = std::chrono::seconds{1}},
    .instruments = {{.tick = {10'000'000}, .collar = {10'000'000'000}, .max_quantity = 10, .max_position = 100}}};
const MicropriceModel model{{.imbalance = 500, .most_spread = {10'000'000'000}, .quantity = 1}};

nfx::UtcTime now() { return std::chrono::time_point_cast<nfx::Duration>(std::chrono::system_clock::now()); }

// "A=239.1.1.1:5000@eth0". With servers of missed messages and snapshots, ItchLines has two more lines.
FeedUdpLine line(std::uint16_t number, std::string_view text) {
  const std::size_t name = text.find('=');
  if (name == text.npos) throw nfx::UdpError("a line is NAME=GROUP:PORT@INTERFACE, not " + std::string{text});
  return {.line = number,
          .udp = {.name = std::string{text.substr(0, name)},
                  .address = nfx::parse_udp_address(text.substr(name + 1)),
                  .receive_buffer = 8 << 20}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::fputs("usage: itch_trader CONFIG.toml SYMBOL A=GROUP:PORT@INTERFACE B=GROUP:PORT@INTERFACE\n", stderr);
    return 2;
  }
  const std::string symbol = argv[2];
  FeedSocketsOptions lines;
  lines.udp = {line(ItchLines::a, argv[3]), line(ItchLines::b, argv[4])};
  const ItchHandlerOptions feed{.feed = {.midnight = midnight_in_new_york(now())}, .symbols = {symbol}};
  Trader trader{feed, limits, FixSessionVenue{{.symbol = symbol}}, model};
  trade(trader, lines, nfx::load_config(argv[1]));  // until Ctrl-C
  for (const auto& [number, intent] : trader.sent()) std::puts(to_text(number, intent).c_str());
  std::printf("orders: %s\nposition %jd\n", to_text(trader.pipeline().gate().counters()).c_str(),
              std::intmax_t{trader.position()});
  return 0;
} catch (const std::exception&) {
  return nfx::report_exception("itch_trader");
}
