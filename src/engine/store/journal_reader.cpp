// Reads a journal record by record, finds damage, and decides whether it is a torn tail or a loss.
#include "store/journal_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_scan.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

constexpr std::size_t former_digits = 16;
constexpr std::size_t digits_of_hash = 32;

std::string digits_of(std::string_view text) {
  return hexadecimal(text_of_bytes(sha256(text))).substr(0, digits_of_hash);
}

// CompIDs with equal hashes can be constructed. Journals of earlier versions have such names.
std::string former_digits_of(std::string_view text) { return hexadecimal(stable_hash(text)); }

bool is_folder_name(std::string_view name) {
  return (name.size() == digits_of_hash || name.size() == former_digits) &&
         name.find_first_not_of(hexadecimal_digits) == std::string_view::npos;
}

// The identity in the first intact segment header of the folder; none if no header is intact.
std::optional<std::string> stored_identity(Disk& disk, const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!segment_ordinal(name)) continue;
    const auto file = disk.open(folder / name, OpenMode::read);
    SegmentHeader header{};
    const bool whole =
        file && (*file)->read(0, {reinterpret_cast<char*>(&header), sizeof header}).value_or(0) == sizeof header &&
        (header_is_whole(header) || is_of_another_version(header));
    if (whole) return std::string{identity_of(header)};
  }
  return std::nullopt;
}

// A file of the folder, with its header.
struct Listed {
  std::uint64_t ordinal = 0;
  std::string name;
  std::unique_ptr<DiskFile> file;
  std::uint64_t size = 0;
  SegmentInfo info;
  bool header_whole = false;
};

class Scanner {
 public:
  Scanner(Disk& disk, const fs::path& folder, const std::function<bool(const JournalRecord&)>& visit,
          JournalPosition from)
      : disk_(disk), folder_(folder), visit_(visit), from_(from) {}

  JournalScan run() {
    // A listed segment may be archived before it is opened; then the folder is listed again.
    for (int looks = 1; !list(); ++looks) {
      if (looks == looks_max)
        throw StoreError(folder_.string() + ": its files vanish while they are opened; try again");
    }
    check_first();
    for (std::size_t i = 0; i < listed_.size() && !scan_.damage && !ended_; ++i) {
      const bool last = i + 1 == listed_.size();
      if (const std::string wrong = what_is_wrong_with(i); !wrong.empty()) {
        damage(listed_[i], 0, scan_.end, wrong);
        break;
      }
      walk(listed_[i], last ? nullptr : &listed_[i + 1]);
    }
    if (!scan_.damage && !ended_) check_last();
    scan_.torn = scan_.damage && scan_.damage->position >= scan_.committed && !headers_damaged_ && is_in_last();
    scan_.next_inbound = SeqNum{numbers_.next_inbound};
    scan_.next_outbound = SeqNum{numbers_.next_outbound};
    scan_.creation_time = from_ns(numbers_.creation_time_ns);
    scan_.closed = numbers_.closed && !scan_.damage;
    return std::move(scan_);
  }

 private:
  static constexpr int looks_max = 100;

  // Segments with a base, and segments with unreadable headers, by ordinal. False if one was archived meanwhile.
  bool list() {
    listed_.clear();
    scan_ = {};
    newest_spare_ = 0;
    std::string spare_identity;
    for (const std::string& name : value_or_throw(disk_.list(folder_))) {
      const auto ordinal = segment_ordinal(name);
      if (!ordinal) continue;
      auto file = disk_.open(folder_ / name, OpenMode::read);
      if (!file && file.error().code == ENOENT) return false;
      Listed listed = read_header(*ordinal, name, value_or_throw(std::move(file)));
      bool no_records = !listed.header_whole && never_used(listed);
      // If the segment was started while its header was read, it may already have records, and so an intact header.
      if (!listed.header_whole && !no_records) {
        listed = read_header(*ordinal, name, std::move(listed.file));
      }
      const bool unused = listed.header_whole && listed.info.header.base == unset_position;
      no_records = no_records || unused;
      if (unused) spare_identity = identity_of(listed.info.header);
      if (unused && listed.info.header.ordinal == ordinal) {
        newest_spare_ = std::max(newest_spare_, *ordinal);
        scan_.shows_last = true;
      }
      if (no_records) {
        scan_.spare.push_back(listed.info.path);
        continue;
      }
      listed_.push_back(std::move(listed));
    }
    std::ranges::sort(listed_, {}, &Listed::ordinal);
    for (const Listed& listed : listed_) {
      if (!listed.header_whole) continue;
      if (scan_.identity.empty()) scan_.identity = identity_of(listed.info.header);
      // A segment is started when everything before it is durable.
      scan_.committed = std::max({scan_.committed, listed.info.header.base, listed.info.committed});
    }
    if (scan_.identity.empty()) scan_.identity = spare_identity;
    if (listed_.empty() && scan_.spare.empty()) {
      throw StoreError(folder_.string() + " holds no journal: it has no file like 00000001.nfxj");
    }
    return true;
  }

