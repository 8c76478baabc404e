// Translates one session key by key. Many QuickFIX keys depend on other keys of the same session.
#include "config/quickfix_session.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "config/quickfix_schedule.hpp"
#include "config/quickfix_tls.hpp"
#include "config/quickfix_values.hpp"
#include "config/version_text.hpp"
#include "nexusfix/base/assert.hpp"
#include "wire/secret_fields.hpp"

namespace nfx::quickfix {
namespace {

class SessionTranslator {
 public:
  SessionTranslator(Translation& common, const FileSection& section, bool dynamic_template)
      : common_(common), section_(section), dynamic_template_(dynamic_template) {
    for (const Entry& entry : section.entries) effective_.push_back(&entry);
    for (const Entry& entry : common.file().defaults.entries) {
      if (find_in(section, entry.key) == nullptr) effective_.push_back(&entry);
    }
  }

  SessionSettingsText translate() {
    refuse();
    role();
    version();
    simple_keys();
    comp_ids();
    if (initiator_) {
      connect_addresses();
      connect_details();
    } else {
      listen_address();
    }
    heartbeats();
    add(translate_schedule(common_, section_, dynamic_template_, lookup_));
    dictionaries();
    validation();
    timestamps();
    logon_fields();
    store();
    add(translate_tls(common_, lookup_, initiator_));
    warn_of_the_other_side();
    return std::move(result_);
  }

 private:
  static const Entry* find_in(const FileSection& section, std::string_view key) {
    const auto found =
        std::ranges::find_if(section.entries, [key](const Entry& each) { return same_key(each.key, key); });
    return found == section.entries.end() ? nullptr : &*found;
  }
  const Entry* find(std::string_view key) const {
    const auto found = std::ranges::find_if(effective_, [key](const Entry* each) { return same_key(each->key, key); });
    return found == effective_.end() ? nullptr : *found;
  }
  // Finds either of two names of the same setting. The session's own entry takes precedence over [DEFAULT].
  const Entry* find_either(std::string_view one, std::string_view other) const {
    const Entry* a = find(one);
    const Entry* b = find(other);
    if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
    return a->in_default && !b->in_default ? b : a;
  }

  [[noreturn]] void missing(std::string_view key, const std::string& fix) const {
    common_.fail_missing(section_, dynamic_template_, key, fix);
  }

  bool flag_of(const Entry& entry) const { return common_.flag(entry); }
  std::optional<bool> flag(std::string_view key) const {
    const Entry* entry = find(key);
    return entry == nullptr ? std::nullopt : std::optional{flag_of(*entry)};
  }
  std::int64_t seconds_of(const Entry& entry) const {
    const auto milliseconds = read_milliseconds(entry.value);
    if (!milliseconds) common_.fail(entry, "expected a number of seconds");
    if (*milliseconds % 1000 != 0) common_.fail(entry, "expected whole seconds");
    return *milliseconds / 1000;
  }

  void put(std::string key, std::string value, std::vector<const Entry*> origins) {
    NFX_ASSERT(!key.empty() && !value.empty() && !origins.empty());
    NFX_ASSERT(std::ranges::find(origins, nullptr) == origins.end());
    result_.settings.push_back({std::move(key), std::move(value), std::move(origins)});
  }
  void add(std::vector<Setting> settings) {
    for (Setting& each : settings) result_.settings.push_back(std::move(each));
  }
  // Two keys of different engines may mean the same NexusFIX setting.
  void put_once(std::string_view key, std::string value, const Entry& entry) {
    const auto old = std::ranges::find(result_.settings, key, &Setting::key);
    if (old == result_.settings.end()) return put(std::string{key}, std::move(value), {&entry});
    const Entry& other = *old->origins.front();
    const bool other_loses = other.in_default && !entry.in_default;
    const Entry& loser = other_loses ? other : entry;
    if (old->value != value) {
      common_.warn_once(loser, "has no effect: " + (other_loses ? entry.key : other.key) + " sets the same");
    }
    if (other_loses) *old = {std::string{key}, std::move(value), {&entry}};
  }

  void refuse() const {
    const bool plain = tls_is_off(lookup_);
    for (const Entry* entry : effective_) {
      const KeyRow* row = find_key(entry->key);
      if (row == nullptr || row->key.treatment != KeyTreatment::refused) continue;
      if ((row->tls && plain) || (!row->harmless.empty() && same_value(entry->value, row->harmless))) continue;
      common_.fail(*entry, std::string{row->key.note});
    }
  }

