// Bytes made safe to show. Thread: any, no state. Cost: allocates; no part of a hot path.
#pragma once

#include <string>
#include <string_view>

namespace nfx {

// Appends `bytes` with everything that is no printable UTF-8 as \xNN: values come from the network, and a terminal
// obeys control characters.
void append_printable(std::string& out, std::string_view bytes);

}  // namespace nfx
