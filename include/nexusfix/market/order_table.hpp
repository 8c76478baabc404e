// Finds orders by number: a dense table of cache lines with eight slots each, shared by all books of a feed.
// Neighbouring numbers share a line, because exchanges give them out in sequence. All slots of a line are compared
// without a branch.
// Thread: one owner. Cost: mostly one cache line; the caller compares the order itself. Bounds: `capacity` orders.
// Memory: mapped once; the table doubles inside of it when it is half full, which moves every slot (some ns each). No
// growth occurs below the number of orders expected. Numbers chosen to collide make a search as long as the table is
// full.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"

namespace nfx::market {

class OrderTable {
 public:
  static constexpr std::uint32_t none = 0;  // no order has this index

  OrderTable(std::uint32_t capacity, std::uint32_t expected)
      : bits_max_(line_bits_for(capacity)),
        bits_(std::min(line_bits_for(expected), bits_max_)),
        storage_(map_array<Line>(std::size_t{3} << (bits_max_ - 1), "the table of orders; lower the number of orders",
                                 PageSize::huge)),
        capacity_(capacity) {
    mask_ = (std::uint32_t{1} << bits_) - 1;
    lines_ = region(bits_);
    take_pages(std::span{lines_, std::size_t{1} << bits_});
  }

  // What a search begins with. `salt` separates instruments whose orders may have equal numbers.
  struct Hash {
    std::uint32_t tag;
  };
  [[nodiscard]] static Hash hash_of(std::uint64_t number, std::uint64_t salt) noexcept {
    std::uint64_t group = (number >> group_bits) ^ salt;
    group = (group ^ group >> 32) * 0x9E3779B97F4A7C15;
    constexpr std::uint32_t low = (1u << group_bits) - 1;
    return {static_cast<std::uint32_t>(group >> 35 << group_bits) | (static_cast<std::uint32_t>(number) & low)};
  }

  void prefetch(Hash hash) const noexcept { __builtin_prefetch(&lines_[home(hash.tag)]); }

  // The order of this hash if it is where most are; or none. Without a branch.
  [[nodiscard]] std::uint32_t guess(Hash hash) const noexcept {
    const Line& line = lines_[home(hash.tag)];
    const std::uint32_t found = same(line.tags, hash.tag);
    return line.indexes[first_of(found)] & -static_cast<std::uint32_t>(found != 0);
  }

  // Where an order is; or where it would be, with index none.
  struct Place {
    std::uint32_t at;
    std::uint32_t index;
  };
  // The first of this hash of which `is_it(index)` is true.
  template <class Is>
  [[nodiscard]] Place find(Hash hash, Is&& is_it) const noexcept {
    for (std::uint32_t i = home(hash.tag);; i = (i + 1) & mask_) {
      const Line& line = lines_[i];
      for (std::uint32_t found = same(line.tags, hash.tag); found != 0; found &= found - 1) {
        const std::uint32_t slot = first_of(found);
        const std::uint32_t index = line.indexes[slot];
        if (index != none && is_it(index)) [[likely]]
          return {i * slots + slot, index};
      }
      if (const std::uint32_t empty = same(line.indexes, none); empty != 0) [[likely]]
        return {i * slots + first_of(empty), none};
    }
  }

  // At the place that find() gave since the table was last changed. The table has fewer than `capacity` entries.
  void insert(Place place, Hash hash, std::uint32_t index) noexcept {
    NFX_ASSERT(size_ < capacity_ && index != none && place.index == none);
    if (size_++ >= (mask_ + 1) * (slots / 2)) [[unlikely]] {
      grow();
      return put(hash.tag, index);
    }
    Line& line = lines_[place.at / slots];
    NFX_ASSERT(line.indexes[place.at % slots] == none);
    line.tags[place.at % slots] = hash.tag;
    line.indexes[place.at % slots] = index;
  }

