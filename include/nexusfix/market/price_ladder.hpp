// The price levels of one side of a book, in order of price: the best ones in a flat array that ends with the best, the
// others in a tree. A book finds a level by its price here and keeps what is at it elsewhere, by index.
// Thread: one owner. Cost: among the best 32 levels a scan from the best one, mostly one cache line; beyond them a
// search in the tree, O(log n). Memory: the tree's nodes come from the LadderNodes given, which allocates nothing.
// Bounds: as many levels as LadderNodes has nodes; the owner stays below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

// Blocks for the nodes of the trees of all ladders of a feed, taken from memory mapped once.
class LadderNodes final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t block_size = 64;

  explicit LadderNodes(std::size_t count)
      : blocks_(map_array<Block>(count, "price levels far from the best; lower the number of levels")), count_(count) {}

 private:
  struct Block {
    alignas(16) std::array<std::byte, block_size> bytes;
  };

  void* do_allocate(std::size_t size, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t size, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  PageArray<Block> blocks_;
  std::size_t count_;
  std::size_t used_ = 0;  // blocks that were taken at least once
  void* free_ = nullptr;  // each free block begins with the address of the next one
};

class PriceLadder {
 public:
  // A key orders prices from worst to best on both sides.
  using Key = std::int64_t;
  [[nodiscard]] static constexpr Key key_of(Side side, Price price) noexcept {
    return side == Side::bid ? price.nano : ~price.nano;
  }

  static constexpr std::uint32_t none = 0;  // no level has this index

  explicit PriceLadder(LadderNodes& nodes) : far_(&nodes) {}

  [[nodiscard]] std::uint32_t size() const noexcept { return near_size_ + static_cast<std::uint32_t>(far_.size()); }

  [[nodiscard]] std::uint32_t best() const noexcept { return near_size_ == 0 ? none : levels_[near_size_ - 1]; }
  [[nodiscard]] std::uint32_t worst() const noexcept {
    return far_.empty() ? (near_size_ == 0 ? none : levels_[0]) : far_.begin()->second;
  }

  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    const std::uint32_t place = place_of(key);
    if (place != 0) return keys_[place - 1] == key ? levels_[place - 1] : none;
    return far_.empty() ? none : find_far(key);
  }

  // The key is not there yet.
  void insert(Key key, std::uint32_t level) {
    const std::uint32_t place = place_of(key);
    NFX_ASSERT(place == 0 || keys_[place - 1] != key);
    if ((place == 0 && !far_.empty()) || near_size_ == near_capacity) [[unlikely]] {
      insert_far(key, level);
      return;
    }
    insert_near(place, key, level);
  }

  // The key is there.
  void erase(Key key) {
    const std::uint32_t place = place_of(key);
    if (place == 0) [[unlikely]] {
      erase_far(key);
      return;
    }
    NFX_ASSERT(keys_[place - 1] == key);
    const std::uint32_t after = near_size_ - place;
    std::memmove(&keys_[place - 1], &keys_[place], after * sizeof keys_[0]);
    std::memmove(&levels_[place - 1], &levels_[place], after * sizeof levels_[0]);
    --near_size_;
    if (near_size_ < refill_below && !far_.empty()) [[unlikely]]
      refill();
  }

  void clear() noexcept {
    near_size_ = 0;
    far_.clear();
  }

  // Calls with each level's index, from the best to the worst, until it returns false.
  template <class Call>
  void for_each(Call&& call) const {
    for (std::uint32_t i = near_size_; i-- > 0;) {
      if (!call(levels_[i])) return;
    }
    for (auto far = far_.rbegin(); far != far_.rend(); ++far) {
      if (!call(far->second)) return;
    }
  }

  // For tests and debug builds: every level of the tree is worse than those of the array, and both are in order.
  [[nodiscard]] bool in_order() const noexcept;

 private:
  static constexpr std::uint32_t near_capacity = 32;
  static constexpr std::uint32_t moved_at_once = 8;  // from the array to the tree, when the array is full
  static constexpr std::uint32_t refill_below = 8;   // so few are left in the array that it is filled from the tree
  static constexpr std::uint32_t refill_to = 16;

  // One more than the place of the best key that is not better than `key`; 0 if all are better.
  [[nodiscard]] std::uint32_t place_of(Key key) const noexcept {
    std::uint32_t place = near_size_;
    while (place != 0 && keys_[place - 1] > key) --place;
    return place;
  }

  void insert_near(std::uint32_t place, Key key, std::uint32_t level) noexcept {
    const std::uint32_t after = near_size_ - place;
    std::memmove(&keys_[place + 1], &keys_[place], after * sizeof keys_[0]);
    std::memmove(&levels_[place + 1], &levels_[place], after * sizeof levels_[0]);
    keys_[place] = key;
    levels_[place] = level;
    ++near_size_;
  }

  [[gnu::noinline]] std::uint32_t find_far(Key key) const noexcept;
  [[gnu::noinline]] void insert_far(Key key, std::uint32_t level);
  [[gnu::noinline]] void erase_far(Key key);
  [[gnu::noinline]] void refill();

  std::uint32_t near_size_ = 0;
  std::array<Key, near_capacity> keys_;              // ascending: the best is the last one
  std::array<std::uint32_t, near_capacity> levels_;  // of the same places
  std::pmr::map<Key, std::uint32_t> far_;            // worse than every level of the array; empty if that is empty
};

}  // namespace nfx::market
