// Messages of one read, messages that are too large or have a wrong CheckSum, and parked messages.
#include "engine/receiver.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "nexusfix/base/secret.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {

Receiver::Receiver(LoopContext& loop)
    : loop_(loop),
      frames_(loop.config.max_message_size),
      message_(loop.config.max_fields),
      queued_message_(loop.config.max_fields) {
  resumed_.reserve(ConnectionMemory::parking_space);
  loop.receiver = this;
}

// A message with more bytes or fields than allowed. False: it is another error.
[[gnu::cold, gnu::noinline]] bool Receiver::receive_beyond_limits(SessionDriver& session, const BatchItem& item) {
  std::array<char, 160> text;
  int size = 0;
  if (item.error == WireError::none) {
    size = std::snprintf(text.data(), text.size(), "%zu bytes: ring_size with store_received allows %zu: raise it",
                         item.bytes.size(), session.longest_received());
  } else if (item.error == WireError::too_many_fields) {
    OversizedMessage whole{{}, item.bytes.size()};
    whole.take(item.bytes);
    if (!whole.is_right()) return false;
    size = std::snprintf(text.data(), text.size(), "%zu bytes with more than [engine] max_fields = %u fields: raise it",
                         item.bytes.size(), loop_.config.max_fields);
  } else {
    return false;
  }
  session.observe(Direction::in, item.bytes);
  receive_too_large(session, item.bytes, {text.data(), static_cast<std::size_t>(size)});
  return true;
}

// The bytes received so far of a message that is too long. It is read to its end, whatever its length.
[[gnu::cold, gnu::noinline]] void Receiver::take_oversized(SessionDriver& session, std::string_view& bytes) {
  Inbound& in = session.inbound();
  OversizedMessage& message = in.oversized;
  // A wrong BodyLength must not swallow the messages that follow.
  if (const OversizedMessage::Start next = message.next_start(bytes); next.at != std::string_view::npos) {
    bytes.remove_prefix(message.take(bytes.substr(0, next.at)));
    const OversizedMessage given_up = std::exchange(message, OversizedMessage{});
    const ConnectionId id = session.connection().id;
    receive_garbled(session, WireError::body_length_mismatch, given_up.head());
    if (next.taken.empty() || session.connection().id != id) return;
    if (in.parked.held()) return in.parked.add(next.taken);
    return in.partial.keep(next.taken, next.taken.size() + 1);
  }
  bytes.remove_prefix(message.take(bytes));
  if (message.under_way()) return session.on_held();
  const OversizedMessage whole = std::exchange(message, OversizedMessage{});
  if (!whole.is_right()) return receive_garbled(session, WireError::check_sum_mismatch, whole.head());
  std::array<char, 160> text;
  const int size = std::snprintf(text.data(), text.size(), "%zu bytes, [engine] max_message_size = %zu: raise it",
                                 whole.total(), loop_.config.max_message_size);
  receive_too_large(session, whole.head(), {text.data(), static_cast<std::size_t>(size)});
}

[[gnu::cold, gnu::noinline]] void Receiver::receive_garbled(SessionDriver& session, const BatchItem& item) {
  const ConnectionId id = session.connection().id;
  receive_garbled(session, item.error, item.bytes);
  // Where the next message begins is unknown.
  if (session.connection().id == id && item.frame.status == FrameStatus::too_large)
    session.cut(EndReason::protocol_error);
}

[[gnu::cold, gnu::noinline]] void Receiver::receive_garbled(SessionDriver& session, WireError error,
                                                            std::string_view bytes) {
  session.on_garbled(error, bytes);
  if (session.connection().exists()) drain_queue(session);
}

void Receiver::receive_too_large(SessionDriver& session, std::string_view head, std::string_view limit) {
  static_cast<void>(message_.parse_leniently(head));
  session.on_too_large(message_, limit);
  if (session.connection().exists()) drain_queue(session);
}