  void role() {
    find_role();
    if (dynamic_template_ && initiator_) common_.fail(*find("DynamicSessions"), "is for acceptors: remove it");
  }

  void find_role() {
    if (const Entry* type = find("ConnectionType")) {
      initiator_ = same_key(type->value, "initiator");
      if (!initiator_ && !same_key(type->value, "acceptor")) common_.fail(*type, "expected initiator or acceptor");
      return put("role", initiator_ ? "\"initiator\"" : "\"acceptor\"", {type});
    }
    // QuickFIX/Go leaves the choice to the program, so the addresses decide which one is meant.
    const Entry* connects = find("SocketConnectHost");
    const Entry* listens = find("SocketAcceptPort");
    if ((connects != nullptr) == (listens != nullptr))
      missing("ConnectionType", "write ConnectionType=initiator or ConnectionType=acceptor");
    initiator_ = connects != nullptr;
    put("role", initiator_ ? "\"initiator\"" : "\"acceptor\"", {initiator_ ? connects : listens});
  }

  void version() {
    const Entry* entry = find("BeginString");
    if (entry == nullptr && dynamic_template_ && !common_.file().sessions.empty())
      entry = find_in(common_.file().sessions.front(), "BeginString");
    if (entry == nullptr) missing("BeginString", "write BeginString=FIX.4.4, or another version");
    if (!is_begin_string(entry->value)) {
      if (entry->value.starts_with("FIX.5"))
        common_.fail(
            *entry,
            "FIX 5.0 messages are sent over FIXT.1.1: write BeginString=FIXT.1.1 and DefaultApplVerID=" + entry->value);
      if (entry->value == "*")
        common_.fail(*entry, "a template has one FIX version: write one [SESSION] for each version");
      common_.fail(*entry, "expected one of " + std::string{config::begin_strings});
    }
    is_fixt_ = entry->value == transport_version.name;
    put("begin_string", toml_text(entry->value), {entry});
    if (!is_fixt_) return;
    const Entry* application = find("DefaultApplVerID");
    if (application == nullptr)
      missing("DefaultApplVerID", "write DefaultApplVerID=" + std::string{newest_application_version.name} +
                                      ", or another version of the application messages");
    put("default_appl_ver_id", toml_text(application->value), {application});
  }

  // All keys whose value does not depend on another key.
  void simple_keys() {
    for (const KeyRow& row : key_rows()) {
      if (row.conversion == Conversion::none || row.conversion == Conversion::special || row.tls) continue;
      if (row.side == (initiator_ ? Side::acceptor : Side::initiator)) continue;
      const Entry* entry = find(row.key.name);
      if (entry == nullptr) continue;
      const std::string value = converted(*entry, row.conversion);
      for (const std::string_view ours : split(row.key.ours, ',')) put_once(ours, value, *entry);
    }
  }

  std::string converted(const Entry& entry, Conversion conversion) const {
    const auto boolean = [](bool value) { return std::string{value ? "true" : "false"}; };
    const auto mode = [](bool is_strict) { return std::string{is_strict ? "\"strict\"" : "\"lenient\""}; };
    switch (conversion) {
      case Conversion::none:
      case Conversion::special:
      case Conversion::tls_option: NFX_ASSERT(false); break;
      case Conversion::text: return toml_text(entry.value);
      case Conversion::flag: return boolean(flag_of(entry));
      case Conversion::inverted_flag: return boolean(!flag_of(entry));
      case Conversion::count:
        if (const auto value = read_count(entry.value)) return std::to_string(*value);
        common_.fail(entry, "expected a whole number");
      case Conversion::seconds: return std::to_string(seconds_of(entry));
      case Conversion::strict_when_no: return mode(!flag_of(entry));
      case Conversion::strict_when_yes: return mode(flag_of(entry));
    }
    return {};
  }

  void comp_ids() {
    for (const std::string_view key : {"SenderCompID", "TargetCompID"}) {
      if (const Entry* id = find(key); id != nullptr && !id->value.empty()) continue;
      if (!dynamic_template_)
        missing(key, "write " + std::string{key} + (key == "SenderCompID" ? "=, our CompID" : "=, the peer's CompID"));
      put(key == "SenderCompID" ? "sender_comp_id" : "target_comp_id", "\"*\"", {find("DynamicSessions")});
    }
    if (dynamic_template_) put_once("template", "true", *find("DynamicSessions"));
  }

