// Lists irregularities in the dictionaries of a configuration, and how they were interpreted.
// Thread: any, before run. Cost: allocates.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// One line per dictionary and kind of irregularity, with its first place and the number of occurrences, however many
// sessions use the dictionary. dictionary_problems = "refuse" turns them into errors; `nfx dict check` lists all of
// them.
[[nodiscard]] std::vector<std::string> dictionary_warnings(const EngineConfig& config);

}  // namespace nfx
