// Configuration files: every key that is documented is read, and every mistake is one line that says where and what.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "nexusfix/engine/engine_config.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {
namespace {

using Keys = std::map<std::string, std::string>;

std::string document(const Keys& engine, const Keys& session, std::string_view section = "[[session]]") {
  std::string text = "[engine]\n";
  for (const auto& [key, value] : engine) text += key + " = " + value + "\n";
  text += std::string{section} + "\n";
  for (const auto& [key, value] : session) text += key + " = " + value + "\n";
  return text;
}

EngineConfig parsed(std::string_view toml) { return parse_config(toml, "test.toml", NFX_SOURCE_DIR "/dictionaries"); }

void fingerprint(std::ostream& out, const ScheduleConfig& c) {
  for (const auto& time : {c.start_time, c.end_time, c.logon_time, c.logout_time, c.reset_time}) {
    out << ' ' << (time ? time->count() : -1);
  }
  for (const auto& day : {c.start_day, c.end_day, c.logon_day, c.logout_day})
    out << ' ' << (day ? day->c_encoding() : 9);
  for (unsigned day = 0; day < 7; ++day) out << c.weekdays.contains(std::chrono::weekday{day});
  out << ' ' << c.zone.name();
}

void fingerprint(std::ostream& out, const TlsOptions& t) {
  out << ' ' << t.certificate << ' ' << t.key << ' ' << t.key_password_env << ' ' << t.ca;
  for (const auto& each : t.crl) out << ' ' << each;
  out << ' ' << to_string(t.client_certificate);
  for (const std::string& each : t.peer_names) out << ' ' << each;
  out << ' ' << t.server_name << ' ' << t.verify << t.check_name << ' ' << to_string(t.min_version) << ' '
      << to_string(t.max_version) << ' ' << t.ciphers << ' ' << t.ciphersuites;
}

void fingerprint(std::ostream& out, StoreKind kind, const MemoryStoreOptions& memory, const JournalOptions& j) {
  out << ' ' << to_string(kind) << ' ' << (kind == StoreKind::journal ? j.retain_messages : memory.retain_messages)
      << ' ' << memory.retain_bytes << ' ' << j.directory << ' ' << j.ring_directory << ' ' << j.segment_size << ' '
      << j.ring_size << ' ' << to_string(j.durability) << ' ' << j.sync_interval.count() << ' ' << j.retain_bytes << ' '
      << j.retain_age.count() << ' ' << to_string(j.archive);
}

// Every value that a file can set, as one text.
std::string fingerprint(const EngineConfig& e) {
  std::ostringstream out;
  out << e.poll_threads << ' ' << to_string(e.idle) << ' ' << e.max_message_size << ' ' << e.max_fields << ' '
      << e.max_pending_logons << ' ' << e.pending_logon_timeout.count() << ' ' << e.pending_logon_bytes << ' '
      << e.max_dynamic_sessions << ' ' << to_string(e.transport) << '\n';
  const LogConfig& l = e.log;
  out << l.directory << ' ' << l.messages << l.events << ' ' << to_string(l.format) << ' ' << l.rotate_bytes << ' '
      << l.keep_files << ' ' << l.keep_age.count() << ' ' << l.queue_bytes << ' ' << l.metrics_file << ' '
      << l.metrics_period.count() << '\n';
  const PlacementRequest& p = e.placement;
  out << p.enabled << ' ' << p.housekeeping.to_list() << ' ' << p.housekeeping_cores << ' ' << p.share_smt << ' '
      << to_string(p.mapping) << ' ' << to_string(p.on_violation) << ' ' << p.check_interval.count() << '\n';
  for (const RoleRequest& r : p.roles) {
    out << r.threads << ' ' << to_string(r.wait) << ' ' << r.near << ' '
        << (r.same_cache_as ? to_string(*r.same_cache_as) : "none") << ' ' << r.cpus.to_list() << ' ' << r.priority
        << '\n';
  }
  for (const SessionSettings& s : e.sessions) {
    const SessionConfig& c = s.session;
    const ValidationChecks& v = c.validation.checks();
    out << c.begin_string << ' ' << c.default_appl_ver_id << ' ' << c.sender_comp_id << ' ' << c.target_comp_id << ' '
        << c.session_qualifier << ' ' << c.sender_sub_id << ' ' << c.target_sub_id << ' ' << c.sender_location_id << ' '
        << c.target_location_id << ' ' << c.cpu_affinity_core << ' ' << c.auto_pin_to_core << ' ' << to_string(c.role)
        << ' ' << c.heartbeat_interval.count() << ' ' << c.max_heartbeat_interval.count() << ' '
        << c.heartbeat_override.count() << ' ' << c.test_request_percent << ' ' << c.heartbeat_timeout_percent << ' '
        << c.check_heartbeats << ' ' << c.logon_timeout.count() << ' ' << c.logout_timeout.count() << ' ' << c.username
        << ' ' << c.password << ' ' << c.logon_fields << ' ' << to_string(c.environment) << ' ' << c.reset_on_logon
        << c.reset_on_logout << c.reset_on_disconnect << c.reset_on_error << c.refresh_on_logon << c.check_comp_id
        << c.check_latency << ' ' << c.max_latency.count() << ' ' << c.require_orig_sending_time
        << c.send_next_expected_seq_num << c.send_last_msg_seq_num_processed << ' ' << c.resend_chunk_size << ' '
        << c.closed_resend_requests << c.send_redundant_resend_requests << ' ' << c.resend_timeout.count() << ' '
        << c.max_resend_attempts << ' ' << c.max_same_resend_requests << ' ' << c.max_resent_messages << ' '
        << c.resend_rate << ' ' << c.throttle_rate << ' ' << c.throttle_burst << ' ' << to_string(c.throttle_action)
        << ' ' << c.max_queued_messages << ' ' << c.max_queued_bytes << ' ' << c.timestamp_digits << ' '
        << (c.dictionary != nullptr) << (s.dictionary != nullptr) << ' ' << s.application_dictionaries.size()
        << (c.dictionary == nullptr ? 0 : c.dictionary->fields().size()) << ' ' << to_string(c.validation.overall());
    for (const ValidationMode mode :
         {v.unknown_fields, v.user_defined_fields, v.fields_not_in_message, v.field_order, v.values_present, v.formats,
          v.enum_values, v.required_fields, v.group_counts, v.duplicate_fields, v.message_types}) {
      out << ' ' << to_string(mode);
    }
    out << ' ' << to_string(v.groups) << ' ' << c.validation.overrides().size() << ' ' << to_string(s.listen) << ' '
        << s.is_template << ' ' << to_string(s.host_selection) << ' ' << s.host_priority_restart.count() << ' '
        << s.connect_timeout.count() << ' ' << s.socket.nodelay << ' ' << s.socket.send_buffer << ' '
        << s.socket.receive_buffer << ' ' << to_string(s.socket.from) << ' ' << s.cancel_on_disconnect
        << s.cancel_on_logout << ' ' << s.cancel_delay.count();
    for (const std::string& each : s.allowed_addresses) out << ' ' << each;
    for (const Endpoint& each : s.connect) out << ' ' << to_string(each);
    if (s.schedule) fingerprint(out, s.schedule->config());
    out << ' ' << s.reconnect_delay.count() << ' ' << s.reconnect_delay_max.count() << ' ' << s.send_buffer_size << ' '
        << to_string(s.slow_consumer) << ' ' << s.slow_consumer_timeout.count() << ' ' << s.socket.busy_poll_us << ' '
        << s.socket.quickack << s.socket.timestamps << ' ' << s.tls_enabled;
    fingerprint(out, s.tls);
    fingerprint(out, s.store_kind, s.store, s.journal);
    out << ' ' << s.poll_thread << ' ' << s.prefault << ' ' << value(s.next_inbound) << ' ' << value(s.next_outbound)
        << ' ' << s.numbers_as_of.time_since_epoch().count() << '\n';
  }
  return out.str();
}

// Another value than the default, in the default's own type.
extern const std::string other_transport;
std::string other_value(const std::string& key, const std::string& shown) {
  static const Keys texts{{"idle", "\"spin\""},
                          {"transport", "\"io_uring\""},
                          {"directory", "\"log\""},
                          {"format", "\"quickfix\""},
                          {"metrics_file", "\"nfx.prom\""},
                          {"store", "\"journal\""},
                          {"store_directory", "\"store\""},
                          {"store_ring_directory", "\"/tmp\""},
                          {"ring_size", "1048576"},
                          {"durability", "\"group\""},
                          {"store_retain_bytes", "1073741824"},
                          {"store_archive", "\"remove\""},
                          {"slow_consumer", "\"disconnect\""},
                          {"tls_certificate", "\"own.pem\""},
                          {"tls_key", "\"key.pem\""},
                          {"tls_key_password_env", "\"KEY_PASSWORD\""},
                          {"tls_ca", "\"ca.pem\""},
                          {"tls_crl", "[\"a.crl\", \"b.crl\"]"},
                          {"tls_client_certificate", "\"require\""},
                          {"tls_peer_names", "[\"desk.example\"]"},
                          {"tls_server_name", "\"venue.example\""},
                          {"tls_min_version", "\"1.3\""},
                          {"tls_max_version", "\"1.2\""},
                          {"tls_ciphers", "\"ECDHE+AESGCM\""},
                          {"tls_ciphersuites", "\"TLS_AES_128_GCM_SHA256\""},
                          {"housekeeping", "\"0-1\""},
                          {"mapping", "\"balanced\""},
                          {"on_violation", "\"refuse\""},
                          {"wait", "\"spin\""},
                          {"near", "\"eth0\""},
                          {"same_cache_as", "\"poll\""},
                          {"cpus", "\"4-7\""},
                          {"cpu_affinity_core", "3"},
                          {"role", "\"initiator\""},
                          {"begin_string", "\"FIX.4.2\""},
                          {"sender_comp_id", "\"US2\""},
                          {"target_comp_id", "\"THEM2\""},
                          {"listen", "\"127.0.0.1:9\""},
                          {"connect", "\"127.0.0.1:9\""},
                          {"dictionary", "\"none\""},
                          {"default_appl_ver_id", "\"FIX.4.4\""},
                          {"session_qualifier", "\"second\""},
                          {"sender_sub_id", "\"DESK\""},
                          {"target_sub_id", "\"DESK\""},
                          {"sender_location_id", "\"LON\""},
                          {"target_location_id", "\"NY\""},
                          {"host_selection", "\"priority\""},
                          {"connect_from", "\"127.0.0.1:8\""},
                          {"allowed_addresses", "[\"192.0.2.1\"]"},
                          {"transport_dictionary", '"' + other_transport + '"'},
                          {"dictionary_overlays", "[\"" NFX_SOURCE_DIR "/tests/engine/data/overlay.xml\"]"},
                          {"application_dictionaries", "[\"FIX.4.4=FIX44.xml\"]"},
                          {"username", "\"me\""},
                          {"password", "\"secret\""},
                          {"password_env", "\"NFX_TEST_PASSWORD\""},
                          {"logon_fields", "[\"1408=1.0\"]"},
                          {"test_message_indicator", "\"test\""},
                          {"throttle_action", "\"delay\""},
                          {"groups", "\"lenient\""},
                          {"validation_overrides", "[\"8=lenient\"]"},
                          {"start_time", "\"08:00:00\""},
                          {"end_time", "\"17:00:00\""},
                          {"start_day", "\"monday\""},
                          {"end_day", "\"friday\""},
                          {"weekdays", "[\"monday\"]"},
                          {"logon_time", "\"09:00:00\""},
                          {"logout_time", "\"16:00:00\""},
                          {"logon_day", "\"tuesday\""},
                          {"logout_day", "\"thursday\""},
                          {"reset_time", "\"12:00:00\""},
                          {"time_zone", "\"Europe/London\""},
                          {"numbers_as_of", "\"20260313-21:00:00\""}};
  if (const auto text = texts.find(key); text != texts.end()) return text->second;
  if (shown == "\"strict\"" || shown == "\"lenient\"") return "\"off\"";
  if (shown == "true") return "false";
  if (shown == "false") return "true";
  EXPECT_FALSE(shown.empty()) << key;
  EXPECT_EQ(shown.find_first_not_of("0123456789"), std::string::npos) << key << " = " << shown;
  return std::to_string(std::stoull(shown) + 1);
}

const Keys acceptor_keys{{"role", "\"acceptor\""},
                         {"sender_comp_id", "\"US\""},
                         {"target_comp_id", "\"THEM\""},
                         {"listen", "\"127.0.0.1:1\""}};
const Keys initiator_keys{{"role", "\"initiator\""},
                          {"sender_comp_id", "\"US\""},
                          {"target_comp_id", "\"THEM\""},
                          {"connect", "\"127.0.0.1:1\""}};

struct Documented {
  std::string section;
  std::string key;
  std::string shown;
};

std::vector<Documented> documented_keys() {
  std::vector<Documented> result;
  std::istringstream lines{config_reference()};
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) {
      section = line.substr(0, line.find_first_of(", "));
      continue;
    }
    const auto equals = line.find(" = ");
    const auto end = line.find("  ", equals + 3);
    EXPECT_NE(equals, std::string::npos) << line;
    // The roles have the same keys, but the poll threads have some of them in [engine].
    if (section == "[placement.poll]") section = "[placement.deferred]";
    result.push_back({section, line.substr(2, equals - 2), line.substr(equals + 3, end - equals - 3)});
  }
  return result;
}

