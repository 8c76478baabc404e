// Connects `nfx session`, `nfx engine` and `nfx top` to the control plane of a running engine, and reads its answers.
// Thread: one. Errors: if no engine answers, prints a line on standard error and returns exit code 3.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "nexusfix/control/client.hpp"
#include "output.hpp"

namespace nfx::app {

inline constexpr int exit_no_engine = 3;
// The socket of an engine started in the current folder, as named by 'nfx config init'.
inline constexpr const char* own_control_socket = "control.sock";
inline constexpr std::string_view control_exit_codes =
    "0 done, or already in that state; 1 refused, failed or incomplete; 2 wrong usage; 3 no engine answered";

struct ControlOptions {
  std::string socket;
  std::string http;
  std::string token_file;
  std::string tls_certificate, tls_key, tls_ca, tls_name;
  bool json = false;
  std::uint32_t watch = 0;  // seconds between two answers; 0: a single answer
};

// The options for the engine's address; control_options also has --json.
[[nodiscard]] std::vector<cli::Option> address_options(ControlOptions& options);
[[nodiscard]] std::vector<cli::Option> control_options(ControlOptions& options);
[[nodiscard]] cli::Option watch_option(ControlOptions& options);
// A command without arguments of its own; options can be added.
[[nodiscard]] cli::Command control_command(std::string_view name, std::string_view summary, int (*run)(),
                                           ControlOptions& options, std::string_view example);

// Sends the request and prints the answer: as JSON with --json, otherwise the text that `show` appends. A problem is a
// line on standard error. Returns the exit code; for an answer without a problem this is the result of `judge`, or 0
// without one. With --watch this repeats until Ctrl-C.
using ShowAnswer = std::function<void(SafeText& out, const nlohmann::ordered_json& answer)>;
using JudgeAnswer = std::function<int(const nlohmann::ordered_json& answer)>;
[[nodiscard]] int ask_and_show(const ControlOptions& options, const ControlRequest& request, const ShowAnswer& show,
                               const JudgeAnswer& judge = {});

// Throws cli::UsageError for an unusable address or token file.
[[nodiscard]] ControlAddress control_address(const ControlOptions& options);

// Sends the request, and parses the answer's JSON object into `json`: the result, or a problem document. Returns
// whether it is the result.
struct NoAnswer {
  int exit_code = exit_no_engine;
  std::string text;
};
[[nodiscard]] std::expected<bool, NoAnswer> ask_json(ControlClient& client, const ControlRequest& request,
                                                     nlohmann::ordered_json& json);

// A member as text for printing; "-" if it is missing.
[[nodiscard]] std::string member_text(const nlohmann::ordered_json& object, const char* name);
// A member that is a non-negative number; otherwise empty.
[[nodiscard]] std::optional<std::uint64_t> member_number(const nlohmann::ordered_json& object, const char* name);
[[nodiscard]] bool member_is_true(const nlohmann::ordered_json& object, const char* name);
// Calls visit(element) for each object in the array with this name, if there is one.
void for_each_object(const nlohmann::ordered_json& object, const char* name,
                     const std::function<void(const nlohmann::ordered_json&)>& visit);
// The text of a file. Throws cli::UsageError.
[[nodiscard]] std::string file_text(const std::string& name);
// Prints the answer to a reload, or to a change of one session: added, removed and changed sessions, and what the
// changes need.
void append_changes(SafeText& out, const nlohmann::ordered_json& answer);

// A member that is an object; otherwise null.
[[nodiscard]] const nlohmann::ordered_json* member_object(const nlohmann::ordered_json& object, const char* name);

}  // namespace nfx::app
