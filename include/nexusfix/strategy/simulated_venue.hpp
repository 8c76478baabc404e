// A venue for backtests: when our orders would have traded in a recorded market, by their place in the queue and the
// time that requests and reports take.
// Thread: one owner. Cost: the orders of the instrument for each event; allocates as orders come. Time comes from the
// recording. Errors: a refusal by the venue is a report. Bounds: as the order table that sends.
//
// The market does not react to our orders. An order that takes liquidity leaves it there for others. A resting order is
// not seen, not even by our own orders on the other side. For each event of the recording, as Trader does
// (live/trader.hpp): before(), the event into the book, after(), reports(event.receive_time, sink), and the pipeline
// with send() as sink. A request is handled with its instrument's first event after its arrival; a report is given with
// the first event after it is due.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/intent.hpp"

namespace nfx::strategy {

// How much a cancel at our price moves us forward in the queue. Trades at our price always do.
enum class QueueModel : std::uint8_t {
  risk_averse,   // not at all: everything that was canceled was after us
  proportional,  // by the share of the queue that is before us
  by_order,      // exactly: by the orders ahead of ours when it came. For feeds by order
};

struct SimulatedVenueOptions {
  Duration to_venue{50'000};    // from the model's answer to the venue
  Duration from_venue{50'000};  // from the venue to the model
  QueueModel queue = QueueModel::risk_averse;
  // True if the feed reports every execution as a trade before it changes the order, as FIX does. Otherwise trades are
  // of orders that were never shown, and fill nothing.
  bool fills_by_trade = false;
};

class SimulatedVenue {
 public:
  explicit SimulatedVenue(const SimulatedVenueOptions& options = {}) : options_(options) {}

  // The sink of a pipeline. Takes every request.
  bool send(const Intent& intent, const OwnOrder& order, UtcTime now);
  void flush() noexcept {}

  // Requests that have arrived, and the queues.
  void before(const market::OrderBook& book, InstrumentIndex index, const Event& event);
  // Prices that crossed our orders.
  void after(const market::OrderBook& book, InstrumentIndex index, const Event& event);
  // The reports known at this time: sink(const OwnOrders::VenueReport&).
  template <class Sink>
  void reports(UtcTime now, Sink&& sink) {
    while (!reports_.empty() && reports_.front().due <= now) {
      const OwnOrders::VenueReport report = reports_.front().report;
      reports_.pop_front();
      sink(report);
    }
  }

  [[nodiscard]] std::size_t resting() const noexcept { return resting_.size(); }

 private:
  struct Request {
    UtcTime arrives{};
    Intent intent;
    OrderNumber number{};    // of the order
    OrderNumber change{};    // of a replacement or cancel
    Side side = Side::none;  // of the order
  };
  struct Resting {
    OrderNumber number{};
    InstrumentIndex instrument{};
    Side side = Side::none;
    Price price{};
    Quantity quantity = 0;
    Quantity filled = 0;
    Quantity ahead = 0;                       // in the queue
    std::vector<market::OrderView> before{};  // by_order: these orders

    [[nodiscard]] Quantity left() const noexcept { return quantity - filled; }
  };
  struct Due {
    UtcTime due{};
    OwnOrders::VenueReport report;
  };

  void handle(const market::OrderBook& book, const Request& request);
  void place(const market::OrderBook& book, Resting order, UtcTime at, TimeInForce time_in_force);
  void take(const market::OrderBook& book, Resting& order, UtcTime at);
  void fill(Resting& order, Price price, Quantity quantity, UtcTime at);
  void report(UtcTime at, const OwnOrders::VenueReport& report);
  struct Trade {
    Side side = Side::none;  // of the order that rested
    Price price{};
    Quantity quantity = 0;
    std::optional<market::OrderId> order{};  // nothing: the feed does not state which one
  };
  void traded(InstrumentIndex index, const Trade& trade, UtcTime at);
  void reduced(InstrumentIndex index, const market::OrderView& order, Quantity quantity) noexcept;
  void canceled(const market::OrderBook& book, InstrumentIndex index, const market::OrderView& order,
                Quantity quantity);
  [[nodiscard]] std::vector<Resting>::iterator find(OrderNumber number) noexcept;
  void drop_filled() noexcept {
    std::erase_if(resting_, [](const Resting& order) { return order.left() == 0; });
  }

  SimulatedVenueOptions options_;
  std::deque<Request> requests_;  // by arrival
  std::vector<Resting> resting_;
  std::deque<Due> reports_;  // by time
};

}  // namespace nfx::strategy
