// A session that is added to a running engine, and its text: one [[session]] of a configuration file.
// Thread: any. Errors: ConfigError as of a whole file, naming the line.
#pragma once

#include <string>
#include <string_view>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

// What an operator has decided before a session is added: the same as disable and hold.
struct AddedSession {
  bool enabled = true;
  bool sending_held = false;
};

// One [[session]], and [defaults] if it has some, checked as a file with these is; with any other section it is
// refused. `engine` is the configuration of what runs, whose own sessions and [defaults] do not count. Relative paths
// are relative to `folder`. Errors begin with `name`.
[[nodiscard]] SessionSettings parse_added_session(std::string_view toml, std::string_view name,
                                                  const std::string& folder, const EngineConfig& engine);

}  // namespace nfx
