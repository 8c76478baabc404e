// A list of small numbers, each in it at most once: sessions with something to send, a resend under way, and so on.
// Thread: one owner. Cost: O(1) to add and to test; no allocation after construction. Order: of adding, until
// erase_at() moves the last number to the place of the erased one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"

namespace nfx {

class IndexList {
 public:
  // For numbers below `count`.
  explicit IndexList(std::size_t count) : listed_(count, 0) { items_.reserve(count); }

  // Adds the number unless the list has it.
  void add(std::uint32_t index) {
    NFX_ASSERT(index < listed_.size());
    if (std::exchange(listed_[index], std::uint8_t{1}) != 0) return;
    items_.push_back(index);
  }
  [[nodiscard]] bool contains(std::uint32_t index) const noexcept {
    NFX_ASSERT(index < listed_.size());
    return listed_[index] != 0;
  }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] std::uint32_t operator[](std::size_t place) const noexcept {
    NFX_ASSERT(place < items_.size());
    return items_[place];
  }
  [[nodiscard]] const std::vector<std::uint32_t>& items() const noexcept { return items_; }

  void erase_at(std::size_t place) noexcept {
    NFX_ASSERT(place < items_.size());
    NFX_ASSERT(contains(items_[place]));
    listed_[items_[place]] = 0;
    items_[place] = items_.back();
    items_.pop_back();
  }
  void erase(std::uint32_t index) noexcept {
    if (!contains(index)) return;
    std::erase(items_, index);
    listed_[index] = 0;
  }
  // Empties the list, calling visit(index) for each; what is added meanwhile is visited too.
  template <class Visit>
  void drain(Visit&& visit) {
    for (std::size_t place = 0; place < items_.size(); ++place) {
      const std::uint32_t index = items_[place];
      NFX_ASSERT(contains(index));
      listed_[index] = 0;
      visit(index);
    }
    items_.clear();
  }

 private:
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> listed_;  // by number: whether it is in items_
};

}  // namespace nfx
