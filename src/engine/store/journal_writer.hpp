// The flusher's side of a journal: files, ring and recovery. JournalStore owns one; a JournalFlusher or the store
// itself works on it.
// Thread: functions below "the poll thread" from that thread; the others from one thread at a time, which is the
// flusher's if one is attached and the store's owner otherwise. Cost: system calls. Errors: open() throws StoreError;
// later the first failed write or sync is stored, and ends the work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_scan.hpp"
#include "store/journal_space.hpp"
#include "store/journal_store.hpp"
#include "store/ring_header.hpp"

namespace nfx::detail {

class JournalWriter;

// The flusher's interface for its journals.
class FlusherSide {
 public:
  virtual void remove(JournalWriter& writer) noexcept = 0;
  virtual void wake() noexcept = 0;
  // Runs a job of this journal on a thread that does not write journals; the journal is not removed before the job has
  // ended. False if there is none, and the caller has to run it.
  virtual bool run_elsewhere(JournalWriter& writer, std::function<void()> job) noexcept = 0;
  // Makes one system call per sleep of the flusher, however many journals and records wake it.
  void wake_once() noexcept {
    if (sleeping.load(std::memory_order_seq_cst) && sleeping.exchange(false, std::memory_order_seq_cst)) wake();
  }
  std::atomic<bool> sleeping{false};
  std::atomic<bool> space_wanted{false};  // set by one of its journals
  LatencyCounts syncs;                    // of all its journals, on its thread
  std::chrono::steady_clock::time_point turn_began{};

 protected:
  ~FlusherSide() = default;
};

// The result of open(), from which the poll thread continues.
struct OpenedJournal {
  StandingNumbers numbers;
  JournalPosition head = 0;
  Space file;  // space of the last segment
  JournalRecovery recovery;
};

struct SegmentPlace {
  std::uint64_t ordinal = 0;
  JournalPosition base = 0;
  std::uint64_t capacity = 0;
  std::int64_t begun_ns = 0;
};

class JournalWriter {
 public:
  JournalWriter(Disk& disk, const JournalOptions& options, std::string_view identity);
  ~JournalWriter() = default;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  using Visitor = std::function<void(const RecordHeader& header, JournalPosition position)>;
  [[nodiscard]] OpenedJournal open(const Visitor& visit, UtcTime now);

