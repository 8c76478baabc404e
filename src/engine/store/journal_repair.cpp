// Repairs a damaged journal, one segment at a time and all of its unreadable places in one pass. Cost: linear in the
// size of the journal.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_scan.hpp"
#include "store/journal_search.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

constexpr int repairs_max = 10'000;                         // limit for headers, files and segments
constexpr std::size_t holes_max = 100'000;                  // limit per segment
constexpr std::uint64_t capacity_max = 1024 * 1024 * 1024;  // limit per segment

// A range of unreadable bytes, and the state at its beginning.
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
      throw StoreError("the journal is in use: cannot " + lock.error().operation + "; end that process first");
    }
    lock_ = value_or_throw(std::move(lock));
  }

  std::string run() {
    JournalDamage last;
    std::size_t readable = 0;  // number of segments before it
    for (int i = 0; i < repairs_max; ++i) {
      scan_ = scan_journal(disk_, folder_, {}, scanned_to_);
      if (!scan_.damage) return done_.empty() ? what_was_checked() : done_ + (reported_ ? "" : what_cannot_be_known());
      if (scan_.torn) {
        return done_ + scan_.damage->file + ", offset " + std::to_string(scan_.damage->offset) +
               ": a tail that was never synced; opening the store cuts it\n";
      }
      const bool same =
          scan_.damage->file == last.file && scan_.damage->offset <= last.offset && scan_.damage->reason == last.reason;
      if (same && scan_.segments.size() <= readable) give_up(*scan_.damage);
      last = *scan_.damage;
      readable = scan_.segments.size();
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
    if (is_spare(path) && has_segment_after(ordinal)) return replace_first(path, ordinal);
    if (is_spare(path)) return replace_last(scan_.segments.empty() ? ordinal - 1 : wanted, path);
    if (ordinal > wanted) return replace_missing(wanted, path);
    repair_header(path, ordinal);
  }

  // Records.

  [[noreturn]] static void give_up(const JournalDamage& damage) {
    throw StoreError(damage.file + ", offset " + std::to_string(damage.offset) + ": " + damage.reason +
                     ", and its neighbours contradict it; take a copy of the whole folder instead");
  }

  void repair_records(const JournalDamage& damage, const fs::path& path) {
    const SegmentInfo& segment = scan_.segments.back();
    const auto known_end = end_of_records(segment, damage);
    if (known_end && *known_end != damage.position && *known_end < damage.position + sizeof(RecordHeader)) {
      give_up(damage);
    }
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    const std::uint64_t bytes_end = value_or_throw(end_of_bytes(*file, damage.offset));
    const JournalPosition limit = std::max(
        damage.position,
        std::min(segment.header.base + segment.header.capacity, damage.position + padded(bytes_end - damage.offset)));
    const Holes found = known_end ? find_holes(*file, damage, *known_end, EndOfRecords::known)
                                  : find_holes(*file, damage, limit, EndOfRecords::unknown);
    if (!known_end && copy_ != nullptr) {
      throw StoreError(copy_->string() + " does not show where " + damage.file +
                       " ended either; try another copy, or --gap-fill");
    }
    std::vector<std::string> copies;
    if (copy_ != nullptr && !found.holes.empty()) copies = from_copy(found.holes);
    save_damaged(path);
    for (std::size_t i = 0; i < found.holes.size(); ++i) {
      const Hole& hole = found.holes[i];
      const std::string bytes = copy_ != nullptr ? copies[i] : filler(hole);
      NFX_REQUIRE(hole.begin < hole.end && bytes.size() == hole.end - hole.begin);  // fills exactly the hole
      const std::uint64_t offset = damage.offset + (hole.begin - damage.position);
      value_or_throw(file->write(offset, bytes));
      say(damage.file + ", offset " + std::to_string(offset) + ": " + std::to_string(bytes.size()) + " bytes " +
          (copy_ != nullptr ? "taken from the copy" : "lost (" + hole.reason + ")"));
    }
    // After a known end there are no records. After the last readable record there may have been some.
    const std::uint64_t end_offset = damage.offset + (found.end - damage.position);
    const bool rest = end_offset < bytes_end && (!known_end || found.holes.empty());
    if (rest) {
      clear(*file, end_offset, bytes_end);
      say(damage.file + ", offset " + std::to_string(end_offset) + ": " + std::to_string(bytes_end - end_offset) +
          " bytes " + (known_end ? "after the last record removed" : "lost (no record can be read after this offset)"));
    }
    value_or_throw(file->sync());
    const bool lost_end = rest ? !known_end : !found.holes.empty() && found.holes.back().end == found.end;
    if (copy_ == nullptr && lost_end && !was_followed(segment.header.ordinal)) report_numbers(found.standing);
  }

  static void clear(DiskFile& file, std::uint64_t offset, std::uint64_t end) {
    while (offset < end) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(scan_piece, end - offset));
      value_or_throw(file.write(offset, zeros().first(size)));
      offset += size;
    }
  }

  // Whether a segment with records comes after this one, readable or not.
  bool has_segment_after(std::uint64_t ordinal) {
    return std::ranges::any_of(value_or_throw(disk_.list(folder_)), [&](const std::string& name) {
      return segment_ordinal(name).value_or(0) > ordinal && !is_spare(folder_ / name);
    });
  }
  // Whether a later segment was started. True also if all later ones were deleted except the spare.
  bool was_followed(std::uint64_t ordinal) {
    const auto shows_another = [&](const fs::path& spare) {
      return segment_ordinal(spare.filename().string()).value_or(0) > ordinal + 1;
    };
    return has_segment_after(ordinal) || std::ranges::any_of(scan_.spare, shows_another);
  }
  [[nodiscard]] bool is_spare(const fs::path& path) const {
    return std::ranges::find(scan_.spare, path) != scan_.spare.end();
  }

  // The end of a segment's records: the beginning of the next segment, otherwise the last commit mark. Nothing if
  // neither shows it.
  std::optional<JournalPosition> end_of_records(const SegmentInfo& segment, const JournalDamage& damage) {
    const JournalPosition capacity_end = segment.header.base + segment.header.capacity;
    const std::uint64_t next = segment.header.ordinal + 1;
    auto base = base_of(next, {damage.position, capacity_end});
    if (!base && copy_ != nullptr) {
      if (const auto copied = whole_header(*copy_, next)) base = copied->base;
    }
    if (base) return std::min(*base, capacity_end);
    const JournalPosition committed = std::min(scan_.committed, capacity_end);
    return committed < damage.position + sizeof(RecordHeader) ? std::nullopt : std::optional{committed};
  }

  enum class EndOfRecords : std::uint8_t { known, unknown };
  struct Holes {
    std::vector<Hole> holes;
    JournalPosition end = 0;   // end of the records and holes
    StandingNumbers standing;  // sequence numbers at the end
  };

  // All unreadable places of the segment, from the damage on. The records end at must_end; if the end is unknown, with
  // the last readable record before must_end.
  Holes find_holes(DiskFile& file, const JournalDamage& damage, JournalPosition must_end, EndOfRecords how) {
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
      // A hole is at least as long as a record, so that a record can take its place.
      const JournalPosition end = value_or_throw(search.next_whole(at + sizeof(RecordHeader)));
      if (how == EndOfRecords::unknown && end == must_end) return {std::move(holes), at, standing};
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
      if (how == EndOfRecords::unknown) return {std::move(holes), at, standing};
      // The hole is too small for a record, so it takes the place of the previous record too.
      if (last_record.begin == end) {
        holes.back().end = must_end;
      } else {
        last_record.reason = reason;
        holes.push_back(last_record);
      }
      break;
    }
    return {std::move(holes), must_end, standing};
  }

  // The header of a segment of this session; nothing if the header is damaged or belongs to another file.
  std::optional<SegmentHeader> whole_header(const fs::path& folder, std::uint64_t ordinal) {
    const auto file = disk_.open(folder / segment_name(ordinal), OpenMode::read);
    SegmentHeader header{};
    if (!file || (*file)->read(0, {reinterpret_cast<char*>(&header), sizeof header}).value_or(0) < sizeof header ||
        !header_is_whole(header) || header.base == unset_position || header.ordinal != ordinal ||
        (!scan_.identity.empty() && identity_of(header) != scan_.identity)) {
      return std::nullopt;
    }
    return header;
  }

  std::optional<SegmentHeader> first_whole_header() {
    for (const std::string& name : value_or_throw(disk_.list(folder_))) {
      const auto ordinal = segment_ordinal(name);
      const auto header = ordinal ? whole_header(folder_, *ordinal) : std::nullopt;
      if (header) return header;
    }
    return std::nullopt;
  }

  // The position where a segment begins, from its header or from its records.
  std::optional<JournalPosition> base_of(std::uint64_t ordinal, const BaseRange& range) {
    if (const auto header = whole_header(folder_, ordinal)) return header->base;
    const auto file = disk_.open(folder_ / segment_name(ordinal), OpenMode::read);
    return file ? value_or_throw(find_base(**file, range)) : std::nullopt;
  }

  // A record that replaces the lost ones. It changes no sequence number, and describes what happened.
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

  // The copy's records for each hole; they must be whole and end exactly with it.
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
          if (at > holes[i].end) return false;
          ++i;
          if (i == holes.size()) return false;
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
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    const auto own = whole_header(folder_, ordinal);
    if (own && value_or_throw(file->size()) < segment_header_size) return repair_short(path, *file, *own);
    const std::optional<SegmentHeader> header =
        copy_ != nullptr ? header_from_copy(ordinal) : header_from_neighbours(*file, path, ordinal);
    save_damaged(path);
    if (!header) return give_up_segment(path, ordinal);
    value_or_throw(file->write(0, {reinterpret_cast<const char*>(&*header), sizeof *header}));
    value_or_throw(file->sync());
    say(path.string() + ": the header was written again");
  }

  // A file that ends within its intact header.
  void repair_short(const fs::path& path, DiskFile& file, const SegmentHeader& header) {
    if (copy_ != nullptr) return replace_missing(header.ordinal, path);
    save_damaged(path);
    value_or_throw(file.truncate(segment_header_size));
    value_or_throw(file.sync());
    say(path.string() + ": the file ended in its header; its records are lost");
    if (!was_followed(header.ordinal)) report_numbers({header.next_inbound, header.next_outbound, 0, false});
  }

  // A segment before all segments with records.
  void replace_first(const fs::path& path, std::uint64_t ordinal) {
    if (copy_ != nullptr) return replace_missing(ordinal, path);
    save_damaged(path);
    give_up_segment(path, ordinal);
  }

  // If segments follow, its place is filled like the place of a missing segment.
  void give_up_segment(const fs::path& path, std::uint64_t ordinal) {
    const bool last = !has_segment_after(ordinal);
    value_or_throw(disk_.remove(path));
    if (last) remove_spares();
    value_or_throw(disk_.sync_folder(folder_));
    say(path.string() + ": neither its header nor its records show where it begins; its records are lost");
    if (last) report_numbers({value(scan_.next_inbound), value(scan_.next_outbound), 0, false});
  }

  void remove_spares() {
    for (const fs::path& path : scan_.spare) value_or_throw(disk_.remove(path));
  }

  SegmentHeader header_from_copy(std::uint64_t ordinal) {
    const fs::path path = *copy_ / segment_name(ordinal);
    (void)value_or_throw(disk_.open(path, OpenMode::read), "try another copy, or --gap-fill");
    const auto header = whole_header(*copy_, ordinal);
    if (!header) throw StoreError(path.string() + " is not a copy of that segment; try another copy, or --gap-fill");
    return *header;
  }

  // A file in the wrong place should be moved back, not overwritten.
  void require_own_place(const fs::path& path) {
    const auto file = value_or_throw(disk_.open(path, OpenMode::read));
    SegmentHeader found{};
    const std::size_t size = value_or_throw(file->read(0, {reinterpret_cast<char*>(&found), sizeof found}));
    if (size < sizeof found || !header_is_whole(found)) return;
    throw StoreError(path.string() + ": it is segment " + segment_name(found.ordinal) + " of " +
                     std::string{identity_of(found)} + "; put the right file in its place, or use --from COPY");
  }

  // Nothing if neither the segment's neighbours nor its records show where it begins.
  std::optional<SegmentHeader> header_from_neighbours(DiskFile& file, const fs::path& path, std::uint64_t ordinal) {
    require_own_place(path);
    const bool first = scan_.segments.empty();
    const auto after = first ? first_whole_header() : std::nullopt;
    if (scan_.identity.empty() || (first && ordinal != 1 && !after)) {
      throw StoreError(folder_.string() + ": nothing shows the header of " + segment_name(ordinal) +
                       " was; use --from COPY");
    }
    // The first segment of all begins at 0.
    std::optional<JournalPosition> base = 0;
    if (!first) {
      const SegmentInfo& before = scan_.segments.back();
      base = value_or_throw(find_base(file, {before.end, before.header.base + before.header.capacity}));
    } else if (ordinal != 1) {
      base = value_or_throw(
          find_base(file, {after->base - std::min<JournalPosition>(after->base, UINT32_MAX), after->base}));
    }
    if (!base) return std::nullopt;
    // The file may end anywhere before the end of its segment.
    std::uint64_t capacity = padded(value_or_throw(file.size()) - segment_header_size);
    const auto end = base_of(ordinal + 1, {*base, *base + capacity_max});
    if (end && *end >= *base) capacity = std::max(capacity, *end - *base);
    SegmentHeader header = make_header(ordinal, capacity, scan_.identity);
    header.base = *base;
    header.next_inbound = value(scan_.next_inbound);
    header.next_outbound = value(scan_.next_outbound);
    header.creation_time_ns = first && after ? after->creation_time_ns : to_ns(scan_.creation_time);
    header.begun_ns = header.creation_time_ns;
    header.crc = header_crc(header);
    return header;
  }

  // Segments before the spare `after` had records and are missing.
  void replace_last(std::uint64_t ordinal, const fs::path& after) {
    if (copy_ != nullptr) {
      replace_missing(ordinal, after);
      return say(
          "records made after the copy are lost: compare the sequence numbers with the "
          "counterparty's, and set them with nfx store seq");
    }
    if (scan_.segments.empty()) {
      throw StoreError(folder_.string() +
                       ": no segment with records is left; use --from COPY, or remove the folder to begin at 1");
    }
    remove_spares();
    value_or_throw(disk_.sync_folder(folder_));
    say((folder_ / segment_name(ordinal)).string() + ": the file is missing; its records are lost");
    report_numbers({value(scan_.next_inbound), value(scan_.next_outbound), 0, false});
  }

  void replace_missing(std::uint64_t ordinal, const fs::path& after) {
    const fs::path path = folder_ / segment_name(ordinal);
    std::string bytes;
    std::string_view how = "taken from the copy";
    if (copy_ != nullptr) {
      (void)header_from_copy(ordinal);
      const auto file = value_or_throw(disk_.open(*copy_ / segment_name(ordinal), OpenMode::read));
      bytes.resize(value_or_throw(file->size()));
      bytes.resize(value_or_throw(file->read(0, bytes)));
    } else {
      const JournalPosition begin = scan_.end;
      const std::uint64_t next = segment_ordinal(after.filename().string()).value_or(0);
      const auto base = base_of(next, {begin, begin + UINT32_MAX});
      if (!base) {
        require_own_place(after);
        save_damaged(after);
        return give_up_segment(after, next);
      }
      const std::size_t hole = size_of_missing(begin, *base, next - ordinal);
      if (*base < begin || (hole != 0 && hole < sizeof(RecordHeader))) {
        throw StoreError(path.string() + " is missing, and " + after.string() +
                         " begins before the existing records end; use --from COPY");
      }
      if (hole > capacity_max) {
        throw StoreError(path.string() + " is missing, and " + after.string() +
                         " begins more than a segment later; use --from COPY");
      }
      const JournalPosition end = begin + hole;
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
      if (hole != 0) bytes += filler({begin, end, "the file was missing", standing});
      how = hole != 0 ? "replaced by one record of the gap" : "replaced by a segment without records";
    }
    const bool was_there = disk_.exists(path);
    if (was_there) {
      save_damaged(path);
      value_or_throw(disk_.remove(path));
    }
    auto made = value_or_throw(disk_.open(path, OpenMode::create));
    value_or_throw(made->write(0, bytes));
    value_or_throw(made->sync());
    value_or_throw(disk_.sync_folder(folder_));
    say(path.string() + (was_there ? ": nothing of it was left, and it was " : ": it was missing, and was ") +
        std::string{how});
  }

  // The size of the first of `missing` segments between two positions, so that no segment exceeds the maximum.
  static std::uint64_t size_of_missing(JournalPosition begin, JournalPosition end, std::uint64_t missing) {
    if (end < begin || missing <= 1 || end - begin <= capacity_max) return end - begin;
    return capacity_max - sizeof(RecordHeader);  // leaves space for a record in the rest
  }

  // Saves a copy of a damaged file, once.
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

  // Reports the sequence numbers after records were given up.
  void report_numbers(const StandingNumbers& standing) {
    reported_ = true;
    say("nothing can be read after them, so the sequence numbers may be too low: next inbound " +
        std::to_string(standing.next_inbound) + ", next outbound " + std::to_string(standing.next_outbound) +
        "; get the sequence numbers of the counterparty, and set these with nfx store seq");
  }

  // For undamaged places: a summary of the files' content.
  [[nodiscard]] std::string what_was_checked() const {
    std::string text = "nothing is damaged: segments " + std::to_string(scan_.segments.size()) + ", records " +
                       std::to_string(scan_.records) + ", next inbound " + std::to_string(value(scan_.next_inbound)) +
                       ", next outbound " + std::to_string(value(scan_.next_outbound)) + '\n';
    return text + what_cannot_be_known();
  }

  [[nodiscard]] std::string what_cannot_be_known() const {
    if (scan_.shows_last) return {};
    return "deletions of later segments cannot be detected: compare the sequence numbers with the "
           "counterparty's\n";
  }

  void say(const std::string& line) { done_ += line + '\n'; }

  Disk& disk_;
  const fs::path& folder_;
  const fs::path* copy_;
  std::unique_ptr<DiskFile> lock_;
  JournalScan scan_;
  JournalPosition scanned_to_ = 0;  // everything before it was found good
  std::string done_;
  bool reported_ = false;  // the sequence numbers were reported
};

}  // namespace

std::string repair_by_gap_fill(Disk& disk, const fs::path& folder) { return Repair(disk, folder, nullptr).run(); }

std::string repair_from_copy(Disk& disk, const fs::path& folder, const fs::path& copy) {
  return Repair(disk, folder, &copy).run();
}

}  // namespace nfx
