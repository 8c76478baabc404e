// The first page of a session's ring in shared memory, from which the next process recovers after a kill.
// Thread: each line has one writer, named beside it; the other side reads. Lifetime: the shared memory outlives the
// process, so the layout is fixed and contains no pointers.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "nexusfix/base/memory.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_format.hpp"
#include "store/journal_space.hpp"

namespace nfx::detail {

inline constexpr std::size_t ring_header_size = 4096;
inline constexpr char ring_magic[8] = {'N', 'F', 'X', 'R', 'I', 'N', 'G', '1'};

// The position where the poll thread ended a segment, and the session's sequence numbers there.
struct SegmentCut {
  JournalPosition position;
  std::uint64_t next_inbound;
  std::uint64_t next_outbound;
  std::int64_t creation_time_ns;
  std::int64_t time_ns;
};

struct RingHeader {
  // Written once, before the ring is used.
  char magic[8];
  std::uint64_t ring_size;
  std::uint64_t identity_hash;
  char boot_id[64];

  // Written by the poll thread.
  alignas(cache_line) std::atomic<JournalPosition> head;    // after the last whole record
  alignas(cache_line) std::atomic<JournalPosition> wanted;  // should be durable as soon as possible up to here
  std::atomic<std::uint64_t> ahead;  // bytes to reserve after the head; 0: the session was not used yet
  alignas(cache_line) std::atomic<std::uint64_t> cuts;  // number of cuts by this process; `cut` is the last one
  SegmentCut cut;
  std::atomic<JournalPosition> last_reset;  // position of the last reset record; 0: none
  // The origin of record positions in the ring, see ring_offset(). 0 in a ring of an earlier version: the whole ring,
  // from position 0 on.
  std::atomic<JournalPosition> origin;
  std::atomic<std::uint64_t> span;

  // Written by the flusher.
  alignas(cache_line) std::atomic<JournalPosition> written;
  std::atomic<JournalPosition> durable;
  alignas(cache_line) std::atomic<std::uint64_t> spares;  // for this process; cuts < spares allows another cut
  std::atomic<std::uint64_t> spare_capacity;              // of the last spare
  std::atomic<std::uint64_t> begun;                       // segments begun for cuts
  std::atomic<JournalPosition> oldest;                    // older positions can no longer be read
  std::atomic<JournalPosition> reserved;                  // the last started segment's file has space up to here
  std::atomic<std::uint64_t> spare_reserved;              // bytes of the last spare
  std::atomic<std::uint64_t> provided;                    // bytes of the ring that have pages
  alignas(cache_line) std::atomic<int> failed;  // errno of the first failed write or sync; every append reads it
  std::atomic<bool> disk_full;

  // Written once, like the first lines: its session, for readers that find the ring after its process ended.
  static constexpr std::size_t max_folder = 2048;
  alignas(cache_line) std::uint64_t pid;
  std::uint64_t folder_size;  // 0: the path was too long and is not stored
  char folder[max_folder];    // absolute path of the session's folder
};

// The part of the ring in use, in bytes; records wrap around in it.
[[nodiscard]] inline std::uint64_t ring_span(const RingHeader& ring) noexcept {
  const std::uint64_t span = ring.span.load(std::memory_order_relaxed);
  return span == 0 ? ring.ring_size : span;
}

// The offset in the ring of the record at a position. A record is always contiguous. In a partial ring, the last record
// of a round extends beyond the part; in the whole ring, it extends into the second view of the memory.
[[nodiscard]] inline std::uint64_t ring_offset(const RingHeader& ring, JournalPosition position) noexcept {
  return (position - ring.origin.load(std::memory_order_relaxed)) & (ring_span(ring) - 1);
}

// The number of contiguous bytes there.
[[nodiscard]] inline std::uint64_t ring_run(const RingHeader& ring, JournalPosition position) noexcept {
  const std::uint64_t span = ring_span(ring);
  return span == ring.ring_size ? span : ring_step(span, ring.ring_size) - ring_offset(ring, position);
}

// Whether an opening of this session may use the ring, on this boot of the machine.
[[nodiscard]] inline bool belongs_to(const RingHeader& ring, std::uint64_t ring_size, std::string_view identity,
                                     std::string_view boot) noexcept {
  const std::uint64_t span = ring_span(ring);
  return std::equal(std::begin(ring_magic), std::end(ring_magic), ring.magic) && ring.ring_size == ring_size &&
         std::has_single_bit(span) && span >= record_alignment && span <= ring_size &&
         ring.origin.load(std::memory_order_relaxed) % record_alignment == 0 &&
         ring.identity_hash == stable_hash(identity) && !boot.empty() &&
         boot == std::string_view(ring.boot_id, ::strnlen(ring.boot_id, sizeof ring.boot_id));
}

// The header of the whole record of position `at`, which is at `record` in a ring whose last record ends at `limit`;
// nothing if there is none.
[[nodiscard]] inline std::optional<RecordHeader> record_in_ring(const char* record, JournalPosition at,
                                                                JournalPosition limit) noexcept {
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  const bool fits = header.size >= sizeof header && padded(header.size) <= limit - at;
  if (!fits || !record_is_whole(at, record, header.size)) return std::nullopt;
  return header;
}

static_assert(sizeof(RingHeader) <= ring_header_size);
static_assert(std::atomic<JournalPosition>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

}  // namespace nfx::detail
