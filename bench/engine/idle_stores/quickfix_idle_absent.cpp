// Replaces quickfix_idle.cpp in builds without QuickFIX: its rows are left out.
#include "idle_stores/quickfix_idle.hpp"

namespace nfx {
namespace bench {

std::unique_ptr<QuickFixAcceptor> make_quickfix_acceptor(const std::string&, unsigned, int) { return nullptr; }

}  // namespace bench
}  // namespace nfx
