#include "engine/peer_addresses.hpp"

#include <algorithm>
#include <tuple>

#include "nexusfix/base/assert.hpp"

namespace nfx {

PeerAddresses::PeerAddresses(const PeerAddressLimits& limits) : limits_(limits) {
  known_.reserve(limits.max_known);
  entries_.reserve(capacity);
}

bool PeerAddresses::is_known(const PeerAddress& address) const noexcept {
  return std::ranges::find(known_, address) != known_.end();
}

void PeerAddresses::remember(const PeerAddress& address) noexcept {
  if (address.is_none() || limits_.max_known == 0) return;
  const auto found = std::ranges::find(known_, address);
  if (found != known_.end()) {
    std::rotate(found, found + 1, known_.end());
    return;
  }
  if (known_.size() == limits_.max_known) known_.erase(known_.begin());
  NFX_ASSERT(known_.size() < known_.capacity());
  known_.push_back(address);
}

bool PeerAddresses::is_held_off(const PeerAddress& address, MonotonicTime now) const noexcept {
  if (held_until_ <= now) return false;
  const auto found = std::ranges::find(entries_, address, &Entry::address);
  return found != entries_.end() && found->held_until > now;
}

void PeerAddresses::hold_off(const PeerAddress& address, MonotonicTime now) noexcept {
  if (limits_.hold_off == Duration::zero() || address.is_none()) return;
  const MonotonicTime until = now + limits_.hold_off;
  entry(address, now).held_until = until;
  held_until_ = std::max(held_until_, until);
}

void PeerAddresses::count_invalid_logon(const PeerAddress& address, MonotonicTime now) noexcept {
  if (address.is_none()) return;
  if (!entry(address, now).invalid_logons.take(now)) hold_off(address, now);
}

PeerAddresses::Entry& PeerAddresses::entry(const PeerAddress& address, MonotonicTime now) noexcept {
  auto found = std::ranges::find(entries_, address, &Entry::address);
  if (found == entries_.end()) {
    if (entries_.size() == capacity) {
      const auto worth = [now](const Entry& each) { return std::tuple{each.held_until > now, each.used}; };
      found = std::ranges::min_element(entries_, {}, worth);
      *found = {};
    } else {
      found = entries_.insert(entries_.end(), Entry{});
    }
    found->address = address;
    found->invalid_logons = TokenBucket{limits_.max_invalid_logons, std::uint64_t{10} * limits_.max_invalid_logons};
  }
  found->used = now;
  return *found;
}

}  // namespace nfx
