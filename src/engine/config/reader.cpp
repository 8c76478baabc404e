// Reads a configuration file into an EngineConfig. Each error names its line and column.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error_text.hpp"
#include "base/suggest.hpp"
#include "config/checks.hpp"
#include "config/config_file.hpp"
#include "config/key_depth.hpp"
#include "config/keys.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx {
namespace {

using config::BadValue;
using config::KeyProblem;
using config::SessionDraft;

// The sections that may contain a key of this name, such as "[engine]"; empty: none.
std::string sections_of(std::string_view name) {
  std::string sections;
  const auto look = [&](const auto& keys, std::string_view section) {
    if (std::ranges::none_of(keys, [name](const auto& key) { return key.name == name; })) return;
    sections.append(sections.empty() ? "" : " or ").append(section);
  };
  look(config::engine_keys(), "[engine]");
  look(config::placement_keys(), "[placement]");
  look(config::log_keys(), "[log]");
  look(config::control_keys(), "[control]");
  look(config::cluster_keys(), "[cluster]");
  look(config::session_keys(), "[[session]]");
  return sections;
}

// Reads one file. Every error is thrown by fail(), which adds the place.
class Reader {
 public:
  // `masked` must outlive this object.
  Reader(const config::MaskedText& masked, std::string_view name, std::filesystem::path folder)
      : masked_(masked), name_(name), folder_(std::move(folder)) {}

  EngineConfig read() {
    const toml::table root = parse();
    for (const auto& [key, node] : root) {
      if (key != "engine" && key != "placement" && key != "log" && key != "control" && key != "cluster" &&
          key != "defaults" && key != "session") {
        if (const std::string sections = sections_of(key.str()); !sections.empty())
          fail(node, {}, key.str(), "a key above the first section is in none; write it below " + sections);
        fail(node, {}, key.str(),
             "unknown section" +
                 did_you_mean(key.str(), {"engine", "placement", "log", "control", "cluster", "defaults", "session"}) +
                 "; expected [engine], [placement], [log], [control], [cluster], [defaults] or [[session]]");
      }
    }
    EngineConfig engine;
    if (const toml::table* table = section(root, "engine")) {
      apply(*table, "engine", config::engine_keys(), engine);
      if (const auto problem = config::find_engine_problem(engine)) {
        const toml::node* node = table->get(problem->key);
        fail(node == nullptr ? static_cast<const toml::node&>(*table) : *node, "engine", problem->key, problem->text);
      }
    }
    if (const toml::table* table = section(root, "placement")) read_placement(*table, engine.placement);
    if (const toml::table* table = section(root, "log")) {
      read_log(*table, engine.log);
      if (const auto problem = config::find_trace_problem(engine))
        fail(place_of(*table, problem->key), "log", problem->key, problem->text);
    }
    if (const toml::table* table = section(root, "control")) read_control(*table, engine.control);
    if (const toml::table* table = section(root, "cluster")) read_cluster(*table, engine.cluster);
    if (const auto problem = config::find_log_thread_problem(engine)) {
      NFX_ASSERT(root["placement"]["log"].is_table());
      const toml::node& node = place_of(*root["placement"]["log"].as_table(), problem->key);
      fail(node, "placement.log", problem->key, problem->text);
    }
    read_sessions(root, engine);
    return engine;
  }

  SessionSettings read_added(EngineConfig engine) {
    const toml::table root = parse();
    for (const auto& [key, node] : root) {
      if (key == "session" || key == "defaults") continue;
      fail(node, {}, key.str(), "a session that is added has [[session]] and perhaps [defaults], and no other section");
    }
    engine.sessions.clear();
    const std::vector<const toml::table*> tables = session_tables(root);
    if (tables.size() != 1)
      fail(tables.empty() ? *root.get("session") : *tables[1], {}, "session",
           "one session at a time: write one [[session]]");
    read_sessions(root, engine);
    if (engine.sessions.front().is_template)
      fail(place_of(*tables.front(), "template"), "session", "template",
           "a template is added to the file, for the next start");
    return std::move(engine.sessions.front());
  }

