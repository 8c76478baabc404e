// The frame: a session's owner appends frames to the session's subject of a replicated stream. A frame of kind `epoch`
// is the first one of an owner; all later ones of that owner are of kind `records` and have its epoch.
// Thread: any; pure. Cost: one pass and one checksum of the bytes, no allocation. Lifetime: views borrow the bytes.
// Errors: bytes that are not a whole, valid frame are a FrameError; nothing reads past their end.
//
//   offset | 0     4       6    7 8       16    24      32
//          | magic version kind 0 session epoch gateway number
//          | 40            48             56             64           68           72      76
//          | first_inbound first_outbound outbound_limit record_count records_size attempt crc
//   record | 0   8    12   13
//          | seq size kind 0 0 0  then `size` bytes
//
// All numbers are little-endian. crc is the CRC-32C of the 76 bytes before it and of the records after it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/seq_num.hpp"

namespace nfx::cluster {

// The session, by a hash of its name; its subject has the name.
enum class SessionId : std::uint64_t {};
// Counts the owners of a session, from 1 on. 0: none.
enum class Epoch : std::uint64_t {};
// One run of a gateway's process: another value for each start, so that two owners are never taken for one. 0: none.
enum class GatewayId : std::uint64_t {};
// Counts the frames of a session, from 1 on, without a gap.
enum class FrameNumber : std::uint64_t {};
// The stream's sequence number of a stored frame. 0: before the first one.
enum class StreamSeq : std::uint64_t {};

enum class FrameKind : std::uint8_t { epoch = 1, records = 2 };

enum class RecordKind : std::uint8_t {
  inbound = 1,   // the peer's message `seq` was processed; its bytes are optional
  outbound = 2,  // the message `seq` may be sent
  reset = 3,     // both sequence numbers are 1 again, and earlier messages are dropped; `seq` and `size` are 0
  began = 4,     // the sequence numbers began at 1 at this time: the bytes are nanoseconds since 1970, and `seq` is 0
};

enum class FrameError : std::uint8_t {
  none,
  too_short,            // less than a header
  too_long,             // more than max_frame_size
  bad_magic,            // the bytes are not a frame
  unsupported_version,  // of a later NexusFIX
  bad_checksum,
  bad_header,  // a field has a value that no owner writes
  bad_length,  // the sizes of the records are not the size of the frame
  bad_record,  // a record's kind, sequence number or size is one that no owner writes
};

[[nodiscard]] std::string_view to_string(FrameError error) noexcept;

struct FrameHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  FrameKind kind = FrameKind::records;
  std::uint8_t reserved = 0;
  SessionId session{};
  Epoch epoch{};
  GatewayId gateway{};
  FrameNumber number{};
  SeqNum first_inbound{};  // the next ones before this frame's records
  SeqNum first_outbound{};
  SeqNum outbound_limit{};  // numbers below it may have been sent without a record; at least 1
  std::uint32_t record_count = 0;
  std::uint32_t records_size = 0;
  std::uint32_t attempt = 0;  // of an epoch, from 1 on: no two claims of one gateway are the same bytes; otherwise 0
  std::uint32_t crc = 0;
};
static_assert(std::endian::native == std::endian::little, "the layout is the memory's");
static_assert(std::is_trivially_copyable_v<FrameHeader> && sizeof(FrameHeader) == 80);
static_assert(offsetof(FrameHeader, version) == 4 && offsetof(FrameHeader, kind) == 6);
static_assert(offsetof(FrameHeader, session) == 8 && offsetof(FrameHeader, epoch) == 16);
static_assert(offsetof(FrameHeader, gateway) == 24 && offsetof(FrameHeader, number) == 32);
static_assert(offsetof(FrameHeader, first_inbound) == 40 && offsetof(FrameHeader, first_outbound) == 48);
static_assert(offsetof(FrameHeader, outbound_limit) == 56 && offsetof(FrameHeader, record_count) == 64);
static_assert(offsetof(FrameHeader, records_size) == 68 && offsetof(FrameHeader, attempt) == 72);
static_assert(offsetof(FrameHeader, crc) == 76);

struct RecordHeader {
  std::uint64_t seq = 0;
  std::uint32_t size = 0;
  RecordKind kind{};
  std::array<std::uint8_t, 3> reserved{};
};
static_assert(std::is_trivially_copyable_v<RecordHeader> && sizeof(RecordHeader) == 16);
static_assert(offsetof(RecordHeader, size) == 8 && offsetof(RecordHeader, kind) == 12);

inline constexpr std::uint32_t frame_magic = 0x4358464e;  // "NFXC"
inline constexpr std::uint16_t frame_version = 1;
inline constexpr std::size_t max_frame_size = 1 << 20;  // what a NATS server takes by default
inline constexpr std::uint64_t max_counter = std::uint64_t{1} << 62;

// Both next sequence numbers of a session.
struct Counters {
  SeqNum inbound = first_seq_num;
  SeqNum outbound = first_seq_num;
  friend bool operator==(const Counters&, const Counters&) = default;
};

struct Record {
  RecordKind kind{};
  SeqNum seq{};
  std::string_view bytes{};
};

// Whether this record may follow records that end with these counters, which it then advances.
[[nodiscard]] bool advance(Counters& counters, const Record& record) noexcept;

// For the record `began`, whose bytes are one of these, little-endian.
inline constexpr std::size_t began_size = sizeof(std::int64_t);

struct FrameView {
  FrameHeader header;
  std::string_view bytes;    // the whole frame
  std::string_view records;  // all valid: read_record() cannot fail on them
  Counters end;              // after the last record
};

[[nodiscard]] FrameError decode_frame(std::string_view bytes, FrameView& out) noexcept;

// Takes the first record off the records of a FrameView. Empty records are an assertion.
[[nodiscard]] Record take_record(std::string_view& records) noexcept;

// The next sequence numbers for an owner after this frame: numbers that may have been sent are not used again.
[[nodiscard]] Counters counters_after(const FrameView& frame) noexcept;

// Whether everything before this frame is of no use, so that a replay may begin with it.
[[nodiscard]] bool begins_with_reset(const FrameView& frame) noexcept;

// Writes one record to `to` and returns its size; `to` has at least record_size(record.bytes.size()) bytes.
[[nodiscard]] constexpr std::size_t record_size(std::size_t bytes) noexcept { return sizeof(RecordHeader) + bytes; }
std::size_t write_record(std::span<char> to, const Record& record) noexcept;

// Sets magic, version, sizes and checksum, and writes the header before the records that are in `frame` already, from
// offset sizeof(FrameHeader) on.
void seal_frame(std::span<char> frame, FrameHeader header, std::uint32_t record_count) noexcept;

// The same for every machine and version: part of the format.
[[nodiscard]] SessionId session_id(std::string_view name) noexcept;

}  // namespace nfx::cluster
