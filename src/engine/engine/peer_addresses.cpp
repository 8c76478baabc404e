// Remembers addresses that logged on, and holds off addresses that send invalid messages; both lists are bounded.
#include "engine/peer_addresses.hpp"

#include <algorithm>

#include "nexusfix/base/assert.hpp"

namespace nfx {

PeerAddresses::PeerAddresses(const PeerAddressLimits& limits)
    : limits_(limits),
      known_(limits.max_known),
      misbehaved_(capacity),
      entries_(capacity),
      logged_on_(capacity),
      logons_(capacity) {}

bool PeerAddresses::is_known(const PeerAddress& address) const noexcept {
  return known_.find(address.subnet()).has_value();
}

void PeerAddresses::remember(const PeerAddress& address) noexcept {
  if (address.is_none() || limits_.max_known == 0) return;
  if (const auto found = known_.find(address.subnet())) return known_.use(*found);
  if (known_.full()) known_.erase(*known_.oldest());
  known_.insert(address.subnet());
}

bool PeerAddresses::is_held_off(const PeerAddress& address, MonotonicTime now) const noexcept {
  if (held_until_ <= now) return false;
  const auto found = misbehaved_.find(address.subnet());
  return found && entries_[*found].held_until > now;
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

bool PeerAddresses::take_logon(const PeerAddress& address, MonotonicTime now) noexcept {
  if (limits_.max_logons == 0 || address.is_none()) return true;
  const PeerAddress subnet = address.subnet();
  auto place = logged_on_.find(subnet);
  if (place) {
    logged_on_.use(*place);
  } else {
    if (logged_on_.full()) logged_on_.erase(*logged_on_.oldest());
    place = logged_on_.insert(subnet);
    logons_[*place] = TokenBucket{limits_.max_logons, std::uint64_t{10} * limits_.max_logons};
  }
  return logons_[*place].take(now);
}

PeerAddresses::Entry& PeerAddresses::entry(const PeerAddress& address, MonotonicTime now) noexcept {
  const PeerAddress subnet = address.subnet();
  NFX_ASSERT(!subnet.is_none());
  if (const auto found = misbehaved_.find(subnet)) {
    misbehaved_.use(*found);
    return entries_[*found];
  }
  if (misbehaved_.full()) {
    auto place = misbehaved_.oldest();
    while (place && entries_[*place].held_until > now) place = misbehaved_.used_after(*place);
    misbehaved_.erase(place ? *place : *misbehaved_.oldest());
  }
  Entry& added = entries_[misbehaved_.insert(subnet)];
  added = {.invalid_logons = TokenBucket{limits_.max_invalid_logons, std::uint64_t{10} * limits_.max_invalid_logons}};
  return added;
}

}  // namespace nfx
