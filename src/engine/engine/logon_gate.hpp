// The state of Admission: connections whose Logon has not arrived yet, bounded in number, bytes and time; the listener
// that accepted them; and the checks of configuration and application before a session gets the connection.
// Thread: one owner, the poll thread. Cost: each place allocates its small buffer once, when it is first used. Errors:
// none; refused connections are counted by their reason. Bounds: see ConnectionPlaces for full places, and RefusalLimit
// for the number of refusals that are reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_counters.hpp"
#include "engine/engine_counter_rows.hpp"
#include "engine/peer_addresses.hpp"
#include "engine/refusal_limit.hpp"
#include "engine/session_index.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/authenticator.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/session/notice.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "transport/connection_places.hpp"
#include "transport/tls_facts.hpp"
#include "transport/transport.hpp"

namespace nfx {

// A connection whose Logon has not come yet.
struct PendingLogon {
  ConnectionId id = no_connection;
  ListenerId listener = no_listener;
  MonotonicTime deadline{};
  std::size_t size = 0;  // of what has been received
  std::string peer{};
  // The number of its session while another thread opens it, otherwise 0. Bytes received meanwhile wait in `rest`.
  std::size_t opening = 0;
  std::string rest{};
  bool challenging = false;  // its session is connected, and that peer has time to answer a TestRequest
  // Its peer is another gateway of the cluster, which may send a header before the Logon; its Logon came after one.
  bool from_gateway = false;
  bool handed_on = false;
  const SessionSettings* hands_on = nullptr;  // its session, which another gateway owns: it is given to that
  bool counted = false;                       // for max_logons_per_address
  bool approved = false;                      // by Authenticator::on_logon_request, which is called once for a Logon
  // Why its Logon is refused, once that is known; details, valid until Admission::receive() returns; and the
  // session that it names, where there is one.
  LogonRefusalReason refused = LogonRefusalReason::none;
  std::string_view refused_text{};
  const SessionConfig* names = nullptr;
};

// A connection that was just accepted.
struct IncomingConnection {
  ListenerId listener = no_listener;
  ConnectionId id = no_connection;
  std::string_view peer{};
  PeerStanding standing = PeerStanding::unknown;
};

class LogonGate {
 public:
  // For the sessions and templates of `thread`. `config` and `application` outlive this.
  LogonGate(const EngineConfig& config, std::uint32_t thread, Authenticator* authenticator);

  // Listeners.
  void listening(ListenerId listener, const Endpoint& endpoint);
  // The listener of an address that no session or template needs any more; it is closed now. Nothing: no listener, or
  // it is still needed.
  [[nodiscard]] std::optional<ListenerId> take_unused(const Endpoint& endpoint) noexcept;
  [[nodiscard]] std::optional<ListenerId> listener_at(const Endpoint& endpoint) const noexcept;

  // This thread hands connections on: others may come from the addresses of the other gateways.
  void expect_gateways(const ClusterConfig& cluster);
  // An acceptor or a template was added, or removed: updates the addresses that are allowed.
  void expect(const SessionSettings& settings);
  void forget(const SessionSettings& settings) noexcept;
  // The address is not allowed if no session or template of the listener allows it. It is known if allowed_addresses
  // names it, or if it logged on before.
  [[nodiscard]] PeerStanding standing(ListenerId listener, std::string_view peer) const noexcept;
  [[nodiscard]] PeerAddresses& addresses() noexcept { return addresses_; }
  // Acceptors whose sessions exist while this process owns them.
  [[nodiscard]] std::span<const SessionSettings* const> replicated() const noexcept { return replicated_; }

  // Gives a connection its place. When all its possible places are taken, evict(index) closes another connection, which
  // releases a place. Nothing: no place is free, and the connection has to be closed.
  template <class Evict>
  [[nodiscard]] std::optional<std::uint32_t> admit(const IncomingConnection& incoming, MonotonicTime now,
                                                   Evict&& evict) {
    NFX_ASSERT(incoming.id != no_connection && incoming.standing != PeerStanding::not_allowed);
    const PeerAddress address = PeerAddress::of_peer(incoming.peer);
    const bool known = incoming.standing == PeerStanding::known;
    // A Logon whose session is being opened, or connected, has passed all checks.
    const ConnectionPlaces::Decision decision = places_.decide(address, known, [this](std::uint32_t index) {
      const PendingLogon& pending = pending_[index];
      return pending.opening == 0 && !pending.challenging && pending.hands_on == nullptr;
    });
    if (!decision.possible) return std::nullopt;
    if (decision.evict) {
      evict(*decision.evict);
      NFX_ASSERT(pending_[*decision.evict].id == no_connection);
    }
    const std::uint32_t index = places_.take(address, known);
    try {
      return occupy(index, incoming, now);
    } catch (...) {  // no memory: the place is free again
      pending_[index] = {};
      places_.release(index);
      throw;
    }
  }
  [[nodiscard]] PendingLogon& operator[](std::uint32_t index) noexcept {
    NFX_ASSERT(index < pending_.size());
    NFX_ASSERT(pending_[index].id != no_connection);
    return pending_[index];
  }
  // Takes from the front of `bytes` what fits; received() is the first message of the connection. Returns the number of
  // bytes taken.
  std::size_t collect(std::uint32_t index, std::span<const char> bytes) noexcept;
  [[nodiscard]] std::string_view received(std::uint32_t index) const noexcept;
  // Removes its first bytes, which do not belong to the message.
  void drop_front(std::uint32_t index, std::size_t bytes) noexcept;
  [[nodiscard]] bool full(std::uint32_t index) const noexcept { return received(index).size() == most_bytes_; }
  [[nodiscard]] std::size_t most_bytes() const noexcept { return most_bytes_; }
  // The place is free again; the connection has ended or is a session's.
  void release(std::uint32_t index) noexcept;
  // The pending Logon that waits for this session to be opened.
  [[nodiscard]] std::optional<std::uint32_t> waiting_for(std::size_t session) const noexcept;

