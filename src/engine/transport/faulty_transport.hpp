// Makes any transport as unreliable as a network: split pieces, late delivery, cut connections, swallowed bytes.
// Thread, order and errors: as the inner transport. Cost: copies and allocations; for tests and simulation. One seed
// determines all faults. They are drawn per connection, in the order in which connections begin, and occur at positions
// of the byte stream, so they do not depend on how the kernel slices it. Over a loopback transport everything is
// reproducible; over TCP the faults are. Time comes from the given clock, so delays need no waiting.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "transport/loopback_transport.hpp"
#include "transport/transport.hpp"

namespace nfx {

struct FaultOptions {
  std::uint64_t seed = 1;
  double split_probability = 0;  // of a small piece, in both directions
  std::size_t small_piece = 16;  // maximum size of a small piece
  double delay_probability = 0;  // of a late piece; the order within a connection does not change
  Duration max_delay = std::chrono::milliseconds(10);
  double cut_probability = 0;      // of a cut connection; direction and position are drawn
  std::size_t cut_within = 4096;   // ... within this many first bytes
  double swallow_probability = 0;  // of a connection that goes silent; direction and position are drawn
  std::size_t swallow_within = 4096;
  std::size_t send_buffer = 64 * 1024;      // delayed outgoing bytes per connection; beyond that, try_send sends less
  std::size_t receive_buffer = 256 * 1024;  // delayed incoming bytes of all connections; beyond that, reading pauses
  Duration linger_time = std::chrono::seconds(2);  // time that close() continues to deliver in the background
};

struct FaultCounters {
  std::uint64_t small_pieces = 0;
  std::uint64_t delayed_pieces = 0;
  std::uint64_t cuts = 0;
  std::uint64_t losses = 0;  // connections that only one side lost
  std::uint64_t swallowed_bytes = 0;

  friend bool operator==(const FaultCounters&, const FaultCounters&) = default;
};

namespace detail {

// One direction of a faulty connection: bytes go in, pieces come out when they are due.
class FaultyFlow {
 public:
  struct Piece {
    MonotonicTime due;
    std::string bytes;
  };
  static constexpr std::uint64_t never = UINT64_MAX;

  void begin(std::uint64_t seed) noexcept;
  void cut_at(std::uint64_t position) noexcept { cut_at_ = position; }
  void swallow_from(std::uint64_t position) noexcept { swallow_from_ = position; }
  void swallow_from_now() noexcept { swallow_from_ = position_; }

  // Takes all of `bytes`; bytes after the cut are lost.
  void add(std::span<const char> bytes, MonotonicTime now, const FaultOptions& options, FaultCounters& counters);
  [[nodiscard]] bool cut() const noexcept { return position_ >= cut_at_; }
  [[nodiscard]] MonotonicTime last_due() const noexcept { return piece_due_; }

  std::deque<Piece> pieces;
  std::size_t queued = 0;  // bytes in `pieces`

 private:
  void start_piece(MonotonicTime now, const FaultOptions& options, FaultCounters& counters);

  std::uint64_t random_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t cut_at_ = never;
  std::uint64_t swallow_from_ = never;
  std::uint64_t piece_left_ = 0;
  MonotonicTime piece_due_{};
};

// Draws when a connection is cut and when it goes silent.
void plan_faults(const FaultOptions& options, std::uint64_t ordinal, FaultyFlow& in, FaultyFlow& out) noexcept;

// Throws std::invalid_argument for a probability outside 0..1 or a size of 0.
void check_fault_options(const FaultOptions& options);

}  // namespace detail

template <Transport Inner>
class FaultyTransport {
 public:
  using Clock = std::function<MonotonicTime()>;

  // `inner` and the clock's source must outlive this object.
  FaultyTransport(Inner& inner, FaultOptions options, Clock clock)
      : inner_(inner), options_(options), clock_(std::move(clock)) {
    detail::check_fault_options(options);
  }
  FaultyTransport(const FaultyTransport&) = delete;
  FaultyTransport& operator=(const FaultyTransport&) = delete;

  [[nodiscard]] std::expected<ListenerId, TransportError> listen(const Endpoint& endpoint,
                                                                 const SocketOptions& options = {}) {
    return inner_.listen(endpoint, options);
  }
  [[nodiscard]] std::optional<Endpoint> local_endpoint(ListenerId id) const { return inner_.local_endpoint(id); }
  void close_listener(ListenerId id) noexcept { inner_.close_listener(id); }

