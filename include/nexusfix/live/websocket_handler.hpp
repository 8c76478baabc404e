// The inputs of a crypto venue's feed: a websocket of numbered messages, and HTTP requests for snapshots. Connects,
// subscribes by its path or by a message, answers pings, sends its own on a silent connection, and connects again after
// a failure. The delay begins with retry_min and doubles up to retry_max, until a message arrives. A hash of the
// failure's time shortens it by up to half: clients of a venue do not all reconnect at the same moment, and a replay
// behaves as the feed did. Snapshots are requested one after another, each by its own connection, while the websocket
// is open.
// Thread: one owner; time comes from the inputs. Cost: a frame's header, one pass for UTF-8, one copy of the bytes, and
// the cost of JsonFeed; no allocation after construction. Errors: the constructor throws std::invalid_argument for
// invalid symbols, paths and hosts; afterwards counters and state(). Bounds: WebsocketLimits, and the bounds of
// JsonFeed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed.hpp"
#include "nexusfix/market/json_feed.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market {

struct WebsocketLines {
  static constexpr std::uint16_t stream = 0, snapshot = 1;
};

struct WebsocketInstrument {
  std::string symbol;  // "BTCUSDT"
  JsonBook book = JsonBook::depth;
  unsigned quantity_scale = 8;
};

// Sees each message and snapshot as text, before it is read. For tools.
class WebsocketTap {
 public:
  virtual ~WebsocketTap() = default;
  virtual void message(std::string_view text, UtcTime at) = 0;
  virtual void snapshot(std::string_view symbol, std::string_view body) = 0;
};

struct WebsocketLimits {
  std::size_t message_size = 1u << 20;  // of a message, all of its frames together
  std::size_t handshake_size = 8192;    // of the server's answer
  std::size_t output_size = 64u << 10;  // frames that are not sent yet
  std::size_t frames = 1024;            // of one message
  std::size_t http_head = 16u << 10;    // of the answer to a snapshot request
  std::size_t http_body = 4u << 20;
};

struct WebsocketFeedOptions {
  std::string host;                             // Host of the websocket, with its port if it is not 443
  std::string path;                             // empty: stream_path(), or "/stream" with `subscribe`
  bool subscribe = false;                       // by subscribe_text(), when the websocket is open
  std::string snapshot_host;                    // Host of the HTTP server
  std::string snapshot_path = "/api/v3/depth";  // "?symbol=BTCUSDT&limit=5000" follows
  std::uint32_t snapshot_levels = 5000;
  std::vector<WebsocketInstrument> instruments;
  JsonFeedOptions feed{};
  WebsocketLimits limits{};
  Duration connect_timeout{10'000'000'000};  // until the handshake is done
  Duration ping_after{15'000'000'000};       // of silence
  Duration silence_timeout{30'000'000'000};
  Duration snapshot_timeout{10'000'000'000};
  Duration retry_min{500'000'000};
  Duration retry_max{30'000'000'000};
  WebsocketTap* tap = nullptr;  // outlives the handler
};

// "/stream?streams=btcusdt@depth@100ms/btcusdt@trade/..."
[[nodiscard]] std::string stream_path(const std::vector<WebsocketInstrument>& instruments);
// {"method":"SUBSCRIBE","params":["btcusdt@depth@100ms","btcusdt@trade",...],"id":1}
[[nodiscard]] std::string subscribe_text(const std::vector<WebsocketInstrument>& instruments);

struct WebsocketFeedCounters {
  std::uint64_t opened = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  std::uint64_t messages = 0;
  std::uint64_t unread = 0;
  std::uint64_t pings_received = 0;
  std::uint64_t pings_sent = 0;
  std::uint64_t snapshots_requested = 0;
  std::uint64_t snapshots_failed = 0;
  std::uint64_t snapshots_refused = 0;

  friend bool operator==(const WebsocketFeedCounters&, const WebsocketFeedCounters&) = default;
};

class WebsocketHandler {
 public:
  // Throws std::runtime_error for a path, a subscription or an instrument that does not fit, and in a build without
  // simdjson.
  WebsocketHandler(const WebsocketFeedOptions& options, EventOutput events, FeedPorts& ports);
  ~WebsocketHandler();
  WebsocketHandler(const WebsocketHandler&) = delete;
  WebsocketHandler& operator=(const WebsocketHandler&) = delete;

  void take(const FeedInput& input);
  [[nodiscard]] MonotonicTime due_at() const noexcept;
  [[nodiscard]] FeedState state() const noexcept;

  [[nodiscard]] const JsonFeed& feed() const noexcept;
  [[nodiscard]] const WebsocketFeedCounters& counters() const noexcept;
  // Which rule of the protocol the server broke last, in words; empty: none.
  [[nodiscard]] std::string_view failure() const noexcept;
  // The server has closed the websocket in order, at least once.
  [[nodiscard]] bool closed_by_server() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

static_assert(FeedHandler<WebsocketHandler>);

template <>
struct FeedOf<WebsocketFeedOptions> {
  template <class Output>
  using Handler = WebsocketHandler;
  using Books = LevelBooks;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::WebsocketFeedCounters> =
    std::to_array<CounterRow<market::WebsocketFeedCounters>>({
        {&market::WebsocketFeedCounters::opened, "nfx_websocket_opened_total", "Websockets that were opened."},
        {&market::WebsocketFeedCounters::ended, "nfx_websocket_ended_total", "Websockets that the server closed."},
        {&market::WebsocketFeedCounters::failed, "nfx_websocket_failed_total",
         "Websockets that could not be opened, broke, were silent or sent what the protocol does not allow."},
        {&market::WebsocketFeedCounters::messages, "nfx_websocket_messages_total", "Messages received."},
        {&market::WebsocketFeedCounters::unread, "nfx_websocket_unread_total",
         "Messages that could not be read, or are about other instruments."},
        {&market::WebsocketFeedCounters::pings_received, "nfx_websocket_pings_total", "Pings.", "direction", "in"},
        {&market::WebsocketFeedCounters::pings_sent, "nfx_websocket_pings_total", "Pings.", "direction", "out"},
        {&market::WebsocketFeedCounters::snapshots_requested, "nfx_http_snapshots_total", "Snapshots by HTTP.",
         "result", "requested"},
        {&market::WebsocketFeedCounters::snapshots_failed, "nfx_http_snapshots_total", "Snapshots by HTTP.", "result",
         "failed"},
        {&market::WebsocketFeedCounters::snapshots_refused, "nfx_http_snapshots_total", "Snapshots by HTTP.", "result",
         "refused"},
    });
static_assert(rows_are_complete<market::WebsocketFeedCounters>());

}  // namespace nfx
