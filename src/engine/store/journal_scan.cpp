// Shared by reading, opening and repairing: names of files, records in a file, commit marks.
#include "store/journal_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"

namespace nfx::detail {

std::string segment_name(std::uint64_t ordinal) {
  std::string digits = std::to_string(ordinal);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return digits.append(segment_suffix);
}

std::optional<std::uint64_t> segment_ordinal(std::string_view name) {
  if (!name.ends_with(segment_suffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, name.size() - segment_suffix.size());
  std::uint64_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.size() < 8 || ordinal == 0) {
    return std::nullopt;
  }
  return ordinal;
}

std::string archived_segment_name(const ArchivedName& name) {
  char text[max_utc_timestamp_size];
  std::string stamp(text, write_utc_timestamp(text, name.put_away, 0));
  std::erase(stamp, ':');
  std::string file = segment_name(name.ordinal);
  file.insert(file.size() - segment_suffix.size(), "-" + stamp);
  return file;
}

std::optional<ArchivedName> read_archived_name(std::string_view name) {
  constexpr std::size_t stamp_size = 15;  // "20240315-093000"
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || name.size() != dash + 1 + stamp_size + segment_suffix.size()) {
    return std::nullopt;
  }
  const auto ordinal = segment_ordinal(std::string{name.substr(0, dash)}.append(segment_suffix));
  std::string stamp{name.substr(dash + 1, stamp_size)};
  stamp.insert(13, ":").insert(11, ":");
  const auto time = parse_utc_timestamp(stamp);
  if (!name.ends_with(segment_suffix) || !ordinal || !time) return std::nullopt;
  return ArchivedName{*ordinal, time->time};
}

std::string whole_path(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(folder, ignored);
  if (std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, ignored); !ignored) {
    absolute = canonical;
  }
  return absolute.lexically_normal().string();
}

DiskResult<std::string_view> PiecewiseFile::bytes(std::uint64_t offset, std::size_t size) {
  if (offset < begin_ || offset + size > begin_ + filled_) {
    const std::size_t wanted = std::max(std::clamp(capacity_ * 2, first_scan_piece, scan_piece), size);
    if (wanted > capacity_) {
      piece_ = std::make_unique_for_overwrite<char[]>(wanted);
      capacity_ = wanted;
      filled_ = 0;
    }
    const auto got = file_->read(offset, {piece_.get(), capacity_});
    if (!got) return std::unexpected(got.error());
    begin_ = offset;
    filled_ = *got;
    NFX_REQUIRE(filled_ <= capacity_);
    if (size > filled_) return std::string_view{};
  }
  NFX_ASSERT(begin_ <= offset && offset - begin_ + size <= filled_);  // the view is inside the bytes read
  return std::string_view{piece_.get() + (offset - begin_), size};
}

DiskResult<FoundRecord> record_at(PiecewiseFile& file, std::uint64_t offset, std::uint64_t limit,
                                  JournalPosition position) {
  if (offset + sizeof(RecordHeader) > limit) return FoundRecord{};
  auto front = file.bytes(offset, sizeof(RecordHeader));
  if (!front) return std::unexpected(front.error());
  std::uint32_t size = 0;
  if (!front->empty()) std::memcpy(&size, front->data(), sizeof size);
  if (size == 0) return FoundRecord{};
  if (size < sizeof(RecordHeader) || offset + padded(size) > limit) {
    return FoundRecord{RecordState::impossible_size, {}};
  }
  NFX_ASSERT(offset >= segment_header_size && limit - offset >= padded(size));
  auto whole = file.bytes(offset, size);
  if (!whole) return std::unexpected(whole.error());
  if (whole->empty() || !record_is_whole(position, whole->data(), size)) {
    return FoundRecord{RecordState::wrong_checksum, {}};
  }
  return FoundRecord{RecordState::whole, *whole};
}

std::string_view reason_of(RecordState state) noexcept {
  switch (state) {
    case RecordState::whole: return "nothing is wrong";
    case RecordState::none: return "records are missing";
    case RecordState::impossible_size: return "the size of a record is impossible";
    case RecordState::wrong_checksum: return "the checksum of a record is wrong";
  }
  return "unknown";
}

std::span<const char, scan_piece> zeros() noexcept {
  static constinit char bytes[scan_piece] = {};  // not const: it would take space in the program's file
  return bytes;
}

DiskResult<std::uint64_t> end_of_bytes(DiskFile& file, std::uint64_t offset) {
  const auto file_size = file.size();
  if (!file_size) return std::unexpected(file_size.error());
  if (*file_size <= offset) return offset;
  std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(*file_size - offset, scan_piece)));
  std::uint64_t end = offset;
  for (;;) {
    const auto got = file.read(offset, piece);
    if (!got) return std::unexpected(got.error());
    NFX_REQUIRE(*got <= piece.size());
    if (*got == 0) return end;
    // All bytes are zero if the first one is and the piece equals itself shifted by one byte.
    const bool all_zero = piece[0] == 0 && std::memcmp(piece.data(), piece.data() + 1, *got - 1) == 0;
    if (!all_zero) {
      std::size_t size = *got;
      while (piece[size - 1] == 0) --size;
      end = offset + size;
    }
    offset += *got;
  }
}

std::optional<CommitMark> last_mark(std::string_view header_page) noexcept {
  std::optional<CommitMark> last;
  for (const std::size_t offset : commit_mark_offsets) {
    if (offset + sizeof(CommitMark) > header_page.size()) continue;
    CommitMark mark;
    std::memcpy(&mark, header_page.data() + offset, sizeof mark);
    if (mark_is_whole(mark) && (!last || mark.count > last->count)) last = mark;
  }
  return last;
}

void StandingNumbers::apply(const RecordHeader& record) noexcept {
  closed = false;
  switch (record.kind) {
    case RecordKind::message: next_outbound = record.seq + 1; break;
    case RecordKind::next_inbound: next_inbound = record.seq; break;
    case RecordKind::next_outbound: next_outbound = record.seq; break;
    case RecordKind::reset:
      next_inbound = 1;
      next_outbound = 1;
      creation_time_ns = record.time_ns;
      break;
    case RecordKind::closed: closed = true; break;
    case RecordKind::opened:
    case RecordKind::none: break;
  }
}

void throw_disk_error(const DiskError& error, std::string_view fix) {
  std::string text = error.text();
  if (!fix.empty()) text.append("; ").append(fix);
  throw StoreError(text);
}

}  // namespace nfx::detail
