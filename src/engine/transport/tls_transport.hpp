// Adds TLS to any transport, for connections whose SocketOptions name a TlsContext; others pass through at the price of
// one look-up.
// Thread: one owner, as the inner transport; TlsContext::reload() may be called from any. Ids are the inner
// transport's. on_accept and on_connect come when the handshake has succeeded; before, the sink does not know an
// accepted connection. Cost: the cipher and one copy per sent byte; this code does not allocate for an established
// connection, except for input while it is held. A handshake costs public-key arithmetic, some 0.3 ms per step: without
// an executor this thread computes it, so only a few continue within one poll. Bounded: handshakes of accepted
// connections in number and time, pending ciphertext per connection, plaintext per on_receive. Within one poll a
// connection delivers the bytes of one receive of the inner transport. With an executor, its threads compute the steps
// of handshakes. A connection whose step is away is held, so that its peer's bytes wait in the network; if it ends
// meanwhile, it is forgotten immediately. Twice as many steps as `handshakes` has places may be away; further ones wait
// until one is back, in order, and are counted. Errors: a failed handshake or record ends the connection with
// CloseReason::tls_failed, and tls_error() has the text. A stream that ends without the peer's close_notify is a reset,
// because it may be truncated. If the handshake of an accepted connection fails, the sink gets only
// on_handshake_failed(peer, why), if it has this callback.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"
#include "transport/connection_places.hpp"
#include "transport/loopback_transport.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_facts.hpp"
#include "transport/tls_handshake.hpp"
#include "transport/tls_stream.hpp"
#include "transport/transport.hpp"
#include "transport/transport_counters.hpp"

namespace nfx {

struct TlsTransportOptions {
  std::size_t send_buffer = 64 * 1024;     // pending ciphertext per connection; beyond that, try_send sends less
  std::size_t receive_buffer = 64 * 1024;  // shared; the most plaintext of one on_receive
  PlaceLimits handshakes{};                // of accepted connections at a time; the oldest are closed for more
  std::size_t handshake_steps = 1;         // per poll, computed or back; others wait for the next poll
  HandshakeExecutor* executor = nullptr;   // outlives the transport; null: poll computes handshakes
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration linger_time = std::chrono::seconds(2);  // time that close() continues to send accepted bytes
  std::size_t linger_bytes = 256 * 1024;           // ... and the most input of the peer that it drops meanwhile
};

struct TlsFailure {
  ConnectionId connection = no_connection;  // already stale
  bool accepted = false;                    // if true, there is no on_close for it
  std::string peer;                         // the address of an accepted connection, otherwise the requested host
  std::string text;
};

// A sink that is told of accepted connections whose handshake failed. `peer` and `why` are valid during the call.
template <class S>
concept HandshakeSink = TransportSink<S> && requires(S& sink, std::string_view peer, std::string_view why) {
  sink.on_handshake_failed(peer, why);
};

// A sink that decides before the handshake of an accepted connection, because it costs public-key arithmetic. A
// connection that is not allowed is closed without another callback.
template <class S>
concept AcceptingSink = TransportSink<S> && requires(S& sink, ListenerId listener, std::string_view peer) {
  { sink.on_accepting(listener, peer) } -> std::same_as<PeerStanding>;
};

template <Transport Inner>
class TlsTransport {
 public:
  using Clock = std::function<MonotonicTime()>;

  // `inner` and the clock's source must outlive this object. Throws std::invalid_argument for an option out of range.
  explicit TlsTransport(
      Inner& inner, TlsTransportOptions options = {},
      Clock clock = [] { return MonotonicTime(std::chrono::steady_clock::now()); })
      : inner_(inner),
        options_(options),
        clock_(std::move(clock)),
        shaking_(options.handshakes),
        shaking_ids_(shaking_.places()) {
    const bool good = options.send_buffer >= detail::TlsStream::min_send_buffer && options.receive_buffer > 0 &&
                      options.handshakes.unknown > 0 && options.handshakes.known > 0 &&
                      options.handshakes.per_address > 0 && options.handshakes.per_network > 0 &&
                      options.handshake_steps > 0 && options.handshake_timeout > Duration::zero();
    if (!good) throw std::invalid_argument("TlsTransportOptions: 0, or a send_buffer under 24 KiB");
    buffer_ = std::make_unique_for_overwrite<char[]>(options.receive_buffer);
    if (options.executor != nullptr) returns_ = std::make_shared<detail::HandshakeReturns>([&inner] { inner.wake(); });
  }
  ~TlsTransport();
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {});
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const { return inner_.local_endpoint(id); }

