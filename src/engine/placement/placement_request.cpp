// Names of the enumerations of a placement request; roles have a table.
#include "nexusfix/placement/placement_request.hpp"

#include <algorithm>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "placement/thread_name.hpp"

namespace nfx {

namespace {

const ThreadRoleRow& row_of(ThreadRole role) noexcept {
  NFX_ASSERT(std::to_underlying(role) < thread_role_table.size());
  return thread_role_table[std::to_underlying(role)];
}

}  // namespace

// "?" after the last role, which ends the loop in base/enum_values.hpp.
std::string_view to_string(ThreadRole role) noexcept {
  return std::to_underlying(role) < thread_role_table.size() ? row_of(role).name : std::string_view{"?"};
}

std::optional<ThreadRole> parse_thread_role(std::string_view text) noexcept {
  const auto found = std::ranges::find(thread_role_table, text, &ThreadRoleRow::name);
  if (found == thread_role_table.end()) return std::nullopt;
  return found->role;
}

RoleKind kind_of(ThreadRole role) noexcept { return row_of(role).kind; }

std::string thread_name(ThreadRole role, std::uint32_t index) {
  return std::string{row_of(role).thread_prefix} + std::to_string(index);
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
