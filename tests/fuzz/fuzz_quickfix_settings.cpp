// Any QuickFIX settings file becomes valid TOML, with all reported lines inside its file, or gives one error that names
// a line of it. The same applies to a configuration's own reader, and to its explanation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/quickfix_settings.hpp"
#include "fuzz_target.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 2000};

namespace {

using nfx::fuzz::line_in;
using nfx::fuzz::lines_of;
using nfx::fuzz::require;

std::optional<std::string> variable(std::string_view name) {
  if (name == "HOME") return "/home/\"user\"";
  if (name == "BAD") return "\xff";
  if (name == "LINES") return "a\n[session]\nb = 1";
  return std::nullopt;
}

void check_translation(const nfx::TranslatedSettings& settings, std::string_view text) {
  const std::size_t lines = lines_of(text), toml_lines = lines_of(settings.toml);
  for (const nfx::QuickFixWarning& each : settings.warnings) {
    require(each.line > 0 && each.line <= lines, "a warning names a line of the file", each.text);
  }
  require(settings.session_lines.size() == settings.session_toml_lines.size(), "each session has both lines", text);
  for (const nfx::SettingOrigin& each : settings.origins) {
    require(each.line <= lines && each.toml_line > 0 && each.toml_line <= toml_lines, "an origin is in both files",
            each.key);
    require(each.session < settings.session_lines.size() || each.session == nfx::SettingOrigin::no_session,
            "an origin is of a session that there is", each.key);
  }
  require(settings.secret_line <= toml_lines, "a secret is in the TOML", text);
  try {
    static_cast<void>(nfx::parse_config(settings.toml, "f.toml", NFX_FUZZ_DICTIONARIES));
  } catch (const nfx::ConfigError& error) {
    const std::string_view what = error.what();
    require(!what.contains("not TOML") && !what.contains("unknown key"), "the translation is TOML of known keys", what);
    const std::size_t line = line_in(what, "f.toml");
    require(line > 0 && line <= toml_lines, "an error names a line of the TOML", what);
  }
}

void translate(std::string_view text, const nfx::VariableLookup& environment) {
  try {
    check_translation(nfx::translate_quickfix_settings(text, "f.cfg", environment), text);
  } catch (const nfx::ConfigError& error) {
    const std::size_t line = line_in(error.what(), "f.cfg");
    require(line > 0 && line <= lines_of(text), "an error names a line of the file", error.what());
  }
}

// A line of a file may end with only a carriage return.
std::size_t lines_of_file(std::string_view text) {
  return lines_of(text) + static_cast<std::size_t>(std::ranges::count(text, '\r'));
}

// Like `nfx config check`: in either format, with the line numbers of the original file.
void load(std::string_view text) {
  static const nfx::fuzz::MemoryFile file;
  file.write(text);
  bool accepted = true;
  try {
    static_cast<void>(nfx::load_any_config(file.path()));
  } catch (const nfx::ConfigError& error) {
    accepted = false;
    const std::size_t line = line_in(error.what(), file.path());
    require(line > 0 && line <= lines_of_file(text), "an error names a line of the file", error.what());
  }
  try {
    static_cast<void>(nfx::explain_config(file.path()));
    require(accepted, "what is refused is not explained", text);
  } catch (const nfx::ConfigError& error) {
    require(!accepted, "what is accepted is explained", error.what());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool small_dictionaries = ::setenv("NFX_DICTIONARIES", NFX_FUZZ_DICTIONARIES, 1) == 0;
  require(small_dictionaries, "the environment can be set", "");
  const std::string_view text = nfx::fuzz::text_of(data, size);
  translate(text, {});
  translate(text, variable);
  load(text);
  return 0;
}
