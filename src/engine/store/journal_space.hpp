// Computes how far space is reserved ahead of the head, in a segment's file and in the ring, and when the next step is
// due. Both sides of a journal use it: the poll thread to wake the flusher in time, the flusher to reserve.
// Thread: values. Cost: some additions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nexusfix/base/assert.hpp"
#include "store/journal_format.hpp"

namespace nfx::detail {

// The initial space of a journal: the records of a Logon exchange. An unused session has no more.
inline constexpr std::uint64_t start_size = 8 * 1024;
// ... and of its ring: the records of opening and closing, before the first step.
inline constexpr std::uint64_t ring_start_size = 4096;
// The maximum part of the file's reserved space that is only for records other than messages.
inline constexpr std::uint64_t reserve_max = 64 * 1024;
// The first step, made as soon as the session is used; each later one multiplies by step_factor.
[[nodiscard]] inline constexpr std::uint64_t first_step_of(bool lean) noexcept {
  return lean ? std::uint64_t{64} * 1024 : std::uint64_t{1024} * 1024;
}
inline constexpr std::uint64_t step_factor = 4;
// A segment or ring up to this size is reserved completely at the beginning.
inline constexpr std::uint64_t whole_at_once = 64 * 1024;
inline constexpr std::uint64_t space_unit = 4096;

// A ring grows in steps too. Until it is complete, records wrap around in the part that has memory, the *span*, a power
// of two. After the span follows an overrun area for the end of the last record of a round. So slow memory allocation
// makes the ring smaller for a while, and nothing waits for it.
[[nodiscard]] inline std::uint64_t ring_step(std::uint64_t span, std::uint64_t ring_size) noexcept {
  return span >= ring_size ? ring_size : span + span / 4;
}
// The span that fits into `provided` bytes of memory; 0 if they are less than `first`.
[[nodiscard]] inline std::uint64_t ring_span_of(std::uint64_t provided, std::uint64_t first,
                                                std::uint64_t ring_size) noexcept {
  if (provided >= ring_size) return ring_size;
  std::uint64_t span = 0;
  for (std::uint64_t next = first; next < ring_size && ring_step(next, ring_size) <= provided; next *= step_factor)
    span = next;
  return span;
}

// Positions: space is reserved from `begin` up to `reserved`, and may be reserved up to `end`.
struct Space {
  JournalPosition begin = 0;
  JournalPosition reserved = 0;
  JournalPosition end = 0;
  std::uint64_t first_step = first_step_of(false);

  [[nodiscard]] bool whole() const noexcept { return reserved >= end; }
  [[nodiscard]] std::uint64_t size() const noexcept { return reserved - begin; }

  // The next step is due when the head of a session in use is beyond this: more than a quarter of the reserved space is
  // used, or fewer than `ahead` bytes are left. The flusher checks this in each iteration.
  [[nodiscard]] JournalPosition due_after(std::uint64_t ahead) const noexcept {
    return left_at(std::max(ahead, size() / 4 * 3));
  }

  // ... and beyond this the poll thread wakes the flusher, because it has not come and half is used.
  [[nodiscard]] JournalPosition wake_after(std::uint64_t ahead) const noexcept {
    return left_at(std::max(ahead, size() / 2));
  }

  // With fewer bytes left, creating the next segment takes precedence over everything else.
  [[nodiscard]] std::uint64_t left_when_urgent() const noexcept { return (end - begin) / 4; }

  // The end of the next step.
  [[nodiscard]] JournalPosition next(JournalPosition head, std::uint64_t ahead) const noexcept {
    NFX_ASSERT(begin <= head && head <= end);
    // Grows for `ahead` only, so not by a large step.
    const bool by_use = head - begin > size() / 4;
    const std::uint64_t step = size() < first_step ? first_step : by_use ? size() * step_factor : size() / 2 * 3;
    const std::uint64_t least = (head - begin) + ahead;
    return up_to(std::max(step, least));
  }

  // The end of a part of this size, in whole units.
  [[nodiscard]] JournalPosition up_to(std::uint64_t wanted) const noexcept {
    return begin + std::min(end - begin, (wanted + space_unit - 1) / space_unit * space_unit);
  }

  // The position where `bytes` bytes are left, if there is a next step; immediately, before the first step.
  [[nodiscard]] JournalPosition left_at(std::uint64_t bytes) const noexcept {
    NFX_ASSERT(begin <= reserved);
    if (whole()) return unset_position;
    return size() < first_step ? begin : reserved - std::min(size(), bytes);
  }
};

// The memory of a journal's index, for the flusher to map ahead of use.
struct IndexMemory {
  char* entries = nullptr;
  std::size_t entry_size = 0;
  std::uint64_t count = 0;  // a power of two
};

}  // namespace nfx::detail
