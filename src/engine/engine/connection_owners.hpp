// The owner of each connection: none, a pending Logon, or a session. One owner at a time.
// Thread: one owner, a poll loop. Cost: find() is a load and a compare; no allocation while no more connections exist
// than were expected. A ConnectionId carries the generation of its slot, so a stale id has no owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct ConnectionOwner {
  enum class Kind : std::uint8_t { none, pending, session };

  Kind kind = Kind::none;
  std::uint32_t index = 0;  // of the pending Logon, or of the session

  friend bool operator==(const ConnectionOwner&, const ConnectionOwner&) = default;
};

class ConnectionOwners {
 public:
  explicit ConnectionOwners(std::size_t expected) : entries_(expected) {}

  [[nodiscard]] ConnectionOwner find(ConnectionId id) const noexcept {
    const std::uint32_t place = slot_of(id);
    if (place >= entries_.size() || entries_[place].id != id) return {};
    return entries_[place].owner;
  }
  // For a connection without an owner, one that passes from a pending Logon to its session, or one that already has
  // this session.
  void set(ConnectionId id, ConnectionOwner owner) {
    NFX_ASSERT(id != no_connection);
    NFX_ASSERT(owner.kind != ConnectionOwner::Kind::none);
    const std::uint32_t place = slot_of(id);
    if (place >= entries_.size()) entries_.resize(place + 1);
    Entry& entry = entries_[place];
    NFX_ASSERT(entry.id == no_connection || entry.id == id);  // the last connection in this slot was cleared
    NFX_ASSERT(entry.owner.kind != ConnectionOwner::Kind::session || entry.owner == owner);
    entry = {id, owner};
  }
  // A stale id is ignored.
  void clear(ConnectionId id) noexcept {
    const std::uint32_t place = slot_of(id);
    if (place < entries_.size() && entries_[place].id == id) entries_[place] = {};
  }

 private:
  struct Entry {
    ConnectionId id = no_connection;
    ConnectionOwner owner;
  };

  std::vector<Entry> entries_;  // by the slot in the id
};

}  // namespace nfx