  Listed read_header(std::uint64_t ordinal, const std::string& name, std::unique_ptr<DiskFile> file) {
    Listed listed;
    listed.ordinal = ordinal;
    listed.name = name;
    listed.info.path = folder_ / name;
    listed.file = std::move(file);
    listed.size = value_or_throw(listed.file->size());
    std::string page(segment_header_size, '\0');
    page.resize(value_or_throw(listed.file->read(0, page)));
    if (page.size() < sizeof(SegmentHeader)) return listed;
    std::memcpy(&listed.info.header, page.data(), sizeof(SegmentHeader));
    if (is_of_another_version(listed.info.header))
      throw JournalVersionError(listed.info.path.string() + ": " + another_version_text(listed.info.header));
    listed.header_whole = header_is_whole(listed.info.header);
    if (listed.header_whole && listed.info.header.base != unset_position) {
      listed.info.committed = listed.info.header.base;
      listed.info.end = listed.info.header.base;
      if (const auto mark = last_mark(page)) {
        listed.info.committed = std::max(listed.info.committed, mark->position);
        listed.info.committed_at = from_ns(mark->time_ns);
      }
    }
    return listed;
  }

  // No record is written to a segment before its header is durable. So a torn header without records belongs to a
  // segment that was just being started.
  static bool never_used(Listed& listed) {
    if (listed.size <= segment_header_size) return true;
    return value_or_throw(end_of_bytes(*listed.file, commit_mark_offsets[0])) == commit_mark_offsets[0];
  }

  std::string what_is_wrong_with(std::size_t i) {
    const Listed& listed = listed_[i];
    headers_damaged_ = true;  // unless nothing is found
    if (!listed.header_whole) return "the header of the segment is damaged";
    const SegmentHeader& header = listed.info.header;
    if (header.ordinal != listed.ordinal) return "the file was renamed: it is segment " + segment_name(header.ordinal);
    if (identity_of(header) != scan_.identity) {
      return "the file is of another session, " + std::string{identity_of(header)};
    }
    if (i > 0 && listed.ordinal != listed_[i - 1].ordinal + 1) {
      return "the segment before it, " + segment_name(listed.ordinal - 1) + ", is missing";
    }
    // A segment has its full header page before it is started, except the first one of a new journal.
    if (listed.size < segment_header_size && (listed.ordinal != 1 || header.base != 0)) {
      return "the file ends in its header";
    }
    headers_damaged_ = false;
    return {};
  }

  // No segment before the first one with records may be a spare.
  void check_first() {
    for (const fs::path& spare : scan_.spare) {
      const std::uint64_t ordinal = segment_ordinal(spare.filename().string()).value_or(0);
      if (listed_.empty() || ordinal > listed_.front().ordinal) continue;
      headers_damaged_ = true;
      scan_.damage = JournalDamage{spare.string(), 0, 0, "neither its header nor its records are left"};
      return;
    }
  }

  // A spare is created when the segment before it is in use, so it shows which segment is the last.
  [[nodiscard]] std::uint64_t next_ordinal() const noexcept { return listed_.empty() ? 1 : listed_.back().ordinal + 1; }
  [[nodiscard]] bool last_is_missing() const noexcept { return newest_spare_ > next_ordinal(); }

