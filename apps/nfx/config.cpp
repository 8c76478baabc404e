// nfx config: writes a first configuration, translates QuickFIX settings to TOML, and shows every setting of a
// configuration and its source.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "base/error_text.hpp"
#include "command.hpp"
#include "config/quickfix_settings.hpp"
#include "config_init.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

struct ConvertOptions {
  std::string file;
  std::string out;
};

struct CheckOptions {
  std::string file;
  bool given = false;
};

struct KeysOptions {
  bool text = false;
  bool nexusfix = false;
  bool quickfix = false;
};

// Creates a new file only: an edited configuration must not be overwritten.
void write_new_file(const std::string& path, std::string_view text, bool secret) {
  const auto fail = [&](const char* fix) { throw std::runtime_error(cannot("write", path, errno) + fix); };
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0666);
  if (file < 0)
    fail(errno == EEXIST ? "; give another name, or remove it first" : "; give a file in a writable folder");
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      ::close(file);
      errno = reason;
      fail("");
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(file) != 0) fail("");
}

int convert(const ConvertOptions& options) {
  const std::filesystem::path file{options.file};
  const std::filesystem::path out{options.out.empty() ? options.file : options.out};
  const TranslatedSettings settings =
      translate_quickfix_file(file, out.has_parent_path() ? out.parent_path() : std::filesystem::path{"."});
  for (const QuickFixWarning& each : settings.warnings) print_error("warning: {}\n", to_string(each, options.file));
  for (const std::string& each : settings.notes) print_error("note: {}\n", each);
  if (!options.out.empty()) {
    write_new_file(options.out, settings.toml, settings.secret_line != 0);
    return exit_done;
  }
  if (settings.secret_line != 0) {
    throw ConfigError(options.file + ':' + std::to_string(settings.secret_line) +
                      ": has a secret, which is not printed: give --out FILE, which only its owner may read, or "
                      "write ${VARIABLE} in its place");
  }
  print(SafeText::lines(settings.toml));
  return exit_done;
}

void append(SafeText& out, const std::string& title, const std::vector<ExplainedSetting>& settings, bool only_given) {
  const auto is_shown = [&](const ExplainedSetting& each) { return each.given || !only_given; };
  if (std::ranges::none_of(settings, is_shown)) return;
  out.add("{}\n", title);
  for (const ExplainedSetting& each : settings) {
    if (!is_shown(each)) continue;
    constexpr std::size_t from_column = 44;
    const std::size_t start = out.size();
    out.add("  {} = {}", each.key, each.value);
    out.pad_to(start, from_column);
    out.add("  {}\n", each.from);
  }
}

int check(const CheckOptions& options) {
  const ExplainedConfig config = explain_config(options.file);
  const std::size_t count = config.sessions.size();
  SafeText out;
  out.add("{}: {}, ok, {}{}\n", options.file, config.is_quickfix ? "QuickFIX settings" : "TOML", count,
          count == 1 ? " session" : " sessions");
  append(out, "[engine]", config.engine, options.given);
  append(out, "[log]", config.log, options.given);
  append(out, "[control]", config.control, options.given);
  for (const ExplainedSession& each : config.sessions) append(out, each.name, each.settings, options.given);
  for (const std::string& each : config.warnings) out.add("warning: {}\n", each);
  for (const std::string& each : config.notes) out.add("note: {}\n", each);
  print(out);
  return exit_done;
}

cli::Command convert_command() {
  static ConvertOptions options;
  return {.name = "convert",
          .summary = "Translate QuickFIX settings into TOML",
          .run = [] { return convert(options); },
          .options = {{.names = "FILE",
                       .target = &options.file,
                       .help = "QuickFIX settings: sections [DEFAULT] and [SESSION]",
                       .required = true,
                       .kind = cli::Kind::file},
                      {.names = "--out",
                       .target = &options.out,
                       .help = "Write to this file, which must not exist; otherwise to standard output",
                       .kind = cli::Kind::file}},
          .details =
              "Every line of the result names the line it was made from. A setting that has no effect in NexusFIX "
              "is a warning on standard error; one that must not be ignored, such as a Java key store, is an "
              "error.",
          .examples = {{.line = "nfx config convert broker.cfg --out broker.toml",
                        .about = "translate QuickFIX settings into TOML"}}};
}

cli::Command check_command() {
  static CheckOptions options;
  return {.name = "check",
          .summary = "Show every setting and where it comes from",
          .run = [] { return check(options); },
          .options = {{.names = "FILE",
                       .target = &options.file,
                       .help = "TOML or QuickFIX settings",
                       .required = true,
                       .kind = cli::Kind::file},
                      {.names = "--given", .target = &options.given, .help = "Leave out built-in defaults"}},
          .details = "Secrets are shown as ***. Exit code 2 when the configuration is wrong.",
          .examples = {{.line = "nfx config check broker.cfg",
                        .about = "what a TOML or QuickFIX configuration means, and where each setting comes from"},
                       {.line = "nfx config check broker.cfg --given"}}};
}

cli::Command keys_command() {
  static KeysOptions options;
  return {.name = "keys",
          .summary = "List all keys with type, default and meaning, and all QuickFIX keys",
          .run =
              [] {
                if (options.text) {
                  print(SafeText::lines(config_reference()));
                  return exit_done;
                }
                if (!options.quickfix) print(SafeText::lines(config_key_table()));
                if (options.nexusfix == options.quickfix) print("\n");
                if (!options.nexusfix) print(SafeText::lines(quickfix_key_table()));
                return exit_done;
              },
          .options = {{.names = "--text",
                       .target = &options.text,
                       .help = "Keys of NexusFIX's TOML files as plain text for a terminal, not as Markdown",
                       .excludes = {"--nexusfix", "--quickfix"}},
                      {.names = "--nexusfix",
                       .target = &options.nexusfix,
                       .help = "Only the keys of NexusFIX's TOML files"},
                      {.names = "--quickfix",
                       .target = &options.quickfix,
                       .help = "Only QuickFIX's keys, and what each becomes in a TOML file",
                       .excludes = {"--nexusfix"}}},
          .examples = {{.line = "nfx config keys --text", .about = "every key of a TOML configuration"},
                       {.line = "nfx config keys --quickfix", .about = "what becomes of QuickFIX's keys"}}};
}

}  // namespace

cli::Command config_command() {
  return {.name = "config",
          .summary = "Check or write a configuration, or translate QuickFIX settings",
          .commands = {check_command(), config_init_command(), convert_command(), keys_command()}};
}

}  // namespace nfx::app
