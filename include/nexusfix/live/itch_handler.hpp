// The inputs of a NASDAQ ITCH feed: two lines of MoldUDP64, the answers of the re-request server, and the connection to
// the snapshot server. Thread, cost and bounds: as ItchFeed. Errors: std::invalid_argument for an invalid symbol;
// otherwise as ItchFeed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/itch_feed.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::market {

// Numbers of lines, as recordings have them.
struct ItchLines {
  static constexpr std::uint16_t a = 0, b = 1, request = 2, snapshot = 3;
};

struct ItchHandlerOptions {
  ItchFeedOptions feed;
  // Only the events of these stocks, and Event::instrument is a stock's place here, as other handlers have it. Empty:
  // of all stocks, with the locate code.
  std::vector<std::string> symbols{};
};

// The last midnight in New York, from which ITCH messages count their time. Throws ConfigError without time zone data.
[[nodiscard]] UtcTime midnight_in_new_york(UtcTime now);

// Which of the symbols has a locate code, by the feed's directory. A locate code is of one day and session.
class ItchSymbols {
 public:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  explicit ItchSymbols(std::vector<std::string> symbols);
  [[nodiscard]] bool empty() const noexcept { return symbols_.empty(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(symbols_.size()); }
  void add(itch::View<itch::StockDirectory> message) noexcept;
  [[nodiscard]] std::uint32_t place(InstrumentId locate) const noexcept {
    return places_[std::to_underlying(locate) & 0xFFFF];
  }

 private:
  std::vector<std::string> symbols_;
  std::vector<std::uint32_t> places_;  // by locate code
};

// `Output` has event(const Event&), and may have view(itch::View<M>) as the output of ItchFeed.
template <class Output>
class ItchHandler {
 public:
  ItchHandler(const ItchHandlerOptions& options, Output& output, FeedPorts& ports)
      : out_{output, ports, ItchSymbols{options.symbols}}, feed_(options.feed, out_) {}
  ItchHandler(const ItchHandler&) = delete;
  ItchHandler& operator=(const ItchHandler&) = delete;

  void take(const FeedInput& input) {
    trace_call();
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
    ItchSymbols symbols;

    void event(const Event& event) {
      if (symbols.empty()) return output.event(event);
      Event numbered = event;
      const auto give = [&](std::uint32_t place) {
        numbered.instrument = InstrumentId{place};
        output.event(numbered);
      };
      if (event.instrument == InstrumentId{}) {  // of the whole market
        for (std::uint32_t place = 0; place < symbols.size(); ++place) give(place);
      } else if (const std::uint32_t place = symbols.place(event.instrument); place != ItchSymbols::none) {
        give(place);
      }
    }
    template <class M>
      requires(std::is_same_v<M, itch::StockDirectory> || requires(Output& o, itch::View<M> m) { o.view(m); })
    void view(itch::View<M> message) {
      if constexpr (std::is_same_v<M, itch::StockDirectory>) symbols.add(message);
      if constexpr (requires(Output& o) { o.view(message); }) output.view(message);
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

template <>
struct FeedOf<ItchHandlerOptions> {
  template <class Output>
  using Handler = ItchHandler<Output>;
  using Books = OrderBooks;
  static constexpr bool orders_unique = true;
};

}  // namespace nfx::market
