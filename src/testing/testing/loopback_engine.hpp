// An engine's poll loop on a loopback network, with a clock that its owner moves.
// Thread: one for the network and everything on it. Lifetime: network, clock and application outlive the loop.
#pragma once

#include <optional>

#include "engine/poll_loop.hpp"
#include "transport/loopback_transport.hpp"

namespace nfx::testing {

using LoopbackLoop = PollLoop<LoopbackTransport, ManualClock>;

}  // namespace nfx::testing

// Instantiated in loopback_engine.cpp.
extern template class nfx::PollLoop<nfx::LoopbackTransport, nfx::ManualClock>;

namespace nfx::testing {

class LoopbackEngine {
 public:
  LoopbackEngine(LoopbackNetwork& network, ManualClock& clock, LoopbackOptions options = {});
  LoopbackEngine(const LoopbackEngine&) = delete;
  LoopbackEngine& operator=(const LoopbackEngine&) = delete;
  ~LoopbackEngine();

  // Checks the configuration and starts the loop. Throws ConfigError.
  void start(Callbacks program);

  EngineConfig config;
  LoopbackTransport transport;
  std::optional<LoopbackLoop> loop;  // set once started

 private:
  ManualClock& clock_;
};

}  // namespace nfx::testing
