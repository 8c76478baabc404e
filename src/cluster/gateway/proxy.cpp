// A relay for each connection: two connections of one transport, and what waits between them.
#include "gateway/proxy.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/proxy_header.hpp"

namespace nfx::gateway {
namespace {

enum Side : std::size_t { peer, owner };

[[nodiscard]] Side other(Side side) noexcept { return side == peer ? owner : peer; }

constexpr Duration longest_sleep{std::chrono::hours{1}};

struct Relay {
  HandedOn connection;  // its socket is the transport's
  ProxyTarget target;
  bool connected = false;
  std::array<ConnectionId, 2> ids{};
  std::array<std::string, 2> waiting{};  // for that side
  std::array<std::uint64_t, 2> sent{};
  MonotonicTime begun{};
  // By which that side has to take something, or has to be connected.
  std::array<MonotonicTime, 2> deadlines{MonotonicTime::max(), MonotonicTime::max()};
  std::string reason{};  // one side has ended, and the other one gets what waits for it
  bool ended = false;
};

}  // namespace

class Proxy::Relays {
 public:
  Relays(const ProxyOptions& options, std::function<void(const ProxyReport&)> report)
      : options_(options),
        report_(std::move(report)),
        // Those that are closed deliver their last bytes for a time.
        transport_({.receive_buffer_size = options.piece_bytes, .max_connections = 4 * options.connections_max}),
        sides_(4 * options.connections_max),
        thread_([this] { begin_thread(); }) {}
  ~Relays() {
    stop_.store(true, std::memory_order_release);
    transport_.wake();
    thread_.join();
  }
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  [[nodiscard]] bool add(HandedOn& connection, const ProxyTarget& target) {
    {
      const std::lock_guard lock{mutex_};
      if (count_ == options_.connections_max) return false;
      ++count_;
      added_.push_back(std::make_unique<Relay>(Relay{.connection = std::move(connection), .target = target}));
    }
    transport_.wake();
    return true;
  }

  // TransportSink.

  void on_accept(ListenerId, ConnectionId, std::string_view) noexcept {}

  void on_connect(ConnectionId id) {
    const auto [relay, side] = find(id);
    if (relay == nullptr) return;
    NFX_ASSERT(side == owner && !relay->connected);
    relay->connected = true;
    relay->deadlines[owner] = MonotonicTime::max();
    report(*relay, ProxyReport::Kind::begun);
    send(*relay, owner, std::exchange(relay->connection.bytes, {}));
    if (!relay->ended && relay->waiting[owner].empty()) transport_.hold(relay->ids[peer], false);
  }

  void on_receive(ConnectionId id, std::span<const char> bytes) {
    const auto [relay, side] = find(id);
    if (relay != nullptr) send(*relay, other(side), {bytes.data(), bytes.size()});
  }

  void on_writable(ConnectionId id) {
    const auto [relay, side] = find(id);
    if (relay == nullptr || relay->waiting[side].empty()) return;
    send(*relay, side, std::exchange(relay->waiting[side], {}));
    if (relay->ended || !relay->waiting[side].empty()) return;
    if (!relay->reason.empty()) return end(*relay);
    transport_.hold(relay->ids[other(side)], false);
  }

  void on_close(ConnectionId id, CloseReason why) {
    const auto [relay, side] = find(id);
    if (relay == nullptr) return;
    static_cast<void>(forget(*relay, side));
    if (!relay->connected) return end(*relay, std::string{to_string(why)});
    relay->reason = side_name(side) + (why == CloseReason::peer_closed ? std::string{" has closed the connection"}
                                                                       : ": " + std::string{to_string(why)});
    if (relay->waiting[other(side)].empty()) return end(*relay);
    // Its bytes have no receiver.
    transport_.hold(relay->ids[other(side)], true);
  }

 private:
  struct Found {
    Relay* relay;
    Side side;
  };

  [[nodiscard]] static std::string side_name(Side side) { return side == peer ? "the peer" : "the gateway"; }

  [[nodiscard]] Found find(ConnectionId id) const noexcept {
    const Found found = sides_[slot_of(id)];
    const bool current = found.relay != nullptr && found.relay->ids[found.side] == id;
    return current ? found : Found{};
  }
  void set(Relay& relay, Side side, ConnectionId id) noexcept {
    relay.ids[side] = id;
    sides_[slot_of(id)] = {&relay, side};
  }

  // The connection is no longer a side of it.
  [[nodiscard]] ConnectionId forget(Relay& relay, Side side) noexcept {
    const ConnectionId id = std::exchange(relay.ids[side], no_connection);
    if (id != no_connection) sides_[slot_of(id)] = {};
    return id;
  }

