// The counterparty with QuickFIX, which connects to the ports in turn; null if QuickFIX is not installed. C++14.
// Thread: one of its own. Errors: std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "counterparty.hpp"

namespace nfx {
namespace cluster_kill {

std::unique_ptr<Counterparty> make_quickfix_trader(const std::vector<std::uint16_t>& ports, Load load);

}  // namespace cluster_kill
}  // namespace nfx
