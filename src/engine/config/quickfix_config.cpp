// Loads a configuration in either format through the TOML reader. Errors and settings have the line numbers of the
// user's file.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include <toml++/toml.h>

#include "config/config_changes.hpp"
#include "config/config_file.hpp"
#include "config/keys.hpp"
#include "config/quickfix_settings.hpp"
#include "config/quickfix_values.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "wire/secret_fields.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

std::optional<std::string> variable(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());  // NOLINT(concurrency-mt-unsafe): no thread sets any
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// Searches `folder` for the longest end of the path that exists: for "../spec/FIX44.xml", "spec/FIX44.xml" and then
// "FIX44.xml". For an absolute path, only the file name is tried.
std::optional<fs::path> find_end(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  for (auto from = path.begin(); from != path.end(); ++from) {
    if (path.is_absolute() && std::next(from) != path.end()) continue;
    fs::path end;
    for (auto part = from; part != path.end(); ++part) end /= *part;
    if (*end.begin() != ".." && fs::is_regular_file(folder / end, error)) return end;
  }
  return std::nullopt;
}

// QuickFIX searches the current folder; NexusFIX searches the folder of the configuration. If settings were moved
// without their files, a shipped dictionary is used.
LocatedFile located(std::string_view text, bool is_dictionary, const fs::path& folder, const fs::path& toml_folder) {
  fs::path path{text};
  std::error_code error;
  FilePlace place = FilePlace::as_named;
  bool beside = !path.is_absolute() && fs::exists(folder / path, error);
  if (path.empty() || (path.is_absolute() && fs::exists(path, error))) return {std::string{text}, place};
  if (!beside && !fs::exists(path, error)) {
    const auto end = is_dictionary ? find_end(path, folder) : std::nullopt;
    const fs::path name = path.filename();
    if (!end && (!is_dictionary || !find_shipped_dictionary(name.string()))) {
      return {std::string{text}, FilePlace::nowhere};
    }
    // A shipped dictionary is found by its name from any folder.
    if (!end) return {name.string(), name == path ? FilePlace::as_named : FilePlace::shipped};
    path = *end;
    place = FilePlace::beside;
    beside = true;
  }
  const fs::path found = fs::weakly_canonical(beside ? folder / path : path, error);
  const fs::path target = fs::weakly_canonical(toml_folder, error);
  if (beside && target == fs::weakly_canonical(folder, error)) return {path.generic_string(), place};
  return {found.lexically_proximate(target).generic_string(), place};
}

TranslatedSettings translate(std::string_view text, const fs::path& file, const fs::path& toml_folder) {
  const fs::path folder = folder_of(file);
  return translate_quickfix_settings(text, file.string(), variable, [&](std::string_view path, bool is_dictionary) {
    return located(path, is_dictionary, folder, toml_folder);
  });
}

// Reports an error in the TOML with the line of the QuickFIX file that it was translated from.
class Blame {
 public:
  Blame(const TranslatedSettings& settings, std::string name) : settings_(settings), name_(std::move(name)) {}

  std::string of(std::string_view message) const {
    std::string_view rest = message;
    if (!rest.starts_with(name_ + ':')) return std::string{message};
    rest.remove_prefix(name_.size() + 1);
    std::size_t line = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), line);
    const std::size_t section = rest.find(": ["), key_begin = rest.find("] ");
    if (section == std::string_view::npos || key_begin == std::string_view::npos) return std::string{message};
    rest.remove_prefix(key_begin + 2);
    const std::size_t key_end = std::min(rest.find(": "), rest.size());
    const std::string_view key = rest.substr(0, key_end), text = rest.substr(key_end);
    const std::size_t session = session_at(line);
    for (const SettingOrigin& each : settings_.origins) {
      if (each.key != key || (each.toml_line != line && each.session != session)) continue;
      NFX_ASSERT(each.line != 0 || each.session < settings_.session_lines.size());
      const std::size_t where = each.line == 0 ? settings_.session_lines[each.session] : each.line;
      return at(where, each.in_default_section, each.quickfix_key + " (" + each.key + ')', text);
    }
    return at(settings_.session_lines[session], false, key, text);
  }

 private:
  std::size_t session_at(std::size_t toml_line) const {
    const auto next = std::ranges::upper_bound(settings_.session_toml_lines, toml_line);
    const auto count = static_cast<std::size_t>(next - settings_.session_toml_lines.begin());
    NFX_ASSERT(count <= settings_.session_lines.size());
    return count == 0 ? 0 : count - 1;
  }
  std::string at(std::size_t line, bool in_default, std::string_view key, std::string_view text) const {
    return name_ + ':' + std::to_string(line) + (in_default ? ": [DEFAULT] " : ": [SESSION] ") + std::string{key} +
           std::string{text};
  }

  const TranslatedSettings& settings_;
  std::string name_;
};

