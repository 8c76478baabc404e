// The bodies of PollLoop: sessions that come and go, those that templates make, and their time. Included by
// poll_loop.hpp alone.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"
#include "nexusfix/engine/wildcard.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {

template <Transport T, Clock C>
PollLoop<T, C>::PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock,
                         Application& application)
    : config_(config),
      transport_(transport),
      clock_(clock),
      application_(application),
      now_(clock.now()),
      jitter_(static_cast<std::uint64_t>(now_.utc.time_since_epoch().count()) + thread),
      thread_(thread),
      slot_of_session_(config.sessions.size(), no_slot),
      pending_(config.max_pending_logons),
      deadlines_(config.sessions.size() + config.max_dynamic_sessions),
      frames_(config.max_message_size),
      message_(config.max_fields),
      queued_message_(config.max_fields),
      replayed_message_(config.max_fields) {
  const std::size_t most = config.sessions.size() + config.max_dynamic_sessions;
  for (std::vector<std::uint32_t>* list : {&dirty_, &replaying_, &leaving_}) list->reserve(most);
  slots_.reserve(most);
  owners_.resize(most + config.max_pending_logons + 1);
  for (std::size_t id = 0; id < config.sessions.size(); ++id) {
    const SessionSettings& settings = config.sessions[id];
    if (settings.poll_thread != thread) continue;
    if (settings.is_template) {
      templates_.push_back(&settings);
      continue;
    }
    identities_.insert(identity(settings.session));
    adopt(std::make_unique<Slot>(*this, settings, id, config.max_message_size, now_.utc));
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::start() {
  now_ = clock_.now();
  for (const SessionSettings& settings : config_.sessions) {
    if (settings.poll_thread != thread_ || settings.session.role == Role::initiator) continue;
    ensure_listener(settings.listen, settings.socket);
  }
  for (const auto& slot : slots_) begin_session(*slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::ensure_listener(const Endpoint& endpoint, const SocketOptions& options) {
  if (std::ranges::any_of(listening_, [&](const Listening& l) { return l.configured == endpoint; })) return;
  auto listener = transport_.listen(endpoint, options);
  if (!listener)
    throw ConfigError("cannot listen: " + listener.error().text() + "; choose a free address for 'listen'");
  listening_.push_back({*listener, endpoint});
}

// Gives a session its place in this loop.
template <Transport T, Clock C>
auto PollLoop<T, C>::adopt(std::unique_ptr<Slot> slot) -> Slot& {
  const auto free = std::ranges::find_if(slots_, [](const auto& each) { return each == nullptr; });
  const auto index = static_cast<std::uint32_t>(free - slots_.begin());
  if (free == slots_.end()) slots_.emplace_back();
  slots_[index] = std::move(slot);
  Slot& adopted = *slots_[index];
  adopted.index = index;
  if (adopted.delays()) resumed_.reserve(Slot::parking_space);
  if (adopted.session_id < slot_of_session_.size()) {
    slot_of_session_[adopted.session_id] = index;
  } else {
    slot_of_dynamic_.emplace(adopted.session_id, index);
  }
  const SessionConfig& session = adopted.settings.session;
  if (session.role == Role::acceptor) {
    by_identity_.emplace(identity_key(session, adopted.settings.listen), index);
  }
  return adopted;
}

// An initiator connects, where its time has come.
template <Transport T, Clock C>
void PollLoop<T, C>::begin_session(Slot& slot) {
  if (slot.settings.schedule) return apply_schedule(slot);
  if (slot.settings.session.role == Role::initiator) begin_connect(slot);
}

// Sessions that come and go.

// Makes sure that there is room for one more of this name, and gives it its number. The caller holds the mutex.
template <Transport T, Clock C>
std::size_t PollLoop<T, C>::claim(const std::string& name) {
  if (identities_.contains(name)) throw ConfigError("the session " + name + " exists already");
  if (dynamic_count_ == config_.max_dynamic_sessions) {
    throw ConfigError("there are " + std::to_string(dynamic_count_) +
                      " sessions that were added or made from templates: raise [engine] max_dynamic_sessions");
  }
  identities_.insert(name);
  ++dynamic_count_;
  return config_.sessions.size() + dynamic_made_++ * config_.poll_threads + thread_;
}

template <Transport T, Clock C>
bool PollLoop<T, C>::knows(const std::string& name) {
  const std::lock_guard lock{command_mutex_};
  return identities_.contains(name);
}

// Whether there has ever been a session of this number.
template <Transport T, Clock C>
bool PollLoop<T, C>::may_exist(std::size_t session) const noexcept {
  const std::size_t configured = config_.sessions.size();
  if (session < configured) return !config_.sessions[session].is_template;
  return (session - configured) / config_.poll_threads < dynamic_made_.load(std::memory_order_acquire);
}

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::add(SessionSettings settings) {
  const std::lock_guard lock{command_mutex_};
  const std::size_t id = claim(identity(settings.session));
  // Its memory is reserved on this thread, not on the one that serves the others.
  commands_.push_back(
      {std::make_unique<Slot>(*this, std::move(settings), id, config_.max_message_size, clock_.now().utc), 0, {}});
  has_commands_.store(true, std::memory_order_release);
  transport_.wake();
  return id;
}

template <Transport T, Clock C>
bool PollLoop<T, C>::remove(std::size_t session, std::string text) {
  const std::lock_guard lock{command_mutex_};
  const bool asked = std::ranges::any_of(
      commands_, [&](const Command& each) { return each.added == nullptr && each.removed == session; });
  if (asked) return true;
  if (!may_exist(session)) return false;
  commands_.push_back({nullptr, session, std::move(text)});
  has_commands_.store(true, std::memory_order_release);
  transport_.wake();
  return true;
}

template <Transport T, Clock C>
void PollLoop<T, C>::take_commands() {
  std::vector<Command> taken;
  {
    const std::lock_guard lock{command_mutex_};
    taken.swap(commands_);
    has_commands_.store(false, std::memory_order_release);
  }
  for (Command& command : taken) {
    if (command.added == nullptr) {
      begin_removal(command.removed, command.text);
      continue;
    }
    Slot& slot = adopt(std::move(command.added));
    application_.on_added(slot);
    try {
      if (slot.settings.session.role == Role::acceptor) ensure_listener(slot.settings.listen, slot.settings.socket);
    } catch (const ConfigError& error) {
      application_.on_notice(slot, Notice::connect_failed, SeqNum{}, error.what());
    }
    if (stopping_) {
      slot.enabled = false;
    } else {
      begin_session(slot);
    }
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::begin_removal(std::size_t session, std::string_view text) {
  auto* slot = static_cast<Slot*>(find(session));
  if (slot == nullptr || std::exchange(slot->removing, true)) return;
  slot->logout(text);
  slot->reconnect_at = MonotonicTime::max();
  if (slot->connection == no_connection) leaving_.push_back(slot->index);
}

// Removes the sessions whose connections have ended. Between events, so that nobody is in the middle of one.
template <Transport T, Clock C>
void PollLoop<T, C>::retire() {
  std::ranges::sort(leaving_);
  leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
  for (const std::uint32_t index : std::exchange(leaving_, {})) {
    Slot& slot = *slots_[index];
    if (slot.connection != no_connection) continue;  // its end brings it here again
    application_.on_removed(slot);
    const SessionConfig& session = slot.settings.session;
    const bool dynamic = slot.session_id >= slot_of_session_.size();
    if (dynamic) {
      slot_of_dynamic_.erase(slot.session_id);
    } else {
      slot_of_session_[slot.session_id] = no_slot;
    }
    if (session.role == Role::acceptor) {
      by_identity_.erase(identity_key(session, slot.settings.listen));
    }
    deadlines_.set(index, MonotonicTime::max());
    std::erase(dirty_, index);
    std::erase(replaying_, index);
    {
      const std::lock_guard lock{command_mutex_};
      identities_.erase(identity(session));
      if (dynamic) --dynamic_count_;
    }
    slots_[index].reset();
  }
}

// A session for somebody whom a template describes, once the application has agreed. Its memory is reserved here and
// now: a first Logon costs the sessions beside it some microseconds.
template <Transport T, Clock C>
auto PollLoop<T, C>::make_from_template(const MessageView& logon, const Pending& pending) -> Slot* {
  if (stopping_) return nullptr;
  const std::string_view ours = logon.get_view(Tag::TargetCompID);
  const std::string_view peers = logon.get_view(Tag::SenderCompID);
  if (!usable_comp_id(ours) || !usable_comp_id(peers)) return nullptr;
  const auto fits = [&](const SessionSettings* settings) {
    const SessionConfig& session = settings->session;
    return session.begin_string == logon.begin_string() && listens_at(pending.listener, settings->listen) &&
           matches_wildcard(session.sender_comp_id, ours) && matches_wildcard(session.target_comp_id, peers);
  };
  const auto found = std::ranges::find_if(templates_, fits);
  if (found == templates_.end()) return nullptr;
  SessionSettings settings = **found;
  settings.is_template = false;
  settings.session.sender_comp_id = ours;
  settings.session.target_comp_id = peers;
  if (settings.schedule && !settings.schedule->logon_allowed(now_.utc)) return nullptr;
  if (!may_log_on(settings, logon, pending, true)) return nullptr;
  std::size_t id = 0;
  try {
    const std::lock_guard lock{command_mutex_};
    id = claim(identity(settings.session));
  } catch (const ConfigError&) {
    ++counters_.dynamic_refused;
    return nullptr;
  }
  Slot& slot = adopt(std::make_unique<Slot>(*this, std::move(settings), id, config_.max_message_size, now_.utc));
  application_.on_added(slot);
  if (slot.settings.schedule) apply_schedule(slot);
  return &slot;
}

// The session's time.

// Whether a boundary that resets the numbers lies between the store's beginning and now.
template <Transport T, Clock C>
void PollLoop<T, C>::start_over_when_due(Slot& slot) {
  const auto& schedule = slot.settings.schedule;
  if (!schedule || slot.connection != no_connection) return;
  if (schedule->same_session(slot.store.creation_time(), now_.utc)) return;
  application_.on_notice(slot, Notice::schedule, SeqNum{}, "a new session: sequence numbers start at 1");
  step(slot, 0, [&](Actions& out) { slot.session.start_over(out); });
}

// Brings a session to where its schedule wants it now, and says when to look again.
template <Transport T, Clock C>
void PollLoop<T, C>::apply_schedule(Slot& slot) {
  const auto& schedule = slot.settings.schedule;
  if (!schedule) return;
  start_over_when_due(slot);
  const bool open = schedule->logon_allowed(now_.utc);
  const UtcTime since = slot.store.creation_time();
  const bool initiator = slot.settings.session.role == Role::initiator;
  if (slot.connection != no_connection && !slot.connecting) {
    const auto then = schedule->session_at(since);
    const bool over = !open || (!schedule->same_session(since, now_.utc) && then != schedule->session_at(now_.utc));
    if (over && slot.session.logged_on()) {
      application_.on_notice(slot, Notice::schedule, SeqNum{}, "the session's time is over");
      step(slot, 0, [&](Actions& out) { slot.session.logout("the session's time is over", now_, out); });
    } else if (!over && initiator && !schedule->same_session(since, now_.utc) && slot.session.logged_on()) {
      // A reset within the session: the initiator asks for it on the open connection.
      step(slot, 0, [&](Actions& out) { slot.session.reset_sequence_numbers(now_, out); });
    }
  } else if (open && initiator && slot.enabled && !stopping_ && slot.connection == no_connection &&
             slot.reconnect_at == MonotonicTime::max()) {
    slot.failures = 0;
    begin_connect(slot);
  }
  const UtcTime boundary = schedule->next_boundary(now_.utc);
  slot.schedule_at = boundary == UtcTime::max()
                         ? MonotonicTime::max()
                         : now_.monotonic + std::min(schedule_check, Duration{boundary - now_.utc});
  rearm(slot);
}

}  // namespace nfx
