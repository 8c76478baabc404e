// A market maker for one instrument of a venue that publishes its books by FIX: the same program live, where its
// session takes market data and orders, and on a recording, where a simulated venue takes them.
#pragma once

#include <nexusfix/live/fix_session_feed.hpp>
#include <nexusfix/recording/read_recording.hpp>
#include <nexusfix/strategy/order_messages.hpp>
#include <nexusfix/strategy/pipeline.hpp>
#include <nexusfix/strategy/quoter.hpp>
#include <nexusfix/strategy/simulated_venue.hpp>

#include <functional>
#include <vector>

struct Sent {
  nfx::strategy::Intent intent;
  nfx::strategy::OrderNumber number;  // ClOrdID
};

// What both have: the feed's handler, a book without our own orders, a quoter, its limits, and what was sent.
class Maker {
 public:
  using Sink = std::function<bool(const nfx::strategy::Intent&, const nfx::strategy::OwnOrder&)>;
  Maker(const std::string& symbol, nfx::market::FeedPorts& ports) : handler({.instruments = {{symbol}}}, *this, ports) {
    sent.reserve(1u << 20);
  }

  void event(const nfx::market::Event& event) noexcept {
    // At this venue an order's number is its first ClOrdID, and those of others are greater.
    const bool own = event.order != nfx::market::OrderId{} && std::to_underlying(event.order) <= last_;
    if (venue) venue->before(book(), only, event);
    if (!own) books.event(event);
    if (venue) {
      venue->after(book(), only, event);
      venue->reports(event.receive_time, [this](const auto& report) { pipeline.report(report); });
    }
    pipeline.on(book(), only, event, handler.state(), now, [this](const auto& intent, const auto& order) {
      const auto number = intent.action == nfx::strategy::Action::place ? order.number : order.change;
      last_ = std::max(last_, std::to_underlying(number));
      return send(intent, order) && (sent.push_back({intent, number}), true);
    });
  }
  nfx::market::OrderBook book() const { return books.orders().book(only); }

  static constexpr nfx::market::InstrumentIndex only{0};
  nfx::market::FeedBooks books{{.limits = {.instruments = 1, .orders = 1u << 20, .levels = 1u << 16}}};
  nfx::market::FixHandler handler;
  nfx::strategy::Pipeline<nfx::strategy::Quoter> pipeline{
      {.risk = {.orders_per_second = 1000, .burst = 1000, .max_event_age = std::chrono::seconds{1}},
       .instruments = {{.tick = {10'000'000}, .collar = {1'000'000'000}, .max_position = 100}}},
      nfx::strategy::Quoter{{.half_spread = {20'000'000}, .quantity = 10, .most_position = 50}}};
  std::optional<nfx::strategy::SimulatedVenue> venue;  // in a backtest
  Sink send;
  nfx::Instant now;
  std::vector<Sent> sent;

 private:
  std::uint64_t last_ = 0;  // of the ClOrdIDs sent
};

class LiveMaker final : public nfx::market::FixSessionFeed {
 public:
  LiveMaker(Maker& maker, const std::string& symbol, nfx::market::FixSessionPorts& ports,
            nfx::market::Recorder* recorder)
      : FixSessionFeed({}, ports, maker.handler, maker.books, recorder), maker_(maker), messages_({.symbol = symbol}) {
    maker.send = [this](const auto& intent, const auto& order) {
      const auto message = messages_.message(intent, order, maker_.now.utc);
      if (session == nullptr || !message || !session->send(*message)) return false;
      session->flush();
      return true;
    };
  }
  void on_logon(nfx::SessionHandle& with) override {
    session = &with;
    FixSessionFeed::on_logon(with);
  }
  void on_message(nfx::SessionHandle& from, const nfx::MessageView& message) override {
    maker_.now = from.now();
    const auto report = nfx::strategy::read_report(message);
    report ? maker_.pipeline.report(*report) : FixSessionFeed::on_message(from, message);
  }
  nfx::SessionHandle* session = nullptr;

 private:
  Maker& maker_;
  nfx::strategy::OrderMessages messages_;
};

// What LiveMaker recorded, through the same handler. Time is that of the recording.
inline nfx::market::RecordingScan backtest(Maker& maker, const nfx::market::ReadRecordingOptions& recording,
                                           const nfx::strategy::SimulatedVenueOptions& venue) {
  maker.venue.emplace(venue);
  maker.send = [&maker](const auto& intent, const auto& order) {
    return maker.venue->send(intent, order, maker.now.utc);
  };
  return nfx::market::read_recording(nfx::posix_disk(), recording, [&maker](const auto& packet) {
    const auto input = nfx::market::input_of(packet);
    if (input) maker.now = {input->at, nfx::market::FeedClock::of(input->at)};
    if (input) maker.handler.take(*input);
    return true;
  });
}