// `secrets` belong to the text that was translated.
EngineConfig parse(const TranslatedSettings& settings, const config::Secrets& secrets, const fs::path& file) {
  try {
    return config::parse_masked({.text = settings.toml, .secrets = secrets, .longer = {}}, file.string(),
                                folder_of(file));
  } catch (const ConfigError& error) {
    throw ConfigError(Blame{settings, file.string()}.of(error.what()));
  }
}

enum class Secrets : std::uint8_t { masked, as_they_are };

// Formats a value as TOML on one line.
std::string shown(std::string_view key, const toml::node& node, Secrets secrets = Secrets::masked) {
  if (const auto* text = node.as_string()) {
    if (secrets == Secrets::as_they_are) return quickfix::toml_text(text->get());
    if (key == "password") return "\"***\"";
    // The tag of a Logon field may be shown; its value may be a secret.
    const std::size_t equals = text->get().find('=');
    if (key == "logon_fields" && equals != std::string::npos)
      return quickfix::toml_text(text->get().substr(0, equals) + "=***");
    return quickfix::toml_text(text->get());
  }
  if (const auto* list = node.as_array()) {
    std::string out = "[";
    for (const toml::node& each : *list) out += (out.size() > 1 ? ", " : "") + shown(key, each, secrets);
    return out + ']';
  }
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  return std::move(out).str();
}

// Finds where a key of a session was set; a file may have thousands of sessions.
class Origins {
 public:
  explicit Origins(const TranslatedSettings* settings) {
    if (settings == nullptr) return;
    for (const SettingOrigin& each : settings->origins) sorted_.push_back(&each);
    std::ranges::sort(sorted_, {}, [](const SettingOrigin* each) { return std::pair{place_of(each), each}; });
  }
  // In the order of the file.
  [[nodiscard]] std::span<const SettingOrigin* const> of(std::size_t session, std::string_view key) const {
    return std::ranges::equal_range(sorted_, std::pair{session, key}, {}, place_of);
  }

 private:
  static std::pair<std::size_t, std::string_view> place_of(const SettingOrigin* origin) {
    return {origin->session, origin->key};
  }
  std::vector<const SettingOrigin*> sorted_;
};

class Explainer {
 public:
  Explainer(const fs::path& file, const toml::table& root, const TranslatedSettings* quickfix)
      : file_(file), root_(root), quickfix_(quickfix), origins_(quickfix) {}

  void explain(const EngineConfig& config, ExplainedConfig& out) const {
    const toml::table none;
    const toml::table* engine = root_["engine"].as_table();
    const toml::table* log = root_["log"].as_table();
    const toml::table* defaults = root_["defaults"].as_table();
    constexpr std::size_t none_of_them = SettingOrigin::no_session;
    for (const auto& key : config::engine_keys())
      out.engine.push_back(
          setting(key.name, key.show(EngineConfig{}), engine == nullptr ? none : *engine, none, none_of_them));
    for (const auto& key : config::log_keys())
      out.log.push_back(setting(key.name, key.show(LogConfig{}), log == nullptr ? none : *log, none, none_of_them));
    const toml::table* control = root_["control"].as_table();
    for (const auto& key : config::control_keys())
      out.control.push_back(
          setting(key.name, key.show(ControlConfig{}), control == nullptr ? none : *control, none, none_of_them));
    NFX_ASSERT(root_["session"].is_array() && root_["session"].as_array()->size() == config.sessions.size());
    const toml::array& sessions = *root_["session"].as_array();
    for (std::size_t i = 0; i < config.sessions.size(); ++i) {
      ExplainedSession session{identity(config.sessions[i].session), {}};
      for (const auto& key : config::session_keys()) {
        session.settings.push_back(setting(key.name, key.show(config::SessionDraft{}), *sessions[i].as_table(),
                                           defaults == nullptr ? none : *defaults, i));
      }
      out.sessions.push_back(std::move(session));
    }
  }

