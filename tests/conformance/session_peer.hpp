// Runs scenarios with a Session alone: no socket, no thread, and a clock that only the scenario advances.
#pragma once

#include "peer.hpp"
#include "scenario.hpp"
#include "session/session_rig.hpp"

namespace nfx::conformance {

// A scenario's configuration with its dictionary loaded.
[[nodiscard]] SessionConfig complete(const Setup& setup);

class SessionPeer final : public Peer {
 public:
  explicit SessionPeer(const Setup& setup);

  void connect() override { rig_.connect(); }
  void cut() override { rig_.cut(); }
  void send(std::string_view bytes) override;
  [[nodiscard]] std::optional<std::string> next_message() override;
  [[nodiscard]] bool closed() override { return rig_.closed; }
  [[nodiscard]] bool quiet() override;
  [[nodiscard]] std::optional<std::string> delivered() override;
  [[nodiscard]] std::optional<std::string> reported() override;
  [[nodiscard]] bool app_send(const Outgoing& message) override;
  [[nodiscard]] bool app_reject(std::string_view refused, BusinessRejectReason reason, std::string_view text) override;
  void app_log_out(std::string_view text) override { rig_.logout(text); }
  void app_reset() override {
    rig_.ask([this](Actions& out) { return rig_.session.reset_numbers(rig_.now, out); });
  }
  void advance(Duration time) override { rig_.advance(time); }
  [[nodiscard]] UtcTime now() const override { return rig_.now.utc; }

 private:
  test::SessionRig rig_;
};

}  // namespace nfx::conformance
