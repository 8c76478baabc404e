// The durable store of a session: a ring in shared memory that the poll thread writes, and segment files that a flusher
// writes and syncs later. The thread that serves the session never touches a file that is being synced.
//
// What survives what:
//   - the process is killed: everything. The ring stays in shared memory, and the next open takes what the files lack
//     from it.
//   - power loss or an OS crash: everything up to the last sync; with Durability::group and ::message everything
//     that was sent.
// Thread: one owner, the poll thread; the flusher works on the other side through JournalFlusher. Cost: append is one
// copy and one checksum, no system call, no allocation. read copies nothing out of the ring; what the ring no longer
// holds is read from the file in pieces of some 256 KiB. Lifetime: views that read and for_each lend are dead after the
// next append, read or reset.
// Space: a journal begins with a few KiB of file and ring, and grows by use. The flusher reserves the next step, on the
// disk and in memory, before the one before it is used up; append takes only what is reserved. Nothing of a new journal
// is synced before there is something to lose: the flusher's first write syncs its file, its folder and the folder
// above before it writes a record.
// Errors: the constructor throws StoreError, which names file, offset and fix. Afterwards nothing throws: condition()
// reports what no longer works, and append returns false.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/store/store_options.hpp"
#include "store/disk.hpp"
#include "store/journal_format.hpp"
#include "store/store.hpp"

namespace nfx {

class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class StoreCondition : std::uint8_t {
  good,
  busy,    // the flusher has to write the ring, or to reserve more space, first; passes by itself
  full,    // the disk is full: no further segment, only what a Logout needs is accepted. Passes when space is freed
  failed,  // a write or sync failed, so nothing is guaranteed until the store is opened again
};

[[nodiscard]] std::string_view to_string(StoreCondition condition) noexcept;

// What opening found, for the log.
struct JournalRecovery {
  bool has_inbound = false;            // the journal states the next inbound number; otherwise it is 1
  bool has_outbound = false;           // ... the next outbound number
  std::uint64_t taken_from_ring = 0;   // bytes that the files lacked: the last process was killed
  std::uint64_t cut_bytes = 0;         // of a torn tail, after the last commit mark
  std::string cut_file;                // ... in this file
  std::uint64_t cut_offset = 0;        // ... from here on
  bool clean = true;                   // the last process ended in order, or there was none
  std::vector<std::string> corrected;  // a line for each file that others could open
};

struct JournalCounters {
  std::uint64_t bytes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t segments = 0;
  std::uint64_t ring_full = 0;
  std::uint64_t read_from_file = 0;
  Duration longest_sync{};
};

template <>
inline constexpr auto counter_rows<JournalCounters> = std::to_array<CounterRow<JournalCounters>>({
    {&JournalCounters::bytes, "nfx_store_bytes_total", "Bytes appended to the journal."},
    {&JournalCounters::syncs, "nfx_store_syncs_total", "Times that the journal was synced to the disk."},
    {&JournalCounters::segments, "nfx_store_segments_total", "Journal files begun."},
    {&JournalCounters::ring_full, "nfx_store_ring_full_total",
     "Appends refused because the ring was full: the disk is slower than the session."},
    {&JournalCounters::read_from_file, "nfx_store_file_reads_total",
     "Messages read from a journal file for a resend, because the ring no longer had them."},
});
static_assert(rows_are_complete<JournalCounters>(sizeof(Duration)));

// A number that a person or an import sets.
struct NumberChange {
  bool inbound = false;
  SeqNum seq{};
  RecordFlag why = RecordFlag::by_operator;
  std::string_view reason;
};

namespace detail {
class JournalWriter;  // the flusher's side
struct RingHeader;
}  // namespace detail

class JournalStore {
 public:
  // `identity` is the session's, as identity() writes it; one folder holds one session, ever. Makes what is missing,
  // and recovers what is there. `disk` outlives the store. Throws StoreError: held by another process (its pid),
  // damage before the last commit mark (file, offset, how to repair), disk full, no permission.
  JournalStore(Disk& disk, const JournalOptions& options, std::string_view identity, UtcTime now);
  // Writes, syncs and closes in order; the ring is removed.
  ~JournalStore();
  JournalStore(JournalStore&&) noexcept;
  JournalStore& operator=(JournalStore&&) = delete;

  // MessageStore. `now` is the time in the record.
  bool append(SeqNum seq, std::string_view bytes, UtcTime now = {}) noexcept;
  [[nodiscard]] std::optional<std::string_view> read(SeqNum seq) const noexcept;
  template <class Visitor>
  std::size_t for_each(SeqNum first, SeqNum last, Visitor&& visitor) const {
    std::size_t visited = 0;
    if (value(last_kept()) == 0) return visited;
    const std::uint64_t begin = value(first) < value(oldest_kept()) ? value(oldest_kept()) : value(first);
    const std::uint64_t end = value(last) < value(last_kept()) ? value(last) : value(last_kept());
    for (std::uint64_t seq = begin; seq <= end; ++seq) {
      const auto kept = read(SeqNum{seq});
      if (!kept) continue;
      ++visited;
      if (!visitor(SeqNum{seq}, *kept)) break;
    }
    return visited;
  }
  [[nodiscard]] SeqNum oldest_kept() const noexcept;
  [[nodiscard]] SeqNum last_kept() const noexcept;  // 0: none
  [[nodiscard]] SeqNum next_outbound() const noexcept { return next_outbound_; }
  [[nodiscard]] SeqNum next_inbound() const noexcept { return next_inbound_; }
  // Append a record when the number is not the one that the records have already. `received`: the peer's message that
  // was processed, which the record stores too where accepts() allows; otherwise it counts as refused.
  void set_next_outbound(SeqNum seq, UtcTime now = {}) noexcept;
  void set_next_inbound(SeqNum seq, UtcTime now = {}, std::string_view received = {}) noexcept;
  [[nodiscard]] UtcTime creation_time() const noexcept { return creation_time_; }
  void reset(UtcTime now) noexcept;
  // Records that the peer was asked to reset and has not answered. The next reset, or number sent, ends that. Whether
  // it was so when the journal was opened; a replica does not have it.
  void record_asked_reset(UtcTime now) noexcept;
  [[nodiscard]] bool reset_asked() const noexcept;
  // The destructor removes the journal and its folder if nothing was stored there before this opening. The folder stays
  // when it has other files.
  void discard_if_new() noexcept { discard_if_new_ = true; }
  [[nodiscard]] StoreCounts counts() const noexcept;
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept;  // of records that can be read

