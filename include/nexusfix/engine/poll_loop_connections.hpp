// The bodies of PollLoop: connections, whom they belong to, and which address is tried next. Included by poll_loop.hpp
// alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"
#include "nexusfix/session/schedule.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

inline constexpr std::uint32_t no_slot = UINT32_MAX;

template <Transport T, Clock C>
auto PollLoop<T, C>::owner_of(ConnectionId id) const noexcept -> Owner {
  const std::uint32_t place = slot_of(id);
  if (place >= owners_.size() || owners_[place].id != id) return {};
  return owners_[place];
}

template <Transport T, Clock C>
void PollLoop<T, C>::set_owner(ConnectionId id, typename Owner::Kind kind, std::uint32_t index) {
  const std::uint32_t place = slot_of(id);
  if (place >= owners_.size()) owners_.resize(place + 1);
  owners_[place] = {kind, index, id};
}

template <Transport T, Clock C>
void PollLoop<T, C>::clear_owner(ConnectionId id) noexcept {
  const std::uint32_t place = slot_of(id);
  if (place < owners_.size() && owners_[place].id == id) owners_[place] = {};
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_accept(ListenerId listener, ConnectionId id, std::string_view peer) {
  ++counters_.pending_accepted;
  const auto free = std::ranges::find(pending_, no_connection, &Pending::id);
  if (free == pending_.end() || stopping_) {
    ++counters_.pending_refused;
    transport_.close(id);
    return;
  }
  look_at_clock();
  free->id = id;
  free->listener = listener;
  free->peer = peer;
  free->size = 0;
  free->opening = 0;
  free->deadline = now_.monotonic + config_.pending_logon_timeout;
  if (!free->bytes) free->bytes = std::make_unique_for_overwrite<char[]>(config_.pending_logon_bytes);
  pending_deadline_ = std::min(pending_deadline_, free->deadline);
  set_owner(id, Owner::Kind::pending, static_cast<std::uint32_t>(free - pending_.begin()));
}

template <Transport T, Clock C>
void PollLoop<T, C>::drop_pending(std::uint32_t index) noexcept {
  Pending& pending = pending_[index];
  clear_owner(pending.id);
  transport_.close(pending.id);
  pending.id = no_connection;
  pending.opening = 0;
}

template <Transport T, Clock C>
void PollLoop<T, C>::expire_pending() noexcept {
  pending_deadline_ = MonotonicTime::max();
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].id == no_connection) continue;
    if (pending_[i].deadline <= now_.monotonic) {
      ++counters_.pending_timed_out;
      drop_pending(i);
    } else {
      pending_deadline_ = std::min(pending_deadline_, pending_[i].deadline);
    }
  }
}

// Collects the first message of a connection in its small buffer, and hands connection and bytes to the session it
// names.
template <Transport T, Clock C>
void PollLoop<T, C>::receive_pending(std::uint32_t index, std::span<const char> bytes) {
  Pending& pending = pending_[index];
  const std::size_t taken = std::min(bytes.size(), config_.pending_logon_bytes - pending.size);
  if (taken != 0) std::memcpy(pending.bytes.get() + pending.size, bytes.data(), taken);
  pending.size += taken;
  const std::string_view received{pending.bytes.get(), pending.size};
  const Frame frame = next_frame(received, config_.pending_logon_bytes);
  if (frame.status == FrameStatus::need_more && pending.size < config_.pending_logon_bytes) return;
  const ConnectionId id = pending.id;
  Slot* slot = nullptr;
  if (frame.status == FrameStatus::complete && message_.parse(received.substr(0, frame.size)) == WireError::none) {
    slot = slot_for_logon(message_, pending);
  }
  if (pending.opening != 0) {
    pending.rest.assign(bytes.data() + taken, bytes.size() - taken);
    return;
  }
  if (slot == nullptr) {
    ++counters_.pending_rejected;
    return drop_pending(index);
  }
  attach(*slot, id);
  // The small buffer stays whole until its bytes are used: no other connection is accepted in between.
  receive(*slot, received);
  pending.id = no_connection;
  if (slot->connection == id) receive(*slot, {bytes.data() + taken, bytes.size() - taken});
}

template <Transport T, Clock C>
bool PollLoop<T, C>::listens_at(ListenerId listener, const Endpoint& endpoint) const noexcept {
  const auto here = std::ranges::find(listening_, listener, &Listening::id);
  return here != listening_.end() && here->configured == endpoint;
}

