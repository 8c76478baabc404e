// Names of the rails' states and results, for reports and tests.
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {

std::string_view to_string(WriteResult result) noexcept {
  switch (result) {
    case WriteResult::ok: return "ok";
    case WriteResult::again: return "again";
    case WriteResult::failed: return "failed";
  }
  return "unknown";
}

std::string_view to_string(CompletionKind kind) noexcept {
  switch (kind) {
    case CompletionKind::done: return "done";
    case CompletionKind::arrived: return "arrived";
    case CompletionKind::failed: return "failed";
    case CompletionKind::down: return "down";
  }
  return "unknown";
}

std::string_view to_string(RailState state) noexcept {
  switch (state) {
    case RailState::closed: return "closed";
    case RailState::opening: return "opening";
    case RailState::up: return "up";
  }
  return "unknown";
}

}  // namespace nfx::fabric
