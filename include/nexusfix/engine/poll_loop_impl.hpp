// The bodies of PollLoop: a turn, bytes to messages, steps and their actions. Included by poll_loop.hpp alone.
#pragma once

#include <algorithm>
#include <cstring>

#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::turn(Duration max_wait) {
  now_ = clock_.now();
  std::size_t work = 0;
  if (has_commands_.load(std::memory_order_acquire)) [[unlikely]]
    take_commands();
  if (!leaving_.empty()) [[unlikely]]
    retire();
  // Each session once a turn at most, whatever its deadlines say: no timer can keep the network waiting.
  for (std::size_t left = slots_.size(); left != 0 && deadlines_.earliest() <= now_.monotonic; --left) {
    fire_timer(*slots_[deadlines_.earliest_item()]);
    ++work;
  }
  if (pending_deadline_ <= now_.monotonic) expire_pending();
  // Read first, carried out last: what was submitted before the request to stop is still sent.
  const bool stop = stop_requested_.load(std::memory_order_acquire);
  submit_pending();
  if (stop && !stopping_) log_everyone_out();
  if (stores_.changes() != store_changes_seen_) check_stores();
  if (!waiting_.empty()) release_gated();
  wanted_turn_ = application_.on_turn(now_);
  for (std::size_t i = 0; i < replaying_.size();) {
    Slot& slot = *slots_[replaying_[i]];
    pump_replay(slot);
    if (slot.in_replay_list) {
      ++i;
    } else {
      replaying_[i] = replaying_.back();
      replaying_.pop_back();
    }
  }
  flush_all();
  // A resend goes on at once, but not while a peer that does not read holds it up: then on_writable wakes the loop.
  const auto can_go_on = [this](std::uint32_t index) {
    return slots_[index]->output.pending().size() < replay_batch &&
           slots_[index]->session.replay_held_until() <= now_.monotonic;
  };
  if (std::ranges::any_of(replaying_, can_go_on)) max_wait = Duration::zero();
  work += transport_.poll(*this, std::min({max_wait, until_next_deadline(), wanted_turn_}));
  flush_all();
  return work;
}

template <Transport T, Clock C>
Duration PollLoop<T, C>::until_next_deadline() const noexcept {
  const MonotonicTime due = std::min(deadlines_.earliest(), pending_deadline_);
  if (due == MonotonicTime::max()) return Duration::max();
  return std::max(Duration::zero(), Duration{due - now_.monotonic});
}

template <Transport T, Clock C>
bool PollLoop<T, C>::finished() const noexcept {
  return stopping_ && transport_.lingering() == 0 && std::ranges::all_of(slots_, [](const auto& slot) {
           return slot == nullptr || slot->connection == no_connection;
         });
}

template <Transport T, Clock C>
bool PollLoop<T, C>::submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept {
  if (!may_exist(session) || !submissions_.try_push(static_cast<std::uint32_t>(session), msg_type, body)) return false;
  transport_.wake();
  return true;
}

template <Transport T, Clock C>
void PollLoop<T, C>::submit_pending() {
  submissions_.drain([this](std::uint32_t session, std::string_view msg_type, std::string_view body) {
    SessionHandle* handle = find(session);
    if (handle == nullptr) return;
    if (const auto sent = handle->send({.msg_type = msg_type, .body = body}); !sent) {
      tell(*handle, Notice::not_sent, SeqNum{}, to_string(sent.error()));
    }
  });
}

template <Transport T, Clock C>
SessionHandle* PollLoop<T, C>::find(std::size_t session) noexcept {
  if (session < slot_of_session_.size()) {
    return slot_of_session_[session] == no_slot ? nullptr : slots_[slot_of_session_[session]].get();
  }
  const auto dynamic = index_.find(session);
  return dynamic ? slots_[*dynamic].get() : nullptr;
}

template <Transport T, Clock C>
std::optional<Endpoint> PollLoop<T, C>::local_endpoint(const Endpoint& configured) const {
  for (const Listening& listening : listening_) {
    if (listening.configured == configured) return transport_.local_endpoint(listening.id);
  }
  return std::nullopt;
}

// Bytes to messages.

template <Transport T, Clock C>
void PollLoop<T, C>::receive(Slot& slot, std::string_view bytes) {
  const ConnectionId id = slot.connection;
  while (!bytes.empty() && slot.connection == id) {
    if (slot.partial_size == 0) {
      const BatchEnd end = receive_batch(slot, bytes);
      bytes.remove_prefix(end.used);
      if (slot.connection != id || bytes.empty() || slot.held()) return;
      // Less than one message is left, so it fits.
      slot.partial_wanted = end.wanted;
      std::memcpy(slot.partial.get(), bytes.data(), bytes.size());
      slot.partial_size = bytes.size();
      return;
    }
    const std::size_t wanted = std::min(slot.partial_wanted, config_.max_message_size);
    const std::size_t taken = std::min(bytes.size(), wanted - slot.partial_size);
    std::memcpy(slot.partial.get() + slot.partial_size, bytes.data(), taken);
    bytes.remove_prefix(taken);
    const std::size_t size = slot.partial_size + taken;
    slot.partial_size = 0;
    const BatchEnd end = receive_batch(slot, {slot.partial.get(), size});
    if (slot.connection != id) return;
    if (slot.held()) {
      slot.parked += bytes;
      return;
    }
    std::memmove(slot.partial.get(), slot.partial.get() + end.used, size - end.used);
    slot.partial_size = size - end.used;
    slot.partial_wanted = end.wanted;
  }
}

