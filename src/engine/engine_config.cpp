#include "nexusfix/engine/engine_config.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/config_keys.hpp"
#include "nexusfix/base/suggest.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/wildcard.hpp"
#include "nexusfix/wire/field_text.hpp"
#include "nexusfix/wire/scan.hpp"

namespace nfx {
namespace {

using config::BadValue;
using config::KeyProblem;
using config::SessionDraft;

// What is wrong with a configuration as a whole, and the key to blame.
struct Problem {
  std::size_t session = 0;
  std::string_view key;
  std::string text;
};

bool usable_text(std::string_view text) {
  return text.size() <= 64 && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<Problem> find_engine_problem(const EngineConfig& engine) {
  if (engine.poll_threads == 0) return Problem{0, "poll_threads", "expected at least 1"};
  if (engine.pending_logon_bytes > engine.max_message_size)
    return Problem{0, "pending_logon_bytes", "must not exceed max_message_size"};
  return std::nullopt;
}

// The same of [log], as far as its keys say something together.
std::optional<Problem> find_log_problem(const LogConfig& log) {
  if (log.rotate_bytes == 0) return Problem{0, "rotate_bytes", "expected at least 65536"};
  if (log.keep_files == 0) return Problem{0, "keep_files", "expected at least 1"};
  if (log.metrics_period.count() < 1) return Problem{0, "metrics_period_s", "expected at least 1"};
  if (!log.directory.empty() && !log.messages && !log.events)
    return Problem{0, "directory", "there is nothing to write into it: remove messages = false or events = false"};
  return std::nullopt;
}

using Bad = std::optional<std::pair<std::string_view, std::string>>;

Bad find_identity_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  static const std::set<std::string_view> versions{"FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1"};
  if (!versions.contains(c.begin_string)) {
    const bool fix5 = c.begin_string.starts_with("FIX.5");
    return {{"begin_string", fix5 ? "FIX 5 is spoken over FIXT.1.1: write begin_string = \"FIXT.1.1\" and "
                                    "default_appl_ver_id = \"" +
                                        c.begin_string + '"'
                                  : "expected one of FIX.4.0, FIX.4.1, FIX.4.2, FIX.4.3, FIX.4.4, FIXT.1.1"}};
  }
  const bool fixt = c.begin_string == "FIXT.1.1";
  if (fixt && version_of_appl_ver_id(c.default_appl_ver_id).empty()) {
    return {{"default_appl_ver_id", "expected an application version such as \"FIX.5.0SP2\" or \"9\""}};
  }
  if (!fixt && !c.default_appl_ver_id.empty())
    return {{"default_appl_ver_id", "only FIXT.1.1 has one: remove it, or set begin_string = \"FIXT.1.1\""}};
  if (!usable_comp_id(c.sender_comp_id))
    return {{"sender_comp_id", "expected our CompID: 1 to 64 printable characters without spaces"}};
  if (!usable_comp_id(c.target_comp_id))
    return {{"target_comp_id", "expected the peer's CompID: 1 to 64 printable characters without spaces"}};
  for (const auto& [key, id] : {std::pair{"sender_sub_id", &c.sender_sub_id},
                                {"target_sub_id", &c.target_sub_id},
                                {"sender_location_id", &c.sender_location_id},
                                {"target_location_id", &c.target_location_id},
                                {"session_qualifier", &c.session_qualifier}}) {
    if (!id->empty() && !usable_text(*id)) return {{key, "expected at most 64 printable characters"}};
  }
  const bool wildcard = c.sender_comp_id.contains('*') || c.target_comp_id.contains('*');
  if (wildcard && !s.is_template) return {{"target_comp_id", "\"*\" stands in templates only: add template = true"}};
  if (s.is_template && c.role == Role::initiator) return {{"template", "only an acceptor can be a template"}};
  return std::nullopt;
}

Bad find_network_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  if (c.role == Role::acceptor && s.listen.host.empty())
    return {{"listen", "an acceptor needs an address, such as listen = \"0.0.0.0:9878\""}};
  if (c.role == Role::acceptor && !s.connect.empty())
    return {{"connect", "an acceptor does not connect: remove it or set role = \"initiator\""}};
  if (c.role == Role::initiator && s.connect.empty())
    return {{"connect", "an initiator needs an address, such as connect = \"venue:9878\""}};
  if (c.role == Role::initiator && !s.listen.host.empty())
    return {{"listen", "an initiator does not listen: remove it or set role = \"acceptor\""}};
  if (c.role == Role::acceptor && !s.socket.from.host.empty())
    return {{"connect_from", "an acceptor does not connect: remove it or set role = \"initiator\""}};
  if (c.role == Role::initiator && !s.allowed_addresses.empty())
    return {{"allowed_addresses", "an initiator chooses its peer itself: remove it or set role = \"acceptor\""}};
  for (const std::string& address : s.allowed_addresses) {
    if (!canonical_address(address))
      return {{"allowed_addresses", '"' + address + "\" is no IP address: names are not looked up here"}};
  }
  if (s.reconnect_delay.count() < 1) return {{"reconnect_delay_ms", "expected at least 1"}};
  if (s.reconnect_delay > s.reconnect_delay_max)
    return {{"reconnect_delay_ms", "must not exceed reconnect_delay_max_ms"}};
  return std::nullopt;
}

Bad find_session_problem(const SessionSettings& s) {
  const SessionConfig& c = s.session;
  if (c.heartbeat_interval > c.max_heartbeat_interval)
    return {{"heartbeat_interval_s", "must not exceed max_heartbeat_interval_s"}};
  if (c.heartbeat_timeout_percent <= c.test_request_percent)
    return {{"heartbeat_timeout_percent", "must be more than test_request_percent"}};
  if (c.throttle_burst != 0 && c.throttle_rate == 0)
    return {{"throttle_burst", "needs throttle_rate, the messages a second"}};
  if (!c.username.empty() && !usable_text(c.username))
    return {{"username", "expected at most 64 printable characters"}};
  if (c.password.size() > 256 || c.password.contains(soh))
    return {{"password", "expected at most 256 characters, none of them SOH"}};
  if (c.logon_fields.size() > 1024) return {{"logon_fields", "expected at most 1024 characters altogether"}};
  return std::nullopt;
}

// What JournalStore would refuse at start, said in the words of the file.
Bad find_store_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (s.store_kind != StoreKind::journal) return std::nullopt;
  const JournalOptions& j = s.journal;
  constexpr std::uint64_t least = 64 * 1024, most = 1024 * 1024 * 1024;
  // Room for a message with the record around it, wherever the stream stands.
  const std::uint64_t longest = 2 * (engine.max_message_size + sizeof(RecordHeader));
  if (j.directory.empty())
    return {{"store_directory", "a journal needs a folder, such as store_directory = \"store\""}};
  if (j.ring_directory.empty()) return {{"store_ring_directory", "expected a folder, such as \"/dev/shm\""}};
  if (j.segment_size < least || j.segment_size > most) return {{"segment_size", "expected 65536 to 1073741824 bytes"}};
  if (j.segment_size < segment_header_size + longest)
    return {{"segment_size", "must be at least twice [engine] max_message_size and 4160"}};
  if (!std::has_single_bit(j.ring_size) || j.ring_size < least || j.ring_size > most)
    return {{"ring_size", "expected a power of two from 65536 to 1073741824"}};
  if (j.ring_size < longest) return {{"ring_size", "must be more than twice [engine] max_message_size"}};
  if (j.sync_interval <= Duration::zero()) return {{"sync_interval_ms", "expected at least 1"}};
  if (j.retain_bytes != 0 && j.retain_bytes < 2 * j.segment_size)
    return {{"store_retain_bytes", "must be at least twice segment_size, as one segment is always in use"}};
  if (j.retain_age < std::chrono::seconds{0}) return {{"store_retain_age_h", "expected 0 or more"}};
  return std::nullopt;
}

