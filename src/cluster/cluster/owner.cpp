// The owner's step: who is answered what in which phase. The rules are in owner.hpp.
#include "cluster/owner.hpp"

#include <algorithm>
#include <cstring>

namespace nfx::cluster {

namespace {

std::string_view view(const std::vector<char>& bytes) noexcept { return {bytes.data(), bytes.size()}; }

template <class Strong>
Strong after(Strong number) noexcept {
  return Strong{std::to_underlying(number) + 1};
}

void check(const OwnerState& s) noexcept {
  NFX_ASSERT(s.stored <= s.released && s.released <= s.appended);
  NFX_ASSERT(s.pending_records <= s.options.pending_records_max && s.pending.size() <= s.options.pending_bytes_max);
  NFX_ASSERT(s.pending_ended <= s.pending.size());
  NFX_ASSERT(s.appended ==
             s.stored + s.pending_records + (s.flight.bytes.empty() ? 0 : s.flight.last_record - s.stored));
  NFX_ASSERT((s.phase == Phase::owning && !s.flight.bytes.empty()) || s.phase == Phase::claiming ||
             s.phase == Phase::replaying || s.flight.bytes.empty());
  NFX_ASSERT(s.options.durability == Durability::async || s.released == s.stored);
  NFX_ASSERT(s.phase != Phase::idle || (s.deadline == never && s.renew_at == never && s.request == 0));
  NFX_ASSERT(s.phase != Phase::owning || s.epoch != Epoch{});
  NFX_ASSERT(s.phase != Phase::owning || s.appended != s.stored || s.counters == s.stored_counters);
}

void forget_flight(Flight& flight) noexcept {
  std::vector<char> bytes = std::move(flight.bytes);
  bytes.clear();  // keeps its capacity
  flight = {};
  flight.bytes = std::move(bytes);
}

// Clears the state of one takeover or ownership, before the next one begins.
void forget(OwnerState& s) noexcept {
  forget_flight(s.flight);
  s.pending.clear();
  s.pending_records = 0;
  s.pending_ended = 0;
  s.appended = s.stored = s.released = 0;
  s.retiring = s.probe = false;
  s.request = 0;
  s.useless_answers = 0;
  s.deadline = s.renew_at = never;
}

// The next frame is read from the first one on.
void forget_frames(OwnerState& s) noexcept {
  s.last = {};
  s.number = {};
  s.epoch = {};
  s.gateway = {};
  s.has_frame = false;
  s.counters = {};
  s.outbound_limit = first_seq_num;
}

void stop(OwnerState& s, StopReason reason, Actions& out) noexcept {
  const bool has_lease = s.phase == Phase::owning || s.phase == Phase::replaying;
  if (s.phase == Phase::owning) {  // what was appended is ahead of what is stored
    s.counters = s.stored_counters;
    s.outbound_limit = s.stored_limit;
  }
  // Frames without use may be of a stream that was deleted meanwhile.
  if (reason == StopReason::corrupt || reason == StopReason::unreadable) forget_frames(s);
  const std::uint64_t stored = s.stored;
  s.phase = Phase::idle;
  forget(s);
  // A fenced owner's lease is the next owner's already.
  if (has_lease && reason != StopReason::fenced) out.push({.kind = ActionKind::drop_lease});
  out.push({.kind = ActionKind::stop, .reason = reason, .count = stored});
}

void request(OwnerState& s, ActionKind kind, StreamSeq sequence, std::string_view bytes, MonotonicTime now,
             Actions& out) noexcept {
  s.request = ++s.requests;
  s.deadline = now + s.options.answer_timeout;
  out.push({.kind = kind, .request = s.request, .sequence = sequence, .bytes = bytes});
}

void publish_flight(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  NFX_ASSERT(!s.flight.bytes.empty());
  request(s, ActionKind::publish, s.flight.expected, view(s.flight.bytes), now, out);
  if (s.flight.first_request == 0) {
    s.flight.first_request = s.request;
    s.flight.sent = now;
  }
}

void read_last(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  s.phase = Phase::reading;
  forget_flight(s.flight);
  request(s, ActionKind::read_last, {}, {}, now, out);
}

// Whether to try again; the answer brought nothing new.
void try_again_later(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  if (s.phase != Phase::owning && ++s.useless_answers >= s.options.useless_answers_max)
    return stop(s, StopReason::unreadable, out);
  s.request = 0;
  s.deadline = now + s.options.retry_after;
}

// Frames that were read remain.
void end_following(OwnerState& s) noexcept {
  s.phase = Phase::idle;
  s.request = 0;
  s.deadline = never;
}

void try_again(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  switch (s.phase) {
    case Phase::following: return end_following(s);
    case Phase::idle:
    case Phase::waiting: return;
    case Phase::reading: return read_last(s, now, out);
    case Phase::claiming: return publish_flight(s, now, out);
    case Phase::replaying: return request(s, ActionKind::read_next, s.last, {}, now, out);
    case Phase::owning:
      if (!s.flight.bytes.empty()) publish_flight(s, now, out);
      return;
  }
}

// Whether a frame has no numbers for what follows this one; no session comes that far.
bool is_at_the_end(const OwnerState& s, const FrameView& frame) noexcept {
  const std::uint64_t most = max_counter - s.options.number_block;
  const Counters counters = counters_after(frame);
  return std::to_underlying(frame.header.epoch) >= most || std::to_underlying(frame.header.number) >= most ||
         value(counters.inbound) >= most || value(counters.outbound) >= most;
}

// The epoch frame after the frame `previous`, or the first frame of a session.
void claim(OwnerState& s, StreamSeq expected, const FrameView* previous, MonotonicTime now, Actions& out) noexcept {
  if (++s.claims > s.options.claims_max) return stop(s, StopReason::contended, out);
  if (previous != nullptr && is_at_the_end(s, *previous)) return stop(s, StopReason::corrupt, out);
  s.phase = Phase::claiming;
  forget_flight(s.flight);
  FrameHeader header{.kind = FrameKind::epoch, .session = s.options.session, .gateway = s.options.gateway};
  const Counters counters = previous != nullptr ? counters_after(*previous) : Counters{};
  header.epoch = previous != nullptr ? after(previous->header.epoch) : Epoch{1};
  header.number = previous != nullptr ? after(previous->header.number) : FrameNumber{1};
  header.first_inbound = counters.inbound;
  header.first_outbound = counters.outbound;
  header.outbound_limit = counters.outbound;
  if (s.options.durability == Durability::async)
    header.outbound_limit = SeqNum{value(counters.outbound) + s.options.number_block};
  s.attempts = std::max(1U, s.attempts + 1);
  header.attempt = s.attempts;
  s.flight.bytes.resize(sizeof header);
  seal_frame(s.flight.bytes, header, 0);
  s.flight.expected = expected;
  publish_flight(s, now, out);
}

void start_takeover(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  forget(s);
  s.claims = 0;
  read_last(s, now, out);
}

void on_want(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  if (s.phase == Phase::following) end_following(s);
  if (s.phase != Phase::idle) return;
  if (s.lease_of == GatewayId{} || s.lease_of == s.options.gateway) return start_takeover(s, now, out);
  s.phase = Phase::waiting;
  s.lease_end = now + wait_for_lease(s.options.lease);
  s.deadline = s.lease_end;
}

void on_follow(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  if (s.phase != Phase::idle) return;
  s.phase = Phase::following;
  s.followed = 0;
  request(s, ActionKind::read_next, s.last, {}, now, out);
}

void on_lease(OwnerState& s, GatewayId gateway, MonotonicTime now, Actions& out) noexcept {
  s.lease_of = gateway;
  const bool is_free = gateway == GatewayId{} || gateway == s.options.gateway;
  if (s.phase == Phase::waiting) {
    if (is_free) return start_takeover(s, now, out);
    s.deadline = s.lease_end = now + wait_for_lease(s.options.lease);
  } else if (s.phase == Phase::owning && !is_free) {
    s.probe = true;
  }
}

// The header's limit makes the next owner skip what may have been sent.
void extend_limit(OwnerState& s) noexcept {
  const std::uint64_t outbound = value(s.counters.outbound), block = s.options.number_block;
  if (s.options.durability != Durability::async || s.retiring) {
    s.outbound_limit = s.retiring ? s.counters.outbound : std::min(s.outbound_limit, s.counters.outbound);
  } else if (outbound + block / 2 > value(s.outbound_limit)) {
    s.outbound_limit = SeqNum{outbound + block};
    s.probe = true;
  }
}

// How much of what is pending may be published. A group that is larger than what may wait is published in parts.
std::size_t publishable(const OwnerState& s) noexcept {
  if (s.pending_ended != 0) return s.pending_ended;
  const bool full = s.pending_records == s.options.pending_records_max ||
                    s.pending.size() + s.options.frame_bytes_max > s.options.pending_bytes_max;
  return full ? s.pending.size() : 0;
}

// Builds the next frame of what is pending, as much as one frame takes.
void build_flight(OwnerState& s) noexcept {
  Flight& flight = s.flight;
  FrameHeader header{.kind = FrameKind::records, .session = s.options.session, .epoch = s.epoch};
  header.gateway = s.options.gateway;
  header.number = after(s.number);
  header.first_inbound = s.framed.inbound;
  header.first_outbound = s.framed.outbound;
  header.outbound_limit = s.outbound_limit;
  const std::string_view all = view(s.pending).substr(0, publishable(s));
  // Where the frame ends: with the last record, or with the last one `inbound` that it takes.
  struct End {
    std::size_t bytes = 0;
    std::uint32_t records = 0;
    Counters counters;
  } end, last_inbound;
  end.counters = s.framed;
  for (std::string_view rest = all; !rest.empty();) {
    const Record record = take_record(rest);
    if (sizeof header + (all.size() - rest.size()) > s.options.frame_bytes_max) {
      if (last_inbound.records != 0) end = last_inbound;
      break;
    }
    const bool follows = advance(end.counters, record);
    NFX_REQUIRE(follows);
    end.bytes = all.size() - rest.size();
    ++end.records;
    if (record.kind == RecordKind::inbound) last_inbound = end;
  }
  NFX_ASSERT(end.records != 0 || all.empty());
  s.framed = end.counters;
  const std::uint32_t records = end.records;
  flight.record_bytes = end.bytes;
  flight.bytes.resize(sizeof header + flight.record_bytes);
  if (flight.record_bytes != 0) std::memcpy(flight.bytes.data() + sizeof header, s.pending.data(), flight.record_bytes);
  seal_frame(flight.bytes, header, records);
  s.pending.erase(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(flight.record_bytes));
  s.pending_records -= records;
  s.pending_ended -= std::min<std::size_t>(s.pending_ended, flight.record_bytes);
  flight.expected = s.last;
  flight.last_record = s.stored + records;
  flight.end = s.framed;
  flight.outbound_limit = s.outbound_limit;
  s.probe = false;
}

void publish_pending(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  NFX_ASSERT(s.phase == Phase::owning);
  if (!s.flight.bytes.empty()) return;
  if (s.retiring) s.pending_ended = s.pending.size();
  if (s.retiring && s.pending.empty() && s.outbound_limit > s.counters.outbound) {
    extend_limit(s);
    s.probe = true;
  }
  if (publishable(s) == 0 && !s.probe) {
    if (s.retiring) stop(s, StopReason::retired, out);
    return;
  }
  build_flight(s);
  publish_flight(s, now, out);
}

bool may_release_early(const OwnerState& s, const Record& record, MonotonicTime now) noexcept {
  if (s.options.durability != Durability::async) return false;
  // Nothing is reserved after a start or a reset, and the record of a reset is not released early.
  if (s.granted == first_seq_num || s.released + 1 != s.appended) return false;  // an earlier one waits
  if (record.kind == RecordKind::outbound && record.seq >= s.granted) return false;
  // An owner that the stream has not answered for the time of a lease may have a successor.
  if (now - s.stored_at > s.options.lease) return false;
  const Lag now_open = lag(s);
  return now_open.records <= s.options.async_records_max && now_open.bytes <= s.options.async_bytes_max;
}

void on_append(OwnerState& s, const Record& record, bool more, MonotonicTime now, Actions& out) noexcept {
  NFX_REQUIRE(has_space(s, record.kind, record.bytes.size()));
  const bool follows = advance(s.counters, record);
  NFX_REQUIRE(follows);
  const std::size_t begin = s.pending.size();
  s.pending.resize(begin + record_size(record.bytes.size()));
  write_record(std::span{s.pending}.subspan(begin), record);
  ++s.pending_records;
  ++s.appended;
  if (record.kind == RecordKind::reset) {
    NFX_ASSERT(s.flight.bytes.empty() && s.pending_records == 1);
    s.outbound_limit = s.granted = first_seq_num;
  }
  if (!more) s.pending_ended = s.pending.size();
  extend_limit(s);
  if (may_release_early(s, record, now)) {
    s.released = s.appended;
    out.push({.kind = ActionKind::release, .count = s.released});
  }
  publish_pending(s, now, out);
}

void on_claim_stored(OwnerState& s, StreamSeq sequence, MonotonicTime now, Actions& out) noexcept {
  s.phase = Phase::replaying;
  if (s.last > s.flight.expected) forget_frames(s);  // of a stream that does not exist any more
  s.flight.expected = sequence;                      // where the replay ends
  s.stored_at = s.flight.sent;
  s.useless_answers = 0;
  s.renew_at = now + s.options.lease / 3;
  out.push({.kind = ActionKind::renew_lease});
  request(s, ActionKind::read_next, s.last, {}, now, out);
}

void on_flight_stored(OwnerState& s, StreamSeq sequence, MonotonicTime now, Actions& out) noexcept {
  NFX_ASSERT(sequence > s.flight.expected);
  if (s.phase == Phase::claiming) return on_claim_stored(s, sequence, now, out);
  NFX_ASSERT(s.phase == Phase::owning && s.flight.expected == s.last);
  s.last = sequence;
  s.number = after(s.number);
  s.stored = s.flight.last_record;
  s.stored_counters = s.flight.end;
  s.stored_limit = s.flight.outbound_limit;
  s.stored_at = s.flight.sent;
  s.granted = s.flight.outbound_limit;
  s.request = 0;
  s.deadline = never;
  forget_flight(s.flight);
  if (s.released < s.stored) {
    s.released = s.stored;
    out.push({.kind = ActionKind::release, .count = s.released});
  }
  publish_pending(s, now, out);
}

// Another owner's frame, or bytes that are not a frame, at the place of the frame in flight.
void on_other_frame(OwnerState& s, std::string_view bytes, MonotonicTime now, Actions& out) noexcept {
  FrameView frame;
  if (decode_frame(bytes, frame) != FrameError::none || frame.header.session != s.options.session)
    return stop(s, StopReason::corrupt, out);
  if (s.phase == Phase::owning) {
    if (frame.header.epoch <= s.epoch) return stop(s, StopReason::corrupt, out);
    return stop(s, StopReason::fenced, out);
  }
  FrameView mine;
  const FrameError own_error = decode_frame(view(s.flight.bytes), mine);
  NFX_REQUIRE(own_error == FrameError::none);
  if (frame.header.epoch >= mine.header.epoch) return stop(s, StopReason::lost_claim, out);
  read_last(s, now, out);  // the owner before stored one more
}

// Whether the frame follows the ones that were read. A gap is a server that does not have them all yet.
enum class Fit : std::uint8_t { follows, gap, contradicts };

Fit fit_of(const OwnerState& s, const FrameView& frame) noexcept {
  const FrameHeader& header = frame.header;
  if (header.session != s.options.session) return Fit::contradicts;
  const Counters first{.inbound = header.first_inbound, .outbound = header.first_outbound};
  // Frames before a reset may have been purged: they are of no use.
  if (header.number > after(s.number)) return begins_with_reset(frame) ? Fit::follows : Fit::gap;
  if (!s.has_frame) {
    const bool is_first = header.kind == FrameKind::epoch && header.epoch == Epoch{1} && first == Counters{};
    return is_first ? Fit::follows : Fit::contradicts;
  }
  if (header.number < after(s.number)) return Fit::contradicts;
  if (header.kind == FrameKind::epoch) {
    const Counters skipped{.inbound = s.counters.inbound, .outbound = std::max(s.counters.outbound, s.outbound_limit)};
    return header.epoch == after(s.epoch) && first == skipped ? Fit::follows : Fit::contradicts;
  }
  const bool same_owner = header.epoch == s.epoch && header.gateway == s.gateway;
  return same_owner && first == s.counters ? Fit::follows : Fit::contradicts;
}

void become_owner(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  NFX_ASSERT(s.gateway == s.options.gateway);
  s.phase = Phase::owning;
  forget_flight(s.flight);
  s.framed = s.stored_counters = s.counters;
  s.stored_limit = s.outbound_limit;
  // Another gateway may have claimed the session during the replay: the first frame has to be stored before anything is
  // released early.
  s.granted = first_seq_num;
  s.probe = s.options.durability == Durability::async;
  s.request = 0;
  s.deadline = never;
  out.push({.kind = ActionKind::own});
  publish_pending(s, now, out);
}

// The frame is the next one: the replay continues after it.
void take_frame(OwnerState& s, StreamSeq sequence, const FrameView& frame, Actions& out) noexcept {
  out.push({.kind = ActionKind::recover, .first = !s.has_frame, .bytes = frame.bytes});
  s.last = sequence;
  s.number = frame.header.number;
  s.epoch = frame.header.epoch;
  s.gateway = frame.header.gateway;
  s.has_frame = true;
  s.counters = frame.end;
  s.outbound_limit = frame.header.outbound_limit;
}

// Only another owner's frame follows the epoch of a gateway that has not read it yet. The epoch itself is not returned
// by a server that has a hole, or any more: it was removed when that owner had reset the sequence numbers.
void on_frame_after_end(OwnerState& s, std::string_view bytes, MonotonicTime now, Actions& out) noexcept {
  FrameView frame;
  const bool is_frame = decode_frame(bytes, frame) == FrameError::none && frame.header.session == s.options.session;
  is_frame ? stop(s, StopReason::fenced, out) : try_again_later(s, now, out);
}

void on_replayed(OwnerState& s, StreamSeq sequence, std::string_view bytes, MonotonicTime now, Actions& out) noexcept {
  const StreamSeq end = s.flight.expected;
  if (sequence <= s.last) return try_again_later(s, now, out);
  if (sequence > end) return on_frame_after_end(s, bytes, now, out);
  FrameView frame;
  if (decode_frame(bytes, frame) != FrameError::none) return stop(s, StopReason::corrupt, out);
  switch (fit_of(s, frame)) {
    case Fit::gap: return try_again_later(s, now, out);
    case Fit::contradicts: return stop(s, StopReason::corrupt, out);
    case Fit::follows: break;
  }
  if ((sequence == end) != (bytes == view(s.flight.bytes))) return stop(s, StopReason::corrupt, out);
  take_frame(s, sequence, frame, out);
  s.useless_answers = 0;
  if (sequence == end) return become_owner(s, now, out);
  request(s, ActionKind::read_next, s.last, {}, now, out);
}

// Nothing is reported here: a takeover finds the same problem and reports it.
void on_followed(OwnerState& s, StreamSeq sequence, std::string_view bytes, MonotonicTime now, Actions& out) noexcept {
  FrameView frame;
  if (sequence <= s.last || decode_frame(bytes, frame) != FrameError::none) return end_following(s);
  switch (fit_of(s, frame)) {
    case Fit::gap: return end_following(s);
    case Fit::contradicts: forget_frames(s); return end_following(s);
    case Fit::follows: break;
  }
  take_frame(s, sequence, frame, out);
  if (++s.followed >= s.options.follow_frames_max) return end_following(s);
  request(s, ActionKind::read_next, s.last, {}, now, out);
}

void on_found(OwnerState& s, const Event& event, MonotonicTime now, Actions& out) noexcept {
  switch (s.phase) {
    case Phase::idle:
    case Phase::waiting: return;
    case Phase::reading: {
      FrameView last;
      if (decode_frame(event.bytes, last) != FrameError::none || last.header.session != s.options.session ||
          event.sequence == StreamSeq{})
        return stop(s, StopReason::corrupt, out);
      return claim(s, event.sequence, &last, now, out);
    }
    case Phase::following: return on_followed(s, event.sequence, event.bytes, now, out);
    case Phase::replaying: return on_replayed(s, event.sequence, event.bytes, now, out);
    case Phase::claiming:
    case Phase::owning: break;
  }
  if (s.flight.bytes.empty()) return;
  if (event.sequence <= s.flight.expected) return try_again_later(s, now, out);
  if (event.bytes == view(s.flight.bytes)) return on_flight_stored(s, event.sequence, now, out);
  on_other_frame(s, event.bytes, now, out);
}

void on_none(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  if (s.phase == Phase::reading) return claim(s, {}, nullptr, now, out);
  if (s.phase == Phase::following) return end_following(s);
  try_again_later(s, now, out);
}

void on_timer(OwnerState& s, MonotonicTime now, Actions& out) noexcept {
  if (now >= s.renew_at) {
    s.renew_at = now + s.options.lease / 3;
    out.push({.kind = ActionKind::renew_lease});
  }
  if (now < s.deadline) return;
  if (s.phase == Phase::waiting) return start_takeover(s, now, out);
  s.deadline = never;
  try_again(s, now, out);
}

bool is_answer_to_flight(const OwnerState& s, std::uint64_t number) noexcept {
  return !s.flight.bytes.empty() && s.phase != Phase::replaying && number >= s.flight.first_request &&
         number <= s.requests && s.flight.first_request != 0;
}

}  // namespace

std::string_view to_string(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::none: return "none";
    case StopReason::fenced: return "another gateway owns the session now";
    case StopReason::lost_claim: return "another gateway was faster";
    case StopReason::contended: return "other gateways claim the session as often";
    case StopReason::unreadable: return "the servers do not return what is stored";
    case StopReason::corrupt: return "the stream has a frame that no owner writes";
    case StopReason::retired: return "retired";
    case StopReason::abandoned: return "abandoned";
  }
  return "unknown";
}

