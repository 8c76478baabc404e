// Adding symbols, which is done before the first message.
#include "market/symbol_table.hpp"

#include <algorithm>
#include <bit>

namespace nfx::market {

SymbolTable::SymbolTable(std::uint32_t capacity)
    : capacity_(capacity), mask_(std::bit_ceil(std::size_t{2} * std::max<std::uint32_t>(capacity, 4)) - 1) {
  NFX_REQUIRE(capacity <= 1u << 24);
  slots_.resize(mask_ + 1);
  names_.reserve(capacity);
}

std::optional<InstrumentIndex> SymbolTable::add(std::string_view symbol) {
  if (const auto known = find(symbol)) return known;
  if (symbol.empty() || symbol.size() > ShortText::max_size || names_.size() == capacity_) return std::nullopt;
  const ShortText text{symbol};
  const std::size_t slot = slot_of(text);
  names_.push_back(text);
  slots_[slot] = size();
  return InstrumentIndex{size() - 1};
}

}  // namespace nfx::market
