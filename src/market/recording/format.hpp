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

#include "nexusfix/base/time.hpp"
#include "nexusfix/recording/recording.hpp"

namespace nfx::market {

// Names the version too: what changes the bytes changes it.
inline constexpr std::string_view recording_identity = "market data recording 1";

struct RecordingHeader {
  RecordingKind kind;
  StampSource stamp;
  std::uint16_t line;
  std::uint32_t connection;
};
static_assert(sizeof(RecordingHeader) == 8 && std::has_unique_object_representations_v<RecordingHeader>);

}  // namespace nfx::market
