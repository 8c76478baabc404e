// nfx: the NexusFIX program. One subcommand per file; errors are one line on stderr.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "command.hpp"
#include "nexusfix/base/suggest.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/placement/topology.hpp"
#include "nexusfix/wire/scan.hpp"

namespace {

using namespace nfx::app;

int fail(std::string text, int exit_code) {
  std::ranges::replace(text, '\n', ' ');
  std::cerr << "nfx: " << text << '\n';
  return exit_code;
}

// A first word that is no command deserves a better answer than "not expected".
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return "unknown command \"" + std::string{argv[1]} + '"' + nfx::did_you_mean(argv[1], candidates) +
         " ('nfx --help' lists the commands)";
}

std::string help_hint(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return " ('nfx " + (chosen.empty() ? "" : chosen.front()->get_name() + ' ') + "--help' explains)";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"NexusFIX: a low-latency FIX engine.", "nfx"};
  app.require_subcommand(0, 1);
  int exit_code = exit_done;
  add_demo(app, exit_code);
  add_serve(app, exit_code);
  add_connect(app, exit_code);
  add_decode(app, exit_code);
  add_config(app, exit_code);
  add_schedule(app, exit_code);
  add_dict(app, exit_code);
  add_codegen(app, exit_code);
  add_host(app, exit_code);
  add_store(app, exit_code);
  add_tls(app, exit_code);
  add_version(app, exit_code);
  // Last, as commands take over the footer that is there when they are added.
  app.footer(
      "Examples:\n"
      "  nfx demo                          a venue and a trader in one process, to see the engine work\n"
      "  nfx serve acceptor.toml --echo    wait for counterparties\n"
      "  nfx connect initiator.toml        log on, type messages, see the answers\n"
      "  nfx decode messages.log           make a FIX log of any engine readable\n"
      "  nfx config check broker.cfg       what a configuration of ours or QuickFIX's means, and where it comes from\n"
      "  nfx host doctor acceptor.toml     what stands between this machine's CPUs and a steady latency\n"
      "  nfx tls doctor venue:9880         why an encrypted connection does not come about, or whether it will last\n"
      "  nfx dict learn messages.log       write the dictionary overlay that a counterparty's messages need\n"
      "  nfx store ls journals             what sessions have kept: their messages and numbers\n"
      "'nfx COMMAND --help' explains a command. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration; those "
      "of\n"
      "'nfx host', 'nfx tls' and 'nfx store verify' are their own.\n"
      "The environment variable NFX_ISA names the instruction set to parse with; 'nfx version' lists them.");

  if (const std::string error = unknown_command(app, argc, argv); !error.empty()) return fail(error, exit_wrong_usage);
  if (const std::string error = nfx::kernel_override_error(); !error.empty()) return fail(error, exit_wrong_usage);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) std::cout << app.help();
    return exit_code;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(error.what() + help_hint(app), exit_wrong_usage);
  } catch (const nfx::ConfigError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const nfx::TopologyError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const nfx::DictionaryError& error) {
    return fail(error.what(), exit_wrong_usage);
  } catch (const std::exception& error) {
    return fail(error.what(), exit_failed);
  }
}
