// Suggests the existing name that a mistyped one may mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

// "; did you mean X?" for the nearest candidate within two edits (ignoring case), or "".
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace nfx
