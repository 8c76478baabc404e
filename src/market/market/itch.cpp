// Names for what becomes of an ITCH message.
#include "nexusfix/market/itch.hpp"

#include "base/enumerator_name.hpp"

namespace nfx::market::itch {

std::string_view to_string(ParseStatus status) noexcept { return enumerator_name<' '>(status); }

}  // namespace nfx::market::itch
