// Every documented key is read, from a session and from the defaults, and has its default if it is absent.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/config_text.hpp"
#include "config/doc_table.hpp"
#include "config/keys.hpp"
#include "nexusfix/base/enum_values.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/session/schedule.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx::test {
namespace {

void fingerprint(std::ostream& out, const ScheduleConfig& c) {
  for (const auto& time : {c.start_time, c.end_time, c.logon_time, c.logout_time, c.reset_time}) {
    out << ' ' << (time ? time->count() : -1);
  }
  for (const auto& day : {c.start_day, c.end_day, c.logon_day, c.logout_day})
    out << ' ' << (day ? day->c_encoding() : 9);
  for (unsigned day = 0; day < 7; ++day) out << c.weekdays.contains(std::chrono::weekday{day});
  out << ' ' << c.zone.name() << ' ' << (c.end_zone ? c.end_zone->name() : "");
}

void fingerprint(std::ostream& out, const TlsOptions& t) {
  for (const TlsOption& option : tls_option_rows) {
    const auto show = [&]<class Member>(Member TlsOptions::* member) {
      const Member& value = t.*member;
      out << ' ';
      if constexpr (std::is_enum_v<Member>) {
        out << to_string(value);
      } else if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
        for (const std::string& each : value) out << each << ' ';
      } else {
        out << value;
      }
    };
    std::visit(show, option.member);
  }
}

void fingerprint(std::ostream& out, StoreKind kind, const MemoryStoreOptions& memory, const JournalOptions& j) {
  out << ' ' << to_string(kind) << ' ' << (kind == StoreKind::journal ? j.retain_messages : memory.retain_messages)
      << ' ' << memory.retain_bytes << ' ' << j.directory << ' ' << j.ring_directory << ' ' << j.segment_size << ' '
      << j.ring_size << ' ' << to_string(j.durability) << ' ' << j.sync_interval.count() << ' ' << j.retain_bytes << ' '
      << j.retain_age.count() << ' ' << to_string(j.archive) << ' ' << j.archive_bytes << ' ' << j.archive_age.count()
      << ' ' << j.full_timeout.count();
}