// Of a section of its own beside the sessions'.
bool has_own_section(const Documented& each) {
  return each.section.starts_with("[placement") || each.section == "[log]";
}

// A session in which the key means something, without it or with another value than other_value() gives.
Keys context(const std::string& key) {
  static const std::set<std::string> initiators_keys{"connect",      "host_selection",    "host_priority_restart_s",
                                                     "connect_from", "session_qualifier", "tls"};
  static const std::set<std::string> with_dictionary{"dictionary", "dictionary_overlays", "transport_dictionary",
                                                     "application_dictionaries"};
  Keys keys = initiators_keys.contains(key) ? initiator_keys : acceptor_keys;
  // Reading a dictionary takes long, so only the tests of its keys do.
  if (!with_dictionary.contains(key)) keys["dictionary"] = "\"none\"";
  if (key == "transport_dictionary" || key == "application_dictionaries" || key == "default_appl_ver_id") {
    keys["begin_string"] = "\"FIXT.1.1\"";
    keys["default_appl_ver_id"] = "\"FIX.5.0SP2\"";
  }
  if (key == "throttle_burst") keys["throttle_rate"] = "5";
  if (key.starts_with("tls_")) keys["tls"] = "false";
  if (key == "store") keys["store_directory"] = "\"store\"";
  if (key == "store") keys["store"] = "\"memory\"";
  static const std::set<std::string> of_schedules{"start_time",  "end_time",   "start_day", "end_day",
                                                  "weekdays",    "logon_time", "logon_day", "logout_day",
                                                  "logout_time", "reset_time", "time_zone"};
  if (!of_schedules.contains(key)) return keys;
  keys["start_time"] = "\"07:00:00\"";
  keys["end_time"] = "\"18:00:00\"";
  if (!key.ends_with("_day")) return keys;
  keys["start_day"] = "\"sunday\"";
  keys["end_day"] = "\"saturday\"";
  if (key.starts_with("start") || key.starts_with("end")) return keys;
  keys["logon_time"] = "\"09:00:00\"";
  keys["logout_time"] = "\"16:00:00\"";
  keys["logon_day"] = "\"monday\"";
  keys["logout_day"] = "\"friday\"";
  return keys;
}

