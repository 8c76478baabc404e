// Parses with CLI11, which no other file includes, because it takes ten seconds to compile.
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/error_text.hpp"
#include "base/suggest.hpp"
#include "cli/describe.hpp"
#include "log/print.hpp"

namespace nfx::cli {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(std::string_view text) { return '"' + std::string{text} + '"'; }

// Each check returns an error text for a value, or nothing.

std::string check_word(const Option& option, const std::string& text) {
  for (const std::string_view each : option.one_of) {
    if (text == each) return {};
  }
  return in_quotes(text) + " is not one of " + joined(option.one_of, ", ") + did_you_mean(text, option.one_of);
}

std::string check_range(const Option& option, const std::string& text, double number) {
  if (!option.range || (number >= option.range->min && number <= option.range->max)) return {};
  const std::string range = range_text(option);
  return text + " is out of range: expected " + (range.empty() ? "0 or more" : range);
}

template <class Number>
std::string check_number(const Option& option, const std::string& text) {
  const bool hex = std::is_integral_v<Number> && text.starts_with("0x");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  Number number{};
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<Number>) {
    read = std::from_chars(begin, end, number, hex ? 16 : 10);
  } else {
    read = std::from_chars(begin, end, number);
  }
  if (read.ec == std::errc::result_out_of_range) return text + " is too large";
  if (read.ec != std::errc{} || read.ptr != end)
    return in_quotes(text) + (std::is_integral_v<Number> ? " is not a whole number" : " is not a number");
  return check_range(option, text, static_cast<double>(number));
}

// The number type of a target, optional or not.
template <class T>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<std::optional<T>> {
  using type = T;
};

std::string check_path(Kind kind, const std::string& text) {
  if (kind != Kind::existing_file && kind != Kind::existing_folder) return {};
  const bool folder = kind == Kind::existing_folder;
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::status(text, error));
  const int code = error ? error.value() : is_folder == folder ? 0 : folder ? ENOTDIR : EISDIR;
  return code == 0 ? std::string{}
                   : cannot("read", text, code) + "; give the path of a " + (folder ? "folder" : "file");
}

CLI::Option* add_target(CLI::App& app, const Option& option) {
  const std::string names{option.names};
  return std::visit(
      [&](auto* target) -> CLI::Option* {
        using Value = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return app.add_flag(names, *target)->disable_flag_override();
        } else {
          CLI::Option* added = app.add_option(names, *target);
          if constexpr (!std::is_same_v<Value, std::string> && !std::is_same_v<Value, std::vector<std::string>>) {
            using Number = typename NumberOf<Value>::type;
            added->check(
                CLI::Validator([&option](std::string& text) { return check_number<Number>(option, text); }, ""));
          }
          return added;
        }
      },
      option.target);
}

void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = add_target(app, option);
  if (option.required) added->required();
  if (!option.one_of.empty())
    added->check(CLI::Validator([&option](std::string& text) { return check_word(option, text); }, ""));
  if (option.kind == Kind::existing_file || option.kind == Kind::existing_folder)
    added->check(CLI::Validator([&option](std::string& text) { return check_path(option.kind, text); }, ""));
  if (!is_list(option)) return;
  if (option.separator != '\0') added->delimiter(option.separator);
  if (is_argument(option)) return;
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (option.max_values > 1) {
    added->expected(1, option.max_values);
  } else {
    added->allow_extra_args(false);
  }
}

void link(CLI::App& app, const Option& option) {
  const auto find = [&app](std::string_view name) { return app.get_option(std::string{name}); };
  CLI::Option* self = find(names_of(option).back());
  for (const std::string_view other : option.excludes) self->excludes(find(other));
  for (const std::string_view other : option.needs) self->needs(find(other));
}

using Commands = std::map<const CLI::App*, const Command*>;

void build(CLI::App& app, const Command& command, Commands& commands) {
  commands[&app] = &command;
  // At most one: a further word is an argument, even if another command has its name.
  if (!command.commands.empty()) app.require_subcommand(0, 1);
  for (const Option& option : command.options) add_option(app, option);
  for (const Option& option : command.options) link(app, option);
  for (const Command& each : command.commands) build(*app.add_subcommand(std::string{each.name}), each, commands);
}

// The commands chosen by the command line, as far as it was read.
Path chosen(const CLI::App& app, const Commands& commands) {
  Path path;
  for (const CLI::App* at = &app; at != nullptr;) {
    path.push_back(commands.at(at));
    const auto next = at->get_subcommands();
    at = next.empty() ? nullptr : next.front();
  }
  return path;
}

bool takes_arguments(const Command& command) {
  for (const Option& option : command.options) {
    if (is_argument(option)) return true;
  }
  return false;
}