// Every value that a file can set, as one text.
std::string fingerprint(const EngineConfig& e) {
  std::ostringstream out;
  out << e.poll_threads << ' ' << to_string(e.idle) << ' ' << e.max_message_size << ' ' << e.max_fields << ' '
      << e.max_pending_logons << ' ' << e.pending_logon_timeout.count() << ' ' << e.pending_logon_bytes << ' '
      << e.max_pending_logons_per_address << ' ' << e.max_pending_logons_per_network << ' '
      << e.max_pending_known_logons << ' ' << e.max_known_addresses << ' ' << e.max_tls_handshakes << ' '
      << e.max_refusal_reports << ' ' << e.max_dynamic_sessions << ' ' << e.dynamic_session_idle.count() << ' '
      << e.max_dynamic_stores << ' ' << e.max_dynamic_store_bytes << ' ' << e.dynamic_store_age.count() << ' '
      << to_string(e.transport) << ' ' << e.af_xdp << ' ' << e.hold_off.count() << ' ' << e.max_invalid_logons << ' '
      << e.max_logons_per_address << ' ' << e.submit_queue_bytes << ' ' << e.submit_keep_bytes << ' ' << e.latency
      << ' ' << e.latency_histograms << ' ' << e.warm_up_interval.count() << ' ' << e.lock_memory << '\n';
  const LogConfig& l = e.log;
  out << l.directory << ' ' << l.messages << l.events << ' ' << to_string(l.format) << ' ' << to_string(l.lines) << ' '
      << to_string(l.level) << ' ' << l.rotate_bytes << ' ' << l.keep_files << ' ' << l.keep_age.count() << ' '
      << l.session_message_rate << ' ' << l.queue_bytes << ' ' << l.trace_every << ' ' << l.metrics_file << ' '
      << l.metrics_period.count() << ' ' << to_string(l.full.when_full) << ' ' << l.full.block_limit.count() << ' '
      << l.full.spill_bytes << '\n';
  const ControlConfig& t = e.control;
  out << t.socket << ' ' << t.socket_mode << ' ' << t.socket_owner << ' ' << t.socket_group << ' ' << to_string(t.http)
      << ' ' << t.tokens << ' ' << t.audit << ' ' << t.operators.size() << ' ' << t.viewers.size() << ' '
      << t.tls_certificate << ' ' << t.tls_key << ' ' << t.tls_key_password_env << ' ' << t.tls_ca << ' '
      << t.tls_crl.size() << ' ' << t.clients << '\n';
  const ClusterConfig& u = e.cluster;
  out << u.servers.size() << ' ' << u.stream << ' ' << u.credentials << ' ' << u.certificate_authority << ' '
      << u.gateway << ' ' << u.gateways.size() << ' ' << u.pins.size() << ' ' << u.drain.size() << ' '
      << to_string(u.wrong_gateway) << ' ' << u.addresses.size() << ' ' << u.hand_on_max << ' ' << u.lease.count()
      << ' ' << to_string(u.when_lost) << ' ' << u.lost_after.count() << ' ' << u.async_messages << ' ' << u.async_bytes
      << '\n';
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
    out << s.replica_name << ' ' << c.begin_string << ' ' << c.default_appl_ver_id << ' ' << c.sender_comp_id << ' '
        << c.target_comp_id << ' ' << c.session_qualifier << ' ' << c.sender_sub_id << ' ' << c.target_sub_id << ' '
        << c.sender_location_id << ' ' << c.target_location_id << ' ' << c.cpu_affinity_core << ' '
        << c.auto_pin_to_core << ' ' << to_string(c.role) << ' ' << c.heartbeat_interval.count() << ' '
        << c.max_heartbeat_interval.count() << ' ' << c.heartbeat_override.count() << ' ' << c.test_request_percent
        << ' ' << c.heartbeat_timeout_percent << ' ' << c.check_heartbeats << c.allow_no_heartbeats
        << c.answer_incomplete_logon << ' ' << c.idle_test_interval.count() << ' ' << c.takeover_timeout.count() << ' '
        << c.logon_timeout.count() << ' ' << c.logout_timeout.count() << ' ' << c.username << ' ' << c.password.reveal()
        << ' ' << c.logon_fields.reveal() << ' ' << to_string(c.environment) << ' ' << c.reset_on_logon
        << c.reset_on_logout << c.reset_on_disconnect << c.reset_on_error << c.refresh_on_logon << c.check_comp_id
        << c.check_latency << ' ' << c.max_latency.count() << ' ' << c.verify_checksum << c.require_orig_sending_time
        << c.send_next_expected_seq_num << c.send_last_msg_seq_num_processed << ' ' << c.resend_chunk_size << ' '
        << c.closed_resend_requests << c.send_redundant_resend_requests << ' ' << c.resend_timeout.count() << ' '
        << c.max_resend_attempts << ' ' << c.max_same_resend_requests << ' ' << c.max_resent_messages << ' '
        << c.resend_rate << ' ' << c.repeated_resend_rate << ' ' << c.max_invalid_rate << ' ' << c.max_resets_per_hour
        << ' ' << s.max_logon_rate << ' ' << c.throttle_rate << ' ' << c.throttle_burst << ' '
        << to_string(c.throttle_action) << ' ' << c.max_queued_messages << ' ' << c.max_queued_bytes << ' '
        << c.timestamp_digits << ' ' << (c.dictionary != nullptr) << (s.dictionary != nullptr) << ' '
        << s.application_dictionaries.size() << (c.dictionary == nullptr ? 0 : c.dictionary->fields().size()) << ' '
        << to_string(c.validation.overall());
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
    out << ' ' << s.store_received << ' ' << to_string(s.too_large_message);
    for (const std::string& each : c.store_omit_types) out << ' ' << each;
    for (const Tag each : c.store_omit_fields) out << ' ' << value(each);
    for (const Endpoint& each : s.connect) out << ' ' << to_string(each);
    if (s.schedule) fingerprint(out, s.schedule->config());
    out << ' ' << s.reconnect_delay.count() << ' ' << s.reconnect_delay_max.count() << ' ' << s.send_buffer_size << ' '
        << to_string(s.slow_consumer) << ' ' << s.slow_consumer_timeout.count() << ' ' << s.unhandled_timeout.count()
        << ' ' << s.socket.busy_poll_us << ' ' << s.socket.quickack << ' ' << s.socket.keepalive_s << ' '
        << s.socket.user_timeout_s << ' ' << s.socket.timestamps << ' ' << s.tls_enabled;
    fingerprint(out, s.tls);
    fingerprint(out, s.store_kind, s.store, s.journal);
    out << ' ' << s.flusher << ' ' << s.poll_thread << ' ' << s.prefault.value_or(false) << ' ' << value(s.next_inbound)
        << ' ' << value(s.next_outbound) << ' ' << s.numbers_as_of.time_since_epoch().count() << '\n';
  }
  return out.str();
}

