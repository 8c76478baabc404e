// Chooses an initiator's next address and the time of the next attempt. The delay doubles with every failure since the
// last Logon, up to the maximum. Half of it is random, so that a venue's clients do not all reconnect at the same
// moment after an outage.
// Thread: one owner. Pure: the time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/jitter.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

struct SessionSettings;

class Reconnect {
 public:
  // When to connect; MonotonicTime::max() when no attempt is planned.
  [[nodiscard]] MonotonicTime at() const noexcept { return at_; }
  // The index in SessionSettings::connect of the address to try next.
  [[nodiscard]] std::size_t endpoint() const noexcept { return endpoint_; }

  void connect_at(MonotonicTime at) noexcept { at_ = at; }
  void cancel() noexcept { at_ = MonotonicTime::max(); }
  // SessionSettings::connect is another list: its first address is tried next.
  void addresses_changed() noexcept { endpoint_ = 0; }
  // Delays begin at the shortest again.
  void forget_failures() noexcept { failures_ = 0; }

  // Events: an attempt begins; the connection is established, without Logons yet; Logons were exchanged.
  void attempt_begins(MonotonicTime now) noexcept;
  void connected() noexcept { reached_ = false; }
  void logged_on() noexcept {
    failures_ = 0;
    reached_ = true;
  }
  // The attempt failed or the connection ended: which address comes next, and with schedule() when.
  void next_endpoint(const SessionSettings& settings, MonotonicTime now) noexcept;
  void schedule(const SessionSettings& settings, MonotonicTime now, Jitter& jitter) noexcept;

 private:
  MonotonicTime at_ = MonotonicTime::max();
  std::size_t endpoint_ = 0;
  std::uint32_t failures_ = 0;        // connects since the last Logon
  bool reached_ = false;              // Logons were exchanged on the connection of now, or on the last one
  MonotonicTime first_host_since_{};  // when the first address of the list was tried
};

}  // namespace nfx
