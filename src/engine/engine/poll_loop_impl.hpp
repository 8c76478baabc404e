// The bodies of PollLoop: an iteration, and the way of bytes to messages. Included by the file that instantiates the
// loop for its transport:
//   template class nfx::PollLoop<MyTransport, SystemClock>;
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/call_trace.hpp"
#include "engine/engine_counter_rows.hpp"
#include "engine/poll_loop.hpp"
#include "nexusfix/base/secret.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/framer.hpp"
#include "session/logon_check.hpp"

namespace nfx {

template <Transport T, Clock C>
PollLoop<T, C>::PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock, Callbacks callbacks,
                         SessionStores& stores)
    : transport_(transport),
      clock_(clock),
      network_(transport, clock),
      runner_({.config = config,
               .thread = thread,
               .network = network_,
               .callbacks = std::move(callbacks),
               .stores = stores,
               .now = clock.now()}),
      frames_(config.max_message_size),
      message_(config.max_fields),
      queued_message_(config.max_fields) {
  resumed_.reserve(ConnectionMemory::parking_space);
}

template <Transport T, Clock C>
void PollLoop<T, C>::log_to(LoopLogs logs) {
  runner_.reports().log_to(std::move(logs));
}

template <Transport T, Clock C>
void PollLoop<T, C>::start() {
  runner_.set_time(clock_.now());
  runner_.start();
}

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::turn(Duration max_wait) {
  NFX_TRACE();
  NFX_ASSERT(runner_.loop_thread().is_this());
  runner_.loop_thread().enter();
  runner_.set_time(clock_.now());
  const MonotonicTime now = runner_.now().monotonic;
  runner_.recorder().turn_began(max_wait > Duration::zero(), turn_times_.idle_from == turn_times_.began);
  turn_times_ = {now, now};
  std::size_t work = 0;
  if (runner_.commands().waiting()) [[unlikely]]
    take_commands();
  // Each session at most once per iteration, whatever its deadlines: timers cannot starve the network.
  const DeadlineHeap& deadlines = runner_.deadlines();
  for (std::size_t left = runner_.sessions().places(); left != 0 && deadlines.earliest() <= now; --left) {
    fire_timer(runner_.sessions()[deadlines.earliest_item()]);
    ++work;
  }
  if (runner_.has_leaving()) [[unlikely]]
    runner_.retire();
  if (runner_.reports().omitted_due() <= now) [[unlikely]]
    runner_.report_omitted();
  if (runner_.logons().deadline() <= now) [[unlikely]]
    runner_.expire_logons();
  // Read first, carried out last: what was submitted before the request to stop is still sent.
  const bool stop = stop_requested_.load(std::memory_order_acquire);
  runner_.send_submitted();
  if (stop && !runner_.stopping()) runner_.log_everyone_out();
  runner_.check_stores_when_changed();
  runner_.flush_committed(transport_);
  const Duration wanted = runner_.on_turn();
  runner_.pump_replays();
  if (runner_.has_failed()) [[unlikely]]
    runner_.end_failed();
  runner_.flush_all(transport_);
  if (max_wait <= Duration::zero() && wanted != Application::nothing_done) turn_times_.idle_from = clock_.monotonic();
  settle();
  // A resend continues without waiting, except while the peer does not read: then on_writable wakes the loop.
  if (runner_.replay_can_go_on()) max_wait = Duration::zero();
  if (runner_.kept_can_go_on()) [[unlikely]]
    max_wait = std::min(max_wait, Duration{std::chrono::milliseconds{1}});
  work += transport_.poll(*this, std::min({max_wait, until_next_deadline(), wanted}));
  if (runner_.has_failed()) [[unlikely]]
    runner_.end_failed();
  runner_.flush_all(transport_);
  if (!turns_follow_) settle();
  return work;
}

template <Transport T, Clock C>
void PollLoop<T, C>::settle() noexcept {
  if (!runner_.recorder().waits_for_time()) return;
  read_clock();
  runner_.recorder().turn_ended();
}