// A value of the same type that differs from the default.
extern const std::string other_transport;
std::string other_value(const std::string& key, const std::string& shown) {
  static const Keys texts{{"idle", "\"spin\""},
                          {"transport", "\"io_uring\""},
                          {"af_xdp", "\"eth1 10.9.0.3/24\""},
                          {"directory", "\"log\""},
                          {"format", "\"quickfix\""},
                          {"lines", "\"json\""},
                          {"level", "\"warning\""},
                          {"when_full", "\"spill\""},
                          {"metrics_file", "\"nfx.prom\""},
                          {"socket", "\"control.sock\""},
                          {"clients", "\"clients\""},
                          {"socket_mode", "\"0660\""},
                          {"socket_owner", "\"fix\""},
                          {"socket_group", "\"fixops\""},
                          {"operators", "[\"@fixops\"]"},
                          {"viewers", "[\"@monitoring\"]"},
                          {"http", "\"127.0.0.1:9890\""},
                          {"tokens", "\"tokens\""},
                          {"audit", "\"audit.log\""},
                          {"servers", "[\"nats://10.0.0.1\", \"nats://10.0.0.2\"]"},
                          {"stream", "\"DESK\""},
                          {"credentials", "\"gateway.creds\""},
                          {"ca", "\"ca.pem\""},
                          {"gateway", "\"b\""},
                          {"gateways", "[\"a\", \"b\", \"c\"]"},
                          {"pins", "[\"DESK-VENUE=a\"]"},
                          {"drain", "[\"b\"]"},
                          {"wrong_gateway", "\"hand_on\""},
                          {"addresses", "[\"a=10.0.0.11\", \"b=10.0.0.12\"]"},
                          {"when_lost", "\"continue\""},
                          {"replica_name", "\"DESK\""},
                          {"store", "\"journal\""},
                          {"store_directory", "\"store\""},
                          {"store_ring_directory", "\"/tmp\""},
                          {"ring_size", "1048576"},
                          {"durability", "\"group\""},
                          {"store_retain_bytes", "1073741824"},
                          {"store_archive", "\"remove\""},
                          {"store_omit_types", "[\"BE\"]"},
                          {"store_omit_fields", "[\"554\"]"},
                          {"slow_consumer", "\"disconnect\""},
                          {"housekeeping", "\"0-1\""},
                          {"mapping", "\"balanced\""},
                          {"on_violation", "\"refuse\""},
                          {"wait", "\"spin\""},
                          {"near", "\"eth0\""},
                          {"same_cache_as", "\"poll\""},
                          {"cpus", "\"4-7\""},
                          {"cpu_affinity_core", "3"},
                          {"flusher", "0"},
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
                          {"dictionary_overlays", "[\"" NFX_SOURCE_DIR "/tests/engine/config/data/overlay.xml\"]"},
                          {"application_dictionaries", "[\"FIX.4.4=FIX44.xml\"]"},
                          {"dictionary_problems", "\"refuse\""},
                          {"username", "\"me\""},
                          {"password", "\"secret\""},
                          {"password_env", "\"NFX_TEST_PASSWORD\""},
                          {"logon_fields", "[\"1408=1.0\"]"},
                          {"test_message_indicator", "\"test\""},
                          {"throttle_action", "\"delay\""},
                          {"too_large_message", "\"logout\""},
                          {"groups", "\"strict\""},
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
                          {"end_time_zone", "\"Europe/London\""},
                          {"numbers_as_of", "\"20260313-21:00:00\""},
                          {"prefault", "true"}};
  if (const auto text = texts.find(key); text != texts.end()) return text->second;
  if (const TlsOption* option = find_tls_option(key)) {
    if (std::holds_alternative<TlsOption::Text>(option->member)) return "\"other\"";
    if (std::holds_alternative<TlsOption::Texts>(option->member)) return "[\"one\", \"other\"]";
    if (std::holds_alternative<TlsOption::Version>(option->member)) return shown == "\"1.2\"" ? "\"1.3\"" : "\"1.2\"";
    if (std::holds_alternative<TlsOption::Policy>(option->member)) return "\"require\"";
  }
  if (shown == "\"strict\"" || shown == "\"lenient\"") return "\"off\"";
  if (shown == "true") return "false";
  if (shown == "false") return "true";
  EXPECT_FALSE(shown.empty()) << key;
  EXPECT_EQ(shown.find_first_not_of("0123456789"), std::string::npos) << key << " = " << shown;
  return std::to_string(std::stoull(shown) + 1);
}

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
    if (line.starts_with("      ")) continue;  // skips help text
    const auto equals = line.find(" = ");
    const auto end = line.find("  ", equals + 3);
    EXPECT_NE(equals, std::string::npos) << line;
    // All roles have the same keys, but poll threads have some of them in [engine].
    if (section == "[placement.poll]") section = "[placement.deferred]";
    result.push_back({section, line.substr(2, equals - 2), line.substr(equals + 3, end - equals - 3)});
  }
  return result;
}

