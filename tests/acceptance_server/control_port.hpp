// The control port of SERVER.md's protocol: GET /set?session=FIX.4.4:ISLD->TW&NEXTSENDERSEQNUM=2000, on loopback. It
// gives the engine the same command as its control plane. One client at a time, for a test suite.
// Thread: one of its own. Lifetime: the engine outlives it. Errors: the constructor throws std::system_error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "nexusfix/engine/engine.hpp"

class ControlPort {
 public:
  ControlPort(nfx::Engine& engine, std::uint16_t port);
  ~ControlPort();
  ControlPort(const ControlPort&) = delete;
  ControlPort& operator=(const ControlPort&) = delete;

 private:
  struct Reply {
    unsigned status;
    std::string text;
  };
  void serve();
  void answer(int client);
  [[nodiscard]] Reply reply_to(std::string_view request);

  nfx::Engine& engine_;
  int listener_ = -1;
  std::thread thread_;
};