template <Transport T, Clock C>
Duration PollLoop<T, C>::until_next_deadline() const noexcept {
  const MonotonicTime due =
      std::min({runner_.deadlines().earliest(), runner_.logons().deadline(), runner_.reports().omitted_due()});
  if (due == MonotonicTime::max()) return Duration::max();
  return std::max(Duration::zero(), Duration{due - runner_.now().monotonic});
}

template <Transport T, Clock C>
bool PollLoop<T, C>::finished() const noexcept {
  return runner_.stopping() && transport_.lingering() == 0 &&
         runner_.sessions().none_of([](const LiveSession& session) { return session.connection.exists(); });
}

// Other threads.

template <Transport T, Clock C>
SubmitResult PollLoop<T, C>::submit(std::size_t session, const Outgoing& message, SubmitOptions options) noexcept {
  const SubmitResult result = runner_.submissions().submit(session, message, options);
  if (result) transport_.wake();
  return result;
}

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::add(SessionSettings settings, AddedSession as) {
  return runner_.add(std::move(settings), as);
}

template <Transport T, Clock C>
bool PollLoop<T, C>::remove(std::size_t session, std::string text) {
  if (!runner_.commands().remove(session, std::move(text))) return false;
  transport_.wake();
  return true;
}

template <Transport T, Clock C>
bool PollLoop<T, C>::knows(const std::string& identity) {
  return runner_.commands().knows(identity);
}

template <Transport T, Clock C>
std::optional<std::string> PollLoop<T, C>::why_not_added(std::size_t session) {
  return runner_.commands().why_not_added(session);
}

template <Transport T, Clock C>
bool PollLoop<T, C>::push(std::shared_ptr<LoopCall> call) {
  if (!runner_.commands().push(std::move(call))) return false;
  transport_.wake();
  return true;
}

template <Transport T, Clock C>
void PollLoop<T, C>::take_commands() {
  for (LoopCommand& command : runner_.commands().take()) {
    const std::optional<std::uint32_t> pending = runner_.execute_command(command);
    if (!pending) continue;
    std::string rest = std::exchange(runner_.logons()[*pending].rest, {});
    receive_pending(*pending, rest);
  }
}

// Statistics, for other threads.

template <Transport T, Clock C>
SessionHandle* PollLoop<T, C>::find(std::size_t session) noexcept {
  return runner_.sessions().find(session);
}

template <Transport T, Clock C>
void PollLoop<T, C>::figures(std::vector<SessionFigures>& into) const {
  into.resize(runner_.sessions().places());
  into.resize(runner_.figures(0, into).count);
}

template <Transport T, Clock C>
std::optional<Endpoint> PollLoop<T, C>::local_endpoint(const Endpoint& configured) const {
  const auto listener = runner_.logons().listener_at(configured);
  if (!listener) return std::nullopt;
  return transport_.local_endpoint(*listener);
}

template <Transport T, Clock C>
PollLoopCounters PollLoop<T, C>::counters() const noexcept {
  PollLoopCounters counters = runner_.logons().counters();
  add_counters(counters, runner_.submissions().counters());
  return counters;
}

// Timers.

template <Transport T, Clock C>
void PollLoop<T, C>::fire_timer(LiveSession& session) {
  const MonotonicTime time = runner_.now().monotonic;
  runner_.cancel_when_due(session);
  if (session.leave_at <= time) [[unlikely]]
    runner_.leave_when_idle(session);
  if (session.challenge_at <= time) [[unlikely]]
    runner_.check_challenge(session);
  if (session.schedule_at <= time) runner_.apply_schedule(session);
  if (session.connection.parked.until() <= time) resume(session);
  runner_.end_wait_for_space_when_due(session);
  runner_.cut_when_due(session);
  if (session.connection.connect_deadline <= time) {
    runner_.connect_timed_out(session);
  } else if (session.reconnect.at() <= time && !session.connection.exists()) {
    runner_.begin_connect(session);
  } else {
    runner_.step(session, 0, [&](Actions& out) { session.session.on_timer(runner_.now(), out); });
  }
  // Whatever it did, it must not be due again in this iteration.
  runner_.rearm(session);
}

