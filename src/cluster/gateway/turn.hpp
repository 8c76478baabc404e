// When a gateway may own a session that no gateway has: by assign(), but a gateway with the journal of a session that
// is new to the cluster goes first, and one that should have a session and does not take it is not waited for for ever.
// Thread: one. Cost: assign() for each gateway that goes before.
#pragma once

#include "cluster/owner.hpp"
#include "gateway/members.hpp"
#include "gateway/place.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::gateway {

inline constexpr int leases_for_each = 3;  // of the gateways that a free session goes to before

[[nodiscard]] inline Duration turn_of_each(Duration lease) { return leases_for_each * cluster::wait_for_lease(lease); }
// Until each of the others has had its turn, and once more.
[[nodiscard]] inline Duration turn_of_all(const Members& members, Duration lease) {
  return static_cast<int>(members.size() + 1) * turn_of_each(lease);
}

struct TurnTimes {
  Duration lease{};
  MonotonicTime begin{};  // when this gateway knows who is alive
};

// Notes the gateway that does not take the session as place.unable.
[[nodiscard]] inline MonotonicTime turn_of(Place& place, const Members& members, const TurnTimes& times,
                                           MonotonicTime now) {
  if (now < place.unable_until && !members.is_alone(now)) return place.unable_until;
  place.unable = {};
  // A local session becomes one of the cluster: its journal is at one of the gateways.
  if (place.is_new() && place.has_journal) return now;
  const auto rank = static_cast<int>(members.rank(place.name, now));
  if (rank == 0) return place.is_new() && members.size() > 1 ? times.begin + cluster::wait_for_lease(times.lease) : now;
  place.unable = members.run_of(members.owner_of(place.name, now).gateway);
  return *place.free_since + rank * turn_of_each(times.lease);
}

// Whether an owner gives the session up. A gateway that did not take it gets it after its next start.
[[nodiscard]] inline bool gives_up(Place& place, const Members& members, MonotonicTime now) {
  if (members.owner_of(place.name, now).gateway == members.self()) place.unable = {};
  return members.gives_up(place.name, now, place.unable);
}

}  // namespace nfx::gateway
