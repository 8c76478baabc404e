// Reads and writes records, segment headers and commit marks as bytes, with their checksums.
// Thread: any. Cost: no allocation. Errors: a check that fails returns false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "base/crc32c.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "store/journal_format.hpp"

namespace nfx::detail {

// The part of a record's header that the checksum covers.
inline constexpr std::size_t record_checked_from = offsetof(RecordHeader, seq);

[[nodiscard]] inline std::uint32_t record_crc(JournalPosition position, const char* record, std::size_t size) noexcept {
  return crc32c({record + record_checked_from, size - record_checked_from}, static_cast<std::uint32_t>(position));
}

// Writes a record of padded(sizeof(RecordHeader) + front.size() + body.size()) bytes; the size word last. `header` is
// without size and crc. `front` is the first part of a body that is in two pieces.
inline void write_record(char* to, JournalPosition position, const RecordHeader& header, std::string_view body,
                         std::string_view front = {}) noexcept {
  NFX_ASSERT(header.kind > RecordKind::none && header.kind <= RecordKind::closed);
  // the padded size fits into the size word
  NFX_ASSERT(front.size() + body.size() <= std::numeric_limits<std::uint32_t>::max() / 2);
  NFX_ASSERT(position % record_alignment == 0);
  const auto size = static_cast<std::uint32_t>(sizeof header + front.size() + body.size());
  const std::string_view checked{reinterpret_cast<const char*>(&header) + record_checked_from,
                                 sizeof header - record_checked_from};
  std::uint32_t crc = crc32c(checked, static_cast<std::uint32_t>(position));
  if (!front.empty()) crc = crc32c(front, crc);
  crc = crc32c(body, crc);
  // The zeros after the record are written first; the body then overwrites some of them.
  std::memset(to + padded(size) - record_alignment, 0, record_alignment);
  // Copies the header in parts: reading it as a whole would wait for the stores of its members.
  constexpr std::uint32_t no_size = 0;
  static_assert(offsetof(RecordHeader, crc) == sizeof no_size && record_checked_from == sizeof no_size + sizeof crc);
  std::memcpy(to, &no_size, sizeof no_size);
  std::memcpy(to + sizeof no_size, &crc, sizeof crc);
  std::memcpy(to + record_checked_from, checked.data(), checked.size());
  if (!front.empty()) std::memcpy(to + sizeof header, front.data(), front.size());
  if (!body.empty()) std::memcpy(to + sizeof header + front.size(), body.data(), body.size());
  std::memcpy(to, &size, sizeof size);
}

// Whether the `size` bytes at `record` are a complete record for that position.
[[nodiscard]] inline bool record_is_whole(JournalPosition position, const char* record, std::size_t size) noexcept {
  NFX_REQUIRE(size >= sizeof(RecordHeader));  // a smaller size would read beyond its end
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  return header.size == size && header.kind > RecordKind::none && header.kind <= RecordKind::closed &&
         header.crc == record_crc(position, record, size);
}

[[nodiscard]] inline std::uint32_t header_crc(const SegmentHeader& header) noexcept {
  return crc32c({reinterpret_cast<const char*>(&header), offsetof(SegmentHeader, crc)});
}

[[nodiscard]] bool header_is_whole(const SegmentHeader& header) noexcept;
// Not damaged, but of a version that this program cannot read; returns what to do about it.
[[nodiscard]] bool is_of_another_version(const SegmentHeader& header) noexcept;
[[nodiscard]] std::string another_version_text(const SegmentHeader& header);
[[nodiscard]] SegmentHeader make_header(std::uint64_t ordinal, std::uint64_t capacity,
                                        std::string_view identity) noexcept;
[[nodiscard]] inline std::string_view identity_of(const SegmentHeader& header) noexcept {
  return {header.identity, header.identity_size};
}

[[nodiscard]] inline std::uint32_t mark_crc(const CommitMark& mark) noexcept {
  return crc32c({reinterpret_cast<const char*>(&mark), offsetof(CommitMark, crc)});
}
[[nodiscard]] inline bool mark_is_whole(const CommitMark& mark) noexcept {
  return mark.count != 0 && mark.crc == mark_crc(mark);
}

// For names of folders and files: the same on all machines and in all versions.
[[nodiscard]] std::uint64_t stable_hash(std::string_view text) noexcept;

[[nodiscard]] inline std::int64_t to_ns(UtcTime time) noexcept { return time.time_since_epoch().count(); }
[[nodiscard]] inline UtcTime from_ns(std::int64_t ns) noexcept { return UtcTime{Duration{ns}}; }

}  // namespace nfx::detail
