// Gives each symbol of a feed its place among the books: 0, 1, 2, ... in the order in which they are added.
// Thread: one owner. Cost: find() copies the symbol and mostly compares one cache line. Errors: find() is empty for a
// symbol that was not added. Bounds: `capacity` symbols of at most 31 characters; add() is empty beyond them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

// A short text that is compared and hashed as four words.
struct ShortText {
  static constexpr std::size_t max_size = 31;

  std::array<char, max_size> text{};
  std::uint8_t size = 0;

  ShortText() noexcept = default;
  // The text has at most max_size characters.
  explicit ShortText(std::string_view from) noexcept : size(static_cast<std::uint8_t>(from.size())) {
    NFX_ASSERT(from.size() <= max_size);
    if (!from.empty()) std::memcpy(text.data(), from.data(), from.size());
  }

  [[nodiscard]] std::string_view view() const noexcept { return {text.data(), size}; }
  [[nodiscard]] bool empty() const noexcept { return size == 0; }
  [[nodiscard]] std::uint64_t hash(std::uint64_t salt) const noexcept {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), this, sizeof words);
    std::uint64_t sum = salt;
    for (const std::uint64_t word : words) {
      sum = (sum ^ word) * 0x9E3779B97F4A7C15;
      sum ^= sum >> 29;
    }
    return sum;
  }
  friend bool operator==(const ShortText& a, const ShortText& b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(sizeof(ShortText) == 32);

class SymbolTable {
 public:
  explicit SymbolTable(std::uint32_t capacity);

  // The place of the symbol, which it gets now if it has none. Empty: no place is left, or the text is empty or too
  // long.
  std::optional<InstrumentIndex> add(std::string_view symbol);
  [[nodiscard]] std::optional<InstrumentIndex> find(std::string_view symbol) const noexcept {
    if (symbol.empty() || symbol.size() > ShortText::max_size) [[unlikely]]
      return std::nullopt;
    const ShortText text{symbol};
    const std::uint32_t place = slots_[slot_of(text)];
    if (place == 0) return std::nullopt;
    return InstrumentIndex{place - 1};
  }
  [[nodiscard]] std::string_view symbol(InstrumentIndex index) const noexcept {
    NFX_ASSERT(std::to_underlying(index) < names_.size());
    return names_[std::to_underlying(index)].view();
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(names_.size()); }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  [[nodiscard]] std::size_t slot_of(const ShortText& text) const noexcept {
    std::size_t i = text.hash(0) & mask_;
    while (slots_[i] != 0 && names_[slots_[i] - 1] != text) i = (i + 1) & mask_;
    return i;
  }

  std::uint32_t capacity_;
  std::size_t mask_;
  std::vector<std::uint32_t> slots_;  // 0: empty; else the index plus one. At least half are empty.
  std::vector<ShortText> names_;
};

}  // namespace nfx::market
