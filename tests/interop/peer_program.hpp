// The counterparty that a test program drives: its location and its properties. Each program has a peer_program.cpp
// compiled for it; everything else in this folder is compiled once for all of them.
#pragma once

#include <array>

namespace nfx::interop {

struct PeerProgram {
  const char* path;                     // path of the program, which takes the commands of quickfix_peer.cpp
  const char* dictionaries;             // a folder with the counterparty's own dictionaries
  std::array<const char*, 2> versions;  // the BeginStrings to test it with
  bool plain_data;                      // it misreads SOH in a data field, or a field after a nested group
};

[[nodiscard]] const PeerProgram& peer_program() noexcept;

}  // namespace nfx::interop