  std::string port_of(const Entry& entry) const {
    const auto port = read_count(entry.value);
    if (!port || *port > 65535) common_.fail(entry, "expected a port from 1 to 65535");
    return std::to_string(*port);
  }

  void connect_addresses() {
    struct Address {
      const Entry* host = nullptr;
      const Entry* port = nullptr;
    };
    std::map<std::size_t, Address> addresses;
    for (const Entry* entry : effective_) {
      if (const auto n = numbered(entry->key, "SocketConnectHost")) addresses[*n].host = entry;
      if (const auto n = numbered(entry->key, "SocketConnectPort")) addresses[*n].port = entry;
    }
    if (addresses.empty())
      missing("SocketConnectHost", "write the peer's address as SocketConnectHost= and SocketConnectPort=");
    std::vector<std::string> texts;
    std::vector<const Entry*> origins;
    for (const auto& [n, address] : addresses) {
      const std::string suffix = n == 0 ? "" : std::to_string(n);
      if (address.host == nullptr)
        common_.fail(*address.port, "needs SocketConnectHost" + suffix + ", which is missing");
      if (address.port == nullptr)
        common_.fail(*address.host, "needs SocketConnectPort" + suffix + ", which is missing");
      check_host(*address.host, "SocketConnectPort" + suffix);
      texts.push_back(endpoint_text(address.host->value, port_of(*address.port)));
      origins.insert(origins.end(), {address.host, address.port});
    }
    put("connect", texts.size() == 1 ? toml_text(texts.front()) : toml_list(texts), std::move(origins));
  }

  void check_host(const Entry& host, std::string_view port_key) const {
    if (host.value.empty()) common_.fail(host, "expected a host name or address");
    if (const std::string problem = host_problem(host.value, host.key, port_key); !problem.empty())
      common_.fail(host, problem);
  }

  void connect_details() {
    const Entry* host = find_either("SocketConnectSourceHost", "SocketLocalHost");
    const Entry* port = find_either("SocketConnectSourcePort", "SocketLocalPort");
    if (host != nullptr)
      check_host(*host, same_key(host->key, "SocketLocalHost") ? "SocketLocalPort" : "SocketConnectSourcePort");
    if (host != nullptr || port != nullptr) {
      std::vector<const Entry*> origins;
      if (host != nullptr) origins.push_back(host);
      if (port != nullptr) origins.push_back(port);
      put("connect_from",
          toml_text(endpoint_text(host == nullptr ? "0.0.0.0" : host->value, port == nullptr ? "0" : port_of(*port))),
          std::move(origins));
    }
    if (const Entry* policy = find("HostSelectionPolicy")) {
      const bool round_robin = same_key(policy->value, "ROUNDROBIN");
      if (!round_robin && !same_key(policy->value, "PRIORITY"))
        common_.fail(*policy, "expected ROUNDROBIN or PRIORITY");
      put("host_selection", round_robin ? "\"round_robin\"" : "\"priority\"", {policy});
    }
    reconnect_interval();
  }

  void reconnect_interval() {
    const Entry* entry = find("ReconnectInterval");
    if (entry == nullptr) {
      for (const char* key : {"reconnect_delay_ms", "reconnect_delay_max_ms"})
        result_.settings.push_back({key, "30000", {}, "ReconnectInterval"});
      return;
    }
    // QuickFIX/J accepts steps such as "5;10", or "3x5;60": three times after 5 seconds, then after 60.
    std::int64_t first = 0, longest = 0;
    for (std::string_view step : split(entry->value, ';')) {
      if (const std::size_t times = step.find_first_of("x*"); times != std::string_view::npos)
        step.remove_prefix(times + 1);
      const auto delay = read_milliseconds(step);
      if (!delay) common_.fail(*entry, "expected a number of seconds, such as 30");
      if (*delay == 0) common_.warn_once(*entry, "0 is read as 1, because QuickFIX connects once a second then");
      const std::int64_t used = *delay == 0 ? 1000 : *delay;
      if (first == 0) first = used;
      longest = std::max(longest, used);
    }
    if (first == 0) common_.fail(*entry, "expected a number of seconds, such as 30");
    NFX_ASSERT(first <= longest);
    put("reconnect_delay_ms", std::to_string(first), {entry});
    put("reconnect_delay_max_ms", std::to_string(longest), {entry});
  }

