#include "nexusfix/engine/engine_config.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/config_keys.hpp"
#include "nexusfix/base/suggest.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/scan.hpp"

namespace nfx {
namespace {

using config::BadValue;
using config::SessionDraft;

// What is wrong with a configuration as a whole, and the key to blame.
struct Problem {
  std::size_t session = 0;
  std::string_view key;
  std::string text;
};

bool usable_comp_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

std::optional<Problem> find_engine_problem(const EngineConfig& engine) {
  if (engine.poll_threads == 0) return Problem{0, "poll_threads", "expected at least 1"};
  if (engine.pending_logon_bytes > engine.max_message_size)
    return Problem{0, "pending_logon_bytes", "must not exceed max_message_size"};
  return std::nullopt;
}

std::optional<Problem> check_session(const EngineConfig& engine, std::size_t i) {
  const SessionSettings& s = engine.sessions[i];
  const SessionConfig& c = s.session;
  static const std::set<std::string_view> versions{"FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4"};
  const auto bad = [i](std::string_view key, std::string text) { return Problem{i, key, std::move(text)}; };
  if (!versions.contains(c.begin_string))
    return bad("begin_string", "expected one of FIX.4.0, FIX.4.1, FIX.4.2, FIX.4.3, FIX.4.4");
  if (!usable_comp_id(c.sender_comp_id))
    return bad("sender_comp_id", "expected our CompID: 1 to 64 printable characters without spaces");
  if (!usable_comp_id(c.target_comp_id))
    return bad("target_comp_id", "expected the peer's CompID: 1 to 64 printable characters without spaces");
  if (c.role == Role::acceptor && s.listen.host.empty())
    return bad("listen", "an acceptor needs an address, such as listen = \"0.0.0.0:9878\"");
  if (c.role == Role::acceptor && !s.connect.empty())
    return bad("connect", "an acceptor does not connect: remove it or set role = \"initiator\"");
  if (c.role == Role::initiator && s.connect.empty())
    return bad("connect", "an initiator needs an address, such as connect = \"venue:9878\"");
  if (c.role == Role::initiator && !s.listen.host.empty())
    return bad("listen", "an initiator does not listen: remove it or set role = \"acceptor\"");
  if (c.heartbeat_interval > c.max_heartbeat_interval)
    return bad("heartbeat_interval_s", "must not exceed max_heartbeat_interval_s");
  if (s.reconnect_delay.count() < 1) return bad("reconnect_delay_ms", "expected at least 1");
  if (s.reconnect_delay > s.reconnect_delay_max)
    return bad("reconnect_delay_ms", "must not exceed reconnect_delay_max_ms");
  if (s.send_buffer_size < 64 * 1024) return bad("send_buffer_size", "expected at least 65536");
  if (s.send_buffer_size < 2 * engine.max_message_size)
    return bad("send_buffer_size", "must be at least twice max_message_size");
  if (c.max_queued_bytes < engine.max_message_size) return bad("max_queued_bytes", "must be at least max_message_size");
  if (s.poll_thread >= engine.poll_threads) {
    return bad("poll_thread", "there are " + std::to_string(engine.poll_threads) +
                                  " poll threads: expected a number below that, or raise [engine] poll_threads");
  }
  for (std::size_t j = 0; j < i; ++j) {
    const SessionSettings& other = engine.sessions[j];
    const SessionConfig& o = other.session;
    if (std::tie(o.begin_string, o.sender_comp_id, o.target_comp_id) ==
        std::tie(c.begin_string, c.sender_comp_id, c.target_comp_id)) {
      return bad("target_comp_id", "the session " + identity(c) + " exists already: each needs CompIDs of its own");
    }
    if (c.role == Role::acceptor && o.role == Role::acceptor && other.listen == s.listen &&
        other.poll_thread != s.poll_thread) {
      return bad("poll_thread",
                 "sessions that share listen = \"" + to_string(s.listen) + "\" must share their poll_thread");
    }
  }
  return std::nullopt;
}

std::optional<Problem> find_problem(const EngineConfig& engine) {
  for (std::size_t i = 0; i < engine.sessions.size(); ++i) {
    if (auto problem = check_session(engine, i)) return problem;
  }
  return std::nullopt;
}

// Reads one file. Every error leaves through fail(), which knows where it is.
class Reader {
 public:
  Reader(std::string_view name, std::filesystem::path folder) : name_(name), folder_(std::move(folder)) {}

  EngineConfig read(std::string_view text) {
    const toml::table root = parse(text);
    for (const auto& [key, node] : root) {
      if (key != "engine" && key != "defaults" && key != "session") {
        fail(node, {}, key.str(),
             "unknown section" + did_you_mean(key.str(), {"engine", "defaults", "session"}) +
                 "; expected [engine], [defaults] or [[session]]");
      }
    }
    EngineConfig engine;
    if (const toml::table* table = section(root, "engine")) {
      apply(*table, "engine", config::engine_keys(), engine);
      if (const auto problem = find_engine_problem(engine)) {
        const toml::node* node = table->get(problem->key);
        fail(node == nullptr ? static_cast<const toml::node&>(*table) : *node, "engine", problem->key, problem->text);
      }
    }
    SessionDraft defaults;
    if (const toml::table* table = section(root, "defaults"))
      apply(*table, "defaults", config::session_keys(), defaults);
    std::vector<const toml::table*> tables = session_tables(root);
    for (const toml::table* table : tables) {
      SessionDraft draft = defaults;
      apply(*table, "session", config::session_keys(), draft);
      load_dictionary_of(draft, *table);
      engine.sessions.push_back(std::move(draft.settings));
    }
    if (const auto problem = find_problem(engine)) {
      const toml::table& table = *tables[problem->session];
      const toml::node* node = table.get(problem->key);
      fail(node == nullptr ? static_cast<const toml::node&>(table) : *node, "session", problem->key, problem->text);
    }
    return engine;
  }

