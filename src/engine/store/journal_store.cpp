// The poll thread's side of a journal: append copies a record into the ring, and never waits for the disk.
#include "store/journal_store.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "store/journal_bytes.hpp"
#include "store/journal_index.hpp"
#include "store/journal_replica.hpp"
#include "store/journal_writer.hpp"
#include "store/prefetch.hpp"
#include "store/ring_header.hpp"
#include "store/segment_chunk.hpp"

namespace nfx {

using namespace detail;

namespace {

constexpr std::uint64_t margin_max = 16 * 1024;  // part of the ring for records other than messages
// Part of the reserve for closing only: a reset, both next sequence numbers and the closing record.
constexpr std::uint64_t closing_reserve = 4 * sizeof(RecordHeader);
constexpr std::chrono::minutes reset_cut_interval{1};  // minimum time between resets that start a segment

#if defined(__x86_64__)
inline void relax() noexcept { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
inline void relax() noexcept { asm volatile("yield"); }
#else
inline void relax() noexcept {}
#endif

}  // namespace

struct JournalStore::State {
  // Used by append.
  RingHeader* ring = nullptr;
  char* bytes = nullptr;
  std::uint64_t span = 0;             // part of the ring in which records wrap around
  JournalPosition origin = 0;         // ... and this position is at its beginning
  JournalReplica* replica = nullptr;  // null: synced messages may be sent
  JournalPosition head = 0;
  JournalPosition limit = 0;    // up to here, a message needs no further check
  JournalPosition wake_at = 0;  // beyond it the ring is half full, or more space is due
  JournalIndex index;
  std::uint64_t recorded_inbound = 1;
  std::uint64_t recorded_outbound = 1;
  StoreCounts counts;
  JournalCounters counters;
  UtcTime last_time{};  // the latest given time, for later work without a clock

  // Used when a limit is reached.
  JournalPosition written = 0;     // last known value
  JournalPosition ring_begin = 0;  // everything before it is only in the files
  std::uint64_t ring_size = 0;
  std::uint64_t provided = 0;  // bytes of the ring that have memory, last known value
  Space segment;               // space of its file
  std::uint64_t longest = 0;   // the largest record that a complete segment and ring can take
  std::uint64_t cuts = 0;
  std::uint64_t margin = 0;
  std::size_t refused_size = 0;         // size of the last message if it did not fit; 0: it did
  UtcTime reset_cut_at{};               // when a reset last started a segment
  bool recovered_asked_reset = false;   // the last process asked for a reset and did not see the answer
  bool recovered_message = false;       // since the last reset
  std::uint64_t appended_at_reset = 0;  // counts.appended, as of the last reset
  bool reset_pending = false;           // a reset did not fit: it is recorded before anything else
  bool number_pending = false;          // a next number did not fit, and may still have no record
  bool closing = false;                 // writing the last records, which may use closing_reserve
  JournalRecovery recovery;

  SegmentChunk chunk;        // for messages that the ring no longer has
  PageArray<char> own_ring;  // without files

  [[nodiscard]] static std::uint64_t reserve_of(std::uint64_t size) noexcept { return std::min(reserve_max, size / 4); }
  [[nodiscard]] std::uint64_t reserve() const noexcept { return reserve_of(segment.size()); }
  // The ring has its first step.
  [[nodiscard]] bool has_step() const noexcept { return provided >= ring_step(span, ring_size); }
  // Before the first step: the part of the existing memory for records other than messages.
  [[nodiscard]] std::uint64_t page_margin() const noexcept { return std::min(margin, provided / 4); }
  [[nodiscard]] std::uint64_t offset_of(JournalPosition position) const noexcept {
    return (position - origin) & (span - 1);
  }
  [[nodiscard]] bool next_segment_ready() const noexcept { return ring->spares.load(std::memory_order_acquire) > cuts; }

  [[nodiscard]] bool holds_message_since_reset() const noexcept {
    return recovered_message || counts.appended != appended_at_reset;
  }

  void forget_unreadable() noexcept { index.forget_before(ring->oldest.load(std::memory_order_acquire)); }

