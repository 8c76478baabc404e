// The stocks of a day by locate code, which ITCH gives out again every day from 1 on, without large gaps.
// Thread: one owner. Cost: at() is an array access; find() compares all symbols. Memory: 1 MiB of address space, of
// which a page is taken when it is first written. Errors: none; a locate code without an entry has no symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nexusfix/base/page_array.hpp"
#include "nexusfix/market/event.hpp"
#include "nexusfix/market/itch.hpp"

namespace nfx::market {

struct ItchStock {
  std::array<char, 8> padded;  // with spaces; zeros: not in the directory
  std::uint32_t round_lot;
  char market_category;
  char state;             // of the last TradingAction: T, H, P, Q; 0: none came
  char operational_halt;  // H: Nasdaq's own market is halted
  char reserved;

  // Empty: not in the directory.
  [[nodiscard]] std::string_view symbol() const noexcept {
    std::string_view text{padded.data(), padded.size()};
    if (text[0] == '\0') return {};
    const std::size_t end = text.find_last_not_of(' ');
    return text.substr(0, end == text.npos ? 0 : end + 1);
  }
  [[nodiscard]] TradingStatus status() const noexcept;
};
static_assert(sizeof(ItchStock) == 16);

class ItchDirectory {
 public:
  ItchDirectory();

  [[nodiscard]] const ItchStock& at(std::uint16_t locate) const noexcept { return stocks_[locate]; }
  // Empty: no stock has this symbol.
  [[nodiscard]] std::optional<std::uint16_t> find(std::string_view symbol) const noexcept;
  // The highest locate code that has an entry. 0: there is none.
  [[nodiscard]] std::uint16_t highest() const noexcept { return highest_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(itch::View<itch::StockDirectory> message) noexcept;
  // Each returns what is now possible in the stock.
  TradingStatus update(itch::View<itch::TradingAction> message) noexcept;
  TradingStatus update(itch::View<itch::OperationalHalt> message) noexcept;
  void clear() noexcept;

 private:
  PageArray<ItchStock> stocks_;
  std::size_t size_ = 0;
  std::uint16_t highest_ = 0;
};

}  // namespace nfx::market
