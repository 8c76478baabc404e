// What a poll thread remembers of the addresses of its peers: those that sent too many invalid messages are held off
// for a time, their connections closed when they are accepted.
// Thread: one owner, the poll thread. Cost: a search through at most `capacity` entries when a connection is accepted
// while addresses are held off, or when one misbehaves; memory for all is reserved at the start. Full: the entry that
// was used least recently is replaced, one that is not held off before one that is. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/line_limits.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/token_bucket.hpp"

namespace nfx {

struct PeerAddressLimits {
  Duration hold_off{};                   // zero: no address is held off
  std::uint32_t max_invalid_logons = 0;  // per address and second; 0: no limit
};

class PeerAddresses {
 public:
  static constexpr std::size_t capacity = 1024;

  explicit PeerAddresses(const PeerAddressLimits& limits) : limits_(limits) { entries_.reserve(capacity); }

  // `peer` is an address with its port, "192.0.2.7:51234"; the port does not matter.
  [[nodiscard]] bool is_held_off(std::string_view peer, MonotonicTime now) const noexcept;
  void hold_off(std::string_view peer, MonotonicTime now) noexcept;
  // A connection whose first bytes were not a FIX message; beyond the limit its address is held off.
  void count_invalid_logon(std::string_view peer, MonotonicTime now) noexcept;
  // The limit of lines about this address.
  [[nodiscard]] LineLimit& lines(std::string_view peer, MonotonicTime now) noexcept { return entry(peer, now).lines; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  static constexpr std::size_t longest_host = 48;  // an IPv6 address with brackets

  struct Entry {
    char host[longest_host];
    std::size_t host_size = 0;
    MonotonicTime used{};
    MonotonicTime held_until{};
    TokenBucket invalid_logons;
    LineLimit lines;

    [[nodiscard]] std::string_view name() const noexcept { return {host, host_size}; }
  };

  [[nodiscard]] static std::string_view host_of(std::string_view peer) noexcept;
  [[nodiscard]] Entry& entry(std::string_view peer, MonotonicTime now) noexcept;

  PeerAddressLimits limits_;
  std::vector<Entry> entries_;
  MonotonicTime held_until_{};  // the last of them
};

}  // namespace nfx
