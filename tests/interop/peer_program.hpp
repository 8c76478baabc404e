// The counterparty that a test program drives: where it is, and what is known of it. Each program has a
// peer_program.cpp compiled for it; everything else of this folder is compiled once for all of them.
#pragma once

#include <array>

namespace nfx::interop {

struct PeerProgram {
  const char* path;                     // of the program that takes the commands of quickfix_peer.cpp
  const char* dictionaries;             // a folder: the ones the counterparty itself uses
  std::array<const char*, 2> versions;  // the BeginStrings to try it with
  bool plain_data;                      // it misreads SOH in a data field, or a field after a nested group
};

[[nodiscard]] const PeerProgram& peer_program() noexcept;

}  // namespace nfx::interop
