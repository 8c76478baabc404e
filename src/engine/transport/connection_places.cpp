// Assigns and releases the bounded places of connections, and picks the connection that is closed when a limit is
// reached.
#include "transport/connection_places.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <span>
#include <tuple>

namespace nfx {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

PeerAddress PeerAddress::of_host(std::string_view host) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> text{};
  if (host.size() >= text.size() || host.contains('\0')) return {};
  std::ranges::copy(host, text.begin());
  PeerAddress address;
  in6_addr v6{};
  in_addr v4{};
  if (::inet_pton(AF_INET, text.data(), &v4) == 1) {
    std::ranges::copy(mapped_prefix, address.bytes.begin());
    std::memcpy(address.bytes.data() + mapped_prefix.size(), &v4, sizeof v4);
  } else if (::inet_pton(AF_INET6, text.data(), &v6) == 1) {
    std::memcpy(address.bytes.data(), &v6, sizeof v6);
  }
  return address;
}

PeerAddress PeerAddress::of_peer(std::string_view peer) noexcept {
  const std::size_t colon = peer.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = peer.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return of_host(host);
}

bool PeerAddress::is_v4() const noexcept {
  return std::ranges::equal(mapped_prefix, std::span{bytes}.first(mapped_prefix.size()));
}

PeerAddress PeerAddress::subnet() const noexcept {
  if (is_v4()) return *this;
  const PeerAddress prefix = network();
  return prefix.is_none() ? *this : prefix;
}

PeerAddress PeerAddress::network() const noexcept {
  PeerAddress network = *this;
  std::ranges::fill(std::span{network.bytes}.subspan(is_v4() ? mapped_prefix.size() + 3 : 8), std::uint8_t{0});
  return network;
}

ConnectionPlaces::Limit ConnectionPlaces::reached(const PeerAddress& address, bool known) const noexcept {
  if (known) return known_ < limits_.known ? Limit::none : Limit::total;
  if (held(addresses_, address, false) >= limits_.per_address) return Limit::address;
  if (held(networks_, address.network(), false) >= limits_.per_network) return Limit::network;
  return unknown_ < limits_.unknown ? Limit::none : Limit::total;
}

bool ConnectionPlaces::goes_before(const Place& a, const Place& b) const noexcept {
  NFX_ASSERT(a.known == b.known);
  // By the number of places that their networks hold, then their addresses, then silence, then age.
  if (a.network != b.network) {
    const std::uint32_t of_a = held(networks_, a.network, a.known), of_b = held(networks_, b.network, b.known);
    if (of_a != of_b) return of_a > of_b;
  }
  if (a.address != b.address) {
    const std::uint32_t of_a = held(addresses_, a.address, a.known), of_b = held(addresses_, b.address, b.known);
    if (of_a != of_b) return of_a > of_b;
  }
  return a.silent != b.silent ? a.silent : a.order < b.order;
}

std::uint32_t ConnectionPlaces::take(const PeerAddress& address, bool known) {
  NFX_ASSERT(reached(address, known) == Limit::none);
  const auto free = std::ranges::find(places_, false, &Place::used);
  NFX_ASSERT(free != places_.end());
  *free = {.used = true, .known = known, .order = ++taken_, .address = address, .network = address.network()};
  change(addresses_, free->address, known, true);
  change(networks_, free->network, known, true);
  ++(known ? known_ : unknown_);
  return static_cast<std::uint32_t>(free - places_.begin());
}

void ConnectionPlaces::release(std::uint32_t index) noexcept {
  NFX_ASSERT(index < places_.size() && places_[index].used);
  Place& place = places_[index];
  change(addresses_, place.address, place.known, false);
  change(networks_, place.network, place.known, false);
  --(place.known ? known_ : unknown_);
  place = {};
}

std::uint32_t ConnectionPlaces::held(const std::vector<Holder>& holders, const PeerAddress& by, bool known) noexcept {
  const auto key = [](const Holder& holder) { return std::tuple{holder.address, holder.known}; };
  const auto at = std::ranges::lower_bound(holders, std::tuple{by, known}, {}, key);
  return at != holders.end() && key(*at) == std::tuple{by, known} ? at->places : 0;
}

void ConnectionPlaces::change(std::vector<Holder>& holders, const PeerAddress& by, bool known, bool more) {
  const auto key = [](const Holder& holder) { return std::tuple{holder.address, holder.known}; };
  auto at = std::ranges::lower_bound(holders, std::tuple{by, known}, {}, key);
  if (at == holders.end() || key(*at) != std::tuple{by, known}) {
    NFX_ASSERT(more);
    holders.insert(at, {.address = by, .known = known, .places = 1});
  } else if (more) {
    ++at->places;
  } else if (--at->places == 0) {
    holders.erase(at);
  }
}

}  // namespace nfx
