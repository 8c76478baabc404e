// The bodies of PollLoop: an iteration, and where the events of the transport go. Included by the file that
// instantiates the loop for its transport:
//   template class nfx::PollLoop<MyTransport, SystemClock>;
#pragma once

#include <algorithm>
#include <utility>

#include "base/call_trace.hpp"
#include "engine/poll_loop.hpp"

namespace nfx {

template <Transport T, Clock C>
PollLoop<T, C>::PollLoop(const EngineConfig& config, std::uint32_t thread, T& transport, C& clock, Callbacks callbacks,
                         SessionStores& stores)
    : NetworkOver<T, C>(transport, clock),
      LoopParts({.config = config,
                 .thread = thread,
                 .network = *this,
                 .callbacks = std::move(callbacks),
                 .stores = stores,
                 .now = clock.now()}) {}

template <Transport T, Clock C>
void PollLoop<T, C>::start() {
  context.time.set(clock_.now());
  LoopParts::start();
}

template <Transport T, Clock C>
std::size_t PollLoop<T, C>::turn(Duration max_wait) {
  NFX_TRACE();
  LoopContext& loop = context;
  NFX_ASSERT(loop.loop_thread.is_this());
  loop.loop_thread.enter();
  loop.time.set(clock_.now());
  const MonotonicTime now = loop.now().monotonic;
  loop.recorder.turn_began(max_wait > Duration::zero(), turn_times_.idle_from == turn_times_.began);
  turn_times_ = {now, now};
  if (commands.waiting()) [[unlikely]]
    take_commands();
  std::size_t work = sessions.fire_timers(now);
  if (!loop.leaving.empty()) [[unlikely]]
    sessions.retire();
  if (loop.reports.omitted_due() <= now) [[unlikely]]
    sessions.report_omitted();
  if (admission.deadline() <= now) [[unlikely]]
    admission.expire();
  // Read first, carried out last: what was submitted before the request to stop is still sent.
  const bool stop = stop_requested_.load(std::memory_order_acquire);
  submitted.send();
  if (stop && !loop.stopping) stop_sessions();
  sessions.check_stores_when_changed();
  sessions.flush_committed(transport_);
  const Duration wanted = loop.on_turn();
  sessions.pump_replays();
  if (!loop.failed.empty()) [[unlikely]]
    sessions.end_failed();
  sessions.flush_all(transport_);
  if (max_wait <= Duration::zero() && wanted != Application::nothing_done) turn_times_.idle_from = clock_.monotonic();
  settle();
  // A resend continues without waiting, except while the peer does not read: then on_writable wakes the loop.
  if (sessions.replay_can_go_on()) max_wait = Duration::zero();
  if (submitted.can_go_on()) [[unlikely]]
    max_wait = std::min(max_wait, Duration{std::chrono::milliseconds{1}});
  work += transport_.poll(*this, std::min({max_wait, until_next_deadline(), wanted}));
  if (!loop.failed.empty()) [[unlikely]]
    sessions.end_failed();
  sessions.flush_all(transport_);
  if (stop && finished()) [[unlikely]]
    submitted.end();
  if (!turns_follow_) settle();
  if (work == 0 && warm_up_.due() <= now) [[unlikely]]
    rehearse();
  return work;
}

// It is work of the loop's own, and no time that the host took.
template <Transport T, Clock C>
[[gnu::noinline]] void PollLoop<T, C>::rehearse() noexcept {
  if (context.stopping) return warm_up_.end();
  const MonotonicTime began = clock_.monotonic();
  const bool rehearsed = warm_up_.step(sessions, context.now(), [this](Rehearsal& rehearsal) {
    receive(rehearsal.parts(), Rehearsal::connection, rehearsal.bytes());
    rehearsal.parts().sessions.flush_all(transport_);
  });
  turn_times_.idle_from = clock_.monotonic();
  if (rehearsed) warm_up_.took(turn_times_.idle_from - began);
}

template <Transport T, Clock C>
void PollLoop<T, C>::settle() noexcept {
  if (!context.recorder.waits_for_time()) return;
  read_clock();
  context.recorder.turn_ended();
}

template <Transport T, Clock C>
Duration PollLoop<T, C>::until_next_deadline() const noexcept {
  const MonotonicTime due = next_deadline();
  if (due == MonotonicTime::max()) return Duration::max();
  return std::max(Duration::zero(), Duration{due - context.now().monotonic});
}

template <Transport T, Clock C>
bool PollLoop<T, C>::finished() const noexcept {
  return context.stopping && transport_.lingering() == 0 && !sessions.any_connection();
}

template <Transport T, Clock C>
std::optional<Endpoint> PollLoop<T, C>::local_endpoint(const Endpoint& configured) const {
  const auto listener = admission.listener_at(configured);
  if (!listener) return std::nullopt;
  return transport_.local_endpoint(*listener);
}

// Events of the transport.

template <Transport T, Clock C>
void PollLoop<T, C>::on_accept(ListenerId listener, ConnectionId id, std::string_view peer) {
  read_clock();
  admission.accept(listener, id, peer);
}

template <Transport T, Clock C>
PeerStanding PollLoop<T, C>::on_accepting(ListenerId listener, std::string_view peer) {
  read_clock();
  return admission.standing_of(listener, peer);
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_connect(ConnectionId id) {
  const ConnectionOwner owner = context.owners.find(id);
  if (owner.kind != ConnectionOwner::Kind::session) return;
  read_clock();
  sessions.of(owner, id).on_connect();
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_receive(ConnectionId id, std::span<const char> bytes) {
  NFX_TRACE();
  NFX_ASSERT(!bytes.empty());
  receive(*this, id, bytes);
}

template <Transport T, Clock C>
void PollLoop<T, C>::receive(LoopParts& parts, ConnectionId id, std::span<const char> bytes) {
  const ConnectionOwner owner = parts.context.owners.find(id);
  parts.context.time.advance_to(clock_.monotonic());
  parts.context.recorder.received();
  switch (owner.kind) {
    case ConnectionOwner::Kind::none: return;
    case ConnectionOwner::Kind::pending: return parts.admission.receive(owner.index, bytes);
    case ConnectionOwner::Kind::session:
      return receiver.on_receive(transport_, parts.sessions.of(owner, id), {bytes.data(), bytes.size()});
  }
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_writable(ConnectionId id) {
  const ConnectionOwner owner = context.owners.find(id);
  if (owner.kind == ConnectionOwner::Kind::session) sessions.of(owner, id).on_writable();
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_close(ConnectionId id, CloseReason reason) {
  const ConnectionOwner owner = context.owners.find(id);
  if (owner.kind == ConnectionOwner::Kind::none) return;
  read_clock();
  context.owners.clear(id);
  const std::string_view words = words_of(id);
  if (owner.kind == ConnectionOwner::Kind::pending) return admission.on_close(owner.index, words);
  sessions.of(owner, id).on_close(reason, words);
}

template <Transport T, Clock C>
std::string_view PollLoop<T, C>::words_of(ConnectionId id) const noexcept {
  if constexpr (requires { transport_.tls_error(id); }) return transport_.tls_error(id);
  return {};
}

template <Transport T, Clock C>
void PollLoop<T, C>::on_handshake_failed(std::string_view peer, std::string_view why) {
  read_clock();
  admission.handshake_failed(peer, why);
}

}  // namespace nfx
