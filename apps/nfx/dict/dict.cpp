// nfx dict: checks and compares dictionaries, and finds the parts of a log that they lack.

#include "command.hpp"
#include "dict/commands.hpp"

namespace nfx::app {
namespace {

cli::Option dictionary_argument(std::string_view name, std::string& file) {
  return {.names = name,
          .target = &file,
          .help = "Dictionary, overlay with a base, or the name of a version",
          .required = true,
          .kind = cli::Kind::file};
}

cli::Option transport_option(std::string& file) {
  return {.names = "--transport",
          .target = &file,
          .help = "Dictionary of the session, such as FIXT11.xml",
          .kind = cli::Kind::file};
}

cli::Option version_option(std::string& version) {
  return {.names = "--fix-version",
          .target = &version,
          .help = "FIX version of a file that states none, such as FIX.4.4",
          .value = "VERSION"};
}

cli::Command check_command() {
  static CheckOptions options;
  return {
      .name = "check",
      .summary = "Report everything that is wrong with a dictionary, or summarise it",
      .run = [] { return check_dictionary(options); },
      .options = {dictionary_argument("FILE", options.file),
                  transport_option(options.transport),
                  {.names = "--overlay",
                   .target = &options.overlays,
                   .help = "Overlay to apply; repeatable, applied in this order",
                   .kind = cli::Kind::file},
                  version_option(options.fix_version)},
      .details =
          "Lists errors, and irregularities with an obvious meaning, which are repaired when the dictionary is used.",
      .exit_codes = "0 nothing is wrong, 1 there are problems, 2 wrong usage",
      .examples = {{.line = "nfx dict check venue.xml", .about = "everything that is wrong with a dictionary"}}};
}

cli::Command show_command() {
  static ShowOptions options;
  return {.name = "show",
          .summary = "Print the messages of a dictionary, or one message or field",
          .run = [] { return show_dictionary(options); },
          .options = {dictionary_argument("FILE", options.file),
                      {.names = "WHAT",
                       .target = &options.what,
                       .help = "Message or field, by name, message type or number",
                       .default_text = "all messages"},
                      transport_option(options.transport),
                      version_option(options.fix_version)},
          .details =
              "Conditions and scenarios of a FIX Orchestra file are printed with the messages and fields that they "
              "belong to. They are not validated.",
          .exit_codes = "0 printed, 1 there is no such message or field, 2 wrong usage",
          .examples = {{.line = "nfx dict show FIX44.xml NewOrderSingle", .about = "the fields of a message"}}};
}

cli::Command diff_command() {
  static std::string first, second;
  return {.name = "diff",
          .summary = "Show how the second dictionary differs from the first",
          .run = [] { return diff_dictionaries(first, second); },
          .options = {dictionary_argument("A", first), dictionary_argument("B", second)},
          .details =
              "One line per difference: + only in B, - only in A, ~ in both, but not the same. Messages are compared "
              "by their fields on the wire, with components resolved.",
          .exit_codes = "0 no difference, 1 differences, 2 wrong usage",
          .examples = {{.line = "nfx dict diff FIX44.xml venue.xml", .about = "what a venue's dictionary changes"}}};
}

cli::Command learn_command() {
  static LearnOptions options;
  return {
      .name = "learn",
      .summary = "Write an overlay with everything in a log that the dictionary lacks",
      .run = [] { return learn_dictionary(options); },
      .options = {{.names = "LOG",
                   .target = &options.log,
                   .help = "FIX log of any engine; -: standard input",
                   .required = true,
                   .kind = cli::Kind::file},
                  {.names = "--base",
                   .target = &options.base,
                   .help = "Dictionary to compare with, or the name of a version",
                   .kind = cli::Kind::file,
                   .default_text = "the shipped one of the version of most messages"},
                  transport_option(options.transport),
                  {.names = "--out",
                   .target = &options.out,
                   .help = "File for the overlay",
                   .kind = cli::Kind::file,
                   .default_text = "standard output"}},
      .details =
          "Finds undeclared fields, fields that a message does not have, values outside their lists, message types and "
          "groups. A field found within a group's entry is written there, after the member it followed. Types are "
          "guessed from the values, STRING when in doubt: read the overlay before relying on it.\n\nBeginString(8), "
          "and with FIXT.1.1 ApplVerID(1128) or the Logon's DefaultApplVerID(1137), choose the base; standard input, "
          "which is read only once, needs --base.",
      .examples = {{.line = "nfx dict learn venue.log --out venue.xml",
                    .about = "the overlay that a counterparty's messages need"},
                   {.line = "nfx dict learn venue.log --base venue44.xml", .about = "compared with another dictionary"},
                   {.line = "nfx decode --validate --dictionary venue.xml venue.log",
                    .about = "what it leaves invalid"}},
  };
}

}  // namespace

cli::Command dict_command() {
  return {.name = "dict",
          .summary = "Check, show, compare and learn dictionaries",
          .commands = {learn_command(), check_command(), show_command(), diff_command()}};
}

}  // namespace nfx::app