extern const std::string other_transport = [] {
  std::ifstream in{NFX_SOURCE_DIR "/dictionaries/FIXT11.xml"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::string_view fields = "<fields>";
  text.insert(text.find(fields) + fields.size(), "<field number=\"20001\" name=\"DeskColour\" type=\"STRING\"/>");
  const auto path = std::filesystem::temp_directory_path() / ("nfx_transport_" + std::to_string(::getpid()) + ".xml");
  std::ofstream{path} << text;
  return path.string();
}();

class EveryKey : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("NFX_TEST_PASSWORD", "from the environment", 1); }
  static void TearDownTestSuite() { std::filesystem::remove(other_transport); }
};

TEST_F(EveryKey, changes_what_is_read) {
  const std::vector<Documented> keys = documented_keys();
  EXPECT_GE(keys.size(), 100U);
  for (const Documented& each : keys) {
    SCOPED_TRACE(each.section + " " + each.key);
    Keys engine{{"poll_threads", "2"}}, session = context(each.key);
    if (each.section == "[engine]") engine.erase("poll_threads");
    const std::string before = fingerprint(parsed(document(engine, session)));
    if (each.key == "role") {
      session = initiator_keys;
      session["dictionary"] = "\"none\"";
    }
    const std::string other = other_value(each.key, each.shown);
    std::string text;
    if (has_own_section(each)) {
      // The section alone already means something.
      const std::string section = document(engine, session) + each.section + '\n';
      text = section + each.key + " = " + other + '\n';
      EXPECT_NE(fingerprint(parsed(text)), fingerprint(parsed(section))) << text;
      continue;
    }
    (each.section == "[engine]" ? engine : session)[each.key] = other;
    text = document(engine, session);
    EXPECT_NE(fingerprint(parsed(text)), before) << text;
  }
}

