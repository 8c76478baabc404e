// Decides which connections get one of a bounded number of places: limits per address and network, reserved places for
// known addresses, and a choice of the connection to close when a limit is reached.
// Thread: one owner. Cost: a decision reads all places once, and allocates at most one table entry per network and
// address; no part of a hot path. Bounded: the sum of the limits. Errors: none.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nexusfix/base/assert.hpp"

namespace nfx {

// An IPv4 or IPv6 address; IPv4 is mapped into IPv6. All zero: none.
struct PeerAddress {
  std::array<std::uint8_t, 16> bytes{};

  // Parses "192.0.2.7:51234" or "[2001:db8::7]:51234". Anything else counts as the same address: none.
  [[nodiscard]] static PeerAddress of_peer(std::string_view peer) noexcept;
  // Parses "192.0.2.7" or "2001:db8::7".
  [[nodiscard]] static PeerAddress of_host(std::string_view host) noexcept;

  [[nodiscard]] bool is_none() const noexcept { return *this == PeerAddress{}; }
  // The first 24 bits of IPv4, or 64 bits of IPv6, with the rest set to zero.
  [[nodiscard]] PeerAddress network() const noexcept;
  // The range from which one host can choose its address: an IPv4 address itself, or the /64 of an IPv6 address. ::1,
  // the only host of ::/64, stands for itself.
  [[nodiscard]] PeerAddress subnet() const noexcept;

  friend auto operator<=>(const PeerAddress&, const PeerAddress&) = default;

 private:
  [[nodiscard]] bool is_v4() const noexcept;
};

enum class PeerStanding : std::uint8_t {
  unknown,
  known,        // uses the places of known addresses
  not_allowed,  // closed immediately
};

struct PlaceLimits {
  std::uint32_t unknown = 64;
  std::uint32_t per_address = 32;  // for unknown addresses
  std::uint32_t per_network = 48;
  std::uint32_t known = 64;  // in addition
};

class ConnectionPlaces {
 public:
  explicit ConnectionPlaces(const PlaceLimits& limits) : limits_(limits), places_(limits.unknown + limits.known) {}

  struct Decision {
    bool possible = false;
    std::optional<std::uint32_t> evict{};  // the place to release first
  };
  // Decides whether a connection from `address` can get a place. may_evict(place) says whether its connection may be
  // closed.
  template <class MayEvict>
  [[nodiscard]] Decision decide(const PeerAddress& address, bool known, MayEvict&& may_evict) const {
    const Limit limit = reached(address, known);
    if (limit == Limit::none) return {.possible = true};
    std::optional<std::uint32_t> victim;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      if (!place.used || place.known != known) continue;
      if (limit == Limit::address && place.address != address) continue;
      if (limit == Limit::network && place.network != address.network()) continue;
      if (may_evict(i) && (!victim || goes_before(place, places_[*victim]))) victim = i;
    }
    return {.possible = victim.has_value(), .evict = victim};
  }

  // Requires a positive decision, after its eviction.
  [[nodiscard]] std::uint32_t take(const PeerAddress& address, bool known);
  void release(std::uint32_t place) noexcept;
  // The connection has sent something: connections that have sent nothing are evicted first.
  void heard(std::uint32_t place) noexcept {
    NFX_ASSERT(places_[place].used);
    places_[place].silent = false;
  }

  [[nodiscard]] std::size_t places() const noexcept { return places_.size(); }
  [[nodiscard]] std::size_t used() const noexcept { return unknown_ + known_; }

 private:
  enum class Limit : std::uint8_t { none, address, network, total };

  struct Place {
    bool used = false;
    bool known = false;
    bool silent = true;
    std::uint64_t order = 0;  // order of taking
    PeerAddress address;
    PeerAddress network;
  };
  struct Holder {
    PeerAddress address;  // address or network
    bool known = false;
    std::uint32_t places = 0;
  };

  [[nodiscard]] Limit reached(const PeerAddress& address, bool known) const noexcept;
  // Whether `a` is evicted before `b`.
  [[nodiscard]] bool goes_before(const Place& a, const Place& b) const noexcept;
  [[nodiscard]] static std::uint32_t held(const std::vector<Holder>& holders, const PeerAddress& by,
                                          bool known) noexcept;
  static void change(std::vector<Holder>& holders, const PeerAddress& by, bool known, bool more);

  PlaceLimits limits_;
  std::vector<Place> places_;
  std::vector<Holder> addresses_;  // sorted, with at least one place each
  std::vector<Holder> networks_;
  std::uint32_t unknown_ = 0;
  std::uint32_t known_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace nfx