// Handles all whole messages at the front of `bytes`.
template <Transport T, Clock C>
BatchEnd PollLoop<T, C>::receive_batch(Slot& slot, std::string_view bytes) {
  const ConnectionId id = slot.connection;
  return read_batch(bytes, frames_, message_, [&](const BatchItem& item) {
    if (slot.may_park() && item.error == WireError::none) {
      const MonotonicTime until = may_receive_at(slot);
      if (until > now_.monotonic) {
        park(slot, bytes.substr(static_cast<std::size_t>(item.bytes.data() - bytes.data())), until);
        return false;
      }
    }
    receive_item(slot, item);
    if (slot.connection != id) return false;
    if (item.bytes_behind != 0 && bytes.size() <= eager_flush_limit) flush(slot);
    return slot.connection == id;
  });
}

// When the message just read may be handed to the session: in the past for now.
template <Transport T, Clock C>
MonotonicTime PollLoop<T, C>::may_receive_at(const Slot& slot) const noexcept {
  // What an answer may need, several times over. A journal that is full or has failed ends the session instead.
  if (slot.durable_store != nullptr && !slot.durable_store->accepts(journal_room) &&
      slot.durable_store->condition() == StoreCondition::busy) [[unlikely]]
    return now_.monotonic + journal_check;
  return slot.delays() ? slot.session.held_until(message_) : MonotonicTime{};
}

template <Transport T, Clock C>
void PollLoop<T, C>::receive_item(Slot& slot, const BatchItem& item) {
  if (item.error == WireError::none) {
    ++slot.counts.messages_in;
    observe(slot, Direction::in, item.bytes);
    step(slot, 0, [&](Actions& out) { slot.session.on_message(message_, now_, out); });
    return drain_queue(slot);
  }
  ++slot.counts.garbled;
  if (item.frame.status == FrameStatus::too_large) {
    tell(slot, Notice::garbled_message, SeqNum{}, to_string(WireError::too_large));
    return slot.drop_connection();
  }
  step(slot, 0, [&](Actions& out) { slot.session.on_garbled(item.error, item.bytes, now_, out); });
}

template <Transport T, Clock C>
void PollLoop<T, C>::drain_queue(Slot& slot) {
  while (const auto bytes = slot.session.take_queued()) {
    // It was parsed once already, when it arrived.
    if (queued_message_.parse(*bytes) != WireError::none) continue;
    step(slot, 0, [&](Actions& out) { slot.session.on_queued_message(queued_message_, now_, out); });
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::fire_timer(Slot& slot) {
  const MonotonicTime time = now_.monotonic;
  if (slot.cancel_at <= time) {
    slot.cancel_at = MonotonicTime::max();
    log_event(slot, "open orders are to be cancelled", slot.cancel_reason);
    application_.on_cancel(slot, slot.cancel_reason);
  }
  if (slot.schedule_at <= time) apply_schedule(slot);
  if (slot.held_until <= time) resume(slot);
  if (slot.slow_deadline <= time) {
    slot.slow_deadline = MonotonicTime::max();
    tell(slot, Notice::slow_consumer, SeqNum{}, "the peer has read nothing for slow_consumer_timeout_ms");
    slot.drop_connection();
  }
  if (slot.connect_deadline <= time) {
    connect_timed_out(slot);
  } else if (slot.reconnect_at <= time && slot.connection == no_connection) {
    begin_connect(slot);
  } else {
    step(slot, 0, [&](Actions& out) { slot.session.on_timer(now_, out); });
  }
  // Whatever it did, it must not be due at once again.
  rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::rearm(Slot& slot) noexcept {
  deadlines_.set(slot.index, slot.next_event());
}

template <Transport T, Clock C>
void PollLoop<T, C>::log_everyone_out() {
  stopping_ = true;
  for (const auto& slot : slots_) {
    if (slot == nullptr) continue;
    slot->reconnect_at = MonotonicTime::max();
    if (slot->connecting) {
      transport_.close(slot->connection);
      detach(*slot);
    } else {
      slot->logout({});
    }
    rearm(*slot);
  }
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].id != no_connection) drop_pending(i);
  }
}

// Steps and their actions.

template <Transport T, Clock C>
void PollLoop<T, C>::tell(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) {
  log_event(session, to_string(notice), text);
  application_.on_notice(session, notice, seq, text);
}

