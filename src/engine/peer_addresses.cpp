#include "engine/peer_addresses.hpp"

#include <algorithm>
#include <tuple>

#include "nexusfix/base/assert.hpp"

namespace nfx {

std::string_view PeerAddresses::host_of(std::string_view peer) noexcept {
  return peer.substr(0, peer.rfind(':')).substr(0, longest_host);
}

bool PeerAddresses::is_held_off(std::string_view peer, MonotonicTime now) const noexcept {
  if (held_until_ <= now) return false;
  const auto found = std::ranges::find(entries_, host_of(peer), &Entry::name);
  return found != entries_.end() && found->held_until > now;
}

void PeerAddresses::hold_off(std::string_view peer, MonotonicTime now) noexcept {
  if (limits_.hold_off == Duration::zero() || peer.empty()) return;
  const MonotonicTime until = now + limits_.hold_off;
  entry(peer, now).held_until = until;
  held_until_ = std::max(held_until_, until);
}

void PeerAddresses::count_invalid_logon(std::string_view peer, MonotonicTime now) noexcept {
  if (!entry(peer, now).invalid_logons.take(now)) hold_off(peer, now);
}

PeerAddresses::Entry& PeerAddresses::entry(std::string_view peer, MonotonicTime now) noexcept {
  const std::string_view host = host_of(peer);
  auto found = std::ranges::find(entries_, host, &Entry::name);
  if (found == entries_.end()) {
    if (entries_.size() == capacity) {
      const auto worth = [now](const Entry& each) { return std::tuple{each.held_until > now, each.used}; };
      found = std::ranges::min_element(entries_, {}, worth);
      *found = {};
    } else {
      found = entries_.insert(entries_.end(), Entry{});
    }
    NFX_ASSERT(host.size() <= longest_host);
    std::ranges::copy(host, found->host);
    found->host_size = host.size();
    found->invalid_logons = TokenBucket{limits_.max_invalid_logons, std::uint64_t{10} * limits_.max_invalid_logons};
  }
  found->used = now;
  return *found;
}

}  // namespace nfx