TEST_F(EveryKey, may_stand_in_the_defaults_where_a_session_overrides_it) {
  for (const Documented& each : documented_keys()) {
    if (each.section == "[engine]" || has_own_section(each) || each.key == "role") continue;
    SCOPED_TRACE(each.key);
    const std::string other = other_value(each.key, each.shown);
    const Keys base = context(each.key);
    Keys with = base, without = base;
    with[each.key] = other;
    without.erase(each.key);
    const std::string defaults = "[engine]\npoll_threads = 2\n[defaults]\n" + each.key + " = " + other + "\n";
    const auto session = [](const Keys& keys) { return document({}, keys).substr(std::string{"[engine]\n"}.size()); };
    EXPECT_EQ(fingerprint(parsed(defaults + session(without))),
              fingerprint(parsed(document({{"poll_threads", "2"}}, with))));
    Keys back = base;
    if (!back.contains(each.key)) back[each.key] = each.shown;
    if (back[each.key] == "none") continue;  // there is no text for it
    EXPECT_EQ(fingerprint(parsed(defaults + session(back))),
              fingerprint(parsed(document({{"poll_threads", "2"}}, base))));
  }
}

TEST_F(EveryKey, means_the_documented_default_when_it_is_not_there) {
  for (const Documented& each : documented_keys()) {
    const Keys base = context(each.key);
    if (base.contains(each.key) || each.shown == "none") continue;
    SCOPED_TRACE(each.key);
    Keys engine, session = base;
    if (has_own_section(each)) {
      const std::string section = document(engine, session) + each.section + '\n';
      EXPECT_EQ(fingerprint(parsed(section + each.key + " = " + each.shown + '\n')), fingerprint(parsed(section)));
      continue;
    }
    (each.section == "[engine]" ? engine : session)[each.key] = each.shown;
    EXPECT_EQ(fingerprint(parsed(document(engine, session))), fingerprint(parsed(document({}, base))));
  }
}

TEST(Config, reads_several_endpoints_and_sessions) {
  const EngineConfig config = parsed(R"([[session]]
role = "initiator"
sender_comp_id = "A"
target_comp_id = "V"
connect = ["one:1", "[::1]:2"]
[[session]]
sender_comp_id = "B"
target_comp_id = "V"
listen = "0.0.0.0:3"
)");
  ASSERT_EQ(config.sessions.size(), 2U);
  EXPECT_EQ(config.sessions[0].connect, (std::vector<Endpoint>{{"one", 1}, {"::1", 2}}));
  EXPECT_EQ(config.sessions[1].listen, (Endpoint{"0.0.0.0", 3}));
}