 private:
  ExplainedSetting setting(std::string_view key, std::string fallback, const toml::table& own,
                           const toml::table& defaults, std::size_t session) const {
    const toml::node* node = own.get(key);
    const bool is_default = node == nullptr;
    if (is_default) node = defaults.get(key);
    if (node == nullptr) return {std::string{key}, std::move(fallback), "built-in default", false};
    return {std::string{key}, shown(key, *node), quickfix_ == nullptr ? place(*node, is_default) : origin(key, session),
            true};
  }

  std::string place(const toml::node& node, bool is_default) const {
    return file_.filename().string() + ':' + std::to_string(node.source().begin.line) +
           (is_default ? " [defaults]" : "");
  }

  std::string origin(std::string_view key, std::size_t session) const {
    const auto found = origins_.of(session, key);
    if (found.empty()) return "built-in default";
    const SettingOrigin& first = *found.front();
    if (first.line == 0) return "QuickFIX's default of " + first.quickfix_key;
    return file_.filename().string() + ':' + std::to_string(first.line) +
           (first.in_default_section ? " [DEFAULT] " : " [SESSION] ") + first.quickfix_key;
  }

  const fs::path& file_;
  const toml::table& root_;
  const TranslatedSettings* quickfix_;
  Origins origins_;
};

// Collects the keys that a file sets, with their lines.
class KeyReader {
 public:
  KeyReader(const fs::path& file, const TranslatedSettings* quickfix)
      : file_(file), quickfix_(quickfix), origins_(quickfix) {}

  ConfigKeys read(const toml::table& root) const {
    ConfigKeys keys;
    for (const auto& [name, node] : root) {
      if (name.str() != "defaults" && node.is_table()) add_section(std::string{name.str()}, *node.as_table(), keys);
    }
    const toml::table* defaults = root["defaults"].as_table();
    const toml::array* sessions = root["session"].as_array();
    NFX_ASSERT(sessions != nullptr);  // a valid configuration has sessions
    for (const toml::node& each : *sessions) {
      const std::size_t index = keys.sessions.size();
      GivenKeys& given = keys.sessions.emplace_back();
      if (defaults != nullptr) add(*defaults, index, given);
      add(*each.as_table(), index, given);
    }
    return keys;
  }

 private:
  void add_section(const std::string& name, const toml::table& table, ConfigKeys& keys) const {
    add(table, SettingOrigin::no_session, keys.sections[name]);
    for (const auto& [key, node] : table) {
      if (node.is_table()) add_section(name + '.' + std::string{key.str()}, *node.as_table(), keys);
    }
  }
  void add(const toml::table& table, std::size_t session, GivenKeys& into) const {
    for (const auto& [name, node] : table) {
      if (node.is_table()) continue;
      const std::string key{name.str()};
      into[key] = {.value = shown(key, node, Secrets::as_they_are),
                   .shown = shown(key, node),
                   .place = file_.filename().string() + ':' + std::to_string(line_of(key, session, node))};
    }
  }
  [[nodiscard]] std::size_t line_of(std::string_view key, std::size_t session, const toml::node& node) const {
    if (quickfix_ == nullptr) return node.source().begin.line;
    for (const SettingOrigin* each : origins_.of(session, key)) {
      if (each->line != 0) return each->line;
    }
    return session < quickfix_->session_lines.size() ? quickfix_->session_lines[session] : 1;
  }

  const fs::path& file_;
  const TranslatedSettings* quickfix_;
  Origins origins_;
};

std::vector<std::string> warning_lines(const TranslatedSettings& settings, const fs::path& file) {
  std::vector<std::string> lines;
  for (const QuickFixWarning& each : settings.warnings) lines.push_back(to_string(each, file.string()));
  return lines;
}

bool is_secret_field(const toml::node& node) {
  const auto* text = node.as_string();
  std::int32_t tag = 0;
  if (text != nullptr) std::from_chars(text->get().data(), text->get().data() + text->get().size(), tag);
  return is_secret(Tag{tag});
}

