// The bodies of PollLoop: sessions that come and go, those that templates make, and their time. Included by
// poll_loop.hpp alone.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "nexusfix/config/wildcard.hpp"
#include "nexusfix/engine/poll_loop.hpp"
#include "nexusfix/engine/poll_loop_slot.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {

[[nodiscard]] inline SessionKey key_of(const SessionConfig& session, std::string_view listen) noexcept {
  return {listen, session.begin_string, session.sender_comp_id, session.target_comp_id};
}

template <Transport T, Clock C>
PollLoop<T, C>::PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock,
                         Application& application, SessionStores& stores)
    : config_(config),
      transport_(transport),
      clock_(clock),
      application_(application),
      stores_(stores),
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
  for (std::vector<std::uint32_t>* list : {&dirty_, &replaying_, &waiting_, &leaving_}) list->reserve(most);
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
  listening_.push_back({*listener, endpoint, to_string(endpoint)});
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
  if (adopted.may_park()) resumed_.reserve(Slot::parking_space);
  if (adopted.session_id < slot_of_session_.size()) {
    slot_of_session_[adopted.session_id] = index;
  } else {
    index_.add(adopted.session_id, index);
  }
  const SessionConfig& session = adopted.settings.session;
  if (session.role == Role::acceptor) {
    index_.add(key_of(session, adopted.listen_name), index);
  }
  return adopted;
}

// An initiator connects, where its time has come.
template <Transport T, Clock C>
void PollLoop<T, C>::begin_session(Slot& slot) {
  if (slot.settings.schedule) return apply_schedule(slot);
  if (slot.settings.session.role == Role::initiator) begin_connect(slot);
}

