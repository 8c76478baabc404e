// Reads journals without changing them, also while a process writes them: for tools, and for opening a store.
// Thread: any. Cost: reads files in pieces; memory is bounded by the longest record. Errors: damage is a value with
// file, offset and reason; files that cannot be read at all are a StoreError.
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
// becomes a file name, and nobody can construct CompIDs with the same folder.
[[nodiscard]] std::filesystem::path session_folder(const std::filesystem::path& store, std::string_view identity);
// The existing folder of the session's journal, which may have a name of 16 digits, from the hash used by earlier
// versions. If there is none, session_folder().
[[nodiscard]] std::filesystem::path find_session_folder(Disk& disk, const std::filesystem::path& store,
                                                        std::string_view identity);
// The ring of the session in this folder. Its name has as many digits as the folder's.
[[nodiscard]] std::filesystem::path ring_path(const std::filesystem::path& ring_directory,
                                              const std::filesystem::path& folder);

struct JournalRecord {
  JournalPosition position = 0;
  RecordHeader header{};
  std::string_view body;  // valid during the visit
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
  JournalPosition end = 0;        // end of the last whole record
  JournalPosition committed = 0;  // from the last commit mark; base if there is none
  UtcTime committed_at{};
};

struct JournalScan {
  std::string identity;
  std::vector<SegmentInfo> segments;         // segments with a base, in order
  std::vector<std::filesystem::path> spare;  // created in advance
  JournalPosition end = 0;
  JournalPosition committed = 0;
  std::uint64_t records = 0;
  // Damage before `committed`, or in a segment that has a successor, is a loss. Otherwise it is a tail torn by a power
  // loss, which opening removes.
  std::optional<JournalDamage> damage;
  bool torn = false;  // `damage` is after the last commit mark, and in the last segment
  // The sequence numbers after the last whole record.
  SeqNum next_inbound = first_seq_num;
  SeqNum next_outbound = first_seq_num;
  UtcTime creation_time{};
  bool closed = false;  // the last record says so
  // A spare segment exists. It shows whether the last segment was deleted, which otherwise remains undetected.
  bool shows_last = false;
};

// The journal is not damaged, but this program cannot read its version.
class JournalVersionError : public StoreError {
 public:
  using StoreError::StoreError;
};

// Visits the records in order; the visitor returns false to end the scan early. Throws StoreError if the folder cannot
// be read or does not contain a journal.
[[nodiscard]] JournalScan scan_journal(Disk& disk, const std::filesystem::path& folder,
                                       const std::function<bool(const JournalRecord&)>& visit = {},
                                       JournalPosition from = 0);

// The same for a journal that a process may be writing. A record may be incomplete while it is written, so it counts as
// torn only if no process has the session open and a second scan still finds it.
[[nodiscard]] JournalScan scan_journal_in_use(Disk& disk, const std::filesystem::path& folder,
                                              const std::function<bool(const JournalRecord&)>& visit = {},
                                              JournalPosition from = 0);

// The sessions in a store: folder and identity. Throws StoreError.
struct StoredSession {
  std::filesystem::path folder;
  std::string identity;
};
[[nodiscard]] std::vector<StoredSession> list_sessions(Disk& disk, const std::filesystem::path& store);

// The pid of the process that holds the session; empty if there is none.
[[nodiscard]] std::optional<int> holder(Disk& disk, const std::filesystem::path& folder);

// Repairs a damaged journal, and returns a description of the repair. The damaged files are saved beside it as
// NAME.damaged. gap_fill: leaves out unreadable records, so that messages among them are gap-filled on resend.
// copy_from: takes unreadable parts from a copy of the same session's folder. Throws StoreError if the session is in
// use, or if the copy does not help.
[[nodiscard]] std::string repair_by_gap_fill(Disk& disk, const std::filesystem::path& folder);
[[nodiscard]] std::string repair_from_copy(Disk& disk, const std::filesystem::path& folder,
                                           const std::filesystem::path& copy);

}  // namespace nfx