template <Transport T, Clock C>
void PollLoop<T, C>::resume(LiveSession& session) {
  session.connection.parked.take(resumed_);
  session.connection.resuming = true;
  const ConnectionId id = session.connection.id;
  const bool logs_on = !session.up;
  if (session.connection.unhandled.held()) deliver_again(session);
  drain_queue(session);
  if (session.connection.parked.held()) {
    session.connection.parked.add(resumed_);
  } else if (session.connection.id == id) {
    receive(session, resumed_);
  }
  if (logs_on) [[unlikely]] {  // a Logon has a password
    clear_bytes(resumed_);
    if (!session.connection.parked.held()) clear_bytes(session.memory.parked());
  }
  resumed_.clear();
  if (session.connection.id != id) return;
  session.connection.resuming = false;
  if (!session.connection.parked.held()) transport_.hold(id, false);
}

// It is the session's next one, unless an operator has set another number. What parks it again keeps it.
template <Transport T, Clock C>
void PollLoop<T, C>::deliver_again(LiveSession& session) {
  UnhandledMessage& message = session.connection.unhandled;
  const bool next = session.session.next_inbound() == message.seq();
  if (next && queued_message_.parse(message.bytes()) == WireError::none) {
    runner_.step_received(session, queued_message_, message.bytes(), [&](Actions& out) {
      session.session.on_queued_message(queued_message_, runner_.now(), out);
    });
  }
  if (!session.connection.parked.held()) message.clear();
}

// Bytes to messages.

template <Transport T, Clock C>
void PollLoop<T, C>::receive(LiveSession& session, std::string_view bytes) {
  NFX_TRACE();
  const ConnectionId id = session.connection.id;
  NFX_ASSERT(!session.connection.parked.held());
  while (!bytes.empty() && session.connection.id == id) {
    if (session.connection.oversized.under_way()) [[unlikely]] {
      take_oversized(session, bytes);
      if (session.connection.id == id && session.connection.parked.held()) return session.connection.parked.add(bytes);
      continue;
    }
    PartialMessage& partial = session.connection.partial;
    if (partial.empty()) {
      const BatchEnd end = receive_batch(session, bytes);
      NFX_ASSERT(end.used <= bytes.size());
      bytes.remove_prefix(end.used);
      if (session.connection.id != id || bytes.empty() || session.connection.parked.held()) return;
      if (end.oversized != 0) [[unlikely]] {
        begin_oversized(session, end.oversized);
        continue;
      }
      // Less than one message is left, so it fits.
      return partial.keep(bytes, end.wanted);
    }
    const std::string_view all = partial.complete(bytes);
    const BatchEnd end = receive_batch(session, all);
    if (session.connection.id != id) return;
    if (session.connection.parked.held()) return session.connection.parked.add(bytes);
    if (end.oversized != 0) [[unlikely]] {
      // What is there of it is its header: it was read until that was whole.
      begin_oversized(session, end.oversized);
      if (session.connection.id == id) session.connection.oversized.take(all.substr(end.used));
      continue;
    }
    partial.keep_rest(all, end.used, end.wanted);
  }
}

// Handles all whole messages at the front of `bytes`.
template <Transport T, Clock C>
BatchEnd PollLoop<T, C>::receive_batch(LiveSession& session, std::string_view bytes) {
  NFX_TRACE();
  const ConnectionId id = session.connection.id;
  return read_batch(bytes, frames_, message_, [&](const BatchItem& item) {
    NFX_ASSERT(item.bytes.data() >= bytes.data() &&
               item.bytes.data() + item.bytes.size() <= bytes.data() + bytes.size());
    if (session.may_wait() && item.error == WireError::none) {
      const MonotonicTime until = may_receive_at(session);
      if (until > runner_.now().monotonic) {
        runner_.park(session, bytes.substr(static_cast<std::size_t>(item.bytes.data() - bytes.data())), until);
        return false;
      }
    }
    receive_item(session, item);
    if (session.connection.id != id) return false;
    if (session.connection.parked.held()) [[unlikely]] {
      const auto after = static_cast<std::size_t>(item.bytes.data() - bytes.data()) + item.bytes.size();
      session.connection.parked.add(bytes.substr(after));
      return false;
    }
    if (item.bytes_behind != 0 && bytes.size() <= eager_flush_limit) runner_.flush(transport_, session);
    return session.connection.id == id;
  });
}

