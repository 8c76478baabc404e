// The manual page, in roff with the macros of man(7): one section per command, in the order of the table.
#include "cli/describe.hpp"

namespace nfx::cli {
namespace {

// Escapes text for roff: hyphens that can be copied, no escapes, no line that is read as a request.
std::string escaped(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

void append_verbatim(std::string& out, std::string_view text) {
  out += ".nf\n" + escaped(text);
  if (!out.ends_with('\n')) out += '\n';
  out += ".fi\n";
}

void append_details(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.starts_with(' ')) {
      append_verbatim(out, line);
    } else {
      out += ".PP\n" + escaped(line) + '\n';
    }
  }
}

void append_options(std::string& out, const Command& command) {
  for (const Option& option : command.options) {
    out += ".TP\n.B " + escaped(heading(option)) + '\n';
    const std::string text = explanation(option);
    out += text.empty() ? "\\&\n" : escaped(text) + '\n';
  }
}

void append_rest(std::string& out, const Command& command) {
  append_details(out, command.details);
  if (!command.exit_codes.empty()) out += ".PP\nExit codes: " + escaped(command.exit_codes) + ".\n";
  if (!command.examples.empty()) {
    out += ".PP\nExamples:\n";
    std::string lines;
    for (const Example& example : command.examples) {
      lines += "  ";
      lines += example.line;
      if (!example.about.empty()) lines += "  # " + std::string{example.about};
      lines += '\n';
    }
    append_verbatim(out, lines);
  }
}

void append_command(std::string& out, Path& path) {
  const Command& command = *path.back();
  out += ".SS " + escaped(full_name(path) + ' ' + synopsis(command)) + '\n' + escaped(command.summary) + ".\n";
  append_options(out, command);
  append_rest(out, command);
  for (const Command& each : command.commands) {
    if (each.hidden) continue;
    path.push_back(&each);
    append_command(out, path);
    path.pop_back();
  }
}

}  // namespace

std::string manual_page(const Command& program) {
  std::string upper;
  for (const char c : program.name) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string out = ".TH " + upper + " 1 \"\" \"" + escaped(program.version) + "\" \"User Commands\"\n";
  out += ".SH NAME\n" + escaped(program.name) + " \\- " + escaped(program.summary) + '\n';
  out += ".SH SYNOPSIS\n.B " + escaped(program.name) + "\n" + escaped(synopsis(program)) + '\n';
  out += ".SH OPTIONS\n";
  append_options(out, program);
  for (const Option& option : standard_options(program)) {
    out += ".TP\n.B " + escaped(heading(option)) + '\n' + escaped(explanation(option)) + '\n';
  }
  out += ".SH COMMANDS\n";
  Path path{&program};
  for (const Command& each : program.commands) {
    if (each.hidden) continue;
    path.push_back(&each);
    append_command(out, path);
    path.pop_back();
  }
  out += ".SH NOTES\n";
  append_rest(out, program);
  return out;
}

}  // namespace nfx::cli
