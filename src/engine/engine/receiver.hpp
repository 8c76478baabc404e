// Turns the bytes of sessions' connections into messages: frames and indexes them, completes partial ones, and parks
// messages that a session may not process yet.
// Thread: one owner, the poll thread. Cost: one pass over the bytes, no allocation. Lifetime: a message is valid until
// the session has handled it. Incomplete, parked and unhandled bytes are in the session's Inbound, which only this
// class changes. Bounds: max_message_size, ConnectionMemory::parking_space.
#pragma once

#include <string>
#include <string_view>

#include "base/call_trace.hpp"
#include "engine/loop_context.hpp"
#include "engine/session_driver.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/batch.hpp"

namespace nfx {

class Receiver {
 public:
  // `loop` outlives it.
  explicit Receiver(LoopContext& loop);

  // The bytes of one read. `sender` is the transport.
  template <class Sender>
  void on_receive(Sender& sender, SessionDriver& session, std::string_view bytes) {
    if (session.is_timed()) {
      if (const std::optional<UtcTime> stamp = sender.received_at()) session.arrived(*stamp);
    }
    if (session.inbound().parked.held()) [[unlikely]]
      return park_more(session, bytes);
    return receive(sender, session, bytes);
  }
  // The Logon of an accepted connection, or what came behind it.
  void receive_first(SessionDriver& session, std::string_view bytes) {
    if (session.inbound().parked.held()) return session.inbound().parked.add(bytes);
    receive(loop_.network, session, bytes);
  }
  // Handles again what was parked.
  void resume(SessionDriver& session);
  // The application has not handled this message: it is delivered again after a time, before all that follows.
  void not_handled(SessionDriver& session, const MessageView& message, SeqNum seq);

 private:
  // Answers to a read this small are sent immediately, message by message, so that an answer does not wait for the
  // messages after it. Larger reads mean load, where one send for all answers costs less.
  static constexpr std::size_t eager_flush_limit = 2048;

  template <class Sender>
  void receive(Sender& sender, SessionDriver& session, std::string_view bytes);
  template <class Sender>
  BatchEnd receive_batch(Sender& sender, SessionDriver& session, std::string_view bytes);
  void receive_item(SessionDriver& session, const BatchItem& item);
  [[nodiscard]] bool receive_beyond_limits(SessionDriver& session, const BatchItem& item);
  void take_oversized(SessionDriver& session, std::string_view& bytes);
  void receive_too_large(SessionDriver& session, std::string_view head, std::string_view limit);
  void receive_garbled(SessionDriver& session, const BatchItem& item);
  void receive_garbled(SessionDriver& session, WireError error, std::string_view bytes);
  [[nodiscard]] bool receive_despite_check_sum(SessionDriver& session, std::string_view bytes);
  void drain_queue(SessionDriver& session);
  void park(SessionDriver& session, std::string_view bytes, MonotonicTime until);
  void park_more(SessionDriver& session, std::string_view bytes);  // what was received while others are parked

  LoopContext& loop_;
  FrameReader frames_;
  MessageView message_;
  MessageView queued_message_;
  std::string resumed_;   // what resume() passes to the session
  std::string repaired_;  // a message with the CheckSum that it should have
};

template <class Sender>
void Receiver::receive(Sender& sender, SessionDriver& session, std::string_view bytes) {
  NFX_TRACE();
  Inbound& in = session.inbound();
  const ConnectionId id = session.connection().id;
  NFX_ASSERT(!in.parked.held());
  while (!bytes.empty() && session.connection().id == id) {
    if (in.oversized.under_way()) [[unlikely]] {
      take_oversized(session, bytes);
      if (session.connection().id == id && in.parked.held()) return in.parked.add(bytes);
      continue;
    }
    PartialMessage& partial = in.partial;
    if (partial.empty()) {
      const BatchEnd end = receive_batch(sender, session, bytes);
      NFX_ASSERT(end.used <= bytes.size());
      bytes.remove_prefix(end.used);
      if (session.connection().id != id || bytes.empty() || in.parked.held()) return;
      if (end.oversized != 0) [[unlikely]] {
        in.oversized = OversizedMessage{session.memory().partial(), end.oversized};
        continue;
      }
      // Less than one message is left, so it fits.
      return partial.keep(bytes, end.wanted);
    }
    const std::string_view all = partial.complete(bytes);
    const BatchEnd end = receive_batch(sender, session, all);
    if (session.connection().id != id) return;
    if (in.parked.held()) return in.parked.add(bytes);
    if (end.oversized != 0) [[unlikely]] {
      // Only its header was read so far: reading continued until that was complete.
      in.oversized = OversizedMessage{session.memory().partial(), end.oversized};
      in.oversized.take(all.substr(end.used));
      continue;
    }
    partial.keep_rest(all, end.used, end.wanted);
  }
}

// Handles all whole messages at the front of `bytes`.
template <class Sender>
BatchEnd Receiver::receive_batch(Sender& sender, SessionDriver& session, std::string_view bytes) {
  NFX_TRACE();
  Inbound& in = session.inbound();
  const ConnectionId id = session.connection().id;
  return read_batch(bytes, frames_, message_, [&](const BatchItem& item) {
    NFX_ASSERT(item.bytes.data() >= bytes.data() &&
               item.bytes.data() + item.bytes.size() <= bytes.data() + bytes.size());
    if (session.may_wait() && item.error == WireError::none) {
      const MonotonicTime until = session.may_receive_at(message_);
      if (until > loop_.now().monotonic) {
        park(session, bytes.substr(static_cast<std::size_t>(item.bytes.data() - bytes.data())), until);
        return false;
      }
    }
    receive_item(session, item);
    if (session.connection().id != id) return false;
    if (in.parked.held()) [[unlikely]] {
      const auto after = static_cast<std::size_t>(item.bytes.data() - bytes.data()) + item.bytes.size();
      in.parked.add(bytes.substr(after));
      return false;
    }
    if (item.bytes_behind != 0 && bytes.size() <= eager_flush_limit) session.flush(sender);
    return session.connection().id == id;
  });
}

inline void Receiver::receive_item(SessionDriver& session, const BatchItem& item) {
  NFX_TRACE();
  if (item.error == WireError::none && item.bytes.size() <= session.longest_received()) {
    NFX_ASSERT(item.bytes.size() <= loop_.config.max_message_size);
    session.on_message(message_, item.bytes);
    return drain_queue(session);
  }
  if (receive_beyond_limits(session, item)) return;
  if (item.error == WireError::check_sum_mismatch && receive_despite_check_sum(session, item.bytes)) return;
  receive_garbled(session, item);
}

}  // namespace nfx
