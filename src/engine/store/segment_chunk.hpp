// Records read back from the segment files of a journal, for a resend of what the ring no longer has: in pieces of some
// 256 KiB, one of which is in memory.
// Thread: the poll thread. Cost: reading a piece is two system calls; a record of the piece in memory, its checksum.
// Lifetime: a record is dead after the next call. Errors: none is thrown; a record that the file does not give is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "store/disk.hpp"
#include "store/journal_format.hpp"
#include "store/journal_writer.hpp"

namespace nfx::detail {

// The body of a whole record, when it is the message of that number.
[[nodiscard]] inline std::optional<std::string_view> message_of(const char* record, std::uint64_t seq) noexcept {
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  NFX_REQUIRE(header.size >= sizeof header);  // also of bytes that came back from a file
  if (header.kind != RecordKind::message || header.seq != seq) return std::nullopt;
  return std::string_view{record + sizeof header, header.size - sizeof header};
}

class SegmentChunk {
 public:
  // The whole record at `position`, checked. Nothing at or after `written` is read: there the file has bytes that are
  // still to be overwritten.
  [[nodiscard]] const char* record_at(JournalWriter& writer, JournalPosition position, JournalPosition written);

 private:
  [[nodiscard]] const char* bytes_at(JournalWriter& writer, JournalPosition position, std::size_t size,
                                     JournalPosition written);
  [[nodiscard]] bool make_room(std::size_t size);

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  JournalPosition begin_ = 0;
  JournalPosition end_ = 0;
  std::unique_ptr<DiskFile> file_;
  std::uint64_t ordinal_ = 0;  // of the file
};

}  // namespace nfx::detail