Bad find_tls_problem(const SessionSettings& s) {
  if (!s.tls_enabled) return std::nullopt;
  const TlsOptions& tls = s.tls;
  const bool acceptor = s.session.role == Role::acceptor;
  if (tls.certificate.empty() && acceptor)
    return {{"tls_certificate", "an acceptor needs a certificate, such as tls_certificate = \"server.pem\""}};
  if (tls.certificate.empty() && !tls.key.empty())
    return {{"tls_key", "there is no tls_certificate that it belongs to"}};
  if (tls.key_password_env.contains('=')) return {{"tls_key_password_env", "expected a variable's name"}};
  if (tls.min_version > tls.max_version) return {{"tls_min_version", "must not exceed tls_max_version"}};
  if (!acceptor && tls.client_certificate != ClientCertificate::none)
    return {{"tls_client_certificate", "an acceptor asks for one: give an initiator's own as tls_certificate"}};
  if (acceptor && !tls.server_name.empty())
    return {{"tls_server_name", "an initiator asks for it: an acceptor has the names of its certificate"}};
  if (acceptor && !tls.peer_names.empty() && tls.client_certificate != ClientCertificate::require)
    return {{"tls_peer_names", "needs tls_client_certificate = \"require\": without a certificate there is no name"}};
  if (acceptor && tls.client_certificate != ClientCertificate::none && tls.ca.empty())
    return {{"tls_ca", "name the authority of the clients' certificates: any public one would do otherwise"}};
  if (acceptor && !tls.check_name)
    return {{"tls_check_name", "an initiator looks at it: an acceptor's peers are named in tls_peer_names"}};
  if (!tls.verify && !tls.check_name)
    return {{"tls_check_name", "tls_verify = false looks at nothing at all: remove one of them"}};
  if (!tls.verify && !tls.peer_names.empty())
    return {{"tls_peer_names", "tls_verify = false believes any name: remove one of them"}};
  if (tls.ca.empty() && !tls.crl.empty() && acceptor)
    return {{"tls_crl", "needs tls_ca, whose certificates it revokes"}};
  return std::nullopt;
}