// When the message just read may be handed to the session: a time in the past means now.
template <Transport T, Clock C>
MonotonicTime PollLoop<T, C>::may_receive_at(LiveSession& session) noexcept {
  const MonotonicTime space_at = space_expected_at(session);
  if (space_at != MonotonicTime{}) [[unlikely]]
    return space_at;
  return session.delays() ? session.session.held_until(message_) : MonotonicTime{};
}

// Until when a message waits for space in the journal: several times the space that an answer may need.
template <Transport T, Clock C>
inline MonotonicTime PollLoop<T, C>::space_expected_at(LiveSession& session) noexcept {
  if (session.journal_store == nullptr || session.journal_store->accepts(session.journal_room)) [[likely]]
    return {};
  return runner_.space_expected_at(session);
}

template <Transport T, Clock C>
void PollLoop<T, C>::receive_item(LiveSession& session, const BatchItem& item) {
  NFX_TRACE();
  if (item.error == WireError::none && item.bytes.size() <= session.longest_received) {
    NFX_ASSERT(item.bytes.size() <= runner_.config().max_message_size);
    return receive_message(session, item.bytes);
  }
  if (receive_beyond_limits(session, item)) return;
  if (item.error == WireError::check_sum_mismatch && receive_despite_check_sum(session, item.bytes)) return;
  ++session.counts.garbled;
  if (item.frame.status == FrameStatus::too_large) {
    runner_.report_notice(session, Notice::garbled_message, SeqNum{}, to_string(WireError::too_large));
    session.ends_because = EndReason::protocol_error;
    return session.drop_connection();
  }
  runner_.step(session, 0,
               [&](Actions& out) { session.session.on_garbled(item.error, item.bytes, runner_.now(), out); });
}

// A message with more bytes or fields than allowed. False: it is another error.
template <Transport T, Clock C>
[[gnu::cold, gnu::noinline]] bool PollLoop<T, C>::receive_beyond_limits(LiveSession& session, const BatchItem& item) {
  std::array<char, 160> text;
  int size = 0;
  if (item.error == WireError::none) {
    size = std::snprintf(text.data(), text.size(), "%zu bytes: ring_size with store_received allows %zu: raise it",
                         item.bytes.size(), session.longest_received);
  } else if (item.error == WireError::too_many_fields) {
    OversizedMessage whole{{}, item.bytes.size()};
    whole.take(item.bytes);
    if (!whole.is_right()) return false;
    size = std::snprintf(text.data(), text.size(), "%zu bytes with more than [engine] max_fields = %u fields: raise it",
                         item.bytes.size(), runner_.config().max_fields);
  } else {
    return false;
  }
  runner_.observe(session, Direction::in, item.bytes);
  receive_too_large(session, item.bytes, {text.data(), static_cast<std::size_t>(size)});
  return true;
}

// A length that no message may have is not waited for.
template <Transport T, Clock C>
[[gnu::cold, gnu::noinline]] void PollLoop<T, C>::begin_oversized(LiveSession& session, std::size_t size) {
  if (size <= most_message_size) {
    session.connection.oversized = OversizedMessage{session.memory.partial(), size};
    return;
  }
  ++session.counts.garbled;
  std::array<char, 160> text;
  const int length =
      std::snprintf(text.data(), text.size(), "%zu bytes announced, [engine] max_message_size = %zu: disconnected",
                    size, runner_.config().max_message_size);
  runner_.report_notice(session, Notice::garbled_message, SeqNum{}, {text.data(), static_cast<std::size_t>(length)});
  session.drop_connection();
}

