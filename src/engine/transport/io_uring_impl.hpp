// The io_uring transport: the outstanding requests of each connection, and the handling of their completions.
// Thread: the transport's owner. A request is named by kind, slot and a tag that counts the slot's uses, so a
// completion that arrives after its connection ended is recognised, and its buffer is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/io_uring_ring.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/tcp_registry.hpp"

namespace nfx::detail {

class IoUringImpl;

struct IoUringConnection : TcpConnection {
  std::uint32_t tag = 0;
  bool reading = false;     // a request to receive, or to report input, is outstanding
  bool writing = false;     // a request that completes when there is space, or when the connect ends, is outstanding
  bool cancelling = false;  // the request to receive is being cancelled
  bool fed = false;         // the request has delivered bytes
  bool queued = false;      // in starved_ or to_start_
  bool ended = false;       // the stream has ended, possibly not yet reported; `end_reason` says why
  CloseReason end_reason = CloseReason::local_error;
  std::vector<char> kept;  // bytes received before hold took effect
};

struct IoUringListener : TcpListener {
  bool accepting = false;  // a request to accept is outstanding
};

using IoUringRegistry = TcpRegistry<IoUringImpl, IoUringConnection, IoUringListener, IoUringOptions>;

class IoUringImpl : private IoUringRegistry {
 public:
  explicit IoUringImpl(const IoUringOptions& options);
  ~IoUringImpl();
  IoUringImpl(const IoUringImpl&) = delete;
  IoUringImpl& operator=(const IoUringImpl&) = delete;

  using IoUringRegistry::close;
  using IoUringRegistry::close_listener;
  using IoUringRegistry::connect;
  using IoUringRegistry::detach;
  using IoUringRegistry::listen;
  using IoUringRegistry::local_endpoint;
  using IoUringRegistry::try_send;
  void hold(ConnectionId id, bool held) noexcept;
  std::size_t poll(const SinkRef& sink, Duration max_wait);
  void wake() noexcept;
  void wake_when_readable(int descriptor) { foreign_.push_back({descriptor, false}); }

  [[nodiscard]] const IoUringFeatures& features() const noexcept { return ring_.features(); }
  [[nodiscard]] const std::vector<TransportWarning>& warnings() const noexcept { return warnings_; }
  [[nodiscard]] const TransportCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t connection_count() const noexcept { return connections_.open.size(); }
  [[nodiscard]] std::size_t lingering() const noexcept { return connections_.lingering.size(); }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return received_at_; }

 private:
  friend IoUringRegistry;
  enum class Kind : std::uint8_t { answer, wake, foreign, accept, receive, readable, writable };
  using State = ConnectionState;
  using Connection = IoUringConnection;
  using Listener = IoUringListener;

  struct Foreign {  // A descriptor of the program.
    int fd;
    bool watched;
  };
  struct Waiting {  // Accepted by the kernel, not yet announced.
    int fd;
    ListenerId listener;
  };

  [[nodiscard]] static std::uint64_t name(Kind kind, std::uint32_t slot, std::uint32_t tag) noexcept;

  // Requests to the kernel.
  void start_requests() noexcept;
  void start_listeners() noexcept;
  void start(Connection& connection) noexcept;
  void start_receive(Connection& connection) noexcept;
  void enqueue(std::vector<std::uint32_t>& list, Connection& connection) noexcept;
  void cancel(std::uint64_t request) noexcept;
  [[nodiscard]] bool fills_buffers(const Connection& connection) const noexcept;

  // Completions of requests.
  std::size_t serve(const SinkRef& sink, const Completion& completion);
  std::size_t serve_receive(const SinkRef& sink, const Completion& completion, std::uint32_t slot, std::uint32_t tag);
  std::size_t serve_bytes(const SinkRef& sink, Connection& connection, std::span<const char> bytes);
  std::size_t serve_readable(const SinkRef& sink, Connection& connection);
  std::size_t serve_writable(const SinkRef& sink, Connection& connection);
  std::size_t serve_accept(const SinkRef& sink, const Completion& completion, std::uint32_t slot, std::uint32_t tag);
  std::size_t greet_waiting(const SinkRef& sink);
  std::size_t serve_kept(const SinkRef& sink);
  std::size_t serve_broken(const SinkRef& sink);
  std::size_t end_stream(const SinkRef& sink, Connection& connection, CloseReason reason);

  // Called by TcpRegistry.
  [[nodiscard]] int watch_listener(Listener& listener) noexcept;
  void forget_listener(Listener& listener) noexcept;
  void resume_accepting() noexcept {}  // the next poll checks whether it may accept
  void watch_connecting(Connection& connection) noexcept { enqueue(to_start_, connection); }
  void watch_open(Connection& connection, bool accepted) noexcept;
  void watch_for_room(Connection& connection) noexcept { enqueue(to_start_, connection); }
  void watch_lingering(Connection& connection) noexcept;
  [[nodiscard]] bool stream_ended(const Connection& connection) const noexcept { return connection.ended; }
  [[nodiscard]] bool may_detach(Connection& connection, std::string& received);
  void free_slot(Connection& connection) noexcept;

  [[nodiscard]] Connection* current(std::uint32_t slot, std::uint32_t tag) noexcept;

  IoUringRing ring_;
  int wake_ = -1;
  bool wake_watched_ = false;
  std::vector<Foreign> foreign_;
  bool listeners_to_start_ = false;
  std::vector<std::uint32_t> starved_;   // slots whose request found no buffer and delivered nothing
  std::vector<std::uint32_t> to_start_;  // slots that may need a request
  std::vector<std::uint32_t> starting_;  // swap buffer of to_start_ while it is processed
  std::vector<std::uint64_t> to_cancel_;
  std::vector<ConnectionId> to_hand_on_;  // no longer held, with stored bytes or an end
  std::vector<ConnectionId> handing_on_;
  std::vector<Waiting> waiting_;
  std::size_t accepts_left_ = 0;  // in this poll
};

}  // namespace nfx::detail