Bad find_size_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (s.slow_consumer_timeout.count() < 1) return {{"slow_consumer_timeout_ms", "expected at least 1"}};
  if (s.send_buffer_size < 64 * 1024) return {{"send_buffer_size", "expected at least 65536"}};
  if (s.send_buffer_size < 2 * engine.max_message_size)
    return {{"send_buffer_size", "must be at least twice max_message_size"}};
  if (s.session.max_queued_bytes < engine.max_message_size)
    return {{"max_queued_bytes", "must be at least max_message_size"}};
  if (s.poll_thread >= engine.poll_threads) {
    return {{"poll_thread", "there are " + std::to_string(engine.poll_threads) +
                                " poll threads: expected a number below that, or raise [engine] poll_threads"}};
  }
  if (s.is_template && engine.max_dynamic_sessions == 0)
    return {{"template", "needs [engine] max_dynamic_sessions above 0"}};
  return std::nullopt;
}

// Two of the same name, or two acceptors that a Logon could not tell apart.
Bad find_double(const SessionSettings& s, const SessionSettings& other) {
  const SessionConfig& c = s.session;
  const SessionConfig& o = other.session;
  if (std::tie(o.begin_string, o.sender_comp_id, o.target_comp_id) !=
      std::tie(c.begin_string, c.sender_comp_id, c.target_comp_id)) {
    return std::nullopt;
  }
  if (o.session_qualifier == c.session_qualifier) {
    return {{"target_comp_id", "the session " + identity(c) + " exists already: each needs CompIDs of its own"}};
  }
  if (c.role == Role::acceptor && o.role == Role::acceptor && s.listen == other.listen) {
    return {
        {"session_qualifier", "a Logon does not carry it: sessions with the same CompIDs need a listen of their own"}};
  }
  return std::nullopt;
}

// What sessions that listen at one address must have in common.
Bad find_conflict(const SessionSettings& s, const SessionSettings& other) {
  if (s.session.role != Role::acceptor || other.session.role != Role::acceptor || other.listen != s.listen) {
    return std::nullopt;
  }
  const std::string shared = "sessions that share listen = \"" + to_string(s.listen) + "\" must share their ";
  if (other.poll_thread != s.poll_thread) return {{"poll_thread", shared + "poll_thread"}};
  if (other.socket != s.socket)
    return {{"listen", shared + "tcp_nodelay, quickack, timestamps, busy_poll_us and socket buffers"}};
  if (other.tls_enabled != s.tls_enabled || (s.tls_enabled && !config::same_tls(other.tls, s.tls)))
    return {{"tls", shared + "tls keys: whose session it is shows only behind the handshake"}};
  return std::nullopt;
}

