// Carries out what owners request, over one connection.
#include "sizing/session_owners.hpp"

#include <algorithm>
#include <stdexcept>

#include "cluster/name_hash.hpp"

namespace nfx::bench {

using nfx::cluster::Action;
using nfx::cluster::ActionKind;
using nfx::cluster::Event;
using nfx::cluster::EventKind;
using nfx::cluster::RecordKind;
using nfx::cluster::StopReason;

namespace {

constexpr Duration between_checks = std::chrono::milliseconds{5};

MonotonicTime now() { return std::chrono::steady_clock::now(); }

}  // namespace

SessionOwners::SessionOwners(const nats::NatsOptions& client, const std::vector<std::string>& names,
                             nfx::cluster::GatewayId gateway, nfx::cluster::OwnerOptions options)
    : stream_(client) {
  options.gateway = gateway;
  for (const std::string& name : names) {
    options.session = nfx::cluster::session_id(name);
    sessions_.push_back(
        {.name = name, .index = stream_.add_session(name, gateway), .state = nfx::cluster::OwnerState{options}});
  }
}

void SessionOwners::own_all(Duration most) {
  for (Session& session : sessions_) stream_.read_lease(session.index);
  for (Session& session : sessions_) give(session, {.kind = EventKind::want});
  for (const MonotonicTime end = now() + most; now() < end; wait(between_checks)) {
    poll([](std::size_t, std::uint64_t) {});
    if (std::ranges::all_of(sessions_, &Session::owns)) return;
  }
  const auto first = std::ranges::find(sessions_, false, &Session::owns);
  throw std::runtime_error("session " + first->name + " was not owned in time");
}

bool SessionOwners::has_space(std::size_t index, std::size_t bytes) const {
  const Session& session = sessions_[index];
  return session.owns && nfx::cluster::has_space(session.state, RecordKind::outbound, bytes);
}

void SessionOwners::append(std::size_t index, std::string_view bytes, bool more) {
  Session& session = sessions_[index];
  session.digest = nfx::cluster::mixed(nfx::cluster::name_hash(bytes, session.digest));
  give(session, {.kind = EventKind::append,
                 .record = {RecordKind::outbound, session.state.counters.outbound, bytes},
                 .more = more});
}

void SessionOwners::end_group(std::size_t index) { give(sessions_[index], {.kind = EventKind::end_group}); }

void SessionOwners::give(Session& session, const Event& event) {
  nfx::cluster::Actions actions;
  step(session.state, event, now(), actions);
  for (const Action& action : actions.list()) {
    stream_.request(session.index, action);
    switch (action.kind) {
      case ActionKind::publish: ++session.published; break;
      case ActionKind::own: session.owns = true; break;
      case ActionKind::release: session.released = action.count; break;
      case ActionKind::recover: {
        nfx::cluster::FrameView frame;
        if (decode_frame(action.bytes, frame) != nfx::cluster::FrameError::none) break;  // the owner stops by itself
        for (std::string_view rest = frame.records; !rest.empty(); ++session.recovered)
          session.digest =
              nfx::cluster::mixed(nfx::cluster::name_hash(nfx::cluster::take_record(rest).bytes, session.digest));
        break;
      }
      case ActionKind::stop:
        session.owns = false;
        if (action.reason != StopReason::retired || !is_retiring_)
          throw std::runtime_error("session " + session.name +
                                   " is not owned any more: " + std::string{to_string(action.reason)});
        break;
      case ActionKind::read_last:
      case ActionKind::read_next:
      case ActionKind::renew_lease:
      case ActionKind::drop_lease: break;
    }
  }
}

void SessionOwners::check_deadlines() {
  const MonotonicTime time = now();
  if (time < next_check_) return;
  next_check_ = time + between_checks;
  for (Session& session : sessions_)
    if (time >= next_deadline(session.state)) give(session, {});
}

void SessionOwners::retire_all(Duration most) {
  is_retiring_ = true;
  for (Session& session : sessions_)
    if (session.owns) give(session, {.kind = EventKind::retire});
  for (const MonotonicTime end = now() + most; now() < end; wait(between_checks)) {
    poll([](std::size_t, std::uint64_t) {});
    if (std::ranges::none_of(sessions_, &Session::owns)) return;
  }
  throw std::runtime_error("sessions were not given up in time");
}

}  // namespace nfx::bench
