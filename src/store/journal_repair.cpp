// Repairs a damaged journal: a segment at a time, all of its unreadable places in one pass. Cost: linear in the size
// of the journal.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/store/journal_reader.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_scan.hpp"
#include "store/journal_search.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

constexpr int repairs_max = 10'000;         // of headers, files and segments
constexpr std::size_t holes_max = 100'000;  // of a segment

// Bytes that cannot be read, and what is known at their beginning.
struct Hole {
  JournalPosition begin = 0;
  JournalPosition end = 0;
  std::string reason;
  StandingNumbers standing;
};

class Repair {
 public:
  Repair(Disk& disk, const fs::path& folder, const fs::path* copy) : disk_(disk), folder_(folder), copy_(copy) {
    auto lock = disk.lock(folder / lock_name);
    if (!lock && lock.error().code == EWOULDBLOCK) {
      throw StoreError("the journal is in use: " + lock.error().operation + "; end that process first");
    }
    lock_ = value_or_throw(std::move(lock));
  }

  std::string run() {
    JournalDamage last;
    for (int i = 0; i < repairs_max; ++i) {
      scan_ = scan_journal(disk_, folder_, {}, scanned_to_);
      if (!scan_.damage) return done_.empty() ? what_was_checked() : done_;
      if (scan_.torn) {
        return done_ + scan_.damage->file + ", offset " + std::to_string(scan_.damage->offset) +
               ": a tail that was never synced; opening the store cuts it\n";
      }
      if (scan_.damage->file == last.file && scan_.damage->offset <= last.offset && scan_.damage->reason == last.reason)
        give_up(*scan_.damage);
      last = *scan_.damage;
      repair(last);
      if (!scan_.segments.empty()) scanned_to_ = scan_.segments.back().header.base;
    }
    throw StoreError(folder_.string() + " has more than " + std::to_string(repairs_max) +
                     " damages; take a copy of the whole folder instead");
  }

 private:
  void repair(const JournalDamage& damage) {
    const fs::path path = damage.file;
    const std::uint64_t ordinal = segment_ordinal(path.filename().string()).value_or(0);
    const std::uint64_t wanted = scan_.segments.empty() ? ordinal : scan_.segments.back().header.ordinal + 1;
    if (damage.offset != 0) return repair_records(damage, path);
    if (std::ranges::find(scan_.spare, path) != scan_.spare.end())
      return replace_last(scan_.segments.empty() ? ordinal - 1 : wanted, path);
    if (ordinal > wanted && !disk_.exists(folder_ / segment_name(wanted))) return replace_missing(wanted, path);
    repair_header(path, ordinal);
  }

  // Records.

  [[noreturn]] static void give_up(const JournalDamage& damage) {
    throw StoreError(damage.file + ", offset " + std::to_string(damage.offset) + ": " + damage.reason +
                     ", and its neighbours contradict it; take a copy of the whole folder instead");
  }

  void repair_records(const JournalDamage& damage, const fs::path& path) {
    const SegmentInfo& segment = scan_.segments.back();
    const JournalPosition must_end = end_of_records(segment, damage);
    if (must_end < damage.position + sizeof(RecordHeader)) give_up(damage);
    save_damaged(path);
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    const std::vector<Hole> holes = find_holes(*file, damage, must_end);
    const std::vector<std::string> copies = copy_ != nullptr ? from_copy(holes) : std::vector<std::string>{};
    for (std::size_t i = 0; i < holes.size(); ++i) {
      const Hole& hole = holes[i];
      const std::string bytes = copy_ != nullptr ? copies[i] : filler(hole);
      NFX_REQUIRE(hole.begin < hole.end && bytes.size() == hole.end - hole.begin);  // fills just what cannot be read
      const std::uint64_t offset = damage.offset + (hole.begin - damage.position);
      value_or_throw(file->write(offset, bytes));
      say(damage.file + ", offset " + std::to_string(offset) + ": " + std::to_string(bytes.size()) + " bytes " +
          (copy_ != nullptr ? "taken from the copy" : "given up (" + hole.reason + ")"));
    }
    value_or_throw(file->sync());
    const Hole& last = holes.back();
    if (copy_ == nullptr && last.end == scan_.committed && path == last_path()) {
      report_numbers(last.standing);
    }
  }

  [[nodiscard]] fs::path last_path() const { return scan_.segments.back().path; }

