// The output of --help: usage, commands, options with their limits and defaults, details, exit codes and examples.
#include <algorithm>

#include "cli/describe.hpp"

namespace nfx::cli {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t widest_heading = 28;

// Appends words, and breaks lines that would be too long. `column` is the current column of the text.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t column) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > indent && column + 1 + word.size() > line_width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

// Wraps paragraphs; lines that begin with spaces are not changed.
void append_details(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(' ')) {
      out += line;
      out += '\n';
    } else {
      append_wrapped(out, line, 0, 0);
    }
  }
}

struct Row {
  std::string heading;
  std::string text;
};

void append_rows(std::string& out, std::string_view title, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  std::size_t width = 0;
  for (const Row& row : rows) {
    if (row.heading.size() <= widest_heading) width = std::max(width, row.heading.size());
  }
  const std::size_t indent = 2 + width + 2;
  out += '\n';
  out += title;
  out += '\n';
  for (const Row& row : rows) {
    out += "  " + row.heading;
    if (row.text.empty()) {
      out += '\n';
      continue;
    }
    if (row.heading.size() > width) {
      out += '\n';
      out.append(indent, ' ');
    } else {
      out.append(indent - 2 - row.heading.size(), ' ');
    }
    append_wrapped(out, row.text, indent, indent);
  }
}

void append_examples(std::string& out, const std::vector<Example>& examples) {
  constexpr std::size_t widest = 44;
  std::size_t width = 0;
  for (const Example& example : examples) {
    if (example.line.size() <= widest) width = std::max(width, example.line.size());
  }
  out += "\nExamples:\n";
  for (const Example& example : examples) {
    out += "  ";
    out += example.line;
    if (!example.about.empty()) {
      out.append(width > example.line.size() ? width - example.line.size() : 0, ' ');
      out += "  # ";
      out += example.about;
    }
    out += '\n';
  }
}

}  // namespace

std::string help_text(const Path& path) {
  const Command& command = *path.back();
  std::string out{command.summary};
  out += "\n\nUsage: " + full_name(path) + ' ' + synopsis(command) + '\n';
  std::vector<Row> commands, arguments, options;
  for (const Command& each : command.commands) {
    if (!each.hidden) commands.push_back({std::string{each.name}, std::string{each.summary}});
  }
  for (const Option& option : command.options) {
    (is_argument(option) ? arguments : options).push_back({heading(option), explanation(option)});
  }
  for (const Option& option : standard_options(command)) options.push_back({heading(option), explanation(option)});
  append_rows(out, "Commands:", commands);
  append_rows(out, "Arguments:", arguments);
  append_rows(out, "Options:", options);
  if (!command.details.empty()) {
    out += '\n';
    append_details(out, command.details);
  }
  if (!commands.empty()) out += "\n'" + full_name(path) + " COMMAND --help' explains a command.\n";
  if (!command.exit_codes.empty()) {
    out += '\n';
    append_wrapped(out, "Exit codes: " + std::string{command.exit_codes} + '.', 0, 0);
  }
  if (const std::vector<Example> examples = examples_of(command); !examples.empty()) append_examples(out, examples);
  return out;
}

}  // namespace nfx::cli
