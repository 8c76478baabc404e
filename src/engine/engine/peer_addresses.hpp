// A poll thread's memory of its peers' addresses. Addresses that logged on have reserved places before Logon when all
// others are taken. Addresses that sent too many invalid messages are held off for a time: their connections are closed
// when they are accepted. IPv6 addresses of one /64 are the same address here, because one host can use all of them.
// Thread: one owner, the poll thread. Cost: a hash look-up when a connection is accepted, logs on, or misbehaves;
// memory for all is reserved at the start. Bounds: when full, the address that logged on longest ago is forgotten.
// Among misbehaving addresses, the least recently used entry is replaced, first one that is not held off; finding it
// reads the held-off entries. A peer without a literal address is neither known nor held off. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/address_index.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/token_bucket.hpp"
#include "transport/connection_places.hpp"

namespace nfx {

struct PeerAddressLimits {
  Duration hold_off{};                   // zero: no address is held off
  std::uint32_t max_invalid_logons = 0;  // per address and second; 0: no limit
  std::uint32_t max_logons = 0;          // the same, of Logons whatever becomes of them
  std::size_t max_known = 0;             // that logged on
};

class PeerAddresses {
 public:
  static constexpr std::size_t capacity = 1024;  // misbehaving addresses

  explicit PeerAddresses(const PeerAddressLimits& limits);

  [[nodiscard]] bool is_known(const PeerAddress& address) const noexcept;
  void remember(const PeerAddress& address) noexcept;  // it logged on

  [[nodiscard]] bool is_held_off(const PeerAddress& address, MonotonicTime now) const noexcept;
  void hold_off(const PeerAddress& address, MonotonicTime now) noexcept;
  // A connection whose first bytes were not a FIX message; beyond the limit its address is held off.
  void count_invalid_logon(const PeerAddress& address, MonotonicTime now) noexcept;
  // Whether another Logon may come from the address now, which counts it. False: too many came within the last time.
  [[nodiscard]] bool take_logon(const PeerAddress& address, MonotonicTime now) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return misbehaved_.size(); }

 private:
  struct Entry {
    MonotonicTime held_until{};
    TokenBucket invalid_logons;
  };

  [[nodiscard]] Entry& entry(const PeerAddress& address, MonotonicTime now) noexcept;

  PeerAddressLimits limits_;
  AddressIndex known_;
  AddressIndex misbehaved_;
  std::vector<Entry> entries_;       // by the places of misbehaved_
  MonotonicTime held_until_{};       // the last of them
  AddressIndex logged_on_;           // whose Logons are counted; full: the one whose last Logon is oldest goes
  std::vector<TokenBucket> logons_;  // by the places of logged_on_
};

}  // namespace nfx
