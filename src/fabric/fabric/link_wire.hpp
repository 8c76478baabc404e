// The data that the two ends of a link write into each other's region, and the numbers that announce it.
//
//   the link's region, of the same layout at both ends
//   | statuses out | statuses in | records out | records in |
//     status_slots per rail         record_slots
//
//   number   | 31 30 | 29 ... 24 | 23 ... 16  | 15 ... 0 |
//   page         0     slot        generation   page        of the receiver's table of transfers
//   record       1     round, 14 bits           slot        the round is the sequence number / record_slots
//   status       2     version, 30 bits                     its slot is version % status_slots
//
// Thread: any, pure. Cost: a few instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nexusfix/fabric/link.hpp"

namespace nfx::fabric {

enum class NumberKind : std::uint8_t { page, record, status, none };

struct PageNumber {
  std::uint32_t slot = 0;        // 6 bits
  std::uint32_t generation = 0;  // 8 bits
  std::uint32_t page = 0;        // 16 bits
};
static_assert(max_transfers <= 1U << 6 && max_pages <= 1U << 16);

[[nodiscard]] constexpr NumberKind kind_of(std::uint32_t number) noexcept {
  return static_cast<NumberKind>(number >> 30);
}
[[nodiscard]] constexpr std::uint32_t encode(PageNumber page) noexcept {
  return page.slot << 24 | page.generation << 16 | page.page;
}
[[nodiscard]] constexpr PageNumber decode_page(std::uint32_t number) noexcept {
  return {.slot = number >> 24 & 0x3f, .generation = number >> 16 & 0xff, .page = number & 0xffff};
}

inline constexpr std::uint64_t round_mask = 0x3fff;
[[nodiscard]] constexpr std::uint32_t encode_record(std::uint64_t seq, std::uint32_t slots) noexcept {
  return 1U << 30 | static_cast<std::uint32_t>((seq / slots & round_mask) << 16 | seq % slots);
}

inline constexpr std::uint64_t version_mask = 0x3fffffff;
[[nodiscard]] constexpr std::uint32_t encode_status(std::uint64_t version) noexcept {
  return 2U << 30 | static_cast<std::uint32_t>(version & version_mask);
}

static_assert(kind_of(encode(PageNumber{63, 255, 65535})) == NumberKind::page);
static_assert(kind_of(encode_record(~std::uint64_t{0}, 16384)) == NumberKind::record);
static_assert(kind_of(encode_status(~std::uint64_t{0})) == NumberKind::status);

// Maximum number of statuses of one rail in flight.
inline constexpr std::uint32_t status_slots = 16;

// The sender's whole state, so that a later status replaces an earlier one. Sent up to the last rail of the link.
struct Status {
  std::uint64_t session = 0;       // the sender's
  std::uint64_t peer_session = 0;  // the receiver's, as the sender knows it; 0: unknown
  std::uint64_t version = 0;       // number of this status on this rail since it was opened, from 1 on
  std::uint64_t statuses = 0;      // the receiver's statuses that arrived over this rail without a gap, up to this one
  std::uint64_t consumed = 0;      // numbers of pages and records that arrived over this rail
  std::uint64_t arrived = 0;       // the receiver's records that arrived, up to this one without a gap
  std::uint64_t acknowledged = 0;  // by the application, of its records
  std::uint32_t options = 0;       // fingerprint of the options that both ends must share
  std::uint32_t window = 0;        // maximum of page and record numbers in flight over this rail
  std::uint32_t incarnation = 0;   // number of openings of the sender's end of this rail
  std::uint32_t reserved = 0;
  std::array<std::uint32_t, max_rails> closed{};  // per rail: the last incarnation that the sender has closed
};
static_assert(std::is_trivially_copyable_v<Status> && sizeof(Status) == 72 + 4 * max_rails);

[[nodiscard]] constexpr std::uint32_t status_size(std::size_t rails) noexcept {
  return static_cast<std::uint32_t>(offsetof(Status, closed) + rails * sizeof(std::uint32_t));
}

enum class RecordKind : std::uint8_t {
  application,
  offer,   // receiver to sender: where pages may be written
  done,    // receiver to sender: all pages have arrived
  cancel,  // receiver to sender: end the transfer
  ended,   // sender to receiver: nothing of it is in flight any more, and nothing follows
  query,   // sender to receiver: which pages have arrived?
  have,    // receiver to sender: the answer
};
inline constexpr std::uint8_t record_kinds = 7;

struct RecordHeader {
  std::uint64_t seq = 0;
  std::uint32_t length = 0;
  RecordKind kind = RecordKind::application;
  std::array<std::uint8_t, 3> reserved{};
};
static_assert(sizeof(RecordHeader) == 16);

// The body of every record that is not the application's; `slot` and `generation` are the receiver's.
struct TransferNote {
  std::uint64_t id = 0;      // for offer
  std::uint64_t offset = 0;  // for offer
  std::uint32_t page_size = 0;
  std::uint32_t pages = 0;  // for offer; for have: the number of pages that the bits describe
  std::uint32_t first = 0;  // for have: the page of the first bit
  std::uint32_t query = 0;  // for query and have
  std::uint8_t slot = 0;
  std::uint8_t generation = 0;
  std::uint8_t region = 0;                           // for offer
  TransferResult result = TransferResult::complete;  // for ended
  std::array<std::uint8_t, 4> reserved{};
};
static_assert(sizeof(TransferNote) == 40 && std::is_trivially_copyable_v<TransferNote>);

// Offsets in the link's region.
struct LinkLayout {
  std::uint32_t rails = 0;
  std::uint32_t record_slots = 0;
  std::uint32_t record_stride = 0;

  static constexpr std::uint32_t status_stride = (sizeof(Status) + 63) / 64 * 64;

  [[nodiscard]] constexpr std::uint64_t statuses() const noexcept {
    return std::uint64_t{rails} * status_slots * status_stride;
  }
  [[nodiscard]] constexpr std::uint64_t records() const noexcept { return std::uint64_t{record_slots} * record_stride; }
  [[nodiscard]] constexpr std::uint64_t status_out(std::size_t rail, std::uint64_t version) const noexcept {
    return (rail * status_slots + version % status_slots) * status_stride;
  }
  [[nodiscard]] constexpr std::uint64_t status_in(std::size_t rail, std::uint64_t version) const noexcept {
    return statuses() + status_out(rail, version);
  }
  [[nodiscard]] constexpr std::uint64_t record_out(std::uint64_t seq) const noexcept {
    return 2 * statuses() + seq % record_slots * record_stride;
  }
  [[nodiscard]] constexpr std::uint64_t record_in(std::uint64_t seq) const noexcept {
    return records() + record_out(seq);
  }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return 2 * statuses() + 2 * records(); }
};

}  // namespace nfx::fabric
