// nfx dict: looks at dictionaries: whether they are right, how they differ, and what a log has that they have not.
#include <memory>

#include "command.hpp"
#include "dict/commands.hpp"

namespace nfx::app {
namespace {

void add_check(CLI::App& dict, int& exit_code) {
  CLI::App* command = dict.add_subcommand("check", "Say all that is wrong with a dictionary, or what it holds");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->file, "Dictionary, overlay with a base, or the name of a version")->required();
  command->add_option("--transport", options->transport, "Dictionary of the session, such as FIXT11.xml")
      ->type_name("FILE");
  command->add_option("--overlay", options->overlays, "Overlay to apply; repeatable, in this order")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->callback([options, &exit_code] { exit_code = check_dictionary(*options); });
}

void add_diff(CLI::App& dict, int& exit_code) {
  CLI::App* command = dict.add_subcommand("diff", "Say how the second dictionary differs from the first");
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  command->add_option("A", files->first, "Dictionary, overlay with a base, or the name of a version")->required();
  command->add_option("B", files->second, "The same")->required();
  command->footer(
      "One line per difference: + only in B, - only in A, ~ in both, but not the same. Messages are compared as they\n"
      "stand on the wire, with components resolved. Exit code 0 when there is none, 1 otherwise.");
  command->callback([files, &exit_code] { exit_code = diff_dictionaries(files->first, files->second); });
}

void add_learn(CLI::App& dict, int& exit_code) {
  CLI::App* command = dict.add_subcommand("learn", "Write an overlay with what a log has and the dictionary has not");
  auto options = std::make_shared<LearnOptions>();
  command->add_option("LOG", options->log, "FIX log of any engine; - for standard input")->required();
  command->add_option("--base", options->base, "Dictionary to compare with, or the name of a version")
      ->type_name("FILE")
      ->required();
  command->add_option("--transport", options->transport, "Dictionary of the session, such as FIXT11.xml")
      ->type_name("FILE");
  command->add_option("--out", options->out, "Where to write the overlay (default: standard output)")
      ->type_name("FILE");
  command->footer(
      "Found are undeclared fields, fields that a message does not have, values outside their lists, message types "
      "and\n"
      "groups. What stands within a group's entry is written there, behind the member it followed. Types are guessed\n"
      "from the values, STRING in doubt: read the overlay before relying on it.\n\n"
      "Example:\n"
      "  nfx dict learn venue.log --base FIX44.xml --out venue.xml && nfx decode --validate --dictionary venue.xml "
      "venue.log");
  command->callback([options, &exit_code] { exit_code = learn_dictionary(*options); });
}

}  // namespace

void add_dict(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("dict", "Check, compare and learn dictionaries");
  command->require_subcommand(1);
  add_check(*command, exit_code);
  add_diff(*command, exit_code);
  add_learn(*command, exit_code);
}

}  // namespace nfx::app
