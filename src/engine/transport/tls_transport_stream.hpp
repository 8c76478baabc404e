// TlsTransport's functions for receiving and sending on an established connection, and for its end. Included only by
// tls_transport.hpp.
#pragma once

#include <span>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "transport/tls_transport.hpp"

namespace nfx {

template <Transport Inner>
void TlsTransport<Inner>::close(ConnectionId id) noexcept {
  Entry* entry = find(id);
  if (entry == nullptr) return inner_.close(id);
  if (entry->state == State::closing) return;
  if (entry->state != State::open || entry->broken) return drop(*entry);
  entry->stream.send_close_notify();
  if (!flush(*entry) || entry->stream.outgoing().empty()) return drop(*entry);
  entry->state = State::closing;
  entry->stream.drop_input();
  entry->linger_bytes = options_.linger_bytes;
  hold_inner(*entry, false);
  ++closing_;
  set_deadline(*entry, options_.linger_time);
}

template <Transport Inner>
SendResult TlsTransport<Inner>::send(Entry& entry, std::span<const char> bytes) noexcept {
  if (entry.broken) return {0, true};
  std::size_t taken = 0;
  do {
    taken += entry.stream.write(bytes.subspan(taken));
    if (entry.stream.failed()) {
      entry.broken = true;
      make_ready(entry);
      return {0, true};
    }
    if (!flush(entry)) return {0, true};
  } while (taken < bytes.size() && entry.stream.outgoing().empty());
  if (taken < bytes.size()) entry.wants_write = true;
  return {taken, false};
}

template <Transport Inner>
bool TlsTransport<Inner>::flush(Entry& entry) noexcept {
  while (!entry.stream.outgoing().empty()) {
    const SendResult result = inner_.try_send(entry.id, entry.stream.outgoing());
    NFX_ASSERT(result.sent <= entry.stream.outgoing().size());
    entry.stream.sent(result.sent);
    if (result.closed) {
      entry.broken = true;
      if (entry.parked) make_ready(entry);  // the awaited event will not come
      return false;
    }
    if (result.sent == 0) break;  // on_writable will follow
  }
  return true;
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::take(Sink& sink, Entry& entry, std::span<const char> bytes) {
  if (entry.state == State::closing) return drop_input(entry, bytes.size());
  NFX_ASSERT(!entry.away());  // held while its step is away
  entry.stream.feed(bytes);
  if (entry.state == State::shaking_hands) {
    if (entry.accepted) shaking_.heard(entry.place);
    return shake_hands(sink, entry);
  }
  if (entry.parked) return park(entry);
  pump(sink, entry.id);
}

// A closed connection whose last bytes are pending, and whose peer continues to send.
template <Transport Inner>
void TlsTransport<Inner>::drop_input(Entry& entry, std::size_t bytes) noexcept {
  if (bytes <= entry.linger_bytes) {
    entry.linger_bytes -= bytes;
    return;
  }
  ++counters_.linger_cut_short;
  drop(entry);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::pump(Sink& sink, ConnectionId id) {
  while (true) {
    Entry* entry = find(id);  // callbacks may close connections
    if (entry == nullptr || entry->state != State::open) return;
    if (entry->held) return park(*entry);
    entry->parked = false;
    const detail::TlsStream::Read read = entry->stream.read({buffer_.get(), options_.receive_buffer});
    NFX_ASSERT(read.size <= options_.receive_buffer);
    flush(*entry);  // answers of the protocol itself
    if (read.size > 0) {
      ++handled_;
      sink.on_receive(id, std::span<const char>(buffer_.get(), read.size));
      entry = find(id);
      if (entry == nullptr || entry->state != State::open) return;
    }
    switch (read.status) {
      case Status::done: break;
      case Status::wants_input: return want_more(*entry);
      case Status::blocked: return entry->broken ? want_more(*entry) : park(*entry);
      case Status::ended:
        if (entry->held) return park(*entry);
        return end(sink, *entry, CloseReason::peer_closed);
      case Status::failed:
        if (entry->held) return park(*entry);
        return give_up(sink, *entry, CloseReason::tls_failed, entry->stream.failure());
    }
  }
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::go_on_writing(Sink& sink, Entry& entry) {
  if (entry.away() || !flush(entry)) return;
  if (entry.state == State::closing) {
    if (entry.stream.outgoing().empty()) drop(entry);
    return;
  }
  if (!entry.stream.has_room()) return;
  if (entry.parked && !entry.held) make_ready(entry);
  if (entry.state == State::open && std::exchange(entry.wants_write, false)) {
    ++handled_;
    sink.on_writable(entry.id);
  }
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::inner_ended(Sink& sink, Entry& entry, CloseReason reason) {
  const ConnectionId id = entry.id;
  const State state = entry.state;
  if (state == State::shaking_hands) {
    const std::string why = "the peer ended the connection during the handshake (" + std::string(to_string(reason)) +
                            "); does it speak TLS on this port?";
    return give_up(sink, entry, CloseReason::tls_failed, why);
  }
  forget(entry);
  if (state == State::closing) {
    ++counters_.linger_cut_short;
    return;
  }
  if (state == State::open && reason == CloseReason::peer_closed) {
    ++counters_.truncated;
    reason = CloseReason::reset;
  }
  ++handled_;
  sink.on_close(id, reason);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::end(Sink& sink, Entry& entry, CloseReason reason) {
  const ConnectionId id = entry.id;
  entry.stream.send_close_notify();
  flush(entry);
  drop(entry);
  ++handled_;
  sink.on_close(id, reason);
}

template <Transport Inner>
template <TransportSink Sink>
void TlsTransport<Inner>::serve_ready(Sink& sink) {
  serving_.swap(ready_);
  for (const ConnectionId id : serving_) {
    Entry* entry = find(id);
    if (entry == nullptr) continue;
    entry->ready = false;
    if (entry->state == State::shaking_hands) {
      shake_hands(sink, *entry);
    } else if (entry->state == State::open) {
      pump(sink, id);
    }
  }
  serving_.clear();
}

}  // namespace nfx
