// A peer on a network: its connection, pending output, and received messages.
// Thread: the network's.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/testing/network.hpp"
#include "testing/raw_peer.hpp"

namespace nfx::testing {

class PeerParts {
 public:
  PeerParts(std::shared_ptr<NetworkParts> network, std::string sender, std::string target, PeerOptions options);
  PeerParts(const PeerParts&) = delete;
  PeerParts& operator=(const PeerParts&) = delete;
  ~PeerParts();

  // Reads, answers, and sends pending output. Returns the number of events.
  std::size_t take_turn();

  void connect();
  void logon(std::string_view fields);
  void logout(std::string_view text);
  void disconnect();
  [[nodiscard]] bool connected() const noexcept { return raw.connected(); }
  [[nodiscard]] bool logged_on() const noexcept { return connected() && logon_sent_ && logon_received_; }
  void send(const PeerMessage& message);
  void send_bytes(std::string_view bytes);
  [[nodiscard]] std::vector<Received> take(std::deque<Received>& from);
  [[nodiscard]] Received receive(std::string_view msg_type);

 private:
  std::shared_ptr<NetworkParts> network_;  // outlives everything on it

 public:
  RawPeer raw;
  bool reading = true;
  bool answering = true;
  std::deque<Received> application_messages;
  std::deque<Received> session_messages;

 private:
  static constexpr std::size_t most_returned = 1024;

  [[noreturn]] void fail(const std::string& text) const;
  void accept(Received message);
  // Uses the header fields of the session's other side.
  void identify(Role role);
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string logon_body(std::string_view fields) const;
  // Why the engine ended the connection, as far as the peer can tell.
  [[nodiscard]] std::string why_ended() const;
  void begin_connection();

  std::deque<Received> returned_;  // views of what receive() returned stay valid
  std::string sender_;
  std::string target_;
  PeerOptions options_;
  SessionConfig config_;
  std::string unsent_;
  std::string logout_text_;  // text of the engine's Logout on this connection
  bool was_connected_ = false;
  bool logon_sent_ = false;
  bool logon_received_ = false;
  bool logout_sent_ = false;
};

}  // namespace nfx::testing
