// The common part of message log and event log. Threads copy records into queues, one per thread; a worker turns them
// into lines, in order of time, and appends these to files.
// Thread: each queue has one recording thread; step() belongs to one worker; names and counters from any thread. Cost:
// recording is one copy into the queue, without allocation, lock, throw, formatting or system call. The exceptions:
// waking a sleeping worker when the queue is more than half full, and waiting if `full` says so. Bounds: each queue is
// lane_bytes long, and its spill, if any, full.spill_bytes. A record longer than longest_record is cut, and its line
// says by how much. If a queue is full, `full` decides; records that are dropped are counted, and the log says in their
// place how many are missing. If the disk fails, on_failure is called once, and further records are counted and
// dropped, so that no thread waits for the disk. The log tries again once a second, and on success says how many
// records are missing. Lifetime: the log outlives the recording threads. The destructor writes all remaining records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "log/log_file.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"

namespace nfx {

// For lines without a session.
inline constexpr std::uint32_t no_log_session = UINT32_MAX;

struct DeferredLogOptions {
  std::variant<LogFileOptions, int> target;  // files, or an open file descriptor
  std::uint32_t lanes = 1;                   // number of recording threads
  std::size_t lane_bytes = std::size_t{4} << 20;
  std::size_t longest_record = 16 * 1024;
  // Additional files for sessions that would fill the files of `target` alone.
  std::optional<LogFileOptions> busy_target{};
  DeferredOptions full;                              // treatment of a record if its queue is full
  unsigned fraction_digits = 9;                      // digits of the second's fraction, 0 to 9
  std::function<void(std::string_view)> on_failure;  // on the worker's thread, once per outage
  WakeSignal* worker = nullptr;                      // of the thread that calls step(), to wake it; outlives the log
};

struct DeferredLogCounters {
  std::uint64_t recorded = 0;
  std::uint64_t spilled = 0;
  std::uint64_t blocked = 0;
  std::uint64_t dropped = 0;
  std::uint64_t written = 0;
  std::uint64_t lost = 0;
  std::uint64_t cut = 0;
  std::uint64_t omitted = 0;
  std::uint64_t outages = 0;
  std::uint64_t removals_failed = 0;

  friend bool operator==(const DeferredLogCounters&, const DeferredLogCounters&) = default;
};

template <>
inline constexpr auto counter_rows<DeferredLogCounters> = std::to_array<CounterRow<DeferredLogCounters>>({
    {&DeferredLogCounters::recorded, "nfx_log_recorded_total", "Lines accepted into the queue of the log."},
    {&DeferredLogCounters::spilled, "nfx_log_spilled_total",
     "Lines accepted into the second queue because the first was full; with when_full = spill."},
    {&DeferredLogCounters::blocked, "nfx_log_blocked_total",
     "Times that a poll thread waited for space in the queue; with when_full = block."},
    {&DeferredLogCounters::dropped, "nfx_log_dropped_total", "Lines dropped because the queue was full."},
    {&DeferredLogCounters::written, "nfx_log_lines_total", "Lines written to the log."},
    {&DeferredLogCounters::lost, "nfx_log_lost_total", "Lines that could not be written because the disk failed."},
    {&DeferredLogCounters::cut, "nfx_log_cut_total",
     "Lines written in part because their message was longer than a record may be."},
    {&DeferredLogCounters::omitted, "nfx_log_omitted_total",
     "Messages without business content that were counted in the log instead of written; see session_message_rate."},
    {&DeferredLogCounters::outages, "nfx_log_outages_total", "Times that writing the log began to fail."},
    {&DeferredLogCounters::removals_failed, "nfx_log_removals_failed_total",
     "Times that an old file of the log could not be removed; it is tried again with the next new file."},
});
static_assert(rows_are_complete<DeferredLogCounters>());

class LogLane {
 public:
  // `kind` and `first_size` are defined by the derived log. The record is `first` followed by `second`.
  void record(std::uint8_t kind, std::uint32_t session, UtcTime time, std::string_view first,
              std::string_view second) noexcept;

  // Makes the next recording thread the producer of this queue: see SpscIndexes.
  void hand_over() noexcept { queue_.hand_over_producer(); }

 private:
  friend class DeferredLog;

  struct Header {
    std::int64_t time_ns;
    std::uint64_t dropped_before;  // total number of drops in this queue before this record
    std::uint32_t session;
    std::uint32_t first_size;
    std::uint32_t cut;  // bytes that did not fit the record
    std::uint8_t kind;
    std::uint8_t unused[3];
  };
  static_assert(sizeof(Header) == 32);
  // Its parts are adjacent in the queue.
  struct Record {
    std::span<const char> head, first, second;
    PushResult operator()(SpscQueue& queue) const noexcept { return queue.try_push(head, first, second); }
  };
  using Queue = DeferredQueue<SpscQueue>;

  explicit LogLane(const DeferredLogOptions& options);