template <Transport T, Clock C>
void PollLoop<T, C>::log_event(const SessionHandle& session, std::string_view what, std::string_view detail) noexcept {
  if (logs_.events) logs_.events->record(static_cast<std::uint32_t>(session.id()), now_.utc, what, detail);
}

template <Transport T, Clock C>
void PollLoop<T, C>::observe(Slot& slot, Direction direction, std::string_view message) {
  if (logs_.messages) {
    logs_.messages->record(static_cast<std::uint32_t>(slot.session_id),
                           direction == Direction::in ? LogDirection::in : LogDirection::out, now_.utc, message);
  }
  slot.looking_on = true;
  application_.on_traffic(slot, direction, message);
  slot.looking_on = false;
}

template <Transport T, Clock C>
template <class Event>
auto PollLoop<T, C>::step(Slot& slot, std::size_t reserve, Event&& event) {
  // Asking for the largest message's room as well, so that no send is refused while what is free lies in two pieces.
  const std::span<char> room = slot.output.room(admin_reserve * 2 + config_.max_message_size);
  Actions actions{room.first(room.size() > reserve ? room.size() - reserve : 0)};
  if constexpr (std::is_void_v<decltype(event(actions))>) {
    event(actions);
    execute(slot, actions);
  } else {
    auto result = event(actions);
    execute(slot, actions);
    return result;
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::execute(Slot& slot, const Actions& actions) {
  const std::span<const Action> list = actions.list();
  if (actions.output_used() != 0) {
    slot.output.commit(actions.output_used());
    mark_dirty(slot);
  }
  // What was encoded is stored before any callback runs: a callback may send too, and then the bytes may move.
  for (const Action& action : list) {
    if (action.kind == ActionKind::send) {
      ++slot.counts.messages_out;
      if (action.keep) slot.store.append(action.seq, action.bytes, now_.utc);
      observe(slot, Direction::out, action.bytes);
    } else if (action.kind == ActionKind::reset_store) {
      slot.store.reset(now_.utc);
    }
  }
  slot.store.set_next_outbound(slot.session.next_outbound(), now_.utc);
  for (const Action& action : list) execute_one(slot, action);
  slot.store.set_next_inbound(slot.session.next_inbound(), now_.utc);
  if (slot.durable_store != nullptr && (slot.durable_store->condition() >= StoreCondition::full ||
                                        slot.store.counts().refused != slot.records_refused)) [[unlikely]]
    check_store(slot);
  if (slot.session.next_deadline() < deadlines_.due(slot.index)) rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::execute_one(Slot& slot, const Action& action) {
  switch (action.kind) {
    case ActionKind::send:
    case ActionKind::reset_store: return;
    case ActionKind::deliver:
      if (action.report != nullptr) {
        ++slot.counts.reported;
        application_.on_violations(slot, *action.message, *action.report);
      }
      return application_.on_message(slot, *action.message);
    case ActionKind::deliver_reject:
      log_event(slot, "the peer rejected a message", action.message->get_view(Tag::Text));
      return application_.on_reject(slot, *action.message);
    case ActionKind::logged_on:
      slot.failures = 0;
      slot.reached = slot.up = true;
      slot.cancel_at = MonotonicTime::max();
      ++slot.counts.logons;
      log_event(slot, "logged on");
      return application_.on_logon(slot);
    case ActionKind::logged_out: {
      const bool was_up = std::exchange(slot.up, false);
      log_event(slot, "logged out", action.text);
      application_.on_logout(slot, action.text);
      const bool wanted =
          action.ending == Ending::logout ? slot.settings.cancel_on_logout : slot.settings.cancel_on_disconnect;
      // Called from the timers, so that a handler that sends or connects finds the session at rest.
      if (!was_up || !wanted) return;
      slot.cancel_reason = action.text;
      slot.cancel_at = now_.monotonic + slot.settings.cancel_delay;
      return rearm(slot);
    }
    case ActionKind::replay:
      if (!slot.in_replay_list) {
        pump_replay(slot);
        if (slot.in_replay_list) replaying_.push_back(slot.index);
      }
      return;
    case ActionKind::disconnect:
      if (slot.connection == no_connection) return;
      // The last words of a session are few, and wait for the disk here: there is no later.
      if (slot.durable_store != nullptr && slot.durable_store->holds_back() && !slot.output.empty())
        static_cast<void>(slot.durable_store->wait_durable(slot.durable_store->position()));
      flush(slot);
      transport_.close(slot.connection);
      return detach(slot);
    case ActionKind::notice:
      if (action.notice == Notice::message_rejected) ++slot.counts.rejected;
      if (action.notice == Notice::gap_detected || action.notice == Notice::gap_request_repeated)
        ++slot.counts.resend_requests;
      if (action.notice == Notice::queue_full) ++slot.counts.queue_drops;
      if (action.notice == Notice::throttled) ++slot.counts.throttled;
      return tell(slot, action.notice, action.seq, action.text);
  }
}

}  // namespace nfx