  void listen_address() {
    const Entry* port = find("SocketAcceptPort");
    if (port == nullptr) missing("SocketAcceptPort", "write the port that peers connect to as SocketAcceptPort=");
    const Entry* host = find_either("SocketAcceptAddress", "SocketAcceptHost");
    std::vector<const Entry*> origins{port};
    if (host != nullptr && host->value.empty()) host = nullptr;  // the same as no key
    if (host != nullptr) {
      check_host(*host, "SocketAcceptPort");
      origins.insert(origins.begin(), host);
    }
    put("listen", toml_text(endpoint_text(host == nullptr ? "0.0.0.0" : host->value, port_of(*port))),
        std::move(origins));
    if (const Entry* allowed = find("AllowedRemoteAddresses")) {
      std::vector<std::string> addresses;
      for (const std::string_view each : split(allowed->value, ',')) addresses.emplace_back(each);
      if (!addresses.empty()) put("allowed_addresses", toml_list(addresses), {allowed});
    }
  }

  void heartbeats() {
    constexpr std::int64_t longest_by_default_s = 3600;
    const Entry* interval = find("HeartBtInt");
    const Entry* override_key = find("HeartBtIntOverride");
    const bool overrides = !initiator_ && override_key != nullptr && flag_of(*override_key);
    if (initiator_ || overrides) {
      if (interval == nullptr) missing("HeartBtInt", "write HeartBtInt=30, the seconds between heartbeats");
      const std::int64_t value = seconds_of(*interval);
      if (value <= 0) common_.fail(*interval, "expected seconds above 0: such as HeartBtInt=30");
      put(initiator_ ? "heartbeat_interval_s" : "heartbeat_override_s", std::to_string(value), {interval});
      if (value > longest_by_default_s) put("max_heartbeat_interval_s", std::to_string(value), {interval});
    } else if (interval != nullptr && !interval->in_default) {
      common_.warn_once(*interval, "has no effect: an acceptor uses the value in the peer's Logon");
    }
    percentage("TestRequestDelayMultiplier", "test_request_percent");
    percentage("HeartBeatTimeoutMultiplier", "heartbeat_timeout_percent");
  }

  void percentage(std::string_view key, std::string_view ours) {
    const Entry* entry = find(key);
    if (entry == nullptr) return;
    const auto beyond = read_percent(entry->value);
    if (!beyond) common_.fail(*entry, "expected a number such as 0.5, the time beyond HeartBtInt as a fraction of it");
    put(std::string{ours}, std::to_string(100 + *beyond), {entry});
  }