 private:
  void read_sessions(const toml::table& root, EngineConfig& engine) {
    SessionDraft defaults;
    if (const toml::table* table = section(root, "defaults"))
      apply(*table, "defaults", config::session_keys(), defaults);
    std::vector<const toml::table*> tables = session_tables(root);
    for (const toml::table* table : tables) {
      SessionDraft draft = defaults;
      apply(*table, "session", config::session_keys(), draft);
      try {
        config::finish(draft);
      } catch (const KeyProblem& bad) {
        fail(place_of(*table, bad.key()), "session", bad.key(), bad.what());
      }
      from_folder(draft.settings);
      load_dictionaries(draft, *table);
      engine.sessions.push_back(std::move(draft.settings));
    }
    NFX_ASSERT(engine.sessions.size() == tables.size());
    if (const auto problem = config::find_problem(engine)) {
      NFX_ASSERT(problem->session < tables.size());
      const toml::table& table = *tables[problem->session];
      const toml::node* node = table.get(problem->key);
      fail(node == nullptr ? static_cast<const toml::node&>(table) : *node, "session", problem->key, problem->text);
    }
  }

  [[noreturn]] void fail(const toml::node& at, std::string_view section_name, std::string_view key,
                         const std::string& text) const {
    NFX_ASSERT(at.source().begin.line > 0);
    std::ostringstream out;
    out << place(at.source().begin.line, at.source().begin.column) << ": ";
    if (!section_name.empty()) out << '[' << section_name << "] ";
    out << key << ": " << text;
    throw ConfigError(out.str());
  }

  // "engine.toml:12:3" for a place in the masked text.
  std::string place(std::size_t line, std::size_t column) const {
    return name_ + ':' + std::to_string(line) + ':' + std::to_string(masked_.original_column(line, column));
  }

  toml::table parse() const {
    const std::string_view text = masked_.text;
    if (text.size() > config::max_config_size)
      throw ConfigError(name_ + ":1:1: larger than 16 MiB: no configuration is");
    if (const auto deep = config::find_deep_key(text)) {
      throw ConfigError(place(deep->line, deep->column) + ": a key of more than " +
                        std::to_string(config::max_key_parts) +
                        " parts: no key of NexusFIX has more than two, such as placement.poll");
    }
    try {
      return toml::parse(text, name_);
    } catch (const toml::parse_error& error) {
      std::ostringstream out;
      out << place(error.source().begin.line, error.source().begin.column) << ": not TOML: " << error.description();
      throw ConfigError(out.str());
    }
  }

  const toml::table* section(const toml::table& root, std::string_view key) const {
    const toml::node* node = root.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(*node, {}, key, "expected a section: write [" + std::string{key} + "]");
    return node->as_table();
  }

  std::vector<const toml::table*> session_tables(const toml::table& root) const {
    const toml::node* node = root.get("session");
    if (node == nullptr) throw ConfigError(name_ + ":1:1: no session: add a [[session]] section");
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(*node, {}, "session", "expected double brackets: write [[session]]");
    std::vector<const toml::table*> result;
    for (const toml::node& each : *list) {
      if (!each.is_table()) fail(each, {}, "session", "expected double brackets: write [[session]]");
      result.push_back(each.as_table());
    }
    return result;
  }

  // `is_section` is true for subsections, which are read elsewhere.
  template <class Target>
  void apply(
      const toml::table& table, std::string_view section_name, std::span<const config::Key<Target>> keys,
      Target& target, bool (*is_section)(std::string_view) = [](std::string_view) { return false; }) const {
    for (const auto& [name, node] : table) {
      if (is_section(name.str()) || config::is_dropped(section_name, name.str())) continue;
      const auto key = std::ranges::find(keys, name.str(), &config::Key<Target>::name);
      if (key == keys.end()) {
        std::vector<std::string_view> names;
        for (const auto& each : keys) names.push_back(each.name);
        fail(node, section_name, name.str(),
             "unknown key" + did_you_mean(name.str(), names) + " ('nfx config keys --nexusfix' lists all keys)");
      }
      try {
        key->read(target, config::Value{node, masked_.secrets});
      } catch (const BadValue& bad) {
        fail(node, section_name, name.str(), bad.what());
      }
    }
  }

