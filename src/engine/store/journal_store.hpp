// The durable store of a session: a ring in shared memory that the poll thread writes, and segment files that a flusher
// writes and syncs later. The thread that serves the session never touches a file that is being synced.
//
// Durability:
//   - After a process is killed, nothing is lost. The ring stays in shared memory, and the next open writes its records
//     to the files.
//   - After a power loss or an OS crash, everything up to the last sync remains; with Durability::group and ::message
//     everything that was sent.
// Thread: one owner, the poll thread; the flusher works on the other side through JournalFlusher. Cost: append is one
// copy and one checksum, no system call, no allocation. read copies nothing out of the ring; older messages are read
// from the file in pieces of some 256 KiB. Lifetime: views from read and for_each are valid until the next append, read
// or reset.
// Space: a journal begins with a few KiB of file and ring, and grows with use. The flusher reserves the next step, on
// the disk and in memory, before the previous one is used up; append uses only reserved space. A new journal is not
// synced before there is something to lose: the flusher's first write syncs its file, its folder and the parent folder
// before it writes a record.
// Errors: the constructor throws StoreError, which names file, offset and fix. Afterwards nothing throws: condition()
// reports failures, and append returns false.
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
  busy,    // the flusher has to write the ring, or to reserve more space, first; temporary
  full,    // the disk is full: no further segment, only the records of a Logout are accepted. Ends when space is freed
  failed,  // a write or sync failed, so nothing is guaranteed until the store is opened again
};

[[nodiscard]] std::string_view to_string(StoreCondition condition) noexcept;

// The result of opening, for the log.
struct JournalRecovery {
  bool has_inbound = false;            // the journal contains the next inbound number; otherwise it is 1
  bool has_outbound = false;           // ... the next outbound number
  std::uint64_t taken_from_ring = 0;   // bytes missing in the files: the last process was killed
  std::uint64_t cut_bytes = 0;         // bytes of a torn tail, after the last commit mark
  std::string cut_file;                // ... in this file
  std::uint64_t cut_offset = 0;        // ... from this offset on
  bool clean = true;                   // the last process closed in order, or there was none
  std::vector<std::string> corrected;  // a line for each file that other users could open
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

// A number set by a person or an import.
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
  // `identity` is the session's, in the format of identity(); a folder belongs to one session forever. Creates missing
  // files, and recovers existing ones. `disk` outlives the store. Throws StoreError: held by another process (its pid),
  // damage before the last commit mark (file, offset, how to repair), disk full, no permission.
  JournalStore(Disk& disk, const JournalOptions& options, std::string_view identity, UtcTime now);
  // Writes, syncs and closes in order; removes the ring.
  ~JournalStore();
  JournalStore(JournalStore&&) noexcept;
  JournalStore& operator=(JournalStore&&) = delete;

  // The MessageStore interface. `now` is the time in the record.
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
  // Appends a record if the number differs from the recorded one. `received` is the peer's message that was processed;
  // it is stored too if accepts() allows, and otherwise counts as refused.
  void set_next_outbound(SeqNum seq, UtcTime now = {}) noexcept;
  void set_next_inbound(SeqNum seq, UtcTime now = {}, std::string_view received = {}) noexcept;
  [[nodiscard]] UtcTime creation_time() const noexcept { return creation_time_; }
  void reset(UtcTime now) noexcept;
  // Records that the peer was asked to reset and has not answered; the next reset, or sent number, ends this state.
  // reset_asked() says whether it held when the journal was opened; a replica does not have it.
  void record_asked_reset(UtcTime now) noexcept;
  [[nodiscard]] bool reset_asked() const noexcept;
  // The destructor removes the journal if nothing was stored before this opening, and its folder if it has no other
  // files.
  void discard_if_new() noexcept { discard_if_new_ = true; }
  [[nodiscard]] StoreCounts counts() const noexcept;
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept;  // bytes of readable records

  // Maps the index's pages ahead of use, like the ring's, so that no append causes a page fault. The flusher maps a
  // part with each step by which the journal grows.
  void prefault() noexcept;

  void warm() const noexcept;  // prefetches what the next append uses