TEST(Config, sessions_of_one_version_share_one_dictionary) {
  const EngineConfig config =
      parsed(document({}, acceptor_keys) +
             "[[session]]\nsender_comp_id = \"US\"\ntarget_comp_id = \"Q\"\nlisten = \"127.0.0.1:1\"\n");
  ASSERT_NE(config.sessions[0].session.dictionary, nullptr);
  EXPECT_EQ(config.sessions[0].session.dictionary, config.sessions[1].session.dictionary);
}

// What a mistake is answered with: one line.
std::string complaint(std::string_view toml) {
  try {
    (void)parsed(toml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

struct Mistake {
  std::string toml;
  std::string place;  // how the line begins
  std::string mend;   // what it says further on
};

const std::string good = document({}, acceptor_keys).substr(std::string{"[engine]\n"}.size());

std::vector<Mistake> mistakes() {
  const auto with = [](std::string line) { return good + line + "\n"; };
  const std::string session = "[[session]]\nsender_comp_id = \"US\"\ntarget_comp_id = \"THEM\"\n";
  const std::string initiator = session + "role = \"initiator\"\nconnect = \"a:1\"\n";
  const auto journal = [&](const std::string& line) { return with("store_directory = \"store\"\n" + line); };
  const auto tls = [&](const std::string& line) { return with("tls = true\ntls_certificate = \"own.pem\"\n" + line); };
  return {
      {with("heartbeat_interval = 5"),
       "test.toml:6:", "[session] heartbeat_interval: unknown key; did you mean heartbeat_interval_s?"},
      {"[engine]\nidel = \"spin\"\n" + good, "test.toml:2:8: [engine] idel: ", "did you mean idle?"},
      {"[engine]\nidle = \"sleep\"\n" + good,
       "test.toml:2:8: [engine] idle: ", "expected \"spin\", \"yield\" or \"block\""},
      {"[defaults]\nrole = \"server\"\n" + good,
       "test.toml:2:8: [defaults] role: ", "expected \"acceptor\" or \"initiator\""},
      {"[engine]\npoll_threads = 0\n" + good,
       "test.toml:2:16: [engine] poll_threads: ", "expected an integer from 1 to 1024"},
      {"[engine]\nmax_fields = 40000\n" + good,
       "test.toml:2:14: [engine] max_fields: ", "expected an integer from 16 to 32768"},
      {"[engine]\npoll_threads = \"two\"\n" + good, "test.toml:2:16: [engine] poll_threads: ", "expected an integer"},
      {"[engine]\nmax_message_size = 1024\n" + good,
       "test.toml:1:1: [engine] pending_logon_bytes: ", "must not exceed max_message_size"},
      {with("reset_on_logon = 1"), "test.toml:6:18: [session] reset_on_logon: ", "expected true or false"},
      {with("begin_string = 44"), "test.toml:6:16: [session] begin_string: ", "expected a text in quotes"},
      {with("begin_string = \"FIX.5.0\""),
       "test.toml:6:16: [session] begin_string: ", "write begin_string = \"FIXT.1.1\""},
      {with("timestamp_digits = 10"),
       "test.toml:6:20: [session] timestamp_digits: ", "expected an integer from 0 to 9"},
      {with("poll_thread = 1"), "test.toml:6:15: [session] poll_thread: ", "raise [engine] poll_threads"},
      {with("heartbeat_interval_s = 4000"),
       "test.toml:6:24: [session] heartbeat_interval_s: ", "must not exceed max_heartbeat_interval_s"},
      {with("reconnect_delay_max_ms = 10"),
       "test.toml:1:1: [session] reconnect_delay_ms: ", "must not exceed reconnect_delay_max_ms"},
      {with("send_buffer_size = 65536"),
       "test.toml:6:20: [session] send_buffer_size: ", "at least twice max_message_size"},
      {with("max_queued_bytes = 1024"), "test.toml:6:20: [session] max_queued_bytes: ", "at least max_message_size"},
      {with("connect = \"127.0.0.1:2\""), "test.toml:6:11: [session] connect: ", "an acceptor does not connect"},
      {session + "listen = \"9878\"\n",
       "test.toml:4:10: [session] listen: ", "expected an address such as \"127.0.0.1:9878\""},
      {session + "listen = 9878\n", "test.toml:4:10: [session] listen: ", "expected an address such as"},
      {session + "role = \"initiator\"\nconnect = [\"a:1\", \"b\"]\n",
       "test.toml:5:11: [session] connect: ", "expected an address such as"},
      {session + "role = \"initiator\"\nconnect = []\n",
       "test.toml:5:11: [session] connect: ", "expected at least one address"},
      {session, "test.toml:1:1: [session] listen: ", "an acceptor needs an address, such as listen = "},
      {session + "role = \"initiator\"\n",
       "test.toml:1:1: [session] connect: ", "an initiator needs an address, such as connect = "},
      {session + "role = \"initiator\"\nconnect = \"a:1\"\nlisten = \"a:2\"\n",
       "test.toml:6:10: [session] listen: ", "an initiator does not listen"},
      {"[[session]]\ntarget_comp_id = \"THEM\"\nlisten = \"a:1\"\n",
       "test.toml:1:1: [session] sender_comp_id: ", "expected our CompID"},
      {"[[session]]\nsender_comp_id = \"US\"\nlisten = \"a:1\"\n",
       "test.toml:1:1: [session] target_comp_id: ", "expected the peer's CompID"},
      {"[[session]]\nsender_comp_id = \"U S\"\ntarget_comp_id = \"T\"\nlisten = \"a:1\"\n",
       "test.toml:2:18: [session] sender_comp_id: ", "without spaces"},
      {good + good, "test.toml:10:18: [session] target_comp_id: ", "exists already"},
      {"[engine]\npoll_threads = 2\n" + good + session + "listen = \"127.0.0.1:1\"\n" +
           "poll_thread = 1\nbegin_string = \"FIX.4.2\"\n",
       "test.toml:12:15: [session] poll_thread: ", "must share their poll_thread"},
      {"[session]\nsender_comp_id = \"US\"\n", "test.toml:1:1: session: ", "write [[session]]"},
      {"session = [1]\n", "test.toml:1:12: session: ", "write [[session]]"},
      {"engine = 3\n" + good, "test.toml:1:10: engine: ", "write [engine]"},
      {"[sesion]\n" + good, "test.toml:1:1: sesion: ",
       "unknown section; did you mean session?; expected [engine], [placement], [log], [defaults] or [[session]]"},
      {"[placement.poll]\nthreads = 2\n" + good,
       "test.toml:2:11: [placement.poll] threads: ", "poll threads have it in [engine]: write poll_threads there"},
      {"[placement.poll]\nwait = \"spin\"\n" + good, "test.toml:2:8: [placement.poll] wait: ", "write idle there"},
      {"[placement]\nhousekeeping = \"0-\"\n" + good,
       "test.toml:2:16: [placement] housekeeping: ", "is no CPU or range of CPUs such as 3 or 0-7"},
      {"[placement.log]\nnaer = \"eth0\"\n" + good, "test.toml:2:8: [placement.log] naer: ", "did you mean near?"},
      {"[placement]\nmaping = \"hash\"\n" + good, "test.toml:2:10: [placement] maping: ", "did you mean mapping?"},
      {"[placement]\npoll = 3\n" + good, "test.toml:2:8: poll: ", "expected a section"},
      {"[placement.flusher]\nsame_cache_as = \"polls\"\n" + good, "test.toml:2:17: [placement.flusher] same_cache_as: ",
       "expected \"poll\", \"deferred\", \"flusher\" or \"log\""},
      {"[log]\nrotate_bytes = 5\n" + good, "test.toml:2:16: [log] rotate_bytes: ", "expected an integer from 65536"},
      {"[log]\nformat = \"json\"\n" + good, "test.toml:2:10: [log] format: ", "expected \"full\" or \"quickfix\""},
      {"[log]\nmessages = false\nevents = false\ndirectory = \"x\"\n" + good,
       "test.toml:4:13: [log] directory: ", "nothing to write"},
      {"[log]\ndirektory = \"x\"\n" + good, "test.toml:2:13: [log] direktory: ", "did you mean directory?"},
      {"[engine]\ntransport = \"uring\"\n" + good,
       "test.toml:2:13: [engine] transport: ", "expected \"auto\", \"epoll\" or \"io_uring\""},
      {with("store = \"journal\""),
       "test.toml:1:1: [session] store_directory: ", "such as store_directory = \"store\""},
      {with("store = \"file\""), "test.toml:6:9: [session] store: ", "expected \"memory\" or \"journal\""},
      {journal("ring_size = 100000"), "test.toml:7:13: [session] ring_size: ", "a power of two from 65536"},
      {journal("ring_size = 131072"), "test.toml:7:13: [session] ring_size: ", "twice [engine] max_message_size"},
      {journal("segment_size = 131072"), "test.toml:7:16: [session] segment_size: ", "twice [engine] max_message_size"},
      {journal("store_retain_bytes = 100000000"),
       "test.toml:7:22: [session] store_retain_bytes: ", "at least twice segment_size"},
      {journal("store_ring_directory = \"\""), "test.toml:7:24: [session] store_ring_directory: ", "/dev/shm"},
      {with("durability = \"sync\""),
       "test.toml:6:14: [session] durability: ", "expected \"none\", \"interval\", \"group\" or \"message\""},
      {with("slow_consumer = \"wait\""),
       "test.toml:6:17: [session] slow_consumer: ", "expected \"refuse\" or \"disconnect\""},
      {with("tls_ca = \"ca.pem\""), "test.toml:1:1: [session] tls: ", "write tls = true, or tls = false"},
      {with("tls = true"), "test.toml:1:1: [session] tls_certificate: ", "an acceptor needs a certificate"},
      {tls("tls_min_version = \"1.3\"\ntls_max_version = \"1.2\""),
       "test.toml:8:19: [session] tls_min_version: ", "must not exceed tls_max_version"},
      {tls("tls_min_version = \"1.1\""), "test.toml:8:19: [session] tls_min_version: ", "expected \"1.2\" or \"1.3\""},
      {tls("tls_server_name = \"us\""), "test.toml:8:19: [session] tls_server_name: ", "an initiator asks for it"},
      {tls("tls_peer_names = \"them\""),
       "test.toml:8:18: [session] tls_peer_names: ", "needs tls_client_certificate = \"require\""},
      {tls("tls_client_certificate = \"require\""), "test.toml:1:1: [session] tls_ca: ", "name the authority"},
      {tls("tls_crl = \"a.crl\""), "test.toml:8:11: [session] tls_crl: ", "needs tls_ca"},
      {initiator + "tls = true\ntls_key = \"key.pem\"\n", "test.toml:7:11: [session] tls_key: ", "no tls_certificate"},
      {initiator + "tls = true\ntls_client_certificate = \"require\"\n",
       "test.toml:7:26: [session] tls_client_certificate: ", "an acceptor asks for one"},
      {tls("tls_check_name = false"), "test.toml:8:18: [session] tls_check_name: ", "an initiator looks at it"},
      {initiator + "tls = true\ntls_verify = false\ntls_check_name = false\n",
       "test.toml:8:18: [session] tls_check_name: ", "looks at nothing at all"},
      {initiator + "tls = true\ntls_verify = false\ntls_peer_names = \"venue\"\n",
       "test.toml:8:18: [session] tls_peer_names: ", "believes any name"},
      {tls("tls_ciphers = \"ALL\"") + session + "listen = \"127.0.0.1:1\"\nbegin_string = \"FIX.4.2\"\n",
       "test.toml:9:1: [session] tls: ", "must share their tls keys"},
      {with("quickack = true") + session + "listen = \"127.0.0.1:1\"\nbegin_string = \"FIX.4.2\"\n",
       "test.toml:10:10: [session] listen: ", "must share their tcp_nodelay, quickack"},
      {"[engine]\n", "test.toml:1:1: no session: ", "add a [[session]] section"},
      {"[engine]\nidle = \n" + good, "test.toml:2:", "not TOML: "},
      {with("begin_string = \"FIXT.1.1\""),
       "test.toml:1:1: [session] default_appl_ver_id: ", "expected an application version"},
      {with("default_appl_ver_id = \"9\""), "test.toml:6:23: [session] default_appl_ver_id: ", "only FIXT.1.1 has one"},
      {with("template = false\nsender_sub_id = \"" + std::string(65, 'x') + "\""),
       "test.toml:7:17: [session] sender_sub_id: ", "at most 64 printable characters"},
      {good + with("session_qualifier = \"b\""),
       "test.toml:11:21: [session] session_qualifier: ", "a listen of their own"},
      {"[[session]]\nsender_comp_id = \"US\"\ntarget_comp_id = \"*\"\nlisten = \"a:1\"\n",
       "test.toml:3:18: [session] target_comp_id: ", "add template = true"},
      {with("allowed_addresses = [\"venue\"]"), "test.toml:6:21: [session] allowed_addresses: ", "is no IP address"},
      {with("connect_from = \"a:1\""), "test.toml:6:16: [session] connect_from: ", "an acceptor does not connect"},
      {with("heartbeat_timeout_percent = 100"),
       "test.toml:6:29: [session] heartbeat_timeout_percent: ", "more than test_request_percent"},
      {with("throttle_burst = 5"), "test.toml:6:18: [session] throttle_burst: ", "needs throttle_rate"},
      {with("throttle_action = \"drop\""),
       "test.toml:6:19: [session] throttle_action: ", "expected \"reject\", \"delay\" or \"disconnect\""},
      {with("unknown_fields = true"), "test.toml:6:18: [session] unknown_fields: ", "expected a text in quotes"},
      {with("unknown_fields = \"maybe\""),
       "test.toml:6:18: [session] unknown_fields: ", "expected \"strict\", \"lenient\" or \"off\""},
      {with("validation_overrides = [\"8=never\"]"), "test.toml:6:24: [session] validation_overrides: ", ""},
      {with("logon_fields = [\"554=secret\"]"),
       "test.toml:6:16: [session] logon_fields: ", "the session writes field 554 itself"},
      {with("logon_fields = \"name=x\""), "test.toml:6:16: [session] logon_fields: ", "expected a field such as"},
      {with("password_env = \"NFX_NO_SUCH_VARIABLE\""),
       "test.toml:6:16: [session] password_env: ", "the environment has no variable NFX_NO_SUCH_VARIABLE"},
      {with("start_time = \"08:00:00\""), "test.toml:1:1: [session] end_time: ", ""},
      {with("time_zone = \"Europe/Londn\""), "test.toml:6:13: [session] time_zone: ", "Europe/London"},
      {with("transport_dictionary = \"FIXT11.xml\""),
       "test.toml:6:24: [session] transport_dictionary: ", "only FIXT.1.1 has one"},
      {with("application_dictionaries = [\"FIX.4.4=FIX44.xml\"]"),
       "test.toml:6:28: [session] application_dictionaries: ", "only FIXT.1.1 has several"},
      {with("dictionary = \"missing.xml\""), "test.toml:6:14: [session] dictionary: ", "no file \"missing.xml\" in "},
      {with("dictionary = \"FIX42.xml\""),
       "test.toml:6:14: [session] dictionary: ", "is for FIX.4.2, the session speaks FIX.4.4"},
      {with("dictionary = \"../CMakeLists.txt\""), "test.toml:6:14: [session] dictionary: ", "CMakeLists.txt"},
  };
}

TEST(Config, every_mistake_is_one_line_with_its_place_and_its_mend) {
  for (const Mistake& each : mistakes()) {
    const std::string said = complaint(each.toml);
    EXPECT_TRUE(said.starts_with(each.place)) << said << "\nfor\n" << each.toml;
    EXPECT_NE(said.find(each.mend), std::string::npos) << said << "\nfor\n" << each.toml;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(Config, unreadable_file_is_named) {
  try {
    (void)load_config("/nowhere/engine.toml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "/nowhere/engine.toml: cannot read the configuration: give the path of a readable TOML file");
  }
  EXPECT_THROW((void)load_config(std::filesystem::temp_directory_path()), ConfigError);
}

TEST(Config, relative_dictionary_paths_count_from_the_files_folder) {
  const auto folder = std::filesystem::temp_directory_path() / ("nfx_config_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "own");
  std::filesystem::copy_file(NFX_SOURCE_DIR "/dictionaries/FIX44.xml", folder / "own" / "mine.xml",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream{folder / "engine.toml"} << good << "dictionary = \"own/mine.xml\"\n";
  EXPECT_NE(load_config(folder / "engine.toml").sessions.at(0).session.dictionary, nullptr);
  std::filesystem::remove_all(folder);
}

TEST(Config, files_and_folders_count_from_the_files_folder) {
  const EngineConfig config = parse_config("[log]\ndirectory = \"log\"\nmetrics_file = \"/run/nfx.prom\"\n" + good +
                                               "dictionary = \"none\"\nstore_directory = \"store\"\ntls = true\n"
                                               "tls_certificate = \"own.pem\"\ntls_crl = [\"/a.crl\", \"b.crl\"]\n"
                                               "tls_ca = \"ca.pem\"\n",
                                           "test.toml", "/etc/desk");
  const SessionSettings& session = config.sessions.at(0);
  EXPECT_EQ(config.log.directory, "/etc/desk/log");
  EXPECT_EQ(config.log.metrics_file, "/run/nfx.prom");
  EXPECT_EQ(session.journal.directory, "/etc/desk/store");
  EXPECT_EQ(session.journal.ring_directory, "/dev/shm");
  EXPECT_EQ(session.tls.certificate, "/etc/desk/own.pem");
  EXPECT_EQ(session.tls.key, "");
  EXPECT_EQ(session.tls.crl, (std::vector<std::string>{"/a.crl", "/etc/desk/b.crl"}));
}

TEST(Config, store_directory_makes_a_journal_unless_memory_is_asked_for) {
  const auto kind = [](const std::string& line) {
    return parsed(good + "dictionary = \"none\"\n" + line).sessions.at(0).store_kind;
  };
  EXPECT_EQ(kind(""), StoreKind::unset);
  EXPECT_EQ(kind("store_directory = \"store\"\n"), StoreKind::journal);
  EXPECT_EQ(kind("store_directory = \"store\"\nstore = \"memory\"\n"), StoreKind::memory);
}

TEST(Config, each_kind_of_store_keeps_its_own_number_of_messages_until_one_is_given) {
  const SessionSettings silent = parsed(good + "dictionary = \"none\"\n").sessions.at(0);
  EXPECT_EQ(silent.store.retain_messages, 65536U);
  EXPECT_EQ(silent.journal.retain_messages, 1048576U);
  const SessionSettings given = parsed(good + "dictionary = \"none\"\nretain_messages = 7\n").sessions.at(0);
  EXPECT_EQ(given.store.retain_messages, 7U);
  EXPECT_EQ(given.journal.retain_messages, 7U);
}

TEST(Config, filled_in_by_a_program_is_checked_like_a_file) {
  const auto complaint_about = [](auto&& change) {
    EngineConfig config = parsed(document({}, acceptor_keys));
    change(config);
    try {
      check_config(config);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(complaint_about([](EngineConfig&) {}), "");
  EXPECT_EQ(complaint_about([](EngineConfig& c) {
              c.sessions[0].listen = {};
            }).find("session 0 (FIX.4.4:US->THEM): listen: "),
            0U);
  EXPECT_EQ(complaint_about([](EngineConfig& c) { c.sessions.push_back(c.sessions[0]); }).find("session 1 "), 0U);
  EXPECT_EQ(complaint_about([](EngineConfig& c) { c.poll_threads = 0; }), "poll_threads: expected at least 1");
  EXPECT_EQ(complaint_about([](EngineConfig& c) { c.pending_logon_bytes = c.max_message_size + 1; }),
            "pending_logon_bytes: must not exceed max_message_size");
  EXPECT_NE(complaint_about([](EngineConfig& c) { c.sessions[0].reconnect_delay = std::chrono::milliseconds{0}; }), "");
  EXPECT_NE(complaint_about([](EngineConfig& c) {
              c.max_message_size = c.pending_logon_bytes = 512;
              c.sessions[0].send_buffer_size = 4096;
            }),
            "");
}

}  // namespace
}  // namespace nfx