  // [placement], and below it one section per role, such as [placement.poll].
  void read_placement(const toml::table& table, PlacementRequest& placement) const {
    placement.enabled = true;
    const auto is_role = [](std::string_view key) { return parse_thread_role(key).has_value(); };
    apply(table, "placement", config::placement_keys(), placement, is_role);
    for (const ThreadRole role : thread_roles) {
      const std::string key{to_string(role)};
      const toml::table* roles = section(table, key);
      if (roles == nullptr) continue;
      const std::string name = "placement." + key;
      apply(*roles, name, config::role_keys(), placement.role(role));
      for (const auto& [elsewhere, instead] : {std::pair{"threads", "poll_threads"}, {"wait", "idle"}}) {
        if (role == ThreadRole::poll && roles->contains(elsewhere)) {
          fail(place_of(*roles, elsewhere), name, elsewhere,
               "is not for poll threads: write " + std::string{instead} + " in [engine]");
        }
      }
    }
  }

  void read_log(const toml::table& table, LogConfig& log) const {
    apply(table, "log", config::log_keys(), log);
    if (const auto problem = config::find_log_problem(log))
      fail(place_of(table, problem->key), "log", problem->key, problem->text);
    from_folder(log.directory);
    from_folder(log.metrics_file);
  }

  void read_control(const toml::table& table, ControlConfig& control) const {
    apply(table, "control", config::control_keys(), control);
    if (const auto problem = config::find_control_problem(control))
      fail(place_of(table, problem->key), "control", problem->key, problem->text);
    for (std::string* path : {&control.socket, &control.tokens, &control.audit, &control.tls_certificate,
                              &control.tls_key, &control.tls_ca, &control.clients})
      from_folder(*path);
    for (std::string& path : control.tls_crl) from_folder(path);
  }

  void read_cluster(const toml::table& table, ClusterConfig& cluster) const {
    apply(table, "cluster", config::cluster_keys(), cluster);
    if (const auto problem = config::find_cluster_problem(cluster))
      fail(place_of(table, problem->key), "cluster", problem->key, problem->text);
    for (std::string* path : {&cluster.credentials, &cluster.certificate_authority}) from_folder(*path);
  }

  // Relative paths are relative to the folder of the configuration file.
  void from_folder(std::string& name) const {
    const std::filesystem::path path{name};
    if (!path.empty() && path.is_relative() && !folder_.empty()) name = (folder_ / path).string();
  }
  void from_folder(SessionSettings& settings) const {
    from_folder(settings.journal.directory);
    from_folder(settings.journal.ring_directory);
    for (const TlsOption& option : tls_option_rows) {
      if (!option.is_path) continue;
      if (const auto* text = std::get_if<TlsOption::Text>(&option.member)) from_folder(settings.tls.*(*text));
      if (const auto* texts = std::get_if<TlsOption::Texts>(&option.member)) {
        for (std::string& each : settings.tls.*(*texts)) from_folder(each);
      }
    }
  }

  static const toml::node& place_of(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    return node == nullptr ? static_cast<const toml::node&>(table) : *node;
  }

  // The dictionary of a session, and with FIXT.1.1 one for each further application version.
  void load_dictionaries(SessionDraft& draft, const toml::table& table) {
    SessionConfig& session = draft.settings.session;
    // The check of the session reports a wrong version, with its fix.
    if (draft.dictionary == "none" || !is_begin_string(session.begin_string)) return;
    const bool fixt = session.begin_string == transport_version.name;
    if (!fixt && !draft.transport_dictionary.empty())
      fail(place_of(table, "transport_dictionary"), "session", "transport_dictionary",
           "is for FIXT.1.1 only: remove it");
    if (!fixt && !draft.application_dictionaries.empty()) {
      fail(place_of(table, "application_dictionaries"), "session", "application_dictionaries",
           "is for FIXT.1.1 only: use dictionary");
    }
    const std::string version{fixt ? version_of_appl_ver_id(session.default_appl_ver_id) : session.begin_string};
    draft.settings.dictionary = load(draft, draft.dictionary, version, table, "dictionary");
    session.dictionary = draft.settings.dictionary.get();
    for (const std::string& text : draft.application_dictionaries) {
      const std::size_t equals = text.find('=');
      const std::string_view name = std::string_view{text}.substr(0, equals);
      const std::string_view id = version_of_appl_ver_id(name).empty() ? appl_ver_id_of(name) : name;
      if (equals == std::string::npos || id.empty()) {
        fail(place_of(table, "application_dictionaries"), "session", "application_dictionaries",
             '"' + text + "\": expected a version and a file, such as \"FIX.4.4=FIX44.xml\"");
      }
      const std::size_t index = std::stoul(std::string{id});
      NFX_ASSERT(index < appl_ver_id_count);
      auto loaded = load(draft, text.substr(equals + 1), std::string{version_of_appl_ver_id(id)}, table,
                         "application_dictionaries");
      session.application_dictionaries[index] = loaded.get();
      draft.settings.application_dictionaries.push_back(std::move(loaded));
    }
  }