  // A segment is started when everything before it is durable. Its existence proves that, even if its header is damaged
  // or its file is missing. So only the last segment can have an unsynced tail.
  [[nodiscard]] bool is_in_last() const noexcept {
    return scan_.segments.size() == listed_.size() && !last_is_missing();
  }

  void check_last() {
    const std::uint64_t wanted = next_ordinal();
    if (!last_is_missing()) return;
    headers_damaged_ = true;
    scan_.damage = JournalDamage{(folder_ / segment_name(newest_spare_)).string(), 0, scan_.end,
                                 "it was made after segment " + segment_name(wanted) + ", which is missing"};
  }

  void damage(const Listed& listed, std::uint64_t offset, JournalPosition position, std::string_view reason) {
    scan_.damage = JournalDamage{listed.info.path.string(), offset, position, std::string{reason}};
  }

  void walk(Listed& listed, const Listed* next) {
    const SegmentHeader& header = listed.info.header;
    // The sequence numbers in the header are the state after the previous records.
    numbers_ = {header.next_inbound, header.next_outbound, header.creation_time_ns, false};
    scan_.end = header.base;
    if (next != nullptr && next->header_whole && next->info.header.base <= from_) {
      scan_.end = next->info.header.base;
      return finish(listed);
    }
    RecordState state = read_on(listed);
    // If the next segment is missing or its header is damaged, the end of this one is unknown.
    const bool knows_next = next != nullptr && next->header_whole && next->ordinal == listed.ordinal + 1 &&
                            next->info.header.ordinal == next->ordinal &&
                            identity_of(next->info.header) == scan_.identity;
    bool bytes_after = false;
    while (!knows_next && state == RecordState::none && !ended_ && !bytes_after) {
      bytes_after = value_or_throw(end_of_bytes(*listed.file, offset_in(listed))) > offset_in(listed);
      if (!bytes_after) break;
      // A process may have written these bytes since. They are suspicious only if no record begins there now.
      const JournalPosition before = scan_.end;
      state = read_on(listed);
      if (scan_.end != before) bytes_after = false;
    }
    finish(listed);
    if (ended_) return;
    const bool short_of_wanted =
        next == nullptr ? scan_.end < scan_.committed : knows_next && scan_.end != next->info.header.base;
    if (state != RecordState::none || short_of_wanted) {
      damage(listed, offset_in(listed), scan_.end, reason_of(state));
    } else if (bytes_after) {
      damage(listed, offset_in(listed), scan_.end, "there are bytes after the last record");
    }
  }

  [[nodiscard]] std::uint64_t offset_in(const Listed& listed) const noexcept {
    NFX_REQUIRE(listed.info.header.base <= scan_.end);
    return segment_header_size + (scan_.end - listed.info.header.base);
  }

  // Reads records from scan_.end on, and returns the state of the record where it stopped.
  RecordState read_on(Listed& listed) {
    // The file may end earlier and grow meanwhile; beyond its end there is no record.
    const std::uint64_t limit = segment_header_size + listed.info.header.capacity;
    const std::string path = listed.info.path.string();
    PiecewiseFile pieces(*listed.file);
    for (;;) {
      const std::uint64_t offset = offset_in(listed);
      FoundRecord found = value_or_throw(record_at(pieces, offset, limit, scan_.end));
      if (found.state != RecordState::whole) {
        // The read-ahead may be older than the last write of a process.
        pieces = PiecewiseFile(*listed.file);
        found = value_or_throw(record_at(pieces, offset, limit, scan_.end));
      }
      if (found.state != RecordState::whole || !take(found.bytes, path, offset)) return found.state;
      scan_.end += padded(found.bytes.size());
    }
  }

  void finish(Listed& listed) {
    listed.info.end = scan_.end;
    scan_.segments.push_back(listed.info);
  }

  bool take(std::string_view bytes, const std::string& path, std::uint64_t offset) {
    JournalRecord record;
    NFX_ASSERT(bytes.size() >= sizeof record.header);
    std::memcpy(&record.header, bytes.data(), sizeof record.header);
    numbers_.apply(record.header);
    ++scan_.records;
    if (!visit_ || scan_.end < from_) return true;
    record.position = scan_.end;
    record.body = bytes.substr(sizeof record.header);
    record.file = &path;
    record.offset = offset;
    ended_ = !visit_(record);
    return !ended_;
  }

