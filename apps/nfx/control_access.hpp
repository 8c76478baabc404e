// How `nfx session`, `nfx engine` and `nfx top` reach the control plane of a running engine, and read what it answers.
// Thread: one. Errors: no engine that answers is a line on standard error and exit code 3.
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
// The socket of an engine that is started in the current folder, as 'nfx config init' names it.
inline constexpr const char* own_control_socket = "control.sock";
inline constexpr std::string_view control_exit_codes =
    "0 done, or so already; 1 refused, failed or incomplete; 2 wrong usage; 3 no engine answered";

struct ControlOptions {
  std::string socket;
  std::string http;
  std::string token_file;
  std::string tls_certificate, tls_key, tls_ca, tls_name;
  bool json = false;
  std::uint32_t watch = 0;  // seconds between two answers; 0: one
};

// How the engine is reached; control_options has --json besides.
[[nodiscard]] std::vector<cli::Option> address_options(ControlOptions& options);
[[nodiscard]] std::vector<cli::Option> control_options(ControlOptions& options);
[[nodiscard]] cli::Option watch_option(ControlOptions& options);
// A command without arguments of its own; more options can be added.
[[nodiscard]] cli::Command control_command(std::string_view name, std::string_view summary, int (*run)(),
                                           ControlOptions& options, std::string_view example);

// Sends the request, and prints the answer: as JSON with --json, otherwise what `show` adds. A problem is a line on
// standard error. Returns the exit code: of an answer without a problem what `judge` returns, 0 without one. With
// --watch it repeats that until Ctrl-C.
using ShowAnswer = std::function<void(SafeText& out, const nlohmann::ordered_json& answer)>;
using JudgeAnswer = std::function<int(const nlohmann::ordered_json& answer)>;
[[nodiscard]] int ask_and_show(const ControlOptions& options, const ControlRequest& request, const ShowAnswer& show,
                               const JudgeAnswer& judge = {});

// Throws cli::UsageError for an address or a token file that cannot be used.
[[nodiscard]] ControlAddress control_address(const ControlOptions& options);

// Sends the request, and reads the JSON object of the answer into `json`: the result, or a problem document. Returns
// whether it is the result.
struct NoAnswer {
  int exit_code = exit_no_engine;
  std::string text;
};
[[nodiscard]] std::expected<bool, NoAnswer> ask_json(ControlClient& client, const ControlRequest& request,
                                                     nlohmann::ordered_json& json);

// A member as text, to be printed; "-" where it is not there.
[[nodiscard]] std::string member_text(const nlohmann::ordered_json& object, const char* name);
// A member that is a number and not negative; empty where it is not.
[[nodiscard]] std::optional<std::uint64_t> member_number(const nlohmann::ordered_json& object, const char* name);
[[nodiscard]] bool member_is_true(const nlohmann::ordered_json& object, const char* name);
// Calls visit(element) for each object in the array of this name; for none where there is no such array.
void for_each_object(const nlohmann::ordered_json& object, const char* name,
                     const std::function<void(const nlohmann::ordered_json&)>& visit);
// The text of a file. Throws cli::UsageError.
[[nodiscard]] std::string file_text(const std::string& name);
// The answer to a reload, or to a change of one session: what is added, removed and changed, and what it needs.
void append_changes(SafeText& out, const nlohmann::ordered_json& answer);

// A member that is an object; null where it is not.
[[nodiscard]] const nlohmann::ordered_json* member_object(const nlohmann::ordered_json& object, const char* name);

}  // namespace nfx::app
