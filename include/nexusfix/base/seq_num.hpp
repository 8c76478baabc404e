// MsgSeqNum(34) and its arithmetic. Sequence numbers start at 1; 0 means "none" and, in EndSeqNo(16), "to the end".
#pragma once

#include <cstdint>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx {

enum class SeqNum : std::uint64_t {};

inline constexpr SeqNum first_seq_num{1};

[[nodiscard]] constexpr std::uint64_t value(SeqNum s) noexcept { return std::to_underlying(s); }
[[nodiscard]] constexpr SeqNum next(SeqNum s) noexcept {
  NFX_ASSERT(value(s) != UINT64_MAX);
  return SeqNum{value(s) + 1};
}
[[nodiscard]] constexpr SeqNum previous(SeqNum s) noexcept {
  NFX_ASSERT(value(s) != 0);
  return SeqNum{value(s) - 1};
}

}  // namespace nfx