  // Where the records of a segment end: where the next one begins, or at the last commit mark.
  JournalPosition end_of_records(const SegmentInfo& segment, const JournalDamage& damage) {
    const JournalPosition capacity_end = segment.header.base + segment.header.capacity;
    const std::uint64_t next = segment.header.ordinal + 1;
    if (const auto base = next_base(next)) return std::min(*base, capacity_end);
    if (const auto file = disk_.open(folder_ / segment_name(next), OpenMode::read)) {
      const auto base = base_of(**file, damage.position + sizeof(RecordHeader), capacity_end);
      if (base) return *base;
    }
    return std::min(scan_.committed, capacity_end);
  }

  // From the damage on, all places of the segment that cannot be read.
  std::vector<Hole> find_holes(DiskFile& file, const JournalDamage& damage, JournalPosition must_end) {
    std::vector<Hole> holes;
    StandingNumbers standing{value(scan_.next_inbound), value(scan_.next_outbound), to_ns(scan_.creation_time), false};
    const auto offset_of = [&](JournalPosition at) { return damage.offset + (at - damage.position); };
    const std::uint64_t limit = offset_of(must_end);
    PiecewiseFile pieces(file);
    RecordSearch search(pieces, {damage.offset, damage.position, must_end});
    std::string reason = damage.reason;
    for (JournalPosition at = damage.position; at < must_end;) {
      if (holes.size() == holes_max) {
        throw StoreError(damage.file + " has more than " + std::to_string(holes_max) +
                         " damages; take a copy of the whole folder instead");
      }
      // A hole is as long as one record at least, so that one can take its place.
      const JournalPosition end = value_or_throw(search.next_whole(at + sizeof(RecordHeader)));
      if (search.given_up()) reason = "too many bytes look like records";
      holes.push_back({at, end, reason, standing});
      at = end;
      Hole last_record{at, at, {}, standing};
      while (at < must_end) {
        const auto found = value_or_throw(record_at(pieces, offset_of(at), limit, at));
        if (found.state != RecordState::whole) {
          reason = reason_of(found.state);
          break;
        }
        RecordHeader header;
        std::memcpy(&header, found.bytes.data(), sizeof header);
        last_record = {at, must_end, {}, standing};
        standing.apply(header);
        at += padded(found.bytes.size());
      }
      if (at == must_end || must_end - at >= sizeof(RecordHeader)) continue;
      // Too little for a record in its place: the one before it goes too.
      if (last_record.begin == end) {
        holes.back().end = must_end;
      } else {
        last_record.reason = reason;
        holes.push_back(last_record);
      }
      break;
    }
    return holes;
  }

  std::optional<JournalPosition> next_base(std::uint64_t ordinal) {
    const auto file = disk_.open(folder_ / segment_name(ordinal), OpenMode::read);
    SegmentHeader header{};
    if (!file || (*file)->read(0, {reinterpret_cast<char*>(&header), sizeof header}).value_or(0) < sizeof header ||
        !header_is_whole(header) || header.base == unset_position) {
      return std::nullopt;
    }
    return header.base;
  }

  // Where a segment begins whose header is lost: where the checksum of its first record, which begins with the
  // position, is right.
  std::optional<JournalPosition> base_of(DiskFile& file, JournalPosition lowest, JournalPosition highest) {
    PiecewiseFile pieces(file);
    std::uint32_t size = 0;
    const auto front = value_or_throw(pieces.bytes(segment_header_size, sizeof(RecordHeader)));
    if (!front.empty()) std::memcpy(&size, front.data(), sizeof size);
    if (size < sizeof(RecordHeader) || size > value_or_throw(file.size())) return std::nullopt;
    const auto record = value_or_throw(pieces.bytes(segment_header_size, size));
    const auto low = record.empty() ? std::nullopt : low_position_of(record);
    if (!low) return std::nullopt;
    const JournalPosition base = lowest + (*low - static_cast<std::uint32_t>(lowest));
    const bool possible = base <= highest && base % record_alignment == 0;
    return possible && record_is_whole(base, record.data(), size) ? std::optional{base} : std::nullopt;
  }

  // One record in the place of those that are lost. It changes no sequence number, and states what happened.
  static std::string filler(const Hole& hole) {
    const auto size = static_cast<std::size_t>(hole.end - hole.begin);
    std::string body = "repaired: " + std::to_string(size) + " bytes could not be read: " + hole.reason;
    NFX_REQUIRE(size >= sizeof(RecordHeader) && size % record_alignment == 0);
    body.resize(size - sizeof(RecordHeader), ' ');
    std::string bytes(size, '\0');
    const auto flags = static_cast<std::uint8_t>(RecordFlag::by_operator);
    write_record(
        bytes.data(), hole.begin,
        {0, 0, hole.standing.next_inbound, hole.standing.creation_time_ns, RecordKind::next_inbound, flags, 0, 0},
        body);
    return bytes;
  }