 private:
  [[noreturn]] void fail(const toml::node& at, std::string_view section_name, std::string_view key,
                         const std::string& text) const {
    std::ostringstream out;
    out << name_ << ':' << at.source().begin.line << ':' << at.source().begin.column << ": ";
    if (!section_name.empty()) out << '[' << section_name << "] ";
    out << key << ": " << text;
    throw ConfigError(out.str());
  }

  toml::table parse(std::string_view text) const {
    try {
      return toml::parse(text, name_);
    } catch (const toml::parse_error& error) {
      std::ostringstream out;
      out << name_ << ':' << error.source().begin.line << ':' << error.source().begin.column
          << ": not TOML: " << error.description();
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

  template <class Target>
  void apply(const toml::table& table, std::string_view section_name, std::span<const config::Key<Target>> keys,
             Target& target) const {
    for (const auto& [name, node] : table) {
      const auto key = std::ranges::find(keys, name.str(), &config::Key<Target>::name);
      if (key == keys.end()) {
        std::vector<std::string_view> names;
        for (const auto& each : keys) names.push_back(each.name);
        fail(node, section_name, name.str(),
             "unknown key" + did_you_mean(name.str(), names) + " ('nfx serve --help' lists all keys)");
      }
      try {
        key->read(target, config::Value{node});
      } catch (const BadValue& bad) {
        fail(node, section_name, name.str(), bad.what());
      }
    }
  }

  void load_dictionary_of(SessionDraft& draft, const toml::table& table) {
    if (draft.dictionary == "none") return;
    std::string file = draft.dictionary;
    if (file.empty()) {
      for (const char c : draft.settings.session.begin_string) {
        if (c != '.') file += c;
      }
      file += ".xml";
    }
    const toml::node* key = table.get("dictionary");
    const toml::node& where = key == nullptr ? static_cast<const toml::node&>(table) : *key;
    const auto path = find_shipped_dictionary(file, folder_.empty() ? "." : folder_);
    if (!path) {
      // Nothing was asked for, and there is none for this version: the session layer's own checks remain.
      if (draft.dictionary.empty()) return;
      fail(where, "session", "dictionary",
           "no file \"" + file + "\" in " + folder_.string() +
               " or among the shipped dictionaries; write a path, or \"none\"");
    }
    auto& loaded = loaded_[path->string()];
    try {
      if (!loaded) loaded = std::make_shared<const Dictionary>(load_dictionary(*path));
    } catch (const DictionaryError& error) {
      fail(where, "session", "dictionary", error.what());
    }
    if (loaded->begin_string() != draft.settings.session.begin_string) {
      fail(where, "session", "dictionary",
           path->string() + " is for " + std::string{loaded->begin_string()} + ", the session speaks " +
               draft.settings.session.begin_string + ": name another file, or none for the shipped one");
    }
    draft.settings.dictionary = loaded;
    draft.settings.session.dictionary = loaded.get();
  }

  std::string name_;
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const Dictionary>> loaded_;
};

template <class Target>
void describe(std::ostringstream& out, std::string_view section_name, std::span<const config::Key<Target>> keys) {
  const Target defaults{};
  out << section_name << '\n';
  for (const auto& key : keys) {
    std::string left = "  " + std::string{key.name} + " = " + key.show(defaults);
    if (left.size() < 44) left.resize(44, ' ');
    out << left << "  " << key.meaning << '\n';
  }
}

}  // namespace

std::string identity(const SessionConfig& s) {
  return s.begin_string + ":" + s.sender_comp_id + "->" + s.target_comp_id;
}

EngineConfig parse_config(std::string_view toml, std::string_view name, const std::filesystem::path& folder) {
  return Reader{name, folder}.read(toml);
}

EngineConfig load_config(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw ConfigError(file.string() + ": cannot read the configuration: give the path of a readable TOML file");
  }
  return parse_config(text.str(), file.string(), file.has_parent_path() ? file.parent_path() : ".");
}

void check_config(const EngineConfig& engine) {
  if (const std::string problem = kernel_override_error(); !problem.empty()) throw ConfigError(problem);
  if (const auto problem = find_engine_problem(engine))
    throw ConfigError(std::string{problem->key} + ": " + problem->text);
  if (const auto problem = find_problem(engine)) {
    throw ConfigError("session " + std::to_string(problem->session) + " (" +
                      identity(engine.sessions[problem->session].session) + "): " + std::string{problem->key} + ": " +
                      problem->text);
  }
}

std::string config_reference() {
  std::ostringstream out;
  describe(out, "[engine]", config::engine_keys());
  describe(out, "[[session]], and [defaults] for all of them", config::session_keys());
  return out.str();
}

}  // namespace nfx
