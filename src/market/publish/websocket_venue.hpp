// A crypto venue on this host: numbered depth updates, tickers and trades by websocket, plain or with TLS, and
// snapshots by HTTP on the same port. Names are generated; or its messages and snapshots are given, as a recording has
// them. Thread: one owner; the time is an argument. Cost: a text per message, and a copy per subscriber. Errors: the
// constructor throws std::runtime_error when it cannot listen. Bounds: 64 connections; a subscriber for which `unsent`
// bytes wait is disconnected and counted; the names of a connection's streams have 64 KiB together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/market/feed_books.hpp"
#include "publish/depth_generator.hpp"
#include "publish/stream_server.hpp"
#include "publish/websocket_peer.hpp"

namespace nfx::market {

struct WebsocketVenueOptions {
  Endpoint listen;
  std::shared_ptr<TlsContext> tls{};  // null: plain
  std::uint32_t names = 4;
  std::uint64_t seed = 1;
  std::uint32_t levels = 200;     // of a side
  unsigned fragmented = 0;        // of 10,000 messages: in several frames
  unsigned left_out = 0;          // of 10,000 messages: not sent, as a gap
  std::size_t unsent = 8u << 20;  // for a subscriber
};

struct WebsocketVenueCounters {
  std::uint64_t messages = 0;  // made
  std::uint64_t sent = 0;      // to subscribers
  std::uint64_t left_out = 0;  // on purpose
  std::uint64_t snapshots = 0;
  std::uint64_t refused_requests = 0;  // of snapshots, and subscriptions that cannot be read or are too many
  std::uint64_t subscribers = 0;       // since the start
};

class WebsocketVenue {
 public:
  explicit WebsocketVenue(const WebsocketVenueOptions& options);

  // Sends the next message, a change of one of the names, to its subscribers.
  void publish(UtcTime at);
  // A given message about this symbol instead.
  void send(std::string_view symbol, std::string_view text);
  // Sets the HTTP answer for this symbol, instead of the generated book.
  void set_snapshot(const std::string& symbol, std::string body) { snapshots_[symbol] = std::move(body); }
  // Accepts, answers requests and pings.
  std::size_t serve(Duration longest) { return server_.poll(*this, longest); }
  // Closes every websocket in order, or without a word as a failing network does.
  void close_all();
  void cut_all();
  void ping_all();

  [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
  [[nodiscard]] std::size_t subscribers() const noexcept { return subscribers_.size(); }
  [[nodiscard]] std::uint64_t slow_subscribers() const noexcept { return server_.slow_peers(); }
  [[nodiscard]] bool idle() const noexcept { return server_.idle(); }
  [[nodiscard]] const WebsocketVenueCounters& counters() const noexcept { return counters_; }
  // A hash of all generated names, as the FeedBooks of a subscriber that added the same names in this order. `tickers`:
  // for a subscriber to their best prices.
  [[nodiscard]] std::uint64_t hash(bool tickers = false) const;

  // Called by the server's connections.
  void opened(ConnectionId id);
  void received(ConnectionId id, std::string_view bytes);
  void closed(ConnectionId id);

 private:
  struct Subscriber {
    std::string streams;  // "/btcusdt@depth@100ms/...", lower case
    bool combined = false;
  };

  void get(ConnectionId id, std::string_view target);
  void subscribe(ConnectionId id, std::string_view target);
  void subscribe_more(ConnectionId id, std::string_view request);
  void send_stream(std::string_view symbol, std::string_view stream, std::string_view text);
  [[nodiscard]] bool happens(unsigned of_10000) { return of_10000 != 0 && random_() % 10'000 < of_10000; }

  WebsocketVenueOptions options_;
  StreamServer server_;
  std::vector<DepthGenerator> names_;
  std::mt19937_64 random_;
  std::map<ConnectionId, WebsocketPeer> peers_;
  std::map<ConnectionId, Subscriber> subscribers_;
  std::map<std::string, std::string> snapshots_;
  WebsocketVenueCounters counters_;
};

}  // namespace nfx::market
