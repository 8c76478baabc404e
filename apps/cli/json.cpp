// The table as JSON, for tests and tools that must not forget a command or an option.
#include "base/json_text.hpp"
#include "cli/describe.hpp"

namespace nfx::cli {
namespace {

std::string list(const std::vector<std::string_view>& texts) {
  std::string out;
  for (const std::string_view text : texts) out += (out.empty() ? "" : ",") + json_text(text);
  return '[' + out + ']';
}

std::string to_json(const Option& option) {
  std::string out = "{\"names\":" + list(names_of(option));
  out += ",\"help\":" + json_text(option.help);
  if (!is_flag(option)) out += ",\"value\":" + json_text(value_name(option));
  out += std::string{",\"required\":"} + (option.required ? "true" : "false");
  if (!option.one_of.empty()) out += ",\"one_of\":" + list(option.one_of);
  return out + '}';
}

}  // namespace

std::string to_json(const Command& program) {
  std::string out =
      "{\"name\":" + json_text(program.name) + ",\"summary\":" + json_text(program.summary) + ",\"options\":[";
  for (const Option& option : program.options) {
    if (out.back() == '}') out += ',';
    out += to_json(option);
  }
  out += "],\"examples\":[";
  for (const Example& example : program.examples) {
    if (out.back() != '[') out += ',';
    out += json_text(example.line);
  }
  out += "],\"commands\":[";
  for (const Command& each : program.commands) {
    if (each.hidden) continue;
    if (out.back() == '}') out += ',';
    out += to_json(each);
  }
  return out + "]}";
}

}  // namespace nfx::cli
