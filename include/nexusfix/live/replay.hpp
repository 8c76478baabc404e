// What a live feed recorded, through the handler that it had. Thread: any. Cost: reading the files, and that of the
// handler. Time is that of the recording. Errors: those of read_recording; what it was is in the RecordingScan.
#pragma once

#include "nexusfix/live/feed_input.hpp"
#include "nexusfix/recording/read_recording.hpp"

namespace nfx::market {

// `now` is the time of each input while the handler takes it: what a Pipeline is given. Records that are not inputs,
// such as what was dropped, are passed over.
template <FeedHandler Handler>
[[nodiscard]] RecordingScan replay(const ReadRecordingOptions& recording, Handler& handler, Instant& now,
                                   Disk& disk = posix_disk()) {
  return read_recording(disk, recording, [&](const RecordedPacket& packet) {
    if (const auto input = input_of(packet)) {
      now = {input->at, FeedClock::of(input->at)};
      handler.take(*input);
    }
    return true;
  });
}

}  // namespace nfx::market
