// Hands a copy of a value from the thread that keeps changing it to one that looks at it now and then.
// Thread: wanted() and publish() from the writer, ask() and look() from the reader. Cost: wanted() is one load; a copy
// only when somebody asked. Nobody waits: what is asked for is there after the writer's next publish().
//
//   reader: ask ─► writer: wanted, publish ─► reader: look (may be read until it asks again)
#pragma once

#include <atomic>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/cache_line.hpp"

namespace nfx {

template <class T>
class SnapshotBox {
 public:
  [[nodiscard]] bool wanted() const noexcept { return state_.load(std::memory_order_acquire) == State::wanted; }
  // Only once it is wanted.
  void publish(const T& value) {
    NFX_ASSERT(wanted());  // otherwise the reader may be reading the value
    value_ = value;
    state_.store(State::there, std::memory_order_release);
  }

  void ask() noexcept { state_.store(State::wanted, std::memory_order_release); }
  // Null until the writer has answered.
  [[nodiscard]] const T* look() const noexcept {
    return state_.load(std::memory_order_acquire) == State::there ? &value_ : nullptr;
  }

 private:
  enum class State : std::uint8_t { idle, wanted, there };

  alignas(cache_line) std::atomic<State> state_{State::idle};
  T value_{};
};

}  // namespace nfx
