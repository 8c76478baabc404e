// Shared by reading, opening and repairing a journal: finds its files by name, and reads its records one after the
// other.
// Thread: any. Errors: DiskError; damage is returned, not thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/disk.hpp"
#include "store/journal_format.hpp"
#include "store/journal_reader.hpp"

namespace nfx::detail {

inline constexpr std::size_t scan_piece = 1024 * 1024;      // maximum bytes per read or write
inline constexpr std::size_t first_scan_piece = 64 * 1024;  // first piece of a file; each later one is twice as large
inline constexpr std::string_view segment_suffix = ".nfxj";
inline constexpr std::string_view archive_folder = "archive";
inline constexpr std::string_view lock_name = "lock";
inline constexpr std::string_view ring_prefix = "nexusfix-";
inline constexpr std::string_view ring_suffix = ".ring";
inline constexpr std::string_view unfinished_suffix = ".tmp";

[[nodiscard]] std::string segment_name(std::uint64_t ordinal);                      // "00000001.nfxj"
[[nodiscard]] std::optional<std::uint64_t> segment_ordinal(std::string_view name);  // only from such a name

// A segment in archive/: "00000001-20240315-093000.nfxj", its ordinal and the time of archiving.
struct ArchivedName {
  std::uint64_t ordinal = 0;
  UtcTime put_away{};
};
[[nodiscard]] std::string archived_segment_name(const ArchivedName& name);
[[nodiscard]] std::optional<ArchivedName> read_archived_name(std::string_view name);

// The absolute path without links, whatever path names the folder.
[[nodiscard]] std::string whole_path(const std::filesystem::path& folder);

// Reads a file in pieces of up to a MiB.
class PiecewiseFile {
 public:
  explicit PiecewiseFile(DiskFile& file) : file_(&file) {}
  // `size` bytes from `offset` on; an empty view if the file ends before.
  [[nodiscard]] DiskResult<std::string_view> bytes(std::uint64_t offset, std::size_t size);

 private:
  DiskFile* file_;
  std::unique_ptr<char[]> piece_;  // not cleared, so that a short file touches only as much memory as it has bytes
  std::size_t capacity_ = 0;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

// The result of reading a record at some offset of a segment.
enum class RecordState : std::uint8_t { whole, none, impossible_size, wrong_checksum };

struct FoundRecord {
  RecordState state = RecordState::none;
  std::string_view bytes;  // for a whole record, without the padding
};

// The record at `offset` of a segment's file that ends at `limit`.
[[nodiscard]] DiskResult<FoundRecord> record_at(PiecewiseFile& file, std::uint64_t offset, std::uint64_t limit,
                                                JournalPosition position);

[[nodiscard]] std::string_view reason_of(RecordState state) noexcept;

// The offset after the last non-zero byte at or after `offset`; `offset` if all are zero.
[[nodiscard]] DiskResult<std::uint64_t> end_of_bytes(DiskFile& file, std::uint64_t offset);

// Zeros, like the rest of a segment after its last record.
[[nodiscard]] std::span<const char, scan_piece> zeros() noexcept;

// The later of the two commit marks, if it is whole; otherwise the other one.
[[nodiscard]] std::optional<CommitMark> last_mark(std::string_view header_page) noexcept;

// The sequence numbers of a session, updated record by record.
struct StandingNumbers {
  std::uint64_t next_inbound = 1;
  std::uint64_t next_outbound = 1;
  std::int64_t creation_time_ns = 0;
  bool closed = false;

  void apply(const RecordHeader& record) noexcept;
  [[nodiscard]] bool is_first() const noexcept { return next_inbound == 1 && next_outbound == 1; }
};

[[noreturn]] void throw_disk_error(const DiskError& error, std::string_view fix = {});

template <class T>
T value_or_throw(DiskResult<T> result, std::string_view fix = {}) {
  if (!result) throw_disk_error(result.error(), fix);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace nfx::detail
