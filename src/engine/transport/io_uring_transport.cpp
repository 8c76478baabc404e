// The part of the transport that needs no completions: sockets, sends, and the choice of requests.
#include "transport/io_uring_transport.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "transport/io_uring_impl.hpp"
#include "transport/tcp_registry_impl.hpp"
#include "transport/tcp_socket.hpp"

namespace nfx {

namespace {

void check_options(const IoUringOptions& options) {
  using detail::require_option;
  detail::check_tcp_options(options);
  require_option(options.receive_buffers >= 1 && options.receive_buffers <= 32768,
                 "receive_buffers: expected 1 to 32768");
  require_option(options.completion_limit >= 1, "completion_limit: expected at least 1");
  require_option(options.sq_thread_idle > Duration::zero() && options.sq_thread_idle <= detail::longest_wait,
                 "sq_thread_idle: expected more than 0 and at most 1 hour");
}

// The kernel waits for a request only if the socket itself would block; some versions fail immediately otherwise.
void let_it_wait(int fd) noexcept { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK); }

}  // namespace

IoUringFeatures probe_io_uring(const IoUringOptions& options) {
  check_options(options);
  IoUringOptions small = options;
  small.receive_buffer_size = small.receive_buffers = small.max_connections = 1;
  try {
    return detail::IoUringRing(small).features();
  } catch (const std::system_error& error) {
    IoUringFeatures none;
    none.text = error.what();
    // The text already contains the error's own text.
    none.text.resize(std::min(none.text.size(), none.text.rfind(')') + 1));
    return none;
  }
}

IoUringTransport::IoUringTransport(const IoUringOptions& options) {
  check_options(options);
  impl_ = std::make_unique<detail::IoUringImpl>(options);
}
IoUringTransport::~IoUringTransport() = default;

std::expected<ListenerId, TransportError> IoUringTransport::listen(const Endpoint& endpoint,
                                                                   const SocketOptions& options) {
  return impl_->listen(endpoint, options);
}
std::optional<Endpoint> IoUringTransport::local_endpoint(ListenerId id) const { return impl_->local_endpoint(id); }
void IoUringTransport::close_listener(ListenerId id) noexcept { impl_->close_listener(id); }
std::expected<ConnectionId, TransportError> IoUringTransport::connect(const Endpoint& endpoint,
                                                                      const SocketOptions& options) {
  return impl_->connect(endpoint, options);
}
SendResult IoUringTransport::try_send(ConnectionId id, std::span<const char> bytes) noexcept {
  return impl_->try_send(id, bytes);
}
void IoUringTransport::close(ConnectionId id) noexcept { impl_->close(id); }
void IoUringTransport::hold(ConnectionId id, bool held) noexcept { impl_->hold(id, held); }
std::expected<int, NotDetached> IoUringTransport::detach(ConnectionId id, std::string& received) {
  return impl_->detach(id, received);
}
std::size_t IoUringTransport::lingering() const noexcept { return impl_->lingering(); }
std::optional<UtcTime> IoUringTransport::received_at() const noexcept { return impl_->received_at(); }
void IoUringTransport::wake() noexcept { impl_->wake(); }
void IoUringTransport::wake_when_readable(int descriptor) { impl_->wake_when_readable(descriptor); }
const IoUringFeatures& IoUringTransport::features() const noexcept { return impl_->features(); }
const std::vector<TransportWarning>& IoUringTransport::warnings() const noexcept { return impl_->warnings(); }
const TransportCounters& IoUringTransport::counters() const noexcept { return impl_->counters(); }
std::size_t IoUringTransport::connection_count() const noexcept { return impl_->connection_count(); }
std::size_t IoUringTransport::poll_with(const detail::SinkRef& sink, Duration max_wait) {
  return impl_->poll(sink, max_wait);
}

