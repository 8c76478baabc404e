// Repairs a damaged journal, one damage after the other, as the scan finds them.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/store/journal_reader.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_scan.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

constexpr int repairs_max = 10'000;  // more than a readable journal can have

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
    for (int i = 0; i < repairs_max; ++i) {
      scan_ = scan_journal(disk_, folder_);
      if (!scan_.damage) return done_.empty() ? "nothing is damaged\n" : done_;
      if (scan_.torn) {
        return done_ + scan_.damage->file + ", offset " + std::to_string(scan_.damage->offset) +
               ": a tail that was never synced; opening the store cuts it\n";
      }
      repair(*scan_.damage);
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
    if (ordinal > wanted && !disk_.exists(folder_ / segment_name(wanted))) return replace_missing(wanted, path);
    repair_header(path, ordinal);
  }

  // --- Records ---

  void repair_records(const JournalDamage& damage, const fs::path& path) {
    save_damaged(path);
    const SegmentInfo& segment = scan_.segments.back();
    auto file = value_or_throw(disk_.open(path, OpenMode::write));
    const JournalPosition end = end_of_hole(*file, segment, damage);
    const auto hole = static_cast<std::size_t>(end - damage.position);
    const std::string bytes =
        copy_ != nullptr ? from_copy(damage.position, end) : filler(damage.position, hole, damage.reason);
    NFX_REQUIRE(damage.position < end && bytes.size() == hole);  // fills just what could not be read
    value_or_throw(file->write(damage.offset, bytes));
    value_or_throw(file->sync());
    say(damage.file + ", offset " + std::to_string(damage.offset) + ": " + std::to_string(hole) + " bytes " +
        (copy_ != nullptr ? "taken from the copy" : "given up (" + damage.reason + ")"));
    if (copy_ == nullptr && end == scan_.committed && path == last_path()) {
      say("nothing can be read after them, so the sequence numbers may be too low: next inbound " +
          std::to_string(value(scan_.next_inbound)) + ", next outbound " + std::to_string(value(scan_.next_outbound)) +
          "; get the numbers of the counterparty, and set these with nfx store seq");
    }
  }

  [[nodiscard]] fs::path last_path() const { return scan_.segments.back().path; }

  // Where records can be read again: at a whole one, or where the next segment begins or the last commit mark is.
  JournalPosition end_of_hole(DiskFile& file, const SegmentInfo& segment, const JournalDamage& damage) {
    const std::uint64_t limit = std::min(segment_header_size + segment.header.capacity, value_or_throw(file.size()));
    const JournalPosition must_end = next_base(segment.header.ordinal).value_or(scan_.committed);
    PiecewiseFile pieces(file);
    for (std::uint64_t skip = sizeof(RecordHeader); damage.position + skip < must_end; skip += record_alignment) {
      const auto found = value_or_throw(record_at(pieces, damage.offset + skip, limit, damage.position + skip));
      if (found.state == RecordState::whole) return damage.position + skip;
    }
    return std::max(must_end, damage.position + sizeof(RecordHeader));
  }

  std::optional<JournalPosition> next_base(std::uint64_t ordinal) {
    const auto file = disk_.open(folder_ / segment_name(ordinal + 1), OpenMode::read);
    SegmentHeader header{};
    if (!file || (*file)->read(0, {reinterpret_cast<char*>(&header), sizeof header}).value_or(0) < sizeof header ||
        !header_is_whole(header) || header.base == unset_position) {
      return std::nullopt;
    }
    return header.base;
  }

  // One record in the place of those that are lost. It changes no sequence number, and states what happened.
  std::string filler(JournalPosition position, std::size_t size, std::string_view reason) const {
    std::string body = "repaired: " + std::to_string(size) + " bytes could not be read: " + std::string{reason};
    NFX_REQUIRE(size >= sizeof(RecordHeader) && size % record_alignment == 0);
    body.resize(size - sizeof(RecordHeader), ' ');
    std::string bytes(size, '\0');
    const auto flags = static_cast<std::uint8_t>(RecordFlag::by_operator);
    write_record(bytes.data(), position,
                 {0, 0, value(scan_.next_inbound), to_ns(scan_.creation_time), RecordKind::next_inbound, flags, 0, 0},
                 body);
    return bytes;
  }

  // The copy's records of begin..end, which must be whole and end just there.
  std::string from_copy(JournalPosition begin, JournalPosition end) {
    std::string bytes;
    JournalPosition at = begin;
    (void)scan_journal(disk_, *copy_, [&](const JournalRecord& record) {
      if (record.position != at || at >= end) return at < end;
      const std::size_t offset = bytes.size();
      bytes.resize(offset + padded(record.header.size), '\0');
      std::memcpy(bytes.data() + offset, &record.header, sizeof record.header);
      std::copy(record.body.begin(), record.body.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(offset) + sizeof record.header);
      at += padded(record.header.size);
      return at < end;
    });
    if (at != end) {
      throw StoreError(copy_->string() + " does not have the records of positions " + std::to_string(begin) + " to " +
                       std::to_string(end) + " either; try another copy, or --gap-fill");
    }
    return bytes;
  }

  // --- Headers and whole files ---

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

  // The base is where the checksum of the first record, which begins with it, is right.
  SegmentHeader header_from_neighbours(DiskFile& file, std::uint64_t ordinal) {
    const std::uint64_t size = value_or_throw(file.size());
    if (size <= segment_header_size || scan_.identity.empty() || (scan_.segments.empty() && ordinal != 1)) {
      throw StoreError(folder_.string() + ": nothing shows what the header of " + segment_name(ordinal) +
                       " was; use --from COPY");
    }
    const bool first = scan_.segments.empty();
    SegmentHeader header = make_header(ordinal, size - segment_header_size, scan_.identity);
    const JournalPosition lowest = first ? 0 : scan_.segments.back().end;
    const JournalPosition highest =
        first ? 0 : scan_.segments.back().header.base + scan_.segments.back().header.capacity;
    PiecewiseFile pieces(file);
    header.base = unset_position;
    for (JournalPosition base = lowest; base <= highest && header.base == unset_position; base += record_alignment) {
      if (value_or_throw(record_at(pieces, segment_header_size, size, base)).state == RecordState::whole) {
        header.base = base;
      }
    }
    if (header.base == unset_position) {
      throw StoreError(folder_.string() + ": header and first record of " + segment_name(ordinal) +
                       " are both lost; use --from COPY");
    }
    header.next_inbound = value(scan_.next_inbound);
    header.next_outbound = value(scan_.next_outbound);
    header.creation_time_ns = to_ns(scan_.creation_time);
    header.begun_ns = header.creation_time_ns;
    header.crc = header_crc(header);
    return header;
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
      const auto base = next_base(ordinal);
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
      bytes += filler(begin, hole, "the file was missing");
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

  void say(const std::string& line) { done_ += line + '\n'; }

  Disk& disk_;
  const fs::path& folder_;
  const fs::path* copy_;
  std::unique_ptr<DiskFile> lock_;
  JournalScan scan_;
  std::string done_;
};

}  // namespace

std::string repair_by_gap_fill(Disk& disk, const fs::path& folder) { return Repair(disk, folder, nullptr).run(); }

std::string repair_from_copy(Disk& disk, const fs::path& folder, const fs::path& copy) {
  return Repair(disk, folder, &copy).run();
}

}  // namespace nfx
