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
        store(settings.store, settings.numbers_as_of == UtcTime{} ? now : settings.numbers_as_of),
        output(settings.send_buffer_size),
        partial(std::make_unique_for_overwrite<char[]>(max_message_size)) {
    store.set_next_inbound(settings.next_inbound);
    store.set_next_outbound(settings.next_outbound);
    session.restore(store.next_inbound(), store.next_outbound());
    if (settings.prefault) store.prefault();
    if (delays()) parked.reserve(parking_space);
  }

  [[nodiscard]] const SessionConfig& config() const noexcept override { return session.config(); }
  [[nodiscard]] std::size_t id() const noexcept override { return session_id; }
  [[nodiscard]] bool logged_on() const noexcept override { return session.logged_on(); }
  [[nodiscard]] SeqNum next_inbound() const noexcept override { return session.next_inbound(); }
  [[nodiscard]] SeqNum next_outbound() const noexcept override { return session.next_outbound(); }
  [[nodiscard]] const SessionCounters& counters() const noexcept override { return counts; }
  [[nodiscard]] Instant now() const noexcept override { return loop.now_; }

  std::expected<SeqNum, SendError> send(const Outgoing& message) noexcept override {
    if (looking_on) return std::unexpected(SendError::no_room);
    auto sent = loop.step(*this, admin_reserve, [&](Actions& out) { return session.send(message, loop.now_, out); });
    if (!sent && sent.error() == SendError::no_room) ++counts.send_refused;
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
    if (connecting) return drop_connection();
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
    output.clear();
    loop.transport_.close(connection);
    if (connecting) return loop.detach(*this);  // the session has not heard of this connection
    loop.step(*this, 0, [&](Actions& out) { session.on_disconnect(loop.now_, out); });
  }

  // ThrottleAction::delay: messages may have to wait, and so may everything behind them.
  [[nodiscard]] bool delays() const noexcept {
    return settings.session.throttle_rate != 0 && settings.session.throttle_action == ThrottleAction::delay;
  }
  [[nodiscard]] bool held() const noexcept { return held_until != MonotonicTime::max(); }
  [[nodiscard]] MonotonicTime next_event() const noexcept {
    return std::min({session.next_deadline(), reconnect_at, connect_deadline, schedule_at, held_until, cancel_at});
  }

  static constexpr std::size_t parking_space = 128 * 1024;

  PollLoop& loop;
  const SessionSettings settings;
  std::size_t session_id;
  std::uint32_t index = 0;  // in slots_
  Session session;
  MemoryMessageStore store;
  OutputBuffer output;
  SessionCounters counts;

  ConnectionId connection = no_connection;
  bool connecting = false;
  bool enabled = true;
  bool dirty = false;
  bool in_replay_list = false;
  bool blocked = false;     // the kernel took less than it was given: on_writable comes
  bool looking_on = false;  // in a callback that lends bytes which acting on the session would move

  std::unique_ptr<char[]> partial;  // the front of a message whose end has not come yet
  std::size_t partial_size = 0;
  std::size_t partial_wanted = 0;

  std::string parked;  // received, but held back by the throttle; the connection is held meanwhile
  MonotonicTime held_until = MonotonicTime::max();

  MonotonicTime reconnect_at = MonotonicTime::max();
  MonotonicTime connect_deadline = MonotonicTime::max();
  MonotonicTime schedule_at = MonotonicTime::max();
  MonotonicTime cancel_at = MonotonicTime::max();
  std::string cancel_reason;
  std::uint32_t failures = 0;  // connects since the last Logon
  std::size_t endpoint = 0;    // in settings.connect: the one to try next
  bool reached = false;        // Logons were exchanged on the connection of now, or of a moment ago
  bool up = false;             // on_logon was called, and on_logout not yet
  bool removing = false;
  MonotonicTime first_host_since{};  // when the list of addresses was begun from its front
};

}  // namespace nfx