  // Space and records.

  void renew_limits() noexcept {
    const JournalPosition now_written = ring->written.load(std::memory_order_acquire);
    NFX_ASSERT(written <= now_written && now_written <= head);  // the flusher moves forward, and never past the head
    NFX_ASSERT(head - now_written <= span);                     // nothing was overwritten before it was in the file
    written = now_written;
    // Until the flusher has started the segment of the last cut, this describes the previous segment.
    if (ring->begun.load(std::memory_order_acquire) == cuts) {
      segment.reserved = std::min(segment.end, ring->reserved.load(std::memory_order_acquire));
    }
    provided = ring->provided.load(std::memory_order_acquire);
    if (span < ring_size) widen();
    NFX_ASSERT(segment.begin <= head && head <= segment.reserved);  // records are never in two segments
    limit = 0;
    if (!reset_pending) limit = std::min({written + span - margin, below(segment.reserved, reserve()), page_limit()});
    wake_at = std::min(written + span / 2, grow_after());
  }

  // Lets records use a larger part of the ring, if it has memory. The change must keep the place of every record that
  // is not yet in the file. So it happens in the first part of a round of the larger ring, when all records of the
  // previous round are written, or when the ring is empty.
  void widen() noexcept {
    const std::uint64_t next = std::min<std::uint64_t>(span * step_factor, ring_size);
    if (provided < ring_step(next, ring_size)) return;
    const JournalPosition round = origin + ((head - origin) & ~(next - 1));
    if (head - round <= span && written >= round) {
      ring_begin = std::max(ring_begin, round);
    } else if (written == head) {
      begin_round();
    } else {
      return;
    }
    span = next;
    ring->span.store(span, std::memory_order_relaxed);  // published with the next head
  }

  // The ring is empty, so the next record goes to its beginning.
  void begin_round() noexcept {
    NFX_ASSERT(written == head);
    ring_begin = origin = head;
    ring->origin.store(origin, std::memory_order_relaxed);
  }

  [[nodiscard]] static JournalPosition below(JournalPosition end, std::uint64_t size) noexcept {
    return end < size ? 0 : end - size;
  }

  // The end of the ring's memory that a message at the head may use.
  [[nodiscard]] JournalPosition page_limit() const noexcept {
    if (!has_step()) return below(origin + provided, page_margin());
    return span == ring_size ? unset_position : round_limit();
  }
  // How far the last record of a round may extend beyond the span.
  [[nodiscard]] JournalPosition round_limit() const noexcept {
    return head - offset_of(head) + ring_step(span, ring_size);
  }

  // Beyond it the flusher is woken to reserve more, or to create the next segment. On a full disk it retries by itself.
  [[nodiscard]] JournalPosition grow_after() const noexcept {
    if (ring->disk_full.load(std::memory_order_relaxed)) return unset_position;
    const std::uint64_t ahead = ring->ahead.load(std::memory_order_relaxed);
    JournalPosition space = segment.wake_after(ahead);
    if (!has_step()) {
      space = std::min(space, origin);
    } else if (span < ring_size && head - origin < span) {
      space = std::min(space, origin + span / 2);
    }
    return next_segment_ready() ? space : std::min(space, segment.end - segment.left_when_urgent());
  }

  // Whether a record of `need` bytes fits into the ring. A message may not use the space reserved for other records.
  [[nodiscard]] bool has_room(std::uint64_t need, bool is_message) const noexcept {
    return head + need + (is_message ? margin : 0) <= written + span;
  }

  [[nodiscard]] bool has_pages(std::uint64_t need, bool is_message) const noexcept {
    if (!has_step()) return head + need + (is_message ? page_margin() : 0) <= origin + provided;
    return span == ring_size || head + need <= round_limit();
  }

  [[nodiscard]] bool needs_cut(std::uint64_t need) const noexcept {
    return next_segment_ready() && head + need > segment.end;
  }

