// Ctrl-C and SIGTERM stop an engine cleanly; a second one ends the program immediately.
// Thread: one object at a time, made and destroyed on the main thread. Lifetime: the engine outlives it.
#pragma once

#include "nexusfix/engine/engine.hpp"

namespace nfx {

class StopOnSignal {
 public:
  explicit StopOnSignal(Engine& engine) noexcept;
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] bool signalled() const noexcept;
};

}  // namespace nfx