// Whether a key belongs to a separate section, not to a session.
bool has_own_section(const Documented& each) {
  return each.section.starts_with("[placement") || each.section == "[log]" || each.section == "[control]" ||
         each.section == "[cluster]";
}

// Other keys that a key of such a section requires.
std::string companions(const Documented& each) {
  if (each.section == "[log]" && each.key == "trace_every") return "directory = \"log\"\n";
  if (each.section == "[cluster]" && each.key == "servers") return "gateway = \"a\"\ngateways = [\"a\"]\n";
  if (each.section != "[control]") return "";
  if (each.key == "http" || each.key == "socket") return "tokens = \"tokens\"\naudit = \"audit.log\"\n";
  if (!each.key.starts_with("tls_") && each.key != "clients") return "";
  std::string others = "http = \"127.0.0.1:9890\"\naudit = \"audit.log\"\n";
  for (const std::string_view key : {"tls_certificate", "tls_ca", "clients"}) {
    if (key != each.key) others.append(key).append(" = \"file\"\n");
  }
  return others;
}

// A value of a key that cannot be omitted there.
std::string first_value(const Documented& each) {
  const bool required = each.key == "tls_certificate" || each.key == "tls_ca" || each.key == "clients";
  return each.section == "[control]" && required ? each.key + " = \"first\"\n" : "";
}

// A session in which the key has an effect, without it or with another value than other_value() returns.
Keys context(const std::string& key) {
  static const std::set<std::string> initiators_keys{"connect",      "host_selection",    "host_priority_restart_s",
                                                     "connect_from", "session_qualifier", "tls"};
  static const std::set<std::string> with_dictionary{"dictionary", "dictionary_overlays", "transport_dictionary",
                                                     "application_dictionaries"};
  Keys keys = initiators_keys.contains(key) ? initiator_keys : acceptor_keys;
  if (key == "dictionary_problems") {
    keys["dictionary"] = "\"" NFX_SOURCE_DIR "/tests/fix/dictionary/irregular/values_twice.xml\"";
    return keys;
  }
  // Reading a dictionary is slow, so only the tests of its keys do it.
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
                                                  "logout_time", "reset_time", "time_zone", "end_time_zone"};
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

