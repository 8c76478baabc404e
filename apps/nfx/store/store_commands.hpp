// The subcommands of nfx store, and their common parts: selection of sessions, their state, and times as text.
// Thread: any one. Errors: ConfigError for a wrong name, StoreError for a store that cannot be read or is open in a
// process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "output.hpp"
#include "store/journal_archive.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"

namespace nfx::app::store {

struct Place {
  std::string store;                        // the store's directory, or one session's folder in it
  std::string session;                      // identity, or its folder's name; empty: all
  std::string ring_directory = "/dev/shm";  // used by commands that write
};

// Options of several commands: STORE and --session; --ring-directory; --format.
[[nodiscard]] std::vector<cli::Option> place_options(Place& place);
[[nodiscard]] cli::Option ring_directory_option(Place& place);
[[nodiscard]] cli::Option format_option(std::string& format, std::string_view help);
// `first`, then `rest`.
[[nodiscard]] std::vector<cli::Option> with(std::vector<cli::Option> first, std::vector<cli::Option> rest);

// The selected sessions, by identity. Throws ConfigError if the store or session does not exist; the error lists the
// existing ones. An empty store is an error too, unless `may_be_empty` and nothing else is in the folder.
[[nodiscard]] std::vector<StoredSession> find_sessions(const Place& place, bool may_be_empty = false);
// For commands that need exactly one.
[[nodiscard]] StoredSession find_session(const Place& place);

// The records of a session, which an engine may have open.
[[nodiscard]] JournalScan scan_session(const StoredSession& session,
                                       const std::function<bool(const JournalRecord&)>& visit = {},
                                       JournalPosition from = 0);

// Option for archived segments. `archive` is a name as in find_archived(); empty: the journal itself.
[[nodiscard]] cli::Option archive_option(std::string& archive);
// The named segment, with or without ".nfxj", or all of them for "all". Throws ConfigError if there is none.
[[nodiscard]] std::vector<ArchivedSegment> find_archived(const StoredSession& session, const std::string& archive);
[[nodiscard]] std::vector<JournalScan> scan_chosen(const StoredSession& session, const std::string& archive,
                                                   const std::function<bool(const JournalRecord&)>& visit);

// Opens the session's journal for writing, including the ring of a killed process. Throws StoreError if a process has
// it open.
[[nodiscard]] JournalStore open_journal(const Place& place, const StoredSession& session, UtcTime now);

// Sequence numbers of messages that can be resent: appended ones, except those discarded by a reset or a lower number.
// Cost: 16 bytes per gap.
class StoredNumbers {
 public:
  void append(std::uint64_t seq);
  void forget_all() noexcept { runs_.clear(); }
  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] std::uint64_t first() const noexcept { return runs_.empty() ? 0 : runs_.front().first; }
  [[nodiscard]] std::uint64_t last() const noexcept { return runs_.empty() ? 0 : runs_.back().second; }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs_;
};

// Everything about a session at one moment.
struct SessionState {
  JournalScan scan;
  StoredNumbers stored;
  std::uint64_t bytes = 0;  // of all segment files
  std::vector<ArchivedSegment> archived;
  std::optional<int> open_in;  // process that has it open
  // Records and bytes that only the ring of that process has; they count together with the files.
  std::uint64_t ring_records = 0, ring_bytes = 0;
  std::string ring_problem;    // why it could not be read; empty otherwise
  std::string unreadable;      // why nothing else is known; empty otherwise
  bool other_version = false;  // because this program cannot read its version

  [[nodiscard]] bool damaged() const noexcept { return !unreadable.empty() || (scan.damage && !scan.torn); }
  // "open in process 4711", "clean", "new", "killed", "damaged", "other version"
  [[nodiscard]] std::string state() const;
};

// Includes the ring of a killed process in this folder; empty: only the files.
[[nodiscard]] SessionState read_state(const StoredSession& session, const std::string& ring_directory = {});

// "FILE: damaged at byte N: reason", and the fix.
[[nodiscard]] std::string describe(const JournalDamage& damage, const StoredSession& session, bool torn);

// "YYYYMMDD-HH:MM:SS.nnnnnnnnn", and "-" for a time that is not set.
[[nodiscard]] std::string nanosecond_stamp(UtcTime time);
[[nodiscard]] inline UtcTime time_of(const RecordHeader& header) noexcept { return UtcTime{Duration{header.time_ns}}; }

// "4096 B", "64 MiB".
[[nodiscard]] std::string readable_size(std::uint64_t bytes);

// "1 message", "2 messages".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);

// ,"name":"text" and ,"name":number
void append_member(SafeText& out, std::string_view name, std::string_view text);
void append_member(SafeText& out, std::string_view name, std::uint64_t number);

cli::Command ls_command();
cli::Command cat_command();
cli::Command tail_command();
cli::Command verify_command();
cli::Command repair_command();
cli::Command seq_command();
cli::Command export_command();
cli::Command import_command();
cli::Command rings_command();

}  // namespace nfx::app::store