bool has_password(const toml::table& section) {
  if (section.contains("password")) return true;
  const toml::node* fields = section.get("logon_fields");
  if (fields == nullptr) return false;
  const toml::array* list = fields->as_array();
  return list == nullptr ? is_secret_field(*fields) : std::ranges::any_of(*list, is_secret_field);
}

// `root` is a configuration that was read successfully.
bool has_password_anywhere(const toml::table& root) {
  if (const toml::table* defaults = root["defaults"].as_table(); defaults != nullptr && has_password(*defaults))
    return true;
  const toml::array* sessions = root["session"].as_array();
  return sessions != nullptr &&
         std::ranges::any_of(*sessions, [](const toml::node& each) { return has_password(*each.as_table()); });
}

// Usual permissions and keys avoid a second parse.
void add_warnings(const fs::path& file, std::uint32_t mode, std::string_view toml, std::vector<std::string>& warnings) {
  if (!config::mode_warning(file, mode, true).empty()) {
    std::string warning = config::mode_warning(file, mode, has_password_anywhere(toml::parse(toml)));
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  for (const config::DroppedKey& each : config::dropped_keys) {
    if (!toml.contains(each.name)) continue;
    const toml::table root = toml::parse(toml);
    const auto key = root[each.section][each.name];
    if (!key) continue;
    std::ostringstream out;
    out << file.string() << ':' << key.node()->source().begin.line << ": [" << each.section << "] " << each.name
        << " has no effect: " << each.why << "; remove it";
    warnings.push_back(std::move(out).str());
  }
}

}  // namespace

TranslatedSettings translate_quickfix_file(const fs::path& file, const fs::path& toml_folder) {
  const std::string text = config::read_config_file(file).text;
  if (!looks_like_quickfix(text)) {
    throw ConfigError(file.string() + ":1: no QuickFIX settings: expected sections [DEFAULT] and [SESSION]");
  }
  return translate(text, file, toml_folder);
}

EngineConfig load_any_config(const fs::path& file, std::vector<std::string>* warnings) {
  auto [original, mode] = config::read_config_file(file);
  config::MaskedText masked = config::mask(original);
  const std::string& text = masked.text;
  EngineConfig config;
  if (looks_like_quickfix(text)) {
    const TranslatedSettings settings = translate(text, file, folder_of(file));
    config = parse(settings, masked.secrets, file);
    if (warnings != nullptr) {
      *warnings = warning_lines(settings, file);
      add_warnings(file, mode, settings.toml, *warnings);
    }
  } else {
    config = config::parse_masked(masked, file.string(), folder_of(file));
    if (warnings != nullptr) add_warnings(file, mode, text, *warnings);
  }
  config.file_text = std::move(masked.text);
  return config;
}

ConfigWithKeys load_with_keys(const fs::path& file) {
  ConfigWithKeys loaded{load_any_config(file), {}};
  loaded.keys = keys_of(loaded.config.file_text, file);
  return loaded;
}

ConfigKeys keys_of(std::string_view given, const fs::path& file) {
  const std::string text =
      looks_like_quickfix(given) ? config::mask_quickfix(given).text : config::mask_toml(given).text;
  if (!looks_like_quickfix(text)) return KeyReader{file, nullptr}.read(toml::parse(text));
  const TranslatedSettings settings = translate(text, file, folder_of(file));
  return KeyReader{file, &settings}.read(toml::parse(settings.toml));
}

ExplainedConfig explain_config(const fs::path& file) {
  auto [original, mode] = config::read_config_file(file);
  const config::MaskedText masked = config::mask(original);
  const std::string& text = masked.text;
  ExplainedConfig result;
  if (!looks_like_quickfix(text)) {
    const EngineConfig config = config::parse_masked(masked, file.string(), folder_of(file));
    add_warnings(file, mode, text, result.warnings);
    Explainer{file, toml::parse(text), nullptr}.explain(config, result);
    return result;
  }
  const TranslatedSettings settings = translate(text, file, folder_of(file));
  const EngineConfig config = parse(settings, masked.secrets, file);
  result.is_quickfix = true;
  result.warnings = warning_lines(settings, file);
  add_warnings(file, mode, settings.toml, result.warnings);
  result.notes = settings.notes;
  Explainer{file, toml::parse(settings.toml), &settings}.explain(config, result);
  return result;
}

}  // namespace nfx