const Command* find_below(const Command& command, std::string_view name) {
  for (const Command& each : command.commands) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string unknown_command(const Path& path, std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& each : path.back()->commands) {
    if (!each.hidden) names.push_back(each.name);
  }
  return "unknown command " + in_quotes(word) + (path.size() > 1 ? " of '" + full_name(path) + "'" : "") +
         did_you_mean(word, names) + " ('" + full_name(path) + " --help' lists the commands)";
}

// A wrong word in the place of a command is reported first, with the nearest name.
std::string wrong_command(const Command& program, int argc, const char* const* argv) {
  Path path{&program};
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const Command& command = *path.back();
    if (command.commands.empty() || takes_arguments(command)) return {};
    const Command* next = find_below(command, argv[i]);
    if (next == nullptr) return unknown_command(path, argv[i]);
    path.push_back(next);
  }
  return {};
}

std::string unexpected(const CLI::App& app, const Path& path) {
  std::vector<std::string> extras;
  for (const CLI::App* at = &app; extras.empty() && at != nullptr;) {
    extras = at->remaining();
    const auto next = at->get_subcommands();
    at = next.empty() ? nullptr : next.front();
  }
  const std::string word = extras.empty() ? std::string{} : extras.front();
  if (!word.starts_with('-')) return "unexpected argument " + in_quotes(word);
  std::vector<std::string_view> names;
  std::vector<Option> options = path.back()->options;
  for (const Option& option : standard_options(*path.back())) options.push_back(option);
  for (const Option& option : options) {
    for (const std::string_view name : names_of(option)) names.push_back(name);
  }
  return "unknown option " + word.substr(0, word.find('=')) + did_you_mean(word, names);
}

// CLI11's message counts values; this one says what to write instead.
std::string wrong_count(std::string_view text) {
  const std::string name{text.substr(0, text.find_first_of(": "))};
  if (text.ends_with("flag override")) return (name.size() == 1 ? "-" : "--") + name + " takes no value";
  if (text.ends_with("missing")) return name + " needs a value";
  return name + " is given more than once";
}

int wrong_usage(const Command& program, const std::string& text) {
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  print_error("{}: {}\n", program.name, line);
  return exit_wrong_usage;
}

std::string hint(const Path& path) { return " ('" + full_name(path) + " --help' explains)"; }

int show(const std::string& text) { return write(Stream::out, SafeText::lines(text)) == 0 ? 0 : 1; }

struct Parsed {
  Path path;
  std::optional<int> exit_code;  // set if nothing is left to do
};

Parsed read(const Command& program, int argc, const char* const* argv) {
  if (const std::string wrong = wrong_command(program, argc, argv); !wrong.empty())
    return {{&program}, wrong_usage(program, wrong)};
  CLI::App app{std::string{}, std::string{program.name}};
  app.set_help_flag("-h,--help");
  if (!program.version.empty()) app.set_version_flag("-V,--version", program.version);
  Commands commands;
  build(app, program, commands);
  try {
    app.parse(argc, argv);
    return {chosen(app, commands), {}};
  } catch (const CLI::CallForVersion&) {
    return {{&program}, show(program.version + '\n')};
  } catch (const CLI::CallForHelp&) {
    const Path path = chosen(app, commands);
    return {path, show(help_text(path))};
  } catch (const CLI::ExtrasError&) {
    const Path path = chosen(app, commands);
    return {path, wrong_usage(program, unexpected(app, path) + hint(path))};
  } catch (const CLI::ArgumentMismatch& error) {
    const Path path = chosen(app, commands);
    return {path, wrong_usage(program, wrong_count(error.what()) + hint(path))};
  } catch (const CLI::ParseError& error) {
    const Path path = chosen(app, commands);
    return {path, wrong_usage(program, error.what() + hint(path))};
  }
}

}  // namespace

Path find_command(const Command& program, const std::vector<std::string>& words) {
  Path path{&program};
  for (const std::string& word : words) {
    const Command* next = find_below(*path.back(), word);
    if (next == nullptr) throw UsageError(unknown_command(path, word));
    path.push_back(next);
  }
  return path;
}

int run(const Command& program, int argc, const char* const* argv) {
  const Parsed parsed = read(program, argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const Command& command = *parsed.path.back();
  if (command.run == nullptr) {
    if (parsed.path.size() == 1) return show(help_text(parsed.path));
    return wrong_usage(program, "'" + full_name(parsed.path) + "' needs a command" + hint(parsed.path));
  }
  try {
    return command.run();
  } catch (const UsageError& error) {
    return wrong_usage(program, error.what() + hint(parsed.path));
  }
}

std::optional<int> parse(const Command& program, int argc, const char* const* argv) {
  return read(program, argc, argv).exit_code;
}

}  // namespace nfx::cli