  [[nodiscard]] bool fits_file(std::uint64_t need, bool is_message) const noexcept {
    const std::uint64_t rest = is_message ? reserve() : closing ? 0 : closing_reserve;
    return head + need + (next_segment_ready() && segment.whole() ? 0 : rest) <= segment.reserved;
  }

  [[nodiscard]] bool fits_next(std::uint64_t need, bool is_message) const noexcept {
    const std::uint64_t size = ring->spare_reserved.load(std::memory_order_relaxed);
    return need + (is_message ? reserve_of(size) : closing_reserve) <= size;
  }

  // The reason why a record cannot be appended now; good if it can.
  [[nodiscard]] StoreCondition obstacle(std::uint64_t need, bool is_message) const noexcept {
    if (ring->failed.load(std::memory_order_acquire) != 0) return StoreCondition::failed;
    if (!has_room(need, is_message)) return StoreCondition::busy;
    // There will be space when the ring is empty.
    if (has_step() && !has_pages(need, is_message) && need + margin <= span) return StoreCondition::busy;
    const bool fits = needs_cut(need) ? fits_next(need, is_message) : fits_file(need, is_message);
    if (fits && has_pages(need, is_message)) return StoreCondition::good;
    return ring->disk_full.load(std::memory_order_acquire) ? StoreCondition::full : StoreCondition::busy;
  }

  // Whether a message is too long for any ring and segment of these sizes.
  [[nodiscard]] bool too_long(std::size_t size) const noexcept {
    return size > std::numeric_limits<std::uint32_t>::max() / 2 || padded(sizeof(RecordHeader) + size) > longest;
  }

  // Like obstacle(). If the space was only not reserved yet, wakes the flusher; a journal without one reserves it here.
  [[gnu::cold, gnu::noinline]] StoreCondition obstacle_after_all(std::uint64_t need, bool is_message,
                                                                 JournalWriter& writer) noexcept {
    if (has_step() && written == head && !has_pages(need, is_message)) begin_round();
    const StoreCondition first = obstacle(need, is_message);
    const bool part = !has_step() || span < ring_size;  // the ring is not complete
    if (first != StoreCondition::busy || (!part && !has_room(need, is_message))) return first;
    writer.set_index_at(index.last() + 1);
    writer.want_space(need + std::max(reserve_of(segment.first_step), margin));
    // The record is longer than this part allows, or than the rest of the round. This changes when the ring is empty.
    if (part && (need + margin > span || !has_pages(need, is_message))) writer.want(head);
    if (writer.attached()) return first;
    renew_limits();
    if (has_step() && written == head && !has_pages(need, is_message)) begin_round();
    return obstacle(need, is_message);
  }

  void cut(const JournalStore& store, UtcTime now) noexcept {
    NFX_ASSERT(next_segment_ready() && ring->begun.load(std::memory_order_acquire) == cuts);  // the last cut is taken
    NFX_ASSERT(segment.begin <= head && head <= segment.reserved);
    // Zero until a reset is recorded, which is then the first record of this segment.
    ring->cut = {head, std::max<std::uint64_t>(recorded_inbound, 1), std::max<std::uint64_t>(recorded_outbound, 1),
                 to_ns(store.creation_time_), to_ns(now)};
    segment = {head, head + ring->spare_reserved.load(std::memory_order_relaxed),
               head + ring->spare_capacity.load(std::memory_order_relaxed), segment.first_step};
    ring->cuts.store(++cuts, std::memory_order_release);
    ++counters.segments;
    renew_limits();
  }

  [[gnu::cold, gnu::noinline]] bool ensure_space(JournalStore& store, std::uint64_t need, bool is_message,
                                                 UtcTime now) noexcept {
    renew_limits();
    if (reset_pending && !record_reset(store)) return false;
    const StoreCondition in_the_way = obstacle_after_all(need, is_message, *store.writer_);
    if (in_the_way == StoreCondition::busy && !has_room(need, is_message)) ++counters.ring_full;
    if (in_the_way != StoreCondition::good) return false;
    if (needs_cut(need)) cut(store, now);
    return true;
  }

