// Bytes made safe to print. Thread: any, no state. Cost: allocates; not for a hot path.
#pragma once

#include <string>
#include <string_view>

namespace nfx {

// Appends `bytes` with everything that is not printable UTF-8 as \xNN: values come from the network, and terminals
// execute control characters.
void append_printable(std::string& out, std::string_view bytes);

}  // namespace nfx
