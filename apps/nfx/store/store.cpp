// nfx store: shows, checks, repairs and moves the journals of sessions, and sets their sequence numbers.
#include "store/store_commands.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>

#include "base/error_text.hpp"
#include "base/suggest.hpp"
#include "command.hpp"
#include "decode/print.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/left_rings.hpp"
#include "text.hpp"

namespace nfx::app {
namespace store {
namespace {

namespace fs = std::filesystem;

bool is_segment_name(const fs::path& name) { return name.extension() == ".nfxj"; }

bool has_segments(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator files{folder, error};
  return !error && std::any_of(begin(files), end(files),
                               [](const fs::directory_entry& entry) { return is_segment_name(entry.path()); });
}

std::string names_of(const std::vector<StoredSession>& sessions) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < sessions.size() && i < most; ++i) {
    text += i == 0 ? "" : ", ";
    append_printable(text, sessions[i].identity);
  }
  if (sessions.size() > most) text += " and " + std::to_string(sessions.size() - most) + " more";
  return text;
}

void check_folder(const std::string& folder) {
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::status(folder, error));
  if (!is_folder)
    throw ConfigError(cannot("read", folder, error ? error.value() : ENOTDIR) +
                      "; give the directory of the engine's journals");
}

// Whether the folder belongs to something other than a store. A new store contains only session folders, whose names
// are hexadecimal numbers.
bool holds_something_else(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries{folder, error};
  return !error && std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return !entry.is_directory() || name.find_first_not_of("0123456789abcdef") != std::string::npos;
  });
}

// Works for a copy too, whatever its folder is called.
std::vector<StoredSession> the_one_in(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  const JournalScan scan = scan_journal(posix_disk(), whole, [](const JournalRecord&) { return false; });
  if (!scan.identity.empty()) return {{whole, scan.identity}};
  throw ConfigError(folder.string() +
                    ": holds segments, but none whose header names a session; give the store's directory, in which "
                    "each session has a folder");
}

}  // namespace

std::vector<cli::Option> place_options(Place& place) {
  return {{.names = "STORE",
           .target = &place.store,
           .help = "Directory of a store, or the folder of one session in it",
           .required = true,
           .kind = cli::Kind::folder},
          {.names = "--session",
           .target = &place.session,
           .help = "Only this session: FIX.4.4:SENDER->TARGET, or its folder's name",
           .value = "IDENTITY"}};
}

cli::Option ring_directory_option(Place& place) {
  return {.names = "--ring-directory",
          .target = &place.ring_directory,
          .help = "Folder of the rings of the engine's journals",
          .kind = cli::Kind::folder};
}

cli::Option format_option(std::string& format, std::string_view help) {
  return {.names = "--format", .target = &format, .help = help, .one_of = {"text", "json"}};
}

std::vector<cli::Option> with(std::vector<cli::Option> first, std::vector<cli::Option> rest) {
  for (cli::Option& option : rest) first.push_back(std::move(option));
  return first;
}

std::vector<StoredSession> find_sessions(const Place& place, bool may_be_empty) {
  check_folder(place.store);
  std::vector<StoredSession> all =
      has_segments(place.store) ? the_one_in(place.store) : list_sessions(posix_disk(), place.store);
  if (all.empty() && (!may_be_empty || holds_something_else(place.store))) {
    throw ConfigError(place.store + ": no session is stored here; give the directory of the engine's journals");
  }
  std::ranges::sort(all, {}, &StoredSession::identity);
  if (place.session.empty()) return all;
  for (const StoredSession& session : all) {
    if (session.identity == place.session || session.folder.filename() == place.session) return {session};
  }
  std::vector<std::string_view> candidates;
  for (const StoredSession& session : all) candidates.push_back(session.identity);
  throw ConfigError(place.store + ": no such session \"" + place.session + '"' +
                    did_you_mean(place.session, candidates) + "; the store has " +
                    (all.empty() ? "none" : names_of(all)));
}

StoredSession find_session(const Place& place) {
  const std::vector<StoredSession> found = find_sessions(place);
  if (found.size() == 1) return found.front();
  throw ConfigError(place.store + ": has " + std::to_string(found.size()) +
                    " sessions: choose one with --session: " + names_of(found));
}

JournalScan scan_session(const StoredSession& session, const std::function<bool(const JournalRecord&)>& visit,
                         JournalPosition from) {
  return scan_journal_in_use(posix_disk(), session.folder, visit, from);
}

