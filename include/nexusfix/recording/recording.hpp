// Recordings of market data: received bytes with their receive times, written by a Recorder and read by
// read_recording(). One recording is one journal in its own folder, whose flusher writes the files.
//
// When the process is killed, everything that was recorded survives: the last records are in shared memory, from where
// reading and the next opening take them. After a power loss everything up to the last sync survives.
// Thread: a recorder has one owner, the thread that receives; the flusher has its own thread; reading on any. Cost: a
// record is one copy and one checksum into memory that was reserved before; no allocation, no lock, and no system call
// but one to wake a sleeping flusher. Reading takes the files in pieces, with a file descriptor for each segment, and
// changes nothing. Bounds: at most `buffer_bytes` wait for the disk. A packet that finds no space is dropped and
// counted, and a record before the next stored packet states the number of drops. Errors: constructors throw StoreError
// (folder in use, damaged, not writable). Afterwards nothing throws: records are dropped while trouble() is not empty.
// read_recording() throws StoreError for a folder that is not a recording or cannot be read; where a recording ends
// early is a value.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/language.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx {
class Disk;
class JournalFlusher;
struct JournalRecovery;
}  // namespace nfx

namespace nfx::market {

enum class RecordingKind : std::uint8_t {
  datagram = 1,        // the bytes are one datagram
  cut_datagram = 2,    // ... longer than the receive buffer of one: its end is missing
  stream = 3,          // the next bytes of a connection
  line = 4,            // the text describes line and connection; repeated in each segment
  dropped = 5,         // RecordingDrops: packets received since the record before, which the recorder had no space for
  kernel_dropped = 6,  // RecordingDrops: packets of this line that the kernel dropped, as noticed here
  clock = 7,           // without bytes: a live feed's timers ran here, and a replay's must run here too
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

// The bytes of a record of kind dropped or kernel_dropped.
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
  std::uint32_t connection = 0;  // of a stream: each connection has the next number; 0 for datagrams
};

// One record, as reading visits it.
struct RecordedPacket {
  std::uint64_t number = 0;
  RecordingKind kind{};
  ReceivedFrom from{};
  std::string_view bytes{};  // dead when the visitor returns
};

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

  // An event of a live feed at this time without received bytes: clock, opened or closed.
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
// Thread: created and destroyed by one; the recorder belongs to the receiving thread. The destructor ends the thread,
// then writes, syncs and closes in order. Errors: as Recorder, and std::system_error if the host refuses a thread.
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

enum class RecordingEnd : std::uint8_t {
  closed,         // the recorder ended in order
  being_written,  // a process records. This is what had reached the files
  killed,         // the recorder was killed. Its records are read, as far as its shared memory still exists
  torn,           // a power loss tore the last records, after the last sync
  damaged,        // bytes that had been written cannot be read. The bytes after them were not read
  stopped,        // the visitor has seen enough
};

struct RecordingScan {
  RecordingEnd end = RecordingEnd::closed;
  std::string reason;              // the end in a sentence, with file and offset where bytes cannot be read
  std::uint64_t records = 0;       // visited
  std::uint64_t first_number = 0;  // 0: none
  std::uint64_t last_number = 0;
  std::uint64_t missing = 0;            // numbers between the two that no record has
  std::uint64_t bytes_from_memory = 0;  // that only the shared memory of a killed recorder had
  std::uint64_t recorders = 0;          // processes that wrote it
  std::uint64_t killed = 0;             // number of them that did not end in order
  std::uint64_t position = 0;           // after the last record: reading can continue from here
};

struct ReadRecordingOptions {
  std::filesystem::path folder;  // as the recorder was given it, or a copy of the journal's folder in it
  std::filesystem::path ring_directory = "/dev/shm";
  std::uint64_t from = 0;  // `position` of an earlier scan
};

// The visitor returns false to end it.
using RecordVisitor = std::function<bool(const RecordedPacket&)>;
[[nodiscard]] RecordingScan read_recording(const ReadRecordingOptions& options, const RecordVisitor& visit = {});
[[nodiscard]] RecordingScan read_recording(Disk& disk, const ReadRecordingOptions& options,
                                           const RecordVisitor& visit = {});

// For a record of kind dropped or kernel_dropped.
[[nodiscard]] RecordingDrops drops_in(const RecordedPacket& packet) noexcept;

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