// What has arrived of a message that is too long.
template <Transport T, Clock C>
[[gnu::cold, gnu::noinline]] void PollLoop<T, C>::take_oversized(LiveSession& session, std::string_view& bytes) {
  OversizedMessage& message = session.connection.oversized;
  const auto give_up = [&](WireError error) {
    const OversizedMessage given_up = std::exchange(message, OversizedMessage{});
    ++session.counts.garbled;
    runner_.step(session, 0,
                 [&](Actions& out) { session.session.on_garbled(error, given_up.head(), runner_.now(), out); });
  };
  // A wrong BodyLength must not swallow the messages that follow.
  const std::size_t next = bytes.find(
      "\x01"
      "8=FIX");
  if (next != std::string_view::npos && next + 1 < message.missing()) {
    bytes.remove_prefix(message.take(bytes.substr(0, next + 1)));
    return give_up(WireError::body_length_mismatch);
  }
  bytes.remove_prefix(message.take(bytes));
  if (message.under_way()) return session.session.on_held(runner_.now());
  if (!message.is_right()) return give_up(WireError::check_sum_mismatch);
  const OversizedMessage whole = std::exchange(message, OversizedMessage{});
  std::array<char, 160> text;
  const int size = std::snprintf(text.data(), text.size(), "%zu bytes, [engine] max_message_size = %zu: raise it",
                                 whole.total(), runner_.config().max_message_size);
  receive_too_large(session, whole.head(), {text.data(), static_cast<std::size_t>(size)});
}

template <Transport T, Clock C>
void PollLoop<T, C>::receive_too_large(LiveSession& session, std::string_view head, std::string_view limit) {
  static_cast<void>(message_.parse_leniently(head));
  ++session.counts.messages_in;
  const SeqNum expected = session.session.next_inbound();
  runner_.step(session, 0, [&](Actions& out) { session.session.on_too_large(message_, limit, runner_.now(), out); });
  const bool taken = session.session.next_inbound() != expected;
  if (taken && session.settings.too_large_message == TooLargeMessage::logout && session.session.logged_on())
    session.logout("message too large");
  if (session.connection.exists()) drain_queue(session);
}

template <Transport T, Clock C>
inline void PollLoop<T, C>::receive_message(LiveSession& session, std::string_view bytes) {
  ++session.counts.messages_in;
  session.last_in = runner_.now().utc;
  runner_.observe(session, Direction::in, bytes);
  runner_.step_received(session, message_, bytes,
                        [&](Actions& out) { session.session.on_message(message_, runner_.now(), out); });
  drain_queue(session);
}

// With verify_checksum = false, one that fills a gap: as a copy with the right CheckSum, so that it can be parsed,
// queued and stored like any other.
template <Transport T, Clock C>
[[gnu::cold, gnu::noinline]] bool PollLoop<T, C>::receive_despite_check_sum(LiveSession& session,
                                                                            std::string_view bytes) {
  if (session.config().verify_checksum || !session.session.gap_open()) return false;
  constexpr std::size_t trailer_size = 7;  // "10=nnn<SOH>"
  NFX_ASSERT(bytes.size() > trailer_size);
  repaired_.assign(bytes);
  const std::size_t end = repaired_.size() - trailer_size;
  write_check_sum_field(repaired_.data() + end, check_sum(std::string_view{repaired_}.substr(0, end)));
  if (message_.parse(repaired_) != WireError::none || !session.session.accepts_wrong_check_sum(message_)) return false;
  ++session.counts.check_sum_ignored;
  receive_message(session, repaired_);
  return true;
}

template <Transport T, Clock C>
void PollLoop<T, C>::drain_queue(LiveSession& session) {
  NFX_TRACE();
  while (!session.connection.parked.held()) {
    const auto bytes = session.session.take_queued();
    if (!bytes) return;
    // It was parsed once already, when it arrived.
    if (queued_message_.parse(*bytes) != WireError::none) continue;
    runner_.step_received(session, queued_message_, *bytes, [&](Actions& out) {
      session.session.on_queued_message(queued_message_, runner_.now(), out);
    });
    if (!session.connection.exists()) return;
    // Those after it wait in the queue.
    if (const MonotonicTime space_at = space_expected_at(session); space_at != MonotonicTime{}) [[unlikely]]
      return runner_.park(session, {}, space_at);
  }
}

