// The sessions of a poll loop: found by place, by number, and by the names in a Logon; made, added and removed.
// Thread: one owner, the poll thread; add() and make() from any other. Cost: by place and by number of the
// configuration O(1); other look-ups hash. A place is reused once its session is gone; a number never is. Bounds:
// max_dynamic_sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/loop_commands.hpp"
#include "engine/session_driver.hpp"
#include "engine/session_index.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {

class SubmissionSender;

// A piece of a list of sessions, so that listing a thousand of them does not delay a message.
struct SessionPage {
  std::size_t count = 0;
  std::size_t next_place = 0;
  bool end = false;
};

class SessionTable {
 public:
  static constexpr std::size_t most_removed = 1024;  // names of sessions of templates; then the oldest is forgotten

  // Makes the sessions of the configuration. All parts of the loop outlive it, and `loop.admission` is set. Throws
  // StoreError when a store cannot be opened.
  SessionTable(LoopContext& loop, LoopCommands& commands, SubmissionSender& submitted);
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  // Before start(): called for each session that goes, when what it alone listened on is closed, and before another one
  // can have its name.
  void when_gone(SessionGone gone) { gone_ = std::move(gone); }
  // Connects the initiators whose time has come.
  void start();

  [[nodiscard]] SessionDriver& operator[](std::uint32_t index) const noexcept {
    NFX_ASSERT(index < sessions_.size());
    NFX_ASSERT(sessions_[index] != nullptr);
    NFX_ASSERT(sessions_[index]->index() == index);
    return *sessions_[index];
  }
  [[nodiscard]] SessionDriver& of(ConnectionOwner owner, [[maybe_unused]] ConnectionId id) const noexcept {
    NFX_ASSERT(owner.kind == ConnectionOwner::Kind::session && (*this)[owner.index].connection().id == id);
    return (*this)[owner.index];
  }
  // Null when there is no such session.
  [[nodiscard]] SessionDriver* find(std::size_t number) const noexcept;
  [[nodiscard]] SessionDriver* find(const SessionKey& key) const noexcept;
  [[nodiscard]] std::size_t places() const noexcept { return sessions_.size(); }
  // Null where a session was removed.
  [[nodiscard]] SessionDriver* at(std::size_t place) const noexcept { return sessions_[place].get(); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& session : sessions_) {
      if (session != nullptr) visit(*session);
    }
  }
  // Fills rows with the sessions from a place on; the first page begins at 0.
  template <class Row>
  [[nodiscard]] SessionPage page(std::size_t from_place, std::span<Row> into) const {
    SessionPage page{.next_place = from_place};
    while (page.next_place < sessions_.size() && page.count < into.size()) {
      const SessionDriver* session = sessions_[page.next_place++].get();
      if (session != nullptr) session->fill(into[page.count++]);
    }
    page.end = page.next_place >= sessions_.size();
    return page;
  }
  [[nodiscard]] bool any_connection() const noexcept;

  // Sessions that come and go.
  // From any other thread: the session exists from the loop's next iteration on. Returns its number. Throws
  // ConfigError.
  std::size_t add(SessionSettings settings, AddedSession as);
  void add_made(LoopCommand& command);  // carries that out
  // The number of a new session; 0: all places are taken, or one of this name is being made.
  [[nodiscard]] std::size_t claim_place(const std::string& name);
  // From any thread: memory and store of a session that does not exist yet.
  [[nodiscard]] std::unique_ptr<SessionDriver> make(SessionSettings settings, std::size_t number, UtcTime now,
                                                    bool from_template = false) const;
  SessionDriver& begin_to_exist(std::unique_ptr<SessionDriver> session);
  // Logs it out and forgets it. Its template does not make it again until the next start, or until it is added.
  void remove(SessionDriver& session, std::string_view text);
  [[nodiscard]] bool is_removed(const std::string& name) const noexcept;
  // Removes the sessions whose connections have ended. Between events, so that none of their callbacks is running.
  void retire();

  // For all sessions, or for all with something to do. See SessionDriver.
  std::size_t fire_timers(MonotonicTime now);
  template <class Sender>
  void flush_all(Sender& sender) {
    if (!loop_.dirty.empty()) flush_dirty(sender);
  }
  // Out of line, so that a rehearsal warms the only copy of it.
  template <class Sender>
  [[gnu::noinline]] void flush_dirty(Sender& sender) {
    loop_.dirty.drain([&](std::uint32_t index) { (*this)[index].flush(sender); });
  }
  template <class Sender>
  void flush_committed(Sender& sender) {
    for (std::size_t i = 0; i < loop_.waiting.size();) {
      SessionDriver& session = (*this)[loop_.waiting[i]];
      if (session.waits_for_journal()) {
        ++i;
        continue;
      }
      loop_.waiting.erase_at(i);
      session.flush_committed(sender);  // which may put it at the end of the list again
    }
  }
  void check_stores_when_changed();
  void pump_replays();
  [[nodiscard]] bool replay_can_go_on() const noexcept;
  void report_omitted();
  void end_failed() noexcept;
  void stop();  // logs every session out

 private:
  SessionDriver& place(std::unique_ptr<SessionDriver> session);
  [[nodiscard]] bool evict_idle_session();
  void retire(SessionDriver& session);

  LoopContext& loop_;
  LoopCommands& commands_;
  SubmissionSender& submitted_;
  SessionGone gone_;                                      // empty: not called
  std::vector<std::unique_ptr<SessionDriver>> sessions_;  // null where a session was removed
  std::vector<std::uint32_t> place_of_;                   // by number of the configuration; no_place: on another loop
  SessionIndex index_;               // acceptors by the names in a Logon, sessions added later by number
  std::deque<std::string> removed_;  // names that an operator has removed, and that templates do not make again
};

}  // namespace nfx
