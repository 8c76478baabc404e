// Errors in configuration files: every mistake is one line with the place and the error.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/config_text.hpp"

namespace nfx::test {
namespace {

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

// The error for a mistake: one line.
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
  std::string fix;    // a later part of it
};

const std::string good = document({}, acceptor_keys).substr(std::string{"[engine]\n"}.size());

const std::string two_gateways = "[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"a\", \"b\"]\n";

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
       "test.toml:2:8: [engine] idle: ", "expected \"spin\", \"yield\", \"block\" or \"auto\""},
      {"[defaults]\nrole = \"server\"\n" + good,
       "test.toml:2:8: [defaults] role: ", "expected \"acceptor\" or \"initiator\""},
      {"[engine]\npoll_threads = 0\n" + good,
       "test.toml:2:16: [engine] poll_threads: ", "expected an integer from 1 to 1024"},
      {"[engine]\nmax_fields = 400000\n" + good,
       "test.toml:2:14: [engine] max_fields: ", "expected an integer from 16 to 262144"},
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
       "unknown section; did you mean session?; expected [engine], [placement], [log], [control], [cluster], "
       "[defaults] or [[session]]"},
      {"max_dynamic_sessions = 5\n" + good,
       "test.toml:1:24: max_dynamic_sessions: ", "a key above the first section is in none; write it below [engine]"},
      {"heartbeat_interval_s = 5\n" + good, "test.toml:1:24: heartbeat_interval_s: ", "write it below [[session]]"},
      {"[placement.log]\nthreads = 2\n[log]\ndirectory = \"log\"\n" + good,
       "test.toml:2:11: [placement.log] threads: ", "one thread writes all logs"},
      {"[placement.log]\nthreads = 1\n" + good,
       "test.toml:2:11: [placement.log] threads: ", "set [log] directory or metrics_file, or remove threads"},
      {"[placement.flusher]\nthreads = 2\n" + good + "store_directory = \"store\"\nflusher = 2\n",
       "test.toml:9:11: [session] flusher: ", "expected a number below 2, the number of flushers"},
      {journal("flusher = 1"), "test.toml:7:11: [session] flusher: ",
       "expected a number below 1, the number of flushers; or raise [placement.flusher] threads"},
      {"[log]\nwhen_full = \"wait\"\n" + good,
       "test.toml:2:13: [log] when_full: ", "expected \"drop\", \"block\" or \"spill\""},
      {"[placement.poll]\nthreads = 2\n" + good,
       "test.toml:2:11: [placement.poll] threads: ", "is not for poll threads: write poll_threads in [engine]"},
      {"[placement.poll]\nwait = \"spin\"\n" + good,
       "test.toml:2:8: [placement.poll] wait: ", "write idle in [engine]"},
      {"[placement]\nhousekeeping = \"0-\"\n" + good,
       "test.toml:2:16: [placement] housekeeping: ", "is not a CPU or a range of CPUs such as 3 or 0-7"},
      {"[placement.log]\nnaer = \"eth0\"\n" + good, "test.toml:2:8: [placement.log] naer: ", "did you mean near?"},
      {"[placement]\nmaping = \"hash\"\n" + good, "test.toml:2:10: [placement] maping: ", "did you mean mapping?"},
      {"[placement]\npoll = 3\n" + good, "test.toml:2:8: poll: ", "expected a section"},
      {"[placement.flusher]\nsame_cache_as = \"polls\"\n" + good, "test.toml:2:17: [placement.flusher] same_cache_as: ",
       "expected \"poll\", \"deferred\", \"flusher\", \"log\", \"handshake\", \"feed\", \"model\", \"orders\", "
       "\"recorder\" or \"ui\""},
      {"[log]\nrotate_bytes = 5\n" + good, "test.toml:2:16: [log] rotate_bytes: ", "expected an integer from 65536"},
      {"[control]\nhttp = \"0.0.0.0:9090\"\n" + good, "test.toml:2:8: [control] http: ", "listens on loopback only"},
      {"[control]\nhttp = \"127.0.0.1:9890\"\n" + good, "test.toml:2:8: [control] http: ", "needs tokens"},
      {"[control]\nclients = \"c\"\n" + good,
       "test.toml:1:1: [control] tls_certificate: ", "name the certificate of http"},
      {"[control]\ntls_certificate = \"c\"\n" + good, "test.toml:2:19: [control] tls_certificate: ", "encrypts http"},
      {"[control]\nhttp = \"127.0.0.1:1\"\ntokens = \"t\"\ntls_certificate = \"c\"\n" + good,
       "test.toml:3:10: [control] tokens: ", "remove one of them"},
      {"[control]\nhttp = \"127.0.0.1:1\"\ntls_certificate = \"c\"\n" + good,
       "test.toml:3:19: [control] tls_certificate: ", "needs tls_ca"},
      {"[control]\nhttp = \"127.0.0.1:1\"\ntls_certificate = \"c\"\ntls_ca = \"a\"\n" + good,
       "test.toml:3:19: [control] tls_certificate: ", "needs clients"},
      {"[control]\nsocket = \"s\"\n" + good, "test.toml:2:10: [control] socket: ", "needs audit"},
      {"[control]\nsocket_mode = \"rw\"\n" + good, "test.toml:2:15: [control] socket_mode: ", "in octal"},
      {"[control]\nsocket = \"/" + std::string(120, 'x') + "\"\n" + good,
       "test.toml:2:10: [control] socket: ", "at most 107 characters"},
      {"[cluster]\nservers = [\"nats://a\"]\n" + good, "test.toml:1:1: [cluster] gateway: ", "needs the name"},
      {"[cluster]\nservers = [\"nats://a,nats://b\"]\n" + good, "test.toml:2:11: [cluster] servers: ", "a list"},
      {"[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"b\"]\n" + good,
       "test.toml:3:11: [cluster] gateway: ", "\"a\" is not one of gateways"},
      {"[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"a\", \"a\"]\n" + good,
       "test.toml:4:12: [cluster] gateways: ", "duplicate name \"a\""},
      {"[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"a\"]\npins = [\"S=b\"]\n" + good,
       "test.toml:5:8: [cluster] pins: ", "\"b\" is not one of gateways"},
      {"[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"a\"]\npins = [\"S\"]\n" + good,
       "test.toml:5:8: [cluster] pins: ", "expected a session and a gateway"},
      {"[cluster]\nservers = [\"nats://a\"]\ngateway = \"a\"\ngateways = [\"a\"]\ndrain = [\"b\"]\n" + good,
       "test.toml:5:9: [cluster] drain: ", "\"b\" is not one of gateways"},
      {two_gateways + "addresses = [\"c=10.0.0.1\"]\n" + good,
       "test.toml:5:13: [cluster] addresses: ", "expected a gateway and its address"},
      {two_gateways + "addresses = [\"a=10.0.0.1:9878\"]\n" + good,
       "test.toml:5:13: [cluster] addresses: ", "expected an IP address without a port"},
      {two_gateways + "addresses = [\"a=10.0.0.1\", \"b=10.0.0.1\"]\n" + good,
       "test.toml:5:13: [cluster] addresses: ", "another gateway has this address"},
      {two_gateways + "wrong_gateway = \"hand_on\"\naddresses = [\"a=10.0.0.1\"]\n" + good,
       "test.toml:6:13: [cluster] addresses: ", "write \"b=ADDRESS\" there"},
      {two_gateways + "wrong_gateway = \"hand_on\"\naddresses = [\"a=10.0.0.1\", \"b=10.0.0.2\"]\n" + session +
           "listen = \"127.0.0.1:0\"\ndurability = \"replicated\"\nstore_directory = \"store\"\n",
       "test.toml:10:10: [session] listen: ", "needs a port, the same on all gateways"},
      {with("durability = \"replicated\""),
       "test.toml:6:14: [session] durability: ", "write servers in a section [cluster]"},
      {with("store = \"memory\"\ndurability = \"async\""),
       "test.toml:7:14: [session] durability: ", "a replicated session has a journal too"},
      {"[log]\nformat = \"json\"\n" + good, "test.toml:2:10: [log] format: ", "expected \"full\""},
      {"[log]\nmessages = false\nevents = false\ndirectory = \"x\"\n" + good,
       "test.toml:4:13: [log] directory: ", "nothing would be logged"},
      {"[log]\ndirektory = \"x\"\n" + good, "test.toml:2:13: [log] direktory: ", "did you mean directory?"},
      {"[engine]\ntransport = \"uring\"\n" + good,
       "test.toml:2:13: [engine] transport: ", "expected \"auto\", \"epoll\""},
      {with("store = \"journal\""),
       "test.toml:1:1: [session] store_directory: ", "such as store_directory = \"store\""},
      {with("store = \"file\""), "test.toml:6:9: [session] store: ", "expected \"memory\" or \"journal\""},
      {journal("ring_size = 100000"), "test.toml:7:13: [session] ring_size: ", "a power of two from 65536"},
      {journal("ring_size = 131072"), "test.toml:7:13: [session] ring_size: ", "twice [engine] max_message_size"},
      {journal("segment_size = 131072"), "test.toml:7:16: [session] segment_size: ", "twice [engine] max_message_size"},
      {journal("store_retain_bytes = 100000000"),
       "test.toml:7:22: [session] store_retain_bytes: ", "at least twice segment_size"},
      {journal("store_omit_types = [\"0\"]"), "test.toml:7:20: [session] store_omit_types: ", "are never stored"},
      {journal("store_omit_fields = [\"x\"]"), "test.toml:7:21: [session] store_omit_fields: ", "such as \"554\""},
      {journal("store_ring_directory = \"\""), "test.toml:7:24: [session] store_ring_directory: ", "/dev/shm"},
      {with("durability = \"sync\""), "test.toml:6:14: [session] durability: ",
       "expected \"none\", \"interval\", \"group\", \"message\", \"replicated\" or"},
      {with("slow_consumer = \"wait\""),
       "test.toml:6:17: [session] slow_consumer: ", "expected \"refuse\" or \"disconnect\""},
      {with("tls_ca = \"ca.pem\""), "test.toml:1:1: [session] tls: ", "write tls = true to encrypt, or tls = false"},
      {with("tls = true"), "test.toml:1:1: [session] tls_certificate: ", "an acceptor needs a certificate"},
      {tls("tls_min_version = \"1.3\"\ntls_max_version = \"1.2\""),
       "test.toml:8:19: [session] tls_min_version: ", "must not exceed tls_max_version"},
      {tls("tls_min_version = \"1.1\""), "test.toml:8:19: [session] tls_min_version: ", "expected \"1.2\" or \"1.3\""},
      {tls("tls_server_name = \"us\""), "test.toml:8:19: [session] tls_server_name: ", "is for initiators"},
      {tls("tls_peer_names = \"them\""),
       "test.toml:8:18: [session] tls_peer_names: ", "needs tls_client_certificate = \"require\""},
      {tls("tls_client_certificate = \"require\""),
       "test.toml:1:1: [session] tls_ca: ", "name the authority of the clients' certificates"},
      {tls("tls_crl = \"a.crl\""), "test.toml:8:11: [session] tls_crl: ", "needs tls_ca"},
      {initiator + "tls = true\ntls_key = \"key.pem\"\n",
       "test.toml:7:11: [session] tls_key: ", "needs tls_certificate"},
      {initiator + "tls = true\ntls_client_certificate = \"require\"\n",
       "test.toml:7:26: [session] tls_client_certificate: ", "is for acceptors"},
      {tls("tls_check_name = false"), "test.toml:8:18: [session] tls_check_name: ", "is for initiators"},
      {initiator + "tls = true\ntls_verify = false\ntls_check_name = false\n",
       "test.toml:8:18: [session] tls_check_name: ", "disables this check too"},
      {initiator + "tls = true\ntls_verify = false\ntls_peer_names = \"venue\"\n",
       "test.toml:8:18: [session] tls_peer_names: ", "accepts any name"},
      {tls("tls_ciphers = \"ALL\"") + session + "listen = \"127.0.0.1:1\"\nbegin_string = \"FIX.4.2\"\n",
       "test.toml:9:1: [session] tls: ", "must share their tls and tls_... settings"},
      {with("quickack = true") + session + "listen = \"127.0.0.1:1\"\nbegin_string = \"FIX.4.2\"\n",
       "test.toml:10:10: [session] listen: ", "must share their tcp_nodelay, quickack"},
      {"[engine]\n", "test.toml:1:1: no session: ", "add a [[session]] section"},
      {"[engine]\nidle = \n" + good, "test.toml:2:", "not TOML: "},
      {with("begin_string = \"FIXT.1.1\""),
       "test.toml:1:1: [session] default_appl_ver_id: ", "expected an application version"},
      {with("default_appl_ver_id = \"9\""), "test.toml:6:23: [session] default_appl_ver_id: ", "is for FIXT.1.1 only"},
      {with("template = false\nsender_sub_id = \"" + std::string(65, 'x') + "\""),
       "test.toml:7:17: [session] sender_sub_id: ", "at most 64 printable characters"},
      {good + with("session_qualifier = \"b\""),
       "test.toml:11:21: [session] session_qualifier: ", "different listen addresses"},
      {"[[session]]\nsender_comp_id = \"US\"\ntarget_comp_id = \"*\"\nlisten = \"a:1\"\n",
       "test.toml:3:18: [session] target_comp_id: ", "add template = true"},
      {with("allowed_addresses = [\"venue\"]"),
       "test.toml:6:21: [session] allowed_addresses: ", "is not an IP address"},
      {with("connect_from = \"a:1\""), "test.toml:6:16: [session] connect_from: ", "an acceptor does not connect"},
      {with("heartbeat_timeout_percent = 100"),
       "test.toml:6:29: [session] heartbeat_timeout_percent: ", "more than test_request_percent"},
      {with("throttle_burst = 5"), "test.toml:6:18: [session] throttle_burst: ", "needs throttle_rate"},
      {with("throttle_action = \"drop\""),
       "test.toml:6:19: [session] throttle_action: ", "expected \"reject\", \"delay\" or \"disconnect\""},
      {with("unknown_fields = true"), "test.toml:6:18: [session] unknown_fields: ", "expected a text in quotes"},
      {with("unknown_fields = \"maybe\""),
       "test.toml:6:18: [session] unknown_fields: ", "expected \"off\", \"lenient\" or \"strict\""},
      {with("validation_overrides = [\"8=never\"]"), "test.toml:6:24: [session] validation_overrides: ", ""},
      {with("logon_fields = [\"554=secret\"]"),
       "test.toml:6:16: [session] logon_fields: ", "the session writes field 554 itself"},
      {with("logon_fields = \"name=x\""), "test.toml:6:16: [session] logon_fields: ", "expected a field such as"},
      {with("password_env = \"NFX_NO_SUCH_VARIABLE\""),
       "test.toml:6:16: [session] password_env: ", "the environment variable NFX_NO_SUCH_VARIABLE is not set"},
      {with("start_time = \"08:00:00\""), "test.toml:1:1: [session] end_time: ", ""},
      {with("time_zone = \"Europe/Londn\""), "test.toml:6:13: [session] time_zone: ", "Europe/London"},
      {with("transport_dictionary = \"FIXT11.xml\""),
       "test.toml:6:24: [session] transport_dictionary: ", "is for FIXT.1.1 only"},
      {with("application_dictionaries = [\"FIX.4.4=FIX44.xml\"]"),
       "test.toml:6:28: [session] application_dictionaries: ", "is for FIXT.1.1 only"},
      {with("dictionary = \"missing.xml\""), "test.toml:6:14: [session] dictionary: ", "no file \"missing.xml\" in "},
      {with("dictionary = \"FIX42.xml\""),
       "test.toml:6:14: [session] dictionary: ", "is for FIX.4.2, but the session's version is FIX.4.4"},
      {with("dictionary = \"../CMakeLists.txt\""), "test.toml:6:14: [session] dictionary: ", "CMakeLists.txt"},
  };
}

TEST(Config, every_mistake_is_one_line_with_its_place_and_its_fix) {
  for (const Mistake& each : mistakes()) {
    const std::string said = complaint(each.toml);
    EXPECT_TRUE(said.starts_with(each.place)) << said << "\nfor\n" << each.toml;
    EXPECT_NE(said.find(each.fix), std::string::npos) << said << "\nfor\n" << each.toml;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(Config, unreadable_file_is_named) {
  try {
    (void)load_config("/nowhere/engine.toml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "cannot read /nowhere/engine.toml: No such file or directory; give the path of a readable file");
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
  EXPECT_EQ(complaint_about([](EngineConfig& c) {
              c.placement.role(ThreadRole::log).threads = 2;
            }).find("placement.log threads: one thread writes all logs"),
            0U);
  EXPECT_NE(complaint_about([](EngineConfig& c) { c.sessions[0].reconnect_delay = std::chrono::milliseconds{0}; }), "");
  EXPECT_NE(complaint_about([](EngineConfig& c) {
              c.max_message_size = c.pending_logon_bytes = 512;
              c.sessions[0].send_buffer_size = 4096;
            }),
            "");
}

}  // namespace
}  // namespace nfx::test
