// One session of a PollLoop and what the loop keeps for it; included by poll_loop_*.hpp alone.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "nexusfix/engine/poll_loop.hpp"

namespace nfx {

template <Transport T, Clock C>
class PollLoop<T, C>::Slot final : public SessionHandle {
 public:
  Slot(PollLoop& owner, SessionSettings its_settings, std::size_t its_id, std::size_t max_message_size, UtcTime now)
      : loop(owner),
        settings(std::move(its_settings)),
        session_id(its_id),
        session(settings.session),
        store(owner.stores_.open(settings, now)),
        durable_store(store.journal()),
        output(settings.send_buffer_size),
        partial(std::make_unique_for_overwrite<char[]>(max_message_size)) {
    session.restore(store.next_inbound(), store.next_outbound());
    if (may_park()) parked.reserve(parking_space);
  }
  ~Slot() { loop.stores_.close(name, std::move(store)); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  [[nodiscard]] const SessionConfig& config() const noexcept override { return session.config(); }
  [[nodiscard]] std::size_t id() const noexcept override { return session_id; }
  [[nodiscard]] bool logged_on() const noexcept override { return session.logged_on(); }
  [[nodiscard]] SeqNum next_inbound() const noexcept override { return session.next_inbound(); }
  [[nodiscard]] SeqNum next_outbound() const noexcept override { return session.next_outbound(); }
  [[nodiscard]] const SessionCounters& counters() const noexcept override { return counts; }
  [[nodiscard]] Instant now() const noexcept override { return loop.now_; }
  [[nodiscard]] const JournalStore* journal() const noexcept override { return durable_store; }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept override { return loop.transport_.received_at(); }

  std::expected<SeqNum, SendError> send(const Outgoing& message) noexcept override {
    if (looking_on) return std::unexpected(SendError::no_room);
    if (durable_store != nullptr &&
        !durable_store->accepts(message.body.size() + message.header_fields.size() + header_room)) [[unlikely]]
      return refuse_send();
    auto sent = loop.step(*this, admin_reserve, [&](Actions& out) { return session.send(message, loop.now_, out); });
    if (!sent && sent.error() == SendError::no_room) ++counts.send_refused;
    if (sent && durable_store != nullptr && durable_store->durability() == Durability::message) [[unlikely]] {
      if (!durable_store->wait_durable(durable_store->position())) return std::unexpected(SendError::store_failed);
    }
    return sent;
  }
  std::expected<SeqNum, SendError> reject_business(const MessageView& refused, BusinessRejectReason reason,
                                                   std::string_view text) noexcept override {
    if (looking_on) return std::unexpected(SendError::no_room);
    return loop.step(*this, 0,
                     [&](Actions& out) { return session.reject_business(refused, reason, text, loop.now_, out); });
  }
  void logout(std::string_view text) noexcept override {
    if (looking_on) return;
    enabled = false;
    const bool unkept = durable_store != nullptr && durable_store->condition() == StoreCondition::failed;
    if (connecting || unkept) return drop_connection();
    reconnect_at = MonotonicTime::max();
    loop.rearm(*this);
    loop.step(*this, 0, [&](Actions& out) { session.logout(text, loop.now_, out); });
  }
  void logon() noexcept override {
    if (looking_on || std::exchange(enabled, true) || settings.session.role == Role::acceptor) return;
    // A connection whose Logout is still under way is followed by the next one when it ends.
    if (connection != no_connection) return;
    reconnect_at = loop.now_.monotonic;
    loop.apply_schedule(*this);
    loop.rearm(*this);
  }
  void reset_sequence_numbers() noexcept override {
    if (looking_on) return;
    loop.step(*this, 0, [&](Actions& out) { session.reset_sequence_numbers(loop.now_, out); });
  }
  void drop_connection() noexcept override {
    if (looking_on || connection == no_connection) return;
    loop.forget_output(*this);
    loop.transport_.close(connection);
    if (connecting) return loop.detach(*this);  // the session has not heard of this connection
    loop.step(*this, 0, [&](Actions& out) { session.on_disconnect({}, loop.now_, out); });
  }

  // The journal does not take a message now.
  [[gnu::cold, gnu::noinline]] std::unexpected<SendError> refuse_send() noexcept {
    ++counts.send_refused;
    switch (durable_store->condition()) {
      case StoreCondition::good:
      case StoreCondition::busy: return std::unexpected(SendError::no_room);
      case StoreCondition::full:
        loop.store_changes_seen_ = ~std::uint64_t{0};  // the next turn ends the session
        return std::unexpected(SendError::store_full);
      case StoreCondition::failed: return std::unexpected(SendError::store_failed);
    }
    return std::unexpected(SendError::no_room);
  }

  // ThrottleAction::delay: messages may have to wait, and so may everything behind them.
  [[nodiscard]] bool delays() const noexcept {
    return settings.session.throttle_rate != 0 && settings.session.throttle_action == ThrottleAction::delay;
  }
  // What was received may have to wait: for the throttle, or for room in the journal.
  [[nodiscard]] bool may_park() const noexcept { return delays() || durable_store != nullptr; }
  [[nodiscard]] bool held() const noexcept { return held_until != MonotonicTime::max(); }
  [[nodiscard]] MonotonicTime next_event() const noexcept {
    return std::min(
        {session.next_deadline(), reconnect_at, connect_deadline, schedule_at, held_until, cancel_at, slow_deadline});
  }

  static constexpr std::size_t parking_space = 128 * 1024;
  static constexpr std::size_t header_room = 512;  // the session's own fields, with CompIDs of common length

  PollLoop& loop;
  const SessionSettings settings;
  std::size_t session_id;
  const std::string name = identity(settings.session);
  const std::string listen_name = to_string(settings.listen);
  std::uint32_t index = 0;  // in slots_
  Session session;
  SessionStore store;
  JournalStore* const durable_store;  // the store's; null when it is memory
  OutputBuffer output;
  SessionCounters counts;

  ConnectionId connection = no_connection;
  bool connecting = false;
  bool enabled = true;
  bool dirty = false;
  bool in_replay_list = false;
  bool blocked = false;        // the kernel took less than it was given: on_writable comes
  bool gated = false;          // what is pending waits for the journal, in waiting_
  bool store_trouble = false;  // told about, until the store is good again
  bool looking_on = false;     // in a callback that lends bytes which acting on the session would move

  std::unique_ptr<char[]> partial;  // the front of a message whose end has not come yet
  std::size_t partial_size = 0;
  std::size_t partial_wanted = 0;

  // Of a journal that holds back: of what is pending, `released` bytes may leave; up to `gate_size` may when the
  // journal is durable up to `gate`.
  std::size_t released = 0;
  std::size_t gate_size = 0;
  JournalPosition gate = unset_position;
  std::uint64_t records_refused = 0;  // by the journal, of which we know

  std::string parked;  // received, but held back by throttle or journal; the connection is held meanwhile
  MonotonicTime held_until = MonotonicTime::max();

  MonotonicTime reconnect_at = MonotonicTime::max();
  MonotonicTime connect_deadline = MonotonicTime::max();
  MonotonicTime schedule_at = MonotonicTime::max();
  MonotonicTime cancel_at = MonotonicTime::max();
  MonotonicTime slow_deadline = MonotonicTime::max();  // the peer reads by then, or is cut
  std::string cancel_reason;
  std::uint32_t failures = 0;  // connects since the last Logon
  std::size_t endpoint = 0;    // in settings.connect: the one to try next
  bool reached = false;        // Logons were exchanged on the connection of now, or of a moment ago
  bool up = false;             // on_logon was called, and on_logout not yet
  bool removing = false;
  MonotonicTime first_host_since{};  // when the list of addresses was begun from its front
};

}  // namespace nfx