template <Transport T, Clock C>
void PollLoop<T, C>::figures(std::vector<SessionFigures>& into) const {
  into.resize(slots_.size());
  std::size_t count = 0;
  for (const auto& slot : slots_) {
    if (slot == nullptr) continue;
    SessionFigures& of = into[count++];
    of.identity = slot->name;
    of.counters = slot->counts;
    of.logged_on = slot->logged_on();
    of.next_inbound = slot->next_inbound();
    of.next_outbound = slot->next_outbound();
    of.journal.reset();
    if (slot->durable_store != nullptr) {
      of.journal = slot->durable_store->counters();
      of.store_condition = slot->durable_store->condition();
    }
  }
  into.resize(count);
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

// Gives back what claim() took. The caller holds the mutex.
template <Transport T, Clock C>
void PollLoop<T, C>::disclaim(const std::string& name) {
  identities_.erase(name);
  --dynamic_count_;
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
  const std::string name = identity(settings.session);
  std::size_t id = 0;
  {
    const std::lock_guard lock{command_mutex_};
    id = claim(name);
  }
  Command command{};
  try {
    // Its memory is reserved on this thread, not on the one that serves the others; and without the mutex, since
    // opening a journal waits for the disk.
    command.added =
        std::make_unique<Slot>(*this, std::move(settings), id, config_.max_message_size, clock_.any_thread_now().utc);
  } catch (...) {
    const std::lock_guard lock{command_mutex_};
    disclaim(name);
    throw;
  }
  const std::lock_guard lock{command_mutex_};
  commands_.push_back(std::move(command));
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
    if (command.opened != 0) {
      opened_elsewhere(command);
      continue;
    }
    if (command.added == nullptr) {
      begin_removal(command.removed, command.text);
      continue;
    }
    Slot& slot = adopt(std::move(command.added));
    if (logs_.name_session) logs_.name_session(slot.session_id, &slot.name);
    application_.on_added(slot);
    try {
      if (slot.settings.session.role == Role::acceptor) ensure_listener(slot.settings.listen, slot.settings.socket);
    } catch (const ConfigError& error) {
      tell(slot, Notice::connect_failed, SeqNum{}, error.what());
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
    if (logs_.name_session) logs_.name_session(slot.session_id, nullptr);
    const SessionConfig& session = slot.settings.session;
    const bool dynamic = slot.session_id >= slot_of_session_.size();
    if (dynamic) {
      index_.remove(slot.session_id);
    } else {
      slot_of_session_[slot.session_id] = no_slot;
    }
    if (session.role == Role::acceptor) {
      index_.remove(key_of(session, slot.listen_name));
    }
    deadlines_.set(index, MonotonicTime::max());
    std::erase(dirty_, index);
    std::erase(replaying_, index);
    std::erase(waiting_, index);
    {
      const std::lock_guard lock{command_mutex_};
      identities_.erase(identity(session));
      if (dynamic) --dynamic_count_;
    }
    slots_[index].reset();
  }
}

// A session for somebody whom a template describes, once the application has agreed. Memory is reserved here and now: a
// first Logon costs the sessions beside it some microseconds. A journal is opened elsewhere, and the Logon waits.
template <Transport T, Clock C>
auto PollLoop<T, C>::make_from_template(const MessageView& logon, Pending& pending) -> Slot* {
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
  const bool on_disk = settings.store_kind == StoreKind::journal;
  const std::string name = identity(settings.session);
  std::size_t id = 0;
  try {
    const std::lock_guard lock{command_mutex_};
    id = claim(name);
  } catch (const ConfigError&) {
    ++counters_.dynamic_refused;
    return nullptr;
  }
  const auto make = [this, id, settings = std::make_shared<SessionSettings>(std::move(settings))] {
    Command command{nullptr, 0, {}, id, identity(settings->session)};
    try {
      command.added =
          std::make_unique<Slot>(*this, *settings, id, config_.max_message_size, clock_.any_thread_now().utc);
    } catch (const std::exception& error) {
      command.text = error.what();
    }
    return command;
  };
  const auto make_elsewhere = [this, make] {
    Command command = make();
    const std::lock_guard lock{command_mutex_};
    commands_.push_back(std::move(command));
    has_commands_.store(true, std::memory_order_release);
    transport_.wake();
  };
  if (on_disk && stores_.later(name, make_elsewhere)) {
    pending.opening = id;
    transport_.hold(pending.id, true);
    return nullptr;
  }
  Command command = make();
  return opened(command);
}

// The session of a Logon is there, or could not be made: then its Logon is dropped.
template <Transport T, Clock C>
auto PollLoop<T, C>::opened(Command& command) -> Slot* {
  if (command.added == nullptr) {
    {
      const std::lock_guard lock{command_mutex_};
      disclaim(command.name);
    }
    application_.on_store_alert(command.name + ": " + command.text);
    return nullptr;
  }
  Slot& slot = adopt(std::move(command.added));
  if (logs_.name_session) logs_.name_session(slot.session_id, &slot.name);
  application_.on_added(slot);
  if (slot.settings.schedule) apply_schedule(slot);
  return &slot;
}

// What was opened elsewhere has come; the Logon that asked for it, if it still waits, is looked at again.
template <Transport T, Clock C>
void PollLoop<T, C>::opened_elsewhere(Command& command) {
  const bool there = opened(command) != nullptr;
  const auto asking = std::ranges::find(pending_, command.opened, &Pending::opening);
  if (asking == pending_.end()) return;
  const auto index = static_cast<std::uint32_t>(asking - pending_.begin());
  if (!there || stopping_) {
    ++counters_.pending_rejected;
    return drop_pending(index);
  }
  asking->opening = 0;
  transport_.hold(asking->id, false);
  const std::string rest = std::exchange(asking->rest, {});
  receive_pending(index, rest);
}

// The session's time.

// Whether a boundary that resets the numbers lies between `since` and `now`. A clock that is set back in front of the
// boundary that the numbering began with begins no other; one that was wrong by half a day and more when it began does.
[[nodiscard]] inline bool another_session(const Schedule& schedule, UtcTime since, UtcTime now) {
  const bool set_back = now < since && since - now < std::chrono::hours{12};
  return !set_back && !schedule.same_session(since, now);
}

template <Transport T, Clock C>
void PollLoop<T, C>::start_over_when_due(Slot& slot) {
  const auto& schedule = slot.settings.schedule;
  if (!schedule || slot.connection != no_connection) return;
  if (!another_session(*schedule, slot.store.creation_time(), now_.utc)) return;
  tell(slot, Notice::schedule, SeqNum{}, "a new session: sequence numbers start at 1");
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
    const bool over = !open || (another_session(*schedule, since, now_.utc) && then != schedule->session_at(now_.utc));
    if (over && slot.session.logged_on()) {
      tell(slot, Notice::schedule, SeqNum{}, "the session's time is over");
      step(slot, 0, [&](Actions& out) { slot.session.logout("the session's time is over", now_, out); });
    } else if (!over && initiator && another_session(*schedule, since, now_.utc) && slot.session.logged_on()) {
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
