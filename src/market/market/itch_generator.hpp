// Days of ITCH 5.0 that were never traded, for tests, benchmarks and examples: every kind of message, orders that exist
// when they are changed, prices around a touch that drifts, and books that never cross. The shares of the kinds are
// close to a real day's: adds 45%, deletes 42%, replacements 6%, executions 4%, cancels 2.5%, others 0.5%. Messages
// come in bursts. The stocks' shares follow Zipf's law with an offset: of 8,000 stocks the first has 0.8% of the
// messages, ten have 7%, a hundred 30%, a thousand 66%. A third of the orders come at the price that the stock is
// worth, three quarters within five ticks of it. Half of the orders that are deleted, replaced or cancelled are among
// the stock's last eight; the age of the others is uniform in its logarithm.
// Thread: one owner. Cost: some hundreds of nanoseconds a message. Memory: the resting orders, so that a day may have
// any length. The same options give the same bytes, on every machine and with every library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nexusfix/market/itch.hpp"

namespace nfx::market {

struct ItchGeneratorOptions {
  std::uint64_t seed = 1;
  std::uint64_t messages = 1'000'000;  // between the opening and the closing; some for each stock come on top
  std::uint16_t stocks = 8000;         // 1 to 65,000
  std::uint32_t resting_orders = 150;  // of a stock, on average, when the books have filled
};

class ItchGenerator {
 public:
  explicit ItchGenerator(const ItchGeneratorOptions& options);

  // The next message of the day, without a length. Empty: the day is over. It is valid until the next call.
  [[nodiscard]] std::span<const std::byte> next();

  [[nodiscard]] std::uint64_t resting_orders() const noexcept { return live_; }
  // "AAAA", "AAAB", ...: the symbol of a locate code, from 1 on.
  [[nodiscard]] static std::string symbol(std::uint16_t locate);

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  struct Order {
    std::uint64_t reference;
    std::uint32_t shares;
    std::uint32_t price;
    std::uint32_t next, previous;  // in the queue of its price
    std::uint32_t place;           // among the stock's orders
    std::uint16_t locate;
    char side;
  };
  struct Queue {
    std::uint32_t first = none, last = none;
  };
  using Levels = std::map<std::uint32_t, Queue>;
  struct Stock {
    std::uint32_t tick = 100;
    std::uint32_t fair = 0;  // price around which orders come, in ticks
    Levels bids, asks;
    std::vector<std::uint32_t> orders;
  };

  enum class Phase : std::uint8_t {
    start,
    directory,
    trading_action,
    reg_sho,
    participant,
    levels,
    system_hours,
    market_hours,
    trading,
    market_close,
    closing_cross,
    system_close,
    end,
    over,
  };

  [[nodiscard]] std::uint64_t random() noexcept;
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) noexcept { return random() % limit; }

  template <class M>
  std::span<const std::byte> give(const itch::Message<M>& message) noexcept;
  template <class M>
  [[nodiscard]] itch::Message<M> make(std::uint16_t locate) const noexcept {
    return itch::Message<M>{locate, time_};
  }

  // One message for each stock, then the next phase.
  template <class Make>
  std::span<const std::byte> for_each_stock(Phase after, Make&& make);
  std::span<const std::byte> system_event(char event, std::uint64_t at, Phase after);
  std::span<const std::byte> preamble();
  std::span<const std::byte> trade_on();
  std::span<const std::byte> closing_cross();
  std::span<const std::byte> rare(std::uint16_t locate);

  void choose_time_and_stock() noexcept;
  [[nodiscard]] std::uint16_t popular_stock() noexcept;
  std::span<const std::byte> add(std::uint16_t locate);
  std::span<const std::byte> execute(std::uint16_t locate);
  std::span<const std::byte> cancel(std::uint32_t order);
  std::span<const std::byte> remove(std::uint32_t order);
  std::span<const std::byte> replace(std::uint32_t order);
  std::span<const std::byte> hidden_trade(std::uint16_t locate);

  [[nodiscard]] std::uint32_t price_for(const Stock& stock, char side) noexcept;
  [[nodiscard]] std::uint32_t any_order(const Stock& stock) noexcept;
  [[nodiscard]] std::uint32_t shares() noexcept;
  std::uint32_t insert(std::uint16_t locate, char side, std::uint32_t price, std::uint32_t shares);
  void erase(std::uint32_t order);

  ItchGeneratorOptions options_;
  std::uint64_t state_;
  Phase phase_ = Phase::start;
  std::uint64_t time_ = 0;
  std::uint32_t stock_ = 1;
  std::uint64_t done_ = 0;
  unsigned burst_ = 0;
  unsigned rare_ = 0;
  bool resume_ = false;  // an operational halt is to be ended
  std::uint16_t halted_ = 0;
  std::uint64_t reference_ = 0;
  std::uint64_t match_ = 0;
  std::uint64_t live_ = 0;
  std::vector<Stock> stocks_;
  std::vector<std::uint64_t> popularity_;  // sums of the stocks' weights, the most popular first
  std::vector<Order> orders_;
  std::vector<std::uint32_t> free_;
  std::array<std::byte, itch::max_message_size> message_{};
};

}  // namespace nfx::market
