// Completion for bash, zsh and fish: scripts that need only the shell itself, and do not start the program. All three
// are written from the same list of levels, one for each command.
#include "cli/describe.hpp"

namespace nfx::cli {
namespace {

struct Word {
  std::string_view text;
  std::string_view about;
};

// The words that may follow one command.
struct Level {
  std::string path;  // "nfx store ls"
  std::vector<Word> commands;
  std::vector<Option> options;     // including arguments
  std::vector<std::string> below;  // paths of its subcommands
};

void append_levels(std::vector<Level>& levels, Path& path) {
  const Command& command = *path.back();
  Level level{full_name(path), {}, command.options, {}};
  for (const Option& option : standard_options(command)) level.options.push_back(option);
  for (const Command& each : command.commands) {
    if (each.hidden) continue;
    level.commands.push_back({each.name, each.summary});
    path.push_back(&each);
    level.below.push_back(full_name(path));
    path.pop_back();
  }
  levels.push_back(std::move(level));
  for (const Command& each : command.commands) {
    if (each.hidden) continue;
    path.push_back(&each);
    append_levels(levels, path);
    path.pop_back();
  }
}

// Quotes a word with single quotes, for bash and zsh.
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

// The first sentence of a help text.
std::string_view first_sentence(std::string_view help) {
  help = help.substr(0, help.find('\n'));
  return help.substr(0, help.find(". "));
}

// --- bash ---

// Arguments of compgen that complete a value; empty: none.
std::string compgen_arguments(const Option& option) {
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

// "'nfx store ls --last'|'nfx store ls -n'", as a pattern of a shell `case`.
std::string value_pattern(const Level& level, const Option& option) {
  std::string pattern;
  for (const std::string_view name : names_of(option)) {
    if (!pattern.empty()) pattern += '|';
    pattern += shell_word(level.path + ' ' + std::string{name});
  }
  return pattern;
}

// The `case` pattern for words that extend a path.
std::string descend_pattern(const std::vector<Level>& levels) {
  std::string pattern;
  for (const Level& level : levels) {
    for (const std::string& below : level.below) pattern += (pattern.empty() ? "" : "|") + shell_word(below);
  }
  return pattern.empty() ? "''" : pattern;
}

std::string bash_script(const std::string& name, const std::vector<Level>& levels) {
  const std::string complete = "_" + name + "_complete";
  std::string values, words;
  for (const Level& level : levels) {
    std::vector<std::string_view> choices;
    std::string arguments;
    for (const Option& option : level.options) {
      const std::string how = compgen_arguments(option);
      if (is_argument(option)) {
        // Several arguments are completed alike, with all of their possible values.
        if (!how.empty()) arguments += (arguments.empty() ? "" : " ") + how;
        continue;
      }
      for (const std::string_view each : names_of(option)) choices.push_back(each);
      if (is_flag(option)) continue;
      values += "    " + value_pattern(level, option) + ") " + (how.empty() ? "" : complete + ' ' + how + "; ") +
                "return ;;\n";
    }
    for (const Word& word : level.commands) choices.push_back(word.text);
    words += "    " + shell_word(level.path) + ") words=" + shell_word(joined(choices, " ")) + " arguments=(" +
             arguments + ") ;;\n";
  }
  return "# Completion of " + name + " for bash. To use it: source <(" + name + " completion bash)\n" +  //
         complete + "() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"${COMP_WORDS[COMP_CWORD]}\"); }\n" + "_" + name +
         "() {\n" + "  local path=" + shell_word(name) + " words='' arguments=() i\n" + "  COMPREPLY=()\n" +
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n" + "    case \"$path ${COMP_WORDS[i]}\" in\n" + "    " +
         descend_pattern(levels) + ") path+=\" ${COMP_WORDS[i]}\" ;;\n" + "    esac\n" + "  done\n" +
         "  case \"$path ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" + values + "  esac\n" + "  case \"$path\" in\n" + words +
         "  esac\n" + "  if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then arguments=(); fi\n" + "  " + complete +
         " -W \"$words\" \"${arguments[@]}\"\n" + "}\n" + "complete -o filenames -F _" + name + ' ' + name + '\n';
}

// --- zsh ---

// "'--last:What it does'", in the format of _describe.
std::string described(std::string_view word, std::string_view about) {
  std::string text;
  for (const char c : word) {
    if (c == ':') text += '\\';
    text += c;
  }
  return shell_word(text.append(":").append(first_sentence(about)));
}

// The command that completes a value; empty: none.
std::string zsh_values(const Option& option) {
  if (!option.one_of.empty()) {
    std::string words;
    for (const std::string_view each : option.one_of) words += ' ' + shell_word(each);
    return "compadd --" + words;
  }
  switch (option.kind) {
    case Kind::file:
    case Kind::existing_file: return "_files";
    case Kind::folder:
    case Kind::existing_folder: return "_files -/";
    case Kind::text: return {};
  }
  return {};
}

std::string zsh_script(const std::string& name, const std::vector<Level>& levels) {
  std::string values, words;
  for (const Level& level : levels) {
    std::string options, commands, arguments;
    for (const Option& option : level.options) {
      const std::string how = zsh_values(option);
      if (is_argument(option)) {
        if (!how.empty()) arguments += "      " + how + '\n';
        continue;
      }
      for (const std::string_view each : names_of(option)) options += ' ' + described(each, option.help);
      if (is_flag(option)) continue;
      values += "    " + value_pattern(level, option) + ") " + (how.empty() ? "" : how + "; ") + "return ;;\n";
    }
    for (const Word& word : level.commands) commands += ' ' + described(word.text, word.about);
    words += "    " + shell_word(level.path) + ")\n      choices=(" + options + " )\n      groups=(" + commands +
             " )\n      [[ $words[CURRENT] == -* ]] || {\n" + arguments + "      :\n      }\n      ;;\n";
  }
  return "#compdef " + name + "\n# Completion of " + name + " for zsh. To use it: source <(" + name +
         " completion zsh) after compinit, or install this file as _" + name + " in a folder of fpath.\n_" + name +
         "() {\n  local route=" + shell_word(name) + "\n  local -a choices groups\n  local -i i\n" +
         "  for ((i = 2; i < CURRENT; i++)); do\n    case \"$route $words[i]\" in\n    " + descend_pattern(levels) +
         ") route+=\" $words[i]\" ;;\n    esac\n  done\n  case \"$route $words[CURRENT-1]\" in\n" + values +
         "  esac\n  case \"$route\" in\n" + words + "  esac\n  (( $#groups )) && _describe command groups\n" +
         "  [[ $words[CURRENT] == -* ]] && _describe option choices\n  return 0\n}\n" + "if [[ $funcstack[1] == _" +
         name + " ]]; then _" + name + " \"$@\"; else compdef _" + name + ' ' + name + "; fi\n";
}

// --- fish ---

std::string fish_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

// Options of fish's `complete` for a value or an argument; empty: no completion.
std::string fish_values(const Option& option) {
  if (!option.one_of.empty()) return " -a " + fish_word(joined(option.one_of, " "));
  switch (option.kind) {
    case Kind::file:
    case Kind::existing_file: return " -F";
    case Kind::folder:
    case Kind::existing_folder: return " -a '(__fish_complete_directories)'";
    case Kind::text: return {};
  }
  return {};
}

std::string fish_script(const std::string& name, const std::vector<Level>& levels) {
  const std::string at = "__" + name + "_at";
  std::string below, rows;
  for (const Level& level : levels) {
    for (const std::string& each : level.below) below += ' ' + fish_word(each);
    const std::string row = "complete -c " + name + " -n " + fish_word(at + ' ' + fish_word(level.path));
    for (const Option& option : level.options) {
      const std::string how = fish_values(option);
      if (is_argument(option)) {
        if (!how.empty()) rows += row + how + '\n';
        continue;
      }
      rows += row;
      for (const std::string_view each : names_of(option)) {
        const bool is_long = each.starts_with("--");
        rows.append(is_long ? " -l " : " -s ").append(each.substr(is_long ? 2 : 1));
      }
      if (!is_flag(option)) rows += (how == " -F" ? " -r" : " -x") + how;
      rows += " -d " + fish_word(first_sentence(option.help)) + '\n';
    }
    for (const Word& word : level.commands) {
      rows.append(row).append(" -a ").append(fish_word(word.text));
      rows += " -d " + fish_word(first_sentence(word.about)) + '\n';
    }
  }
  return "# Completion of " + name + " for fish. To use it: " + name + " completion fish | source\nfunction " + at +
         "\n  set -l route " + fish_word(name) + "\n  set -l words (commandline -opc)\n" +
         "  for word in $words[2..-1]\n    if contains -- \"$route $word\"" + below +
         "\n      set route \"$route $word\"\n    end\n  end\n  test \"$route\" = \"$argv[1]\"\nend\ncomplete -c " +
         name + " -f\n" + rows;
}

std::string script(const Command& program, std::string (*write)(const std::string&, const std::vector<Level>&)) {
  std::vector<Level> levels;
  Path path{&program};
  append_levels(levels, path);
  return write(std::string{program.name}, levels);
}

}  // namespace

const std::array<ShellCompletion, 3> shell_completions{
    ShellCompletion{"bash", [](const Command& program) { return script(program, bash_script); }},
    ShellCompletion{"zsh", [](const Command& program) { return script(program, zsh_script); }},
    ShellCompletion{"fish", [](const Command& program) { return script(program, fish_script); }},
};

}  // namespace nfx::cli
