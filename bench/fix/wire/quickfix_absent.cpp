// Replaces quickfix_peer.cpp if the package is missing.
#include "wire/quickfix_peer.hpp"

namespace nfx {
namespace bench {

std::unique_ptr<QuickFixPeer> make_quickfix_peer(const char*) { return nullptr; }

}  // namespace bench
}  // namespace nfx
