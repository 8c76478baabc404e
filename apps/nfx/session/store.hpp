// nfx session store: reads the journal of a session through the engine that has it open.
#pragma once

#include "cli/command_line.hpp"

namespace nfx::app {

[[nodiscard]] cli::Command session_store_command();

}  // namespace nfx::app
