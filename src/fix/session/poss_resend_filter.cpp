// A bounded hash set in order of insertion, so that remembering an identifier neither allocates nor scans.
#include "session/poss_resend_filter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

PossResendFilter::PossResendFilter(std::uint32_t capacity)
    : capacity_(std::clamp(capacity, 1U, 1U << 30)),
      mask_(std::bit_ceil(2 * capacity_) - 1),
      ring_(std::make_unique<Key[]>(capacity_)),
      slots_(std::make_unique_for_overwrite<std::uint32_t[]>(std::size_t{mask_} + 1)) {
  clear();
}

void PossResendFilter::clear() noexcept {
  size_ = oldest_ = 0;
  std::fill_n(slots_.get(), std::size_t{mask_} + 1, none);
}

// Identifiers of up to 15 bytes are their own key, so two of them never collide. In keys of longer ones the
// top bit is set, which a size of at most 15 leaves clear.
PossResendFilter::Key PossResendFilter::key_of(std::string_view id) noexcept {
  Key key;
  if (id.size() <= 15) {
    char bytes[16] = {};
    if (!id.empty()) std::memcpy(bytes, id.data(), id.size());
    bytes[15] = static_cast<char>(id.size());
    std::memcpy(&key.low, bytes, 8);
    std::memcpy(&key.high, bytes + 8, 8);
    return key;
  }
  std::uint64_t low = 0x9E3779B97F4A7C15u, high = id.size();
  for (std::size_t i = 0; i < id.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, id.data() + i, std::min<std::size_t>(8, id.size() - i));
    low = mix(low ^ word);
    high = mix(high + std::rotl(word, 29) + 0xD1B54A32D192ED03u);
  }
  return {low, high | std::uint64_t{1} << 63};
}

std::uint32_t PossResendFilter::slot_for(const Key& key) const noexcept {
  auto slot = static_cast<std::uint32_t>(mix(key.low ^ std::rotl(key.high, 32))) & mask_;
  NFX_ASSERT(2 * std::uint64_t{size_} <= std::uint64_t{mask_} + 1);  // so that the search finds an empty slot
  while (slots_[slot] != none && ring_[slots_[slot]] != key) slot = (slot + 1) & mask_;
  return slot;
}

bool PossResendFilter::contains(std::string_view id) const noexcept { return slots_[slot_for(key_of(id))] != none; }

bool PossResendFilter::remember(std::string_view id) noexcept {
  const Key key = key_of(id);
  if (slots_[slot_for(key)] != none) return false;
  std::uint32_t place = size_;
  if (size_ == capacity_) {
    place = oldest_;
    forget(ring_[place]);
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
  } else {
    ++size_;
  }
  NFX_ASSERT(place < capacity_ && size_ <= capacity_ && oldest_ < capacity_);
  ring_[place] = key;
  slots_[slot_for(key)] = place;
  return true;
}

// Removes a key from the table and moves the following ones that collided with it.
void PossResendFilter::forget(const Key& key) noexcept {
  std::uint32_t hole = slot_for(key);
  NFX_ASSERT(slots_[hole] < size_ && ring_[slots_[hole]] == key);
  slots_[hole] = none;
  for (std::uint32_t at = (hole + 1) & mask_; slots_[at] != none; at = (at + 1) & mask_) {
    const std::uint32_t place = slots_[at];
    slots_[at] = none;
    slots_[slot_for(ring_[place])] = place;
  }
}

}  // namespace nfx