// With verify_checksum = false, one that fills a gap: as a copy with the right CheckSum, so that it can be parsed,
// queued and stored like any other.
[[gnu::cold, gnu::noinline]] bool Receiver::receive_despite_check_sum(SessionDriver& session, std::string_view bytes) {
  if (!session.may_ignore_check_sum()) return false;
  constexpr std::size_t trailer_size = 7;  // "10=nnn<SOH>"
  NFX_ASSERT(bytes.size() > trailer_size);
  repaired_.assign(bytes);
  const std::size_t end = repaired_.size() - trailer_size;
  write_check_sum_field(repaired_.data() + end, check_sum(std::string_view{repaired_}.substr(0, end)));
  if (message_.parse(repaired_) != WireError::none || !session.ignores_check_sum(message_)) return false;
  session.on_message(message_, repaired_);
  drain_queue(session);
  return true;
}

void Receiver::drain_queue(SessionDriver& session) {
  while (!session.inbound().parked.held()) {
    const auto bytes = session.take_queued();
    if (!bytes) return;
    // It was parsed once already, when it arrived.
    if (queued_message_.parse(*bytes) != WireError::none) continue;
    session.on_queued_message(queued_message_, *bytes);
    if (!session.connection().exists()) return;
    // Those after it wait in the queue.
    if (const MonotonicTime space_at = session.space_expected_at(); space_at != MonotonicTime{}) [[unlikely]]
      return park(session, {}, space_at);
  }
}

// For throttle, journal and application. A message that came too early waits here, and later ones wait in the network.
// A disk may stay full, or a message unhandled, for long. The connection is then still read, up to most_parked bytes,
// so that its end and the peer's silence are noticed.
void Receiver::park(SessionDriver& session, std::string_view bytes, MonotonicTime until) {
  Inbound& in = session.inbound();
  const JournalStore* const journal = session.journal();
  const bool full = journal != nullptr && journal->condition() == StoreCondition::full;
  const bool reads_on = (full || in.unhandled.held()) && bytes.size() <= ConnectionMemory::most_parked;
  loop_.network.hold(session.connection().id, !reads_on);
  in.parked.park(bytes, until);
  // Bytes parked once more were reported when they came.
  if (!reads_on || !in.resuming) session.on_held();
  session.rearm();
}

void Receiver::park_more(SessionDriver& session, std::string_view bytes) {
  NFX_ASSERT(!bytes.empty());
  ParkedBytes& parked = session.inbound().parked;
  parked.add(bytes);
  if (parked.size() > ConnectionMemory::most_parked) loop_.network.hold(session.connection().id, true);
  session.on_held();
  session.rearm();
}

void Receiver::resume(SessionDriver& session) {
  Inbound& in = session.inbound();
  in.parked.take(resumed_);
  in.resuming = true;
  const ConnectionId id = session.connection().id;
  const bool logs_on = !session.up();
  if (in.unhandled.held()) {
    // It is the session's next message, unless an operator has set another number. It stays if it is parked again.
    const bool next = session.next_inbound() == in.unhandled.seq();
    if (next && queued_message_.parse(in.unhandled.bytes()) == WireError::none)
      session.on_queued_message(queued_message_, in.unhandled.bytes());
    if (!in.parked.held()) in.unhandled.clear();
  }
  drain_queue(session);
  if (in.parked.held()) {
    in.parked.add(resumed_);
  } else if (session.connection().id == id) {
    receive(loop_.network, session, resumed_);
  }
  if (logs_on) [[unlikely]] {  // a Logon has a password
    clear_bytes(resumed_);
    if (!in.parked.held()) clear_bytes(session.memory().parked());
  }
  resumed_.clear();
  if (session.connection().id != id) return;
  in.resuming = false;
  if (!in.parked.held()) loop_.network.hold(id, false);
}

void Receiver::not_handled(SessionDriver& session, const MessageView& message, SeqNum seq) {
  UnhandledMessage& unhandled = session.inbound().unhandled;
  if (!session.take_back(seq)) return unhandled.clear();
  const Duration wait = unhandled.keep(message.bytes(), seq, loop_.now());
  session.check_unhandled_time();
  if (session.connection().exists()) park(session, {}, loop_.now().monotonic + wait);
}

}  // namespace nfx
