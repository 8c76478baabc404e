#include "nexusfix/placement/placement_request.hpp"

#include "nexusfix/placement/thread_name.hpp"

namespace nfx {

std::string_view to_string(ThreadRole role) noexcept {
  switch (role) {
    case ThreadRole::poll: return "poll";
    case ThreadRole::deferred: return "deferred";
    case ThreadRole::flusher: return "flusher";
    case ThreadRole::log: return "log";
  }
  return "unknown";
}

std::optional<ThreadRole> parse_thread_role(std::string_view text) noexcept {
  for (const ThreadRole role : thread_roles) {
    if (text == to_string(role)) return role;
  }
  return std::nullopt;
}

std::string thread_name(ThreadRole role, std::uint32_t index) {
  const auto front = [role]() -> std::string_view {
    switch (role) {
      case ThreadRole::poll: return "nfx-poll-";
      case ThreadRole::deferred: return "nfx-defer-";
      case ThreadRole::flusher: return "nfx-flush-";
      case ThreadRole::log: return "nfx-log-";
    }
    return "nfx-";
  };
  return std::string{front()} + std::to_string(index);
}

std::string_view to_string(ThreadWait wait) noexcept {
  switch (wait) {
    case ThreadWait::spin: return "spin";
    case ThreadWait::block: return "block";
  }
  return "unknown";
}

std::string_view to_string(SessionMapping mapping) noexcept {
  switch (mapping) {
    case SessionMapping::hash: return "hash";
    case SessionMapping::balanced: return "balanced";
  }
  return "unknown";
}

std::string_view to_string(OnViolation on_violation) noexcept {
  switch (on_violation) {
    case OnViolation::warn: return "warn";
    case OnViolation::refuse: return "refuse";
  }
  return "unknown";
}

}  // namespace nfx
