// Makes an ITCH day of many stocks from the events by order of few instruments. Each order goes to one stock, chosen by
// its number, so that a book of the day has the levels and queues of its share of the source's orders.
//
//   stock of an order  1 + ((order * 0x9E3779B97F4A7C15 mod 2^64) >> 32) mod names, of the first instrument;
//                      the next instrument has the `names` stocks after these, and so on
//   add                A
//   modify             X for less at the same price, D and A for another side, otherwise U: the order is last in
//                      its queue
//   cancel             X, or D for the whole rest
//   fill               none; a cancel or modify of a filled order gives E at the order's price,
//                      C at another one. A fill without such an event gives P
//   trade              none. Executions beyond the quantity of the event's trades are not printable, like a
//                      cross; trades without a fill give P
//   clear              D for each order
// The sum of the printable quantities equals the trades' sum. Numbers of orders are reassigned, from 1 on. The time is
// the receive time since the midnight in New York before the first event; it may exceed 24 hours.
//
// Thread: one owner. Cost: some hash table look-ups per event; allocates. Errors: events that ITCH cannot express are
// counted: prices that are negative, beyond 429,496.7295 or have more than four decimals, quantities beyond 32 bits,
// times beyond 78 hours, and instruments when there are 65,000 stocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "nexusfix/market/event.hpp"
#include "nexusfix/market/itch.hpp"

namespace nfx::app::market {

class ItchSpreader {
 public:
  // `out` receives the bytes of an ITCH file: messages with their lengths before them.
  ItchSpreader(std::uint32_t names, std::string& out);

  void add(const nfx::market::Event& event);
  // Ends the day.
  void end();

  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::size_t stocks() const noexcept { return instruments_.size() * names_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  // The day in New York, "2023-12-24".
  [[nodiscard]] std::string date() const;

 private:
  struct Key {
    std::uint32_t instrument;
    std::uint64_t order;
    friend bool operator==(const Key&, const Key&) noexcept = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>((key.order ^ std::uint64_t{key.instrument} << 32) * 0x9E37'79B9'7F4A'7C15);
    }
  };
  struct Order {
    std::uint64_t reference;
    std::int64_t price;
    std::uint64_t quantity;
    std::uint16_t locate;
    nfx::market::Side side;
  };
  using Orders = std::unordered_map<Key, Order, KeyHash>;

  // A fill of an event that has not ended.
  struct Fill {
    Key key;
    std::int64_t price;
    std::uint64_t quantity;
    bool printable;
  };

  template <class M>
  void give(const nfx::market::itch::Message<M>& message);
  template <class M>
  [[nodiscard]] nfx::market::itch::Message<M> make(std::uint16_t locate) const noexcept {
    return nfx::market::itch::Message<M>{locate, time_};
  }
  void system_event(char event);
  bool begin(const nfx::market::Event& event);
  [[nodiscard]] std::optional<std::uint16_t> first_locate(std::uint32_t instrument);

  void add_order(const Key& key, const nfx::market::Event& event);
  void modify(const Key& key, const nfx::market::Event& event);
  void cancel(const Key& key, const nfx::market::Event& event);
  void clear(std::uint32_t instrument);
  void take_fill(const Key& key, const nfx::market::Event& event);
  void end_event();

  void give_add(const Order& order);
  void remove(Orders::iterator order);
  // Reduces the order, first by its fills.
  void reduce(Orders::iterator order, std::uint64_t quantity);
  void give_execution(const Order& order, const Fill& fill, std::uint64_t quantity);
  void give_trade(std::uint16_t locate, std::int64_t price, std::uint64_t quantity);
  [[nodiscard]] std::uint16_t locate_of(const Key& key) const;

  std::uint32_t names_;
  std::string* out_;
  UtcTime midnight_{};
  std::uint64_t time_ = 0;  // time of day of the current event
  std::uint64_t messages_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t reference_ = 0;
  std::uint64_t match_ = 0;
  std::unordered_map<std::uint32_t, std::uint16_t> instruments_;  // first locate code of each instrument
  Orders orders_;
  std::vector<Fill> fills_;
  std::uint64_t traded_ = 0;  // quantity traded in the event that no fill has taken
  Fill last_trade_{};
};

}  // namespace nfx::app::market