// The fingerprint of a document, or "refused" if the key makes it invalid.
std::string outcome(const std::string& text, const std::string& key) {
  try {
    return fingerprint(parsed(text));
  } catch (const ConfigError&) {
    if (key == "dictionary_problems") return "refused";
    throw;
  }
}

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
      // The section alone already has an effect.
      const std::string section = document(engine, session) + each.section + '\n' + companions(each);
      text = section + each.key + " = " + other + '\n';
      EXPECT_NE(fingerprint(parsed(text)), fingerprint(parsed(section + first_value(each)))) << text;
      continue;
    }
    (each.section == "[engine]" ? engine : session)[each.key] = other;
    text = document(engine, session);
    EXPECT_NE(outcome(text, each.key), before) << text;
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
    EXPECT_EQ(outcome(defaults + session(without), each.key),
              outcome(document({{"poll_threads", "2"}}, with), each.key));
    Keys back = base;
    if (!back.contains(each.key)) back[each.key] = each.shown;
    if (back[each.key] == "none") continue;  // it has no text
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
      if (!first_value(each).empty()) continue;  // the others are refused without it
      const std::string section = document(engine, session) + each.section + '\n' + companions(each);
      EXPECT_EQ(fingerprint(parsed(section + each.key + " = " + each.shown + '\n')), fingerprint(parsed(section)));
      continue;
    }
    (each.section == "[engine]" ? engine : session)[each.key] = each.shown;
    EXPECT_EQ(fingerprint(parsed(document(engine, session))), fingerprint(parsed(document({}, base))));
  }
}

TEST(KeyTables, documentation_has_every_key) {
  const std::string all = config_key_table();
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find("\n\n", begin), all.size() - 1) + 1;
    expect_table_in("docs/configuration.md", all.substr(begin, end - begin));
    begin = end + 1;
  }
}

template <class Target>
void expect_default_in_range(std::span<const config::Key<Target>> keys) {
  for (const config::Key<Target>& key : keys) {
    const std::string shown = key.show(Target{});
    if (key.kind == "integer") {
      EXPECT_GE(std::stoll(shown), key.least) << key.name;
      EXPECT_LE(std::stoll(shown), key.most) << key.name;
    }
    if (key.choices != nullptr && shown != "none") {
      EXPECT_NE(key.choices(Target{}).find(shown), std::string::npos) << key.name << " = " << shown;
    }
  }
}

TEST(KeyTables, every_default_is_a_value_that_its_own_key_accepts) {
  expect_default_in_range(config::engine_keys());
  expect_default_in_range(config::placement_keys());
  expect_default_in_range(config::role_keys());
  expect_default_in_range(config::log_keys());
  expect_default_in_range(config::control_keys());
  expect_default_in_range(config::cluster_keys());
  expect_default_in_range(config::session_keys());
}

// A reader needs the meaning of each value, or at least the information that it is a validation mode.
template <class Target>
void expect_choices_explained(std::span<const config::Key<Target>> keys) {
  for (const config::Key<Target>& key : keys) {
    if (key.choices == nullptr || key.name.starts_with("tls_m") || key.name == "same_cache_as") continue;
    const std::string choices = key.choices(Target{});
    if (choices == enum_names<ValidationMode>() && key.name != "validation") continue;
    for (std::size_t begin = choices.find('"'); begin != std::string::npos;) {
      const std::size_t end = choices.find('"', begin + 1) + 1;
      EXPECT_NE(key.meaning.find(choices.substr(begin, end - begin)), std::string_view::npos)
          << key.name << " does not explain " << choices.substr(begin, end - begin);
      begin = choices.find('"', end);
    }
  }
}

TEST(KeyTables, every_choice_is_explained) {
  expect_choices_explained(config::engine_keys());
  expect_choices_explained(config::placement_keys());
  expect_choices_explained(config::role_keys());
  expect_choices_explained(config::log_keys());
  expect_choices_explained(config::control_keys());
  expect_choices_explained(config::cluster_keys());
  expect_choices_explained(config::session_keys());
}

}  // namespace
}  // namespace nfx::test
