// A program's command line as a table of plain structs. Parsing, help, shell completion, the manual page and a
// machine-readable list are made from it, so that an option or a command is stated once.
// Thread: one, at the start of a program. Cost: allocates. Lifetime: texts are borrowed (they are literals), and the
// targets of pointers must outlive parse() and run(). Errors: wrong usage is one line on standard error and exit code
// 2. Exceptions of a command pass through run(), except UsageError.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nfx::cli {

inline constexpr int exit_wrong_usage = 2;

// The variable that receives an option's value; its type determines the syntax. bool is a flag without a value; a
// vector takes an option given several times, or all further arguments.
using Target =
    std::variant<bool*, std::string*, std::vector<std::string>*, double*, int*, std::uint16_t*, std::uint32_t*,
                 std::uint64_t*, std::optional<std::uint32_t>*, std::optional<std::uint64_t>*>;

// The meaning of a text: shells complete it, and existence is checked where required.
enum class Kind : std::uint8_t { text, file, folder, existing_file, existing_folder };

inline constexpr double unbounded = std::numeric_limits<double>::infinity();
struct Range {
  double min = 0;
  double max = unbounded;
};

struct Option {
  std::string_view names;  // "--count"; "-n,--last"; without hyphens an argument: "FILE"
  Target target;
  std::string_view help;
  std::string_view value = {};  // the value's name in help; empty: derived from the type
  bool required = false;
  Kind kind = Kind::text;
  std::vector<std::string_view> one_of = {};
  std::optional<Range> range = {};
  std::string_view default_text = {};  // shown instead of the target's value; zero and empty are not shown
  char separator = '\0';               // separator of a list: "a,b"
  std::uint8_t max_values = 1;         // maximum number of words after the option, for a vector
  std::vector<std::string_view> excludes = {};
  std::vector<std::string_view> needs = {};
};

struct Example {
  std::string_view line;
  std::string_view about = {};
};

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  int (*run)() = nullptr;    // returns the exit code; null: one of its subcommands is required
  std::vector<Option> options = {};
  std::vector<Command> commands = {};
  std::string_view details = {};       // paragraphs, wrapped by help; lines that begin with spaces are not changed
  std::string_view exit_codes = {};    // "0 done, 1 failed", if they differ from the program's
  std::vector<Example> examples = {};  // the first one also appears in the help of the parent command
  std::string version = {};            // for a program: the output of --version
  bool hidden = false;                 // omitted in help and completion
};

// Wrong usage that only a command can detect; the message must be understandable alone.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses the command line and runs the chosen command; returns the exit code. `--help`, `-h` and, with a version,
// `--version` and `-V` print and return 0. A program with commands shows its help if none is given.
[[nodiscard]] int run(const Command& program, int argc, const char* const* argv);

// For a program without commands: parses its options. Returns the exit code to end with, or nothing to continue.
[[nodiscard]] std::optional<int> parse(const Command& program, int argc, const char* const* argv);

// The command that these words choose below `program`, program first. Throws UsageError if there is none.
using Path = std::vector<const Command*>;
[[nodiscard]] Path find_command(const Command& program, const std::vector<std::string>& words);

[[nodiscard]] std::string help_text(const Path& path);
[[nodiscard]] std::string manual_page(const Command& program);  // roff, section 1
[[nodiscard]] std::string to_json(const Command& program);      // all commands and options

// A script per shell that completes commands, options and values.
struct ShellCompletion {
  std::string_view shell;
  std::string (*script)(const Command& program);
};
extern const std::array<ShellCompletion, 3> shell_completions;

}  // namespace nfx::cli