  // Has the index's pages mapped ahead of use, like those of the ring, so that no append meets a page fault: a part at
  // each step by which the journal grows, by the flusher.
  void prefault() noexcept;

  // Use is about to begin: has the flusher reserve the first step, and from now on at least so many bytes after the
  // last record, in file and ring. Cheap to repeat. Without a flusher the space is reserved here.
  void prepare(std::uint64_t ahead = 1) noexcept;

  // Durability. With a replicated one, durable() is what the replica has released, and wait_durable() waits 20 ms at
  // most.
  [[nodiscard]] Durability durability() const noexcept { return durability_; }
  // Nothing of what was appended may leave before durable() has come to position().
  [[nodiscard]] bool holds_back() const noexcept { return durability_ >= Durability::group; }
  [[nodiscard]] JournalPosition position() const noexcept;  // after the last record
  [[nodiscard]] JournalPosition durable() const noexcept;   // everything before it is synced
  // Requests a sync of the flusher now instead of at the next interval. Cheap to repeat.
  void want_sync() noexcept;
  // Until durable() comes to `position`, or the store has failed (false). Writes and syncs on this thread when no
  // flusher is running; otherwise waits for it.
  bool wait_durable(JournalPosition position) noexcept;
  // Compares the journal with its replica, completes it, and gives its records to the replica from here on. Once,
  // before anything is appended. Throws what JournalReplica::Prepare does.
  void replicate(UtcTime now);
  // No step of the session is under way: what was appended may be replicated. Nothing without a replica.
  void end_step() noexcept;
  // Writes and syncs everything on the calling thread: for programs without a flusher. False: failed.
  bool sync(UtcTime now) noexcept;

  // Whether an application message of this many bytes can be appended now; if not, condition() has the reason, and the
  // flusher is woken to reserve the space.
  [[nodiscard]] bool accepts(std::size_t bytes) const noexcept;
  [[nodiscard]] StoreCondition condition() const noexcept;
  // The disk has no space for the next segment. There may still be some in this one.
  [[nodiscard]] bool disk_full() const noexcept;
  // While the disk is full: whether at least half of what is reserved for sequence numbers is left.
  [[nodiscard]] bool has_reserve() const noexcept;
  [[nodiscard]] std::string condition_text() const;  // "write .../00000002.nfxj: No space left on device"
  [[nodiscard]] const std::filesystem::path& folder() const noexcept;
  [[nodiscard]] const JournalRecovery& recovery() const noexcept;
  [[nodiscard]] JournalCounters counters() const noexcept;

  // The messages from this number on are not sent again: the next outbound number has been set back to it.
  void forget_from(SeqNum seq) noexcept;
  // Sets a sequence number by hand, and stores the reason in the record: `nfx store seq explain` shows it. An outbound
  // number that is set back makes the messages from it on forgotten. False: it did not fit.
  bool set_number(const NumberChange& change, UtcTime now) noexcept;
  // append() of a message that another engine has sent; `nfx store cat` shows it.
  bool append_imported(SeqNum seq, std::string_view bytes, UtcTime now) noexcept;

  // append() of a record of a recording, whose body is `header` and then `bytes`. With retain_messages = 0 no index
  // grows with their number.
  bool append_recorded(SeqNum seq, std::string_view header, std::string_view bytes, UtcTime now) noexcept;

  // For each sync, the age of the oldest record that it made durable, by the time in the record; the record of the
  // opening is left out. Null: no more.
  // Recorded by the thread that syncs: the flusher, or the owner where there is none.
  void record_lags_in(std::shared_ptr<LatencyCounts> lags) noexcept;

  [[nodiscard]] detail::JournalWriter& writer() noexcept { return *writer_; }  // for JournalFlusher

 private:
  struct Body {
    std::string_view front;
    std::string_view rest;
    [[nodiscard]] std::size_t size() const noexcept { return front.size() + rest.size(); }
  };
  bool wait_released(JournalPosition position) noexcept;
  bool append_flagged(SeqNum seq, Body body, UtcTime now, std::uint8_t flags) noexcept;
  void record_rest(UtcTime now) noexcept;

  // append's parts and state: the hot path's members together, in journal_store.cpp's order of use.
  Durability durability_ = Durability::interval;
  SeqNum next_outbound_ = first_seq_num;
  SeqNum next_inbound_ = first_seq_num;
  UtcTime creation_time_{};
  struct State;
  std::unique_ptr<State> state_;
  std::unique_ptr<detail::JournalWriter> writer_;
  bool discard_if_new_ = false;
};

static_assert(MessageStore<JournalStore>);

}  // namespace nfx
