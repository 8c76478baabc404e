// Bytes made safe to print. Thread: any, no state. Cost: allocates; not for a hot path.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// Appends `bytes` with everything that is not printable UTF-8 as \xNN: values come from the network, and terminals
// execute control characters. Escaped are the control characters of ASCII and Latin-1 (C1), as a byte or in UTF-8, line
// and paragraph separators, and characters that reverse the direction of text. Appending the result again changes
// nothing.
void append_printable(std::string& out, std::string_view bytes);

// The same for several lines: line feeds stay.
void append_printable_lines(std::string& out, std::string_view bytes);

}  // namespace nfx
