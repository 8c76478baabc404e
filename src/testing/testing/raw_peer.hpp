// One side of a loopback connection whose bytes the caller writes; it does nothing by itself.
// Thread: the network's. Lifetime: network and clock outlive it. Errors: TestError for bytes that are not a message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_config.hpp"
#include "transport/loopback_transport.hpp"

namespace nfx::testing {

// "11=a|55=b" with SOH for '|' and at its end; unchanged if it contains a SOH.
[[nodiscard]] std::string fields_of(std::string_view text);

class RawPeer {
 public:
  RawPeer(LoopbackNetwork& network, const ManualClock& clock, std::string name = "TRADER", LoopbackOptions options = {},
          std::string venue = "VENUE");

  // The messages have this configuration's header.
  void identify(const SessionConfig& config) { composer_.emplace(config); }
  // From this address; if empty, from the network's default.
  void connect(std::uint16_t port = 9000, std::string from = {});
  // Accepts one connection at a time. Throws TestError if the port is in use.
  void listen(std::uint16_t port);
  [[nodiscard]] bool connected() const noexcept { return id_ != no_connection && !closed; }

  [[nodiscard]] std::string message(std::string_view type, std::string_view body, std::uint64_t number,
                                    bool poss_dup = false);
  [[nodiscard]] std::string next(std::string_view type, std::string_view body = {});
  // A message with a wrong CheckSum.
  [[nodiscard]] std::string garbled(std::string_view type, std::string_view body = {});
  [[nodiscard]] std::string logon(std::string_view more = {});
  // Returns the number of bytes that the network took.
  std::size_t send(std::string_view bytes);
  // Returns the number of events.
  std::size_t read();
  void close();

  // The bytes of each message received so far; take_messages() removes them.
  [[nodiscard]] std::vector<std::string> messages() const;
  [[nodiscard]] std::vector<std::string> take_messages();
  [[nodiscard]] static std::string get(const std::string& message, Tag tag);
  // One field of every received message.
  [[nodiscard]] std::vector<std::string> all(Tag tag) const;

  void on_accept(ListenerId, ConnectionId id, std::string_view);
  void on_connect(ConnectionId) {}
  void on_receive(ConnectionId, std::span<const char> bytes) { received.append(bytes.data(), bytes.size()); }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { closed = true; }

  std::uint64_t seq = 1;
  std::string received;
  bool closed = false;

 private:
  void begin(ConnectionId id);

  LoopbackTransport transport_;
  const ManualClock& clock_;
  std::optional<Composer> composer_;
  ConnectionId id_ = no_connection;
};

}  // namespace nfx::testing
