// Decides again which orders may be sent, from scratch: from the delivered bytes, a book made of maps, and the orders
// sent. It shares no code with the gate, the order table or the books.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nexusfix/market/event.hpp"
#include "nexusfix/strategy/risk_gate.hpp"

namespace nfx::order_faults {

// A book made of maps, which knows whether every event fitted.
class PlainBook {
 public:
  void apply(const market::Event& event);
  [[nodiscard]] bool stale() const noexcept { return stale_; }
  [[nodiscard]] market::TradingStatus status() const noexcept { return status_; }
  // Twice the middle of the best prices, in billionths.
  [[nodiscard]] std::optional<std::int64_t> twice_middle() const;

 private:
  struct Order {
    market::Side side;
    std::int64_t price;
    std::uint64_t quantity;
  };
  void reduce(std::uint64_t id, std::uint64_t quantity);

  std::map<std::uint64_t, Order> orders_;
  bool stale_ = false;
  market::TradingStatus status_ = market::TradingStatus::unknown;
};

// The true state when an order is sent.
struct Truth {
  const PlainBook* book = nullptr;
  bool gap = false;
  bool killed = false;
  UtcTime received{};
  Instant now{};
};

// A request as contained in its message.
struct Sent {
  char type = '?';  // MsgType
  std::uint64_t number = 0;
  std::uint64_t original = 0;
  std::uint32_t instrument = 0;
  char side = '?';
  std::int64_t price_nano = 0;
  std::uint64_t quantity = 0;
};
// Reads the fields of a message. False if one is missing or wrong.
[[nodiscard]] bool read_sent(std::string_view type, std::string_view body, Sent& sent);

class Oracle {
 public:
  Oracle(const strategy::RiskLimits& limits, std::vector<strategy::InstrumentLimits> instruments)
      : limits_(limits), instruments_(std::move(instruments)), positions_(instruments_.size()) {}

  // Empty if it may be sent; otherwise the violation.
  [[nodiscard]] std::string judge(const Sent& sent, const Truth& truth);

  // The venue's reports about sent requests, in order.
  void rejected(std::uint64_t number);
  void replaced(std::uint64_t number);
  void canceled(std::uint64_t number);  // for the order, or for its change
  void filled(std::uint64_t number, std::uint64_t quantity);

  struct Order {
    std::uint32_t instrument = 0;
    char side = '?';
    std::uint64_t quantity = 0;
    std::uint64_t filled = 0;
    std::uint64_t change = 0;  // number of the pending request
    std::uint64_t new_quantity = 0;
    bool canceling = false;
  };
  [[nodiscard]] const std::map<std::uint64_t, Order>& orders() const noexcept { return orders_; }
  // The number of the order that a request concerns; 0: none.
  [[nodiscard]] std::uint64_t order_of(std::uint64_t number) const;

 private:
  [[nodiscard]] std::string judge_order(const Sent& sent, const Truth& truth) const;
  [[nodiscard]] std::int64_t worst(std::uint32_t instrument, char side) const;

  strategy::RiskLimits limits_;
  std::vector<strategy::InstrumentLimits> instruments_;
  std::vector<std::int64_t> positions_;
  std::map<std::uint64_t, Order> orders_;  // open orders, by the number that the venue knows
  std::uint64_t highest_ = 0;
  std::deque<MonotonicTime> times_;  // times of orders and replacements
};

}  // namespace nfx::order_faults
