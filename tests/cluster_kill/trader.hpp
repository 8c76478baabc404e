// The counterparty with NexusFIX's engine.
// Thread: one of its own. Errors: ConfigError from the constructor.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "counterparty.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"

namespace nfx::cluster_kill {

class Trader final : public Application, public Observer, public Counterparty {
 public:
  // Connects to the ports in turn, or listens on the port of a gateway that connects.
  Trader(Role role, std::vector<std::uint16_t> ports, Load load);
  ~Trader() override;

  void stop() override;

 private:
  void on_logon(SessionHandle& session) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text) override;
  Duration on_turn(Instant now) override;

  SessionHandle* session_ = nullptr;
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
};

}  // namespace nfx::cluster_kill
