// Finds the next whole record after damaged bytes, and the position of a record from its checksum.
#include "store/journal_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"

namespace nfx::detail {
namespace {

constexpr std::uint8_t known_flags =
    std::to_underlying(RecordFlag::by_operator) | std::to_underlying(RecordFlag::asked_reset) |
    std::to_underlying(RecordFlag::imported) | std::to_underlying(RecordFlag::recorded) |
    std::to_underlying(RecordFlag::received);

// Whether a record's header may begin with these bytes. Text and times look different.
[[nodiscard]] bool may_be_header(const RecordHeader& header, std::uint64_t most) noexcept {
  return header.size >= sizeof header && padded(header.size) <= most && header.kind > RecordKind::none &&
         header.kind <= RecordKind::closed && (header.flags & ~known_flags) == 0 && header.zero_a == 0 &&
         header.zero_b == 0;
}

constexpr std::uint64_t one_segment_max = 1024 * 1024 * 1024;        // bytes
constexpr std::uint64_t checksums_per_position = 33;                 // computed by low_position_of()
static_assert(base_checked_per_byte >= 2 * checksums_per_position);  // enough for all records, even if none is whole

}  // namespace

DiskResult<JournalPosition> RecordSearch::next_whole(JournalPosition from) {
  NFX_REQUIRE(range_.begin <= from && from % record_alignment == 0);
  for (JournalPosition at = from; at + sizeof(RecordHeader) <= range_.end && !given_up_; at += record_alignment) {
    const std::uint64_t offset = range_.offset + (at - range_.begin);
    const auto front = file_.bytes(offset, sizeof(RecordHeader));
    if (!front) return std::unexpected(front.error());
    if (front->empty()) break;  // the file ends
    RecordHeader header;
    std::memcpy(&header, front->data(), sizeof header);
    if (!may_be_header(header, range_.end - at)) continue;
    given_up_ = checked_ + header.size > budget_;
    if (given_up_) break;
    checked_ += header.size;
    const auto whole = file_.bytes(offset, header.size);
    if (!whole) return std::unexpected(whole.error());
    if (!whole->empty() && record_is_whole(at, whole->data(), header.size)) return at;
  }
  return range_.end;
}

// A checksum is linear in its seed, so 32 of them, one for each bit, determine all others.
std::optional<std::uint32_t> low_position_of(std::string_view record) noexcept {
  RecordHeader header;
  NFX_REQUIRE(record.size() >= sizeof header);
  std::memcpy(&header, record.data(), sizeof header);
  if (header.size != record.size()) return std::nullopt;
  const std::uint32_t at_zero = record_crc(0, record.data(), record.size());
  struct Row {
    std::uint32_t change;  // change of the checksum
    std::uint32_t bits;    // bits of the position that cause it
  };
  std::array<Row, 32> by_top_bit{};
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    Row row{record_crc(std::uint32_t{1} << bit, record.data(), record.size()) ^ at_zero, std::uint32_t{1} << bit};
    while (row.change != 0) {
      Row& there = by_top_bit[static_cast<std::size_t>(std::bit_width(row.change)) - 1];
      if (there.change == 0) {
        there = row;
        break;
      }
      row.change ^= there.change;
      row.bits ^= there.bits;
    }
  }
  std::uint32_t wanted = header.crc ^ at_zero;
  std::uint32_t position = 0;
  while (wanted != 0) {
    const Row& row = by_top_bit[static_cast<std::size_t>(std::bit_width(wanted)) - 1];
    if (row.change == 0) return std::nullopt;
    wanted ^= row.change;
    position ^= row.bits;
  }
  return position;
}

DiskResult<std::optional<JournalPosition>> find_base(DiskFile& file, const BaseRange& range) {
  const std::uint64_t width = range.highest < range.lowest ? 0 : range.highest - range.lowest;
  const auto size = file.size();
  if (!size) return std::unexpected(size.error());
  PiecewiseFile pieces(file);
  std::vector<JournalPosition> found;
  std::uint64_t budget = base_checked_per_byte * *size;
  for (std::uint64_t offset = segment_header_size; offset + sizeof(RecordHeader) <= *size;) {
    const auto front = pieces.bytes(offset, sizeof(RecordHeader));
    if (!front) return std::unexpected(front.error());
    if (front->empty()) break;  // the file was cut meanwhile
    RecordHeader header;
    std::memcpy(&header, front->data(), sizeof header);
    const std::uint64_t at = offset;
    offset += record_alignment;
    if (!may_be_header(header, padded(*size - at)) || header.size > *size - at) continue;
    const std::uint64_t cost = checksums_per_position * header.size;
    // The first record is examined at any cost, because it may be the only one.
    if (cost > budget && at != segment_header_size) break;
    budget -= std::min(cost, budget);
    const auto record = pieces.bytes(at, header.size);
    if (!record) return std::unexpected(record.error());
    const auto low = record->empty() ? std::nullopt : low_position_of(*record);
    if (!low) continue;
    const auto low_base = *low - static_cast<std::uint32_t>(at - segment_header_size);
    const JournalPosition base = range.lowest + (low_base - static_cast<std::uint32_t>(range.lowest));
    if (base - range.lowest > width || base % record_alignment != 0 ||
        !record_is_whole(base + (at - segment_header_size), record->data(), record->size())) {
      continue;
    }
    if (std::ranges::find(found, base) != found.end()) return base;
    found.push_back(base);
    offset = at + padded(header.size);
  }
  const bool alone = found.size() == 1 && width <= one_segment_max;
  return alone ? std::optional{found.front()} : std::nullopt;
}

}  // namespace nfx::detail
