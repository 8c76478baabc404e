// nfx help, completion and man: the table of commands as text for people, shells and tools.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "nexusfix/base/assert.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  bool json = false;
};

int show(const std::string& text) {
  print(SafeText::lines(text));
  return exit_done;
}

int show_help(const HelpOptions& options) {
  const cli::Command program = nfx_command();
  const cli::Path path = cli::find_command(program, options.words);
  return show(options.json ? cli::to_json(*path.back()) + '\n' : cli::help_text(path));
}

int show_completion(std::string_view shell) {
  const auto& all = cli::shell_completions;
  const auto at = std::ranges::find(all, shell, &cli::ShellCompletion::shell);
  NFX_ASSERT(at != all.end());  // the command line rejects any other
  return show(at->script(nfx_command()));
}

}  // namespace

cli::Command help_command() {
  static HelpOptions options;
  return {
      .name = "help",
      .summary = "Explain a command",
      .run = [] { return show_help(options); },
      .options = {{.names = "COMMAND",
                   .target = &options.words,
                   .help = "The command, such as store ls",
                   .default_text = "nfx itself"},
                  {.names = "--json", .target = &options.json, .help = "All commands and options as one JSON object"}},
      .examples = {{.line = "nfx help store ls", .about = "explain a command"},
                   {.line = "nfx help --json | jq -r '.commands[].name'"}}};
}

cli::Command completion_command() {
  static std::string shell;
  std::vector<std::string_view> shells;
  for (const cli::ShellCompletion& each : cli::shell_completions) shells.push_back(each.shell);
  return {
      .name = "completion",
      .summary = "Print a script that completes commands and options in a shell",
      .run = [] { return show_completion(shell); },
      .options = {{.names = "SHELL",
                   .target = &shell,
                   .help = "The shell to print it for",
                   .required = true,
                   .one_of = std::move(shells)}},
      .examples = {{.line = "source <(nfx completion bash)", .about = "complete commands and options in this shell"},
                   {.line = "source <(nfx completion zsh)", .about = "the same in zsh, after compinit"},
                   {.line = "nfx completion fish | source", .about = "the same in fish"}}};
}

cli::Command man_command() {
  return {.name = "man",
          .summary = "Print the manual page, in roff",
          .run = [] { return show(cli::manual_page(nfx_command())); },
          .examples = {{.line = "nfx man | man -l -", .about = "read the manual page"}}};
}

}  // namespace nfx::app
