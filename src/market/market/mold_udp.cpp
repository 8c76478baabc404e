// How the MoldUDP64 arbiter handles a packet that is not the next one: buffering, gaps, requests, states, snapshots.
#include "base/enumerator_name.hpp"
#include "nexusfix/market/itch_transport.hpp"

#include <algorithm>
#include <bit>

namespace nfx::market {

namespace {

// Far above what a day has, and far below where sums of sequence numbers would wrap around.
constexpr std::uint64_t max_sequence = std::uint64_t{1} << 62;

}  // namespace

std::string_view to_string(StaleReason reason) noexcept { return enumerator_name<' '>(reason); }

std::array<std::byte, mold_header_size> MoldHeader::bytes() const noexcept {
  std::array<std::byte, mold_header_size> out;
  std::memcpy(out.data(), session.data(), session.size());
  store_big_endian(out.data() + 10, sequence);
  store_big_endian(out.data() + 18, count);
  return out;
}

MoldHeader MoldHeader::read(std::span<const std::byte, mold_header_size> bytes) noexcept {
  MoldHeader header;
  std::memcpy(header.session.data(), bytes.data(), header.session.size());
  header.sequence = load_big_endian<std::uint64_t>(bytes.data() + 10);
  header.count = load_big_endian<std::uint16_t>(bytes.data() + 18);
  return header;
}

MoldArbiter::MoldArbiter(const MoldOptions& options)
    : options_(options),
      mask_(options.buffered_messages - 1),
      slots_(map_array<Slot>(options.buffered_messages, "the messages after a gap: lower buffered_messages")) {
  NFX_REQUIRE(std::has_single_bit(options.buffered_messages));
  NFX_REQUIRE(options.request_messages != 0);
}

// Not a packet in sequence of a live feed: its messages are buffered, and passed on from there.
MoldArbiter::Taken MoldArbiter::take(MoldLine line, std::span<const std::byte> bytes, MonotonicTime now) {
  if (bytes.size() < mold_header_size) {
    ++counters_.malformed;
    return Taken::ignored;
  }
  const MoldHeader header = MoldHeader::read(bytes.first<mold_header_size>());
  const std::uint64_t count = has_messages(header.count) ? header.count : 0;
  if (header.sequence > max_sequence - count) {
    ++counters_.malformed;
    return Taken::ignored;
  }
  bool began = false;
  if (!has_session_ || !same_session(bytes)) {
    if (!adopt_session(line, header, now)) {
      ++counters_.other_session;
      return Taken::ignored;
    }
    began = true;
  }
  if (!is_plausible(header)) {
    ++counters_.implausible;
    return began ? Taken::session_began : Taken::ignored;
  }
  MoldLineStatus& status = lines_[place(line)];
  const std::uint64_t end = header.sequence + count;
  status = {status.packets + 1, status.first, std::max(status.end, end), now};
  end_ = std::max(end_, end);
  if (header.count == mold_end_of_session) end_announced_ = true;
  if (has_messages(header.count)) {
    if (buffer_messages(header, bytes.subspan(mold_header_size))) {
      ++status.first;
    } else {
      ++counters_.duplicates;
    }
  }
  return began ? Taken::session_began : Taken::considered;
}

// A packet further ahead than the buffer is long may be false, and would make every message before it a missing one.
// Two of which one continues the other are believed.
bool MoldArbiter::is_plausible(const MoldHeader& header) noexcept {
  const std::uint64_t capacity = mask_ + 1;
  if (header.sequence <= end_ + capacity) return true;
  const bool confirmed = doubted_ != 0 && header.sequence >= doubted_ && header.sequence - doubted_ <= capacity;
  doubted_ = confirmed ? 0 : header.sequence + (has_messages(header.count) ? header.count : 0);
  return confirmed;
}

// Another session is taken up when there is no current one: at first, after its end, or when nothing comes from it.
bool MoldArbiter::adopt_session(MoldLine line, const MoldHeader& header, MonotonicTime now) noexcept {
  if (line == MoldLine::request) return false;
  const bool over = state_ == FeedState::waiting || state_ == FeedState::ended;
  if (!over && now - last_heard() < options_.silence_timeout) return false;
  session_ = header.session;
  has_session_ = true;
  next_ = end_ = base_ = 1;
  gap_next_ = gap_end_ = doubted_ = 0;
  end_announced_ = held_ = false;
  state_ = FeedState::waiting;
  reason_ = StaleReason::none;
  for (MoldLineStatus& status : lines_) status.end = 0;
  for (std::size_t i = 0; i <= mask_; ++i) slots_[i].sequence = 0;
  return true;
}

// Whether any of them is new.
bool MoldArbiter::buffer_messages(const MoldHeader& header, std::span<const std::byte> blocks) noexcept {
  bool any = false;
  first_buffered_ = no_sequence;
  for (std::uint64_t i = 0; i < header.count; ++i) {
    if (blocks.size() < 2 || blocks.size() - 2 < load_big_endian<std::uint16_t>(blocks.data())) {
      ++counters_.malformed;
      return any;
    }
    const std::size_t size = load_big_endian<std::uint16_t>(blocks.data());
    any |= buffer_message(header.sequence + i, blocks.subspan(2, size));
    blocks = blocks.subspan(2 + size);
  }
  if (!blocks.empty()) ++counters_.malformed;
  return any;
}

bool MoldArbiter::buffer_message(std::uint64_t sequence, std::span<const std::byte> message) noexcept {
  if (sequence < next_) return false;
  if (sequence < base_) {
    ++counters_.dropped;
    return false;
  }
  const std::uint64_t capacity = mask_ + 1;
  if (sequence - base_ >= capacity) {
    // Only a snapshot helps now, so that the newest messages are the ones to keep.
    if (state_ != FeedState::stale) become_stale(StaleReason::gap_too_large);
    const std::uint64_t base = sequence - capacity + 1;
    const std::uint64_t last = std::min(base, base_ + capacity);
    for (std::uint64_t old = base_; old < last; ++old) counters_.dropped += is_buffered(old) ? 1 : 0;
    base_ = base;
  }
  if (message.size() > max_buffered_size) {
    ++counters_.too_long;
    return false;
  }
  Slot& place_of = slot(sequence);
  if (place_of.sequence == sequence) return false;
  place_of.sequence = sequence;
  place_of.size = static_cast<std::uint16_t>(message.size());
  if (!message.empty()) std::memcpy(place_of.bytes.data(), message.data(), message.size());
  ++counters_.buffered;
  first_buffered_ = std::min(first_buffered_, sequence);
  return true;
}

// The state, after messages were buffered or given.
void MoldArbiter::settle(MonotonicTime now) noexcept {
  if (held_) {
    NFX_ASSERT(state_ == FeedState::stale);
  } else if (next_ >= end_) {
    NFX_ASSERT(next_ == end_);
    // A first packet that is far ahead is not believed yet.
    if (state_ != FeedState::waiting || doubted_ == 0) {
      state_ = end_announced_ ? FeedState::ended : FeedState::live;
      reason_ = StaleReason::none;
    }
    base_ = next_;
    gap_end_ = 0;
  } else {
    look_at_gap(now);
  }
  set_due(now);
}

void MoldArbiter::look_at_gap(MonotonicTime now) noexcept {
  base_ = std::max(base_, next_);
  const bool known = gap_end_ != 0;
  const bool silent = state_ == FeedState::stale && reason_ == StaleReason::silence;
  if (known && next_ < gap_end_ && !silent) {
    // The new messages may be a part of the gap's middle.
    if (first_buffered_ > next_) gap_end_ = std::min(gap_end_, first_buffered_);
    if (next_ == gap_next_) return;
    // A part of it has come, and the rest may follow.
    gap_next_ = next_;
    attempts_ = 0;
    request_at_ = std::max(now, requested_ + options_.request_interval);
    return;
  }
  // The gap before this one has been filled, or there was none.
  const std::uint64_t capacity = mask_ + 1;
  gap_next_ = gap_end_ = next_;
  while (gap_end_ < end_ && gap_end_ - next_ < capacity && !is_buffered(gap_end_)) ++gap_end_;
  ++counters_.gaps;
  gap_since_ = now;
  attempts_ = 0;
  request_at_ = known ? std::max(now, requested_ + options_.request_interval) : now + options_.reorder_wait;
  if (end_ - next_ > capacity) {
    become_stale(StaleReason::gap_too_large);
  } else {
    state_ = FeedState::recovering;
    reason_ = StaleReason::none;
  }
}

void MoldArbiter::become_stale(StaleReason reason) noexcept {
  if (state_ != FeedState::stale) ++counters_.stale;
  state_ = FeedState::stale;
  reason_ = reason;
}

void MoldArbiter::look_at_time(MonotonicTime now) noexcept {
  const bool requested_in_vain =
      options_.request_attempts != 0 && attempts_ >= options_.request_attempts && now >= request_at_;
  if (state_ == FeedState::recovering && (requested_in_vain || now - gap_since_ >= options_.gap_timeout)) {
    become_stale(StaleReason::gap_not_filled);
  }
  const bool silent = now - last_heard() >= options_.silence_timeout;
  if (silent && (state_ == FeedState::recovering || state_ == FeedState::live)) become_stale(StaleReason::silence);
  set_due(now);
}

std::optional<MoldRequest> MoldArbiter::next_request(MonotonicTime now) noexcept {
  if (state_ != FeedState::recovering || options_.request_attempts == 0 || now < request_at_) return std::nullopt;
  NFX_ASSERT(attempts_ < options_.request_attempts && gap_end_ > next_);
  ++attempts_;
  ++counters_.requests;
  requested_ = now;
  request_at_ = now + options_.request_timeout;
  set_due(now);
  const std::uint64_t missing = gap_end_ - next_;
  const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(missing, options_.request_messages));
  return MoldRequest{session_, next_, count};
}

