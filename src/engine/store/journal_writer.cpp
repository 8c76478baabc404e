// The flusher's side of a journal: writes the ring to the file, syncs, and advances the durable position.
#include "store/journal_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_replica.hpp"

namespace nfx::detail {

namespace {
constexpr std::size_t write_piece = 1024 * 1024;
constexpr int idle_intervals = 10;  // intervals after which a lone commit mark is synced, and Durability::none writes
constexpr Duration far = std::chrono::seconds{1};
}  // namespace

void JournalWriter::want(JournalPosition position) noexcept {
  NFX_ASSERT(position <= ring_->head.load(std::memory_order_relaxed));  // only appended records can become durable
  // Either the flusher sees the wanted position before it sleeps, or we see that it sleeps.
  if (ring_->wanted.load(std::memory_order_relaxed) < position) {
    ring_->wanted.store(position, std::memory_order_seq_cst);
  }
  FlusherSide* const side = side_.load(std::memory_order_acquire);
  if (side != nullptr) side->wake_once();
}

void JournalWriter::nudge() noexcept {
  FlusherSide* const side = side_.load(std::memory_order_acquire);
  if (side != nullptr) side->wake_once();
}

bool JournalWriter::is_wanted() const noexcept {
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  // Records waiting for a replica are already written.
  const JournalPosition written =
      options_.replica != nullptr ? written_ : ring_->written.load(std::memory_order_relaxed);
  return ring_->failed.load(std::memory_order_relaxed) == 0 &&
         (ring_->wanted.load(std::memory_order_seq_cst) > ring_->durable.load(std::memory_order_relaxed) ||
          head - written > ring_span(*ring_) / 2 || (space_due() && !ring_->disk_full.load(std::memory_order_relaxed)));
}

std::string JournalWriter::error_text() const {
  const std::lock_guard lock(text_mutex_);
  return error_text_;
}

void JournalWriter::say(const DiskError& error) noexcept {
  const std::lock_guard lock(text_mutex_);
  error_text_ = error.text();
}

void JournalWriter::fence(const std::string& why) noexcept {
  {
    const std::lock_guard lock(text_mutex_);
    error_text_ = why;
  }
  ring_->failed.store(EOWNERDEAD, std::memory_order_release);
}

bool JournalWriter::fail(const DiskError& error) noexcept {
  say(error);
  ring_->failed.store(error.code == 0 ? EIO : error.code, std::memory_order_release);
  return false;
}

std::filesystem::path JournalWriter::segment_path(std::uint64_t ordinal) const {
  return folder_ / segment_name(ordinal);
}

std::optional<SegmentPlace> JournalWriter::segment_at(JournalPosition position, JournalPosition& end) const {
  const std::lock_guard lock(table_mutex_);
  const auto behind =
      std::ranges::upper_bound(table_, position, {}, [](const SegmentPlace& place) { return place.base; });
  if (behind == table_.begin()) return std::nullopt;
  end = behind == table_.end() ? unset_position : behind->base;
  NFX_ASSERT(std::prev(behind)->base <= position && position < end);
  return *std::prev(behind);
}

// Before the first record of a new journal, its header becomes durable, so that a torn header has no record after it.
// So do the names of file and folder, without which no sync of the file would count.
DiskResult<void> JournalWriter::establish() {
  if (established_) return {};
  if (auto done = file_->sync(); !done) return done;
  if (auto done = disk_.sync_folder(folder_); !done) return done;
  if (auto done = disk_.sync_folder(options_.directory); !done) return done;
  established_ = true;
  return {};
}

// Notes the time of the first record about to be written. The record of the opening is left out: nothing waits for it,
// and it may be hours old, because it is written together with the session's first record.
void JournalWriter::note_oldest(JournalPosition limit) noexcept {
  const auto header_at = [&](JournalPosition position) {
    RecordHeader header;
    std::memcpy(&header, ring_bytes_ + ring_offset(*ring_, position), sizeof header);
    return header;
  };
  RecordHeader oldest = header_at(written_);
  if (oldest.kind == RecordKind::opened) {
    const JournalPosition next = written_ + padded(oldest.size);
    if (next >= limit) return;
    oldest = header_at(next);
  }
  oldest_unsynced_ns_ = oldest.time_ns;
}

// The size of whole records from written_ on that are contiguous in the ring, up to about write_piece. Only whole
// records, because the poll thread may overwrite written bytes: after a kill, the ring would hold only the rest of a
// partly written record.
std::uint64_t JournalWriter::piece(JournalPosition limit) const noexcept {
  const std::uint64_t offset = ring_offset(*ring_, written_);
  const std::uint64_t most = std::min<std::uint64_t>(write_piece, ring_span(*ring_) - offset);
  const std::uint64_t left = limit - written_;
  if (left <= most) return left;
  std::uint64_t size = 0;
  while (size < most) {
    std::uint32_t record;  // its size, which is its first member
    std::memcpy(&record, ring_bytes_ + offset + size, sizeof record);
    NFX_REQUIRE(record >= sizeof(RecordHeader) && padded(record) <= left - size);
    size += padded(record);
  }
  return size;
}

bool JournalWriter::write_to(JournalPosition limit) noexcept {
  NFX_REQUIRE(base_ <= written_ && written_ <= limit);   // the stream is written in order
  NFX_REQUIRE(limit - written_ <= options_.ring_size);   // bytes that are not in the file are still in the ring
  NFX_REQUIRE(limit - base_ <= table_.back().capacity);  // no record crosses the end of its segment
  NFX_ASSERT(limit - base_ <= reserved_);                // append detects a full disk earlier
  NFX_ASSERT(written_ % record_alignment == 0 && limit % record_alignment == 0);
  if (written_ == limit) return true;
  if (const auto done = establish(); !done) return fail(done.error());
  if (oldest_unsynced_ns_ == 0) note_oldest(limit);
  while (written_ < limit) {
    const auto size = static_cast<std::size_t>(piece(limit));
    const char* const from = ring_bytes_ + ring_offset(*ring_, written_);
    file_dirty_ = true;
    if (const auto done = file_->write(segment_header_size + (written_ - base_), {from, size}); !done) {
      return fail(done.error());
    }
    written_ += size;
    publish_written();
  }
  return true;
}

// Publishes the position up to which the poll thread may overwrite. A replica reads the ring too.
void JournalWriter::publish_written() noexcept {
  const JournalPosition needed = options_.replica != nullptr ? options_.replica->needed() : written_;
  ring_->written.store(std::min(written_, needed), std::memory_order_release);
}

// Writes everything up to the current head, across the end of a segment if the poll thread has cut one.
bool JournalWriter::write_all() noexcept {
  // Reads the head first: if the head is beyond a cut, the cut is visible too.
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  if (ring_->cuts.load(std::memory_order_acquire) != begun_) {
    const SegmentCut cut = ring_->cut;
    NFX_ASSERT(ring_->cuts.load(std::memory_order_relaxed) == begun_ + 1);  // the next cut needs the next spare
    NFX_ASSERT(written_ <= cut.position && cut.position <= head);
    if (!write_to(cut.position) || !sync_file()) return false;
    if (!mark(from_ns(cut.time_ns))) return false;
    if (const auto begun = begin_segment(cut); !begun) return fail(begun.error());
    ring_->begun.store(++begun_, std::memory_order_release);
  }
  return write_to(head);
}

bool JournalWriter::sync_file() noexcept {
  NFX_ASSERT(file_dirty_ || durable_ == written_);  // a file without unsynced bytes is durable as far as written
  if (!file_dirty_) return true;
  const JournalPosition at = written_;
  NFX_ASSERT(durable_ <= at);
  const auto before = std::chrono::steady_clock::now();
  if (const auto done = file_->sync(); !done) return fail(done.error());
  const Duration took{std::chrono::steady_clock::now() - before};
  if (FlusherSide* const side = side_.load(std::memory_order_relaxed); side != nullptr) side->syncs.record(took);
  syncs.fetch_add(1, std::memory_order_relaxed);
  if (took.count() > longest_sync_ns.load(std::memory_order_relaxed)) {
    longest_sync_ns.store(took.count(), std::memory_order_relaxed);
  }
  record_lag(before);
  file_dirty_ = false;
  mark_unsynced_ = false;
  durable_ = at;
  ring_->durable.store(at, std::memory_order_release);
  return true;
}

// Records have the poll thread's time, and the iteration has the flusher's; the time spent since then is added.
void JournalWriter::record_lag(std::chrono::steady_clock::time_point sync_began) noexcept {
  const std::int64_t oldest = std::exchange(oldest_unsynced_ns_, 0);
  if (oldest == 0) return;
  const std::lock_guard lock(text_mutex_);
  if (lags_ == nullptr) return;
  const FlusherSide* const side = side_.load(std::memory_order_relaxed);
  const auto since = side != nullptr ? side->turn_began : sync_began;
  lags_->record(turn_time_ - from_ns(oldest) + Duration{std::chrono::steady_clock::now() - since});
}

void JournalWriter::record_lags_in(std::shared_ptr<LatencyCounts> lags) noexcept {
  const std::lock_guard lock(text_mutex_);
  lags_ = std::move(lags);
}

bool JournalWriter::mark(UtcTime now) noexcept {
  if (marked_ == durable_) return true;
  NFX_REQUIRE(base_ <= durable_ && durable_ <= written_);  // a commit mark never covers unsynced bytes
  NFX_ASSERT(marked_ == unset_position || marked_ < durable_);
  CommitMark mark{durable_, to_ns(now), ++mark_count_, 0, 0};
  mark.crc = mark_crc(mark);
  file_dirty_ = true;
  mark_unsynced_ = true;
  const auto done =
      file_->write(commit_mark_offsets[mark_count_ % 2], {reinterpret_cast<const char*>(&mark), sizeof mark});
  if (!done) return fail(done.error());
  marked_ = durable_;
  return true;
}

Duration JournalWriter::turn(Instant now) noexcept {
  if (ring_->failed.load(std::memory_order_relaxed) != 0) return far;
  turn_time_ = now.utc;
  take_provided(now.monotonic);
  reserve_when_due(now.monotonic);
  if (options_.replica != nullptr) publish_written();
  const bool asked = ring_->wanted.load(std::memory_order_seq_cst) > durable_;
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  NFX_ASSERT(durable_ <= written_ && written_ <= head);
  const Duration idle = idle_intervals * options_.sync_interval;
  const auto since_sync = now.monotonic - last_sync_;
  bool sync_due = asked;
  // Also for a ring with more memory than it uses: it starts using it when empty, if not before.
  bool write_due = head - written_ >= ring_span(*ring_) / 4 || ring_->cuts.load(std::memory_order_acquire) != begun_ ||
                   (head > written_ && ring_span(*ring_) < provided_span());
  if (options_.durability == Durability::none) {
    write_due = write_due || (head > written_ && now.monotonic - last_write_ >= idle);
  } else {
    sync_due =
        sync_due || (head > durable_ && since_sync >= options_.sync_interval) || (mark_unsynced_ && since_sync >= idle);
  }
  if (!asked && is_quiet()) write_due = sync_due = false;
  if (write_due || sync_due) {
    if (!write_all()) return far;
    last_write_ = now.monotonic;
    reserve_when_due(now.monotonic);  // before the next wait for the disk
  }
  if (sync_due) {
    last_sync_ = now.monotonic;
    if (!sync_file() || !mark(now.utc)) return far;
  }
  reserve_when_due(now.monotonic);
  end_shortage(now.monotonic);
  if (now.monotonic >= next_tidy_) tidy(now);
  if (is_wanted()) return Duration::zero();
  return options_.durability == Durability::none ? idle : options_.sync_interval;
}

bool JournalWriter::sync_here(UtcTime now) noexcept {
  if (ring_->failed.load(std::memory_order_relaxed) != 0) return false;
  turn_time_ = now;
  if (!write_all() || !sync_file() || !mark(now)) return false;
  // Without a flusher, no other thread creates segments in advance.
  const std::uint64_t used = written_ - base_;
  if (table_.back().capacity - used < used) make_space_here();
  tidy({now, {}});
  return true;
}

bool JournalWriter::is_quiet() const noexcept {
  return quiet_ && ring_->head.load(std::memory_order_acquire) <= idle_head_ &&
         ring_->ahead.load(std::memory_order_seq_cst) == 0;
}

void JournalWriter::leave() noexcept {
  memory_.reset();
  (void)disk_.remove(ring_file_);
}

void JournalWriter::close(UtcTime now) noexcept {
  turn_time_ = now;
  if (!write_all() || !sync_file() || !mark(now) || !sync_file()) return;  // the ring stays for the next process
  if (options_.lean) give_back();
  leave();
}

// Returns unused reserved space. A file may end before its segment; if truncating fails, it is only larger than needed.
void JournalWriter::give_back() noexcept {
  const std::uint64_t used = (written_ - base_ + space_unit - 1) / space_unit * space_unit;
  if (used < reserved_) (void)file_->truncate(segment_header_size + used);
  if (spare_ != nullptr && spare_reserved_ > start_size) (void)spare_->truncate(segment_header_size + start_size);
}

void JournalWriter::detach() noexcept {
  if (FlusherSide* const side = side_.load(std::memory_order_acquire); side != nullptr) side->remove(*this);
}

}  // namespace nfx::detail
