// Exit codes of `nfx host` commands. Where several apply, combine() chooses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class HostExit : std::uint8_t {
  ok = 0,
  warnings = 1,
  failures = 2,
  cannot_tell = 3,
  reboot_pending = 4,
  policy_invalid = 5,
  partly_applied = 6,
};

// The worse of two: partly applied, then an invalid policy, failures, cannot tell, reboot pending, warnings, ok.
[[nodiscard]] constexpr HostExit combine(HostExit a, HostExit b) noexcept {
  constexpr auto rank = [](HostExit exit) {
    switch (exit) {
      case HostExit::ok: return 0;
      case HostExit::warnings: return 1;
      case HostExit::reboot_pending: return 2;
      case HostExit::cannot_tell: return 3;
      case HostExit::failures: return 4;
      case HostExit::policy_invalid: return 5;
      case HostExit::partly_applied: return 6;
    }
    return 6;
  };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace nfx
