// Helpers for writing dictionaries and overlays as XML.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/dictionary/model.hpp"

namespace nfx {

// Appends ` name="value"` with XML's reserved characters escaped.
void append_attribute(std::string& out, std::string_view name, std::string_view value);

}  // namespace nfx