  [[gnu::always_inline]] void push(const RecordHeader& header, const Body& body, std::uint64_t need,
                                   JournalWriter& writer) noexcept {
    NFX_ASSERT(need == padded(sizeof(RecordHeader) + body.size()));
    NFX_ASSERT(head + need <= written + span);  // overwrites only bytes that the flusher has written to the file
    NFX_ASSERT(segment.begin <= head && head + need <= segment.reserved);  // within this segment's reserved space
    NFX_ASSERT(span == ring_size || offset_of(head) + need <= provided);
    write_record(bytes + offset_of(head), head, header, body.rest, body.front);
    if (header.time_ns != 0) last_time = from_ns(header.time_ns);
    head += need;
    counters.bytes += need;
    ring->head.store(head, std::memory_order_release);
    if (head > wake_at) [[unlikely]]
      wake(writer);
  }

  [[gnu::cold, gnu::noinline]] void wake(JournalWriter& writer) noexcept {
    renew_limits();
    if (head <= wake_at) return;
    writer.set_index_at(index.last() + 1);
    head > grow_after() ? writer.hurry() : writer.nudge();
  }

  // Records the reset at store.creation_time_. False if it did not fit.
  bool record_reset(JournalStore& store) noexcept {
    reset_pending = false;
    renew_limits();
    reset_pending = !note(store, RecordKind::reset, 0, store.creation_time_);
    renew_limits();
    if (reset_pending) return false;
    recorded_inbound = 1;
    recorded_outbound = 1;
    ring->last_reset.store(head - sizeof(RecordHeader), std::memory_order_release);
    return true;
  }

  // Appends a record that is not a message. If it does not fit, counts it and returns false; the number is then
  // recorded later, at the latest when closing. Messages that depend on it must not be sent before.
  bool note(JournalStore& store, RecordKind kind, std::uint64_t seq, UtcTime now, std::uint8_t flags = 0,
            std::string_view body = {}) noexcept {
    const std::uint64_t need = padded(sizeof(RecordHeader) + body.size());
    const bool simple = head + need <= limit && ring->failed.load(std::memory_order_relaxed) == 0;
    if (!simple && !ensure_space(store, need, false, now)) {
      ++counts.refused;
      return false;
    }
    push({0, 0, seq, to_ns(now), kind, flags, 0, 0}, {{}, body}, need, *store.writer_);
    return true;
  }

