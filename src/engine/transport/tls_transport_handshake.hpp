// TlsTransport's functions for listeners, and for connections until they are established or given up, including the
// time limit. Included only by tls_transport.hpp.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "transport/tls_transport.hpp"

namespace nfx {

template <Transport Inner>
std::expected<ListenerId, TransportError> TlsTransport<Inner>::listen(const Endpoint& endpoint,
                                                                      const SocketOptions& options) {
  if (options.tls) {
    if (const std::string why = options.tls->why_no_server(); !why.empty()) {
      return std::unexpected(TransportError{EINVAL, "listen " + to_string(endpoint) + ": " + why});
    }
  }
  const auto id = inner_.listen(endpoint, without_tls(options));
  if (id) {
    const std::size_t slot = detail::id_slot(*id);
    if (slot >= listeners_.size()) listeners_.resize(slot + 1);
    listeners_[slot] = options.tls;
  }
  return id;
}

template <Transport Inner>
std::expected<ConnectionId, TransportError> TlsTransport<Inner>::connect(const Endpoint& endpoint,
                                                                         const SocketOptions& options) {
  if (!options.tls) return inner_.connect(endpoint, options);
  std::unique_ptr<Entry> entry;
  try {
    entry = std::make_unique<Entry>(*options.tls, detail::TlsSide::client, endpoint.host, options_.send_buffer);
  } catch (const TlsError& error) {
    return std::unexpected(TransportError{EINVAL, "connect " + to_string(endpoint) + ": " + error.what()});
  }
  const auto id = inner_.connect(endpoint, without_tls(options));
  if (!id) return id;
  entry->peer = to_string(endpoint);
  adopt(*id, std::move(entry));
  return id;
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::greet(Sink& sink, ListenerId listener, ConnectionId id, std::string_view peer) {
  PeerStanding standing = PeerStanding::unknown;
  if constexpr (AcceptingSink<Sink>) standing = sink.on_accepting(listener, peer);
  const PeerAddress address = PeerAddress::of_peer(peer);
  const bool known = standing == PeerStanding::known;
  if (standing == PeerStanding::not_allowed || !make_place(sink, address, known)) {
    ++counters_.refused;
    return inner_.close(id);
  }
  std::unique_ptr<Entry> entry;
  try {
    entry = std::make_unique<Entry>(*listeners_[detail::id_slot(listener)], detail::TlsSide::server, "",
                                    options_.send_buffer);
  } catch (const TlsError& error) {
    note_failure(id, true, peer, error.what());
    inner_.close(id);
    return report_failed_handshake(sink);
  }
  entry->accepted = true;
  entry->state = State::shaking_hands;
  entry->listener = listener;
  entry->peer = peer;
  entry->place = shaking_.take(address, known);
  shaking_ids_[entry->place] = id;
  Entry& made = *entry;
  adopt(id, std::move(entry));
  set_deadline(made, options_.handshake_timeout);
}

template <Transport Inner>
template <TransportSink Sink>
bool TlsTransport<Inner>::make_place(Sink& sink, const PeerAddress& address, bool known) {
  const ConnectionPlaces::Decision decision = shaking_.decide(address, known, [](std::uint32_t) { return true; });
  if (decision.evict) {
    Entry* oldest = find(shaking_ids_[*decision.evict]);
    NFX_ASSERT(oldest != nullptr && oldest->accepted && oldest->place == *decision.evict);
    ++counters_.handshakes_evicted;
    give_up(sink, *oldest, CloseReason::local_error, "evicted by a newer connection: too many handshakes in progress");
  }
  return decision.possible;
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::begin_handshake(Sink& sink, Entry& entry) {
  entry.state = State::shaking_hands;
  set_deadline(entry, options_.handshake_timeout);
  shake_hands(sink, entry);
}

template <Transport Inner>
TlsTransport<Inner>::~TlsTransport() {
  if (returns_ == nullptr) return;
  for (auto& entry : entries_) let_go(std::move(entry));
  returns_->close();
  for (HandshakeTask* task : {back_, returns_->take_all()}) {
    while (task != nullptr) delete static_cast<Entry*>(std::exchange(task, task->next()));
  }
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::shake_hands(Sink& sink, Entry& entry) {
  if (returns_ != nullptr) return send_away(entry);
  if (steps_left_ == 0) {
    park(entry);
    return make_ready(entry);
  }
  --steps_left_;
  entry.parked = false;
  after_step(sink, entry, entry.step());
}

template <Transport Inner>
void TlsTransport<Inner>::send_away(Entry& entry) {
  NFX_ASSERT(!entry.waiting);
  entry.stream.keep_input();
  entry.parked = false;
  hold_inner(entry, true);
  if (away_ < most_away()) {
    ++away_;
    return entry.send_away(*options_.executor, returns_);
  }
  ++counters_.handshakes_delayed;
  NFX_ASSERT(waiting_.size() < waiting_.capacity());
  entry.waiting = true;
  waiting_.push_back(entry.id);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::take_back(Sink& sink) {
  for (; steps_left_ > 0; --steps_left_) {
    if (back_ == nullptr) back_ = returns_->take_all();
    if (back_ == nullptr) break;
    auto& entry = static_cast<Entry&>(*std::exchange(back_, back_->next()));
    NFX_ASSERT(away_ > 0);
    --away_;
    const Status status = entry.came_back();
    if (entry.abandoned()) {
      delete &entry;
    } else {
      after_step(sink, entry, status);
    }
  }
  const std::size_t next = std::min(most_away() - away_, waiting_.size());
  for (std::size_t i = 0; i < next; ++i) {
    Entry* entry = find(waiting_[i]);
    NFX_ASSERT(entry != nullptr && entry->waiting);
    entry->waiting = false;
    ++away_;
    entry->send_away(*options_.executor, returns_);
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(next));
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::after_step(Sink& sink, Entry& entry, Status status) {
  const bool reachable = flush(entry);
  switch (status) {
    case Status::wants_input: return want_more(entry);
    case Status::blocked: return reachable ? park(entry) : want_more(entry);
    case Status::done: return establish(sink, entry);
    case Status::ended:
    case Status::failed: break;
  }
  const std::string why = entry.stream.failed() ? entry.stream.failure() : "the peer ended the handshake";
  give_up(sink, entry, CloseReason::tls_failed, why);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::establish(Sink& sink, Entry& entry) {
  const ConnectionId id = entry.id;
  if (entry.accepted) shaking_.release(entry.place);
  entry.state = State::open;
  std::erase(timed_, id);
  entry.timed = false;
  ++counters_.handshakes;
  ++handled_;
  if (entry.accepted) {
    // The callback may close the connection, which destroys the entry's text.
    const std::string peer = std::move(entry.peer);
    sink.on_accept(entry.listener, id, std::string_view(peer));
  } else {
    sink.on_connect(id);
  }
  pump(sink, id);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::give_up(Sink& sink, Entry& entry, CloseReason reason, const std::string& why) {
  const ConnectionId id = entry.id;
  const bool was_announced = !entry.accepted || entry.state == State::open;
  if (entry.state == State::shaking_hands) ++counters_.handshakes_failed;
  note_failure(id, !was_announced, entry.peer, why);
  if (!entry.away()) flush(entry);  // sends the alert
  drop(entry);
  if (!was_announced) return report_failed_handshake(sink);
  ++handled_;
  sink.on_close(id, reason);
}

template <Transport Inner>
void TlsTransport<Inner>::note_failure(ConnectionId id, bool accepted, std::string_view peer, std::string_view why) {
  failure_.connection = id;
  failure_.accepted = accepted;
  failure_.peer = peer;
  failure_.text = why;
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::report_failed_handshake(Sink& sink) {
  if constexpr (HandshakeSink<Sink>) {
    ++handled_;
    sink.on_handshake_failed(std::string_view(failure_.peer), std::string_view(failure_.text));
  }
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::keep_deadlines(Sink& sink) {
  const MonotonicTime now = clock_();
  for (std::size_t i = timed_.size(); i-- > 0;) {
    if (i >= timed_.size()) continue;  // callbacks shortened the list; the next poll serves the moved entry
    Entry* entry = find(timed_[i]);
    if (entry == nullptr || entry->deadline > now) continue;
    if (entry->state == State::closing) {
      ++counters_.linger_cut_short;
      drop(*entry);
    } else {
      ++counters_.handshakes_late;
      const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(options_.handshake_timeout);
      give_up(sink, *entry, CloseReason::timed_out,
              "the handshake was not finished within " + std::to_string(limit.count()) + " ms");
    }
  }
}

template <Transport Inner>
Duration TlsTransport<Inner>::shortened_wait(Duration max_wait) const {
  if (max_wait <= Duration::zero() || handled_ > 0 || !ready_.empty() || some_back()) return Duration::zero();
  if (timed_.empty()) return max_wait;
  const MonotonicTime now = clock_();
  for (const ConnectionId id : timed_) {
    const auto& entry = entries_[detail::id_slot(id)];
    if (entry != nullptr && entry->id == id) max_wait = std::min<Duration>(max_wait, entry->deadline - now);
  }
  return std::max(max_wait, Duration::zero());
}

template <Transport Inner>
void TlsTransport<Inner>::close_listener(ListenerId id) noexcept {
  if (inner_.local_endpoint(id)) {
    // Connections in their handshake were never announced.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry* entry = entries_[i].get();
      if (entry != nullptr && entry->accepted && entry->state == State::shaking_hands && entry->listener == id) {
        drop(*entry);
      }
    }
    listeners_[detail::id_slot(id)].reset();
  }
  inner_.close_listener(id);
}

}  // namespace nfx