// Collects the first message of a connection in its small buffer, and hands connection and bytes to the session it
// names.
template <Transport T, Clock C>
void PollLoop<T, C>::receive_pending(std::uint32_t index, std::span<const char> bytes) {
  LogonGate& logons = runner_.logons();
  const auto collect = [&](std::span<const char> from) {
    const std::size_t size = logons.collect(index, from);
    // The transport's buffer would have the password until other bytes are in its place.
    clear_bytes({const_cast<char*>(from.data()), size});
    return size;
  };
  std::size_t taken = collect(bytes);
  if (logons[index].from_gateway) [[unlikely]] {
    if (!runner_.take_proxy_header(index)) return;
    taken += collect(bytes.subspan(taken));
  }
  const std::span<const char> rest = bytes.subspan(taken);
  const std::string_view received = logons.received(index);
  const Frame frame = next_frame(received, logons.most_bytes());
  if (frame.status == FrameStatus::need_more && !logons.full(index)) return;
  PendingLogon& pending = logons[index];
  const ConnectionId id = pending.id;
  LiveSession* session = nullptr;
  const bool whole = frame.status == FrameStatus::complete;
  const WireError error = whole ? message_.parse(received.substr(0, frame.size)) : frame.error;
  const bool is_fix = whole && error == WireError::none;
  std::array<char, 96> fault;
  if (is_fix) {
    session = find_session(pending);
  } else if (whole) {
    const bool is_readable = message_.parse_leniently(received.substr(0, frame.size)) == WireError::bad_data_length;
    pending.refused = refusal_of(error);
    pending.refused_text = to_string(error);
    if (is_readable && message_.size() != 0) {
      // The last field that could be read is the length.
      const Field length = message_[message_.size() - 1];
      const int size = std::snprintf(
          fault.data(), fault.size(), "%d=%.*s: the data field after it does not have that length", value(length.tag),
          static_cast<int>(std::min<std::size_t>(length.value.size(), 20)), length.value.data());
      pending.refused_text = {fault.data(), std::min(static_cast<std::size_t>(size), fault.size() - 1)};
    }
    logons.addresses().count_invalid_logon(PeerAddress::of_peer(pending.peer), runner_.now().monotonic);
  } else {
    const bool too_long = frame.status == FrameStatus::need_more || frame.status == FrameStatus::too_large;
    pending.refused = too_long ? LogonRefusalReason::too_long : LogonRefusalReason::not_fix;
    logons.addresses().count_invalid_logon(PeerAddress::of_peer(pending.peer), runner_.now().monotonic);
  }
  if (pending.opening != 0 || pending.challenging || pending.hands_on != nullptr) {
    pending.rest.assign(rest.data(), rest.size());
    return;
  }
  if (session == nullptr) {
    const bool named = whole && message_.size() > 2;
    return runner_.refuse_pending(index, pending.refused, named ? &message_ : nullptr, pending.refused_text);
  }
  runner_.attach(*session, id, pending.peer);
  // The small buffer is not reused before its bytes are: no other connection is accepted in between.
  receive(*session, received);
  logons.release(index);
  if (session->connection.id != id) return;
  const std::string_view behind{rest.data(), rest.size()};
  if (session->connection.parked.held()) return session->connection.parked.add(behind);
  receive(*session, behind);
}

// The session that a Logon names. Without memory for it the connection is refused, and the others go on.
template <Transport T, Clock C>
LiveSession* PollLoop<T, C>::find_session(PendingLogon& pending) {
  try {
    LiveSession* const session = runner_.session_for_logon(message_, pending);
    if (session != nullptr) runner_.prepare_connection(*session);
    return session;
  } catch (const std::bad_alloc&) {
    runner_.note_refusal(pending, LogonRefusalReason::no_memory, {});
  } catch (const std::system_error& error) {
    runner_.note_refusal(pending, LogonRefusalReason::no_memory, error.what());
  }
  return nullptr;
}

// Events of the transport.

template <Transport T, Clock C>
void PollLoop<T, C>::on_accept(ListenerId listener, ConnectionId id, std::string_view peer) {
  read_clock();
  try {
    runner_.accept(listener, id, peer);
  } catch (const std::bad_alloc&) {
    runner_.refuse_without_memory(id, peer);
  }
}

