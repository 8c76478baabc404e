// The command line of programs made with nfx::run: few options, so that it needs no library for them.
#include "nexusfix/engine/run.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "log/print.hpp"
#include "nexusfix/engine/program.hpp"
#include "wire/scan.hpp"

namespace nfx {
namespace {

enum class Mode : std::uint8_t { serve, check, version, help };

struct CommandLine {
  Mode mode = Mode::serve;
  std::string config;
};

struct Option {
  std::string_view name;
  std::string_view short_name;
  Mode mode;
  std::string_view help;
};

constexpr std::array options{
    Option{"--check", "", Mode::check, "check the configuration and its addresses, print what would run, and end"},
    Option{"--version", "-V", Mode::version, "print the version of NexusFIX"},
    Option{"--help", "-h", Mode::help, "print this"},
};

// Throws ConfigError.
CommandLine parse(std::span<char*> arguments) {
  CommandLine line;
  bool only_files = false;
  std::vector<std::string_view> names;
  for (const Option& each : options) names.push_back(each.name);
  for (const std::string_view argument : arguments) {
    if (only_files || !argument.starts_with('-') || argument == "-") {
      if (!line.config.empty())
        throw ConfigError("one configuration at a time: " + line.config + " or " + std::string{argument});
      line.config = argument;
    } else if (argument == "--") {
      only_files = true;
    } else {
      const auto found = std::ranges::find_if(options, [argument](const Option& each) {
        return argument == each.name || (!each.short_name.empty() && argument == each.short_name);
      });
      if (found == options.end())
        throw ConfigError("unknown option " + std::string{argument} + did_you_mean(argument, names) +
                          "; --help lists them");
      line.mode = std::max(line.mode, found->mode);
    }
  }
  const bool needs_config = line.mode == Mode::serve || line.mode == Mode::check;
  if (needs_config && line.config.empty())
    throw ConfigError("no configuration: give a TOML file or QuickFIX settings; --help explains");
  return line;
}

void print_help(std::string_view program) {
  SafeText out;
  out.add("{} [--check] CONFIG\n\nServes the FIX sessions of CONFIG, a TOML file or QuickFIX settings.\n\n", program);
  for (const Option& each : options) {
    const std::size_t start = out.size();
    out += "  ";
    if (!each.short_name.empty()) out.add("{}, ", each.short_name);
    out += each.name;
    out.pad_to(start, 18).add("{}\n", each.help);
  }
  out +=
      "\nSIGINT or SIGTERM logs all sessions out and ends; a second one ends immediately.\n"
      "SIGHUP reloads certificates, keys and revocation lists; where CONFIG has [control], 'nfx engine reload' reloads "
      "it.\n"
      "Messages are stored in journals in the folder 'store' next to CONFIG, unless a session sets another folder or "
      "store = \"memory\".\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.\n"
      "'nfx config keys' lists all keys of CONFIG, 'nfx config check CONFIG' shows what it means.\n";
  print(out);
}

int run_as(std::string_view program, std::span<char*> arguments, Callbacks (*make)(void*), void* place) {
  const CommandLine line = parse(arguments);
  if (line.mode == Mode::help) {
    print_help(program);
    return ExitCode::done;
  }
  if (line.mode == Mode::version) {
    print("NexusFIX " NFX_VERSION "\n");
    return ExitCode::done;
  }
  if (const std::string error = kernel_override_error(); !error.empty()) throw ConfigError(error);
  EngineConfig config = load_program_config(line.config, program);
  if (line.mode == Mode::check) {
    print_program(std::move(config), line.config, program);
    return ExitCode::done;
  }
  Callbacks callbacks = make(place);
  LineLog lines{Stream::err, config.log.lines};  // outlives the engine, which writes until its end
  LineObserver observer{lines, lines};
  callbacks.observers.insert(callbacks.observers.begin(), &observer);  // one of the program's may throw
  run_program(std::move(config), std::move(callbacks), lines, line.config);
  return ExitCode::done;
}

}  // namespace

int detail::run(int argc, char** argv, Callbacks (*make)(void*), void* place) noexcept {
  std::string program = "nfx";
  try {
    occupy_standard_descriptors();
    if (argc > 0) program = std::filesystem::path{argv[0]}.filename().string();
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    return run_as(program, arguments.subspan(argc > 0 ? 1 : 0), make, place);
  } catch (...) {
    return report_exception(program);
  }
}

int run(int argc, char** argv, Callbacks callbacks) noexcept {
  const auto make = [](void* place) { return std::move(*static_cast<Callbacks*>(place)); };
  return detail::run(argc, argv, make, &callbacks);
}

}  // namespace nfx