  // For the worker. Returns the same record until pop().
  [[nodiscard]] std::optional<std::span<const char>> front() noexcept {
    const Queue::Front front = queue_.front();
    return front.in_spill ? front.in_spill : front.in_ring;
  }

  const std::size_t longest_;
  WakeSignal* const worker_;
  Queue queue_;
  std::uint64_t dropped_reported_ = 0;  // for the worker: drops already reported in the log
};

class DeferredLog {
 public:
  virtual ~DeferredLog();
  DeferredLog(const DeferredLog&) = delete;
  DeferredLog& operator=(const DeferredLog&) = delete;

  // Sets a session's name in lines, from any thread, before its first record. Without a name it is "session 7". A
  // forgotten name still serves records in the queues.
  void name_session(std::uint32_t session, std::string name);
  void forget_session(std::uint32_t session);

  // Opens the file of that day before there are lines, so that on_failure reports a problem early. Before the first
  // step().
  void open_file(UtcTime now);
  // Writes at most step_records from the queues, and returns how many. `now` decides when a failed disk is tried again.
  std::size_t step(UtcTime now);
  [[nodiscard]] bool has_work() const noexcept;

  [[nodiscard]] DeferredLogCounters counters() const noexcept;

  static constexpr std::size_t step_records = 4096;
  static constexpr Duration retry_after{std::chrono::seconds{1}};

 protected:
  struct Line {
    UtcTime time;
    std::uint32_t session;
    std::uint8_t kind;
    std::string_view first, second;
  };

  // Throws std::runtime_error for a target that cannot be written, std::invalid_argument for sizes out of bounds.
  explicit DeferredLog(DeferredLogOptions options);

  [[nodiscard]] LogLane& lane_at(std::uint32_t index) { return *lanes_.at(index); }
  [[nodiscard]] std::string_view name_of(std::uint32_t session);
  void append_time(std::string& out, UtcTime time);

  // For the worker: appends the line's text after the time, without the newline.
  virtual void append_line(std::string& out, const Line& line) = 0;
  // "messages", for the line about missing records.
  [[nodiscard]] virtual std::string_view noun() const noexcept = 0;
  // Whether to count a record instead of writing it. Reports the earlier omitted records first.
  [[nodiscard]] virtual bool omits(const Line&) { return false; }
  // Called when all records until `now` were seen, or when the log ends: reports omitted records that are still
  // unreported.
  virtual void report_omitted(UtcTime, bool) {}
  // Adds a line of the log's own among the records.
  void append_note(UtcTime time, std::string_view text);

  // Derived classes call this in their destructor, because only they can format lines.
  void finish() noexcept;

 private:
  struct NameChange {
    std::uint32_t session;
    std::optional<std::string> name;  // none: forget it
  };
  using Header = LogLane::Header;

  // A file and its pending lines, all of one day.
  struct Sink {
    explicit Sink(const LogFileOptions& options) : file(options) {}
    explicit Sink(int fd) : file(fd) {}
    LogFile file;
    std::string batch;
    std::uint64_t lines = 0;  // number of these lines that are records
    std::uint64_t gap = 0;    // missing records that its line reports; such a line is alone in its batch
    UtcTime time{};
  };

  void take_name_changes();
  void forget_names();
  [[nodiscard]] LogLane* oldest(Header& header);
  void take(LogLane& lane, const Header& header);
  void report_gap(LogLane& lane, std::uint64_t dropped, UtcTime time);
  void report_missing(std::uint64_t count, UtcTime time, std::string_view why);
  void report_late_gaps(UtcTime now);
  void write_batches();
  void write(Sink& sink);
  [[nodiscard]] Sink& sink_for(const Line& line);
  void report_correction(LogFile& file);
  void fail(const LogFileError& error);
  void try_again(UtcTime now);

  const DeferredLogOptions options_;
  std::optional<Sink> main_;
  // For sessions that have filled more than half of a file of main_, so that their lines do not push out the lines of
  // others.
  std::optional<Sink> busy_;
  std::unordered_map<std::uint32_t, std::uint64_t> shares_;  // bytes of each session in main_'s file
  std::uint64_t shares_of_ = 0;                              // ... identified by this number
  std::vector<std::unique_ptr<LogLane>> lanes_;
  UtcTimestampWriter clock_text_;

  UtcTime last_time_{};
  bool failing_ = false;
  bool retrying_ = false;
  UtcTime retry_at_{};
  std::uint64_t unreported_ = 0;  // lost since the disk failed

  std::unordered_map<std::uint32_t, std::string> names_;
  std::string unnamed_;
  std::vector<std::uint32_t> forgotten_;
  std::mutex changes_mutex_;
  std::vector<NameChange> changes_;
  std::atomic<bool> has_changes_{false};

  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> cut_{0};
  std::atomic<std::uint64_t> omitted_{0};
  std::atomic<std::uint64_t> outages_{0};
};

}  // namespace nfx
