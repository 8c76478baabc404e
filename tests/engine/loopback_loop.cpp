// The poll loop of the tests' rig, compiled once.
#include "engine/clock.hpp"
#include "engine/poll_loop_impl.hpp"
#include "nexusfix/transport/loopback_transport.hpp"

template class nfx::PollLoop<nfx::LoopbackTransport, nfx::ManualClock>;