void MoldArbiter::set_due(MonotonicTime now) noexcept {
  due_ = MonotonicTime::max();
  if (state_ != FeedState::recovering && state_ != FeedState::live) return;
  due_ = last_heard() + options_.silence_timeout;
  if (state_ == FeedState::recovering) {
    due_ = std::min(due_, gap_since_ + options_.gap_timeout);
    if (options_.request_attempts != 0) due_ = std::min(due_, request_at_);
  }
  NFX_ASSERT(due_ != MonotonicTime::max() || now == MonotonicTime::max());
}

MonotonicTime MoldArbiter::last_heard() const noexcept {
  return std::ranges::max(lines_, {}, &MoldLineStatus::heard).heard;
}

void MoldArbiter::snapshot_begin(MonotonicTime now) noexcept {
  held_ = true;
  become_stale(StaleReason::snapshot);
  set_due(now);
}

bool MoldArbiter::snapshot_fits(std::uint64_t sequence) noexcept {
  const bool fits = sequence >= base_ && sequence <= max_sequence;
  counters_.snapshots_refused += fits ? 0 : 1;
  return fits;
}

void MoldArbiter::go_on_from(std::uint64_t sequence) noexcept {
  NFX_ASSERT(held_ && sequence >= base_ && sequence <= max_sequence);
  ++counters_.snapshots;
  held_ = false;
  next_ = sequence;
  end_ = std::max(end_, sequence);
  gap_end_ = 0;
  state_ = FeedState::recovering;
  reason_ = StaleReason::none;
}

}  // namespace nfx::market