  [[nodiscard]] std::expected<ConnectionId, TransportError> connect(const Endpoint& endpoint,
                                                                    const SocketOptions& options = {}) {
    const auto inner_id = inner_.connect(endpoint, options);
    if (!inner_id) return std::unexpected(inner_id.error());
    return id_of(begin(*inner_id));
  }

  SendResult try_send(ConnectionId id, std::span<const char> bytes) noexcept {
    Connection* connection = find(id);
    if (connection == nullptr || connection->inner == no_connection) return {0, true};
    if (!connection->established) return {0, false};
    const std::size_t room = options_.send_buffer - std::min(options_.send_buffer, connection->out.queued);
    const std::size_t taken = std::min(bytes.size(), room);
    if (taken < bytes.size()) connection->wants_write = true;
    connection->out.add(bytes.first(taken), clock_(), options_, counters_);
    flush(*connection);
    return {taken, false};
  }

  void close(ConnectionId id) noexcept {
    Connection* connection = find(id);
    if (connection == nullptr) return;
    if (connection->inner == no_connection) return release(*connection);
    forget_input(*connection);
    ++connection->generation;
    connection->closing = true;
    connection->linger_until = clock_() + options_.linger_time;
    flush(*connection);
  }

  void hold(ConnectionId id, bool held) noexcept {
    Connection* connection = find(id);
    if (connection == nullptr) return;
    connection->held = held;
    inner_.hold(connection->inner, held);
  }

  [[nodiscard]] std::size_t lingering() const noexcept {
    const auto closing = std::ranges::count_if(connections_, [](const Connection& c) { return c.used && c.closing; });
    return inner_.lingering() + static_cast<std::size_t>(closing);
  }

  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept { return inner_.received_at(); }
  void wake() noexcept { inner_.wake(); }

  template <TransportSink Sink>
  std::size_t poll(Sink& sink, Duration max_wait) {
    for (Connection& connection : connections_) flush(connection);
    if (queued_in_ < options_.receive_buffer) {
      Recorder recorder{*this};
      inner_.poll(recorder, shortened_wait(max_wait));
    }
    std::size_t handled = 0;
    for (std::size_t i = 0; i < connections_.size(); ++i) {  // also serves connections that callbacks begin
      flush(connections_[i]);
      handled += deliver(sink, connections_[i]);
    }
    return handled;
  }

  // Cuts the connection: bytes inside this transport are lost, and the sink gets on_close(reset).
  void cut(ConnectionId id) {
    Connection* connection = find(id);
    if (connection == nullptr || connection->inner == no_connection) return;
    break_off(*connection);
  }

  // From now on neither direction carries anything, and neither side is told of an end.
  void swallow(ConnectionId id) {
    if (Connection* connection = find(id)) {
      connection->in.swallow_from_now();
      connection->out.swallow_from_now();
    }
  }

  // Only this side loses the connection: the sink gets on_close(reset), and bytes sent before are lost inside this
  // transport. The peer sees only silence until it closes its end or this transport is destroyed.
  void lose(ConnectionId id) {
    Connection* connection = find(id);
    if (connection == nullptr || connection->inner == no_connection) return;
    ++counters_.losses;
    connection->in.swallow_from_now();
    connection->out.swallow_from_now();
    ended(*connection, CloseReason::reset);
  }

  // Applies to pieces and connections that begin later. Throws std::invalid_argument like the constructor. The sizes of
  // both buffers do not change.
  void change_faults(FaultOptions options) {
    detail::check_fault_options(options);
    options.send_buffer = options_.send_buffer;
    options.receive_buffer = options_.receive_buffer;
    options_ = options;
  }

  // When the next late piece is due, or when a closed connection gives up input that its peer does not read. A
  // simulator advances its clock to this time. Pieces that are already due wait for the peer, not for time.
  [[nodiscard]] std::optional<MonotonicTime> next_due() const {
    std::optional<MonotonicTime> earliest;
    const MonotonicTime now = clock_();
    const auto consider = [&](MonotonicTime due) {
      if (due > now) earliest = earliest ? std::min(*earliest, due) : due;
    };
    for (const Connection& connection : connections_) {
      if (!connection.used) continue;
      if (!connection.out.pieces.empty()) consider(connection.out.pieces.front().due);
      if (!connection.events.empty() && !connection.held) consider(due_of(connection));
      if (connection.closing) consider(connection.linger_until);
    }
    return earliest;
  }

