// The bytes of a recording. One recording is one journal (store/journal_format.hpp): the same segments, checksums and
// commit marks. Its records are of kind message with RecordFlag::recorded; all numbers are little-endian.
//
//   record  | size 4 | crc 4 | number 8 | received 8 | message 1 | recorded 1 | zero 6 |
//           | kind 1 | stamp 1 | line 2 | connection 4 | bytes as received | 0 to 7 zeros |
//
// `number` counts the records of the recording: 1, 2, ... `received` is UTC in nanoseconds since 1970, by the clock
// that `stamp` names.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::market {

// Names the version too: what changes the bytes changes it.
inline constexpr std::string_view recording_identity = "market data recording 1";

enum class RecordingKind : std::uint8_t {
  datagram = 1,        // the bytes are one datagram
  cut_datagram = 2,    // ... longer than the receive buffer of one: its end is missing
  stream = 3,          // the next bytes of a connection
  line = 4,            // the text describes line and connection; repeated in each segment
  dropped = 5,         // RecordingDrops: packets received since the record before, which the recorder had no space for
  kernel_dropped = 6,  // RecordingDrops: packets of this line that the kernel dropped, as noticed here
  clock = 7,           // without bytes: a live feed's timers ran here, as those of a replay have to
  opened = 8,          // a connection is open; the bytes, if any, are what its handshake was made of
  closed = 9,          // it has ended
};

[[nodiscard]] constexpr std::string_view to_string(RecordingKind kind) noexcept {
  switch (kind) {
    case RecordingKind::datagram: return "datagram";
    case RecordingKind::cut_datagram: return "cut datagram";
    case RecordingKind::stream: return "stream";
    case RecordingKind::line: return "line";
    case RecordingKind::dropped: return "dropped";
    case RecordingKind::kernel_dropped: return "dropped by the kernel";
    case RecordingKind::clock: return "clock";
    case RecordingKind::opened: return "opened";
    case RecordingKind::closed: return "closed";
  }
  return "unknown";
}

struct RecordingHeader {
  RecordingKind kind;
  StampSource stamp;
  std::uint16_t line;
  std::uint32_t connection;  // of a stream: each connection has the next number; 0 for datagrams
};
static_assert(sizeof(RecordingHeader) == 8 && std::has_unique_object_representations_v<RecordingHeader>);

struct RecordingDrops {
  std::uint64_t packets;
  std::uint64_t bytes;  // 0 where they are not known
};
static_assert(sizeof(RecordingDrops) == 16 && std::has_unique_object_representations_v<RecordingDrops>);

// Where and when a packet was received.
struct ReceivedFrom {
  UtcTime at{};
  StampSource stamp = StampSource::none;
  std::uint16_t line = 0;
  std::uint32_t connection = 0;
};

// One record, as reading visits it.
struct RecordedPacket {
  std::uint64_t number = 0;
  RecordingKind kind{};
  ReceivedFrom from{};
  std::string_view bytes{};  // dead when the visitor returns
};

}  // namespace nfx::market
