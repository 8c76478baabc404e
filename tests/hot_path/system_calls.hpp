// Observes every system call of the calling thread, from any library: the kernel passes each one to a handler first
// (syscall user dispatch), which then makes it.
// Thread: each for itself. Cost: a signal per call. Lifetime: after the first watch() the thread stays prepared.
// Errors: available() is false on processors other than x86-64, and on kernels without support (Linux before 5.11).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace nfx::test {

// The calls that some path may make; all others are `other`. Variants count as one call: recvfrom and recvmsg are recv,
// epoll_wait and epoll_pwait are epoll_wait. recvmmsg and epoll_pwait2 are not: Onload has no recvmmsg for TCP, VMA and
// XLIO have no epoll_pwait2.
enum class Call : std::uint8_t {
  recv,
  recvmmsg,
  send,
  epoll_wait,
  epoll_pwait2,
  epoll_ctl,
  io_uring_enter,
  write,
  read,
  sched_yield,
  close,
  other
};
inline constexpr std::size_t call_kinds = static_cast<std::size_t>(Call::other) + 1;
[[nodiscard]] const char* name_of(Call call) noexcept;

class CallSet {
 public:
  constexpr CallSet(std::initializer_list<Call> calls) noexcept {
    for (const Call call : calls) bits_ |= bit(call);
  }
  [[nodiscard]] constexpr bool contains(Call call) const noexcept { return (bits_ & bit(call)) != 0; }
  [[nodiscard]] constexpr bool contains(CallSet others) const noexcept { return (others.bits_ & ~bits_) == 0; }
  [[nodiscard]] constexpr CallSet operator|(CallSet other) const noexcept {
    other.bits_ |= bits_;
    return other;
  }

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Call call) noexcept {
    return std::uint32_t{1} << static_cast<std::uint32_t>(call);
  }
  std::uint32_t bits_ = 0;
};

struct SystemCalls {
  std::array<std::uint64_t, call_kinds> counts{};  // by Call, allowed or not
  std::uint64_t unexpected = 0;                    // not allowed
  std::int64_t first = -1;                         // number of the first unexpected call

  [[nodiscard]] std::uint64_t of(Call call) const noexcept { return counts[static_cast<std::size_t>(call)]; }
};

[[nodiscard]] bool system_calls_available() noexcept;
void watch_system_calls(CallSet allowed) noexcept;
void unwatch_system_calls() noexcept;
[[nodiscard]] SystemCalls system_calls_so_far() noexcept;

}  // namespace nfx::test
