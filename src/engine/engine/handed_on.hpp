// Connections whose Logon names a session that another gateway of the cluster owns: poll threads give them up, and the
// gateway (nexusfix/gateway/gateway.hpp) passes their bytes on.
// Thread: push() from poll threads, take() and call_on_push() from the gateway's, count() and counters() from any.
// Cost: a mutex and an allocation, at such a Logon alone. Bounds: waiting_max connections that were not taken yet; a
// further one is refused. Errors: values.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"

namespace nfx {

// A connection that no poll thread has any more. Its socket is closed with it.
struct HandedOn {
  HandedOn() = default;
  HandedOn(HandedOn&& other) noexcept { *this = std::move(other); }
  HandedOn& operator=(HandedOn&& other) noexcept;
  ~HandedOn();

  std::string replica;  // the session's name in the cluster
  std::string session;  // "FIX.4.4:VENUE->TRADER", as lines have it
  std::string peer;     // "192.0.2.7:51234"
  std::string bytes;    // what was received from it: the Logon, and what came after it
  int socket = -1;      // owned; -1: none
};

// Counters for one gateway.
struct HandOnCounters {
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t no_owner = 0;
  std::uint64_t unreachable = 0;
  std::uint64_t full = 0;

  friend bool operator==(const HandOnCounters&, const HandOnCounters&) = default;
};

namespace detail {
inline constexpr std::string_view hand_on_refused_help =
    "Connections that were to be handed on and were closed, by reason: no gateway owns the session or this gateway "
    "owns it, its owner cannot be reached, or hand_on_max connections are handed on.";
}  // namespace detail

template <>
inline constexpr auto counter_rows<HandOnCounters> = std::to_array<CounterRow<HandOnCounters>>({
    {&HandOnCounters::begun, "nfx_handed_on_total",
     "Connections that were handed on to the gateway that owns their session."},
    {&HandOnCounters::ended, "nfx_handed_on_ended_total", "Connections that were handed on and have ended."},
    {&HandOnCounters::no_owner, "nfx_hand_on_refused_total", detail::hand_on_refused_help, "reason", "no_owner"},
    {&HandOnCounters::unreachable, "nfx_hand_on_refused_total", detail::hand_on_refused_help, "reason", "unreachable"},
    {&HandOnCounters::full, "nfx_hand_on_refused_total", detail::hand_on_refused_help, "reason", "full"},
});
static_assert(rows_are_complete<HandOnCounters>());

class HandOnQueue {
 public:
  static constexpr std::size_t waiting_max = 64;

  // False: waiting_max wait, or no gateway takes them. The connection is the caller's still.
  [[nodiscard]] bool push(HandedOn& connection);
  // All that wait, oldest first.
  [[nodiscard]] std::vector<HandedOn> take();
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_acquire); }
  // From now on `pushed` is called on a poll thread after each push(). Empty: what waits is closed, and no more is
  // taken. No call of the one before is running when this returns.
  void call_on_push(std::function<void()> pushed);

  void count(std::uint64_t HandOnCounters::* counter);
  [[nodiscard]] HandOnCounters counters() const;

 private:
  mutable std::mutex mutex_;
  std::vector<HandedOn> connections_;
  std::function<void()> pushed_;
  HandOnCounters counters_;
  std::atomic<bool> waiting_{false};
};

}  // namespace nfx
