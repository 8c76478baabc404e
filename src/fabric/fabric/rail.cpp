// Names of the rails' states and results, for reports and tests.
#include "nexusfix/fabric/rail.hpp"

#include "base/enumerator_name.hpp"

namespace nfx::fabric {

std::string_view to_string(WriteResult result) noexcept { return enumerator_name(result); }

std::string_view to_string(CompletionKind kind) noexcept { return enumerator_name(kind); }

std::string_view to_string(RailState state) noexcept { return enumerator_name(state); }

}  // namespace nfx::fabric
