// Which of the names that exist a mistyped one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nfx {

// "; did you mean X?" for the nearest candidate within two edits (letter case counts for nothing), or "".
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace nfx
