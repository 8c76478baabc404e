// The order books of a list of events, made of maps, to check the fast ones against.
// Thread: any. Cost: allocates; far slower than the fast ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "nexusfix/market/event.hpp"
#include "nexusfix/market/order_book.hpp"

namespace nfx::bench {

class PlainBooks {
 public:
  PlainBooks();
  ~PlainBooks();
  PlainBooks(const PlainBooks&) = delete;
  PlainBooks& operator=(const PlainBooks&) = delete;

  void apply(const nfx::market::Event& event);

  // How often the best prices of a book changed between the last events of changes.
  [[nodiscard]] std::uint64_t best_price_changes() const noexcept { return best_price_changes_; }

  // Compares every level of every instrument with the books; `place` returns the index of an instrument's book. Empty
  // if there is no difference.
  using Place = std::function<nfx::market::InstrumentIndex(std::uint32_t)>;
  [[nodiscard]] std::string difference(const nfx::market::OrderBooks& books, const Place& place) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::uint64_t best_price_changes_ = 0;
};

}  // namespace nfx::bench
