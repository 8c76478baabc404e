// Without libfabric its rows are left out.
#include <stdexcept>

#include "fabric/bare_libfabric.hpp"

namespace nfx::bench {

LatencyHistogram bare_round_trips(const BareOptions&) { throw std::runtime_error("libfabric-dev is not installed"); }
BareCosts bare_costs() { throw std::runtime_error("libfabric-dev is not installed"); }

}  // namespace nfx::bench
