// What was irregular in the dictionaries of a configuration, and how it was read all the same.
// Thread: any, before run. Cost: allocates.
#pragma once

#include <string>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// For each dictionary, whatever the number of its sessions, one line per kind of irregularity with its first place and
// how many there are. dictionary_problems = "refuse" makes them errors; `nfx dict check` lists all of them.
[[nodiscard]] std::vector<std::string> dictionary_warnings(const EngineConfig& config);

}  // namespace nfx