OwnerState::OwnerState(const OwnerOptions& chosen) : options(chosen) {
  NFX_REQUIRE(chosen.gateway != GatewayId{} && chosen.number_block >= 2);
  NFX_REQUIRE(chosen.frame_bytes_max > sizeof(FrameHeader) + sizeof(RecordHeader) &&
              chosen.frame_bytes_max <= max_frame_size);
  pending.reserve(chosen.pending_bytes_max);
  flight.bytes.reserve(chosen.frame_bytes_max);
}

void step(OwnerState& s, const Event& event, MonotonicTime now, Actions& out) noexcept {
  switch (event.kind) {
    case EventKind::want: on_want(s, now, out); break;
    case EventKind::follow: on_follow(s, now, out); break;
    case EventKind::retire:
      if (s.phase == Phase::following) {
        end_following(s);
      } else if (s.phase == Phase::owning) {
        s.retiring = true;
        publish_pending(s, now, out);
      } else if (s.phase != Phase::idle) {
        stop(s, StopReason::abandoned, out);
      }
      break;
    case EventKind::abandon:
      if (s.phase == Phase::following)
        end_following(s);
      else if (s.phase != Phase::idle)
        stop(s, StopReason::abandoned, out);
      break;
    case EventKind::forget:
      NFX_ASSERT(s.phase == Phase::idle || s.phase == Phase::following);
      end_following(s);
      forget_frames(s);
      break;
    case EventKind::append: on_append(s, event.record, event.more, now, out); break;
    case EventKind::end_group:
      if (s.phase != Phase::owning) break;
      s.pending_ended = s.pending.size();
      publish_pending(s, now, out);
      break;
    case EventKind::stored:
      // A late answer to an earlier publish of the same frame is as good.
      if (is_answer_to_flight(s, event.request) && event.sequence > s.flight.expected)
        on_flight_stored(s, event.sequence, now, out);
      break;
    case EventKind::refused:
      if (event.request == s.request && is_answer_to_flight(s, event.request))
        request(s, ActionKind::read_next, s.flight.expected, {}, now, out);
      break;
    case EventKind::failed:
      if (event.request != s.request || s.request == 0) break;
      s.phase == Phase::following ? end_following(s) : try_again_later(s, now, out);
      break;
    case EventKind::found:
      if (event.request == s.request && s.request != 0) on_found(s, event, now, out);
      break;
    case EventKind::none:
      if (event.request == s.request && s.request != 0) on_none(s, now, out);
      break;
    case EventKind::lease:
      on_lease(s, event.gateway, now, out);
      if (s.phase == Phase::owning) publish_pending(s, now, out);
      break;
    case EventKind::timer: on_timer(s, now, out); break;
  }
  check(s);
}

bool is_behind(const OwnerState& state) noexcept { return state.followed >= state.options.follow_frames_max; }

MonotonicTime next_deadline(const OwnerState& state) noexcept { return std::min(state.deadline, state.renew_at); }

bool has_space(const OwnerState& state, RecordKind kind, std::size_t bytes) noexcept {
  if (state.phase != Phase::owning || state.retiring) return false;
  if (kind == RecordKind::reset && (!state.flight.bytes.empty() || !state.pending.empty())) return false;
  return state.pending_records < state.options.pending_records_max &&
         bytes <= state.options.frame_bytes_max - sizeof(FrameHeader) - sizeof(RecordHeader) &&
         state.pending.size() + record_size(bytes) <= state.options.pending_bytes_max;
}

Lag lag(const OwnerState& state) noexcept {
  return {.records = state.appended - state.stored, .bytes = state.pending.size() + state.flight.record_bytes};
}

}  // namespace nfx::cluster
