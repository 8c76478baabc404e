// Makes a system call fail in this process from now on, like a container's filter or an older kernel. Only for children
// of EXPECT_EXIT, because it cannot be undone.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nfx::testing {

// ... with EPERM; with `third`, only if the third argument equals it. False if this host cannot do it.
[[nodiscard]] inline bool forbid_call(std::uint32_t number, std::optional<std::uint32_t> third = std::nullopt) {
  constexpr std::uint32_t third_argument = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, third_argument),
      BPF_JUMP(BPF_JMP | (third ? BPF_JEQ : BPF_JGE) | BPF_K, third.value_or(0), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{6, instructions};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace nfx::testing
