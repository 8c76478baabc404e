// How `nfx session` and `nfx engine` reach the control plane of a running engine, and print what it answers.
// Thread: one. Errors: no engine that answers is a line on standard error and exit code 3.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "nexusfix/control/client.hpp"
#include "output.hpp"

namespace nfx::app {

inline constexpr int exit_no_engine = 3;
inline constexpr std::string_view control_exit_codes =
    "0 done, or so already; 1 refused or failed; 2 wrong usage; 3 no engine answered";

struct ControlOptions {
  std::string socket;
  std::string http;
  std::string token_file;
  bool json = false;
  std::uint32_t watch = 0;  // seconds between two answers; 0: one
};

[[nodiscard]] std::vector<cli::Option> control_options(ControlOptions& options);
[[nodiscard]] cli::Option watch_option(ControlOptions& options);

// Sends the request, and prints the answer: as JSON with --json, otherwise what `show` adds. A problem is a line on
// standard error. Returns the exit code. With --watch it repeats that until Ctrl-C.
using ShowAnswer = std::function<void(SafeText& out, const nlohmann::ordered_json& answer)>;
[[nodiscard]] int ask_and_show(const ControlOptions& options, const ControlRequest& request, const ShowAnswer& show);

// A member as text, to be printed; "-" where it is not there.
[[nodiscard]] std::string member_text(const nlohmann::ordered_json& object, const char* name);

}  // namespace nfx::app
