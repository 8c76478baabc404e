// Stops a child process.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace nfx::test {

// Returns when none of its threads runs any more (some do for a while after the signal), or when it has ended. SIGCONT
// lets it continue.
inline void pause_process(pid_t child) {
  ::kill(child, SIGSTOP);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

}  // namespace nfx::test
