// What a session's latest read had that was not timed stage by stage. Thread: the poll thread. Counts may wrap.
#pragma once

#include <cstdint>

#include "engine/latency_ledger.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {

struct UntimedRead {
  MonotonicTime at{};
  std::uint32_t messages = 0;         // given to on_message since the session began
  std::uint32_t messages_before = 0;  // until this read
  std::uint32_t sent = 0;             // in these callbacks
  std::uint32_t sent_before = 0;
  const SessionBook* book = nullptr;  // of the session; null: nothing is measured yet

  [[nodiscard]] std::uint32_t messages_in_read() const noexcept { return messages - messages_before; }
  [[nodiscard]] bool is_answered() const noexcept { return sent != sent_before; }
};

}  // namespace nfx
