// Reads records back from a journal's segment files, for a resend of messages that the ring no longer has. It reads
// pieces of some 256 KiB and keeps one in memory.
// Thread: the poll thread. Cost: two system calls per piece; for a record of the piece in memory, its checksum.
// Lifetime: a record is valid until the next call. Errors: none is thrown; a record that the file does not contain is
// null.
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

// The body of a whole record, if it is the message with that number.
[[nodiscard]] inline std::optional<std::string_view> message_of(const char* record, std::uint64_t seq) noexcept {
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  NFX_REQUIRE(header.size >= sizeof header);  // also for bytes from a file
  if (header.kind != RecordKind::message || header.seq != seq) return std::nullopt;
  return std::string_view{record + sizeof header, header.size - sizeof header};
}

class SegmentChunk {
 public:
  // The whole record at `position`, checked. Nothing at or after `written` is read: the file has old bytes there.
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
  std::uint64_t ordinal_ = 0;  // ordinal of the file
};

}  // namespace nfx::detail
