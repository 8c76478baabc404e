// Passes a copy of a value from the thread that changes it to another that reads it occasionally.
// Thread: wanted() and publish() from the writer, `ask()` and look() from the reader. Cost: wanted() is one load; a
// copy only when the reader requested one. Neither waits: the copy is available after the writer's next publish().
//
//   reader: `ask` ─► writer: wanted, publish ─► reader: look (valid until the next `ask`)
#pragma once

#include <atomic>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx {

template <class T>
class SnapshotBox {
 public:
  [[nodiscard]] bool wanted() const noexcept { return state_.load(std::memory_order_acquire) == State::wanted; }
  // Requires wanted().
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
