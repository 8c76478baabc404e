// Runs scenarios with the engine over a real TCP connection on loopback: the same poll loop as in production, with a
// clock that only the scenario advances. The peer's side is a plain socket, driven by the same thread between
// iterations.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "engine/clock.hpp"
#include "engine/poll_loop.hpp"
#include "peer.hpp"
#include "scenario.hpp"
#include "transport/epoll_transport.hpp"

namespace nfx::conformance {

class TcpPeer final : public Peer, public Application {
 public:
  explicit TcpPeer(const Setup& setup);
  ~TcpPeer() override;
  TcpPeer(const TcpPeer&) = delete;
  TcpPeer& operator=(const TcpPeer&) = delete;

  void connect() override;
  void cut() override;
  void send(std::string_view bytes) override;
  [[nodiscard]] std::optional<std::string> next_message() override;
  [[nodiscard]] bool closed() override;
  [[nodiscard]] bool quiet() override;
  [[nodiscard]] std::optional<std::string> delivered() override;
  [[nodiscard]] std::optional<std::string> reported() override;
  [[nodiscard]] bool app_send(const Outgoing& message) override;
  [[nodiscard]] bool app_reject(std::string_view refused, BusinessRejectReason reason, std::string_view text) override;
  void app_log_out(std::string_view text) override;
  void app_reset() override;
  void advance(Duration time) override;
  [[nodiscard]] UtcTime now() const override { return clock_.time.utc; }

 private:
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_reject(SessionHandle& session, const MessageView& reject) override;

  [[nodiscard]] bool has_message() const;
  void turn(Duration max_wait);
  void settle();
  template <class Done>
  bool wait_until(Done&& done);

  EngineConfig config_;
  ManualClock clock_;
  EpollTransport transport_;
  std::unique_ptr<PollLoop<EpollTransport, ManualClock>> loop_;
  bool started_ = false;
  int listener_ = -1;  // an initiator under test connects to it
  int socket_ = -1;
  bool ended_ = true;
  std::string received_;
  std::deque<std::string> delivered_;
  std::deque<std::string> reported_;
};

}  // namespace nfx::conformance