template <Transport T, Clock C>
PeerStanding PollLoop<T, C>::on_accepting(ListenerId listener, std::string_view peer) {
  read_clock();
  return runner_.standing_of(listener, peer);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_connect(ConnectionId id) {
  const ConnectionOwner owner = runner_.owners().find(id);
  if (owner.kind != ConnectionOwner::Kind::session) return;
  read_clock();
  LiveSession& session = runner_.sessions()[owner.index];
  NFX_ASSERT(session.connection.id == id && session.connection.connecting);
  // The session's time ended while it was connecting.
  if (!runner_.may_connect_now(session)) {
    runner_.close_connection(session);
    return runner_.detach(session);
  }
  try {
    runner_.prepare_connection(session);
  } catch (const std::exception& error) {
    runner_.report_notice(session, Notice::connect_failed, SeqNum{}, error.what());
    if (session.connection.id != id) return;
    runner_.close_connection(session);
    return runner_.detach(session);
  }
  runner_.attach(session, id);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_receive(ConnectionId id, std::span<const char> bytes) {
  NFX_TRACE();
  NFX_ASSERT(!bytes.empty());
  const ConnectionOwner owner = runner_.owners().find(id);
  read_clock();
  runner_.recorder().received();
  switch (owner.kind) {
    case ConnectionOwner::Kind::none: return;
    case ConnectionOwner::Kind::pending: return receive_pending(owner.index, bytes);
    case ConnectionOwner::Kind::session: {
      LiveSession& session = runner_.sessions()[owner.index];
      NFX_ASSERT(session.connection.id == id && !session.connection.connecting);
      if (session.meter.on()) {
        if (const std::optional<UtcTime> stamp = transport_.received_at())
          session.meter.received(runner_.now().utc - *stamp);
      }
      if (session.connection.parked.held()) [[unlikely]]
        return runner_.park_more(session, {bytes.data(), bytes.size()});
      return receive(session, {bytes.data(), bytes.size()});
    }
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_writable(ConnectionId id) {
  const ConnectionOwner owner = runner_.owners().find(id);
  if (owner.kind != ConnectionOwner::Kind::session) return;
  LiveSession& session = runner_.sessions()[owner.index];
  NFX_ASSERT(session.connection.id == id);
  session.connection.out.unblock();
  runner_.mark_dirty(session);
  if (!session.connection.unhandled.held()) return;
  session.connection.parked.hurry(runner_.now().monotonic);
  runner_.rearm(session);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_close(ConnectionId id, CloseReason reason) {
  const ConnectionOwner owner = runner_.owners().find(id);
  if (owner.kind == ConnectionOwner::Kind::none) return;
  read_clock();
  runner_.owners().clear(id);
  const std::string_view words = words_of(id);
  if (owner.kind == ConnectionOwner::Kind::pending) {
    const std::string peer = runner_.logons()[owner.index].peer;
    runner_.logons().release(owner.index);
    if (!words.empty()) on_handshake_failed(peer, words);
    return;
  }
  LiveSession& session = runner_.sessions()[owner.index];
  NFX_ASSERT(session.connection.id == id);
  if (session.connection.connecting) {
    runner_.report_notice(session, Notice::connect_failed, SeqNum{}, words.empty() ? to_string(reason) : words);
    if (session.connection.id == id) runner_.detach(session);
    return;
  }
  // The journal may have space for parked messages now.
  if (session.connection.parked.held()) resume(session);
  if (session.connection.id != id) return;
  // The session's own disconnect action detaches it.
  runner_.step(session, 0, [&](Actions& out) { session.session.on_disconnect(words, runner_.now(), out); });
}

template <Transport T, Clock C>
std::string_view PollLoop<T, C>::words_of(ConnectionId id) const noexcept {
  if constexpr (requires { transport_.tls_error(id); }) return transport_.tls_error(id);
  return {};
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_handshake_failed(std::string_view peer, std::string_view why) {
  read_clock();
  runner_.handshake_failed(peer, why);
}

}  // namespace nfx