  // The copy's records of each hole, which must be whole and end just there.
  std::vector<std::string> from_copy(const std::vector<Hole>& holes) {
    std::vector<std::string> copies(holes.size());
    std::size_t i = 0;
    JournalPosition at = holes.front().begin;
    (void)scan_journal(
        disk_, *copy_,
        [&](const JournalRecord& record) {
          if (record.position < at) return true;
          if (record.position > at) return false;
          std::string& bytes = copies[i];
          const std::size_t offset = bytes.size();
          bytes.resize(offset + padded(record.header.size), '\0');
          std::memcpy(bytes.data() + offset, &record.header, sizeof record.header);
          std::copy(record.body.begin(), record.body.end(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(offset) + sizeof record.header);
          at += padded(record.header.size);
          if (at < holes[i].end) return true;
          if (at > holes[i].end || ++i == holes.size()) return false;
          at = holes[i].begin;
          return true;
        },
        at);
    if (i != holes.size()) {
      throw StoreError(copy_->string() + " does not have the records of positions " + std::to_string(holes[i].begin) +
                       " to " + std::to_string(holes[i].end) + " either; try another copy, or --gap-fill");
    }
    return copies;
  }

  // Headers and whole files.

  void repair_header(const fs::path& path, std::uint64_t ordinal) {
    save_damaged(path);
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    const SegmentHeader header = copy_ != nullptr ? header_from_copy(ordinal) : header_from_neighbours(*file, ordinal);
    value_or_throw(file->write(0, {reinterpret_cast<const char*>(&header), sizeof header}));
    value_or_throw(file->sync());
    say(path.string() + ": the header was written again");
  }

  SegmentHeader header_from_copy(std::uint64_t ordinal) {
    const fs::path path = *copy_ / segment_name(ordinal);
    const auto file = value_or_throw(disk_.open(path, OpenMode::read), "try another copy, or --gap-fill");
    SegmentHeader header{};
    const std::size_t size = value_or_throw(file->read(0, {reinterpret_cast<char*>(&header), sizeof header}));
    const bool usable = size == sizeof header && header_is_whole(header) && header.base != unset_position &&
                        header.ordinal == ordinal && (scan_.identity.empty() || identity_of(header) == scan_.identity);
    if (!usable) throw StoreError(path.string() + " is not a copy of that segment; try another copy, or --gap-fill");
    return header;
  }

  SegmentHeader header_from_neighbours(DiskFile& file, std::uint64_t ordinal) {
    const std::uint64_t size = value_or_throw(file.size());
    if (size <= segment_header_size || scan_.identity.empty() || (scan_.segments.empty() && ordinal != 1)) {
      throw StoreError(folder_.string() + ": nothing shows what the header of " + segment_name(ordinal) +
                       " was; use --from COPY");
    }
    const bool first = scan_.segments.empty();
    const JournalPosition lowest = first ? 0 : scan_.segments.back().end;
    const JournalPosition highest =
        first ? 0 : scan_.segments.back().header.base + scan_.segments.back().header.capacity;
    const auto base = base_of(file, lowest, highest);
    if (!base) {
      throw StoreError(folder_.string() + ": header and first record of " + segment_name(ordinal) +
                       " are both lost; use --from COPY");
    }
    // The file may end before its segment does, and anywhere.
    std::uint64_t capacity = padded(size - segment_header_size);
    if (const auto end = next_base(ordinal + 1); end && *end >= *base) capacity = std::max(capacity, *end - *base);
    SegmentHeader header = make_header(ordinal, capacity, scan_.identity);
    header.base = *base;
    header.next_inbound = value(scan_.next_inbound);
    header.next_outbound = value(scan_.next_outbound);
    header.creation_time_ns = to_ns(scan_.creation_time);
    header.begun_ns = header.creation_time_ns;
    header.crc = header_crc(header);
    return header;
  }

  // Segments up to `after`, which was made ahead, had records and are missing.
  void replace_last(std::uint64_t ordinal, const fs::path& after) {
    if (copy_ != nullptr) {
      replace_missing(ordinal, after);
      return say(
          "what was recorded after the copy was made is lost: compare the sequence numbers with the "
          "counterparty's, and set them with nfx store seq");
    }
    if (scan_.segments.empty()) {
      throw StoreError(folder_.string() +
                       ": no segment with records is left; use --from COPY, or remove the folder to begin at 1");
    }
    for (const fs::path& path : scan_.spare) value_or_throw(disk_.remove(path));
    value_or_throw(disk_.sync_folder(folder_));
    say((folder_ / segment_name(ordinal)).string() + ": it is missing, and its records are given up");
    report_numbers({value(scan_.next_inbound), value(scan_.next_outbound), 0, false});
  }

  void replace_missing(std::uint64_t ordinal, const fs::path& after) {
    const fs::path path = folder_ / segment_name(ordinal);
    std::string bytes;
    if (copy_ != nullptr) {
      (void)header_from_copy(ordinal);
      const auto file = value_or_throw(disk_.open(*copy_ / segment_name(ordinal), OpenMode::read));
      bytes.resize(value_or_throw(file->size()));
      bytes.resize(value_or_throw(file->read(0, bytes)));
    } else {
      const auto base = next_base(ordinal + 1);
      const JournalPosition begin = scan_.end;
      if (!base || *base < begin + sizeof(RecordHeader)) {
        throw StoreError(path.string() + " is missing, and " + after.string() +
                         " does not show where it ended; use --from COPY");
      }
      const auto hole = static_cast<std::size_t>(*base - begin);
      SegmentHeader header = make_header(ordinal, hole, scan_.identity);
      header.base = begin;
      header.next_inbound = value(scan_.next_inbound);
      header.next_outbound = value(scan_.next_outbound);
      header.creation_time_ns = to_ns(scan_.creation_time);
      header.begun_ns = header.creation_time_ns;
      header.crc = header_crc(header);
      bytes.assign(reinterpret_cast<const char*>(&header), sizeof header);
      bytes.resize(segment_header_size, '\0');
      const StandingNumbers standing{header.next_inbound, header.next_outbound, header.creation_time_ns, false};
      bytes += filler({begin, *base, "the file was missing", standing});
    }
    auto made = value_or_throw(disk_.open(path, OpenMode::create));
    value_or_throw(made->write(0, bytes));
    value_or_throw(made->sync());
    value_or_throw(disk_.sync_folder(folder_));
    say(path.string() + ": it was missing, and was " +
        (copy_ != nullptr ? "taken from the copy" : "replaced by one record that states it"));
  }

  // A file as it was found, once.
  void save_damaged(const fs::path& path) {
    const fs::path kept = path.string() + ".damaged";
    if (disk_.exists(kept)) return;
    const auto from = value_or_throw(disk_.open(path, OpenMode::read));
    auto to = value_or_throw(disk_.open(kept, OpenMode::create));
    std::vector<char> piece(scan_piece);
    for (std::uint64_t offset = 0;;) {
      const std::size_t size = value_or_throw(from->read(offset, piece));
      if (size == 0) break;
      value_or_throw(to->write(offset, {piece.data(), size}));
      offset += size;
    }
    value_or_throw(to->sync());
    value_or_throw(disk_.sync_folder(folder_));
    say(path.string() + " is saved as " + kept.filename().string());
  }

  // After records that are given up.
  void report_numbers(const StandingNumbers& standing) {
    say("nothing can be read after them, so the sequence numbers may be too low: next inbound " +
        std::to_string(standing.next_inbound) + ", next outbound " + std::to_string(standing.next_outbound) +
        "; get the sequence numbers of the counterparty, and set these with nfx store seq");
  }

  // Where nothing is damaged: no more than what the files show.
  [[nodiscard]] std::string what_was_checked() const {
    std::string text = "nothing is damaged: segments " + std::to_string(scan_.segments.size()) + ", records " +
                       std::to_string(scan_.records) + ", next inbound " + std::to_string(value(scan_.next_inbound)) +
                       ", next outbound " + std::to_string(value(scan_.next_outbound)) + '\n';
    if (scan_.shows_last) return text;
    return text +
           "whether segments after them were deleted cannot be known: compare the sequence numbers with the "
           "counterparty's\n";
  }

  void say(const std::string& line) { done_ += line + '\n'; }

  Disk& disk_;
  const fs::path& folder_;
  const fs::path* copy_;
  std::unique_ptr<DiskFile> lock_;
  JournalScan scan_;
  JournalPosition scanned_to_ = 0;  // what is before it was found good
  std::string done_;
};

}  // namespace

std::string repair_by_gap_fill(Disk& disk, const fs::path& folder) { return Repair(disk, folder, nullptr).run(); }

std::string repair_from_copy(Disk& disk, const fs::path& folder, const fs::path& copy) {
  return Repair(disk, folder, &copy).run();
}

}  // namespace nfx