  // Counts a refusal. Whether it is reported by itself, or later as one of many.
  [[nodiscard]] bool count_refusal(LogonRefusalReason reason, std::string_view peer, MonotonicTime now);
  // Calls report(reason, count, last peer) for refusals that were not reported, when a report is due; at the end for
  // all.
  template <class Report>
  void report_counts(MonotonicTime now, bool at_end, Report&& report) {
    limit_.report_counts(now, at_end, report);
    deadline_ = std::min(deadline_, limit_.deadline());
  }

  // When the first of them has waited long enough, or a count is due; MonotonicTime::max() when there is nothing.
  [[nodiscard]] MonotonicTime deadline() const noexcept { return deadline_; }
  // Calls drop(index) for connections whose time limit has passed.
  template <class Drop>
  void expire(MonotonicTime now, Drop&& drop) {
    deadline_ = MonotonicTime::max();
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].id == no_connection) continue;
      if (pending_[i].deadline <= now) {
        drop(i);
        NFX_ASSERT(pending_[i].id == no_connection);
      } else {
        deadline_ = std::min(deadline_, pending_[i].deadline);
      }
    }
    NFX_ASSERT(deadline_ > now);
  }
  // Calls visit(index) for all.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].id != no_connection) visit(i);
    }
  }

  // Routing. The key of the session that a Logon names, for SessionTable::find; nothing: its listener is unknown.
  [[nodiscard]] std::optional<SessionKey> key_of(const MessageView& logon, const PendingLogon& pending) const noexcept;
  // The replicated session that the Logon names. If it does not exist here, another gateway of the cluster may have it.
  [[nodiscard]] const SessionSettings* owned_elsewhere(const MessageView& logon,
                                                       const PendingLogon& pending) const noexcept;
  // The settings of a session that a template makes for this Logon; nothing when no template fits, or the session is
  // not open now. `pending` states why.
  [[nodiscard]] std::optional<SessionSettings> from_template(const MessageView& logon, PendingLogon& pending,
                                                             UtcTime now) const;
  // Whether the session takes Logons from this address and of this certificate. `pending` states why not.
  [[nodiscard]] static bool may_come_from(const SessionSettings& settings, PendingLogon& pending,
                                          const TlsPeer* certificate);
  // Checks the peer's identity before the session changes: address and certificate, then the application. `pending`
  // states why not.
  [[nodiscard]] bool may_log_on(const SessionSettings& settings, const MessageView& logon, PendingLogon& pending,
                                bool is_new, const TlsPeer* certificate = nullptr);

  // From any thread.
  [[nodiscard]] PollLoopCounters counters() const noexcept { return read_shared(counters_); }

 private:
  struct Listening {
    ListenerId id;
    Endpoint endpoint;
    std::string name;
  };
  // The addresses that the sessions on a listen address allow for their peers.
  struct Allowed {
    struct Address {
      PeerAddress address;
      std::uint32_t sessions = 0;
    };
    Endpoint endpoint;
    std::uint32_t sessions = 0;
    std::uint32_t open = 0;  // number of sessions that allow every address
    std::vector<Address> addresses{};
  };

  [[nodiscard]] bool is_gateway(const PeerAddress& address) const noexcept {
    return std::ranges::find(gateways_, address) != gateways_.end();
  }
  std::uint32_t occupy(std::uint32_t index, const IncomingConnection& incoming, MonotonicTime now);

  Authenticator* const authenticator_;
  std::size_t most_bytes_;
  Duration timeout_;
  std::vector<const SessionSettings*> templates_;
  std::vector<const SessionSettings*> replicated_;
  std::vector<PeerAddress> gateways_;  // the others
  std::vector<Listening> listening_;
  std::vector<Allowed> allowed_;  // by listen address
  PeerAddresses addresses_;
  ConnectionPlaces places_;
  RefusalLimit limit_;
  std::vector<PendingLogon> pending_;           // by their places
  std::vector<std::unique_ptr<char[]>> bytes_;  // of each pending Logon
  MonotonicTime deadline_ = MonotonicTime::max();
  PollLoopCounters counters_;  // with count_shared()
};

}  // namespace nfx
