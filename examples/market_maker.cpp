// A market maker: quotes one instrument around its microprice, within limits.
//   market_maker CONFIG.toml ADDRESS:PORT INSTRUMENT SYMBOL   live: DBN in UDP datagrams from its metadata on, orders
//   by FIX market_maker --backtest DAY.dbn INSTRUMENT                the same program on a recording
#include <nexusfix/engine/engine.hpp>
#include <nexusfix/engine/program.hpp>
#include <nexusfix/engine/stop_on_signal.hpp>
#include <nexusfix/market/dbn.hpp>
#include <nexusfix/strategy/order_messages.hpp>
#include <nexusfix/strategy/pipeline.hpp>
#include <nexusfix/strategy/quoter.hpp>
#include <nexusfix/strategy/simulated_venue.hpp>
#include <nexusfix/transport/udp_receiver.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace nfx::market;
using namespace nfx::strategy;
constexpr InstrumentIndex only{0};

// What both have: a book, a model and its limits.
struct Maker {
  InstrumentId instrument;
  OrderBooks books{{.instruments = 1, .orders = 1u << 20, .levels = 1u << 16}};
  Pipeline<Quoter> pipeline{{.risk = {.orders_per_second = 100, .burst = 50},
                             .instruments = {{.tick = {10'000'000}, .collar = {1'000'000'000}, .max_position = 100}}},
                            Quoter{{.half_spread = {20'000'000}, .quantity = 10, .most_position = 50}}};

  OrderBook book() const { return books.book(only); }
  void print() const {
    for (const auto& row : nfx::counter_rows<RiskCounters>) {
      if (const std::uint64_t count = pipeline.gate().counters().*row.member; count != 0)
        std::printf("%s %s %llu\n", row.metric.data(), row.label_value.data(), static_cast<unsigned long long>(count));
    }
    std::printf("position %lld\n", static_cast<long long>(pipeline.orders().exposure(only).position));
  }
};

class Live : public nfx::Application {
 public:
  Live(InstrumentId instrument, const std::string& symbol, nfx::UdpReceiver& receiver)
      : maker_{instrument}, messages_({.symbol = symbol}), receiver_(receiver) {}
  void on_logon(nfx::SessionHandle& session) override { session_ = &session; }
  void on_message(nfx::SessionHandle&, const nfx::MessageView& message) override {
    if (const auto report = read_report(message)) maker_.pipeline.report(*report);
  }
  nfx::Duration on_turn(nfx::Instant now) override {
    const auto send = [&](const Intent& intent, const OwnOrder& order) {
      const auto message = messages_.message(intent, order, now.utc);
      if (session_ == nullptr || !message || !session_->send(*message)) return false;
      session_->flush();
      return true;
    };
    receiver_.poll([&](const nfx::UdpDatagram& datagram) {
      (void)reader_.read(std::as_bytes(std::span{datagram.bytes}), [&](const Event& event) {
        if (event.instrument != maker_.instrument) return true;
        maker_.books.apply(only, event);
        maker_.pipeline.on(maker_.book(), only, event, FeedState::live, now, send);
        return true;
      });
    });
    // What was lost shows in events that do not fit: then nothing is sent but cancels.
    if (maker_.book().state() != BookState::live) maker_.pipeline.cancel_all(now, send);
    return nfx::Duration::max();
  }
  void print() const { maker_.print(); }

 private:
  Maker maker_;
  OrderMessages messages_;
  nfx::UdpReceiver& receiver_;
  DbnReader reader_;
  nfx::SessionHandle* session_ = nullptr;
};

int backtest(const char* file, InstrumentId instrument) {
  Maker maker{instrument};
  SimulatedVenue venue;
  DbnReader reader;
  std::ifstream day{file, std::ios::binary};
  std::array<char, 65536> chunk;
  while (day.read(chunk.data(), chunk.size()) || day.gcount() > 0) {
    const auto bytes = std::as_bytes(std::span{chunk}.first(static_cast<std::size_t>(day.gcount())));
    if (!reader.read(bytes, [&](const Event& event) {
          if (event.instrument != instrument) return true;
          const nfx::Instant now{event.receive_time, nfx::MonotonicTime{event.receive_time.time_since_epoch()}};
          venue.before(maker.book(), only, event);
          maker.books.apply(only, event);
          venue.after(maker.book(), only, event);
          venue.reports(now.utc, [&](const auto& report) { maker.pipeline.report(report); });
          maker.pipeline.on(
              maker.book(), only, event, FeedState::live, now,
              [&](const Intent& intent, const OwnOrder& order) { return venue.send(intent, order, now.utc); });
          return true;
        }))
      break;
  }
  maker.print();
  return reader.finish() ? 0 : 1;
}

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view{argv[1]} == "--backtest")
    return backtest(argv[2], InstrumentId{static_cast<std::uint32_t>(std::atoi(argv[3]))});
  if (argc != 5) return std::fputs("usage: market_maker CONFIG.toml ADDRESS:PORT INSTRUMENT SYMBOL\n", stderr), 2;
  nfx::UdpReceiver receiver{{{.name = "A", .address = nfx::parse_udp_address(argv[2])}}};
  Live live{InstrumentId{static_cast<std::uint32_t>(std::atoi(argv[3]))}, argv[4], receiver};
  nfx::Engine engine{nfx::load_config(argv[1]), live};
  engine.wake_when_readable(receiver.descriptor(0));
  const nfx::StopOnSignal stop{engine};
  engine.run();
  live.print();
} catch (const std::exception&) {
  return nfx::report_exception("market_maker");
}
