// A hash table with chains over a fixed array of nodes, which are also linked in the order of their last use.
#include "engine/address_index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "nexusfix/base/assert.hpp"

namespace nfx {

AddressIndex::AddressIndex(std::size_t capacity) : nodes_(capacity), buckets_(std::bit_ceil(2 * capacity + 1), none) {
  NFX_REQUIRE(capacity < none);
  std::random_device random;
  for (std::uint64_t& each : seed_) each = std::uint64_t{random()} << 32 | random();
  for (std::size_t i = capacity; i-- > 0;) {
    nodes_[i].next = free_;
    free_ = static_cast<Place>(i);
  }
}

// Multiply-shift: two addresses chosen without the seed have the same hash with a probability of 2^-32.
std::size_t AddressIndex::bucket(const PeerAddress& address) const noexcept {
  std::array<std::uint32_t, 4> words;
  static_assert(sizeof words == sizeof address.bytes);
  std::memcpy(words.data(), address.bytes.data(), sizeof words);
  std::uint64_t hash = seed_[4];
  for (std::size_t i = 0; i < words.size(); ++i) hash += seed_[i] * words[i];
  return static_cast<std::size_t>(hash >> 32) & (buckets_.size() - 1);
}

std::optional<AddressIndex::Place> AddressIndex::find(const PeerAddress& address) const noexcept {
  Place at = buckets_[bucket(address)];
  while (at != none && nodes_[at].address != address) at = nodes_[at].next;
  return some(at);
}

AddressIndex::Place AddressIndex::insert(const PeerAddress& address) noexcept {
  NFX_ASSERT(!full() && free_ != none && !find(address));
  const Place place = free_;
  Node& node = nodes_[place];
  free_ = node.next;
  Place& first = buckets_[bucket(address)];
  node = {.address = address, .next = first};
  first = place;
  ++size_;
  append_newest(place);
  return place;
}

void AddressIndex::erase(Place place) noexcept {
  NFX_ASSERT(find(nodes_[place].address) == place);
  take_from_order(place);
  Place* at = &buckets_[bucket(nodes_[place].address)];
  while (*at != place) at = &nodes_[*at].next;
  *at = nodes_[place].next;
  nodes_[place] = {.next = free_};
  free_ = place;
  --size_;
}

void AddressIndex::use(Place place) noexcept {
  NFX_ASSERT(find(nodes_[place].address) == place);
  take_from_order(place);
  append_newest(place);
}

void AddressIndex::append_newest(Place place) noexcept {
  nodes_[place].older = newest_;
  nodes_[place].newer = none;
  (newest_ == none ? oldest_ : nodes_[newest_].newer) = place;
  newest_ = place;
}

void AddressIndex::take_from_order(Place place) noexcept {
  const Node& node = nodes_[place];
  (node.older == none ? oldest_ : nodes_[node.older].newer) = node.newer;
  (node.newer == none ? newest_ : nodes_[node.newer].older) = node.older;
}

}  // namespace nfx
