// When each of a fixed set of items is next due: the earliest in O(1), a change in O(log n), no allocation after start.
// Thread: one owner.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

class DeadlineHeap {
 public:
  // Item numbers are 0 to count - 1; all start without a deadline.
  explicit DeadlineHeap(std::size_t count) : due_(count, MonotonicTime::max()), heap_(count), place_(count) {
    for (std::uint32_t i = 0; i < count; ++i) heap_[i] = place_[i] = i;
  }

  void set(std::uint32_t item, MonotonicTime due) noexcept {
    NFX_ASSERT(item < due_.size());
    NFX_ASSERT(heap_[place_[item]] == item);
    const MonotonicTime before = std::exchange(due_[item], due);
    if (due < before) {
      sift_up(place_[item]);
    } else if (due > before) {
      sift_down(place_[item]);
    }
    NFX_ASSERT(earliest() <= due);
  }
  [[nodiscard]] MonotonicTime due(std::uint32_t item) const noexcept {
    NFX_ASSERT(item < due_.size());
    return due_[item];
  }
  [[nodiscard]] MonotonicTime earliest() const noexcept {
    return heap_.empty() ? MonotonicTime::max() : due_[heap_[0]];
  }
  [[nodiscard]] std::uint32_t earliest_item() const noexcept {
    NFX_ASSERT(!heap_.empty());
    return heap_[0];
  }

 private:
  void put(std::size_t place, std::uint32_t item) noexcept {
    heap_[place] = item;
    place_[item] = static_cast<std::uint32_t>(place);
  }
  void sift_up(std::size_t place) noexcept {
    const std::uint32_t item = heap_[place];
    while (place != 0) {
      const std::size_t parent = (place - 1) / 2;
      if (due_[heap_[parent]] <= due_[item]) break;
      put(place, heap_[parent]);
      place = parent;
    }
    put(place, item);
  }
  void sift_down(std::size_t place) noexcept {
    const std::uint32_t item = heap_[place];
    for (;;) {
      std::size_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && due_[heap_[child + 1]] < due_[heap_[child]]) ++child;
      if (due_[item] <= due_[heap_[child]]) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, item);
  }

  std::vector<MonotonicTime> due_;
  std::vector<std::uint32_t> heap_;   // item numbers, the earliest first
  std::vector<std::uint32_t> place_;  // of each item in heap_
};

}  // namespace nfx
