// Sessions that come and go, those that templates make, and the end of all.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/session_runner.hpp"

namespace nfx {

void SessionRunner::start() {
  for (const SessionSettings& settings : config_.sessions) {
    if (settings.poll_thread != thread_ || settings.session.role == Role::initiator) continue;
    ensure_listener(settings.listen, settings.socket);
  }
  sessions_.for_each([this](LiveSession& session) { begin_session(session); });
}

void SessionRunner::ensure_listener(const Endpoint& endpoint, const SocketOptions& options) {
  if (logons_.listener_at(endpoint)) return;
  auto listener = network_.listen(endpoint, options);
  if (!listener)
    throw ConfigError("cannot listen: " + listener.error().text() + "; choose a free address for 'listen'");
  logons_.listening(*listener, endpoint);
}

std::unique_ptr<LiveSession> SessionRunner::make_session(SessionSettings settings, std::size_t number, UtcTime now) {
  return std::make_unique<LiveSession>(
      *this, stores_,
      LiveSessionOptions{
          .settings = std::move(settings), .number = number, .max_message_size = config_.max_message_size, .now = now});
}

LiveSession& SessionRunner::begin_to_exist(std::unique_ptr<LiveSession> made) {
  LiveSession& session = sessions_.add(std::move(made));
  NFX_ASSERT(!session.connection.exists());
  NFX_ASSERT(deadlines_.due(session.index) == MonotonicTime::max());
  reports_.added(session, session.name);
  return session;
}

// An initiator connects, where its time has come.
void SessionRunner::begin_session(LiveSession& session) {
  if (session.settings.schedule) return apply_schedule(session);
  if (session.is_initiator()) begin_connect(session);
}

std::size_t SessionRunner::add(SessionSettings settings) {
  const std::string name = identity(settings.session);
  LoopCommand command{.kind = LoopCommand::Kind::add, .number = commands_.claim(name)};
  try {
    // Its memory is reserved on this thread, not on the one that serves the others.
    command.session = make_session(std::move(settings), command.number, network_.time_on_any_thread());
  } catch (...) {
    commands_.release(name);
    throw;
  }
  const std::size_t number = command.number;
  commands_.push(std::move(command));
  network_.wake();
  return number;
}

std::optional<std::uint32_t> SessionRunner::obey(LoopCommand& command) {
  switch (command.kind) {
    case LoopCommand::Kind::opened: return opened_elsewhere(command);
    case LoopCommand::Kind::remove: begin_removal(command.number, command.text); return std::nullopt;
    case LoopCommand::Kind::add: break;
  }
  LiveSession& session = begin_to_exist(std::move(command.session));
  try {
    if (session.is_acceptor()) ensure_listener(session.settings.listen, session.settings.socket);
  } catch (const ConfigError& error) {
    tell(session, Notice::connect_failed, SeqNum{}, error.what());
  }
  if (stopping_) {
    session.enabled = false;
  } else {
    begin_session(session);
  }
  return std::nullopt;
}

void SessionRunner::begin_removal(std::size_t number, std::string_view text) {
  LiveSession* session = sessions_.find(number);
  if (session == nullptr || std::exchange(session->removing, true)) return;
  session->logout(text);
  session->reconnect.cancel();
  if (!session->connection.exists()) leaving_.add(session->index);
}

// Removes the sessions whose connections have ended. Between events, so that no callback of theirs is running.
void SessionRunner::retire() {
  std::vector<std::uint32_t> leaving = leaving_.items();
  leaving_.drain([](std::uint32_t) {});
  std::ranges::sort(leaving);
  for (const std::uint32_t index : leaving) {
    LiveSession& session = sessions_[index];
    NFX_ASSERT(session.removing);
    if (session.connection.exists()) continue;  // its end brings it here again
    reports_.removed(session);
    deadlines_.set(index, MonotonicTime::max());
    for (IndexList* list : {&dirty_, &replaying_, &waiting_, &leaving_}) list->erase(index);
    if (commands_.is_dynamic(session.number)) {
      commands_.release(session.name);
    } else {
      commands_.forget_configured(session.name);
    }
    sessions_.remove(index);
  }
}

// A session for somebody whom a template describes, once the application has agreed. Memory is reserved here and now: a
// first Logon costs the other sessions some microseconds. A journal is opened on another thread; the Logon waits.
LiveSession* SessionRunner::make_from_template(const MessageView& logon, PendingLogon& pending) {
  if (stopping_) return nullptr;
  auto settings = logons_.from_template(logon, pending, now_.utc);
  if (!settings || !logons_.may_log_on(*settings, logon, pending, true)) return nullptr;
  const bool on_disk = settings->store_kind == StoreKind::journal;
  const std::string name = identity(settings->session);
  std::size_t number = 0;
  try {
    number = commands_.claim(name);
  } catch (const ConfigError&) {
    logons_.count_dynamic_refused();
    return nullptr;
  }
  const auto make = [this, number, name, of = std::make_shared<SessionSettings>(std::move(*settings))] {
    LoopCommand command{.kind = LoopCommand::Kind::opened, .number = number, .name = name};
    try {
      command.session = make_session(*of, number, network_.time_on_any_thread());
    } catch (const std::exception& error) {
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
  return opened(command);
}

// The session of a Logon is there, or could not be made: then its Logon is dropped.
LiveSession* SessionRunner::opened(LoopCommand& command) {
  if (command.session == nullptr) {
    commands_.release(command.name);
    application_.on_store_alert(command.name + ": " + command.text);
    return nullptr;
  }
  NFX_ASSERT(command.session->name == command.name);
  LiveSession& session = begin_to_exist(std::move(command.session));
  if (session.settings.schedule) apply_schedule(session);
  return &session;
}

// A session was opened on another thread; the Logon that asked for it, if it still waits, is handled again.
std::optional<std::uint32_t> SessionRunner::opened_elsewhere(LoopCommand& command) {
  const bool there = opened(command) != nullptr;
  const auto asking = logons_.waiting_for(command.number);
  if (!asking) return std::nullopt;
  if (!there || stopping_) {
    logons_.count_rejected();
    drop_pending(*asking);
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
    rearm(session);
  });
  logons_.for_each([this](std::uint32_t index) { drop_pending(index); });
}

}  // namespace nfx
