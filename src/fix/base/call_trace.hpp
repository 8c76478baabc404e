// Records which functions a message passes, in their order. docs/architecture.md and docs/datagram-to-order.md list
// them; tests compare the lists with what was recorded. NFX_TRACE(), or trace_call() in installed headers, at the head
// of a function adds its name and file to the calling thread's CallTrace, where one is installed. It does so where
// NDEBUG is not defined: in debug, sanitizer and fuzz builds. Elsewhere it is nothing: no instruction, symbol or
// include remains. Thread: each has its own trace. Cost: one compare without a trace. Bounded: calls beyond
// CallTrace::capacity are dropped, and full() is true then. Lifetime: the texts are literals; a trace is installed
// until the installer ends.
#pragma once

#ifdef NDEBUG

#define NFX_TRACE() static_cast<void>(0)

#else

#include <array>
#include <cstddef>
#include <span>

#include "nexusfix/base/call_hook.hpp"

namespace nfx::detail {

struct TracedCall {
  const char* function;  // the compiler's text, with types
  const char* file;
};

class CallTrace {
 public:
  static constexpr std::size_t capacity = 256;

  void add(const char* function, const char* file) noexcept {
    if (size_ == capacity) {
      full_ = true;
      return;
    }
    calls_[size_++] = {function, file};
  }
  void clear() noexcept {
    size_ = 0;
    full_ = false;
  }
  [[nodiscard]] std::span<const TracedCall> calls() const noexcept { return {calls_.data(), size_}; }
  [[nodiscard]] bool full() const noexcept { return full_; }

 private:
  std::array<TracedCall, capacity> calls_{};
  std::size_t size_ = 0;
  bool full_ = false;
};

inline constinit thread_local CallTrace* installed_call_trace = nullptr;

// Makes the calling thread record into `trace` until the end of the scope.
class InstallCallTrace {
 public:
  explicit InstallCallTrace(CallTrace& trace) noexcept : before_(installed_call_trace) {
    installed_call_trace = &trace;
    call_hook = [](const char* function, const char* file) noexcept { installed_call_trace->add(function, file); };
  }
  InstallCallTrace(const InstallCallTrace&) = delete;
  InstallCallTrace& operator=(const InstallCallTrace&) = delete;
  ~InstallCallTrace() {
    installed_call_trace = before_;
    if (before_ == nullptr) call_hook = nullptr;
  }

 private:
  CallTrace* before_;
};

// A call of a program's own function.
inline void trace_call(const char* function, const char* file) noexcept {
  if (call_hook != nullptr) call_hook(function, file);
}

}  // namespace nfx::detail

#define NFX_TRACE() ::nfx::trace_call()

#endif
