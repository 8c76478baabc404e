// Gives sessions their places on a poll loop; a place is reused when its session is removed, a number never.
#include "engine/roster.hpp"

#include <algorithm>
#include <utility>

namespace nfx {
namespace {

SessionKey key_of(const LiveSession& session) noexcept {
  const SessionConfig& config = session.settings.session;
  return {session.listen_name, config.begin_string, config.sender_comp_id, config.target_comp_id};
}

}  // namespace

Roster::Roster(std::size_t configured, std::size_t most) : most_(most), place_of_(configured, no_place) {
  sessions_.reserve(most);
}

LiveSession& Roster::add(std::unique_ptr<LiveSession> session) {
  NFX_REQUIRE(session != nullptr);
  NFX_ASSERT(session->index == no_place);
  NFX_ASSERT(find(session->number) == nullptr);
  const auto free = std::ranges::find_if(sessions_, [](const auto& each) { return each == nullptr; });
  const auto index = static_cast<std::uint32_t>(free - sessions_.begin());
  if (free == sessions_.end()) sessions_.emplace_back();
  NFX_ASSERT(sessions_.size() <= most_);
  sessions_[index] = std::move(session);
  LiveSession& added = *sessions_[index];
  added.index = index;
  if (added.number < place_of_.size()) {
    place_of_[added.number] = index;
  } else {
    index_.add(added.number, index);
  }
  if (added.is_acceptor()) index_.add(key_of(added), index);
  NFX_ASSERT(find(added.number) == &added);
  return added;
}

void Roster::remove(std::uint32_t index) noexcept {
  const LiveSession& session = (*this)[index];
  NFX_ASSERT(!session.connection.exists());
  if (session.number < place_of_.size()) {
    place_of_[session.number] = no_place;
  } else {
    index_.remove(session.number);
  }
  if (session.is_acceptor()) index_.remove(key_of(session));
  NFX_ASSERT(find(session.number) == nullptr);
  sessions_[index].reset();
}

LiveSession* Roster::find(std::size_t number) const noexcept {
  if (number < place_of_.size()) return place_of_[number] == no_place ? nullptr : sessions_[place_of_[number]].get();
  const auto dynamic = index_.find(number);
  return dynamic ? sessions_[*dynamic].get() : nullptr;
}

LiveSession* Roster::find(const SessionKey& key) const noexcept {
  const auto found = index_.find(key);
  if (!found) return nullptr;
  NFX_ASSERT((*this)[*found].is_acceptor());
  return &(*this)[*found];
}

}  // namespace nfx
