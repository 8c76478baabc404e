// Finds records again after unreadable bytes.
// Thread: any. Cost: linear in the searched bytes, whatever their content: at most checked_per_byte bytes of checksum
// for each. Errors: DiskError.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/journal_scan.hpp"

namespace nfx::detail {

// A part of a segment's file: its beginning in file and stream, and the position where its records must have ended.
struct SearchRange {
  std::uint64_t offset = 0;
  JournalPosition begin = 0;
  JournalPosition end = 0;
};

class RecordSearch {
 public:
  static constexpr std::uint64_t checked_per_byte = 8;

  RecordSearch(PiecewiseFile& file, const SearchRange& range) noexcept
      : file_(file), range_(range), budget_(checked_per_byte * (range.end - range.begin)) {}

  // The first position at or after `from` where a whole record begins; the range's end if there is none.
  [[nodiscard]] DiskResult<JournalPosition> next_whole(JournalPosition from);
  // The number of bytes whose checksum was computed.
  [[nodiscard]] std::uint64_t checked() const noexcept { return checked_; }
  // The search was given up: too many bytes look like the beginning of a record, but none is one.
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }

 private:
  PiecewiseFile& file_;
  SearchRange range_;
  std::uint64_t budget_;
  std::uint64_t checked_ = 0;
  bool given_up_ = false;
};

// The low 32 bits of the only position for which the checksum of this record is right.
[[nodiscard]] std::optional<std::uint32_t> low_position_of(std::string_view record) noexcept;

// The positions where a segment may begin in the stream.
struct BaseRange {
  JournalPosition lowest = 0;
  JournalPosition highest = 0;  // a position 4 GiB or more above `lowest` is not found
};

// Finds where the segment in this file begins, whatever its header contains: each record's checksum gives its position,
// and two records must agree. One record alone counts if the range is no longer than a segment. Cost: linear, at most
// base_checked_per_byte of checksum for each byte of the file.
inline constexpr std::uint64_t base_checked_per_byte = 66;
[[nodiscard]] DiskResult<std::optional<JournalPosition>> find_base(DiskFile& file, const BaseRange& range);

}  // namespace nfx::detail
