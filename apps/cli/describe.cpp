// Texts shared by help, the manual page and completion, so that they cannot differ.
#include "cli/describe.hpp"

#include <cstdio>

namespace nfx::cli {
namespace {

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", number);
  return text;
}

template <class T>
std::string text_of(const T& value) {
  return value == T{} ? std::string{} : number_text(static_cast<double>(value));
}
std::string text_of(bool) { return {}; }
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::vector<std::string>& values) { return joined({values.begin(), values.end()}, ","); }
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string{};
}

std::string default_of(const Option& option) {
  if (!option.default_text.empty()) return std::string{option.default_text};
  return std::visit([](const auto* target) { return text_of(*target); }, option.target);
}

}  // namespace

std::string joined(const std::vector<std::string_view>& words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::vector<std::string_view> names_of(const Option& option) {
  std::vector<std::string_view> names;
  std::string_view rest = option.names;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return names;
}

std::string value_name(const Option& option) {
  if (is_flag(option)) return {};
  if (!option.value.empty()) return std::string{option.value};
  if (!option.one_of.empty()) return joined(option.one_of, "|");
  switch (option.kind) {
    case Kind::file:
    case Kind::existing_file: return "FILE";
    case Kind::folder:
    case Kind::existing_folder: return "DIR";
    case Kind::text: break;
  }
  return std::holds_alternative<std::string*>(option.target) || is_list(option) ? "TEXT" : "N";
}

std::string heading(const Option& option) {
  std::string text = joined(names_of(option), ", ");
  if (!is_argument(option) && !is_flag(option)) text += ' ' + value_name(option);
  return text;
}

std::string range_text(const Option& option) {
  if (!option.range) return {};
  const auto [min, max] = *option.range;
  // A limit that no user reaches would only be noise.
  if (max > 1e15) return min == 0 ? std::string{} : "at least " + number_text(min);
  return number_text(min) + " to " + number_text(max);
}

std::string explanation(const Option& option) {
  std::string text{option.help};
  std::string notes;
  const auto note = [&notes](const std::string& part) {
    if (!part.empty()) notes += (notes.empty() ? "" : "; ") + part;
  };
  note(range_text(option));
  if (const std::string value = default_of(option); !value.empty()) note("default: " + value);
  if (!notes.empty()) text += (text.empty() ? "[" : " [") + notes + ']';
  return text;
}

std::string full_name(const Path& path) {
  std::string text;
  for (const Command* command : path) {
    if (!text.empty()) text += ' ';
    text += command->name;
  }
  return text;
}

std::string synopsis(const Command& command) {
  std::string text = command.commands.empty() || command.run != nullptr ? "[OPTIONS]" : "COMMAND";
  for (const Option& option : command.options) {
    if (!is_argument(option)) continue;
    std::string name{option.names};
    if (!option.required) name = '[' + name + ']';
    if (is_list(option)) name += "...";
    text += ' ' + name;
  }
  return text;
}

std::vector<Example> examples_of(const Command& command) {
  if (!command.examples.empty()) return command.examples;
  std::vector<Example> examples;
  for (const Command& each : command.commands) {
    if (each.hidden) continue;
    const std::vector<Example> below = examples_of(each);
    if (!below.empty()) examples.push_back(below.front());
  }
  return examples;
}

std::vector<Option> standard_options(const Command& command) {
  static bool ignored = false;
  std::vector<Option> options{{.names = "-h,--help", .target = &ignored, .help = "Show this help"}};
  if (!command.version.empty())
    options.push_back({.names = "-V,--version", .target = &ignored, .help = "Show the version"});
  return options;
}

}  // namespace nfx::cli
