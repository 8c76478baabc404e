// Completion for bash: a script that needs nothing but bash itself, and does not start the program.
#include "cli/describe.hpp"

namespace nfx::cli {
namespace {

struct Script {
  std::string descend;  // patterns "nfx store" that lengthen the path
  std::string values;   // cases "nfx demo --idle": what follows an option
  std::string words;    // cases "nfx demo": what else may come
};

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + '\'';
}

// What a value is completed with, as arguments of compgen; empty: nothing.
std::string generator(const Option& option) {
  if (!option.one_of.empty()) return "-W " + shell_word(joined(option.one_of, " "));
  switch (option.kind) {
    case Kind::file:
    case Kind::existing_file: return "-f";
    case Kind::folder:
    case Kind::existing_folder: return "-d";
    case Kind::text: return {};
  }
  return {};
}

void append_value(Script& script, const std::string& path, const Option& option) {
  std::string patterns;
  for (const std::string_view name : names_of(option)) {
    if (!patterns.empty()) patterns += '|';
    patterns += shell_word(path + ' ' + std::string{name});
  }
  const std::string how = generator(option);
  script.values += "    " + patterns + ") " + (how.empty() ? "" : "_complete " + how + "; ") + "return ;;\n";
}

void append_command(Script& script, Path& path) {
  const Command& command = *path.back();
  const std::string name = full_name(path);
  std::vector<std::string_view> words;
  std::string arguments;
  std::vector<Option> options = command.options;
  for (const Option& option : standard_options(command)) options.push_back(option);
  for (const Option& option : options) {
    if (is_argument(option)) {
      // Several arguments are completed alike: with everything that any of them may be.
      if (const std::string how = generator(option); !how.empty()) arguments += ' ' + how;
      continue;
    }
    for (const std::string_view each : names_of(option)) words.push_back(each);
    if (!is_flag(option)) append_value(script, name, option);
  }
  for (const Command& each : command.commands) {
    if (!each.hidden) words.push_back(each.name);
  }
  script.words += "    " + shell_word(name) + ") words=" + shell_word(joined(words, " ")) + " arguments=(" +
                  (arguments.empty() ? "" : arguments.substr(1)) + ") ;;\n";
  for (const Command& each : command.commands) {
    if (each.hidden) continue;
    path.push_back(&each);
    if (!script.descend.empty()) script.descend += '|';
    script.descend += shell_word(full_name(path));
    append_command(script, path);
    path.pop_back();
  }
}

}  // namespace

std::string bash_completion(const Command& program) {
  Script script;
  Path path{&program};
  append_command(script, path);
  const std::string name{program.name};
  std::string complete = "_" + name + "_complete";
  std::string values = script.values;
  for (std::size_t at = 0; (at = values.find("_complete ", at)) != std::string::npos; at += complete.size())
    values.replace(at, std::string_view{"_complete"}.size(), complete);
  return "# Completion of " + name + " for bash. To use it: source <(" + name + " completion bash)\n" +  //
         complete + "() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"${COMP_WORDS[COMP_CWORD]}\"); }\n" + "_" + name +
         "() {\n" + "  local path=" + shell_word(name) + " words='' arguments=() i\n" + "  COMPREPLY=()\n" +
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n" + "    case \"$path ${COMP_WORDS[i]}\" in\n" + "    " +
         (script.descend.empty() ? "''" : script.descend) + ") path+=\" ${COMP_WORDS[i]}\" ;;\n" + "    esac\n" +
         "  done\n" + "  case \"$path ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" + values + "  esac\n" +
         "  case \"$path\" in\n" + script.words + "  esac\n" +
         "  if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then arguments=(); fi\n" + "  " + complete +
         " -W \"$words\" \"${arguments[@]}\"\n" + "}\n" + "complete -o filenames -F _" + name + ' ' + name + '\n';
}

}  // namespace nfx::cli