  [[nodiscard]] const FaultCounters& counters() const noexcept { return counters_; }

 private:
  enum class EventKind : std::uint8_t { accepted, connected, received, closed };

  struct Event {
    EventKind kind;
    MonotonicTime due{};
    ListenerId listener = no_listener;
    CloseReason reason = CloseReason::reset;
    std::string peer;
  };

  struct Connection {
    ConnectionId inner = no_connection;  // none after the inner connection has ended
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    bool used = false;
    bool established = false;
    bool wants_write = false;
    bool closing = false;  // closed by the user; late bytes are still sent
    bool held = false;     // its events are held back
    MonotonicTime linger_until{};
    std::deque<Event> events;  // for the sink; one `received` per piece of `in`
    detail::FaultyFlow in;
    detail::FaultyFlow out;
  };

  // Queues the events of the inner transport, so that no user code runs inside the inner poll.
  struct Recorder {
    FaultyTransport& self;

    void on_accept(ListenerId listener, ConnectionId inner, std::string_view peer) {
      Connection& connection = self.begin(inner);
      connection.events.push_back({.kind = EventKind::accepted, .listener = listener, .peer = std::string(peer)});
    }
    void on_connect(ConnectionId inner) {
      if (Connection* connection = self.find_inner(inner))
        connection->events.push_back({.kind = EventKind::connected, .peer = {}});
    }
    void on_receive(ConnectionId inner, std::span<const char> bytes) {
      Connection* connection = self.find_inner(inner);
      if (connection == nullptr || connection->closing) return;
      const std::size_t pieces = connection->in.pieces.size();
      const std::size_t queued = connection->in.queued;
      connection->in.add(bytes, self.clock_(), self.options_, self.counters_);
      for (std::size_t i = pieces; i < connection->in.pieces.size(); ++i) {
        connection->events.push_back({.kind = EventKind::received, .due = connection->in.pieces[i].due, .peer = {}});
      }
      self.queued_in_ += connection->in.queued - queued;
      if (connection->in.cut()) self.break_off(*connection);
    }
    void on_writable(ConnectionId inner) {
      if (Connection* connection = self.find_inner(inner)) self.flush(*connection);
    }
    void on_close(ConnectionId inner, CloseReason reason) {
      if (Connection* connection = self.find_inner(inner)) self.ended(*connection, reason);
    }
  };

  static constexpr std::size_t pieces_per_poll = 64;

  [[nodiscard]] static MonotonicTime due_of(const Connection& connection) { return connection.events.front().due; }

  [[nodiscard]] ConnectionId id_of(const Connection& connection) const noexcept {
    return detail::make_id<ConnectionId>(connection.slot, connection.generation);
  }

  [[nodiscard]] Connection* find(ConnectionId id) noexcept {
    const std::uint32_t slot = detail::id_slot(id);
    if (slot >= connections_.size()) return nullptr;
    Connection& connection = connections_[slot];
    return connection.used && !connection.closing && id_of(connection) == id ? &connection : nullptr;
  }

  [[nodiscard]] Connection* find_inner(ConnectionId inner) noexcept {
    const auto at = by_inner_.find(inner);
    return at == by_inner_.end() ? nullptr : &connections_[at->second];
  }

  Connection& begin(ConnectionId inner) {
    auto place = std::ranges::find(connections_, false, &Connection::used);
    if (place == connections_.end()) {
      place = connections_.insert(connections_.end(), Connection{});
      place->slot = static_cast<std::uint32_t>(connections_.size() - 1);
    }
    const std::uint32_t generation = place->generation + 1;
    const std::uint32_t slot = place->slot;
    *place = Connection{};
    place->slot = slot;
    place->generation = generation;
    place->used = true;
    place->inner = inner;
    detail::plan_faults(options_, ++ordinal_, place->in, place->out);
    by_inner_[inner] = slot;
    return *place;
  }

