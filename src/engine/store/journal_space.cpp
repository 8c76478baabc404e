// The space of a journal. It is reserved in steps ahead of the head, in the file of the last segment and in the ring;
// this also creates the next segment in advance.
#include "store/journal_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "nexusfix/base/assert.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_writer.hpp"

namespace nfx::detail {

namespace fs = std::filesystem;

namespace {
constexpr Duration retry_after = std::chrono::seconds{1};
constexpr std::uint64_t zero_slice = 256 * 1024;
constexpr std::uint64_t memory_slice = 256 * 1024;
constexpr std::uint64_t bytes_of_a_message = 64;  // less than any message with its record header
}  // namespace

bool JournalWriter::is_used(JournalPosition head) const noexcept {
  return head > idle_head_ || ring_->ahead.load(std::memory_order_seq_cst) != 0;
}

Space JournalWriter::file_space() const noexcept {
  return {base_, base_ + reserved_, base_ + table_.back().capacity, first_step_of(options_.lean)};
}

std::uint64_t JournalWriter::first_span() const noexcept {
  return std::min<std::uint64_t>(first_step_of(options_.lean), options_.ring_size);
}

// The part of the ring that has memory. 0: not even the first step.
std::uint64_t JournalWriter::provided_span() const noexcept {
  return ring_span_of(ring_->provided.load(std::memory_order_acquire), first_span(), options_.ring_size);
}

// Whether the whole ring, and as much of the file, is reserved as soon as the session is used.
bool JournalWriter::all_at_once() const noexcept { return index_.entries != nullptr && !options_.lean; }

// Whether the ring gets its next step: more than a quarter of its part was used, or it is too small for a message.
bool JournalWriter::ring_due(JournalPosition head) const noexcept {
  if (providing_ || memory_short_ || ring_->provided.load(std::memory_order_relaxed) >= options_.ring_size ||
      !is_used(head))
    return false;
  const std::uint64_t span = provided_span();
  if (span == 0 || all_at_once()) return true;
  return head - ring_->origin.load(std::memory_order_relaxed) > span / 4 ||
         2 * ring_->ahead.load(std::memory_order_seq_cst) > span;
}

// Reserves more of the file than the ring can hold, so that a stalled disk stops a session only when its ring is full.
std::uint64_t JournalWriter::file_ahead() const noexcept {
  const std::uint64_t ahead = ring_->ahead.load(std::memory_order_seq_cst);
  if (ahead == 0 || (reserved_ <= first_step_of(options_.lean) && !all_at_once())) return ahead;
  return std::max(ahead, (all_at_once() ? options_.ring_size : provided_span()) + reserve_max);
}

// Whether a step is due in file or ring. Not between a cut and its segment, because the file is then the previous one.
bool JournalWriter::space_due() const noexcept {
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  if (ring_->cuts.load(std::memory_order_acquire) != begun_) return false;
  const Space file = file_space();
  if (is_used(head)) return head > file.due_after(file_ahead()) || ring_due(head);
  return !file.whole() && head + start_size / 2 > file.reserved;  // the disk was full when it was opened
}

// Whether the next segment should be created, or its reservation extended, now.
bool JournalWriter::spare_due(MonotonicTime now) const noexcept {
  if (now < space_retry_ || ring_->failed.load(std::memory_order_relaxed) != 0) return false;
  if (ring_->cuts.load(std::memory_order_acquire) != begun_) return false;
  if (spare_ != nullptr) return spare_reserved_ < std::min(spare_size(), spare_capacity_);
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  return is_used(head) || head - base_ > table_.back().capacity / 2;
}

// A spare has the first step, so that a reset that starts it need not wait. Shortly before the stream reaches it, it
// gets as much space as the ring can hold, because the disk may stall there too. The spare of a lean journal only shows
// which segment is the last.
std::uint64_t JournalWriter::spare_size() const noexcept {
  const std::uint64_t capacity = options_.segment_size - segment_header_size;
  const std::uint64_t used = ring_->head.load(std::memory_order_acquire) - base_;
  const std::uint64_t rest = table_.back().capacity - std::min(used, table_.back().capacity);
  const std::uint64_t most = ring_->provided.load(std::memory_order_relaxed) + reserve_max;
  std::uint64_t size = options_.lean ? start_size : first_step_of(false);
  if (used > rest || rest < most) size = std::max(first_step_of(options_.lean) * step_factor, most);
  return Space{0, 0, capacity}.up_to(std::max(size, ring_->ahead.load(std::memory_order_relaxed)));
}

DiskResult<void> JournalWriter::grow_file(JournalPosition end) {
  NFX_REQUIRE(base_ <= end && end - base_ <= table_.back().capacity);
  if (end - base_ <= reserved_) return {};
  if (auto done = file_->reserve(segment_header_size + (end - base_)); !done) return done;
  reserved_ = end - base_;
  if (ring_ != nullptr) ring_->reserved.store(end, std::memory_order_release);
  return {};
}

// Provides memory for the next part of the ring. On another thread if there is one, so that slow memory does not delay
// the flusher. Otherwise here, with writes of collected records in between.
DiskResult<void> JournalWriter::grow_ring() {
  const std::uint64_t ahead = ring_->ahead.load(std::memory_order_seq_cst);
  const std::uint64_t least = all_at_once() ? options_.ring_size : 2 * ahead;
  std::uint64_t span = provided_span();
  do span = span == 0 ? first_span() : std::min<std::uint64_t>(span * step_factor, options_.ring_size);
  while (span < least && span < options_.ring_size);
  const std::uint64_t end = ring_step(span, options_.ring_size);
  FlusherSide* const side = side_.load(std::memory_order_relaxed);
  if (side == nullptr || !side->run_elsewhere(*this, [this, end] { provide_elsewhere(end); })) {
    return provide(end, [this] {
      const JournalPosition head = ring_->head.load(std::memory_order_acquire);
      return head - written_ <= ring_span(*ring_) / 4 || write_all();
    });
  }
  providing_ = true;
  return {};
}

// Provides the ring's memory up to `end`, in slices. Calls `between` after each slice; false stops it.
DiskResult<void> JournalWriter::provide(std::uint64_t end, const std::function<bool()>& between) {
  NFX_REQUIRE(end <= options_.ring_size);
  for (std::uint64_t at = ring_->provided.load(std::memory_order_relaxed); at < end;) {
    const std::uint64_t size = std::min(end - at, memory_slice);
    if (auto done = memory_->provide(ring_header_size + at, ring_header_size + at + size); !done) return done;
    ring_->provided.store(at += size, std::memory_order_release);
    if (!between()) break;
  }
  return {};
}

void JournalWriter::provide_elsewhere(std::uint64_t end) noexcept {
  auto done = provide(end, [this] { return side_.load(std::memory_order_relaxed) != nullptr; });
  const std::lock_guard lock(text_mutex_);
  provide_error_ = done ? std::nullopt : std::optional(std::move(done.error()));
  provide_ended_.store(true, std::memory_order_release);
}

// Takes over the result of the other thread since the last iteration.
void JournalWriter::take_provided(MonotonicTime now) noexcept {
  if (now >= memory_retry_) memory_short_ = false;
  if (!providing_ || !provide_ended_.exchange(false, std::memory_order_acquire)) return;
  providing_ = false;
  std::optional<DiskError> error;
  {
    const std::lock_guard lock(text_mutex_);
    error = std::exchange(provide_error_, std::nullopt);
  }
  if (error && !do_with_less(*error, now)) lacks_space(*error, now);
}

// Maps as many entries as messages fit into the reserved space after the head. The kernel does this while the poll
// thread uses the index; if it cannot, the first use of each page does.
void JournalWriter::map_index() noexcept {
#ifdef MADV_POPULATE_WRITE
  if (index_.entries == nullptr) return;
  constexpr std::uint64_t page = 4096;
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  const JournalPosition end = base_ + reserved_;
  std::uint64_t left = std::min(index_.count, (head < end ? end - head : 0) / bytes_of_a_message);
  std::uint64_t at = index_at_.load(std::memory_order_relaxed) & (index_.count - 1);
  FlusherSide* const side = side_.load(std::memory_order_relaxed);
  while (left > 0) {
    const std::uint64_t entries = std::min(left, index_.count - at);
    const std::uint64_t from = at * index_.entry_size / page * page;
    const std::uint64_t to = ((at + entries) * index_.entry_size + page - 1) / page * page;
    const auto map = [begin = index_.entries + from, size = to - from] {
      static_cast<void>(::madvise(begin, size, MADV_POPULATE_WRITE));
    };
    if (side == nullptr || !side->run_elsewhere(*this, map)) map();
    left -= entries;
    at = 0;
  }
#endif
}

// No more memory is available for the ring now. False if not even the first part has memory.
bool JournalWriter::do_with_less(const DiskError& error, MonotonicTime now) noexcept {
  memory_short_ = true;
  memory_retry_ = now + retry_after;
  if (provided_span() == 0) return false;
  say(error);
  return true;
}

DiskResult<void> JournalWriter::grow(MonotonicTime now) {
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  const Space file = file_space();
  const std::uint64_t ahead = file_ahead();
  // The ring comes first: on a full disk it then has pages for all reserved space of the file.
  if (ring_due(head)) {
    if (auto done = grow_ring(); !done && !do_with_less(done.error(), now)) return done;
  }
  if (head <= file.due_after(ahead) || ring_->cuts.load(std::memory_order_acquire) != begun_) return {};
  const bool used = is_used(head);
  if (auto done = grow_file(used ? file.next(head, ahead) : file.up_to(head - base_ + start_size)); !done) return done;
  if (used) map_index();
  return {};
}

void JournalWriter::reserve_when_due(MonotonicTime now) noexcept {
  if (now < space_retry_ || ring_->failed.load(std::memory_order_relaxed) != 0 || !space_due()) return;
  // Writes collected records first, because growing may take as long as disk and memory need.
  const JournalPosition head = ring_->head.load(std::memory_order_acquire);
  if (head - written_ > ring_span(*ring_) / 4 && !write_all()) return;
  if (const auto grown = grow(now); !grown) lacks_space(grown.error(), now);
}

DiskResult<void> JournalWriter::grow_spare() {
  if (spare_ == nullptr) {
    if (auto done = make_spare(spare_size()); !done) return done;
    publish_spare();
    return {};
  }
  const std::uint64_t size = std::min(spare_size(), spare_capacity_);
  if (auto done = spare_->reserve(segment_header_size + size); !done) return done;
  spare_reserved_ = size;
  ring_->spare_reserved.store(size, std::memory_order_release);
  return {};
}

// Creates the segment after the last one. It gets its final name when its header is durable.
DiskResult<void> JournalWriter::make_spare(std::uint64_t size) {
  NFX_ASSERT(spare_ == nullptr);
  const std::uint64_t ordinal = table_.back().ordinal + 1;
  const fs::path path = segment_path(ordinal);
  const fs::path unfinished = path.string().append(unfinished_suffix);
  auto made = disk_.open(unfinished, OpenMode::create);
  if (!made) return std::unexpected(made.error());
  DiskFile& file = **made;
  const std::uint64_t capacity = options_.segment_size - segment_header_size;
  const SegmentHeader header = make_header(ordinal, capacity, identity_);
  auto done = file.reserve(segment_header_size + size);
  if (done) done = file.write(0, {reinterpret_cast<const char*>(&header), sizeof header});
  if (done) done = file.sync();
  if (done) done = disk_.rename(unfinished, path);
  if (!done) {
    (void)disk_.remove(unfinished);  // so that space freed for it is enough
    return done;
  }
  if (done = disk_.sync_folder(folder_); !done) return done;
  spare_ = *std::move(made);
  spare_capacity_ = capacity;
  spare_reserved_ = size;
  spare_zeroed_ = 0;
  return {};
}

void JournalWriter::publish_spare() noexcept {
  NFX_ASSERT(spare_ != nullptr &&
             spares_ == begun_);  // one segment is created in advance, and none before the last one is started
  ring_->spare_capacity.store(spare_capacity_, std::memory_order_relaxed);
  ring_->spare_reserved.store(spare_reserved_, std::memory_order_relaxed);
  ring_->spares.store(++spares_, std::memory_order_release);
}

void JournalWriter::lacks_space(const DiskError& error, MonotonicTime now) noexcept {
  say(error);
  ring_->disk_full.store(true, std::memory_order_release);
  space_retry_ = now + retry_after;
}

std::uint64_t JournalWriter::left_in_segment() const noexcept {
  const std::uint64_t used = ring_->head.load(std::memory_order_acquire) - base_;
  return table_.back().capacity - std::min(used, table_.back().capacity);
}

bool JournalWriter::is_spare_urgent() const noexcept { return left_in_segment() < file_space().left_when_urgent(); }

// Slow. The segment before it is completed first, because a spare implies earlier segments.
void JournalWriter::make_spare_ahead(MonotonicTime now) noexcept {
  if (const auto done = establish(); !done) {
    fail(done.error());
    return;
  }
  if (const auto made = grow_spare(); !made) lacks_space(made.error(), now);
  end_shortage(now);
}

void JournalWriter::end_shortage(MonotonicTime now) noexcept {
  if (!ring_->disk_full.load(std::memory_order_relaxed) || now < space_retry_ || providing_) return;
  if (!space_due() && !spare_due(now)) ring_->disk_full.store(false, std::memory_order_release);
}

// Writes zeros to reserved space, so that later syncs of records there have no metadata to write. One slice at a time,
// so that no other session's sync waits for all of it. False if there was nothing to do.
bool JournalWriter::write_zeros(MonotonicTime now) noexcept {
  if (now < space_retry_ || ring_->failed.load(std::memory_order_relaxed) != 0) return false;
  if (!attached() || !options_.zeros_ahead || options_.durability == Durability::none) return false;
  if (!is_used(ring_->head.load(std::memory_order_acquire))) return false;
  zeroed_ = std::max(zeroed_, (written_ - base_ + space_unit - 1) / space_unit * space_unit);
  if (zeroed_ >= reserved_) return false;
  if (const auto done = establish(); !done) return fail(done.error());
  const auto size = static_cast<std::size_t>(std::min(reserved_ - zeroed_, zero_slice));
  file_dirty_ = true;
  if (const auto done = file_->write(segment_header_size + zeroed_, zeros().first(size)); !done) {
    return fail(done.error());
  }
  if (!sync_file()) return false;
  zeroed_ += size;
  return true;
}

void JournalWriter::make_space_here() noexcept {
  space_retry_ = {};
  memory_short_ = false;
  reserve_when_due({});
  if (spare_due({})) make_spare_ahead({});
  end_shortage({});
}

void JournalWriter::want_space(std::uint64_t ahead) noexcept {
  if (ring_->ahead.load(std::memory_order_relaxed) < ahead) ring_->ahead.store(ahead, std::memory_order_seq_cst);
  FlusherSide* const side = side_.load(std::memory_order_acquire);
  if (side == nullptr) {
    // No other thread starts segments or empties the ring here; when empty, the ring may use more of its memory.
    const bool rest = ring_span(*ring_) < options_.ring_size || ring_->cuts.load(std::memory_order_relaxed) != begun_;
    if (!rest || write_all()) make_space_here();
    return;
  }
  hurry();
}

void JournalWriter::hurry() noexcept {
  FlusherSide* const side = side_.load(std::memory_order_acquire);
  if (side == nullptr) return;
  side->space_wanted.store(true, std::memory_order_seq_cst);
  side->wake_once();
}

}  // namespace nfx::detail
