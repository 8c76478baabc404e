// Traps every system call of a thread by syscall user dispatch (prctl), whichever library makes it.
#include "system_calls.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <linux/prctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

// The only code whose system calls are not trapped: the return from the handler, and the call that it makes itself.
asm(R"(
  .text
  .balign 16
  .globl nfx_watch_return
  .globl nfx_watch_call
  .globl nfx_watch_end
nfx_watch_return:
  mov $15, %eax
  syscall
nfx_watch_call:
  mov %rdi, %rax
  mov %rsi, %rcx
  mov 0(%rcx), %rdi
  mov 8(%rcx), %rsi
  mov 16(%rcx), %rdx
  mov 24(%rcx), %r10
  mov 32(%rcx), %r8
  mov 40(%rcx), %r9
  syscall
  ret
nfx_watch_end:
  nop
)");
extern "C" {
void nfx_watch_return();
long nfx_watch_call(long number, const long* arguments);
void nfx_watch_end();
}

namespace nfx::test {
namespace {

constexpr char allow = 0, hand_over = 1;  // the kernel's values

thread_local volatile char selector = allow;
thread_local bool prepared = false;
thread_local SystemCalls seen;
thread_local constinit CallSet allowed_now{};

Call call_of(std::int64_t number) noexcept {
  switch (number) {
    case SYS_recvfrom:
    case SYS_recvmsg: return Call::recv;
    case SYS_recvmmsg: return Call::recvmmsg;
    case SYS_sendto:
    case SYS_sendmsg: return Call::send;
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return Call::epoll_wait;
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2: return Call::epoll_pwait2;
#endif
    case SYS_epoll_ctl: return Call::epoll_ctl;
    case SYS_io_uring_enter: return Call::io_uring_enter;
    case SYS_write: return Call::write;
    case SYS_read: return Call::read;
    case SYS_sched_yield: return Call::sched_yield;
    case SYS_close: return Call::close;
    default: return Call::other;  // a number, not one of our enums
  }
}

void on_call(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const std::int64_t number = registers[REG_RAX];
  const Call call = call_of(number);
  ++seen.counts[static_cast<std::size_t>(call)];
  if (!allowed_now.contains(call) && seen.unexpected++ == 0) seen.first = number;
  const long arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                            registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  registers[REG_RAX] = nfx_watch_call(number, arguments);
}

// The C library would replace our return function by its own.
bool install() noexcept {
  struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  };
  constexpr unsigned long has_restorer = 0x04000000;
  const KernelAction action{on_call, SA_SIGINFO | has_restorer, nfx_watch_return, 0};
  return ::syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof action.mask) == 0;
}

bool prepare() noexcept {
  if (prepared) return true;
  static const bool installed = install();
  const auto begin = reinterpret_cast<unsigned long>(&nfx_watch_return);
  const auto end = reinterpret_cast<unsigned long>(&nfx_watch_end);
  prepared = installed && ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, begin, end - begin, &selector) == 0;
  return prepared;
}

}  // namespace

bool system_calls_available() noexcept { return prepare(); }

void watch_system_calls(CallSet allowed) noexcept {
  if (!prepare()) return;
  seen = {};
  allowed_now = allowed;
  selector = hand_over;
}

void unwatch_system_calls() noexcept { selector = allow; }

SystemCalls system_calls_so_far() noexcept { return seen; }

}  // namespace nfx::test

#else

namespace nfx::test {

bool system_calls_available() noexcept { return false; }
void watch_system_calls(CallSet) noexcept {}
void unwatch_system_calls() noexcept {}
SystemCalls system_calls_so_far() noexcept { return {}; }

}  // namespace nfx::test

#endif

namespace nfx::test {

const char* name_of(Call call) noexcept {
  switch (call) {
    case Call::recv: return "recv";
    case Call::recvmmsg: return "recvmmsg";
    case Call::send: return "send";
    case Call::epoll_wait: return "epoll_wait";
    case Call::epoll_pwait2: return "epoll_pwait2";
    case Call::epoll_ctl: return "epoll_ctl";
    case Call::io_uring_enter: return "io_uring_enter";
    case Call::write: return "write";
    case Call::read: return "read";
    case Call::sched_yield: return "sched_yield";
    case Call::close: return "close";
    case Call::other: return "other";
  }
  return "";
}

}  // namespace nfx::test
