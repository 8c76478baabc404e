// Where a function of an installed header states that it was called, for tests that compare the path of a message with
// the documents: trace_call() at its head. Where NDEBUG is defined it is nothing: no instruction or symbol remains.
// Thread: each has its own hook. Cost: one compare without a hook. Errors: none. Lifetime: the texts are literals.
#pragma once

#ifndef NDEBUG
#include <source_location>
#endif

#include "nexusfix/base/language.hpp"

namespace nfx {

#ifdef NDEBUG

constexpr void trace_call() noexcept {}

#else

namespace detail {
using CallHook = void (*)(const char* function, const char* file) noexcept;
inline constinit thread_local CallHook call_hook = nullptr;
}  // namespace detail

inline void trace_call(std::source_location at = std::source_location::current()) noexcept {
  if (detail::call_hook != nullptr) detail::call_hook(at.function_name(), at.file_name());
}

#endif

}  // namespace nfx