  // Null if no file is named and none is shipped for the version. Then only the session layer's checks apply.
  std::shared_ptr<const Dictionary> load(const SessionDraft& draft, const std::string& file, const std::string& version,
                                         const toml::table& table, std::string_view key) {
    const toml::node& where = place_of(table, key);
    const bool fixt = draft.settings.session.begin_string == transport_version.name;
    DictionaryFiles files;
    if (file.empty() && shipped_file(version).empty()) return nullptr;
    files.application = find(file.empty() ? std::string{shipped_file(version)} : file, where, key);
    if (fixt) {
      const std::string transport =
          draft.transport_dictionary.empty() ? std::string{transport_version.file} : draft.transport_dictionary;
      files.transport = find(transport, place_of(table, "transport_dictionary"), "transport_dictionary");
    }
    files.version = version;
    files.for_session = true;
    std::string all = version + '\n' + files.transport.string() + '\n' + files.application.string();
    for (const std::string& overlay : draft.dictionary_overlays) {
      files.overlays.push_back(find(overlay, place_of(table, "dictionary_overlays"), "dictionary_overlays"));
      all += '\n' + files.overlays.back().string();
    }
    auto& loaded = loaded_[all];
    try {
      if (!loaded) loaded = std::make_shared<const Dictionary>(load_dictionary(files));
    } catch (const DictionaryError& error) {
      fail(where, "session", key, error.what());
    }
    if (const Repairs& repairs = loaded->repairs();
        draft.dictionary_problems == config::DictionaryProblems::refuse && !repairs.empty()) {
      const std::size_t others = repairs.total() - 1;
      fail(where, "session", key,
           repairs.lines().front() +
               (others == 0 ? "" : " (and " + std::to_string(others) + " more, which 'nfx dict check' lists)") +
               "; or write dictionary_problems = \"repair\"");
    }
    const std::string_view found = fixt ? loaded->version_name() : loaded->begin_string();
    if (found != version) {
      fail(where, "session", key,
           files.application.string() + " is for " + std::string{found} + ", but the session's version is " + version +
               ": name another file, or remove the key to use the shipped one");
    }
    return loaded;
  }

  std::filesystem::path find(const std::string& file, const toml::node& where, std::string_view key) const {
    if (auto path = find_shipped_dictionary(file, folder_.empty() ? "." : folder_)) return *std::move(path);
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(folder_ / file, error);
    if (std::filesystem::is_directory(status)) {
      fail(where, "session", key, "\"" + file + "\" is a folder; write the path of a dictionary file, or \"none\"");
    }
    if (error == std::errc::permission_denied) {
      fail(where, "session", key, cannot("read", file, error.value()) + "; run as a user who may search its folder");
    }
    fail(where, "session", key,
         "no file \"" + file + "\" in " + folder_.string() +
             " or among the shipped dictionaries; write a path, or \"none\"");
  }

  const config::MaskedText& masked_;
  std::string name_;
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const Dictionary>> loaded_;
};

}  // namespace

EngineConfig config::parse_masked(const MaskedText& toml, std::string_view name, const std::string& folder) {
  return Reader{toml, name, folder}.read();
}

EngineConfig parse_config(std::string_view toml, std::string_view name, const std::string& folder) {
  return config::parse_masked(config::mask_toml(toml), name, folder);
}

SessionSettings parse_added_session(std::string_view toml, std::string_view name, const std::string& folder,
                                    const EngineConfig& engine) {
  return Reader{config::mask_toml(toml), name, folder}.read_added(engine);
}

EngineConfig load_config(const std::string& name) {
  const std::filesystem::path file{name};
  auto read = config::read_config_file(file);
  const config::MaskedText masked = config::mask_toml(read.text);
  clear_text(read.text);
  return config::parse_masked(masked, file.string(), file.has_parent_path() ? file.parent_path() : ".");
}

}  // namespace nfx
