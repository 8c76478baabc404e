// The price levels of one side of a book, in order of price: the best three and the sizes in one cache line; the
// next ones in a flat array that ends with the best; the others in a tree. A book finds a level by its price here and
// keeps what is at it elsewhere, by index. Thread: one owner. Cost: one cache line for the best three levels, mostly
// one or two more for the next 32; beyond them a search in the tree, O(log n). Memory: arrays and nodes come from the
// LadderMemory given; an empty ladder is 64 bytes of zeros. Bounds: LadderMemory's; the owner stays below them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <type_traits>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

// A key orders prices from worst to best on both sides.
using LadderKey = std::uint64_t;

struct LadderEntry {
  LadderKey key;
  std::uint32_t level;
};

// The levels of a ladder but for the best three.
struct alignas(64) LadderRest {
  static constexpr std::uint32_t capacity = 32;
  static constexpr std::uint32_t counted = 4;  // of the best, when a place is looked for

  explicit LadderRest(std::pmr::memory_resource& nodes) : far(&nodes) {}
  [[nodiscard]] LadderEntry* near() noexcept { return slots.data() + counted; }

  // In ascending order of keys: the best is the last one. The first `counted` have the lowest key, below every level.
  std::array<LadderEntry, std::size_t{counted} + capacity> slots{};
  std::pmr::map<LadderKey, std::uint32_t> far;  // worse than every level of the array; empty if that is empty
};

// The memory of all ladders of a feed, mapped once.
class LadderMemory final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t node_size = 64;

  // `ladders`: those of more than three levels; `levels`: of all of them together.
  LadderMemory(std::size_t ladders, std::size_t levels);

  [[nodiscard, gnu::cold, gnu::noinline]] LadderRest* take_rest() {
    NFX_REQUIRE(rests_.size() < rests_.capacity());
    return &rests_.emplace_back(*this);
  }

 private:
  struct Node {
    alignas(16) std::array<std::byte, node_size> bytes;
  };

  void* do_allocate(std::size_t size, std::size_t alignment) override;
  void do_deallocate(void* node, std::size_t size, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  PageArray<Node> nodes_;
  std::size_t count_;
  std::size_t used_ = 0;  // nodes that were taken at least once
  void* free_ = nullptr;  // each free node begins with the address of the next one
  std::vector<LadderRest, HugePageAllocator<LadderRest>> rests_;
};

class alignas(64) PriceLadder {
 public:
  using Key = LadderKey;
  [[nodiscard]] static constexpr Key key_of(Side side, Price price) noexcept {
    const Key key = static_cast<Key>(price.nano) ^ Key { 1 } << 63;
    return key ^ (Key{0} - Key{side != Side::bid});  // without a branch: the side cannot be predicted
  }

  static constexpr std::uint32_t none = 0;  // no level has this index

  [[nodiscard]] std::uint32_t size() const noexcept { return std::uint32_t{top_size_} + near_size_ + far_size_; }

  [[nodiscard]] std::uint32_t best() const noexcept { return top_[0].level; }
  [[nodiscard]] std::uint32_t worst() const noexcept {
    if (far_size_ != 0) return rest_->far.begin()->second;
    if (near_size_ != 0) return rest_->near()[0].level;
    return top_size_ == 0 ? none : top_[top_size_ - 1].level;
  }

  // Starts loading the levels after the best three. The ladder itself is loaded before. Without any it is the ladder:
  // an address that is not mapped would cost a search in the page tables.
  void prefetch_rest() const noexcept {
    const auto own = reinterpret_cast<std::uintptr_t>(this);
    const auto near =
        reinterpret_cast<std::uintptr_t>(rest_) + (std::size_t{counted} + near_size_ - 1) * sizeof(LadderEntry);
    const auto has_rest = std::uintptr_t{0} - hidden<std::uintptr_t>(rest_ != nullptr);
    __builtin_prefetch(reinterpret_cast<const void*>(own ^ ((own ^ near) & has_rest)));
  }

