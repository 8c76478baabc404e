// nfx config init: see config_init.cpp.
#pragma once

#include "cli/command_line.hpp"

namespace nfx::app {

[[nodiscard]] cli::Command config_init_command();

}  // namespace nfx::app
