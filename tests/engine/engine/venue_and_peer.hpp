// A venue with one session, and the raw peer of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/loop_rig.hpp"

namespace nfx::test {

class VenueAndPeer : public ::testing::Test {
 protected:
  VenueAndPeer() { rig.venue.config.sessions = {acceptor()}; }
  // Before the venue starts.
  SessionSettings& settings() { return rig.venue.config.sessions[0]; }

  // From this address; empty: the network has none.
  void log_on(std::string from = {}) {
    peer.connect(9000, std::move(from));
    rig.turn();
    peer.send(peer.logon());
    rig.turn(2);
    peer.read();
  }
  SessionHandle& session() { return rig.venue.session(); }

  LoopRig rig;
  RawPeer peer{rig.network, rig.clock};
};

}  // namespace nfx::test
