// The seam between owners of sessions (cluster/owner.hpp) and the stream that they write to. An implementation carries
// out an owner's requests and returns the answers as events; it may lose, delay and repeat any of them.
// Thread: one calls. Errors: what the servers do comes back as an event, or not at all.
#pragma once

#include <cstdint>
#include <string_view>

#include "cluster/owner.hpp"

namespace nfx::nats {

// The place of a session in the client's list.
enum class SessionIndex : std::uint32_t {};

struct NoSink {
  void operator()(SessionIndex, const cluster::Event&) const noexcept {}
};

// request() carries out publish, read_last, read_next, renew_lease and drop_lease. An action's bytes are copied, and an
// event's bytes are valid during the call of the sink. read_lease() requests an event `lease` with its present holder.
template <class Client>
concept StreamClient = requires(Client& client, SessionIndex session, const cluster::Action& action, NoSink sink) {
  client.request(session, action);
  client.read_lease(session);
  client.poll(sink);
};

}  // namespace nfx::nats
