// A recorder with a thread that writes its files: for programs that record and need no flusher for anything else.
// Thread: made and destroyed by one; the recorder's is that which receives. Cost, bounds and errors: those of Recorder
// and FlusherThread. The destructor ends the thread, then writes, syncs and closes in order.
#pragma once

#include <utility>

#include "nexusfix/base/clocks.hpp"
#include "nexusfix/recording/recorder.hpp"
#include "nexusfix/store/flusher_thread.hpp"

namespace nfx::market {

class RecordingThread {
 public:
  explicit RecordingThread(const RecorderOptions& options, FlusherThreadOptions thread = {}, Disk& disk = posix_disk())
      : recorder_(disk, options, flusher_, read_utc()), thread_(flusher_, std::move(thread)) {}

  [[nodiscard]] Recorder& recorder() noexcept { return recorder_; }

 private:
  JournalFlusher flusher_;
  Recorder recorder_;
  FlusherThread thread_;
};

}  // namespace nfx::market
