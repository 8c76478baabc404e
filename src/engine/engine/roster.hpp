// The sessions of a poll loop, found by place, by number, and by the names in a Logon.
// Thread: one owner, the poll thread. Cost: by place and by number of the configuration O(1); other look-ups hash. A
// place is reused once its session is gone; a number never is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/live_session.hpp"
#include "engine/session_index.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {

// Of a list of sessions that is taken in pieces, so that a thousand of them do not delay a message.
struct SessionPage {
  std::size_t count = 0;
  std::size_t next_place = 0;
  bool end = false;
};

class Roster {
 public:
  // Numbers below `configured` are those of the configuration; at most `most` sessions at a time.
  Roster(std::size_t configured, std::size_t most);

  // Gives a session its place.
  LiveSession& add(std::unique_ptr<LiveSession> session);
  void remove(std::uint32_t index) noexcept;

  [[nodiscard]] LiveSession& operator[](std::uint32_t index) const noexcept {
    NFX_ASSERT(index < sessions_.size());
    NFX_ASSERT(sessions_[index] != nullptr);
    NFX_ASSERT(sessions_[index]->index == index);
    return *sessions_[index];
  }
  // Null when there is no such session.
  [[nodiscard]] LiveSession* find(std::size_t number) const noexcept;
  [[nodiscard]] LiveSession* find(const SessionKey& key) const noexcept;

  [[nodiscard]] std::size_t places() const noexcept { return sessions_.size(); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& session : sessions_) {
      if (session != nullptr) visit(*session);
    }
  }
  // Fills rows with the sessions from a place on: fill(const LiveSession&, Row&), which is false for one without a row.
  template <class Row, class Fill>
  [[nodiscard]] SessionPage page(std::size_t from_place, std::span<Row> into, Fill&& fill) const {
    SessionPage page{.next_place = from_place};
    while (page.next_place < sessions_.size() && page.count < into.size()) {
      const LiveSession* session = sessions_[page.next_place++].get();
      if (session != nullptr && fill(*session, into[page.count])) ++page.count;
    }
    page.end = page.next_place >= sessions_.size();
    return page;
  }
  template <class Holds>
  [[nodiscard]] bool none_of(Holds&& holds) const {
    for (const auto& session : sessions_) {
      if (session != nullptr && holds(*session)) return false;
    }
    return true;
  }

 private:
  [[maybe_unused]] std::size_t most_;
  std::vector<std::unique_ptr<LiveSession>> sessions_;  // null where a session was removed
  std::vector<std::uint32_t> place_of_;                 // by number of the configuration; no_place: on another loop
  SessionIndex index_;  // acceptors by the names in a Logon, sessions added later by number
};

}  // namespace nfx
