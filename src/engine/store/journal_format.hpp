// The bytes of a journal, in files and in the ring before them. All numbers are little-endian.
//
// A session's journal is one stream of records. A position counts the bytes of the stream from its very beginning;
// every record begins at a multiple of 8. The stream is cut into segments, one file each; a record never spans two. The
// ring in shared memory holds the newest part of the stream, with the byte for position p at p modulo its size.
//
//   segment file   | header, 4096 | record | record | record | zeros ........................ |
//                                   ^ position `base`                                           ^ `capacity` bytes
//   record         | size 4 | crc 4 | seq 8 | time 8 | kind 1 | flags 1 | zero 2 | zero 4 | body | 0 to 7 zeros |
//
// A file may end anywhere after its header: it contains only the space reserved so far, and bytes after its end count
// as zeros. It grows with use, up to its capacity.
//
// A segment is created in advance with base = unset_position, and gets its base when the stream reaches it. A reset of
// the sequence numbers starts a new segment, so that earlier segments can be archived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "nexusfix/base/language.hpp"

namespace nfx {

using JournalPosition = std::uint64_t;

inline constexpr JournalPosition unset_position = UINT64_MAX;
inline constexpr std::size_t segment_header_size = 4096;
inline constexpr std::size_t record_alignment = 8;

enum class RecordKind : std::uint8_t {
  none = 0,           // no record: the end of the written part
  message = 1,        // sent under `seq`, with the message as body; the next outbound number is seq + 1
  next_inbound = 2,   // the next expected inbound number is `seq`
  next_outbound = 3,  // the next outbound number is `seq`: messages were sent but not stored, or the number was set
  reset = 4,          // both sequence numbers are 1 and no message is stored; time is the start of the epoch
  opened = 5,         // a process started writing; seq is its pid
  closed = 6,         // ... and closed the journal in order
};

[[nodiscard]] std::string_view to_string(RecordKind kind) noexcept;

enum class RecordFlag : std::uint8_t {
  by_operator = 1,   // for next_inbound and next_outbound: set by a person; the body has the reason
  imported = 2,      // also for message: imported from another engine's store; for numbers, the body has the source
  recorded = 4,      // for message: the body is part of a recording (recording/format.hpp), not a FIX message
  received = 8,      // for next_inbound: the body is the peer's message that was processed
  asked_reset = 16,  // for next_outbound, which does not change: the peer was asked to reset, and has not answered yet
};

struct RecordHeader {
  std::uint32_t size;  // header and body, without the padding; written last
  std::uint32_t crc;   // CRC-32C over the header from `seq` on and the body, seeded with the position's low 32 bits
  std::uint64_t seq;
  std::int64_t time_ns;  // UTC since 1970
  RecordKind kind;
  std::uint8_t flags;
  std::uint16_t zero_a;
  std::uint32_t zero_b;
};
static_assert(sizeof(RecordHeader) == 32);

[[nodiscard]] constexpr bool has_flag(const RecordHeader& header, RecordFlag flag) noexcept {
  return (header.flags & std::to_underlying(flag)) != 0;
}

[[nodiscard]] constexpr std::size_t padded(std::size_t record_size) noexcept {
  return (record_size + record_alignment - 1) / record_alignment * record_alignment;
}

// The start of a segment's header. The rest, up to offset 2048, is zero.
struct SegmentHeader {
  static constexpr std::size_t max_identity = 900;

  char magic[8];  // "NFXJRNL1"
  std::uint32_t version;
  std::uint32_t header_size;
  std::uint64_t ordinal;   // 1, 2, ...: also in the file's name, eight digits and ".nfxj"
  std::uint64_t capacity;  // space for records in bytes
  JournalPosition base;
  std::int64_t begun_ns;
  // The session's sequence numbers at `base`, so that earlier segments can be removed.
  std::uint64_t next_inbound;
  std::uint64_t next_outbound;
  std::int64_t creation_time_ns;
  std::uint32_t identity_size;
  char identity[max_identity];
  std::uint32_t crc;  // CRC-32C of everything before it
};
static_assert(sizeof(SegmentHeader) == 984);

// Says that everything before `position` was durable at `time_ns`. Each segment's header has two places, which are
// written alternately, so that one of them is always whole; the higher count is the later mark. A mark itself becomes
// durable with the sync after the one that it describes.
struct CommitMark {
  JournalPosition position;
  std::int64_t time_ns;
  std::uint64_t count;
  std::uint32_t zero;
  std::uint32_t crc;  // CRC-32C of everything before it
};
static_assert(sizeof(CommitMark) == 32);

inline constexpr std::size_t commit_mark_offsets[2] = {2048, 3072};

}  // namespace nfx
