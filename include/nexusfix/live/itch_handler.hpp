// The inputs of a NASDAQ ITCH feed: two lines of MoldUDP64, the answers of the re-request server, and the connection to
// the snapshot server. Thread, cost, errors and bounds are those of ItchFeed.
#pragma once

#include <span>

#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/itch_feed.hpp"

namespace nfx::market {

// Numbers of lines, as recordings have them.
struct ItchLines {
  static constexpr std::uint16_t a = 0, b = 1, request = 2, snapshot = 3;
};

// `Output` has event(const Event&), and may have view(itch::View<M>) as that of ItchFeed.
template <class Output>
class ItchHandler {
 public:
  ItchHandler(const ItchFeedOptions& options, Output& output, FeedPorts& ports)
      : out_{output, ports}, feed_(options, out_) {}
  ItchHandler(const ItchHandler&) = delete;
  ItchHandler& operator=(const ItchHandler&) = delete;

  void take(const FeedInput& input) {
    const Instant now = clock_.at(input.at);
    if (now.monotonic >= feed_.due_at()) [[unlikely]]
      feed_.tick(now);
    const std::span<const std::byte> bytes = std::as_bytes(std::span{input.bytes});
    switch (input.kind) {
      case InputKind::datagram:
        if (input.line <= ItchLines::request) feed_.packet(static_cast<MoldLine>(input.line), bytes, now);
        return;
      case InputKind::opened: return feed_.connected(now);
      case InputKind::received: return feed_.received(bytes, now);
      case InputKind::closed: return feed_.disconnected(now);
      case InputKind::clock: return;
    }
  }
  [[nodiscard]] MonotonicTime due_at() const noexcept { return feed_.due_at(); }
  [[nodiscard]] FeedState state() const noexcept { return feed_.state(); }

 private:
  struct Out {
    Output& output;
    FeedPorts& ports;

    void event(const Event& event) { output.event(event); }
    template <class M>
      requires requires(Output& o, itch::View<M> m) { o.view(m); }
    void view(itch::View<M> message) {
      output.view(message);
    }
    void request(const MoldRequest& wanted) {
      const auto bytes = wanted.bytes();
      ports.send(ItchLines::request, text_of(bytes));
    }
    void snapshot_connect() { ports.connect(ItchLines::snapshot); }
    void snapshot_send(std::span<const std::byte> bytes) { ports.send(ItchLines::snapshot, text_of(bytes)); }
    void snapshot_close() { ports.close(ItchLines::snapshot); }

    [[nodiscard]] static std::string_view text_of(std::span<const std::byte> bytes) noexcept {
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
  };

 public:
  using Feed = ItchFeed<Out>;
  [[nodiscard]] const Feed& feed() const noexcept { return feed_; }

 private:
  FeedClock clock_;
  Out out_;
  Feed feed_;
};

}  // namespace nfx::market
