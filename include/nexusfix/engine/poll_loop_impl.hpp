// The bodies of PollLoop; included by poll_loop.hpp alone.
#pragma once

#include <algorithm>
#include <cstring>

#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

inline constexpr std::uint32_t no_slot = UINT32_MAX;

[[nodiscard]] inline std::string identity_key(std::string_view begin_string, std::string_view ours,
                                              std::string_view peers) {
  std::string key{begin_string};
  key += soh;
  key += ours;
  key += soh;
  key += peers;
  return key;
}

template <Transport T, Clock C>
PollLoop<T, C>::PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock,
                         Application& application)
    : config_(config),
      transport_(transport),
      clock_(clock),
      application_(application),
      now_(clock.now()),
      jitter_(static_cast<std::uint64_t>(now_.utc.time_since_epoch().count()) + thread),
      slot_of_session_(config.sessions.size(), no_slot),
      pending_(config.max_pending_logons),
      deadlines_(config.sessions.size()),
      frames_(config.max_message_size),
      message_(config.max_fields),
      queued_message_(config.max_fields),
      replayed_message_(config.max_fields) {
  for (std::size_t id = 0; id < config.sessions.size(); ++id) {
    const SessionSettings& settings = config.sessions[id];
    if (settings.poll_thread != thread) continue;
    const auto index = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(std::make_unique<Slot>(*this, settings, id, index, config.max_message_size, now_.utc));
    slot_of_session_[id] = index;
    const SessionConfig& session = settings.session;
    if (session.role == Role::acceptor) {
      by_identity_.emplace(identity_key(session.begin_string, session.sender_comp_id, session.target_comp_id), index);
    }
  }
  dirty_.reserve(slots_.size());
  replaying_.reserve(slots_.size());
  owners_.resize(slots_.size() + config.max_pending_logons + 1);
}

template <Transport T, Clock C>
void PollLoop<T, C>::start() {
  for (const auto& slot : slots_) {
    if (slot->settings.session.role == Role::initiator) {
      begin_connect(*slot);
      continue;
    }
    const Endpoint& endpoint = slot->settings.listen;
    if (std::ranges::any_of(listening_, [&](const Listening& l) { return l.configured == endpoint; })) continue;
    auto listener = transport_.listen(endpoint);
    if (!listener)
      throw ConfigError("cannot listen: " + listener.error().text() + "; choose a free address for 'listen'");
    listening_.push_back({*listener, endpoint});
  }
}

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::turn(Duration max_wait) {
  now_ = clock_.now();
  std::size_t work = 0;
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
  const auto can_go_on = [this](std::uint32_t index) { return slots_[index]->output.pending().size() < replay_batch; };
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
  return stopping_ && transport_.lingering() == 0 &&
         std::ranges::all_of(slots_, [](const auto& slot) { return slot->connection == no_connection; });
}

template <Transport T, Clock C>
bool PollLoop<T, C>::submit(std::size_t session, std::string_view msg_type, std::string_view body) noexcept {
  if (!submissions_.try_push(static_cast<std::uint32_t>(session), msg_type, body)) return false;
  transport_.wake();
  return true;
}

template <Transport T, Clock C>
void PollLoop<T, C>::submit_pending() {
  submissions_.drain([this](std::uint32_t session, std::string_view msg_type, std::string_view body) {
    SessionHandle* handle = find(session);
    if (handle == nullptr) return;
    if (const auto sent = handle->send({.msg_type = msg_type, .body = body}); !sent) {
      application_.on_notice(*handle, Notice::not_sent, SeqNum{}, to_string(sent.error()));
    }
  });
}

template <Transport T, Clock C>
SessionHandle* PollLoop<T, C>::find(std::size_t session) noexcept {
  if (session >= slot_of_session_.size() || slot_of_session_[session] == no_slot) return nullptr;
  return slots_[slot_of_session_[session]].get();
}

template <Transport T, Clock C>
std::optional<Endpoint> PollLoop<T, C>::local_endpoint(const Endpoint& configured) const {
  for (const Listening& listening : listening_) {
    if (listening.configured == configured) return transport_.local_endpoint(listening.id);
  }
  return std::nullopt;
}

