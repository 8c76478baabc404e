// Gives each instrument of a feed its place among the books, in the order in which they appear.
// Thread: one owner. Cost: a compare for the instrument of the event before, else mostly one cache line. Bounds:
// `capacity` instruments; those beyond have none. Memory: mapped once; pages are used as instruments appear.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/page_array.hpp"
#include "nexusfix/market/event.hpp"

namespace nfx::market {

class InstrumentTable {
 public:
  explicit InstrumentTable(std::uint32_t capacity)
      : mask_(std::bit_ceil(2 * std::max<std::uint32_t>(capacity, 8)) - 1),
        capacity_(capacity),
        slots_(map_array<Slot>(std::size_t{mask_} + 1, "a table of instruments")),
        ids_(map_array<InstrumentId>(std::max<std::size_t>(capacity, 1), "the instruments' numbers")) {
    NFX_REQUIRE(capacity <= 1u << 30);
  }

  // The place of this instrument, which it gets now if it has none. Empty: there are `capacity` others.
  [[nodiscard]] std::optional<InstrumentIndex> index_of(InstrumentId id) noexcept {
    if (size_ != 0 && id == last_id_) [[likely]]
      return last_;
    return look_up(id);
  }

  // The place of this instrument if it was the last one, without a search.
  [[nodiscard]] std::optional<InstrumentIndex> find_last(InstrumentId id) const noexcept {
    if (size_ == 0 || id != last_id_) return std::nullopt;
    return last_;
  }

  [[nodiscard]] std::optional<InstrumentIndex> find(InstrumentId id) const noexcept {
    const Slot& slot = slots_[slot_of(id)];
    if (slot.place == 0) return std::nullopt;
    return InstrumentIndex{slot.place - 1};
  }

  [[nodiscard]] InstrumentId id(InstrumentIndex index) const noexcept {
    NFX_ASSERT(std::to_underlying(index) < size_);
    return ids_[std::to_underlying(index)];
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  struct Slot {
    InstrumentId id;
    std::uint32_t place;  // 0: empty; else the index plus one
  };

  // Where the instrument is, or the empty slot for it.
  [[nodiscard]] std::size_t slot_of(InstrumentId id) const noexcept {
    std::size_t i = (std::to_underlying(id) * std::uint64_t{0x9E3779B97F4A7C15} >> 32) & mask_;
    while (slots_[i].place != 0 && slots_[i].id != id) i = (i + 1) & mask_;
    return i;
  }

  std::optional<InstrumentIndex> look_up(InstrumentId id) noexcept {
    Slot& slot = slots_[slot_of(id)];
    if (slot.place == 0) {
      if (size_ == capacity_) return std::nullopt;
      ids_[size_] = id;
      slot = {id, ++size_};
    }
    last_id_ = id;
    last_ = InstrumentIndex{slot.place - 1};
    return last_;
  }

  std::uint32_t mask_;
  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
  InstrumentId last_id_{};
  InstrumentIndex last_{};
  PageArray<Slot> slots_;
  PageArray<InstrumentId> ids_;  // by index
};

}  // namespace nfx::market
