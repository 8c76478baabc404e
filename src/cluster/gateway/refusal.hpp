// Why the stream does not store a frame, as a server states it.
// Thread: any. Cost: a few searches.
#pragma once

#include <string>
#include <string_view>

namespace nfx::gateway {

// No other server would store it either.
[[nodiscard]] inline bool is_full(std::string_view description) noexcept {
  return description.contains("exceeded") || description.contains("insufficient");
}

// For an operator, with the remedy.
[[nodiscard]] inline std::string refusal_text(std::string_view description) {
  if (!is_full(description)) return "the cluster stores nothing: " + std::string{description};
  return "the stream is full and stores nothing (" + std::string{description} +
         "): run nfx cluster compact, or raise max_bytes";
}

}  // namespace nfx::gateway
