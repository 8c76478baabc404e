// Records the functions that a message passes, in order. docs/architecture.md lists them; a test compares that list
// with a recording. NFX_TRACE() at the head of a function adds its name and file to the calling thread's CallTrace, if
// one is installed. This happens only if NDEBUG is not defined: in debug, sanitizer and fuzz builds. In other builds it
// leaves no instruction, symbol or include.
// Thread: each has its own trace. Cost: one compare without a trace. Bounded: calls beyond CallTrace::capacity are
// dropped, and full() is then true. Lifetime: the texts are literals; a trace is installed until the installer ends.
#pragma once

#ifdef NDEBUG

#define NFX_TRACE() static_cast<void>(0)

#else

#include <array>
#include <cstddef>
#include <span>

#include "nexusfix/base/language.hpp"

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
  }
  InstallCallTrace(const InstallCallTrace&) = delete;
  InstallCallTrace& operator=(const InstallCallTrace&) = delete;
  ~InstallCallTrace() { installed_call_trace = before_; }

 private:
  CallTrace* before_;
};

inline void trace_call(const char* function, const char* file) noexcept {
  if (installed_call_trace != nullptr) installed_call_trace->add(function, file);
}

}  // namespace nfx::detail

#define NFX_TRACE() ::nfx::detail::trace_call(__PRETTY_FUNCTION__, __FILE__)

#endif