  std::optional<std::string_view> read_from_file(JournalWriter& writer, JournalPosition position, std::uint64_t seq) {
    const char* const record = chunk.record_at(writer, position, ring->written.load(std::memory_order_acquire));
    if (record == nullptr) return std::nullopt;
    ++counters.read_from_file;
    return message_of(record, seq);
  }
};

JournalStore::JournalStore(Disk& disk, const JournalOptions& options, std::string_view identity, UtcTime now)
    : durability_(options.durability),
      state_(std::make_unique<State>()),
      writer_(std::make_unique<JournalWriter>(disk, options, identity)) {
  State& state = *state_;
  state.index.map(options.retain_messages);
  OpenedJournal opened = writer_->open(
      [&](const RecordHeader& header, JournalPosition position) {
        NFX_REQUIRE(position >= state.head);  // records are read in the order of writing
        state.head = position;
        if (header.kind == RecordKind::message) state.index.put(header.seq, position);
        // An operator has set the number back: the following numbers have other messages, or none.
        if (header.kind == RecordKind::next_outbound && has_flag(header, RecordFlag::by_operator))
          state.index.forget_from(header.seq, position);
        if (header.kind == RecordKind::reset) state.index.forget_all(position);
        if (header.kind == RecordKind::next_outbound) {
          state.recovered_asked_reset = has_flag(header, RecordFlag::asked_reset);
        } else if (header.kind == RecordKind::reset || header.kind == RecordKind::message) {
          state.recovered_asked_reset = false;
        }
        if (header.kind == RecordKind::message) state.recovered_message = true;
        if (header.kind == RecordKind::reset) state.recovered_message = false;
      },
      now);
  state.index.forget_evictions();
  state.ring = &writer_->ring();
  state.bytes = writer_->ring_bytes();
  state.ring_size = options.ring_size;
  state.span = ring_span(*state.ring);
  state.origin = state.ring->origin.load(std::memory_order_relaxed);
  state.margin = std::min<std::uint64_t>(margin_max, options.ring_size / 16);
  state.head = opened.head;
  NFX_REQUIRE(opened.head % record_alignment == 0);
  NFX_REQUIRE(opened.file.begin <= opened.head && opened.head <= opened.file.reserved);
  state.ring_begin = opened.head;
  state.written = opened.head;
  state.segment = opened.file;
  const std::uint64_t capacity =
      std::max(options.segment_size - segment_header_size, opened.file.end - opened.file.begin);
  state.longest = std::min(options.ring_size - state.margin, capacity - State::reserve_of(capacity));
  state.recorded_inbound = opened.numbers.next_inbound;
  state.recorded_outbound = opened.numbers.next_outbound;
  state.recovery = std::move(opened.recovery);
  next_inbound_ = SeqNum{opened.numbers.next_inbound};
  next_outbound_ = SeqNum{opened.numbers.next_outbound};
  creation_time_ = from_ns(opened.numbers.creation_time_ns);
  state.last_time = now;
  state.renew_limits();
  state.note(*this, RecordKind::opened, static_cast<std::uint64_t>(::getpid()), now);
  state.counts.refused = 0;  // a full disk has no record of the opening
}

// The flusher's side of the ring always allows as much as fits, and one record may extend beyond the ring.
JournalStore JournalStore::without_files() {
  constexpr std::uint64_t ring_size = 64 * 1024;
  auto state = std::make_unique<State>();
  state->own_ring = map_array<char>(ring_header_size + 2 * ring_size, "the warm-up of a session's journal");
  state->ring = new (state->own_ring.get()) RingHeader{};
  state->bytes = state->own_ring.get() + ring_header_size;
  state->index.map(64);
  state->span = state->ring_size = state->ring->ring_size = state->ring->span = ring_size;
  state->ring->provided = ring_size;
  state->ring->reserved = unset_position;
  state->ring->disk_full = true;  // nobody reserves more
  state->ring->ahead = 1;
  state->margin = margin_max / 4;
  state->longest = ring_size / 4;
  state->segment = {0, unset_position, unset_position};
  state->renew_limits();
  return JournalStore{std::move(state)};
}

JournalStore::JournalStore(std::unique_ptr<State> without_files) noexcept : state_(std::move(without_files)) {}

void JournalStore::rewind() noexcept {
  NFX_ASSERT(writer_ == nullptr);
  state_->ring->written.store(state_->head, std::memory_order_relaxed);
  state_->renew_limits();
}

void JournalStore::warm() const noexcept {
  const State& state = *state_;
  load_lines(&state, sizeof state);
  prefetch_lines(state.ring, offsetof(RingHeader, pid));
  prefetch_lines(state.index.place_of(value(next_outbound_)), 1);
  prefetch_next(state.bytes + state.offset_of(state.head), state.span);
}

JournalStore::~JournalStore() {
  if (state_ == nullptr || writer_ == nullptr) return;
  writer_->detach();
  if (state_->replica != nullptr) state_->replica->close(state_->head);
  const bool recorded = !state_->reset_pending && !state_->number_pending;
  if (recorded && writer_->is_quiet()) {
    writer_->leave();
    if (discard_if_new_) writer_->discard();
    return;
  }
  const UtcTime now = state_->last_time;
  if (!writer_->sync_here(now)) return;
  record_rest(now);
  state_->note(*this, RecordKind::closed, 0, now);
  writer_->close(now);
  if (discard_if_new_) writer_->discard();
}

// Records that did not fit before fit now, because the ring is empty and closing_reserve is left.
void JournalStore::record_rest(UtcTime now) noexcept {
  state_->closing = true;
  if (state_->reset_pending) state_->record_reset(*this);
  if (!state_->number_pending) return;
  set_next_inbound(next_inbound_, now);
  set_next_outbound(next_outbound_, now);
}

JournalStore::JournalStore(JournalStore&&) noexcept = default;

[[gnu::always_inline]] inline bool JournalStore::append_flagged(SeqNum seq, Body body, UtcTime now,
                                                                std::uint8_t flags) noexcept {
  State& state = *state_;
  const std::uint64_t number = value(seq);
  const std::uint64_t need = padded(sizeof(RecordHeader) + body.size());
  if (number <= state.index.last()) [[unlikely]]
    state.index.forget_from(number, state.head);
  const bool unusable = number == 0 || number == std::numeric_limits<std::uint64_t>::max() || body.size() == 0;
  const bool simple = state.head + need <= state.limit && state.ring->failed.load(std::memory_order_relaxed) == 0;
  if (unusable || (!simple && (state.too_long(body.size()) || !state.ensure_space(*this, need, true, now))))
      [[unlikely]] {
    ++state.counts.refused;
    if (!unusable) state.refused_size = body.size();
    return false;
  }
  state.refused_size = 0;
  const JournalPosition position = state.head;
  state.push({0, 0, number, to_ns(now), RecordKind::message, flags, 0, 0}, body, need, *writer_);
  state.recorded_outbound = number + 1;
  state.index.put(number, position);
  ++state.counts.appended;
  // The flusher's core was the last to read the lines of the next message: prefetches them while other work is done.
  prefetch_next(state.bytes + state.offset_of(state.head), state.span);
  return true;
}

[[gnu::no_stack_protector]] bool JournalStore::append(SeqNum seq, std::string_view bytes, UtcTime now) noexcept {
  NFX_TRACE();
  return append_flagged(seq, {{}, bytes}, now, 0);
}

bool JournalStore::append_imported(SeqNum seq, std::string_view bytes, UtcTime now) noexcept {
  return append_flagged(seq, {{}, bytes}, now, static_cast<std::uint8_t>(RecordFlag::imported));
}

bool JournalStore::append_recorded(SeqNum seq, std::string_view header, std::string_view bytes, UtcTime now) noexcept {
  return append_flagged(seq, {header, bytes}, now, static_cast<std::uint8_t>(RecordFlag::recorded));
}

std::optional<std::string_view> JournalStore::read(SeqNum seq) const noexcept {
  State& state = *state_;
  state.forget_unreadable();
  const std::uint64_t number = value(seq);
  const JournalPosition position = state.index.find(number);
  if (position == unset_position) return std::nullopt;
  const bool in_ring = position >= state.ring_begin && state.head - position <= state.span;
  NFX_ASSERT(position < state.head);
  if (in_ring) return message_of(state.bytes + state.offset_of(position), number);
  return state.read_from_file(*writer_, position, number);
}

SeqNum JournalStore::oldest_kept() const noexcept {
  state_->forget_unreadable();
  return SeqNum{state_->index.first()};
}

SeqNum JournalStore::last_kept() const noexcept {
  state_->forget_unreadable();
  return SeqNum{state_->index.last()};
}

[[gnu::no_stack_protector]] void JournalStore::set_next_outbound(SeqNum seq, UtcTime now) noexcept {
  next_outbound_ = seq;
  if (state_->recorded_outbound == value(seq)) return;
  if (state_->note(*this, RecordKind::next_outbound, value(seq), now)) {
    state_->recorded_outbound = value(seq);
  } else {
    state_->number_pending = true;
  }
}

[[gnu::no_stack_protector]] void JournalStore::set_next_inbound(SeqNum seq, UtcTime now,
                                                                std::string_view received) noexcept {
  next_inbound_ = seq;
  if (state_->recorded_inbound == value(seq)) return;
  // Messages must not use up the space reserved for sequence numbers.
  if (!received.empty() && !accepts(received.size())) [[unlikely]] {
    ++state_->counts.refused;
    received = {};
  }
  const auto flags = received.empty() ? std::uint8_t{0} : std::to_underlying(RecordFlag::received);
  if (state_->note(*this, RecordKind::next_inbound, value(seq), now, flags, received)) {
    state_->recorded_inbound = value(seq);
  } else {
    state_->number_pending = true;
  }
}

void JournalStore::forget_from(SeqNum seq) noexcept { state_->index.forget_from(value(seq), state_->head); }

bool JournalStore::set_number(const NumberChange& change, UtcTime now) noexcept {
  const auto [inbound, seq, why, reason] = change;
  const RecordKind kind = inbound ? RecordKind::next_inbound : RecordKind::next_outbound;
  const auto flags = static_cast<std::uint8_t>(why);
  if (state_->too_long(reason.size())) return false;
  if (!state_->note(*this, kind, value(seq), now, flags, reason)) return false;
  if (!inbound) forget_from(seq);
  (inbound ? next_inbound_ : next_outbound_) = seq;
  (inbound ? state_->recorded_inbound : state_->recorded_outbound) = value(seq);
  return true;
}

bool JournalStore::reset_asked() const noexcept { return state_->recovered_asked_reset; }

void JournalStore::record_asked_reset(UtcTime now) noexcept {
  constexpr auto flags = std::to_underlying(RecordFlag::asked_reset);
  static_cast<void>(state_->note(*this, RecordKind::next_outbound, value(next_outbound_), now, flags));
}

void JournalStore::reset(UtcTime now) noexcept {
  State& state = *state_;
  constexpr std::uint64_t need = sizeof(RecordHeader);
  state.renew_limits();
  // Starts a new segment, so that the earlier ones can be archived. The reset is an ordinary record if no spare exists
  // yet, or if no message was sent since the last reset. The same applies soon after a reset that started a segment:
  // creating one is a load for the disk that a peer's Logons must not cause at their rate.
  const bool soon = now >= state.reset_cut_at && now - state.reset_cut_at < reset_cut_interval;
  const bool can_cut = !soon && state.head > state.segment.begin && state.holds_message_since_reset() &&
                       state.next_segment_ready() && state.fits_next(need, false) && state.has_room(need, false) &&
                       state.has_pages(need, false);
  if (can_cut && state.ring->failed.load(std::memory_order_relaxed) == 0) {
    state.cut(*this, now);
    state.reset_cut_at = now;
  }
  state.index.forget_all(state.head);
  state.recovered_message = false;
  state.appended_at_reset = state.counts.appended;
  next_outbound_ = first_seq_num;
  next_inbound_ = first_seq_num;
  creation_time_ = now;
  // These numbers have no record until the reset itself is recorded.
  state.recorded_inbound = 0;
  state.recorded_outbound = 0;
  state.record_reset(*this);
}

void JournalStore::prefault() noexcept { writer_->map_ahead(state_->index.memory()); }

void JournalStore::prepare(std::uint64_t ahead) noexcept {
  if (state_->ring->ahead.load(std::memory_order_relaxed) >= ahead) return;
  writer_->set_index_at(state_->index.last() + 1);
  writer_->want_space(ahead);
}

void JournalStore::record_lags_in(std::shared_ptr<LatencyCounts> lags) noexcept {
  if (writer_ != nullptr) writer_->record_lags_in(std::move(lags));
}

StoreCounts JournalStore::counts() const noexcept {
  StoreCounts counts = state_->counts;
  counts.evicted = state_->index.evicted();
  return counts;
}

std::uint64_t JournalStore::stored_bytes() const noexcept {
  const JournalPosition oldest =
      std::max(state_->ring->oldest.load(std::memory_order_acquire), state_->ring->last_reset.load());
  NFX_ASSERT(oldest <= state_->head);
  return state_->head - oldest;
}

JournalPosition JournalStore::position() const noexcept { return state_->head; }
JournalPosition JournalStore::durable() const noexcept {
  const std::atomic<JournalPosition>& source =
      state_->replica != nullptr ? state_->replica->released() : state_->ring->durable;
  const JournalPosition position = source.load(std::memory_order_acquire);
  NFX_ASSERT(position <= state_->head);
  return position;
}
void JournalStore::want_sync() noexcept {
  state_->replica != nullptr ? state_->replica->want(state_->head) : writer_->want(state_->head);
}

void JournalStore::end_step() noexcept {
  if (state_->replica != nullptr) state_->replica->want(state_->head);
}

void JournalStore::replicate(UtcTime now) {
  JournalReplica* const replica = writer_->replica();
  if (replica == nullptr) return;
  replica->prepare(*this, now);
  state_->counts.refused = 0;  // counted while prepare() appended records
  state_->replica = replica;
  replica->open(*writer_, state_->head);
}

bool JournalStore::wait_durable(JournalPosition position) noexcept {
  NFX_ASSERT(position <= state_->head);  // only appended records become durable
  if (durable() >= position) return true;
  if (state_->replica != nullptr) return wait_released(position);
  if (!writer_->attached()) return writer_->sync_here(state_->last_time) && durable() >= position;
  writer_->want(position);
  constexpr int spins_before_yield = 2000;
  for (int spins = 0; durable() < position; ++spins) {
    if (state_->ring->failed.load(std::memory_order_acquire) != 0) return false;
    if (spins < spins_before_yield) {
      relax();
    } else {
      ::sched_yield();
    }
  }
  return true;
}

// A replica answers within some milliseconds, or it is lost; then the waiting bytes are not sent.
bool JournalStore::wait_released(JournalPosition position) noexcept {
  constexpr std::chrono::milliseconds longest{20};
  want_sync();
  const auto end = std::chrono::steady_clock::now() + longest;
  while (durable() < position) {
    if (state_->ring->failed.load(std::memory_order_acquire) != 0 || std::chrono::steady_clock::now() >= end)
      return false;
    ::sched_yield();
  }
  return true;
}

bool JournalStore::sync(UtcTime now) noexcept {
  if (writer_->attached()) return wait_durable(position());
  return writer_->sync_here(now);
}

bool JournalStore::accepts(std::size_t bytes) const noexcept {
  State& state = *state_;
  const std::uint64_t need = padded(sizeof(RecordHeader) + bytes);
  if (state.head + need <= state.limit && state.ring->failed.load(std::memory_order_relaxed) == 0) return true;
  state.renew_limits();
  if (!state.too_long(bytes) && state.obstacle_after_all(need, true, *writer_) == StoreCondition::good) return true;
  state.refused_size = bytes;
  return false;
}

StoreCondition JournalStore::condition() const noexcept {
  state_->renew_limits();
  if (state_->too_long(state_->refused_size)) return StoreCondition::good;
  return state_->obstacle(padded(sizeof(RecordHeader) + std::max<std::size_t>(state_->refused_size, 1)), true);
}

bool JournalStore::disk_full() const noexcept { return state_->ring->disk_full.load(std::memory_order_acquire); }

bool JournalStore::has_reserve() const noexcept {
  return state_->next_segment_ready() || state_->head + state_->reserve() / 2 <= state_->segment.reserved;
}

std::string JournalStore::condition_text() const {
  switch (condition()) {
    case StoreCondition::good:
      if (!state_->too_long(state_->refused_size)) return {};
      return "a message of " + std::to_string(state_->refused_size) +
             " bytes is longer than the journal takes; raise ring_size or segment_size";
    case StoreCondition::busy:
      return state_->has_room(padded(sizeof(RecordHeader) + state_->refused_size), true)
                 ? "space for " + writer_->folder().string() + " is being reserved"
                 : "the ring of " + writer_->folder().string() + " is full: the disk is slower than what is sent";
    case StoreCondition::full:
    case StoreCondition::failed: return writer_->error_text();
  }
  return {};
}

const std::filesystem::path& JournalStore::folder() const noexcept { return writer_->folder(); }

const JournalRecovery& JournalStore::recovery() const noexcept { return state_->recovery; }

JournalCounters JournalStore::counters() const noexcept {
  JournalCounters counters = state_->counters;
  counters.syncs = writer_->syncs.load(std::memory_order_relaxed);
  counters.longest_sync = Duration{writer_->longest_sync_ns.load(std::memory_order_relaxed)};
  return counters;
}

}  // namespace nfx