  // The level with this key, unless it is in the tree; otherwise another one, or none.
  [[nodiscard]] std::uint32_t guess(Key key) const noexcept {
    const std::uint32_t better = better_of_top(key);
    if (better < top_capacity) return top_[better].level;
    const std::uint32_t place = place_of(key);
    return place == 0 ? none : rest_->near()[place - 1].level;
  }

  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    const std::uint32_t better = better_of_top(key);
    if (better < top_capacity) [[likely]]
      return top_[better].key == key ? top_[better].level : none;  // none too where there is no level
    return find_after_top(place_of(key), key);
  }

  // The level with this key, or a new one from `make()`, which may give none.
  template <class Make>
  std::uint32_t find_or_insert(LadderMemory& memory, Key key, Make&& make) {
    const std::uint32_t better = better_of_top(key);
    if (better < top_capacity) [[likely]] {
      const LadderEntry found = top_[better];
      if (found.key == key && found.level != none) return found.level;
      const std::uint32_t level = make();
      if (level != none) [[likely]]
        insert_top(memory, better, {key, level});
      return level;
    }
    const std::uint32_t place = place_of(key);
    std::uint32_t level = find_after_top(place, key);
    if (level != none) return level;
    level = make();
    if (level != none) [[likely]]
      insert_rest(memory, place, {key, level});
    return level;
  }

  // The key is not there yet.
  void insert(LadderMemory& memory, Key key, std::uint32_t level) {
    NFX_ASSERT(find(key) == none);
    (void)find_or_insert(memory, key, [level] { return level; });
  }

  // The key is there.
  void erase(Key key) {
    const std::uint32_t better = better_of_top(key);
    if (better == top_capacity) {
      erase_rest(key);
      return;
    }
    NFX_ASSERT(better < top_size_ && top_[better].key == key);
    for (std::uint32_t i = 0; i + 1 < top_capacity; ++i) top_[i] = top_[i + is_below(better, i + 1)];
    if (near_size_ == 0) {
      top_[--top_size_] = {};
      return;
    }
    top_[top_capacity - 1] = rest_->near()[--near_size_];
    if (near_size_ < refill_below && far_size_ != 0) [[unlikely]]
      refill();
  }

  void clear() noexcept {
    if (far_size_ != 0) rest_->far.clear();
    top_.fill({});
    top_size_ = near_size_ = 0;
    far_size_ = 0;
  }

  // Calls with each level's index, from the best to the worst, until it returns false.
  template <class Call>
  void for_each(Call&& call) const {
    for (std::uint32_t i = 0; i < top_size_; ++i) {
      if (!call(top_[i].level)) return;
    }
    for (std::uint32_t i = near_size_; i-- > 0;) {
      if (!call(rest_->near()[i].level)) return;
    }
    if (far_size_ == 0) return;
    for (auto far = rest_->far.rbegin(); far != rest_->far.rend(); ++far) {
      if (!call(far->second)) return;
    }
  }

  // For tests and debug builds: all levels are in order, and none is after a part that has space.
  [[nodiscard]] bool in_order() const noexcept;

 private:
  static constexpr std::uint32_t top_capacity = 3;
  static constexpr std::uint32_t near_capacity = LadderRest::capacity;
  static constexpr std::uint32_t counted = LadderRest::counted;
  static constexpr std::uint32_t moved_at_once = 8;  // from the array to the tree, when the array is full
  static constexpr std::uint32_t refill_below = 8;   // so few are left in the array that it is filled from the tree
  static constexpr std::uint32_t refill_to = 16;

  // A number that the compiler does not know: it would make branches of what it is computed from.
  template <class Number>
  [[nodiscard, gnu::always_inline]] static Number hidden(Number number) noexcept {
    asm("" : "+r"(number));
    return number;
  }

  // 1 or 0 for numbers below 2^31, by arithmetic alone.
  [[nodiscard]] static constexpr std::uint32_t is_below(std::uint32_t number, std::uint32_t other) noexcept {
    return (number - other) >> 31;
  }

  // How many of the best three are better than `key`. Which one it is cannot be predicted: there is no branch on it.
  // Where there is no level the key is 0, the lowest.
  [[nodiscard]] std::uint32_t better_of_top(Key key) const noexcept {
    std::uint32_t better = 0;
    for (const LadderEntry& entry : top_) better += entry.key > key ? 1 : 0;
    return hidden(better);
  }

  // In the array: one more than the place of the best key that is not better than `key`; 0 if all are better. Levels
  // are counted some at a time.
  [[nodiscard]] std::uint32_t place_of(Key key) const noexcept {
    if (near_size_ == 0) return 0;
    const LadderEntry* end = rest_->near() + near_size_;
    std::uint32_t place = near_size_, better = 0;
    do {
      better = 0;
      for (std::uint32_t i = 1; i <= counted; ++i) better += (end - i)->key > key ? 1 : 0;
      better = hidden(better);
      place -= better;
      end -= counted;
    } while (better == counted);
    return place;
  }

  [[nodiscard]] std::uint32_t find_after_top(std::uint32_t place, Key key) const noexcept {
    if (place != 0) {
      const LadderEntry& found = rest_->near()[place - 1];
      return found.key == key ? found.level : none;
    }
    return far_size_ == 0 ? none : find_far(key);
  }

  void insert_top(LadderMemory& memory, std::uint32_t place, LadderEntry entry) {
    NFX_ASSERT(place <= top_size_);
    if (top_size_ == top_capacity) {
      insert_rest(memory, near_size_, top_[top_capacity - 1]);
    } else {
      ++top_size_;
    }
    for (std::uint32_t i = top_capacity - 1; i > 0; --i) top_[i] = top_[i - is_below(place, i)];
    top_[place] = entry;
  }

  void insert_rest(LadderMemory& memory, std::uint32_t place, LadderEntry entry) {
    if (near_size_ == near_capacity || (place == 0 && far_size_ != 0)) [[unlikely]] {
      insert_far(entry);
      return;
    }
    if (rest_ == nullptr) [[unlikely]]
      rest_ = memory.take_rest();
    insert_near(place, entry);
  }

  void insert_near(std::uint32_t place, LadderEntry entry) noexcept {
    NFX_ASSERT(near_size_ < near_capacity && place <= near_size_);
    LadderEntry* const at = rest_->near() + place;
    if (place != near_size_) std::memmove(at + 1, at, (near_size_ - place) * sizeof(LadderEntry));
    *at = entry;
    ++near_size_;
  }

  [[nodiscard, gnu::noinline]] std::uint32_t find_far(Key key) const noexcept;
  [[gnu::noinline]] void insert_far(LadderEntry entry);
  [[gnu::noinline]] void erase_rest(Key key);
  [[gnu::noinline]] void refill();

  std::array<LadderEntry, top_capacity> top_;  // the best is the first one
  LadderRest* rest_;                           // until there are more than three levels: none
  std::uint32_t far_size_;
  std::uint16_t near_size_;
  std::uint16_t top_size_;
};
static_assert(std::is_trivial_v<PriceLadder> && sizeof(PriceLadder) == 64);

}  // namespace nfx::market
