// Gives sessions their places on a poll loop, and their beginning and end.
#include "engine/session_table.hpp"

#include <algorithm>
#include <utility>

#include "engine/admission.hpp"
#include "engine/submission_sender.hpp"

namespace nfx {
namespace {

SessionKey key_of(const SessionDriver& session, const std::string& listen) noexcept {
  const SessionConfig& config = session.settings().session;
  return {listen, config.begin_string, config.sender_comp_id, config.target_comp_id};
}

}  // namespace

SessionTable::SessionTable(LoopContext& loop, LoopCommands& commands, SubmissionSender& submitted)
    : loop_(loop), commands_(commands), submitted_(submitted), place_of_(loop.config.sessions.size(), no_place) {
  sessions_.reserve(most_sessions(loop.config));
  for (std::size_t number = 0; number < loop.config.sessions.size(); ++number) {
    const SessionSettings& settings = loop.config.sessions[number];
    if (settings.poll_thread != loop.thread || settings.is_template || settings.is_replicated()) continue;
    commands_.configured(identity(settings.session));
    submitted_.add(place(make(settings, number, loop.now().utc)));
    loop.admission->expect(settings);
  }
}

void SessionTable::start() {
  for_each([](SessionDriver& session) {
    session.report_corrections();
    session.begin();
  });
}

SessionDriver& SessionTable::place(std::unique_ptr<SessionDriver> session) {
  NFX_REQUIRE(session != nullptr);
  NFX_ASSERT(find(session->id()) == nullptr);
  const auto free = std::ranges::find_if(sessions_, [](const auto& each) { return each == nullptr; });
  const auto index = static_cast<std::uint32_t>(free - sessions_.begin());
  if (free == sessions_.end()) sessions_.emplace_back();
  NFX_ASSERT(sessions_.size() <= most_sessions(loop_.config));
  sessions_[index] = std::move(session);
  SessionDriver& added = *sessions_[index];
  added.place_at(index);
  if (added.id() < place_of_.size()) {
    place_of_[added.id()] = index;
  } else {
    index_.add(added.id(), index);
  }
  if (added.is_acceptor()) index_.add(key_of(added, to_string(added.settings().listen)), index);
  NFX_ASSERT(find(added.id()) == &added);
  return added;
}

SessionDriver* SessionTable::find(std::size_t number) const noexcept {
  if (number < place_of_.size()) return place_of_[number] == no_place ? nullptr : sessions_[place_of_[number]].get();
  const auto dynamic = index_.find(number);
  return dynamic ? sessions_[*dynamic].get() : nullptr;
}

SessionDriver* SessionTable::find(const SessionKey& key) const noexcept {
  const auto found = index_.find(key);
  if (!found) return nullptr;
  NFX_ASSERT((*this)[*found].is_acceptor());
  return &(*this)[*found];
}

bool SessionTable::any_connection() const noexcept {
  return std::ranges::any_of(sessions_,
                             [](const auto& session) { return session != nullptr && session->connection().exists(); });
}

// Sessions that come and go.

std::unique_ptr<SessionDriver> SessionTable::make(SessionSettings settings, std::size_t number, UtcTime now,
                                                  bool from_template) const {
  return std::make_unique<SessionDriver>(
      loop_, SessionDriverOptions{
                 .settings = std::move(settings), .number = number, .now = now, .from_template = from_template});
}

std::size_t SessionTable::add(SessionSettings settings, AddedSession as) {
  const std::string name = identity(settings.session);
  LoopCommand command{.kind = LoopCommand::Kind::add, .number = commands_.claim(name)};
  try {
    // Its memory is reserved on this thread, not on the poll thread.
    command.session = make(std::move(settings), command.number, loop_.network.time_on_any_thread());
    command.session->begin_as(as);
  } catch (...) {
    commands_.release(name);
    throw;
  }
  const std::size_t number = command.number;
  submitted_.add(*command.session);
  commands_.push(std::move(command));
  loop_.network.wake();
  return number;
}

void SessionTable::add_made(LoopCommand& command) {
  SessionDriver& session = begin_to_exist(std::move(command.session));
  std::erase(removed_, session.name());
  try {
    loop_.admission->listen(session.settings());
  } catch (const ConfigError& error) {
    // Another program has taken the address since it was checked. A replicated one stays, since its gateway owns it.
    session.report_notice(Notice::connect_failed, SeqNum{}, error.what());
    if (!session.settings().is_replicated()) {
      commands_.not_added(session.id(), error.what());
      session.begin_removal({});
    }
  }
  if (loop_.stopping || loop_.draining) session.stay_out(loop_.draining);
  session.begin();  // its schedule counts too while it is disabled
}

SessionDriver& SessionTable::begin_to_exist(std::unique_ptr<SessionDriver> made) {
  SessionDriver& session = place(std::move(made));
  NFX_ASSERT(!session.connection().exists());
  NFX_ASSERT(loop_.deadlines.due(session.index()) == MonotonicTime::max());
  loop_.admission->expect(session.settings());
  submitted_.add(session);
  try {
    loop_.reports.added(session, session.name());
  } catch (...) {
    session.callback_threw("on_added");
  }
  session.report_corrections();
  return session;
}

std::size_t SessionTable::claim_place(const std::string& name) {
  if (!commands_.knows(name)) {
    try {
      if (!commands_.full() || evict_idle_session()) return commands_.claim(name);
    } catch (const ConfigError&) {
      // Another thread was faster.
    }
  }
  return 0;
}

// Removes the session of a template that has had no connection for longest. False: there is none.
bool SessionTable::evict_idle_session() {
  if (loop_.config.dynamic_session_idle.count() == 0) return false;
  SessionDriver* oldest = nullptr;
  for_each([&](SessionDriver& each) {
    const std::optional<MonotonicTime> since = each.idle_since();
    if (since && (oldest == nullptr || *since < *oldest->idle_since())) oldest = &each;
  });
  if (oldest == nullptr) return false;
  oldest->leave(&PollLoopCounters::dynamic_idle);
  retire(*oldest);
  return true;
}

void SessionTable::remove(SessionDriver& session, std::string_view text) {
  if (session.from_template()) {
    removed_.push_back(session.name());
    if (removed_.size() > most_removed) {
      session.report_notice(Notice::operator_command, SeqNum{},
                            removed_.front() + " was removed before " + std::to_string(most_removed) +
                                " others of a template, and may log on again");
      removed_.pop_front();
    }
  }
  session.begin_removal(text);
}

bool SessionTable::is_removed(const std::string& name) const noexcept {
  return std::ranges::find(removed_, name) != removed_.end();
}

void SessionTable::retire() {
  std::vector<std::uint32_t> leaving = loop_.leaving.items();
  loop_.leaving.drain([](std::uint32_t) {});
  std::ranges::sort(leaving);
  for (const std::uint32_t index : leaving) {
    SessionDriver& session = (*this)[index];
    NFX_ASSERT(session.removing());
    if (!session.connection().exists()) retire(session);  // its end brings it here again
  }
}

void SessionTable::retire(SessionDriver& session) {
  const std::uint32_t index = session.index();
  NFX_ASSERT(!session.connection().exists());
  // The journal of a session whose first Logon was refused is removed.
  session.discard_if_new();
  submitted_.remove(session);
  session.report_omitted(true);
  try {
    loop_.reports.removed(session);
  } catch (...) {
    session.callback_threw("on_removed");
  }
  loop_.admission->forget(session.settings());
  loop_.admission->close_unused(session.settings());
  loop_.deadlines.set(index, MonotonicTime::max());
  for (IndexList* list : {&loop_.dirty, &loop_.replaying, &loop_.waiting, &loop_.leaving, &loop_.failed})
    list->erase(index);
  if (gone_) gone_(session);
  const std::string name = session.name();
  if (session.id() < place_of_.size()) {
    place_of_[session.id()] = no_place;
  } else {
    index_.remove(session.id());
  }
  if (session.is_acceptor()) index_.remove(key_of(session, to_string(session.settings().listen)));
  sessions_[index].reset();
  commands_.release(name);  // from now on it may be added again, and waits for its journal to be closed
}

// All sessions.

// Each at most once, whatever its deadlines: timers cannot starve the network.
std::size_t SessionTable::fire_timers(MonotonicTime now) {
  std::size_t fired = 0;
  for (; fired < sessions_.size() && loop_.deadlines.earliest() <= now; ++fired)
    (*this)[loop_.deadlines.earliest_item()].on_timer();
  return fired;
}

// Idle sessions too: one whose store accepts nothing more must not stay unnoticed until its next heartbeat.
void SessionTable::check_stores_when_changed() {
  if (loop_.stores.changes() == loop_.store_changes_seen) return;
  loop_.store_changes_seen = loop_.stores.changes();
  for_each([](SessionDriver& session) { session.check_changed_store(); });
}

void SessionTable::pump_replays() {
  for (std::size_t i = 0; i < loop_.replaying.size();) {
    if ((*this)[loop_.replaying[i]].pump_replay()) {
      ++i;
    } else {
      loop_.replaying.erase_at(i);
    }
  }
}

bool SessionTable::replay_can_go_on() const noexcept {
  return std::ranges::any_of(loop_.replaying.items(),
                             [this](std::uint32_t index) { return (*this)[index].replay_can_go_on(); });
}

void SessionTable::report_omitted() {
  loop_.reports.begin_omitted();
  for_each([](SessionDriver& session) { session.report_omitted(); });
}

void SessionTable::end_failed() noexcept {
  loop_.failed.drain([this](std::uint32_t index) { (*this)[index].abandon(); });
}

void SessionTable::stop() {
  for_each([this](SessionDriver& session) {
    session.logout({});
    if (!session.logged_on()) submitted_.drop_kept(session);
  });
}

}  // namespace nfx
