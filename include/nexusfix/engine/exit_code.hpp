// Exit codes of nfx and of programs that nfx::run makes.
// Thread: constants.
#pragma once

#include "nexusfix/base/language.hpp"

namespace nfx {

struct ExitCode {
  static constexpr int done = 0;         // all sessions are logged out; or the configuration is right
  static constexpr int failed = 1;       // a store that cannot be opened, a full disk, or what the program has thrown
  static constexpr int wrong_usage = 2;  // of the command line, or a wrong configuration, such as an address in use
};

}  // namespace nfx
