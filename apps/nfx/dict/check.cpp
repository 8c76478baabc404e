// nfx dict check: loads a dictionary with its overlays and lists every problem, or prints a summary if there is none.
#include <algorithm>

#include "command.hpp"
#include "dict/commands.hpp"
#include "dict/files.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

std::size_t groups_in(const Scope& scope) {
  std::size_t count = 0;
  for (const MemberDef& member : scope.members()) {
    if (member.group != nullptr) count += 1 + groups_in(member.group->scope);
  }
  return count;
}

void print_summary(const std::string& name, const Dictionary& dictionary) {
  const auto fields = dictionary.fields();
  const auto messages = dictionary.messages();
  const auto with_values = std::ranges::count_if(fields, [](const FieldDef& field) { return !field.values.empty(); });
  const auto admin = std::ranges::count_if(messages, &MessageDef::admin);
  std::size_t groups = 0, largest = 0;
  for (const MessageDef& message : messages) {
    groups += groups_in(message.scope);
    largest = std::max(largest, message.scope.members().size());
  }
  SafeText out = made("{}: {}", name, dictionary.version_name());
  if (dictionary.begin_string() != dictionary.version_name()) {
    out.add(" in sessions of {}", dictionary.begin_string());
  }
  out.add(": {} messages ({} of the session), {} fields ({} with listed values), {} groups in messages, ",
          messages.size(), admin, fields.size(), with_values, groups);
  out.add("at most {} fields side by side; no problems\n", largest);
  print(out);
}

}  // namespace

int check_dictionary(const CheckOptions& options) {
  DictionaryFiles files{.transport = options.transport.empty() ? "" : dictionary_path(options.transport),
                        .application = dictionary_path(options.file),
                        .overlays = {options.overlays.begin(), options.overlays.end()}};
  files.version = options.fix_version;
  files.for_session = true;
  std::vector<std::string> problems;
  std::optional<DictionaryModel> model;
  try {
    model = load_model(files, &problems);
  } catch (const DictionaryError& error) {
    // The dictionary cannot be loaded; problems found before come first.
    problems.push_back(error.what());
  }
  Repairs repairs;
  if (model) {
    for (std::string& problem : find_problems(*model, &repairs)) problems.push_back(std::move(problem));
  }
  const std::vector<std::string> repaired = repairs.lines();
  for (const std::string& problem : problems) print("{}\n", problem);
  for (const std::string& line : repaired) print("{}\n", line);
  if (repairs.total() > repaired.size()) print("and {} more of these kinds\n", repairs.total() - repaired.size());
  if (problems.empty() && repairs.empty()) {
    print_summary(options.file, Dictionary::build(*model));
    return exit_done;
  }
  print("{}{}", problems.size() + repairs.total(), problems.size() + repairs.total() == 1 ? " problem" : " problems");
  print("{}\n", problems.empty() ? ", repaired when the dictionary is used" : "");
  if (problems.size() >= max_dictionary_problems) print("there may be more: fix these first\n");
  return exit_failed;
}

}  // namespace nfx::app
