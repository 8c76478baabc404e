// From a crypto venue's websocket frames of book tickers to events, compared with simdjson alone.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "harness/measure.hpp"
#include "harness/random.hpp"
#include "market/websocket.hpp"
#include "nexusfix/market/json_feed.hpp"
#include "rows.hpp"
#include "simdjson_row.hpp"

namespace nfx::bench {
namespace {

using namespace nfx::market;

constexpr std::array<std::string_view, 4> symbols{"BTCUSDT", "ETHUSDT", "BNBUSDT", "SOLUSDT"};

struct Ticker {
  std::size_t symbol;
  std::uint64_t update;
  std::array<std::uint64_t, 4> numbers;  // bid, its quantity, ask, its quantity: in hundred-millionths
};

std::string decimal(std::uint64_t number) {
  std::string text = std::to_string(number / 100'000'000) + '.' + std::to_string(100'000'000 + number % 100'000'000);
  text.erase(text.find('.') + 1, 1);
  return text;
}

std::vector<Ticker> make_tickers(std::uint32_t count, std::uint64_t seed) {
  Random random{seed};
  std::array<std::uint64_t, symbols.size()> middle{4'321'000'000'000, 234'500'000'000, 30'120'000'000, 9'840'000'000};
  std::vector<Ticker> tickers;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto symbol = static_cast<std::size_t>(random.below(symbols.size()));
    middle[symbol] += 1'000'000 * random.below(3);
    middle[symbol] -= 1'000'000 * random.below(3);
    tickers.push_back({symbol,
                       400'900'217 + std::uint64_t{i},
                       {middle[symbol], random.below(5'000'000'000), middle[symbol] + 1'000'000 * random.between(1, 5),
                        random.below(5'000'000'000)}});
  }
  return tickers;
}

std::string text_of(const Ticker& t) {
  return "{\"u\":" + std::to_string(t.update) + ",\"s\":\"" + std::string{symbols[t.symbol]} + "\",\"b\":\"" +
         decimal(t.numbers[0]) + "\",\"B\":\"" + decimal(t.numbers[1]) + "\",\"a\":\"" + decimal(t.numbers[2]) +
         "\",\"A\":\"" + decimal(t.numbers[3]) + "\"}";
}

// Not masked, like a server's frames.
std::string frame_of(const std::string& text) {
  std::string frame{'\x81'};
  if (text.size() < 126) {
    frame += static_cast<char>(text.size());
  } else {
    frame += '\x7E';
    frame += static_cast<char>(text.size() >> 8);
    frame += static_cast<char>(text.size());
  }
  return frame + text;
}

class Events final : public FeedOutput {
 public:
  void event(const Event& event) noexcept override {
    ++count;
    last = event;
  }
  void request_snapshot(InstrumentIndex) noexcept override {}

  std::uint64_t count = 0;
  Event last;
};

// An open connection, and the feed that reads it.
struct Connection {
  Connection() {
    for (const std::string_view symbol : symbols) (void)feed.add(symbol, JsonBook::ticker);
    WebsocketRequest request{.host = "venue.example"};
    std::memcpy(request.key.data(), "the sample nonce", 16);
    constexpr std::string_view answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    if (!client.connect(request)) throw WrongAnswerError("the handshake does not fit");
    client.sent(client.to_send().size());
    receive(answer);
    if (client.next({}).kind != WebsocketEventKind::open) throw WrongAnswerError("the handshake fails");
  }

  void receive(std::string_view bytes) {
    std::memcpy(client.space().data(), bytes.data(), bytes.size());
    client.received(bytes.size());
  }
  // Takes the output of a received frame.
  [[gnu::noinline]] void take(Instant now) {
    const WebsocketEvent event = client.next({});
    if (event.kind == WebsocketEventKind::text) {
      (void)feed.message({event.data.data(), event.data.size(), event.readable}, now);
    }
  }

  Events events;
  JsonFeed feed{{.recovery = {.instruments = symbols.size()}}, events};
  WebsocketClient client{{.message_size = 1u << 16}};
};

void check(const std::vector<Ticker>& tickers, const std::vector<std::string>& frames) {
  Connection connection;
  SimdjsonRow peer;
  for (std::size_t i = 0; i < tickers.size(); ++i) {
    const Ticker& ticker = tickers[i];
    connection.receive(frames[i]);
    connection.take({});
    const Event& last = connection.events.last;
    const bool right = last.side == Side::ask && last.sequence == ticker.update && last.last() &&
                       last.price.nano == static_cast<std::int64_t>(ticker.numbers[2] * 10) &&
                       last.quantity == ticker.numbers[3] &&
                       last.instrument == InstrumentId{static_cast<std::uint32_t>(ticker.symbol)};
    if (!right) throw WrongAnswerError("a book ticker's event differs: " + frames[i]);
    const std::string text = text_of(ticker);
    std::string padded = text;
    padded.resize(text.size() + json_padding);
    if (peer.available() && peer.read(padded.data(), text.size(), padded.size()) != peer.expected(text)) {
      throw WrongAnswerError("simdjson reads another book ticker: " + text);
    }
  }
  if (connection.feed.left_to_simdjson() != 0) throw WrongAnswerError("the scan leaves book tickers to simdjson");
}

LatencyHistogram time_frames(const std::vector<std::string>& frames, const CycleClock& clock, double own_cost) {
  LatencyHistogram histogram;
  const auto connection = std::make_unique<Connection>();
  for (const std::string& frame : frames) {
    connection->receive(frame);
    const std::uint64_t begin = ticks_before();
    connection->take({});
    const std::uint64_t end = ticks_after();
    histogram.record(clock.ps_between(begin, end, own_cost));
  }
  return histogram;
}

LatencyHistogram time_simdjson(const std::vector<std::string>& texts, const CycleClock& clock, double own_cost) {
  LatencyHistogram histogram;
  SimdjsonRow peer;
  std::array<char, 1024> buffer{};
  for (const std::string& text : texts) {
    std::memcpy(buffer.data(), text.data(), text.size());
    const std::uint64_t begin = ticks_before();
    keep(peer.read(buffer.data(), text.size(), buffer.size()));
    const std::uint64_t end = ticks_after();
    histogram.record(clock.ps_between(begin, end, own_cost));
  }
  return histogram;
}

}  // namespace

void bench_json(const MarketOptions& options, const CycleClock& clock) {
  if (!has_json_reader()) {
    std::printf("\nJSON      left out: needs libsimdjson-dev\n");
    return;
  }
  const std::vector<Ticker> tickers = make_tickers(options.frames, options.seed);
  std::vector<std::string> texts, frames;
  for (const Ticker& ticker : tickers) {
    texts.push_back(text_of(ticker));
    frames.push_back(frame_of(texts.back()));
  }
  std::printf("\nJSON      %zu book tickers of %zu symbols, for example\n          %s\n", frames.size(), symbols.size(),
              texts.front().c_str());
  check(tickers, frames);
  const double own_cost = stamp_cost_ticks();
  std::vector<LatencyHistogram> ours, theirs;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    ours.push_back(time_frames(frames, clock, own_cost));
    theirs.push_back(time_simdjson(texts, clock, own_cost));
  }
  print_latencies("websocket frame of a book ticker to events", ours);
  print_latencies("its text by simdjson on demand alone, no event", theirs);
}

}  // namespace nfx::bench
