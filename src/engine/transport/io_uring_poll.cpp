// The part of the transport that handles completions.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "transport/io_uring_impl.hpp"
#include "transport/tcp_registry_impl.hpp"
#include "transport/tcp_socket.hpp"

namespace nfx::detail {

std::size_t IoUringImpl::poll(const SinkRef& sink, Duration max_wait) {
  if (!ring_.enabled()) [[unlikely]]
    ring_.enable();
  accepts_left_ = options_.accept_limit;
  std::size_t handled = 0;
  if (!waiting_.empty()) [[unlikely]]
    handled += greet_waiting(sink);
  if (!to_hand_on_.empty()) [[unlikely]]
    handled += serve_kept(sink);
  start_requests();
  const bool deadlines = has_deadlines();
  // A broken connection is polled until its last completion.
  const bool busy = handled > 0 || !waiting_.empty() || !to_hand_on_.empty() || !connections_.broken.empty();
  if (busy) max_wait = Duration::zero();
  if (deadlines) max_wait = shortened_wait(max_wait);
  if (ring_.pump(std::min(max_wait, longest_wait))) ++counters_.ring_enters;
  Completion completion;
  std::size_t served = 0;
  while (served < options_.completion_limit && ring_.next(completion)) {
    ++served;
    handled += serve(sink, completion);
  }
  if (!connections_.broken.empty()) [[unlikely]]
    handled += serve_broken(sink);
  if (deadlines) keep_deadlines();
  return handled;
}

std::size_t IoUringImpl::serve(const SinkRef& sink, const Completion& completion) {
  const auto slot = static_cast<std::uint32_t>(completion.request & 0xff'ffff);
  const auto tag = static_cast<std::uint32_t>(completion.request >> 32);
  switch (static_cast<Kind>((completion.request >> 24) & 0xff)) {
    case Kind::answer: return 0;
    case Kind::wake:
      clear_wake_event(wake_);
      wake_watched_ = false;
      return 0;
    case Kind::foreign:
      // A closed descriptor cannot be watched and is not tried again.
      if (completion.result >= 0) foreign_[slot].watched = false;
      return 0;
    case Kind::accept: return serve_accept(sink, completion, slot, tag);
    case Kind::receive: return serve_receive(sink, completion, slot, tag);
    case Kind::readable:
      if (Connection* connection = current(slot, tag)) return serve_readable(sink, *connection);
      return 0;
    case Kind::writable:
      if (Connection* connection = current(slot, tag)) return serve_writable(sink, *connection);
      return 0;
  }
  return 0;
}

// Receiving.

std::size_t IoUringImpl::serve_receive(const SinkRef& sink, const Completion& completion, std::uint32_t slot,
                                       std::uint32_t tag) {
  std::size_t handled = 0;
  Connection* connection = current(slot, tag);
  if (connection != nullptr && !completion.more()) connection->reading = connection->cancelling = false;
  NFX_ASSERT(completion.result <= 0 || completion.has_buffer());  // bytes arrive in a buffer of the ring
  NFX_ASSERT(completion.result <= static_cast<std::int32_t>(options_.receive_buffer_size));
  if (connection != nullptr && completion.result > 0) {
    connection->fed = true;
    handled += serve_bytes(sink, *connection,
                           {ring_.buffer(completion.buffer()), static_cast<std::size_t>(completion.result)});
    connection = current(slot, tag);  // the callback may have closed it
  }
  if (completion.has_buffer()) ring_.give_back(completion.buffer());
  if (connection == nullptr || completion.more()) return handled;
  const int error = completion.result < 0 ? -completion.result : 0;
  if (error == ENOBUFS) {
    // A connection that got no buffer goes first next time, so that a flood cannot take all buffers for ever.
    ++counters_.buffers_empty;
    enqueue(connection->fed ? to_start_ : starved_, *connection);
    return handled;
  }
  if (error == ECANCELED && connection->broken) return handled + end_stream(sink, *connection, connection->reason);
  if (completion.result > 0 || error == ECANCELED || would_block(error)) {
    enqueue(to_start_, *connection);
    return handled;
  }
  return handled + end_stream(sink, *connection, error == 0 ? CloseReason::peer_closed : reason_of(error));
}

std::size_t IoUringImpl::serve_bytes(const SinkRef& sink, Connection& connection, std::span<const char> bytes) {
  if (connection.state == State::lingering) {
    drop_input(connection, bytes.size());
    return 0;
  }
  if (connection.tuning.quickack) acknowledge_at_once(connection.fd);
  if (connection.held || !connection.kept.empty()) [[unlikely]] {
    // Bounded by the buffers: nothing is received after the cancel request has been served.
    connection.kept.insert(connection.kept.end(), bytes.begin(), bytes.end());
    return 0;
  }
  sink.on_receive(sink.sink, connections_.id_of(connection), bytes);
  return 1;
}

// The socket has input: does one bounded read, as over epoll.
std::size_t IoUringImpl::serve_readable(const SinkRef& sink, Connection& connection) {
  connection.reading = connection.cancelling = false;
  if (connection.held) return 0;
  const std::uint32_t slot = connections_.slot_of(connection), tag = connection.tag;
  const Received received = receive_some(connection.fd, connection.tuning, buffer_.get(), options_.receive_buffer_size);
  NFX_ASSERT(received.size <= static_cast<ssize_t>(options_.receive_buffer_size));
  if (received.size > 0) {
    std::size_t handled = 0;
    if (connection.state == State::open) {
      received_at_ = received.at;
      sink.on_receive(sink.sink, connections_.id_of(connection),
                      {buffer_.get(), static_cast<std::size_t>(received.size)});
      received_at_.reset();
      handled = 1;
    } else {
      drop_input(connection, static_cast<std::size_t>(received.size));
    }
    if (Connection* still = current(slot, tag)) enqueue(to_start_, *still);
    return handled;
  }
  if (received.size < 0 && would_block(errno) && !connection.broken) {
    enqueue(to_start_, connection);
    return 0;
  }
  return end_stream(sink, connection, received.size == 0 ? CloseReason::peer_closed : reason_of(errno));
}

// Bytes that arrived while the connection was held, in one piece, and then its end.
std::size_t IoUringImpl::serve_kept(const SinkRef& sink) {
  std::size_t handled = 0;
  std::swap(to_hand_on_, handing_on_);
  for (const ConnectionId id : handing_on_) {
    Connection* connection = connections_.find(id);
    if (connection == nullptr || connection->held) continue;  // releasing it queues it again
    if (!connection->kept.empty()) {
      sink.on_receive(sink.sink, id, connection->kept);
      ++handled;
      connection = connections_.find(id);
      if (connection == nullptr) continue;
      connection->kept.clear();
    }
    if (connection->ended && !connection->held) handled += report_close(sink, *connection, connection->end_reason);
  }
  handing_on_.clear();
  return handled;
}

std::size_t IoUringImpl::end_stream(const SinkRef& sink, Connection& connection, CloseReason reason) {
  if (connection.state == State::lingering) {
    free_slot(connection);
    return 0;
  }
  if (connection.broken) reason = connection.reason;
  if (!connection.held && connection.kept.empty()) return report_close(sink, connection, reason);
  connection.ended = true;
  connection.end_reason = reason;
  return 0;
}

// A send found these connections dead. Bytes that the peer sent before are still received. Then the receive request is
// cancelled, and its last completion closes the connection.
std::size_t IoUringImpl::serve_broken(const SinkRef& sink) {
  std::size_t handled = 0;
  for (std::size_t i = connections_.broken.size(); i-- > 0;) {
    if (i >= connections_.broken.size()) continue;  // callbacks shortened the list; next poll serves the entry
    Connection* connection = connections_.find(connections_.broken[i]);
    NFX_ASSERT(connection != nullptr);
    if (connection->held || connection->ended || !connection->kept.empty()) continue;
    if (connection->state == State::connecting || connection->reason == CloseReason::local_error) {
      handled += report_close(sink, *connection, connection->reason);
    } else if (!connection->reading) {
      enqueue(to_start_, *connection);
    } else if (!std::exchange(connection->cancelling, true)) {
      const Kind kind = fills_buffers(*connection) ? Kind::receive : Kind::readable;
      cancel(name(kind, connections_.slot_of(*connection), connection->tag));
    }
  }
  return handled;
}

// Writing and connecting.

std::size_t IoUringImpl::serve_writable(const SinkRef& sink, Connection& connection) {
  NFX_ASSERT(connection.writing);  // one request at a time
  connection.writing = false;
  if (connection.state == State::connecting) return connection.broken ? 0 : finish_connect(sink, connection);
  if (connection.state != State::open || connection.broken || !std::exchange(connection.wants_write, false)) return 0;
  sink.on_writable(sink.sink, connections_.id_of(connection));
  return 1;
}

// Accepting.

std::size_t IoUringImpl::serve_accept(const SinkRef& sink, const Completion& completion, std::uint32_t slot,
                                      std::uint32_t tag) {
  const int fd = completion.result;
  const ListenerId id = make_id<ListenerId>(slot, tag);
  if (find(id) == nullptr) {
    if (fd >= 0) ::close(fd);
    return 0;
  }
  if (!completion.more()) {
    listeners_[slot].accepting = false;
    listeners_to_start_ = true;
  }
  if (fd < 0) {
    // Any other error concerns only the connection being accepted, which is gone.
    if (short_of_descriptors(-fd) && !accepting_paused_) pause_accepting();
    return 0;
  }
  if (accepts_left_ > 0) {
    --accepts_left_;
    return greet(sink, id, fd);
  }
  if (waiting_.size() < waiting_.capacity()) {
    waiting_.push_back({fd, id});
  } else {
    ++counters_.refused_full;
    ::close(fd);
  }
  return 0;
}

std::size_t IoUringImpl::greet_waiting(const SinkRef& sink) {
  std::size_t handled = 0;
  const std::size_t count = std::min(waiting_.size(), accepts_left_);
  for (std::size_t i = 0; i < count; ++i) {
    const Waiting next = waiting_[i];
    NFX_ASSERT(accepts_left_ > 0 && next.fd >= 0);
    --accepts_left_;
    if (find(next.listener) == nullptr) {
      ::close(next.fd);
    } else {
      handled += greet(sink, next.listener, next.fd);
    }
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  return handled;
}

}  // namespace nfx::detail
