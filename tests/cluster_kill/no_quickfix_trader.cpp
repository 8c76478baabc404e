// Without QuickFIX this counterparty does not exist.
#include "quickfix_trader.hpp"

namespace nfx::cluster_kill {

std::unique_ptr<Counterparty> make_quickfix_trader(const std::vector<std::uint16_t>&, Load) { return nullptr; }

}  // namespace nfx::cluster_kill
