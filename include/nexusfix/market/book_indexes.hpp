// How the order books find orders by their numbers (OrderTable) and price levels by their prices (PriceLadder). Both
// give an index; the book keeps the entry at that index. Included by order_book.hpp.
// Thread: one owner, the same as the books'. Cost: mostly one cache line. Bounds: given at construction; the owner
// stays below them. Memory: mapped once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/market/event.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace nfx::market {

// A dense table of cache lines with eight slots each, shared by all books of a feed. Neighbouring numbers share a line,
// because exchanges give them out in sequence. All slots of a line are compared without a branch.
// The caller compares the order itself. The table doubles inside of its memory when it is half full, which moves every
// slot (some ns each). No growth occurs below the number of orders expected. Numbers chosen to collide make a search as
// long as the table is full.
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

  // The start of a search. `salt` separates instruments whose orders may have equal numbers.
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

  // `place` is a result of find() since the table's last change.
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

// The price levels of one side of a book, in order of price. PriceLadder has the best three and the sizes in one cache
// line. LadderRest has the next 32 in a flat array that ends with the best, mostly one or two cache lines more. The
// others are in a tree, O(log n). Arrays and nodes come from the LadderMemory given; an empty ladder is 64 bytes of
// zeros.

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

  // `ladders`: the number with more than three levels; `levels`: the total of their levels.
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

  // The key must be new.
  void insert(LadderMemory& memory, Key key, std::uint32_t level) {
    NFX_ASSERT(find(key) == none);
    (void)find_or_insert(memory, key, [level] { return level; });
  }

  // The key must exist.
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