Bad find_own_problem(const EngineConfig& engine, const SessionSettings& s) {
  if (auto bad = find_identity_problem(s)) return bad;
  if (auto bad = find_network_problem(s)) return bad;
  if (auto bad = find_session_problem(s)) return bad;
  if (auto bad = find_store_problem(engine, s)) return bad;
  if (auto bad = find_tls_problem(s)) return bad;
  return find_size_problem(engine, s);
}

std::optional<Problem> check_session(const EngineConfig& engine, std::size_t i) {
  const auto problem = [i](Bad bad) { return Problem{i, bad->first, std::move(bad->second)}; };
  const SessionSettings& s = engine.sessions[i];
  if (auto bad = find_own_problem(engine, s)) return problem(std::move(bad));
  for (std::size_t j = 0; j < i; ++j) {
    if (auto bad = find_double(s, engine.sessions[j])) return problem(std::move(bad));
    if (auto bad = find_conflict(s, engine.sessions[j])) return problem(std::move(bad));
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
      if (key != "engine" && key != "placement" && key != "log" && key != "defaults" && key != "session") {
        fail(node, {}, key.str(),
             "unknown section" + did_you_mean(key.str(), {"engine", "placement", "log", "defaults", "session"}) +
                 "; expected [engine], [placement], [log], [defaults] or [[session]]");
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
    if (const toml::table* table = section(root, "placement")) read_placement(*table, engine.placement);
    if (const toml::table* table = section(root, "log")) read_log(*table, engine.log);
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

  // `is_section` names what else may stand there.
  template <class Target>
  void apply(
      const toml::table& table, std::string_view section_name, std::span<const config::Key<Target>> keys,
      Target& target, bool (*is_section)(std::string_view) = [](std::string_view) { return false; }) const {
    for (const auto& [name, node] : table) {
      if (is_section(name.str())) continue;
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
               "poll threads have it in [engine]: write " + std::string{instead} + " there");
        }
      }
    }
  }

  void read_log(const toml::table& table, LogConfig& log) const {
    apply(table, "log", config::log_keys(), log);
    if (const auto problem = find_log_problem(log))
      fail(place_of(table, problem->key), "log", problem->key, problem->text);
    from_folder(log.directory);
    from_folder(log.metrics_file);
  }

  // A relative path counts from the file's folder.
  void from_folder(std::filesystem::path& path) const {
    if (!path.empty() && path.is_relative() && !folder_.empty()) path = folder_ / path;
  }
  void from_folder(std::string& path) const {
    std::filesystem::path result{path};
    from_folder(result);
    path = result.string();
  }
  void from_folder(SessionSettings& settings) const {
    from_folder(settings.journal.directory);
    from_folder(settings.journal.ring_directory);
    TlsOptions& tls = settings.tls;
    for (std::string* each : {&tls.certificate, &tls.key, &tls.ca}) from_folder(*each);
    for (std::string& each : tls.crl) from_folder(each);
  }

  static const toml::node& place_of(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    return node == nullptr ? static_cast<const toml::node&>(table) : *node;
  }

  // The dictionaries of a session: its own, and over FIXT.1.1 one for each further application version.
  void load_dictionaries(SessionDraft& draft, const toml::table& table) {
    if (draft.dictionary == "none") return;
    SessionConfig& session = draft.settings.session;
    const bool fixt = session.begin_string == "FIXT.1.1";
    if (!fixt && !draft.transport_dictionary.empty())
      fail(place_of(table, "transport_dictionary"), "session", "transport_dictionary",
           "only FIXT.1.1 has one: remove it");
    if (!fixt && !draft.application_dictionaries.empty()) {
      fail(place_of(table, "application_dictionaries"), "session", "application_dictionaries",
           "only FIXT.1.1 has several: use dictionary");
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
      if (index >= appl_ver_id_count) continue;
      auto loaded = load(draft, text.substr(equals + 1), std::string{version_of_appl_ver_id(id)}, table,
                         "application_dictionaries");
      session.application_dictionaries[index] = loaded.get();
      draft.settings.application_dictionaries.push_back(std::move(loaded));
    }
  }

  // Null when nothing was asked for and there is none for the version: the session layer's own checks remain.
  std::shared_ptr<const Dictionary> load(const SessionDraft& draft, const std::string& file, const std::string& version,
                                         const toml::table& table, std::string_view key) {
    const toml::node& where = place_of(table, key);
    const bool fixt = draft.settings.session.begin_string == "FIXT.1.1";
    DictionaryFiles files;
    if (file.empty() && shipped_file(version).empty()) return nullptr;
    files.application = find(file.empty() ? std::string{shipped_file(version)} : file, where, key);
    if (fixt) {
      const std::string transport = draft.transport_dictionary.empty() ? "FIXT11.xml" : draft.transport_dictionary;
      files.transport = find(transport, place_of(table, "transport_dictionary"), "transport_dictionary");
    }
    std::string all = files.transport.string() + '\n' + files.application.string();
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
    const std::string_view found = fixt ? loaded->version_name() : loaded->begin_string();
    if (found != version) {
      fail(where, "session", key,
           files.application.string() + " is for " + std::string{found} + ", the session speaks " + version +
               ": name another file, or none for the shipped one");
    }
    return loaded;
  }

  std::filesystem::path find(const std::string& file, const toml::node& where, std::string_view key) const {
    if (auto path = find_shipped_dictionary(file, folder_.empty() ? "." : folder_)) return *std::move(path);
    fail(where, "session", key,
         "no file \"" + file + "\" in " + folder_.string() +
             " or among the shipped dictionaries; write a path, or \"none\"");
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

std::string_view to_string(HostSelection selection) noexcept {
  switch (selection) {
    case HostSelection::round_robin: return "round_robin";
    case HostSelection::priority: return "priority";
  }
  return "?";
}

std::string_view to_string(StoreKind kind) noexcept {
  switch (kind) {
    case StoreKind::unset: return "unset";
    case StoreKind::memory: return "memory";
    case StoreKind::journal: return "journal";
  }
  return "?";
}

std::string_view to_string(SlowConsumer policy) noexcept {
  switch (policy) {
    case SlowConsumer::refuse: return "refuse";
    case SlowConsumer::disconnect: return "disconnect";
  }
  return "?";
}

std::string_view to_string(TransportKind kind) noexcept {
  switch (kind) {
    case TransportKind::automatic: return "auto";
    case TransportKind::epoll: return "epoll";
    case TransportKind::io_uring: return "io_uring";
  }
  return "?";
}

std::string_view to_string(ClientCertificate wish) noexcept {
  switch (wish) {
    case ClientCertificate::none: return "none";
    case ClientCertificate::request: return "request";
    case ClientCertificate::require: return "require";
  }
  return "?";
}

std::string_view to_string(TlsVersion version) noexcept {
  switch (version) {
    case TlsVersion::tls_1_2: return "1.2";
    case TlsVersion::tls_1_3: return "1.3";
  }
  return "?";
}

std::string identity(const SessionConfig& s) {
  const std::string name = s.begin_string + ":" + s.sender_comp_id + "->" + s.target_comp_id;
  return s.session_qualifier.empty() ? name : name + ':' + s.session_qualifier;
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
  if (const auto problem = find_log_problem(engine.log))
    throw ConfigError("log " + std::string{problem->key} + ": " + problem->text);
  if (const auto problem = find_problem(engine)) {
    throw ConfigError("session " + std::to_string(problem->session) + " (" +
                      identity(engine.sessions[problem->session].session) + "): " + std::string{problem->key} + ": " +
                      problem->text);
  }
}

void check_session(const EngineConfig& engine, const SessionSettings& session) {
  auto bad = find_own_problem(engine, session);
  for (std::size_t i = 0; i < engine.sessions.size() && !bad; ++i) bad = find_conflict(session, engine.sessions[i]);
  if (bad)
    throw ConfigError("session " + identity(session.session) + ": " + std::string{bad->first} + ": " + bad->second);
}

std::string config_reference() {
  std::ostringstream out;
  describe(out, "[engine]", config::engine_keys());
  describe(out, "[placement], which decides where threads run", config::placement_keys());
  describe(out, "[placement.poll], [placement.deferred], [placement.flusher], [placement.log]", config::role_keys());
  describe(out, "[log], what is written for people and their tools", config::log_keys());
  describe(out, "[[session]], and [defaults] for all of them", config::session_keys());
  return out.str();
}

}  // namespace nfx