// The session that a Logon names, made if a template fits, where it may log on now. Null closes the connection.
template <Transport T, Clock C>
auto PollLoop<T, C>::slot_for_logon(const MessageView& logon, Pending& pending) -> Slot* {
  if (logon.msg_type() != msg_type::logon) return nullptr;
  const auto here = std::ranges::find(listening_, pending.listener, &Listening::id);
  if (here == listening_.end()) return nullptr;
  const auto found = index_.find(
      {here->name, logon.begin_string(), logon.get_view(Tag::TargetCompID), logon.get_view(Tag::SenderCompID)});
  if (!found) return make_from_template(logon, pending);
  Slot& slot = *slots_[*found];
  if (!slot.enabled || slot.connection != no_connection || !may_log_on(slot.settings, logon, pending, false)) {
    return nullptr;
  }
  if (slot.settings.schedule && !slot.settings.schedule->logon_allowed(now_.utc)) {
    tell(slot, Notice::logon_refused, SeqNum{}, "outside the session's time");
    return nullptr;
  }
  if (slot.durable_store != nullptr && !store_is_good(slot)) {
    tell(slot, Notice::logon_refused, SeqNum{}, "its store takes nothing more");
    return nullptr;
  }
  start_over_when_due(slot);
  return &slot;
}

// Who it is, before anything of the session is touched.
template <Transport T, Clock C>
bool PollLoop<T, C>::may_log_on(const SessionSettings& settings, const MessageView& logon, const Pending& pending,
                                bool is_new) {
  if (!settings.allowed_addresses.empty()) {
    const auto endpoint = Endpoint::parse(pending.peer);
    const auto address = endpoint ? canonical_address(endpoint->host) : std::nullopt;
    const auto same = [&](const std::string& allowed) { return canonical_address(allowed) == address; };
    if (!address || std::ranges::none_of(settings.allowed_addresses, same)) return false;
  }
  return application_.on_logon_request({settings.session, logon, pending.peer, is_new});
}

template <Transport T, Clock C>
void PollLoop<T, C>::attach(Slot& slot, ConnectionId id) {
  set_owner(id, Owner::Kind::session, slot.index);
  slot.connection = id;
  slot.connecting = slot.blocked = false;
  slot.partial_size = 0;
  forget_output(slot);
  slot.reached = false;
  slot.connect_deadline = MonotonicTime::max();
  if (slot.settings.session.refresh_on_logon) {
    slot.session.restore(slot.store.next_inbound(), slot.store.next_outbound());
  }
  step(slot, 0, [&](Actions& out) { slot.session.on_connect(now_, out); });
}

