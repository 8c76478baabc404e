// The rare part of a ladder: levels far from the best one.
#include "nexusfix/market/book_indexes.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace nfx::market {

LadderMemory::LadderMemory(std::size_t ladders, std::size_t levels)
    : nodes_(map_array<Node>(levels, "price levels far from the best; lower the number of levels", PageSize::huge)),
      count_(levels) {
  rests_.reserve(ladders);
}

void* LadderMemory::do_allocate(std::size_t size, std::size_t alignment) {
  NFX_REQUIRE(size <= node_size && alignment <= alignof(Node));
  if (free_ != nullptr) {
    void* const node = free_;
    std::memcpy(&free_, node, sizeof free_);
    return node;
  }
  NFX_REQUIRE(used_ < count_);
  return &nodes_[used_++];
}

void LadderMemory::do_deallocate(void* node, std::size_t, std::size_t) {
  std::memcpy(node, &free_, sizeof free_);
  free_ = node;
}

std::uint32_t PriceLadder::find_far(Key key) const noexcept {
  const auto found = rest_->far.find(key);
  return found == rest_->far.end() ? none : found->second;
}

void PriceLadder::insert_far(LadderEntry entry) {
  LadderEntry* const near = rest_->near();
  auto& far = rest_->far;
  NFX_ASSERT(near_size_ != 0);  // the tree is empty when the array is
  if (entry.key < near[0].key) {
    [[maybe_unused]] const bool added = far.emplace(entry.key, entry.level).second;
    NFX_ASSERT(added);
    ++far_size_;
    return;
  }
  NFX_ASSERT(near_size_ == near_capacity);
  for (std::uint32_t i = 0; i < moved_at_once; ++i) far.emplace_hint(far.end(), near[i].key, near[i].level);
  far_size_ += moved_at_once;
  near_size_ = static_cast<std::uint16_t>(near_size_ - moved_at_once);
  std::memmove(near, near + moved_at_once, near_size_ * sizeof(LadderEntry));
  if (entry.key < near[0].key) {
    far.emplace(entry.key, entry.level);
    ++far_size_;
  } else {
    insert_near(place_of(entry.key), entry);
  }
}

void PriceLadder::erase_rest(Key key) {
  const std::uint32_t place = place_of(key);
  if (place == 0) {
    [[maybe_unused]] const std::size_t erased = rest_->far.erase(key);
    NFX_ASSERT(erased == 1);
    --far_size_;
    return;
  }
  LadderEntry* const found = rest_->near() + place - 1;
  NFX_ASSERT(found->key == key);
  std::memmove(found, found + 1, (near_size_ - place) * sizeof(LadderEntry));
  --near_size_;
  if (near_size_ < refill_below && far_size_ != 0) refill();
}

void PriceLadder::refill() {
  LadderEntry* const near = rest_->near();
  auto& far = rest_->far;
  const std::uint32_t count = std::min(refill_to - near_size_, far_size_);
  std::memmove(near + count, near, near_size_ * sizeof(LadderEntry));
  for (std::uint32_t i = count; i-- > 0;) {
    const auto best = std::prev(far.end());
    near[i] = {best->first, best->second};
    far.erase(best);
  }
  near_size_ += static_cast<std::uint16_t>(count);
  far_size_ -= count;
}

bool PriceLadder::in_order() const noexcept {
  bool good = top_size_ == top_capacity || near_size_ == 0;
  good = good && (near_size_ != 0 || far_size_ == 0);
  for (std::uint32_t i = 1; i < top_size_; ++i) good = good && top_[i - 1].key > top_[i].key;
  for (std::uint32_t i = top_size_; i < top_capacity; ++i) good = good && top_[i].key == 0 && top_[i].level == none;
  if (near_size_ == 0) return good;
  const LadderEntry* const near = rest_->near();
  good = good && near[near_size_ - 1].key < top_[top_capacity - 1].key;
  for (std::uint32_t i = 1; i < near_size_; ++i) good = good && near[i - 1].key < near[i].key;
  const auto& far = rest_->far;
  return good && far.size() == far_size_ && (far.empty() || std::prev(far.end())->first < near[0].key);
}

}  // namespace nfx::market
