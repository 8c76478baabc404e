// Sessions that come and go, those that templates make, and the end of all.
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/session_runner.hpp"
#include "engine/start_checks.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "session/logon_check.hpp"

namespace nfx {
namespace {

bool is_lack_of_memory(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* of_the_system = dynamic_cast<const std::system_error*>(&error);
  return of_the_system != nullptr && of_the_system->code() == std::errc::not_enough_memory;
}

}  // namespace

void SessionRunner::start() {
  for (const SessionSettings& settings : config_.sessions) {
    // A replicated session listens from when this process owns it.
    if (settings.poll_thread != thread_ || settings.session.role == Role::initiator || settings.is_replicated())
      continue;
    ensure_listener(settings.listen, settings.socket);
  }
  if (hand_on_ != nullptr) listen_for_others();
  sessions_.for_each([this](LiveSession& session) {
    report_corrections(session);
    begin_session(session);
  });
}

// For the sessions that other gateways own too. Without TLS, which ends at the owner.
void SessionRunner::listen_for_others() {
  logons_.expect_gateways(config_.cluster);
  for (const SessionSettings* settings : logons_.replicated()) {
    if (settings->tls_enabled) continue;
    ensure_listener(settings->listen, settings->socket);
    logons_.expect(*settings);
  }
}

void SessionRunner::ensure_listener(const Endpoint& endpoint, const SocketOptions& options) {
  if (logons_.listener_at(endpoint)) return;
  auto listener = network_.listen(endpoint, options);
  if (!listener) throw ConfigError(cannot_listen(listener.error()));
  logons_.listening(*listener, endpoint);
}

// After the last session of its address.
void SessionRunner::close_unused_listener(const LiveSession& session) noexcept {
  if (!session.is_acceptor()) return;
  if (const auto unused = logons_.take_unused(session.settings.listen)) network_.close_listener(*unused);
}

std::unique_ptr<LiveSession> SessionRunner::make_session(SessionSettings settings, std::size_t number, UtcTime now,
                                                         bool from_template) {
  return std::make_unique<LiveSession>(*this, stores_,
                                       LiveSessionOptions{.settings = std::move(settings),
                                                          .number = number,
                                                          .max_message_size = config_.max_message_size,
                                                          .now = now,
                                                          .from_template = from_template});
}

LiveSession& SessionRunner::begin_to_exist(std::unique_ptr<LiveSession> made) {
  LiveSession& session = sessions_.add(std::move(made));
  NFX_ASSERT(!session.connection.exists());
  NFX_ASSERT(deadlines_.due(session.index) == MonotonicTime::max());
  logons_.expect(session.settings);
  submissions_.add(session.number, session.config(), session.submit_state);
  session.in_hours = may_connect_now(session);
  try {
    reports_.added(session, session.name);
  } catch (...) {
    callback_threw(session, "on_added");
  }
  return session;
}

// An initiator connects, where its time has come.
void SessionRunner::begin_session(LiveSession& session) {
  if (session.settings.schedule) return apply_schedule(session);
  if (session.is_initiator()) begin_connect(session);
}

std::size_t SessionRunner::add(SessionSettings settings, AddedSession as) {
  const std::string name = identity(settings.session);
  LoopCommand command{.kind = LoopCommand::Kind::add, .number = commands_.claim(name)};
  try {
    // Its memory is reserved on this thread, not on the poll thread.
    command.session = make_session(std::move(settings), command.number, network_.time_on_any_thread());
    command.session->enabled = as.enabled;
    static_cast<void>(command.session->session.hold_sending(as.sending_held));
  } catch (...) {
    commands_.release(name);
    throw;
  }
  const std::size_t number = command.number;
  submissions_.add(number, command.session->config(), command.session->submit_state);
  commands_.push(std::move(command));
  network_.wake();
  return number;
}

std::optional<std::uint32_t> SessionRunner::execute_command(LoopCommand& command) {
  switch (command.kind) {
    case LoopCommand::Kind::opened: return opened_elsewhere(command);
    case LoopCommand::Kind::logon_again: return logon_again(command);
    case LoopCommand::Kind::hand_on: hand_on(command); return std::nullopt;
    case LoopCommand::Kind::call: command.call->run(*this); return std::nullopt;
    case LoopCommand::Kind::remove: begin_removal(command.number, command.text); return std::nullopt;
    case LoopCommand::Kind::add: break;
  }
  LiveSession& session = begin_to_exist(std::move(command.session));
  std::erase(removed_, session.name);
  report_corrections(session);
  try {
    if (session.is_acceptor()) ensure_listener(session.settings.listen, session.settings.socket);
  } catch (const ConfigError& error) {
    // Another program has taken the address since it was checked. A replicated one stays, since its gateway owns it.
    report_notice(session, Notice::connect_failed, SeqNum{}, error.what());
    if (!session.settings.is_replicated()) {
      commands_.not_added(session.number, error.what());
      begin_removal(session.number, {});
    }
  }
  if (stopping_ || draining_) {
    session.drained = draining_ && session.enabled;
    session.enabled = false;
  } else if (session.enabled) {
    begin_session(session);
  }
  return std::nullopt;
}

// By an operator: its template does not make it again until the next start, or until it is added.
void SessionRunner::keep_removed(const LiveSession& session) {
  NFX_ASSERT(session.from_template);
  removed_.push_back(session.name);
  if (removed_.size() <= most_removed) return;
  report_notice(sessions_[session.index], Notice::operator_command, SeqNum{},
                removed_.front() + " was removed before " + std::to_string(most_removed) +
                    " others of a template, and may log on again");
  removed_.pop_front();
}

void SessionRunner::begin_removal(std::size_t number, std::string_view text) {
  LiveSession* session = sessions_.find(number);
  if (session == nullptr || std::exchange(session->removing, true)) return;
  session->removed_by_request = true;
  session->logout(text);
  session->reconnect.cancel();
  if (!session->connection.exists()) leaving_.add(session->index);
}

// Removes the sessions whose connections have ended. Between events, so that none of their callbacks is running.
void SessionRunner::retire() {
  std::vector<std::uint32_t> leaving = leaving_.items();
  leaving_.drain([](std::uint32_t) {});
  std::ranges::sort(leaving);
  for (const std::uint32_t index : leaving) {
    LiveSession& session = sessions_[index];
    NFX_ASSERT(session.removing);
    if (!session.connection.exists()) retire(session);  // its end brings it here again
  }
}

void SessionRunner::retire(LiveSession& session) {
  const std::uint32_t index = session.index;
  // The journal of a session whose first Logon was refused is removed.
  if (session.from_template && session.counts.logons == 0 && session.journal_store != nullptr)
    session.journal_store->discard_if_new();
  drop_kept(session);
  submissions_.remove(session.number);
  try {
    reports_.omitted(session, session.line_limits, now_, true);
  } catch (...) {
    callback_threw(session, "on_notice");
  }
  try {
    reports_.removed(session);
  } catch (...) {
    callback_threw(session, "on_removed");
  }
  logons_.forget(session.settings);
  close_unused_listener(session);
  deadlines_.set(index, MonotonicTime::max());
  for (IndexList* list : {&dirty_, &replaying_, &waiting_, &leaving_, &failed_, &keeping_}) list->erase(index);
  if (gone_) gone_(session);
  const std::string name = session.name;
  sessions_.remove(index);
  commands_.release(name);  // from now on it may be added again, and waits for its journal to be closed
}

// A template's session has no connection any more. One whose first Logon failed is removed in this iteration; one
// with a journal after a time, since nothing is lost with it.
void SessionRunner::gone(LiveSession& session) noexcept {
  if (!session.from_template || session.removing) return;
  session.gone_at = now_.monotonic;
  if (session.counts.logons == 0) {
    logons_.count_dynamic_failed();
    session.removing = true;
    session.enabled = false;
    leaving_.add(session.index);
  } else if (session.journal_store != nullptr && config_.dynamic_session_idle.count() != 0) {
    session.leave_at = now_.monotonic + config_.dynamic_session_idle;
  }
}

void SessionRunner::leave_when_idle(LiveSession& session) {
  NFX_ASSERT(session.from_template);
  session.leave_at = MonotonicTime::max();
  if (session.connection.exists() || session.removing || session.has_decisions()) return;
  if (session.cancel_at != MonotonicTime::max()) {
    session.leave_at = session.cancel_at;
    return;
  }
  if (session.counts.logons == 0) {
    logons_.count_dynamic_failed();
  } else {
    logons_.count_dynamic_idle();
  }
  session.removing = true;
  session.enabled = false;
  leaving_.add(session.index);
}

// Removes the session of a template that has had no connection for longest. One without a journal
// loses its sequence numbers and is removed only after dynamic_session_idle. False: there is none.
bool SessionRunner::evict_idle_session() {
  if (config_.dynamic_session_idle.count() == 0) return false;
  LiveSession* oldest = nullptr;
  sessions_.for_each([&](LiveSession& each) {
    const bool idle = each.from_template && !each.has_decisions() && !each.removing && !each.connection.exists() &&
                      each.gone_at != MonotonicTime::max() && each.cancel_at == MonotonicTime::max();
    if (!idle) return;
    if (each.journal_store == nullptr && now_.monotonic - each.gone_at < config_.dynamic_session_idle) return;
    if (oldest == nullptr || each.gone_at < oldest->gone_at) oldest = &each;
  });
  if (oldest == nullptr) return false;
  logons_.count_dynamic_idle();
  oldest->removing = true;
  retire(*oldest);
  return true;
}

// The number of a new session; 0: all places are taken, or one of this name is being made.
std::size_t SessionRunner::claim_place(const std::string& name) {
  if (!commands_.knows(name)) {
    try {
      if (!commands_.full() || evict_idle_session()) return commands_.claim(name);
    } catch (const ConfigError&) {
      // Another thread was faster.
    }
  }
  return 0;
}

// The settings of the session that a template makes for this Logon. Everything that can be checked without a store is
// checked before anything of the session exists, the application last. Nothing: the Logon is refused.
std::optional<SessionSettings> SessionRunner::accepted_by_template(const MessageView& logon, PendingLogon& pending) {
  const TlsPeer* certificate = network_.tls_peer(pending.id);
  auto settings = logons_.from_template(logon, pending, now_.utc);
  if (!settings || !LogonGate::may_come_from(*settings, pending, certificate)) return std::nullopt;
  if (std::ranges::find(removed_, identity(settings->session)) != removed_.end()) {
    pending.refused = LogonRefusalReason::disabled;
    return std::nullopt;
  }
  ValidationReport scratch;
  LogonFault fault = logon_sender_fault(settings->session, logon, now_, scratch, fault_text_);
  if (!fault) fault = logon_terms_fault(settings->session, logon, fault_text_);
  if (fault) {
    state_fault(pending, fault);
    if (fault.answered) answer_refused(*settings, logon, pending.id);
    return std::nullopt;
  }
  if (!may_log_on(*settings, logon, pending, true)) return std::nullopt;
  return settings;
}

// Sends the Logout with the reason, by a session without a store. A peer whose own sequence number is above 1 expects
// another one than 1 from us and gets no answer.
void SessionRunner::answer_refused(const SessionSettings& settings, const MessageView& logon, ConnectionId id) {
  if (logon.get_seq_num(Tag::MsgSeqNum) != first_seq_num) return;
  SessionConfig config = settings.session;
  config.max_queued_messages = 1;
  config.max_queued_bytes = 1024;
  Session rules{config};
  std::vector<char> room(admin_reserve);
  Actions connected{room};
  rules.on_connect(now_, connected);
  Actions refused{room};
  rules.on_message(logon, now_, refused);
  NFX_ASSERT(!rules.logged_on());
  for (const Action& action : refused.list()) {
    if (action.kind == ActionKind::send) static_cast<void>(network_.try_send(id, action.bytes));
  }
}

// A session of a template. Memory is reserved here and now: a first Logon costs the other
// sessions some microseconds. A journal is opened on another thread; the Logon waits.
LiveSession* SessionRunner::make_from_template(const MessageView& logon, PendingLogon& pending) {
  if (stopping_ || draining_) return refuse_logon(pending, LogonRefusalReason::stopping);
  auto settings = accepted_by_template(logon, pending);
  if (!settings) return nullptr;
  const bool on_disk = settings->store_kind == StoreKind::journal;
  const std::string name = identity(settings->session);
  const std::size_t number = claim_place(name);
  if (number == 0) return refuse_logon(pending, LogonRefusalReason::too_many_sessions);
  const auto make = [this, number, name, of = std::make_shared<SessionSettings>(std::move(*settings))] {
    LoopCommand command{.kind = LoopCommand::Kind::opened, .number = number, .name = name};
    try {
      command.session = make_session(*of, number, network_.time_on_any_thread(), true);
    } catch (const StoreRefusal& refusal) {
      command.text = refusal.what();
      command.reported = !refusal.first;
    } catch (const std::exception& error) {
      command.refused = is_lack_of_memory(error) ? LogonRefusalReason::no_memory : LogonRefusalReason::store;
      command.text = error.what();
    }
    return command;
  };
  const auto make_elsewhere = [this, make] {
    commands_.push(make());
    network_.wake();
  };
  if (on_disk && stores_.later(name, make_elsewhere)) {
    pending.opening = number;
    network_.hold(pending.id, true);
    return nullptr;
  }
  LoopCommand command = make();
  LiveSession* session = opened(command);
  if (session != nullptr) return session;
  note_refusal(pending, command.refused, command.text);
  return nullptr;
}

// The session of a Logon is there, or could not be made: then its Logon is dropped.
LiveSession* SessionRunner::opened(LoopCommand& command) {
  if (command.session == nullptr) {
    commands_.release(command.name);
    if (!command.reported && command.refused == LogonRefusalReason::store)
      store_alert(command.name + ": " + command.text);
    return nullptr;
  }
  NFX_ASSERT(command.session->name == command.name);
  LiveSession& session = begin_to_exist(std::move(command.session));
  report_corrections(session);
  // Should the Logon have gone meanwhile.
  session.leave_at = now_.monotonic + config_.pending_logon_timeout;
  if (session.settings.schedule) apply_schedule(session);
  rearm(session);
  return &session;
}

// A session was opened on another thread; the Logon that requested it, if it still waits, is handled again.
std::optional<std::uint32_t> SessionRunner::opened_elsewhere(LoopCommand& command) {
  const bool there = opened(command) != nullptr;
  const auto asking = logons_.waiting_for(command.number);
  if (!asking) return std::nullopt;
  if (!there || stopping_) {
    refuse_pending(*asking, stopping_ ? LogonRefusalReason::stopping : command.refused, nullptr,
                   command.name + ": " + command.text);
    return std::nullopt;
  }
  logons_[*asking].opening = 0;
  network_.hold(logons_[*asking].id, false);
  return asking;
}

void SessionRunner::log_everyone_out() {
  NFX_ASSERT(!stopping_);
  stopping_ = true;
  sessions_.for_each([this](LiveSession& session) {
    session.reconnect.cancel();
    if (session.connection.connecting) {
      close_connection(session);
      detach(session);
    } else {
      session.logout({});
    }
    if (!session.logged_on()) drop_kept(session);
    rearm(session);
  });
  logons_.for_each([this](std::uint32_t index) { refuse_pending(index, LogonRefusalReason::stopping); });
  report_refusal_counts(true);
}

}  // namespace nfx