  // The poll thread.
  [[nodiscard]] RingHeader& ring() noexcept { return *ring_; }
  [[nodiscard]] char* ring_bytes() noexcept { return ring_bytes_; }
  void want(JournalPosition position) noexcept;
  void nudge() noexcept;  // the ring is half full
  void hurry() noexcept;  // half of a step is used: reserves more before the next sync of any journal
  // Reserves at least `ahead` bytes after the head, through the flusher or, without one, here.
  void want_space(std::uint64_t ahead) noexcept;
  // From here on each step maps a part of the index, from the entry last given to set_index_at().
  void map_ahead(const IndexMemory& index) noexcept { index_ = index; }
  void set_index_at(std::uint64_t entry) noexcept { index_at_.store(entry, std::memory_order_relaxed); }
  [[nodiscard]] bool attached() const noexcept { return side_.load(std::memory_order_acquire) != nullptr; }
  bool sync_here(UtcTime now) noexcept;  // without a flusher
  void close(UtcTime now) noexcept;      // ... and after the last record
  // Whether only the opening was recorded since open(), and the files need not show it. Then leave() replaces
  // sync_here() and close(), and writes nothing.
  [[nodiscard]] bool is_quiet() const noexcept;
  void leave() noexcept;
  // Removes the files of a closed journal in which nothing was stored when open() was called, and its folder and lock
  // if nothing else is there. Otherwise does nothing.
  void discard() noexcept;
  void detach() noexcept;
  [[nodiscard]] std::string error_text() const;
  void record_lags_in(std::shared_ptr<LatencyCounts> lags) noexcept;
  // Ends the work like a failed write: for this reason nothing more of the session may be sent. From any thread.
  void fence(const std::string& why) noexcept;
  // The segment that contains a position; `end` is the beginning of the next one, unset_position for the last.
  [[nodiscard]] std::optional<SegmentPlace> segment_at(JournalPosition position, JournalPosition& end) const;
  [[nodiscard]] std::filesystem::path segment_path(std::uint64_t ordinal) const;
  [[nodiscard]] Disk& disk() noexcept { return disk_; }
  [[nodiscard]] JournalReplica* replica() const noexcept { return options_.replica.get(); }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  // Called by the flusher.
  void attach(FlusherSide* side) noexcept { side_.store(side, std::memory_order_release); }
  // No other thread provides memory any more.
  void provides_here() noexcept {
    providing_ = false;
    provide_ended_.store(false, std::memory_order_relaxed);
  }
  // Returns the time until something is due.
  [[nodiscard]] Duration turn(Instant now) noexcept;
  [[nodiscard]] bool is_wanted() const noexcept;
  // Reserves the next step if one is due; quick, without a sync.
  void reserve_when_due(MonotonicTime now) noexcept;
  // Work that can wait, in slow steps: the next segment, and zeros in reserved space.
  [[nodiscard]] bool spare_due(MonotonicTime now) const noexcept;
  [[nodiscard]] bool is_spare_urgent() const noexcept;           // less than a quarter of the segment is left
  [[nodiscard]] std::uint64_t left_in_segment() const noexcept;  // bytes until the next segment has to begin
  void make_spare_ahead(MonotonicTime now) noexcept;
  bool write_zeros(MonotonicTime now) noexcept;  // false if there was nothing to do
  [[nodiscard]] bool holds_back() const noexcept {
    return options_.durability == Durability::group || options_.durability == Durability::message;
  }

  // From any thread.
  std::atomic<std::uint64_t> syncs{0};
  std::atomic<std::int64_t> longest_sync_ns{0};

 private:
  // journal_open.cpp
  void check_options() const;
  void make_folders(std::vector<std::string>& corrected);
  OpenedJournal open_files(const Visitor& visit, UtcTime now);
  void begin_journal(UtcTime now);
  void find_spare(const std::vector<std::filesystem::path>& spares);
  void continue_journal(const JournalScan& scan);
  void write_back(JournalPosition from, JournalPosition to);
  std::uint64_t clear_after(JournalPosition end);
  [[nodiscard]] std::unique_ptr<SharedMemory> map_left_ring();
  void take_from_ring(SharedMemory& memory, OpenedJournal& opened, const Visitor& visit);
  void make_ring(JournalPosition head);
  void reserve_at_start(JournalPosition head);

  // journal_space.cpp
  [[nodiscard]] bool is_used(JournalPosition head) const noexcept;
  [[nodiscard]] Space file_space() const noexcept;
  [[nodiscard]] std::uint64_t first_span() const noexcept;
  [[nodiscard]] std::uint64_t provided_span() const noexcept;
  [[nodiscard]] bool all_at_once() const noexcept;
  [[nodiscard]] bool ring_due(JournalPosition head) const noexcept;
  [[nodiscard]] std::uint64_t file_ahead() const noexcept;
  [[nodiscard]] bool space_due() const noexcept;
  [[nodiscard]] std::uint64_t spare_size() const noexcept;
  DiskResult<void> grow(MonotonicTime now);
  bool do_with_less(const DiskError& error, MonotonicTime now) noexcept;
  DiskResult<void> grow_file(JournalPosition end);
  DiskResult<void> grow_ring();
  DiskResult<void> provide(std::uint64_t end, const std::function<bool()>& between);
  void provide_elsewhere(std::uint64_t end) noexcept;  // on another thread
  void take_provided(MonotonicTime now) noexcept;
  void map_index() noexcept;
  DiskResult<void> grow_spare();
  DiskResult<void> make_spare(std::uint64_t size);
  void publish_spare() noexcept;
  void make_space_here() noexcept;  // without a flusher
  void lacks_space(const DiskError& error, MonotonicTime now) noexcept;
  void end_shortage(MonotonicTime now) noexcept;