  void dictionaries() {
    if (const Entry* use = find("UseDataDictionary"); use != nullptr && !flag_of(*use)) {
      result_.uses_dictionary = false;
      return put("dictionary", "\"none\"", {use});
    }
    constexpr std::string_view versioned = "AppDataDictionary.";
    std::vector<std::string> applications;
    std::vector<const Entry*> origins;
    for (const Entry* entry : effective_) {
      const bool transport = same_key(entry->key, "TransportDataDictionary");
      const bool application = same_key(entry->key, "AppDataDictionary");
      const bool of_a_version = entry->key.size() > versioned.size() && starts_with_key(entry->key, versioned);
      const bool plain = same_key(entry->key, "DataDictionary");
      if (!transport && !application && !of_a_version && !plain) continue;
      if (plain == is_fixt_) {
        if (!entry->in_default)
          common_.warn_once(*entry, is_fixt_
                                        ? "is not read with FIXT.1.1: use TransportDataDictionary and AppDataDictionary"
                                        : "is read with FIXT.1.1 only: use DataDictionary");
        continue;
      }
      if (of_a_version) {
        std::string name = entry->key.substr(versioned.size());
        std::ranges::transform(name, name.begin(),
                               [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
        applications.push_back(name + '=' + common_.dictionary_path(*entry));
        origins.push_back(entry);
      } else {
        put(transport ? "transport_dictionary" : "dictionary", toml_text(common_.dictionary_path(*entry)), {entry});
      }
    }
    if (!applications.empty()) put("application_dictionaries", toml_list(applications), std::move(origins));
  }

  void validation() {
    if (flag("ValidateIncomingMessage") == false) {
      put("validation", "\"off\"", {find("ValidateIncomingMessage")});
    } else if (const auto reject = flag("RejectInvalidMessage")) {
      put("validation", *reject ? "\"strict\"" : "\"lenient\"", {find("RejectInvalidMessage")});
    }
    if (flag("FirstFieldInGroupIsDelimiter") == true) {
      put("groups", "\"off\"", {find("FirstFieldInGroupIsDelimiter")});
    } else if (const auto ordered = flag("ValidateUnorderedGroupFields")) {
      put("groups", *ordered ? "\"strict\"" : "\"off\"", {find("ValidateUnorderedGroupFields")});
    }
  }

  void timestamps() {
    const Entry* precision = find("TimestampPrecision");
    const Entry* milliseconds = find("MillisecondsInTimeStamp");
    if (precision != nullptr) {
      constexpr std::array<std::string_view, 4> names{"SECONDS", "MILLIS", "MICROS", "NANOS"};
      const auto name =
          std::ranges::find_if(names, [&](std::string_view each) { return same_key(each, precision->value); });
      const auto digits =
          name != names.end() ? std::optional<std::int64_t>{3 * (name - names.begin())} : read_count(precision->value);
      if (!digits || *digits > 9) common_.fail(*precision, "expected 0 to 9, or SECONDS, MILLIS, MICROS, NANOS");
      put("timestamp_digits", std::to_string(*digits), {precision});
    } else if (milliseconds != nullptr) {
      put("timestamp_digits", flag_of(*milliseconds) ? "3" : "0", {milliseconds});
    }
  }

  // FileStorePath becomes a folder of journals. Without it, both engines store everything in memory.
  void store() {
    if (const Entry* path = find("FileStorePath")) {
      if (path->value.empty()) common_.fail(*path, "expected a folder");
      put("store", "\"journal\"", {path});
      put("store_directory", toml_text(common_.folder(*path)), {path});
    }
    if (flag("FileStoreSync") == true) put("durability", "\"group\"", {find("FileStoreSync")});
    if (flag("PersistMessages") == false) put("retain_messages", "0", {find("PersistMessages")});
  }

  void logon_fields() {
    std::map<std::size_t, const Entry*> tags;
    for (const Entry* entry : effective_) {
      if (const auto n = numbered(entry->key, "LogonTag")) tags[*n] = entry;
    }
    Setting fields{.key = "logon_fields", .value = {}, .origins = {}};
    std::vector<std::string> texts;
    for (const auto& [n, entry] : tags) {
      const std::size_t equals = std::min(entry->value.find('='), entry->value.size());
      const std::string_view tag = std::string_view{entry->value}.substr(0, equals);
      const auto number = read_count(tag);
      if (equals == entry->value.size() || !number || *number == 0 || *number > INT32_MAX)
        common_.fail(*entry, "expected tag=value, such as LogonTag=553=name");
      const std::string_view value = std::string_view{entry->value}.substr(equals + 1);
      if (tag == "553") {
        put_once("username", toml_text(value), *entry);
      } else if (tag == "554" && !entry->variable.empty() && entry->variable_at == equals + 1) {
        put_once("password_env", toml_text(entry->variable), *entry);
      } else if (tag == "554") {
        put_once("password", toml_text(value), *entry);
        std::ranges::find(result_.settings, "password", &Setting::key)->secret = true;
      } else {
        fields.secret = fields.secret || is_secret(Tag{static_cast<std::int32_t>(*number)});
        fields.origins.push_back(entry);
        texts.push_back(entry->value);
      }
    }
    if (texts.empty()) return;
    fields.value = toml_list(texts);
    result_.settings.push_back(std::move(fields));
  }

  // A key in [DEFAULT] may be meant for other sessions; a key in the session itself may not.
  void warn_of_the_other_side() {
    for (const Entry& entry : section_.entries) {
      const KeyRow* row = find_key(entry.key);
      if (row == nullptr || row->side == Side::both || (row->side == Side::initiator) == initiator_) continue;
      common_.warn_once(entry, initiator_ ? "has no effect: the session is an initiator"
                                          : "has no effect: the session is an acceptor");
    }
  }

  Translation& common_;
  const FileSection& section_;
  bool dynamic_template_;
  std::vector<const Entry*> effective_;  // the session's entries, then entries of [DEFAULT] that it does not override
  const EntryLookup lookup_ = [this](std::string_view key) { return find(key); };
  bool initiator_ = false;
  bool is_fixt_ = false;
  SessionSettingsText result_;
};

}  // namespace

SessionSettingsText Translation::translate(const FileSection& section, bool dynamic_template) {
  SessionSettingsText result = SessionTranslator{*this, section, dynamic_template}.translate();
  NFX_ASSERT(!result.settings.empty());
  result.line = section.line;
  return result;
}

// The largest value in any section also works for a session that needs less.
std::vector<Setting> Translation::translate_engine() {
  std::vector<Setting> settings;
  for (const KeyRow& row : key_rows()) {
    if (row.key.engines != ours_only) continue;
    const Entry* largest = nullptr;
    std::int64_t value = 0;
    const auto look_at = [&](const FileSection& section) {
      for (const Entry& entry : section.entries) {
        if (!same_key(entry.key, row.key.name)) continue;
        const auto number = read_count(entry.value);
        if (!number) fail(entry, "expected a whole number");
        if (!entry.in_default) warn_once(entry, "is for the whole engine: move it to [DEFAULT]");
        if (largest != nullptr && *number <= value) continue;
        largest = &entry;
        value = *number;
      }
    };
    look_at(file_.defaults);
    for (const FileSection& section : file_.sessions) look_at(section);
    if (largest != nullptr)
      settings.push_back({.key = std::string{row.key.ours}, .value = std::to_string(value), .origins = {largest}});
  }
  return settings;
}

std::vector<Setting> Translation::translate_log() {
  const Entry* path = nullptr;
  const auto look_at = [&](const FileSection& section) {
    for (const Entry& entry : section.entries) {
      if (!same_key(entry.key, "FileLogPath")) continue;
      if (entry.value.empty()) fail(entry, "expected a folder");
      if (path == nullptr) path = &entry;
      if (path->value != entry.value)
        warn_once(entry, "has no effect: the sessions share the folder of line " + std::to_string(path->line));
    }
  };
  look_at(file_.defaults);
  for (const FileSection& section : file_.sessions) look_at(section);
  if (path == nullptr) return {};
  return {{.key = "directory", .value = toml_text(folder(*path)), .origins = {path}},
          {.key = "format", .value = "\"quickfix\"", .origins = {path}}};
}

// One warning for all files of a key that were replaced in the same way.
std::string Translation::located(const Entry& entry, bool is_dictionary) {
  if (!locate_) return unix_path(entry.value);
  LocatedFile file = locate_(entry.value, is_dictionary);
  if (const std::string path = unix_path(entry.value); file.place != FilePlace::as_named && path != entry.value)
    file = locate_(path, is_dictionary);
  if (file.place != FilePlace::beside && file.place != FilePlace::shipped) return std::move(file.path);
  const std::string end = file.place == FilePlace::beside
                              ? ": no such file, so the one in the folder of the settings is read"
                              : ": no such file, so the shipped dictionary of that name is read";
  const auto same = std::ranges::find_if(warnings_, [&](const QuickFixWarning& each) {
    return same_key(each.key, entry.key) && each.text.ends_with(end);
  });
  if (same == warnings_.end()) {
    warnings_.push_back({entry.line, section_of(entry), entry.key, entry.value + end});
  } else {
    const std::string_view before{same->text.data(), same->text.size() - end.size()};
    const auto named = split(before, ',');
    if (std::ranges::find(named, entry.value) == named.end()) {
      same->text = std::string{before} + ", " + entry.value + end;
    }
  }
  return std::move(file.path);
}

std::string Translation::folder(const Entry& entry) {
  std::string path = unix_path(entry.value);
  if (path.empty()) path = ".";
  if (path != entry.value) {
    warn_once(entry, "is a Windows path: the folder is " + path +
                         (path.starts_with('/') ? "" : ", below that of the configuration"));
  }
  return path;
}

void Translation::warn_once(const Entry& entry, std::string text) {
  if (!warned_.insert(entry.key).second) return;
  warnings_.push_back({entry.line, section_of(entry), entry.key, std::move(text)});
}

bool Translation::flag(const Entry& entry) {
  const auto value = read_flag(entry.value);
  if (!value) fail(entry, "expected Y or N");
  if (!is_plain_flag(entry.value))
    warn_once(entry, "is read as " + std::string{*value ? "Y" : "N"} + ": QuickFIX itself knows only Y and N");
  return *value;
}

void Translation::fail_missing(const FileSection& section, bool dynamic_template, std::string_view key,
                               const std::string& fix) const {
  fail(section.line, dynamic_template ? "[DEFAULT] " : "[SESSION] ", key, "missing: " + fix);
}

void Translation::fail(const Entry& entry, const std::string& text) const {
  fail(entry.line, section_of(entry), entry.key, text);
}

void Translation::fail(std::size_t line, std::string_view section, std::string_view key,
                       const std::string& text) const {
  throw ConfigError(std::string{name_} + ':' + std::to_string(line) + ": " + std::string{section} + std::string{key} +
                    ": " + text);
}

}  // namespace nfx::quickfix
