// Records received bytes with their receive times: a journal in a folder of its own, whose flusher writes the files.
//
// What survives: when the process is killed, everything that was recorded: the last records are in shared memory, from
// where reading and the next opening take them. After a power loss everything up to the last sync.
// Thread: one owner, the thread that receives; the flusher on its own. Cost: a record is one copy and one checksum into
// memory that was reserved before; no allocation, no lock, and no system call but one to wake a sleeping flusher.
// Bounded: `buffer_bytes` wait for the disk at most. A packet that finds no space is dropped and counted, and a record
// before the next one that fits states how many were.
// Errors: the constructor throws StoreError (folder in use, damaged, not writable). Afterwards nothing throws: records
// are dropped while trouble() is not empty.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/recording/format.hpp"

namespace nfx {
class Disk;
class JournalFlusher;
struct JournalRecovery;
}  // namespace nfx

namespace nfx::market {

struct RecorderOptions {
  std::string folder;                       // of this recording; one that exists is continued, after it was read
  std::string ring_directory = "/dev/shm";  // a tmpfs
  std::uint64_t segment_bytes = std::uint64_t{256} << 20;  // of a file
  std::uint32_t buffer_bytes = std::uint32_t{32} << 20;    // for the disk to be slow; a power of two, 256 KiB to 1 GiB
  Duration sync_interval = std::chrono::milliseconds{200};
  std::uint64_t retain_bytes = 0;      // of files; the oldest are deleted. 0: all stay
  std::chrono::seconds retain_age{0};  // of whole files; 0: any
};

struct RecorderCounters {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t kernel_dropped = 0;

  friend bool operator==(const RecorderCounters&, const RecorderCounters&) = default;
};

}  // namespace nfx::market

namespace nfx {

template <>
inline constexpr auto counter_rows<market::RecorderCounters> = std::to_array<CounterRow<market::RecorderCounters>>({
    {&market::RecorderCounters::records, "nfx_recording_records_total", "Packets recorded."},
    {&market::RecorderCounters::bytes, "nfx_recording_bytes_total", "Bytes of the packets recorded."},
    {&market::RecorderCounters::dropped, "nfx_recording_dropped_total",
     "Packets received but not recorded: the disk is slower than the feed, full, or has failed."},
    {&market::RecorderCounters::dropped_bytes, "nfx_recording_dropped_bytes_total",
     "Bytes of the packets received but not recorded."},
    {&market::RecorderCounters::kernel_dropped, "nfx_recording_kernel_dropped_total",
     "Packets that the kernel dropped before they were received, as recorded."},
});
static_assert(rows_are_complete<market::RecorderCounters>());

}  // namespace nfx

namespace nfx::market {

class Recorder {
 public:
  // `disk` and `flusher` outlive the recorder. From now on a thread calls the flusher's turn().
  Recorder(Disk& disk, const RecorderOptions& options, JournalFlusher& flusher, UtcTime now);
  // Writes, syncs and closes in order.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // False: dropped, and counted.
  bool datagram(const ReceivedFrom& from, std::string_view bytes, bool cut = false) noexcept;
  bool stream(const ReceivedFrom& from, std::string_view bytes) noexcept;

  // What a live feed did at a time, without bytes that were received: clock, opened or closed.
  bool mark(RecordingKind kind, const ReceivedFrom& from, std::string_view bytes = {}) noexcept;

  // Not for each packet. A line's text is recorded now and in each segment.
  void describe(const ReceivedFrom& line, std::string_view text);
  // False: there was no space for this; include it in the next.
  bool kernel_dropped(const ReceivedFrom& line, std::uint64_t packets) noexcept;
  // Records what is due: drops of which no packet has reported yet, and the lines in a segment that was begun. About
  // every second.
  void tend(UtcTime now) noexcept;

  [[nodiscard]] const RecorderCounters& counters() const noexcept;
  [[nodiscard]] const JournalRecovery& recovery() const noexcept;
  [[nodiscard]] std::uint64_t next_number() const noexcept;
  // The disk has failed: nothing more is recorded.
  [[nodiscard]] bool failed() const noexcept;
  [[nodiscard]] std::string trouble() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A recorder with a thread that writes its files: for programs that record and need no flusher for anything else.
// Thread: made and destroyed by one; the recorder's is that which receives. The destructor ends the thread, then
// writes, syncs and closes in order. Errors: those of Recorder, and std::system_error when the host refuses a thread.
class RecordingThread {
 public:
  explicit RecordingThread(const RecorderOptions& options);
  ~RecordingThread();
  RecordingThread(const RecordingThread&) = delete;
  RecordingThread& operator=(const RecordingThread&) = delete;

  [[nodiscard]] Recorder& recorder() noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::market