  // journal_segments.cpp
  DiskResult<void> begin_segment(const SegmentCut& cut);
  void tidy(Instant now) noexcept;
  void archive_front(UtcTime now);
  void shorten_archived(const std::filesystem::path& path, std::uint64_t size);
  void bound_archive(Instant now);
  void remove_surplus(UtcTime now);
  [[nodiscard]] std::uint64_t size_of(const std::filesystem::path& path);
  bool drop_front();

  // journal_writer.cpp
  DiskResult<void> establish();
  bool write_all() noexcept;
  void publish_written() noexcept;
  bool write_to(JournalPosition limit) noexcept;
  [[nodiscard]] std::uint64_t piece(JournalPosition limit) const noexcept;
  void note_oldest(JournalPosition limit) noexcept;
  bool sync_file() noexcept;
  bool mark(UtcTime now) noexcept;
  void give_back() noexcept;
  bool fail(const DiskError& error) noexcept;
  void say(const DiskError& error) noexcept;
  void record_lag(std::chrono::steady_clock::time_point sync_began) noexcept;

  Disk& disk_;
  const JournalOptions options_;
  const std::string identity_;
  const std::filesystem::path folder_;
  const std::filesystem::path ring_file_;

  std::unique_ptr<DiskFile> lock_;
  bool begun_here_ = false;  // nothing was stored in the folder before
  std::unique_ptr<SharedMemory> memory_;
  RingHeader* ring_ = nullptr;
  char* ring_bytes_ = nullptr;

  std::atomic<FlusherSide*> side_{nullptr};
  mutable std::mutex text_mutex_;
  std::string error_text_;
  std::shared_ptr<LatencyCounts> lags_;  // also guarded by text_mutex_; null: not wanted

  std::unique_ptr<DiskFile> file_;  // file of the last segment
  JournalPosition base_ = 0;
  JournalPosition written_ = 0;
  JournalPosition durable_ = 0;
  std::int64_t oldest_unsynced_ns_ = 0;  // time of the first written record after durable_, except an opening; 0: none
  UtcTime turn_time_{};                  // time of the iteration that writes and syncs
  std::uint64_t reserved_ = 0;           // bytes reserved for records in the file
  std::uint64_t zeroed_ = 0;             // bytes at its beginning where a sync of a record has no metadata to write
  bool established_ = false;             // file, folder and parent folder are durable, before any record
  bool lacks_space_ = false;             // the disk was full in open()
  bool quiet_ = false;                   // the files are complete without the record of this opening
  JournalPosition idle_head_ = 0;        // position after that record
  bool memory_short_ = false;            // until memory_retry_
  MonotonicTime memory_retry_{};
  bool providing_ = false;  // another thread is providing memory for the ring
  std::atomic<bool> provide_ended_{false};
  std::optional<DiskError> provide_error_;  // guarded by text_mutex_
  std::uint64_t mark_count_ = 0;
  JournalPosition marked_ = unset_position;
  bool mark_unsynced_ = false;
  bool file_dirty_ = false;
  MonotonicTime last_write_{};
  MonotonicTime last_sync_{};

  mutable std::mutex table_mutex_;
  std::vector<SegmentPlace> table_;  // all readable segments in order; the last one is being written

  std::unique_ptr<DiskFile> spare_;  // created in advance
  std::uint64_t spare_capacity_ = 0;
  std::uint64_t spare_reserved_ = 0;
  std::uint64_t spare_zeroed_ = 0;
  std::uint64_t spares_ = 0;
  std::uint64_t begun_ = 0;
  MonotonicTime space_retry_{};
  IndexMemory index_;
  std::atomic<std::uint64_t> index_at_{0};
  MonotonicTime next_tidy_{};
  std::uint64_t archived_bytes_ = 0;  // as of the last bound_archive(), and bytes archived since
  MonotonicTime next_archive_check_{};
};

}  // namespace nfx::detail