// Connections and whom they belong to.

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
void PollLoop<T, C>::on_accept(ListenerId listener, ConnectionId id, std::string_view) {
  ++counters_.pending_accepted;
  const auto free = std::ranges::find(pending_, no_connection, &Pending::id);
  if (free == pending_.end() || stopping_) {
    ++counters_.pending_refused;
    transport_.close(id);
    return;
  }
  now_ = clock_.now();
  free->id = id;
  free->listener = listener;
  free->size = 0;
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
  std::memcpy(pending.bytes.get() + pending.size, bytes.data(), taken);
  pending.size += taken;
  const std::string_view received{pending.bytes.get(), pending.size};
  const Frame frame = next_frame(received, config_.pending_logon_bytes);
  if (frame.status == FrameStatus::need_more && pending.size < config_.pending_logon_bytes) return;
  const ConnectionId id = pending.id;
  Slot* slot = nullptr;
  if (frame.status == FrameStatus::complete && message_.parse(received.substr(0, frame.size)) == WireError::none) {
    slot = slot_for_logon(message_, pending.listener);
  }
  if (slot == nullptr || slot->connection != no_connection) {
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
auto PollLoop<T, C>::slot_for_logon(const MessageView& logon, ListenerId listener) noexcept -> Slot* {
  if (logon.msg_type() != msg_type::logon) return nullptr;
  const auto found = by_identity_.find(
      identity_key(logon.begin_string(), logon.get_view(Tag::TargetCompID), logon.get_view(Tag::SenderCompID)));
  if (found == by_identity_.end()) return nullptr;
  Slot& slot = *slots_[found->second];
  const auto here = std::ranges::find(listening_, listener, &Listening::id);
  return here != listening_.end() && here->configured == slot.settings.listen && slot.enabled ? &slot : nullptr;
}

template <Transport T, Clock C>
void PollLoop<T, C>::attach(Slot& slot, ConnectionId id) {
  set_owner(id, Owner::Kind::session, slot.index);
  slot.connection = id;
  slot.connecting = slot.blocked = false;
  slot.partial_size = 0;
  slot.output.clear();
  step(slot, 0, [&](Actions& out) { slot.session.on_connect(now_, out); });
}

template <Transport T, Clock C>
void PollLoop<T, C>::detach(Slot& slot) noexcept {
  clear_owner(slot.connection);
  if (!slot.connecting) ++slot.counts.disconnects;
  slot.connection = no_connection;
  slot.connecting = slot.blocked = false;
  slot.partial_size = 0;
  slot.output.clear();
  schedule_reconnect(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::begin_connect(Slot& slot) {
  slot.reconnect_at = MonotonicTime::max();
  const Endpoint& endpoint = slot.settings.connect[slot.next_endpoint];
  slot.next_endpoint = (slot.next_endpoint + 1) % slot.settings.connect.size();
  const auto id = transport_.connect(endpoint);
  if (!id) {
    application_.on_notice(slot, Notice::connect_failed, SeqNum{}, id.error().text());
    return schedule_reconnect(slot);
  }
  slot.connection = *id;
  slot.connecting = true;
  set_owner(*id, Owner::Kind::session, slot.index);
  rearm(slot);
}

// Doubles with every failure since the last Logon, up to the maximum, and is never the same twice: a venue that comes
// back is not met by all its clients at once.
template <Transport T, Clock C>
void PollLoop<T, C>::schedule_reconnect(Slot& slot) noexcept {
  if (slot.settings.session.role == Role::initiator && slot.enabled && !stopping_) {
    const Duration longest = slot.settings.reconnect_delay_max;
    Duration delay = slot.settings.reconnect_delay;
    for (std::uint32_t i = 0; i < slot.failures && delay < longest; ++i) delay *= 2;
    if (slot.failures < UINT32_MAX) ++slot.failures;
    slot.reconnect_at = now_.monotonic + jitter_.spread(std::min(delay, longest));
  }
  rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_connect(ConnectionId id) {
  const Owner owner = owner_of(id);
  if (owner.kind != Owner::Kind::session) return;
  now_ = clock_.now();
  attach(*slots_[owner.index], id);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_receive(ConnectionId id, std::span<const char> bytes) {
  const Owner owner = owner_of(id);
  now_ = clock_.now();
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
  mark_dirty(*slots_[owner.index]);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_close(ConnectionId id, CloseReason reason) {
  const Owner owner = owner_of(id);
  if (owner.kind == Owner::Kind::none) return;
  now_ = clock_.now();
  clear_owner(id);
  if (owner.kind == Owner::Kind::pending) {
    pending_[owner.index].id = no_connection;
    return;
  }
  Slot& slot = *slots_[owner.index];
  if (slot.connecting) {
    application_.on_notice(slot, Notice::connect_failed, SeqNum{}, to_string(reason));
    return detach(slot);
  }
  // The session's own disconnect action detaches the slot.
  step(slot, 0, [&](Actions& out) { slot.session.on_disconnect(now_, out); });
}

// Bytes to messages.

template <Transport T, Clock C>
void PollLoop<T, C>::receive(Slot& slot, std::string_view bytes) {
  const ConnectionId id = slot.connection;
  while (!bytes.empty() && slot.connection == id) {
    if (slot.partial_size == 0) {
      const BatchEnd end = receive_batch(slot, bytes);
      bytes.remove_prefix(end.used);
      if (slot.connection != id || bytes.empty()) return;
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
    receive_item(slot, item);
    if (slot.connection != id) return false;
    if (item.bytes_behind != 0 && bytes.size() <= eager_flush_limit) flush(slot);
    return slot.connection == id;
  });
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
    application_.on_notice(slot, Notice::garbled_message, SeqNum{}, to_string(WireError::too_large));
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
  if (slot.reconnect_at <= now_.monotonic && slot.connection == no_connection) {
    begin_connect(slot);
  } else {
    step(slot, 0, [&](Actions& out) { slot.session.on_timer(now_, out); });
  }
  // Whatever it did, it must not be due at once again.
  rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::rearm(Slot& slot) noexcept {
  deadlines_.set(slot.index, std::min(slot.session.next_deadline(), slot.reconnect_at));
}

// Sending.

template <Transport T, Clock C>
void PollLoop<T, C>::mark_dirty(Slot& slot) noexcept {
  if (slot.dirty) return;
  slot.dirty = true;
  dirty_.push_back(slot.index);
}

template <Transport T, Clock C>
void PollLoop<T, C>::flush_all() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    Slot& slot = *slots_[dirty_[i]];
    slot.dirty = false;
    flush(slot);
  }
  dirty_.clear();
}

// One send for all that has gathered. What the kernel does not take waits for on_writable.
template <Transport T, Clock C>
void PollLoop<T, C>::flush(Slot& slot) {
  if (slot.connection == no_connection || slot.connecting || slot.blocked || slot.output.empty()) return;
  const std::span<const char> pending = slot.output.pending();
  const SendResult result = transport_.try_send(slot.connection, pending);
  slot.output.consume(result.sent);
  slot.blocked = !result.closed && result.sent < pending.size();
}

template <Transport T, Clock C>
void PollLoop<T, C>::pump_replay(Slot& slot) {
  std::uint64_t not_kept = 0;
  const auto read = [&](SeqNum seq) -> std::optional<std::string_view> {
    const auto kept = slot.store.read(seq);
    if (!kept) {
      // A session message is never kept, and nothing is lost with it; what the store gave up may have been an order.
      if (seq < slot.store.oldest_kept() && slot.store.counts().evicted != 0) ++not_kept;
      return std::nullopt;
    }
    if (replayed_message_.parse(*kept) != WireError::none) return std::nullopt;
    slot.looking_on = true;
    const bool wanted = application_.on_resend(slot, replayed_message_);
    slot.looking_on = false;
    return wanted ? kept : std::nullopt;
  };
  // Resent messages leave room for live ones: they wait while much is on its way already.
  std::size_t sent = 0;
  while (slot.session.replaying() && slot.output.pending().size() < replay_batch && sent < replay_batch) {
    const std::size_t before = slot.output.pending().size();
    const bool done = step(slot, admin_reserve, [&](Actions& out) {
      slot.session.continue_replay(read, replayed_message_, now_, out);
      slot.counts.resent += static_cast<std::uint64_t>(std::ranges::count(out.list(), true, &Action::resent));
      return out.list().empty();
    });
    const std::size_t after = slot.output.pending().size();
    sent += after > before ? after - before : 0;
    if (done) break;
  }
  slot.in_replay_list = slot.session.replaying();
  if (not_kept == 0) return;
  slot.counts.resend_not_kept += not_kept;
  application_.on_notice(slot, Notice::resend_not_kept, slot.store.oldest_kept(),
                         "raise retain_messages or retain_bytes");
}

template <Transport T, Clock C>
void PollLoop<T, C>::log_everyone_out() {
  stopping_ = true;
  for (const auto& slot : slots_) {
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
void PollLoop<T, C>::observe(Slot& slot, Direction direction, std::string_view message) {
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
      if (action.keep) slot.store.append(action.seq, action.bytes);
      observe(slot, Direction::out, action.bytes);
    } else if (action.kind == ActionKind::reset_store) {
      slot.store.reset(now_.utc);
    }
  }
  slot.store.set_next_outbound(slot.session.next_outbound());
  for (const Action& action : list) execute_one(slot, action);
  slot.store.set_next_inbound(slot.session.next_inbound());
  if (slot.session.next_deadline() < deadlines_.due(slot.index)) rearm(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::execute_one(Slot& slot, const Action& action) {
  switch (action.kind) {
    case ActionKind::send:
    case ActionKind::reset_store: return;
    case ActionKind::deliver: return application_.on_message(slot, *action.message);
    case ActionKind::deliver_reject: return application_.on_reject(slot, *action.message);
    case ActionKind::logged_on:
      slot.failures = 0;
      ++slot.counts.logons;
      return application_.on_logon(slot);
    case ActionKind::logged_out: return application_.on_logout(slot, action.text);
    case ActionKind::replay:
      if (!slot.in_replay_list) {
        pump_replay(slot);
        if (slot.in_replay_list) replaying_.push_back(slot.index);
      }
      return;
    case ActionKind::disconnect:
      if (slot.connection == no_connection) return;
      flush(slot);
      transport_.close(slot.connection);
      return detach(slot);
    case ActionKind::notice:
      if (action.notice == Notice::message_rejected) ++slot.counts.rejected;
      if (action.notice == Notice::gap_detected || action.notice == Notice::gap_request_repeated)
        ++slot.counts.resend_requests;
      if (action.notice == Notice::queue_full) ++slot.counts.queue_drops;
      return application_.on_notice(slot, action.notice, action.seq, action.text);
  }
}

}  // namespace nfx