  // What find() gave since the table was last changed.
  void erase(Place place) noexcept {
    Line& line = lines_[place.at / slots];
    NFX_ASSERT(place.index != none && line.indexes[place.at % slots] == place.index);
    --size_;
    if (same(line.indexes, none) == 0) [[unlikely]]
      return erase_from_full(place.at);
    line.indexes[place.at % slots] = none;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  static constexpr unsigned group_bits = 3;
  static constexpr std::uint32_t slots = 1u << group_bits;

  // A cache line. An order is in the line of its hash, or in a line after it if all lines between have no empty slot.
  struct alignas(64) Line {
    std::array<std::uint32_t, slots> tags;     // of the hash, from which the line follows
    std::array<std::uint32_t, slots> indexes;  // none: the slot is empty
  };
  static_assert(sizeof(Line) == 64);

  // A bit for each slot with this value. Without a branch: where an order is in its line cannot be predicted.
  [[nodiscard]] static std::uint32_t same(const std::array<std::uint32_t, slots>& values,
                                          std::uint32_t wanted) noexcept {
#ifdef __SSE2__
    const auto* const from = reinterpret_cast<const __m128i*>(values.data());
    const __m128i all = _mm_set1_epi32(static_cast<int>(wanted));
    const __m128i low = _mm_cmpeq_epi32(_mm_load_si128(from), all);
    const __m128i high = _mm_cmpeq_epi32(_mm_load_si128(from + 1), all);
    const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
#else
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < slots; ++i) bits |= static_cast<std::uint32_t>(values[i] == wanted) << i;
    return bits;
#endif
  }
  // 0 for none.
  [[nodiscard]] static std::uint32_t first_of(std::uint32_t bits) noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(bits)) % slots;
  }

  [[nodiscard]] static constexpr unsigned line_bits_for(std::uint32_t orders) noexcept {
    NFX_REQUIRE(orders <= std::uint32_t{1} << 29);
    return static_cast<unsigned>(std::bit_width(std::uint64_t{2} * std::max<std::uint32_t>(orders, 32) - 1)) -
           group_bits;
  }

  [[nodiscard]] std::uint32_t home(std::uint32_t tag) const noexcept { return tag >> group_bits & mask_; }

  void put(std::uint32_t tag, std::uint32_t index) noexcept {
    std::uint32_t i = home(tag);
    std::uint32_t empty = same(lines_[i].indexes, none);
    while (empty == 0) {
      i = (i + 1) & mask_;
      empty = same(lines_[i].indexes, none);
    }
    lines_[i].tags[first_of(empty)] = tag;
    lines_[i].indexes[first_of(empty)] = index;
  }

  // The largest table is at the beginning; smaller ones alternate between it and the half after it.
  [[nodiscard]] Line* region(unsigned bits) const noexcept {
    return storage_.get() + ((bits_max_ - bits) % 2 == 0 ? 0 : std::size_t{1} << bits_max_);
  }

  [[gnu::cold, gnu::noinline]] void erase_from_full(std::uint32_t at) noexcept {
    std::uint32_t hole = at / slots, slot = at % slots;
    lines_[hole].indexes[slot] = none;
    // An order that is after the hole because its lines were full moves into it, and leaves a hole.
    bool was_full = true;
    for (std::uint32_t i = (hole + 1) & mask_; was_full; i = (i + 1) & mask_) {
      Line& line = lines_[i];
      was_full = same(line.indexes, none) == 0;
      for (std::uint32_t k = 0; k < slots; ++k) {
        if (line.indexes[k] == none || ((i - home(line.tags[k])) & mask_) < ((i - hole) & mask_)) continue;
        lines_[hole].tags[slot] = line.tags[k];
        lines_[hole].indexes[slot] = std::exchange(line.indexes[k], none);
        hole = i;
        slot = k;
        break;
      }
    }
  }

  [[gnu::cold, gnu::noinline]] void grow() noexcept {
    NFX_ASSERT(bits_ < bits_max_);
    Line* const old = lines_;
    const std::size_t count = std::size_t{1} << bits_;
    ++bits_;
    mask_ = (std::uint32_t{1} << bits_) - 1;
    lines_ = region(bits_);
    for (Line& line : std::span{old, count}) {
      for (std::uint32_t k = 0; k < slots; ++k) {
        if (line.indexes[k] != none) put(line.tags[k], line.indexes[k]);
      }
      line = {};
    }
  }

  unsigned bits_max_;  // of the number of lines
  unsigned bits_;
  PageArray<Line> storage_;
  Line* lines_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_;
};

}  // namespace nfx::market
