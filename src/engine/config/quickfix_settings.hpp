// Translates settings files of the QuickFIX engines (C++, J, Go, N) into our TOML, so that one code path reads both.
// Each QuickFIX key has one treatment, listed in quickfix_keys() and docs/quickfix.md; none is dropped silently.
// Thread: any, before run. Errors: ConfigError, one line "file:line: [SESSION] Key: what is wrong; the fix".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/config/engine_config.hpp"

namespace nfx {

enum class KeyTreatment : std::uint8_t {
  honoured,  // becomes a NexusFIX setting with the same meaning
  mapped,    // becomes one or more NexusFIX settings, as the note describes
  ignored,   // has no effect; the note gives the reason
  refused,   // an error, because running without it would be wrong
};

[[nodiscard]] std::string_view to_string(KeyTreatment treatment) noexcept;

struct QuickFixKey {
  std::string_view name;     // "X<n>" means X1, X2 ...; "X*" means every key with this prefix
  std::string_view engines;  // engines that have it: "C++ J Go N"
  KeyTreatment treatment = KeyTreatment::ignored;
  std::string_view ours;  // NexusFIX keys, separated by ", "
  std::string_view note;  // the translation; or the reason for having none, and the alternative
};

[[nodiscard]] std::span<const QuickFixKey> quickfix_keys();

// The table as Markdown, one line per key, as in docs/quickfix.md.
[[nodiscard]] std::string quickfix_key_table();

struct QuickFixWarning {
  std::size_t line = 0;
  std::string section;  // "[DEFAULT] ", "[SESSION] " or nothing
  std::string key;      // as written in the file; empty if the line has none
  std::string text;
};

// "broker.cfg:12: [DEFAULT] FileStorePath: ...".
[[nodiscard]] std::string to_string(const QuickFixWarning& warning, std::string_view file_name);

// The source of a key in the TOML.
struct SettingOrigin {
  static constexpr std::size_t no_session = SIZE_MAX;

  std::size_t session = 0;  // index in the TOML; no_session: the key is in [log]
  std::string key;          // the NexusFIX key
  std::size_t toml_line = 0;
  std::size_t line = 0;      // line in the QuickFIX file; 0 if the key is absent and QuickFIX's default was used
  std::string quickfix_key;  // or several: "SocketConnectHost, SocketConnectPort"
  bool in_default_section = false;
};

struct TranslatedSettings {
  std::string toml;                       // with comments that name the source lines
  std::vector<QuickFixWarning> warnings;  // one per key and file, however many sessions there are
  std::vector<std::string> notes;         // absent keys whose default differs from QuickFIX's
  std::vector<SettingOrigin> origins;
  std::vector<std::size_t> session_lines;       // lines of the sessions in the QuickFIX file
  std::vector<std::size_t> session_toml_lines;  // lines of the headings in the TOML
  std::size_t secret_line = 0;                  // line of a password in the TOML; 0: none
};

// Looks up an environment variable.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

// How the file for a dictionary or certificate in the settings was found.
enum class FilePlace : std::uint8_t {
  as_named,  // the path names a file, relative to the settings file or the current folder
  beside,    // otherwise, a dictionary in the folder of the settings file, found by the end of the path
  shipped,   // otherwise, a shipped dictionary with this name
  nowhere,
};
struct LocatedFile {
  std::string path;  // as written into the TOML
  FilePlace place = FilePlace::as_named;
};
using FileLocator = std::function<LocatedFile(std::string_view path, bool is_dictionary)>;

// True for a file with sections [DEFAULT] or [SESSION].
[[nodiscard]] bool looks_like_quickfix(std::string_view text);

// Without `environment`, $VAR, ${VAR} and $(VAR) are not expanded. Without `locate`, paths are not changed.
[[nodiscard]] TranslatedSettings translate_quickfix_settings(std::string_view text, std::string_view file_name,
                                                             const VariableLookup& environment = {},
                                                             const FileLocator& locate = {});

// Translates a file with this process's environment. Dictionaries and certificates are searched by their paths,
// relative to the file's folder and the current one; then dictionaries by the ends of these paths, in the file's folder
// and among the shipped ones. Paths are written so that a TOML file in `toml_folder` finds them.
[[nodiscard]] TranslatedSettings translate_quickfix_file(const std::filesystem::path& file,
                                                         const std::filesystem::path& toml_folder);

// Loads a configuration in either format, detected by its content. Errors have the lines of the file itself.
[[nodiscard]] EngineConfig load_any_config(const std::filesystem::path& file,
                                           std::vector<std::string>* warnings = nullptr);

struct ExplainedSetting {
  std::string key;
  std::string value;   // as TOML; secrets as "***"
  std::string from;    // "broker.cfg:12 [SESSION] HeartBtInt", "engine.toml:5", "built-in default"
  bool given = false;  // false for a default
};
struct ExplainedSession {
  std::string name;
  std::vector<ExplainedSetting> settings;
};
struct ExplainedConfig {
  bool is_quickfix = false;
  std::vector<ExplainedSetting> engine;
  std::vector<ExplainedSetting> log;
  std::vector<ExplainedSetting> control;
  std::vector<ExplainedSession> sessions;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

// Reads and checks a configuration as load_any_config does, and returns every setting with its source.
[[nodiscard]] ExplainedConfig explain_config(const std::filesystem::path& file);

}  // namespace nfx
