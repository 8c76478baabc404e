// Configuration files: every key that is documented is read, and every mistake is one line that says where and what.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "nexusfix/engine/engine_config.hpp"

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

// Every value that a file can set, as one text.
std::string fingerprint(const EngineConfig& e) {
  std::ostringstream out;
  out << e.poll_threads << ' ' << to_string(e.idle) << ' ' << e.max_message_size << ' ' << e.max_fields << ' '
      << e.max_pending_logons << ' ' << e.pending_logon_timeout.count() << ' ' << e.pending_logon_bytes << '\n';
  for (const SessionSettings& s : e.sessions) {
    const SessionConfig& c = s.session;
    const ValidationOptions& v = c.validation;
    out << c.begin_string << ' ' << c.sender_comp_id << ' ' << c.target_comp_id << ' ' << to_string(c.role) << ' '
        << c.heartbeat_interval.count() << ' ' << c.max_heartbeat_interval.count() << ' ' << c.logon_timeout.count()
        << ' ' << c.logout_timeout.count() << ' ' << c.reset_on_logon << c.reset_on_logout << c.reset_on_disconnect
        << c.check_latency << ' ' << c.max_latency.count() << ' ' << c.require_orig_sending_time
        << c.send_next_expected_seq_num << ' ' << c.resend_chunk_size << ' ' << c.resend_timeout.count() << ' '
        << c.max_resend_attempts << ' ' << c.max_queued_messages << ' ' << c.max_queued_bytes << ' '
        << c.timestamp_digits << ' ' << (c.dictionary != nullptr) << (s.dictionary != nullptr) << ' '
        << v.reject_unknown_fields << v.reject_user_defined_fields << v.reject_fields_not_in_message
        << v.check_field_order << v.check_values_present << v.check_formats << v.check_enum_values
        << v.check_required_fields << v.check_group_counts << ' ' << to_string(s.listen);
    for (const Endpoint& each : s.connect) out << ' ' << to_string(each);
    out << ' ' << s.reconnect_delay.count() << ' ' << s.reconnect_delay_max.count() << ' ' << s.send_buffer_size << ' '
        << s.store.retain_messages << ' ' << s.store.retain_bytes << ' ' << s.poll_thread << ' ' << s.prefault << ' '
        << value(s.next_inbound) << ' ' << value(s.next_outbound) << '\n';
  }
  return out.str();
}

// Another value than the default, in the default's own type.
std::string other_value(const std::string& key, const std::string& shown) {
  static const Keys texts{
      {"idle", "\"spin\""},           {"role", "\"initiator\""},       {"begin_string", "\"FIX.4.2\""},
      {"sender_comp_id", "\"US2\""},  {"target_comp_id", "\"THEM2\""}, {"listen", "\"127.0.0.1:9\""},
      {"connect", "\"127.0.0.1:9\""}, {"dictionary", "\"none\""}};
  if (const auto text = texts.find(key); text != texts.end()) return text->second;
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
    result.push_back({section, line.substr(2, equals - 2), line.substr(equals + 3, end - equals - 3)});
  }
  return result;
}

TEST(Config, every_documented_key_changes_what_is_read) {
  const std::vector<Documented> keys = documented_keys();
  EXPECT_GE(keys.size(), 45U);
  for (const Documented& each : keys) {
    SCOPED_TRACE(each.section + " " + each.key);
    // Reading a dictionary takes long, so only the test of its key does.
    Keys engine{{"poll_threads", "2"}}, session = each.key == "connect" ? initiator_keys : acceptor_keys;
    if (each.section == "[engine]") engine.erase("poll_threads");
    if (each.key != "dictionary") session["dictionary"] = "\"none\"";
    const std::string before = fingerprint(parsed(document(engine, session)));
    if (each.key == "role")
      session = {{"sender_comp_id", "\"US\""},
                 {"target_comp_id", "\"THEM\""},
                 {"connect", "\"127.0.0.1:1\""},
                 {"dictionary", "\"none\""}};
    (each.section == "[engine]" ? engine : session)[each.key] = other_value(each.key, each.shown);
    const std::string text = document(engine, session);
    EXPECT_NE(fingerprint(parsed(text)), before) << text;
  }
}

TEST(Config, defaults_section_sets_every_session_key_and_a_session_overrides_it) {
  for (const Documented& each : documented_keys()) {
    if (each.section == "[engine]" || each.key == "role" || acceptor_keys.contains(each.key) || each.key == "connect")
      continue;
    SCOPED_TRACE(each.key);
    const std::string other = other_value(each.key, each.shown);
    Keys base = acceptor_keys;
    if (each.key != "dictionary") base["dictionary"] = "\"none\"";
    Keys with = base;
    with[each.key] = other;
    const std::string defaults = "[engine]\npoll_threads = 2\n[defaults]\n" + each.key + " = " + other + "\n";
    const std::string plain = document({}, base).substr(std::string{"[engine]\n"}.size());
    EXPECT_EQ(fingerprint(parsed(defaults + plain)), fingerprint(parsed(document({{"poll_threads", "2"}}, with))));
    Keys back = base;
    back[each.key] = each.shown;
    EXPECT_EQ(fingerprint(parsed(defaults + document({}, back).substr(std::string{"[engine]\n"}.size()))),
              fingerprint(parsed(document({{"poll_threads", "2"}}, base))));
  }
}

TEST(Config, documented_defaults_are_what_a_file_without_the_key_means) {
  for (const Documented& each : documented_keys()) {
    if (acceptor_keys.contains(each.key) || each.key == "connect") continue;
    SCOPED_TRACE(each.key);
    Keys engine, base = acceptor_keys;
    if (each.key != "dictionary") base["dictionary"] = "\"none\"";
    Keys session = base;
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
      {with("begin_string = \"FIX.5.0\""), "test.toml:6:16: [session] begin_string: ", "expected one of FIX.4.0"},
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
       "unknown section; did you mean session?; expected [engine], [defaults] or [[session]]"},
      {"[engine]\n", "test.toml:1:1: no session: ", "add a [[session]] section"},
      {"[engine]\nidle = \n" + good, "test.toml:2:", "not TOML: "},
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
