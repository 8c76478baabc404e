// The rare part of a ladder: levels far from the best one.
#include "nexusfix/market/price_ladder.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace nfx::market {

void* LadderNodes::do_allocate(std::size_t size, std::size_t alignment) {
  NFX_REQUIRE(size <= block_size && alignment <= alignof(Block));
  if (free_ != nullptr) {
    void* const block = free_;
    std::memcpy(&free_, block, sizeof free_);
    return block;
  }
  NFX_REQUIRE(used_ < count_);
  return &blocks_[used_++];
}

void LadderNodes::do_deallocate(void* block, std::size_t, std::size_t) {
  std::memcpy(block, &free_, sizeof free_);
  free_ = block;
}

std::uint32_t PriceLadder::find_far(Key key) const noexcept {
  const auto found = far_.find(key);
  return found == far_.end() ? none : found->second;
}

void PriceLadder::insert_far(Key key, std::uint32_t level) {
  if (near_size_ == 0 || key < keys_[0]) {
    NFX_ASSERT(near_size_ != 0);  // the tree is empty when the array is
    [[maybe_unused]] const bool added = far_.emplace(key, level).second;
    NFX_ASSERT(added);
    return;
  }
  for (std::uint32_t i = 0; i < moved_at_once; ++i) far_.emplace_hint(far_.end(), keys_[i], levels_[i]);
  near_size_ -= moved_at_once;
  std::memmove(&keys_[0], &keys_[moved_at_once], near_size_ * sizeof keys_[0]);
  std::memmove(&levels_[0], &levels_[moved_at_once], near_size_ * sizeof levels_[0]);
  if (key < keys_[0]) {
    far_.emplace(key, level);
  } else {
    insert_near(place_of(key), key, level);
  }
}

void PriceLadder::erase_far(Key key) {
  [[maybe_unused]] const std::size_t erased = far_.erase(key);
  NFX_ASSERT(erased == 1);
}

void PriceLadder::refill() {
  const auto count = std::min<std::uint32_t>(refill_to - near_size_, static_cast<std::uint32_t>(far_.size()));
  std::memmove(&keys_[count], &keys_[0], near_size_ * sizeof keys_[0]);
  std::memmove(&levels_[count], &levels_[0], near_size_ * sizeof levels_[0]);
  for (std::uint32_t i = count; i-- > 0;) {
    const auto best = std::prev(far_.end());
    keys_[i] = best->first;
    levels_[i] = best->second;
    far_.erase(best);
  }
  near_size_ += count;
}

bool PriceLadder::in_order() const noexcept {
  for (std::uint32_t i = 1; i < near_size_; ++i) {
    if (keys_[i - 1] >= keys_[i]) return false;
  }
  return far_.empty() || (near_size_ != 0 && std::prev(far_.end())->first < keys_[0]);
}

}  // namespace nfx::market
