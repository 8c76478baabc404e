// The path of live feeds: inputs of a websocket and of a FIX session through their handlers into books.
#include <string>
#include <vector>

#include "checks.hpp"
#include "market/fix_support.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "publish/depth_generator.hpp"
#include "publish/websocket_peer.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;
using namespace nfx::market;

// Sends nothing, and keeps the bytes that would have been sent.
class Ports final : public FeedPorts {
 public:
  void connect(std::uint16_t) noexcept override {}
  bool send(std::uint16_t, std::string_view bytes) noexcept override {
    sent = bytes;
    return true;
  }
  void close(std::uint16_t) noexcept override {}
  void random(std::span<std::uint8_t> out) noexcept override { std::ranges::fill(out, std::uint8_t{7}); }
  std::string sent;
};

class Inputs {
 public:
  FeedInput operator()(InputKind kind, std::uint16_t line, std::string_view bytes) {
    at_ += 10us;
    return {kind, StampSource::kernel, line, 1, at_, bytes};
  }
  [[nodiscard]] UtcTime now() const { return at_; }

 private:
  UtcTime at_{1'700'000'000s};
};

void check_websocket() {
  if (!has_json_reader()) return;
  DepthGenerator name{"BTCUSDT", 1};
  FeedBooks books{{.shape = BookShape::by_level, .limits = {.instruments = 1}, .depth = 1024}};
  Ports ports;
  WebsocketFeedOptions options;
  options.host = options.snapshot_host = "localhost";
  options.instruments = {{.symbol = "BTCUSDT"}};
  WebsocketHandler handler{options, books, ports};
  Inputs input;
  handler.take(input(InputKind::clock, 0, {}));
  handler.take(input(InputKind::opened, WebsocketLines::stream, "0123456789abcdef"));
  WebsocketPeer peer;
  peer.received(ports.sent);
  std::string_view target;
  check(peer.next(target) == WebsocketPeerEvent::upgrade, "the websocket's request was made");
  handler.take(input(InputKind::received, WebsocketLines::stream, peer.answer()));
  handler.take(input(InputKind::clock, 0, {}));
  handler.take(input(InputKind::opened, WebsocketLines::snapshot, "0123456789abcdef"));
  handler.take(input(InputKind::received, WebsocketLines::snapshot, http_answer(200, name.snapshot(5000))));
  TrapCounts counts;
  for (int i = 0; i < 20'000; ++i) {
    std::string frame;
    const std::string text = i % 16 == 0 ? name.trade(input.now()) : name.update(input.now());
    append_fragments(frame, text, i % 100 == 0 ? 3 : 1);
    if (i % 1000 == 0) append_frame(frame, WebsocketOpcode::ping, "hello");
    const FeedInput received = input(InputKind::received, WebsocketLines::stream, frame);
    ports.sent.reserve(4096);
    if (i < 10'000) {
      handler.take(received);
      continue;
    }
    const Trap trap;
    handler.take(received);
    counts.add(trap.counts());
  }
  check(handler.state() == FeedState::live && books.counters().misfits == 0, "the books followed the websocket");
  check_counts(counts, "a websocket's bytes to the books");
}

void check_fix() {
  FeedBooks books{{.limits = {.instruments = 1, .orders = 1 << 12, .levels = 1 << 12, .orders_expected = 1 << 12}}};
  Ports ports;
  FixHandlerOptions options;
  options.instruments = {{"ALFA", 0}};
  FixHandler handler{options, books, ports};
  Inputs input;
  handler.take(input(InputKind::opened, FixLines::session, {}));
  market::test::FixText text;
  const MessageView& snapshot = text("W", "55=ALFA|83=0|268=1|269=0|278=1|270=99|271=5|");
  handler.take(input(InputKind::received, FixLines::session, snapshot.bytes()), snapshot);
  TrapCounts counts;
  for (int i = 1; i <= 20'000; ++i) {
    // Each order is added and, some messages later, removed.
    const std::string entry = i % 2 == 1 ? "279=0|269=0|278=" + std::to_string(i + 1) +
                                               "|55=ALFA|270=" + std::to_string(50 + i % 40) + "|271=10|"
                                         : "279=2|269=0|278=" + std::to_string(i) + "|55=ALFA|";
    const MessageView& message = text("X", "268=1|" + entry + "83=" + std::to_string(i) + "|");
    const FeedInput received = input(InputKind::received, FixLines::session, message.bytes());
    if (i <= 10'000) {
      handler.take(received, message);
      continue;
    }
    const Trap trap;
    handler.take(received, message);
    counts.add(trap.counts());
  }
  check(handler.state() == FeedState::live && books.counters().misfits == 0, "the books followed the FIX session");
  check_counts(counts, "FIX market data to the books");
}

}  // namespace

void check_live_paths() {
  check_websocket();
  check_fix();
}

}  // namespace nfx::test
