// The poll loop on a loopback network, compiled once.
#include "testing/loopback_engine.hpp"

#include <utility>

#include "engine/poll_loop_impl.hpp"

template class nfx::PollLoop<nfx::LoopbackTransport, nfx::ManualClock>;

namespace nfx::testing {

LoopbackEngine::LoopbackEngine(LoopbackNetwork& network, ManualClock& clock, LoopbackOptions options)
    : transport(network, options), clock_(clock) {}
LoopbackEngine::~LoopbackEngine() = default;

void LoopbackEngine::start(Callbacks program) {
  check_config(config);
  loop.emplace(config, 0, transport, clock_, std::move(program));
  loop->start();
}

}  // namespace nfx::testing
