// A program's typed application at a venue, and a logged-on peer.
#pragma once

#include <string>

#include "nexusfix/testing.hpp"

namespace nfx::codegen_test {

template <typename Program>
struct DeskRig {
  DeskRig() { trader.logon(); }

  SessionHandle& session() { return venue.session(); }

  Program desk;
  nfx::testing::Network network;
  nfx::testing::TestEngine& venue = network.engine(nfx::testing::acceptor("VENUE", "TRADER"), desk);
  nfx::testing::Peer trader{network, "TRADER", "VENUE"};
};

}  // namespace nfx::codegen_test
