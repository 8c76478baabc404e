// Finds records again where the bytes before them cannot be read.
// Thread: any. Cost: linear in the bytes searched, whatever they are: at most checked_per_byte of checksum for each.
// Errors: DiskError.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/journal_scan.hpp"

namespace nfx::detail {

// A part of a segment's file: where it begins in file and stream, and the position where its records must have ended.
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

  // The first position at or after `from` where a whole record begins; the range's end when there is none.
  [[nodiscard]] DiskResult<JournalPosition> next_whole(JournalPosition from);
  // Bytes whose checksum was computed.
  [[nodiscard]] std::uint64_t checked() const noexcept { return checked_; }
  // It was given up: too many bytes look like the beginning of a record, and none of them is.
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }

 private:
  PiecewiseFile& file_;
  SearchRange range_;
  std::uint64_t budget_;
  std::uint64_t checked_ = 0;
  bool given_up_ = false;
};

// The low 32 bits of the only position at which the checksum of this record is right.
[[nodiscard]] std::optional<std::uint32_t> low_position_of(std::string_view record) noexcept;

// Where a segment may begin in the stream.
struct BaseRange {
  JournalPosition lowest = 0;
  JournalPosition highest = 0;  // what is 4 GiB after `lowest` or more is not found
};

// Where the segment in this file begins, whatever its header has: each record's checksum shows its position, and two
// records must agree. A record alone counts when the range is that of one segment. Cost: linear, at most
// base_checked_per_byte of checksum for each byte of the file.
inline constexpr std::uint64_t base_checked_per_byte = 66;
[[nodiscard]] DiskResult<std::optional<JournalPosition>> find_base(DiskFile& file, const BaseRange& range);

}  // namespace nfx::detail