JournalStore open_journal(const Place& place, const StoredSession& session, UtcTime now) {
  JournalOptions options;
  options.directory = session.folder.parent_path();
  if (find_session_folder(posix_disk(), options.directory, session.identity) != session.folder) {
    throw ConfigError(session.folder.string() +
                      ": is a copy of the session's folder, which an engine would not find; set the sequence numbers "
                      "in the store itself");
  }
  options.ring_directory = place.ring_directory;
  // A ring left by a killed process can be read only with its original size.
  constexpr std::uint64_t page = 4096;
  std::error_code error;
  const std::uint64_t ring = fs::file_size(ring_path(options.ring_directory, session.folder), error);
  if (!error && ring > page && ring - page <= UINT32_MAX) options.ring_size = static_cast<std::uint32_t>(ring - page);
  std::uint64_t segment = 0;
  for (const SegmentInfo& info : scan_journal(posix_disk(), session.folder).segments) {
    segment = segment_header_size + info.header.capacity;
  }
  if (segment != 0) options.segment_size = segment;
  return JournalStore{posix_disk(), options, session.identity, now};
}

void StoredNumbers::append(std::uint64_t seq) {
  while (!runs_.empty() && runs_.back().first >= seq) runs_.pop_back();
  if (!runs_.empty() && runs_.back().second >= seq) runs_.back().second = seq - 1;
  if (!runs_.empty() && runs_.back().second + 1 == seq) {
    runs_.back().second = seq;
  } else {
    runs_.emplace_back(seq, seq);
  }
}

std::uint64_t StoredNumbers::count() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [first, last] : runs_) sum += last - first + 1;
  return sum;
}

std::string SessionState::state() const {
  if (other_version) return "other version";
  if (damaged()) return "damaged";
  if (open_in) return "open in process " + std::to_string(*open_in);
  if (scan.records == 0) return "new";
  return scan.closed ? "clean" : "killed";
}

SessionState read_state(const StoredSession& session, const std::string& ring_directory) {
  SessionState state_now;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{session.folder, error}) {
    if (is_segment_name(entry.path())) state_now.bytes += entry.file_size(error);
  }
  try {
    state_now.archived = list_archive(posix_disk(), session.folder);
    for (const ArchivedSegment& segment : state_now.archived) state_now.bytes += segment.size;
    state_now.open_in = holder(posix_disk(), session.folder);
    const auto visit = [&](const JournalRecord& record) {
      if (record.header.kind == RecordKind::message) state_now.stored.append(record.header.seq);
      if (record.header.kind == RecordKind::reset) state_now.stored.forget_all();
      return true;
    };
    state_now.scan = scan_session(session, visit);
    JournalScan& scan = state_now.scan;
    const bool killed = !state_now.open_in && !scan.closed;
    if (killed && !ring_directory.empty() && (!scan.damage || scan.torn)) {
      const JournalPosition end = scan.end;
      try {
        state_now.ring_records = add_left_ring(posix_disk(), ring_path(ring_directory, session.folder), scan, visit);
      } catch (const StoreError& problem) {
        state_now.ring_problem = problem.what();
      }
      state_now.ring_bytes = scan.end - end;
      // A record that a killed process left incomplete in a file is complete in the ring.
      if (state_now.ring_records != 0) scan.damage.reset();
    }
  } catch (const JournalVersionError& problem) {
    state_now.other_version = true;
    state_now.unreadable = problem.what();
  } catch (const StoreError& problem) {
    state_now.unreadable = problem.what();
  }
  return state_now;
}

std::string describe(const JournalDamage& damage, const StoredSession& session, bool torn) {
  std::string text = damage.file + ": " + (torn ? "torn" : "damaged") + " at byte " + std::to_string(damage.offset) +
                     ": " + damage.reason;
  if (torn) return text + "; it is after the last commit, and the next opening truncates it";
  return text + "; repair it from a copy with 'nfx store repair " + session.folder.string() +
         " --from COPY', or leave unreadable records out with --gap-fill";
}

std::string nanosecond_stamp(UtcTime time) {
  if (time == UtcTime{}) return "-";
  char text[max_utc_timestamp_size];
  return {text, write_utc_timestamp(text, time, 9)};
}

std::string readable_size(std::uint64_t bytes) {
  constexpr std::string_view units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  while (bytes >= 10 * 1024 && unit + 1 < std::size(units)) {
    bytes = (bytes + 512) / 1024;
    ++unit;
  }
  return std::to_string(bytes).append(units[unit]);
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string{what} + (count == 1 ? "" : "s");
}

void append_member(SafeText& out, std::string_view name, std::string_view text) {
  out.add(",\"{}\":{}", name, json_text(text));
}

void append_member(SafeText& out, std::string_view name, std::uint64_t number) { out.add(",\"{}\":{}", name, number); }

}  // namespace store

cli::Command store_command() {
  using namespace store;
  return {
      .name = "store",
      .summary = "Show, check, repair and move the stored messages and sequence numbers of sessions",
      .commands = {ls_command(), cat_command(), tail_command(), verify_command(), repair_command(), seq_command(),
                   export_command(), import_command(), rings_command()},
      .details =
          "Commands that only read are safe while an engine runs. They read the files, which are some milliseconds "
          "behind the engine.",
      .exit_codes = "0 done, 1 failed, 2 wrong usage; 'nfx store verify' has its own",
  };
}

}  // namespace nfx::app
