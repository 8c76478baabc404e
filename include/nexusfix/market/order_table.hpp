// Finds orders by number: a dense table of 8-byte slots with open addressing, shared by all books of a feed.
// Neighbouring numbers share a cache line, because exchanges give them out in sequence.
// Thread: one owner. Cost: mostly one cache line; the caller compares the order itself. Bounds: `capacity` orders.
// Memory: mapped once; the table doubles inside of it when it is half full, which moves every slot (some ns each). No
// growth occurs below the number of orders expected. Numbers chosen to collide make a search as long as the table is
// full.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"

namespace nfx::market {

class OrderTable {
 public:
  static constexpr std::uint32_t none = 0;  // no order has this index

  OrderTable(std::uint32_t capacity, std::uint32_t expected)
      : bits_max_(bits_for(capacity)),
        bits_(std::min(bits_for(expected), bits_max_)),
        storage_(map_array<Slot>(std::size_t{3} << (bits_max_ - 1), "the table of orders; lower the number of orders",
                                 PageSize::huge)),
        capacity_(capacity) {
    mask_ = (std::uint32_t{1} << bits_) - 1;
    slots_ = region(bits_);
    take_pages(std::span{slots_, std::size_t{1} << bits_});
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

  void prefetch(Hash hash) const noexcept { __builtin_prefetch(&slots_[home(hash.tag)]); }

  // The order of this hash if it is where most are; or none. Without a branch.
  [[nodiscard]] std::uint32_t guess(Hash hash) const noexcept {
    const Slot slot = slots_[home(hash.tag)];
    return slot.index & -static_cast<std::uint32_t>(slot.tag == hash.tag);
  }

  // Where an order is; or where it would be, with index none.
  struct Place {
    std::uint32_t at;
    std::uint32_t index;
  };
  // The first of this hash of which `is_it(index)` is true.
  template <class Is>
  [[nodiscard]] Place find(Hash hash, Is&& is_it) const noexcept {
    for (std::uint32_t i = home(hash.tag);; i = (i + 1) & mask()) {
      const Slot slot = slots_[i];
      if (slot.index == none || (slot.tag == hash.tag && is_it(slot.index))) return {i, slot.index};
    }
  }

  // At the place that find() gave since the table was last changed. The table has fewer than `capacity` entries.
  void insert(Place place, Hash hash, std::uint32_t index) noexcept {
    NFX_ASSERT(size_ < capacity_ && index != none && place.index == none && slots_[place.at].index == none);
    if (size_++ > mask_ / 2) [[unlikely]] {
      grow();
      return this->place({hash.tag, index});
    }
    slots_[place.at] = {hash.tag, index};
  }

  // What find() gave since the table was last changed.
  void erase(Place place) noexcept {
    std::uint32_t hole = place.at;
    NFX_ASSERT(place.index != none && slots_[hole].index == place.index);
    // What follows moves up to the hole, if its home is not after the hole.
    for (std::uint32_t i = (hole + 1) & mask(); slots_[i].index != none; i = (i + 1) & mask()) {
      if (((i - home(slots_[i].tag)) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = {};
    --size_;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  static constexpr unsigned group_bits = 3;  // the slots of a cache line

  struct Slot {
    std::uint32_t tag;    // of the hash, from which its home follows
    std::uint32_t index;  // none: empty
  };

  [[nodiscard]] static constexpr unsigned bits_for(std::uint32_t orders) noexcept {
    NFX_REQUIRE(orders <= std::uint32_t{1} << 29);
    return static_cast<unsigned>(std::bit_width(std::uint64_t{2} * std::max<std::uint32_t>(orders, 32) - 1));
  }

  [[nodiscard]] std::uint32_t mask() const noexcept { return mask_; }
  [[nodiscard]] std::uint32_t home(std::uint32_t tag) const noexcept { return tag & mask_; }

  void place(Slot slot) noexcept {
    std::uint32_t i = home(slot.tag);
    while (slots_[i].index != none) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  // The largest table is at the beginning; smaller ones alternate between it and the half after it.
  [[nodiscard]] Slot* region(unsigned bits) const noexcept {
    return storage_.get() + ((bits_max_ - bits) % 2 == 0 ? 0 : std::size_t{1} << bits_max_);
  }

  [[gnu::cold, gnu::noinline]] void grow() noexcept {
    NFX_ASSERT(bits_ < bits_max_);
    Slot* const old = slots_;
    const std::size_t count = std::size_t{1} << bits_;
    ++bits_;
    mask_ = (std::uint32_t{1} << bits_) - 1;
    slots_ = region(bits_);
    for (std::size_t i = 0; i < count; ++i) {
      if (old[i].index != none) place(old[i]);
      old[i] = {};
    }
  }

  unsigned bits_max_;
  unsigned bits_;
  PageArray<Slot> storage_;
  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_;
};

}  // namespace nfx::market
