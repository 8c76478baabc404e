// CMake's information about one counterparty, compiled into each test program that drives it.
#include "peer_program.hpp"

namespace nfx::interop {

const PeerProgram& peer_program() noexcept {
  static constexpr PeerProgram program{
      NFX_PEER_PROGRAM, NFX_PEER_DICTIONARIES, {NFX_PEER_VERSIONS}, NFX_PEER_PLAIN_DATA != 0};
  return program;
}

}  // namespace nfx::interop
