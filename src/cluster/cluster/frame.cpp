// Frames are read and written here; everything in them is checked before anything is used.
#include "cluster/frame.hpp"

#include <algorithm>
#include <cstring>

#include "base/crc32c.hpp"
#include "cluster/name_hash.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::cluster {

namespace {

constexpr std::size_t checked_size = offsetof(FrameHeader, crc);

std::uint32_t checksum(std::string_view frame) noexcept {
  return crc32c(frame.substr(sizeof(FrameHeader)), crc32c(frame.substr(0, checked_size)));
}

bool is_counter(SeqNum seq) noexcept { return value(seq) >= 1 && value(seq) <= max_counter; }

bool is_valid(const FrameHeader& header) noexcept {
  const bool is_epoch = header.kind == FrameKind::epoch;
  return (is_epoch || header.kind == FrameKind::records) && header.reserved == 0 && is_epoch == (header.attempt != 0) &&
         header.epoch != Epoch{} && header.gateway != GatewayId{} && header.number != FrameNumber{} &&
         std::to_underlying(header.epoch) <= max_counter && std::to_underlying(header.number) <= max_counter &&
         is_counter(header.first_inbound) && is_counter(header.first_outbound) && is_counter(header.outbound_limit) &&
         (!is_epoch || header.record_count == 0);
}

// The records of a frame with a right header; `out.end` are the counters after them.
FrameError check_records(FrameView& out) noexcept {
  std::string_view rest = out.records;
  out.end = {.inbound = out.header.first_inbound, .outbound = out.header.first_outbound};
  for (std::uint32_t i = 0; i < out.header.record_count; ++i) {
    if (rest.size() < sizeof(RecordHeader)) return FrameError::bad_length;
    RecordHeader header;
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.size > rest.size() - sizeof header) return FrameError::bad_length;
    if (std::ranges::any_of(header.reserved, [](std::uint8_t byte) { return byte != 0; }))
      return FrameError::bad_record;
    if (!advance(out.end, take_record(rest))) return FrameError::bad_record;
  }
  return rest.empty() ? FrameError::none : FrameError::bad_length;
}

}  // namespace

std::string_view to_string(FrameError error) noexcept {
  switch (error) {
    case FrameError::none: return "none";
    case FrameError::too_short: return "less than a header";
    case FrameError::too_long: return "longer than a frame may be";
    case FrameError::bad_magic: return "not a frame of NexusFIX";
    case FrameError::unsupported_version: return "a frame of a later version of NexusFIX";
    case FrameError::bad_checksum: return "a wrong checksum";
    case FrameError::bad_header: return "a header with a value out of range";
    case FrameError::bad_length: return "records that do not fill the frame";
    case FrameError::bad_record: return "a record with a value out of range";
  }
  return "unknown";
}

bool advance(Counters& counters, const Record& record) noexcept {
  const bool fits = value(record.seq) < max_counter;
  switch (record.kind) {
    case RecordKind::inbound:
      if (!fits || record.seq < counters.inbound) return false;
      counters.inbound = next(record.seq);
      return true;
    case RecordKind::outbound:
      if (!fits || record.seq < counters.outbound) return false;
      counters.outbound = next(record.seq);
      return true;
    case RecordKind::reset:
      if (record.seq != SeqNum{} || !record.bytes.empty()) return false;
      counters = {};
      return true;
    case RecordKind::began: return record.seq == SeqNum{} && record.bytes.size() == began_size;
  }
  return false;
}

FrameError decode_frame(std::string_view bytes, FrameView& out) noexcept {
  if (bytes.size() < sizeof(FrameHeader)) return FrameError::too_short;
  if (bytes.size() > max_frame_size) return FrameError::too_long;
  std::memcpy(&out.header, bytes.data(), sizeof out.header);
  if (out.header.magic != frame_magic) return FrameError::bad_magic;
  if (out.header.version != frame_version) return FrameError::unsupported_version;
  if (out.header.crc != checksum(bytes)) return FrameError::bad_checksum;
  if (!is_valid(out.header)) return FrameError::bad_header;
  if (out.header.records_size != bytes.size() - sizeof(FrameHeader)) return FrameError::bad_length;
  out.bytes = bytes;
  out.records = bytes.substr(sizeof(FrameHeader));
  return check_records(out);
}

Record take_record(std::string_view& records) noexcept {
  NFX_ASSERT(records.size() >= sizeof(RecordHeader));
  RecordHeader header;
  std::memcpy(&header, records.data(), sizeof header);
  NFX_ASSERT(header.size <= records.size() - sizeof header);
  const Record record{
      .kind = header.kind, .seq = SeqNum{header.seq}, .bytes = records.substr(sizeof header, header.size)};
  records.remove_prefix(sizeof header + header.size);
  return record;
}

Counters counters_after(const FrameView& frame) noexcept {
  return {.inbound = frame.end.inbound, .outbound = std::max(frame.end.outbound, frame.header.outbound_limit)};
}

bool begins_with_reset(const FrameView& frame) noexcept {
  std::string_view records = frame.records;
  return !records.empty() && take_record(records).kind == RecordKind::reset;
}

std::size_t write_record(std::span<char> to, const Record& record) noexcept {
  NFX_ASSERT(to.size() >= record_size(record.bytes.size()));
  NFX_ASSERT(record.kind != RecordKind::reset || (record.bytes.empty() && record.seq == SeqNum{}));
  NFX_ASSERT(record.kind != RecordKind::began || (record.bytes.size() == began_size && record.seq == SeqNum{}));
  const RecordHeader header{.seq = value(record.seq),
                            .size = static_cast<std::uint32_t>(record.bytes.size()),
                            .kind = record.kind,
                            .reserved = {}};
  std::memcpy(to.data(), &header, sizeof header);
  if (!record.bytes.empty()) std::memcpy(to.data() + sizeof header, record.bytes.data(), record.bytes.size());
  return record_size(record.bytes.size());
}

void seal_frame(std::span<char> frame, FrameHeader header, std::uint32_t record_count) noexcept {
  NFX_ASSERT(frame.size() >= sizeof header && frame.size() <= max_frame_size);
  header.magic = frame_magic;
  header.version = frame_version;
  header.reserved = 0;
  header.record_count = record_count;
  header.records_size = static_cast<std::uint32_t>(frame.size() - sizeof header);
  header.crc = 0;
  NFX_ASSERT(is_valid(header));
  std::memcpy(frame.data(), &header, sizeof header);
  header.crc = checksum({frame.data(), frame.size()});
  std::memcpy(frame.data(), &header, sizeof header);
}

SessionId session_id(std::string_view name) noexcept { return SessionId{mixed(name_hash(name))}; }

}  // namespace nfx::cluster
