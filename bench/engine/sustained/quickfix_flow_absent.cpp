// Replaces quickfix_flow.cpp in builds without QuickFIX: its rows are left out.
#include "sustained/flow.hpp"

namespace nfx::bench {

bool has_quickfix() { return false; }
FlowResult run_quickfix_venue(const FlowPlan&) { return {}; }
FlowResult run_quickfix_trader(const FlowPlan&) { return {}; }

}  // namespace nfx::bench
