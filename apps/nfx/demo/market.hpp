// Conventions between trader and venue of the demonstration outside FIX: symbols, price grid, order summaries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/decimal.hpp"

namespace nfx::app::demo {

inline constexpr std::array<std::string_view, 4> symbols{"ALFA", "BRAV", "CHAR", "DELT"};
inline constexpr std::uint32_t price_levels = 4096;  // ticks of 0.01 from 100.00 on
inline constexpr std::int64_t lowest_price = 10000;
inline constexpr std::uint32_t max_quantity = 1000;

[[nodiscard]] inline Decimal price_of(std::uint32_t ticks) noexcept { return Decimal{lowest_price + ticks, 2}; }

enum class OrderState : std::uint8_t { none, open, partly_filled, filled, canceled, rejected };

// One order as seen by one side at the end; both sides' summaries must be equal, byte for byte.
struct OrderSummary {
  std::uint32_t price_ticks = 0;
  std::uint32_t quantity = 0;
  std::uint32_t filled = 0;
  OrderState state = OrderState::none;
  std::array<std::uint8_t, 3> unused{};

  friend bool operator==(const OrderSummary&, const OrderSummary&) = default;
};
static_assert(sizeof(OrderSummary) == 16);

}  // namespace nfx::app::demo