  void begin_thread() {
    CpuAffinity::name_thread("nfx-proxy");
    if (!options_.in_place) return run();
    options_.in_place([this] { run(); });
  }
  void run() {
    while (!stop_.load(std::memory_order_acquire)) {
      begin_added();
      transport_.poll(*this, end_late());
      forget_ended();
    }
    begin_added();
    for (const auto& relay : relays_) end(*relay, "this gateway stops");
  }

  void begin_added() {
    std::vector<std::unique_ptr<Relay>> added;
    {
      const std::lock_guard lock{mutex_};
      added.swap(added_);
    }
    for (auto& relay : added) {
      relays_.push_back(std::move(relay));
      begin(*relays_.back());
    }
  }

  // The peer is read once the owner has its first bytes.
  void begin(Relay& relay) {
    relay.begun = read_monotonic();
    const std::string header = proxy_header(relay.connection.socket);
    if (header.empty()) return end(relay, "the peer has gone");
    relay.connection.bytes.insert(0, header);
    const SocketOptions socket{.send_buffer = options_.socket_buffer,
                               .receive_buffer = options_.socket_buffer,
                               .from = {.host = options_.from}};
    const std::optional<ConnectionId> adopted = transport_.adopt(relay.connection.socket, socket);
    if (!adopted) return end(relay, "too many connections deliver their last bytes");
    relay.connection.socket = -1;
    set(relay, peer, *adopted);
    transport_.hold(*adopted, true);
    const auto connecting = transport_.connect(relay.target.address, socket);
    if (!connecting) return end(relay, connecting.error().text());
    set(relay, owner, *connecting);
    relay.deadlines[owner] = relay.begun + options_.connect_max;
  }

  // Keeps what the side does not take now, and has the other one wait.
  void send(Relay& relay, Side side, std::string_view bytes) {
    NFX_ASSERT(relay.waiting[side].empty());
    const ConnectionId to = relay.ids[side];
    if (to == no_connection) return;
    const SendResult result = transport_.try_send(to, bytes);
    if (result.closed) return end(relay, side_name(side) + " has gone");
    relay.sent[side] += result.sent;
    MonotonicTime& deadline = relay.deadlines[side];
    if (result.sent == bytes.size()) {
      deadline = MonotonicTime::max();
      return;
    }
    relay.waiting[side] = bytes.substr(result.sent);
    if (result.sent != 0 || deadline == MonotonicTime::max()) deadline = read_monotonic() + options_.stalled_max;
    transport_.hold(relay.ids[other(side)], true);
  }

  // Those whose time is over. Returns how long to wait for the next one.
  [[nodiscard]] Duration end_late() {
    const MonotonicTime now = read_monotonic();
    Duration wait = longest_sleep;
    for (const auto& relay : relays_) {
      if (relay->ended) return Duration::zero();
      for (const Side side : {peer, owner}) {
        const MonotonicTime deadline = relay->deadlines[side];
        if (deadline <= now) {
          end(*relay, relay->connected ? side_name(side) + " has read nothing for too long" : "no connection in time");
          return Duration::zero();
        }
        if (deadline != MonotonicTime::max()) wait = std::min(wait, Duration{deadline - now});
      }
    }
    return wait;
  }

  void end(Relay& relay, std::string reason = {}) {
    if (std::exchange(relay.ended, true)) return;
    if (relay.reason.empty()) relay.reason = std::move(reason);
    for (const Side side : {peer, owner}) {
      if (const ConnectionId id = forget(relay, side); id != no_connection) transport_.close(id);
    }
    report(relay, relay.connected ? ProxyReport::Kind::ended : ProxyReport::Kind::unreachable);
  }

  void forget_ended() {
    const std::size_t gone = std::erase_if(relays_, [](const auto& relay) { return relay->ended; });
    if (gone == 0) return;
    const std::lock_guard lock{mutex_};
    count_ -= gone;
  }

  void report(const Relay& relay, ProxyReport::Kind kind) {
    report_({.kind = kind,
             .connection = relay.connection,
             .target = relay.target,
             .reason = relay.reason,
             .bytes_to_owner = relay.sent[owner],
             .bytes_to_peer = relay.sent[peer],
             .lasted = read_monotonic() - relay.begun});
  }

  const ProxyOptions options_;
  const std::function<void(const ProxyReport&)> report_;
  EpollTransport transport_;
  std::vector<Found> sides_;  // by the slot of a connection
  std::vector<std::unique_ptr<Relay>> relays_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Relay>> added_;
  std::size_t count_ = 0;  // added and not forgotten
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Proxy::Proxy(const ProxyOptions& options, std::function<void(const ProxyReport&)> report)
    : relays_(std::make_unique<Relays>(options, std::move(report))) {}
Proxy::~Proxy() = default;
bool Proxy::add(HandedOn& connection, const ProxyTarget& target) { return relays_->add(connection, target); }

}  // namespace nfx::gateway
