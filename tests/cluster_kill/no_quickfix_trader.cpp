// Where QuickFIX is not installed there is no such counterparty.
#include "quickfix_trader.hpp"

namespace nfx::cluster_kill {

std::unique_ptr<Counterparty> make_quickfix_trader(const std::vector<std::uint16_t>&, Load) { return nullptr; }

}  // namespace nfx::cluster_kill