  // Sends pieces that are due; ends a connection whose output is complete.
  void flush(Connection& connection) {
    if (!connection.used || connection.inner == no_connection) return;
    const MonotonicTime now = clock_();
    auto& pieces = connection.out.pieces;
    if (connection.closing && now >= connection.linger_until) return give_up(connection);
    while (!pieces.empty() && pieces.front().due <= now) {
      std::string& bytes = pieces.front().bytes;
      const SendResult result = inner_.try_send(connection.inner, bytes);
      connection.out.queued -= result.sent;
      if (result.closed) return;  // the inner on_close will follow
      bytes.erase(0, result.sent);
      if (!bytes.empty()) return;  // the inner on_writable will follow
      pieces.pop_front();
    }
    if (!pieces.empty()) return;
    if (connection.out.cut()) return break_off(connection);
    if (connection.closing) give_up(connection);
  }

  void give_up(Connection& connection) {
    inner_.close(connection.inner);
    release(connection);
  }

  void break_off(Connection& connection) {
    ++counters_.cuts;
    inner_.close(connection.inner);
    ended(connection, CloseReason::reset);
  }

  // The inner connection has ended; the sink is told after all queued events.
  void ended(Connection& connection, CloseReason reason) {
    by_inner_.erase(connection.inner);
    connection.inner = no_connection;
    if (connection.closing) return release(connection);
    connection.out.pieces.clear();
    connection.out.queued = 0;
    const MonotonicTime due = connection.events.empty() ? connection.in.last_due() : connection.events.back().due;
    connection.events.push_back({.kind = EventKind::closed, .due = due, .reason = reason, .peer = {}});
  }

  void forget_input(Connection& connection) noexcept {
    queued_in_ -= connection.in.queued;
    connection.in.queued = 0;
    connection.in.pieces.clear();
    connection.events.clear();
  }

  void release(Connection& connection) noexcept {
    if (connection.inner != no_connection) by_inner_.erase(connection.inner);
    forget_input(connection);
    connection.inner = no_connection;
    connection.used = false;
    connection.closing = connection.held = false;
  }

  template <TransportSink Sink>
  std::size_t deliver(Sink& sink, Connection& connection) {
    std::size_t handled = 0;
    const std::uint32_t generation = connection.generation;  // changes if a callback closes the connection
    const auto alive = [&] { return connection.used && connection.generation == generation; };
    const MonotonicTime now = clock_();
    while (alive() && !connection.held && handled < pieces_per_poll && !connection.events.empty() &&
           due_of(connection) <= now) {
      const Event event = std::move(connection.events.front());
      connection.events.pop_front();
      hand_over(sink, connection, event);
      ++handled;
    }
    if (alive() && connection.wants_write && connection.inner != no_connection &&
        connection.out.queued < options_.send_buffer) {
      connection.wants_write = false;
      sink.on_writable(id_of(connection));
      ++handled;
    }
    return handled;
  }

  template <TransportSink Sink>
  void hand_over(Sink& sink, Connection& connection, const Event& event) {
    const ConnectionId id = id_of(connection);
    switch (event.kind) {
      case EventKind::accepted:
        connection.established = true;
        return sink.on_accept(event.listener, id, std::string_view(event.peer));
      case EventKind::connected: connection.established = true; return sink.on_connect(id);
      case EventKind::received: {
        std::string bytes = std::move(connection.in.pieces.front().bytes);
        connection.in.pieces.pop_front();
        connection.in.queued -= bytes.size();
        queued_in_ -= bytes.size();
        return sink.on_receive(id, std::span<const char>(bytes));
      }
      case EventKind::closed: release(connection); return sink.on_close(id, event.reason);
    }
  }

  // A late piece ends a wait; a piece that is already due prevents it.
  [[nodiscard]] Duration shortened_wait(Duration max_wait) const {
    const MonotonicTime now = clock_();
    for (const Connection& connection : connections_) {
      if (connection.used && !connection.held && !connection.events.empty() && due_of(connection) <= now)
        return Duration::zero();
      const bool has_room = connection.out.queued < options_.send_buffer;
      if (connection.used && connection.wants_write && connection.inner != no_connection && has_room)
        return Duration::zero();
    }
    const auto due = next_due();
    return due ? std::clamp(*due - now, Duration::zero(), std::max(max_wait, Duration::zero())) : max_wait;
  }

  Inner& inner_;
  FaultOptions options_;
  Clock clock_;
  std::deque<Connection> connections_;  // by slot; references stay valid as it grows
  std::map<ConnectionId, std::uint32_t> by_inner_;
  std::uint64_t ordinal_ = 0;
  std::size_t queued_in_ = 0;
  FaultCounters counters_;
};

static_assert(Transport<FaultyTransport<LoopbackTransport>>);

}  // namespace nfx