  void close_listener(ListenerId id) noexcept;

  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {});

  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept {
    Entry* entry = find(id);
    if (entry == nullptr) return inner_.try_send(id, bytes);
    switch (entry->state) {
      case State::connecting:
      case State::shaking_hands: return {0, false};
      case State::open: return send(*entry, bytes);
      case State::closing: break;
    }
    return {0, true};
  }

  void close(ConnectionId id) noexcept;

  void hold(ConnectionId id, bool held) noexcept {
    Entry* entry = find(id);
    if (entry == nullptr) return inner_.hold(id, held);
    if (entry->state != State::open || entry->held == held) return;
    entry->held = held;
    if (held || !entry->parked) return hold_inner(*entry, held);
    make_ready(*entry);
  }

  // For a connection without TLS.
  [[nodiscard]] std::expected<int, NotDetached> detach(ConnectionId id, std::string& received)
    requires requires(Inner& inner) { inner.detach(id, received); }
  {
    if (find(id) != nullptr) return std::unexpected(NotDetached::encrypted);
    return inner_.detach(id, received);
  }

  [[nodiscard]] std::size_t lingering() const noexcept { return inner_.lingering() + closing_; }

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    handled_ = 0;
    steps_left_ = options_.handshake_steps;
    if (some_back()) [[unlikely]]
      take_back(sink);
    if (!timed_.empty()) keep_deadlines(sink);
    if (!ready_.empty()) serve_ready(sink);
    Adapter<Sink> adapter{*this, sink};
    within_inner_ = true;
    inner_.poll(adapter, shortened_wait(max_wait));
    within_inner_ = false;
    return handled_;
  }

  // Unknown for bytes that waited because the connection was held.
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept {
    return within_inner_ ? inner_.received_at() : std::nullopt;
  }
  void wake() noexcept { inner_.wake(); }
  void wake_when_readable(int descriptor)
    requires requires(Inner& inner) { inner.wake_when_readable(0); }
  {
    inner_.wake_when_readable(descriptor);
  }

  [[nodiscard]] const TlsCounters& counters() const noexcept { return counters_; }
  // The latest failure; connection = no_connection if there was none. Changes only in poll.
  [[nodiscard]] const TlsFailure& last_tls_failure() const noexcept { return failure_; }
  // Within on_close, why this connection failed; empty if it did not fail.
  [[nodiscard]] std::string_view tls_error(ConnectionId id) const noexcept {
    return failure_.connection == id ? std::string_view(failure_.text) : std::string_view{};
  }
  // The negotiated parameters and the peer; empty for a connection without TLS, or not established. Allocates.
  [[nodiscard]] std::optional<TlsFacts> tls_facts(ConnectionId id) const {
    const std::size_t slot = detail::id_slot(id);
    if (slot >= entries_.size() || entries_[slot] == nullptr || entries_[slot]->id != id) return std::nullopt;
    if (entries_[slot]->state != State::open) return std::nullopt;
    return entries_[slot]->stream.facts();
  }
  // The identity in the certificate of an accepted connection's peer; null if it presented none. Valid until the
  // connection ends.
  [[nodiscard]] const TlsPeer* tls_peer(ConnectionId id) const noexcept {
    const std::size_t slot = detail::id_slot(id);
    const bool known = slot < entries_.size() && entries_[slot] != nullptr && entries_[slot]->id == id;
    return known ? entries_[slot]->certificate.get() : nullptr;
  }
  // Handshakes of accepted connections.
  [[nodiscard]] std::size_t handshakes_in_progress() const noexcept { return shaking_.used(); }

 private:
  // A client's connection begins as connecting, a server's as shaking_hands. closing: the id is stale for the user, but
  // bytes are still sent.
  enum class State : std::uint8_t { connecting, shaking_hands, open, closing };
  using Status = detail::TlsStream::Status;

  struct Entry final : detail::TlsHandshake {
    using TlsHandshake::TlsHandshake;

    ConnectionId id = no_connection;
    State state = State::connecting;
    bool accepted = false;
    bool held = false;         // held by the user
    bool inner_held = false;   // held by us
    bool parked = false;       // the stream has more input, and waits for the next poll, buffer space, or the user
    bool ready = false;        // in ready_
    bool timed = false;        // in timed_
    bool waiting = false;      // in waiting_
    bool wants_write = false;  // a try_send was incomplete
    bool broken = false;       // nothing more can be sent; on_close will follow
    ListenerId listener = no_listener;
    MonotonicTime deadline{};
    std::uint32_t place = 0;       // for an accepted connection in its handshake
    std::size_t linger_bytes = 0;  // for a closing connection: input that may still be dropped
    std::string peer;
  };

  template <TransportSink Sink>
  struct Adapter {
    TlsTransport& self;
    Sink& sink;

    void on_accept(ListenerId listener, ConnectionId id, std::string_view peer) {
      const std::size_t slot = detail::id_slot(listener);
      if (slot < self.listeners_.size() && self.listeners_[slot]) return self.greet(sink, listener, id, peer);
      ++self.handled_;
      sink.on_accept(listener, id, peer);
    }
    void on_connect(ConnectionId id) {
      if (Entry* entry = self.find(id)) return self.begin_handshake(sink, *entry);
      ++self.handled_;
      sink.on_connect(id);
    }
    void on_receive(ConnectionId id, std::span<const char> bytes) {
      if (Entry* entry = self.find(id)) return self.take(sink, *entry, bytes);
      ++self.handled_;
      sink.on_receive(id, bytes);
    }
    void on_writable(ConnectionId id) {
      if (Entry* entry = self.find(id)) return self.go_on_writing(sink, *entry);
      ++self.handled_;
      sink.on_writable(id);
    }
    void on_close(ConnectionId id, CloseReason reason) {
      if (Entry* entry = self.find(id)) return self.inner_ended(sink, *entry, reason);
      ++self.handled_;
      sink.on_close(id, reason);
    }
  };

  [[nodiscard]] static SocketOptions without_tls(SocketOptions options) {
    options.tls.reset();
    return options;
  }

  [[nodiscard]] Entry* find(ConnectionId id) noexcept {
    const std::size_t slot = detail::id_slot(id);
    if (slot >= entries_.size()) return nullptr;
    Entry* entry = entries_[slot].get();
    return entry != nullptr && entry->id == id ? entry : nullptr;
  }

  void adopt(ConnectionId id, std::unique_ptr<Entry> entry) {
    const std::size_t slot = detail::id_slot(id);
    if (slot >= entries_.size()) {
      entries_.resize(slot + 1);
      // So that close() and try_send() never allocate.
      ready_.reserve(entries_.capacity());
      serving_.reserve(entries_.capacity());
      timed_.reserve(entries_.capacity());
      waiting_.reserve(entries_.capacity());
    }
    NFX_ASSERT(entries_[slot] == nullptr);  // the previous connection of the slot was forgotten
    entry->id = id;
    entries_[slot] = std::move(entry);
  }

  // Forgets a connection that the inner transport has forgotten, or is about to.
  void forget(Entry& entry) noexcept {
    NFX_ASSERT(entries_[detail::id_slot(entry.id)].get() == &entry);
    NFX_ASSERT(entry.state != State::closing || closing_ > 0);
    if (entry.accepted && entry.state == State::shaking_hands) shaking_.release(entry.place);
    if (entry.state == State::closing) --closing_;
    if (entry.timed) std::erase(timed_, entry.id);
    if (entry.ready) std::erase(ready_, entry.id);
    if (entry.waiting) std::erase(waiting_, entry.id);
    let_go(std::move(entries_[detail::id_slot(entry.id)]));
  }
  // If its step is away, the entry belongs to the executor from now on, and is deleted when it is back.
  static void let_go(std::unique_ptr<Entry> entry) noexcept {
    if (entry != nullptr && entry->away()) entry.release()->abandon();
  }
  void drop(Entry& entry) noexcept {
    const ConnectionId id = entry.id;
    forget(entry);
    inner_.close(id);
  }

  void hold_inner(Entry& entry, bool held) noexcept {
    if (entry.inner_held == held) return;
    entry.inner_held = held;
    inner_.hold(entry.id, held);
  }

  // The next poll serves it.
  void make_ready(Entry& entry) noexcept {
    NFX_ASSERT(entry.ready || ready_.size() < ready_.capacity());  // never allocates
    if (!std::exchange(entry.ready, true)) ready_.push_back(entry.id);
  }

  // Stores the input, whose memory is about to be reused, and stops receiving.
  void park(Entry& entry) {
    entry.stream.keep_input();
    entry.parked = true;
    hold_inner(entry, true);
  }

  // The input is consumed. Resumes receiving, unless the user holds the connection.
  void want_more(Entry& entry) noexcept {
    entry.stream.drop_input();
    hold_inner(entry, entry.held);
  }

  void set_deadline(Entry& entry, Duration from_now) noexcept {
    entry.deadline = clock_() + from_now;
    NFX_ASSERT(entry.timed || timed_.size() < timed_.capacity());
    if (!std::exchange(entry.timed, true)) timed_.push_back(entry.id);
  }

  // tls_transport_handshake.hpp: establishes connections.
  template <TransportSink Sink>
  void greet(Sink& sink, ListenerId listener, ConnectionId id, std::string_view peer);
  // Takes a place for one more handshake. False if the connection has to be closed.
  template <TransportSink Sink>
  [[nodiscard]] bool make_place(Sink& sink, const PeerAddress& address, bool known);
  template <TransportSink Sink>
  void begin_handshake(Sink& sink, Entry& entry);
  template <TransportSink Sink>
  void shake_hands(Sink& sink, Entry& entry);
  void send_away(Entry& entry);
  [[nodiscard]] bool some_back() const noexcept {
    return returns_ != nullptr && (back_ != nullptr || !returns_->empty());
  }
  [[nodiscard]] std::size_t most_away() const noexcept { return 2 * shaking_.places(); }
  template <TransportSink Sink>
  void take_back(Sink& sink);
  template <TransportSink Sink>
  void after_step(Sink& sink, Entry& entry, Status status);
  template <TransportSink Sink>
  void establish(Sink& sink, Entry& entry);
  template <TransportSink Sink>
  void give_up(Sink& sink, Entry& entry, CloseReason reason, const std::string& why);
  void note_failure(ConnectionId id, bool accepted, std::string_view peer, std::string_view why);
  template <TransportSink Sink>
  void report_failed_handshake(Sink& sink);
  // Few connections have a deadline, and only briefly, at their beginning or end.
  template <TransportSink Sink>
  void keep_deadlines(Sink& sink);
  [[nodiscard]] Duration shortened_wait(Duration max_wait) const;

  // tls_transport_stream.hpp: receives and sends on established connections. Passes pending output on. False if the
  // connection is broken, and the inner transport is about to report it.
  bool flush(Entry& entry) noexcept;
  SendResult send(Entry& entry, std::span<const char> bytes) noexcept;
  template <TransportSink Sink>
  void take(Sink& sink, Entry& entry, std::span<const char> bytes);
  void drop_input(Entry& entry, std::size_t bytes) noexcept;
  // Decrypts and delivers the input, until it is consumed or the connection is held.
  template <TransportSink Sink>
  void pump(Sink& sink, ConnectionId id);
  template <TransportSink Sink>
  void go_on_writing(Sink& sink, Entry& entry);
  template <TransportSink Sink>
  void inner_ended(Sink& sink, Entry& entry, CloseReason reason);
  // Ends an established connection with close_notify.
  template <TransportSink Sink>
  void end(Sink& sink, Entry& entry, CloseReason reason);
  template <TransportSink Sink>
  void serve_ready(Sink& sink);

  Inner& inner_;
  TlsTransportOptions options_;
  Clock clock_;
  std::unique_ptr<char[]> buffer_;                      // plaintext during one on_receive
  std::vector<std::unique_ptr<Entry>> entries_;         // by the connection's slot; null: without TLS
  std::vector<std::shared_ptr<TlsContext>> listeners_;  // by the listener's slot; null: without TLS
  std::vector<ConnectionId> ready_;                     // for the next poll
  std::vector<ConnectionId> serving_;
  std::vector<ConnectionId> timed_;                    // with a deadline
  std::vector<ConnectionId> waiting_;                  // waiting for their step to be sent away
  ConnectionPlaces shaking_;                           // accepted connections in their handshake
  std::vector<ConnectionId> shaking_ids_;              // by their places
  std::shared_ptr<detail::HandshakeReturns> returns_;  // null: without an executor
  HandshakeTask* back_ = nullptr;                      // taken from returns_, for the next polls
  std::size_t away_ = 0;                               // number of steps that are away
  std::size_t closing_ = 0;
  std::size_t handled_ = 0;
  std::size_t steps_left_ = 0;
  bool within_inner_ = false;
  TlsCounters counters_;
  TlsFailure failure_;
};

}  // namespace nfx

#include "transport/tls_transport_handshake.hpp"
#include "transport/tls_transport_stream.hpp"

namespace nfx {

static_assert(Transport<TlsTransport<LoopbackTransport>>);

}  // namespace nfx
