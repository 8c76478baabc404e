// Reads a piece of a segment file, and returns its records.
#include "store/segment_chunk.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "store/journal_bytes.hpp"

namespace nfx::detail {
namespace {

constexpr std::size_t chunk_size = 256 * 1024;

}  // namespace

const char* SegmentChunk::record_at(JournalWriter& writer, JournalPosition position, JournalPosition written) {
  const char* record = bytes_at(writer, position, sizeof(RecordHeader), written);
  if (record == nullptr) return nullptr;
  std::uint32_t size;
  std::memcpy(&size, record, sizeof size);
  if (size < sizeof(RecordHeader)) return nullptr;
  record = bytes_at(writer, position, size, written);
  return record != nullptr && record_is_whole(position, record, size) ? record : nullptr;
}

// Loads `size` bytes of the file at `position`; null if the file does not contain them.
const char* SegmentChunk::bytes_at(JournalWriter& writer, JournalPosition position, std::size_t size,
                                   JournalPosition written) {
  if (position >= begin_ && position + size <= end_) return bytes_.get() + (position - begin_);
  JournalPosition end = 0;
  const auto place = writer.segment_at(position, end);
  if (!place) return nullptr;
  NFX_REQUIRE(place->base <= position && position - place->base < place->capacity);
  if (ordinal_ != place->ordinal) {
    auto opened = writer.disk().open(writer.segment_path(place->ordinal), OpenMode::read);
    if (!opened) return nullptr;
    file_ = *std::move(opened);
    ordinal_ = place->ordinal;
  }
  end = std::min(end, written);
  if (position + size > end || !make_room(std::max(size, chunk_size))) return nullptr;
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(size, chunk_size), end - position));
  begin_ = position;
  end_ = position;
  const auto got = file_->read(segment_header_size + (position - place->base), {bytes_.get(), length});
  if (!got || *got < size) return nullptr;
  NFX_REQUIRE(*got <= length && length <= capacity_);
  end_ = position + *got;
  return bytes_.get();
}

bool SegmentChunk::make_room(std::size_t size) {
  if (capacity_ >= size) return true;
  begin_ = end_ = 0;
  bytes_.reset(new (std::nothrow) char[size]);
  capacity_ = bytes_ == nullptr ? 0 : size;
  return bytes_ != nullptr;
}

}  // namespace nfx::detail
