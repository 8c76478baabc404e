// Hashes the best prices of each instrument at the end of each event: counts the changes, and computes the SHA-256 of
// all changes as text lines, "instrument receive-time bid size ask size".
// Thread: one owner. Cost: a compare per event end; a line and its part of the hash per change. Errors:
// std::runtime_error if the crypto library fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "nexusfix/base/memory.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::app::market {

// SHA-256 of a stream, by the crypto library.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void add(const char* bytes, std::size_t size);
  [[nodiscard]] std::string hex();  // ends the stream

 private:
  void* context_;
};

class BestPrices {
 public:
  explicit BestPrices(std::uint32_t instruments);

  // Called at the end of an event in this book.
  void check(nfx::market::InstrumentIndex index, const nfx::market::OrderBook& book, const nfx::market::Event& event) {
    using nfx::market::Side;
    const auto bid = book.best(Side::bid), ask = book.best(Side::ask);
    Top top{.state = seen};
    if (bid) {
      top.bid = bid->price.nano;
      top.bid_quantity = bid->quantity;
      top.state |= has_bid;
    }
    if (ask) {
      top.ask = ask->price.nano;
      top.ask_quantity = ask->quantity;
      top.state |= has_ask;
    }
    Top& last = tops_[std::to_underlying(index)];
    if (top == last) return;
    last = top;
    ++changes_;
    add_line(event, top);
  }

  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  [[nodiscard]] std::string sha256();  // ends the stream

 private:
  static constexpr std::uint64_t seen = 1, has_bid = 2, has_ask = 4;
  struct Top {
    std::int64_t bid = 0;
    std::uint64_t bid_quantity = 0;
    std::int64_t ask = 0;
    std::uint64_t ask_quantity = 0;
    std::uint64_t state = 0;
    friend bool operator==(const Top&, const Top&) noexcept = default;
  };

  // A text that is rewritten only if its number changes, which is rare from line to line.
  struct Written {
    std::uint64_t number = ~std::uint64_t{0};
    std::size_t size = 0;
    std::array<char, 64> text;
  };

  void add_line(const nfx::market::Event& event, const Top& top);
  [[nodiscard]] static char* copy(char* out, const Written& written) noexcept;
  [[nodiscard]] static char* write_side(char* out, bool there, std::int64_t price, Written& written,
                                        std::uint64_t quantity) noexcept;
  [[nodiscard]] char* write_time(char* out, std::uint64_t nanoseconds) noexcept;

  static constexpr std::size_t line_max = 256;  // including space that the digit writers need after a line
  PageArray<Top> tops_;                         // initially zero: not seen
  std::uint64_t changes_ = 0;
  Written instrument_;  // with the space after it
  Written time_;        // all but its last eight digits
  Written bid_;         // between its spaces
  Written ask_;
  std::array<char, 16 * 1024> text_;
  std::size_t size_ = 0;
  Sha256Stream hash_;
};

}  // namespace nfx::app::market
