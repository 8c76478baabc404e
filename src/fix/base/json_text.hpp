// Text as a JSON string. Thread: any, no state. Cost: allocates; not for a hot path. Errors: none.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// With its quotes. Invalid UTF-8, and characters that append_printable() would escape, are written as \u00NN or \u20NN,
// so that the string is safe on a terminal.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace nfx