  // A journal without files for a rehearsal: append and the others take their usual paths, in memory of its own, which
  // rewind() allows to be overwritten. Must not be asked for its folder, and holds nothing back.
  [[nodiscard]] static JournalStore without_files();
  void rewind() noexcept;

  // Called before use begins: the flusher reserves the first step, and keeps at least `ahead` bytes reserved after the
  // last record, in file and ring. Cheap to repeat. Without a flusher the space is reserved here.
  void prepare(std::uint64_t ahead = 1) noexcept;

  // Durability. If replicated, durable() is the position that the replica has released, and wait_durable() waits at
  // most 20 ms.
  [[nodiscard]] Durability durability() const noexcept { return durability_; }
  // Whether appended messages may be sent only when durable() has reached position().
  [[nodiscard]] bool holds_back() const noexcept { return durability_ >= Durability::group; }
  [[nodiscard]] JournalPosition position() const noexcept;  // end of the last record
  [[nodiscard]] JournalPosition durable() const noexcept;   // everything before it is synced
  // Requests a sync from the flusher now instead of at the next interval. Cheap to repeat.
  void want_sync() noexcept;
  // Waits until durable() reaches `position`; false if the store has failed. Writes and syncs on this thread if no
  // flusher is running; otherwise waits for it.
  bool wait_durable(JournalPosition position) noexcept;
  // Compares the journal with its replica, completes it, and from here on passes its records to the replica. Called
  // once, before anything is appended. Throws whatever JournalReplica::Prepare throws.
  void replicate(UtcTime now);
  // No step of the session is in progress, so appended records may be replicated. Does nothing without a replica.
  void end_step() noexcept;
  // Writes and syncs everything on the calling thread, for programs without a flusher. False on failure.
  bool sync(UtcTime now) noexcept;

  // Whether an application message of this many bytes can be appended now. If not, condition() has the reason, and the
  // flusher is woken to reserve the space.
  [[nodiscard]] bool accepts(std::size_t bytes) const noexcept;
  [[nodiscard]] StoreCondition condition() const noexcept;
  // The disk has no space for the next segment. This segment may still have some.
  [[nodiscard]] bool disk_full() const noexcept;
  // While the disk is full: whether at least half of the space reserved for sequence numbers is left.
  [[nodiscard]] bool has_reserve() const noexcept;
  [[nodiscard]] std::string condition_text() const;  // "write .../00000002.nfxj: No space left on device"
  [[nodiscard]] const std::filesystem::path& folder() const noexcept;
  [[nodiscard]] const JournalRecovery& recovery() const noexcept;
  [[nodiscard]] JournalCounters counters() const noexcept;

  // Excludes the messages from this number on from resends, because the next outbound number was set back to it.
  void forget_from(SeqNum seq) noexcept;
  // Sets a sequence number by hand, and stores the reason in the record for `nfx store seq explain`. Setting the
  // outbound number back forgets the messages from it on. False if the record did not fit.
  bool set_number(const NumberChange& change, UtcTime now) noexcept;
  // append() for a message sent by another engine; `nfx store cat` shows it.
  bool append_imported(SeqNum seq, std::string_view bytes, UtcTime now) noexcept;

  // append() for a record of a recording, whose body is `header` followed by `bytes`. With retain_messages = 0 no index
  // grows with their number.
  bool append_recorded(SeqNum seq, std::string_view header, std::string_view bytes, UtcTime now) noexcept;

  // Collects, for each sync, the age of the oldest record that it made durable, by the time in the record, except the
  // record of the opening. Null: stops. The thread that syncs records it: the flusher, or the owner if there is none.
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

  // State used by append: the members of the hot path together, in the order in which journal_store.cpp uses them.
  Durability durability_ = Durability::interval;
  SeqNum next_outbound_ = first_seq_num;
  SeqNum next_inbound_ = first_seq_num;
  UtcTime creation_time_{};
  struct State;
  explicit JournalStore(std::unique_ptr<State> without_files) noexcept;
  std::unique_ptr<State> state_;
  std::unique_ptr<detail::JournalWriter> writer_;  // null: without files
  bool discard_if_new_ = false;
};

static_assert(MessageStore<JournalStore>);

}  // namespace nfx