  Disk& disk_;
  const fs::path& folder_;
  const std::function<bool(const JournalRecord&)>& visit_;
  JournalPosition from_;
  std::vector<Listed> listed_;
  JournalScan scan_;
  StandingNumbers numbers_;
  std::uint64_t newest_spare_ = 0;
  bool headers_damaged_ = false;
  bool ended_ = false;  // the visitor ended the scan
};

}  // namespace

fs::path session_folder(const fs::path& store, std::string_view identity) { return store / digits_of(identity); }

fs::path find_session_folder(Disk& disk, const fs::path& store, std::string_view identity) {
  fs::path folder = session_folder(store, identity);
  fs::path former = store / former_digits_of(identity);
  if (disk.exists(folder) || !disk.exists(former)) return folder;
  const auto names = disk.list(former);
  const bool has_segments =
      !names || std::ranges::any_of(*names, [](const std::string& name) { return segment_ordinal(name).has_value(); });
  // A folder whose headers are all damaged may belong to this session: opening it reports that.
  return has_segments && (!names || stored_identity(disk, former, *names).value_or(std::string{identity}) == identity)
             ? former
             : folder;
}

fs::path ring_path(const fs::path& ring_directory, const fs::path& folder) {
  // One name for all paths of the folder, so that the ring of a killed process is found again.
  const std::string path = whole_path(folder);
  const bool is_former = folder.filename().string().size() == former_digits;
  const std::string digits = is_former ? former_digits_of(path) : digits_of(path);
  return ring_directory / (std::string{ring_prefix} + digits + std::string{ring_suffix});
}

JournalScan scan_journal(Disk& disk, const fs::path& folder, const std::function<bool(const JournalRecord&)>& visit,
                         JournalPosition from) {
  return Scanner(disk, folder, visit, from).run();
}

JournalScan scan_journal_in_use(Disk& disk, const fs::path& folder,
                                const std::function<bool(const JournalRecord&)>& visit, JournalPosition from) {
  const auto being_written = [&](JournalScan& scan) {
    if (!scan.torn || !holder(disk, folder)) return false;
    scan.damage.reset();
    scan.torn = false;
    return true;
  };
  JournalScan scan = scan_journal(disk, folder, visit, from);
  if (!scan.torn || being_written(scan)) return scan;
  // Its process may have written more and ended between the two scans.
  std::uint64_t more = 0;
  JournalScan again = scan_journal(
      disk, folder,
      [&](const JournalRecord& record) {
        ++more;
        return !visit || record.position < from || visit(record);
      },
      scan.end);
  again.records = scan.records + more;
  (void)being_written(again);
  return again;
}

std::vector<StoredSession> list_sessions(Disk& disk, const fs::path& store) {
  std::vector<StoredSession> sessions;
  for (const std::string& name : value_or_throw(disk.list(store))) {
    if (!is_folder_name(name)) continue;
    const fs::path folder = store / name;
    const auto files = disk.list(folder);
    if (!files) continue;
    if (auto identity = stored_identity(disk, folder, *files)) sessions.push_back({folder, *std::move(identity)});
  }
  return sessions;
}

std::optional<int> holder(Disk& disk, const fs::path& folder) {
  const fs::path path = folder / lock_name;
  // A process that closes in order leaves the file empty. Most answers then need no lock, which could block a starting
  // process.
  const auto read_pid = [&]() -> std::optional<int> {
    const auto file = disk.open(path, OpenMode::read);
    if (!file) return std::nullopt;
    char digits[24];
    const std::size_t size = (*file)->read(0, digits).value_or(0);
    int pid = 0;
    if (std::from_chars(digits, digits + size, pid).ec != std::errc{}) return std::nullopt;
    return pid;
  };
  const auto pid = read_pid();
  if (!pid) return std::nullopt;
  const auto lock = disk.lock(path);
  if (!lock && lock.error().code == EWOULDBLOCK) return pid;
  return std::nullopt;
}

}  // namespace nfx
