// What reading, opening and repairing a journal share: its files by name, and its records one after the other.
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

inline constexpr std::size_t scan_piece = 1024 * 1024;      // most bytes that are read or written in one call
inline constexpr std::size_t first_scan_piece = 64 * 1024;  // the first of a file; each later one is twice as large
inline constexpr std::string_view segment_suffix = ".nfxj";
inline constexpr std::string_view archive_folder = "archive";
inline constexpr std::string_view lock_name = "lock";
inline constexpr std::string_view ring_prefix = "nexusfix-";
inline constexpr std::string_view ring_suffix = ".ring";
inline constexpr std::string_view unfinished_suffix = ".tmp";

[[nodiscard]] std::string segment_name(std::uint64_t ordinal);                      // "00000001.nfxj"
[[nodiscard]] std::optional<std::uint64_t> segment_ordinal(std::string_view name);  // of such a name alone

// A segment in archive/: "00000001-20240315-093000.nfxj", its number and when it was archived.
struct ArchivedName {
  std::uint64_t ordinal = 0;
  UtcTime put_away{};
};
[[nodiscard]] std::string archived_segment_name(const ArchivedName& name);
[[nodiscard]] std::optional<ArchivedName> read_archived_name(std::string_view name);

// One path however a folder is called, absolute and without links.
[[nodiscard]] std::string whole_path(const std::filesystem::path& folder);

// Bytes of a file, read in pieces of a MiB.
class PiecewiseFile {
 public:
  explicit PiecewiseFile(DiskFile& file) : file_(&file) {}
  // `size` bytes from `offset` on; an empty view when the file ends before.
  [[nodiscard]] DiskResult<std::string_view> bytes(std::uint64_t offset, std::size_t size);

 private:
  DiskFile* file_;
  std::unique_ptr<char[]> piece_;  // not cleared: a short file touches no more memory than it has bytes
  std::size_t capacity_ = 0;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

// How a record is read at one place of a segment.
enum class RecordState : std::uint8_t { whole, none, impossible_size, wrong_checksum };

struct FoundRecord {
  RecordState state = RecordState::none;
  std::string_view bytes;  // of a whole one, without the zeros after it
};

// The record at `offset` of a segment's file that ends at `limit`.
[[nodiscard]] DiskResult<FoundRecord> record_at(PiecewiseFile& file, std::uint64_t offset, std::uint64_t limit,
                                                JournalPosition position);

[[nodiscard]] std::string_view reason_of(RecordState state) noexcept;

// The offset after the last byte at or after `offset` that is not zero; `offset` when all are.
[[nodiscard]] DiskResult<std::uint64_t> end_of_bytes(DiskFile& file, std::uint64_t offset);

// What a segment has after its last record.
[[nodiscard]] std::span<const char, scan_piece> zeros() noexcept;

// The later of the two commit marks that is whole.
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
