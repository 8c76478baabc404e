// Reads journals without changing them, also while a process writes them: for tools, and for opening a store.
// Thread: any. Cost: reads files in pieces; memory is bounded by the longest record. Errors: damage is a value with
// file, offset and reason; what cannot be read at all is a StoreError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "store/disk.hpp"
#include "store/journal_format.hpp"
#include "store/journal_store.hpp"

namespace nfx {

// The folder of a new session in a store: 32 hexadecimal digits, half of the SHA-256 of its identity. So no CompID
// becomes a file name, and CompIDs that have the same folder cannot be chosen.
[[nodiscard]] std::filesystem::path session_folder(const std::filesystem::path& store, std::string_view identity);
// The folder in which the session's journal is, where there is one: also one of 16 digits, of a hash that was used
// before. Otherwise session_folder().
[[nodiscard]] std::filesystem::path find_session_folder(Disk& disk, const std::filesystem::path& store,
                                                        std::string_view identity);
// The ring of the session in this folder. Its name has as many digits as the folder's.
[[nodiscard]] std::filesystem::path ring_path(const std::filesystem::path& ring_directory,
                                              const std::filesystem::path& folder);

struct JournalRecord {
  JournalPosition position = 0;
  RecordHeader header{};
  std::string_view body;  // dead when the visitor returns
  const std::string* file = nullptr;
  std::uint64_t offset = 0;  // in the file
};

struct JournalDamage {
  std::string file;
  std::uint64_t offset = 0;
  JournalPosition position = 0;
  std::string reason;  // "the checksum of a record is wrong"
};

struct SegmentInfo {
  std::filesystem::path path;
  SegmentHeader header{};
  JournalPosition end = 0;        // after its last whole record
  JournalPosition committed = 0;  // by its last mark; base when there is none
  UtcTime committed_at{};
};

struct JournalScan {
  std::string identity;
  std::vector<SegmentInfo> segments;         // with a base, in order
  std::vector<std::filesystem::path> spare;  // made ahead
  JournalPosition end = 0;
  JournalPosition committed = 0;
  std::uint64_t records = 0;
  // Before `committed`, or with a segment after it: something is lost. Otherwise: a tail that a power loss tore, which
  // opening cuts.
  std::optional<JournalDamage> damage;
  bool torn = false;  // `damage` is after the last commit mark, and in the last segment
  // The sequence numbers after the last whole record.
  SeqNum next_inbound = first_seq_num;
  SeqNum next_outbound = first_seq_num;
  UtcTime creation_time{};
  bool closed = false;  // the last record states it
  // A segment that was made ahead is there: a last segment that was deleted is known as damage. Without one it is not.
  bool shows_last = false;
};

// The journal is not damaged, but this program does not read its version.
class JournalVersionError : public StoreError {
 public:
  using StoreError::StoreError;
};

// Visits the records in order; the visitor returns false to end the scan early. Throws StoreError when the folder
// cannot be read or does not hold a journal.
[[nodiscard]] JournalScan scan_journal(Disk& disk, const std::filesystem::path& folder,
                                       const std::function<bool(const JournalRecord&)>& visit = {},
                                       JournalPosition from = 0);

// The same of a journal that a process may be writing. A record may be incomplete while it is written: it counts as
// torn only when no process has the session open and a second scan still finds it.
[[nodiscard]] JournalScan scan_journal_in_use(Disk& disk, const std::filesystem::path& folder,
                                              const std::function<bool(const JournalRecord&)>& visit = {},
                                              JournalPosition from = 0);

// The sessions below a store: folder and identity. Throws StoreError.
struct StoredSession {
  std::filesystem::path folder;
  std::string identity;
};
[[nodiscard]] std::vector<StoredSession> list_sessions(Disk& disk, const std::filesystem::path& store);

// The pid of the process that holds the session; empty when none does.
[[nodiscard]] std::optional<int> holder(Disk& disk, const std::filesystem::path& folder);

// Makes a damaged journal whole again, and returns a description of what was done. The damaged files are saved next to
// it as NAME.damaged. gap_fill: records that cannot be read are left out, so that messages among them are gap-filled on
// resend. copy_from: a copy of the same session's folder provides what cannot be read. Throws StoreError when the
// session is in use, or the copy does not help.
[[nodiscard]] std::string repair_by_gap_fill(Disk& disk, const std::filesystem::path& folder);
[[nodiscard]] std::string repair_from_copy(Disk& disk, const std::filesystem::path& folder,
                                           const std::filesystem::path& copy);

}  // namespace nfx