template <Transport T, Clock C>
void PollLoop<T, C>::detach(Slot& slot) noexcept {
  clear_owner(slot.connection);
  if (!slot.connecting) ++slot.counts.disconnects;
  slot.connection = no_connection;
  slot.connecting = slot.blocked = false;
  slot.partial_size = 0;
  forget_output(slot);
  slot.parked.clear();
  slot.held_until = slot.connect_deadline = slot.slow_deadline = MonotonicTime::max();
  if (slot.removing) leaving_.push_back(slot.index);
  schedule_reconnect(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::begin_connect(Slot& slot) {
  slot.reconnect_at = MonotonicTime::max();
  start_over_when_due(slot);
  // It is tried again with the next delay.
  if (slot.durable_store != nullptr && !store_is_good(slot)) return schedule_reconnect(slot);
  if (slot.endpoint == 0) slot.first_host_since = now_.monotonic;
  slot.reached = false;
  const auto id = transport_.connect(slot.settings.connect[slot.endpoint], slot.settings.socket);
  if (!id) {
    tell(slot, Notice::connect_failed, SeqNum{}, id.error().text());
    return schedule_reconnect(slot);
  }
  slot.connection = *id;
  slot.connecting = true;
  slot.connect_deadline = now_.monotonic + slot.settings.connect_timeout;
  set_owner(*id, Owner::Kind::session, slot.index);
  rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::connect_timed_out(Slot& slot) {
  tell(slot, Notice::connect_failed, SeqNum{}, "no connection within connect_timeout_s");
  transport_.close(slot.connection);
  detach(slot);
}

// Which address comes next, and when. The delay doubles with every failure since the last Logon, up to the maximum, and
// is never the same twice: a venue that comes back is not met by all its clients at once.
template <Transport T, Clock C>
void PollLoop<T, C>::schedule_reconnect(Slot& slot) noexcept {
  const SessionSettings& settings = slot.settings;
  if (settings.session.role == Role::initiator) {
    const std::size_t count = settings.connect.size();
    const bool priority = settings.host_selection == HostSelection::priority;
    const bool stale = now_.monotonic - slot.first_host_since >= settings.host_priority_restart;
    slot.endpoint = priority && (slot.reached || stale) ? 0 : (slot.endpoint + 1) % count;
  }
  const bool open = !settings.schedule || settings.schedule->logon_allowed(now_.utc);
  if (settings.session.role == Role::initiator && slot.enabled && !stopping_ && open) {
    const Duration longest = settings.reconnect_delay_max;
    Duration delay = settings.reconnect_delay;
    for (std::uint32_t i = 0; i < slot.failures && delay < longest; ++i) delay *= 2;
    if (slot.failures < UINT32_MAX) ++slot.failures;
    slot.reconnect_at = now_.monotonic + jitter_.spread(std::min(delay, longest));
  }
  rearm(slot);
}

// Throttle and journal: what has come too early waits here, what is behind it in the network.
template <Transport T, Clock C>
void PollLoop<T, C>::park(Slot& slot, std::string_view bytes, MonotonicTime until) {
  transport_.hold(slot.connection, true);
  slot.parked = bytes;
  slot.held_until = until;
  slot.session.on_held(now_);
  rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::resume(Slot& slot) {
  slot.held_until = MonotonicTime::max();
  resumed_ = slot.parked;  // copied, so that both keep the room they have reserved
  slot.parked.clear();
  const ConnectionId id = slot.connection;
  receive(slot, resumed_);
  resumed_.clear();
  if (slot.connection == id && !slot.held()) transport_.hold(id, false);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_connect(ConnectionId id) {
  const Owner owner = owner_of(id);
  if (owner.kind != Owner::Kind::session) return;
  look_at_clock();
  // Out of its time it was not to connect at all: the boundary passed while it did.
  Slot& slot = *slots_[owner.index];
  if (slot.settings.schedule && !slot.settings.schedule->logon_allowed(now_.utc)) {
    transport_.close(id);
    return detach(slot);
  }
  attach(slot, id);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_receive(ConnectionId id, std::span<const char> bytes) {
  const Owner owner = owner_of(id);
  look_at_clock();
  switch (owner.kind) {
    case Owner::Kind::none: return;
    case Owner::Kind::pending: return receive_pending(owner.index, bytes);
    case Owner::Kind::session: return receive(*slots_[owner.index], {bytes.data(), bytes.size()});
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_writable(ConnectionId id) {
  const Owner owner = owner_of(id);
  if (owner.kind != Owner::Kind::session) return;
  slots_[owner.index]->blocked = false;
  slots_[owner.index]->slow_deadline = MonotonicTime::max();
  mark_dirty(*slots_[owner.index]);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_close(ConnectionId id, CloseReason reason) {
  const Owner owner = owner_of(id);
  if (owner.kind == Owner::Kind::none) return;
  look_at_clock();
  clear_owner(id);
  const std::string_view words = words_of(id);
  if (owner.kind == Owner::Kind::pending) {
    Pending& pending = pending_[owner.index];
    pending.id = no_connection;
    pending.opening = 0;
    if (!words.empty()) on_handshake_failed(pending.peer, words);
    return;
  }
  Slot& slot = *slots_[owner.index];
  if (slot.connecting) {
    tell(slot, Notice::connect_failed, SeqNum{}, words.empty() ? to_string(reason) : words);
    return detach(slot);
  }
  // The session's own disconnect action detaches the slot.
  step(slot, 0, [&](Actions& out) { slot.session.on_disconnect(words, now_, out); });
}

template <Transport T, Clock C>
std::string_view PollLoop<T, C>::words_of(ConnectionId id) const noexcept {
  if constexpr (requires { transport_.tls_error(id); }) return transport_.tls_error(id);
  return {};
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_handshake_failed(std::string_view peer, std::string_view why) {
  look_at_clock();
  if (logs_.events) logs_.events->record(no_log_session, now_.utc, "tls: " + std::string{peer}, why);
  application_.on_tls_failure(peer, why);
}

}  // namespace nfx
