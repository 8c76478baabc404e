// Pieces of the XML that dictionaries and overlays are written as.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/dictionary/model.hpp"

namespace nfx {

// Appends ` name="value"` with what XML reserves written as it must be.
void append_attribute(std::string& out, std::string_view name, std::string_view value);

}  // namespace nfx
