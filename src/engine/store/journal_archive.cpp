// Lists and reads the segments that were archived when the sequence numbers were reset.
#include "store/journal_archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "store/journal_bytes.hpp"
#include "store/journal_scan.hpp"

namespace nfx {

namespace fs = std::filesystem;
using namespace detail;

namespace {

// The header of a segment that was started.
std::optional<SegmentHeader> header_of(std::string_view page) {
  SegmentHeader header{};
  if (page.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, page.data(), sizeof header);
  if (!header_is_whole(header) || header.base == unset_position) return std::nullopt;
  return header;
}

std::string header_page(DiskFile& file) {
  std::string page(segment_header_size, '\0');
  page.resize(value_or_throw(file.read(0, page)));
  return page;
}

}  // namespace

std::vector<ArchivedSegment> list_archive(Disk& disk, const fs::path& folder) {
  std::vector<ArchivedSegment> found;
  const fs::path archive = folder / archive_folder;
  if (!disk.exists(archive)) return found;
  for (const std::string& name : value_or_throw(disk.list(archive))) {
    const auto parsed = read_archived_name(name);
    if (!parsed) continue;
    const auto file = disk.open(archive / name, OpenMode::read);
    if (!file && file.error().code == ENOENT) continue;  // removed meanwhile, because its retention time was over
    ArchivedSegment segment;
    segment.path = archive / name;
    segment.ordinal = parsed->ordinal;
    segment.put_away = parsed->put_away;
    if (file) {
      segment.size = (*file)->size().value_or(0);
      segment.header = header_of(header_page(**file));
    }
    found.push_back(std::move(segment));
  }
  // Ordinals start again when a journal is created anew, so time takes precedence.
  std::ranges::sort(found, [](const ArchivedSegment& a, const ArchivedSegment& b) {
    return std::pair{a.put_away, a.ordinal} < std::pair{b.put_away, b.ordinal};
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    ArchivedSegment& segment = found[i];
    std::optional<SegmentHeader> next;
    if (i + 1 < found.size()) {
      next = found[i + 1].header;
    } else if (const auto file = disk.open(folder / segment_name(segment.ordinal + 1), OpenMode::read)) {
      next = header_of(header_page(**file));
    }
    const bool follows = next && segment.header && next->ordinal == segment.ordinal + 1 &&
                         next->base >= segment.header->base && identity_of(*next) == identity_of(*segment.header);
    if (follows) segment.next = next;
  }
  return found;
}

JournalScan scan_archived(Disk& disk, const ArchivedSegment& segment,
                          const std::function<bool(const JournalRecord&)>& visit) {
  JournalScan scan;
  const std::string path = segment.path.string();
  const auto file = value_or_throw(disk.open(segment.path, OpenMode::read));
  const auto damage = [&](std::uint64_t offset, std::string_view reason) {
    scan.damage = JournalDamage{path, offset, scan.end, std::string{reason}};
  };
  const std::string page = header_page(*file);
  const auto header = header_of(page);
  if (!header) {
    damage(0, "the header of the segment is damaged");
    return scan;
  }
  StandingNumbers numbers{header->next_inbound, header->next_outbound, header->creation_time_ns, false};
  scan.identity = identity_of(*header);
  scan.end = header->base;
  scan.committed = header->base;
  SegmentInfo info;
  info.path = segment.path;
  info.header = *header;
  if (const auto mark = last_mark(page)) {
    scan.committed = std::max(scan.committed, mark->position);
    info.committed_at = from_ns(mark->time_ns);
  }
  if (segment.next) scan.committed = segment.next->base;
  PiecewiseFile pieces(*file);
  const std::uint64_t limit = segment_header_size + header->capacity;
  std::uint64_t offset = segment_header_size;
  RecordState state = RecordState::none;
  for (bool go_on = true; go_on;) {
    const FoundRecord found = value_or_throw(record_at(pieces, offset, limit, scan.end));
    state = found.state;
    if (state != RecordState::whole) break;
    JournalRecord record;
    std::memcpy(&record.header, found.bytes.data(), sizeof record.header);
    record.position = scan.end;
    record.body = found.bytes.substr(sizeof record.header);
    record.file = &path;
    record.offset = offset;
    numbers.apply(record.header);
    ++scan.records;
    go_on = !visit || visit(record);
    offset += padded(found.bytes.size());
    scan.end += padded(found.bytes.size());
  }
  info.end = scan.end;
  info.committed = scan.committed;
  scan.segments.push_back(std::move(info));
  scan.next_inbound = SeqNum{numbers.next_inbound};
  scan.next_outbound = SeqNum{numbers.next_outbound};
  scan.creation_time = from_ns(numbers.creation_time_ns);
  scan.closed = numbers.closed;
  if (state == RecordState::whole) return scan;  // the visitor ended the scan
  if (state != RecordState::none || scan.end < scan.committed) {
    damage(offset, reason_of(state));
  } else if (segment.next && scan.end != segment.next->base) {
    damage(offset, "there are records after the end that the next segment states");
  } else if (value_or_throw(end_of_bytes(*file, offset)) > offset) {
    damage(offset, "there are bytes after the last record");
  }
  return scan;
}

}  // namespace nfx