namespace detail {

IoUringImpl::IoUringImpl(const IoUringOptions& options) : IoUringRegistry(options), ring_(options) {
  starved_.reserve(options.max_connections);
  to_start_.reserve(options.max_connections);
  starting_.reserve(options.max_connections);
  to_hand_on_.reserve(options.max_connections);
  handing_on_.reserve(options.max_connections);
  waiting_.reserve(options.max_connections);
  // The maximum number of outstanding requests: two per connection, one per listener.
  to_cancel_.reserve(2 * options.max_connections + options.max_listeners);
  wake_ = make_wake_event();
}

// Stops listeners immediately, although the kernel releases a listener only when its request has ended.
IoUringImpl::~IoUringImpl() {
  end_listeners();
  ring_.cancel_all();
  for (Completion completion; ring_.next(completion);) {
    const bool accepted = static_cast<Kind>((completion.request >> 24) & 0xff) == Kind::accept;
    if (accepted && completion.result >= 0) ::close(completion.result);
  }
  for (const Waiting& each : waiting_) ::close(each.fd);
  end_connections();
  ::close(wake_);
}

std::uint64_t IoUringImpl::name(Kind kind, std::uint32_t slot, std::uint32_t tag) noexcept {
  NFX_ASSERT(slot <= 0xff'ffff);  // the slot has 24 bits in a request's name
  return (std::uint64_t{tag} << 32) | (std::uint64_t{std::to_underlying(kind)} << 24) | slot;
}

// Listening, connecting and closing.

int IoUringImpl::watch_listener(Listener& listener) noexcept {
  let_it_wait(listener.fd);
  listener.accepting = false;
  listeners_to_start_ = true;
  return 0;
}

void IoUringImpl::forget_listener(Listener& listener) noexcept {
  if (listener.accepting) to_cancel_.push_back(name(Kind::accept, id_slot(id_of(listener)), listener.generation));
  ::shutdown(listener.fd, SHUT_RDWR);  // the kernel's request holds the socket open and would continue to accept
}

// An accepted connection is already waiting to be announced.
void IoUringImpl::watch_open(Connection& connection, bool accepted) noexcept {
  if (!accepted) let_it_wait(connection.fd);
  enqueue(to_start_, connection);
}

void IoUringImpl::watch_lingering(Connection& connection) noexcept {
  connection.kept.clear();
  enqueue(to_start_, connection);
}

void IoUringImpl::hold(ConnectionId id, bool held) noexcept {
  Connection* connection = connections_.find(id);
  if (connection == nullptr || connection->state != State::open || connection->held == held) return;
  connection->held = held;
  enqueue(to_start_, *connection);
  const bool has_something = !connection->kept.empty() || connection->ended;
  if (!held && has_something && std::ranges::find(to_hand_on_, id) == to_hand_on_.end()) to_hand_on_.push_back(id);
}

void IoUringImpl::wake() noexcept { raise_wake_event(wake_); }

// Requests to the kernel.

bool IoUringImpl::fills_buffers(const Connection& connection) const noexcept {
  return features().multishot_receive && !connection.tuning.timestamps;
}

void IoUringImpl::enqueue(std::vector<std::uint32_t>& list, Connection& connection) noexcept {
  if (std::exchange(connection.queued, true)) return;
  list.push_back(connections_.slot_of(connection));
}

void IoUringImpl::cancel(std::uint64_t request) noexcept {
  io_uring_sqe* entry = ring_.request();
  io_uring_prep_cancel64(entry, request, 0);
  io_uring_sqe_set_data64(entry, name(Kind::answer, 0, 0));
}

void IoUringImpl::start_requests() noexcept {
  for (const std::uint64_t request : to_cancel_) cancel(request);
  to_cancel_.clear();
  if (!wake_watched_) {
    io_uring_sqe* entry = ring_.request();
    io_uring_prep_poll_add(entry, wake_, POLLIN);
    io_uring_sqe_set_data64(entry, name(Kind::wake, 0, 0));
    wake_watched_ = true;
  }
  for (std::size_t i = 0; i < foreign_.size(); ++i) {
    if (foreign_[i].watched) continue;
    io_uring_sqe* entry = ring_.request();
    io_uring_prep_poll_add(entry, foreign_[i].fd, POLLIN);
    io_uring_sqe_set_data64(entry, name(Kind::foreign, static_cast<std::uint32_t>(i), 0));
    foreign_[i].watched = true;
  }
  if (listeners_to_start_ && !accepting_paused_) start_listeners();
  for (std::vector<std::uint32_t>* list : {&starved_, &to_start_}) {
    std::swap(*list, starting_);
    for (const std::uint32_t slot : starting_) {
      NFX_ASSERT(slot < connections_.all.size() && connections_.all[slot].queued);
      connections_.all[slot].queued = false;
      start(connections_.all[slot]);
    }
    starting_.clear();
  }
}

void IoUringImpl::start_listeners() noexcept {
  listeners_to_start_ = false;
  for (Listener& listener : listeners_) {
    if (listener.fd < 0 || listener.accepting) continue;
    io_uring_sqe* entry = ring_.request();
    if (features().multishot_accept) {
      io_uring_prep_multishot_accept(entry, listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
    } else {
      io_uring_prep_accept(entry, listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
    }
    io_uring_sqe_set_data64(entry, name(Kind::accept, id_slot(id_of(listener)), listener.generation));
    listener.accepting = true;
  }
}

void IoUringImpl::start(Connection& connection) noexcept {
  if (connection.state == State::free) return;
  const std::uint32_t slot = connections_.slot_of(connection);
  const bool wants_room = connection.state == State::connecting || connection.wants_write;
  if (wants_room && !connection.writing && !connection.broken) {
    io_uring_sqe* entry = ring_.request();
    io_uring_prep_poll_add(entry, connection.fd, POLLOUT);
    io_uring_sqe_set_data64(entry, name(Kind::writable, slot, connection.tag));
    connection.writing = true;
  }
  if (connection.state == State::connecting || connection.ended) return;
  if (!connection.held && !connection.reading) start_receive(connection);
  // For a held connection, readiness is not acted on; a request that fills buffers has to be stopped.
  if (connection.held && connection.reading && !connection.cancelling && fills_buffers(connection)) {
    connection.cancelling = true;
    cancel(name(Kind::receive, slot, connection.tag));
  }
}

void IoUringImpl::start_receive(Connection& connection) noexcept {
  const std::uint32_t slot = connections_.slot_of(connection);
  NFX_ASSERT(!connection.reading && !connection.cancelling && connection.fd >= 0);  // one request to receive at a time
  io_uring_sqe* entry = ring_.request();
  if (fills_buffers(connection)) {
    io_uring_prep_recv_multishot(entry, connection.fd, nullptr, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = IoUringRing::buffer_group;
    io_uring_sqe_set_data64(entry, name(Kind::receive, slot, connection.tag));
  } else {
    io_uring_prep_poll_add(entry, connection.fd, POLLIN);
    io_uring_sqe_set_data64(entry, name(Kind::readable, slot, connection.tag));
  }
  connection.reading = true;
  connection.fed = false;
}

// Slots.

IoUringImpl::Connection* IoUringImpl::current(std::uint32_t slot, std::uint32_t tag) noexcept {
  if (slot >= connections_.all.size()) return nullptr;
  Connection& connection = connections_.all[slot];
  return connection.state != State::free && connection.tag == tag ? &connection : nullptr;
}

// A request that fills buffers takes bytes out of the socket until its last completion. A request that reports input
// does not.
bool IoUringImpl::may_detach(Connection& connection, std::string& received) {
  if (connection.reading && fills_buffers(connection)) return false;
  received.append(connection.kept.begin(), connection.kept.end());
  return true;
}

// Outstanding requests hold the socket open, so they are cancelled, and the peer is told of the end now.
void IoUringImpl::free_slot(Connection& connection) noexcept {
  const std::uint32_t slot = connections_.slot_of(connection);
  const Kind kind = fills_buffers(connection) ? Kind::receive : Kind::readable;
  if (connection.reading) to_cancel_.push_back(name(kind, slot, connection.tag));
  if (connection.writing) to_cancel_.push_back(name(Kind::writable, slot, connection.tag));
  if (connection.fd >= 0) {
    if (connection.reading || connection.writing) ::shutdown(connection.fd, SHUT_RDWR);
    ::close(connection.fd);
  }
  ++connection.tag;
  connection.reading = connection.writing = connection.cancelling = connection.fed = connection.ended = false;
  connection.kept.clear();
  connections_.give_back(connection);
}

}  // namespace detail
}  // namespace nfx
