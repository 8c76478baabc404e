// QuickFIX settings files: every key has a treatment, values become NexusFIX's, and errors and keys without effect are
// reported.
#include "config/quickfix_settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "config/doc_table.hpp"
#include "config/quickfix_keys.hpp"
#include "config/quickfix_text.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

const fs::path data_folder = NFX_SOURCE_DIR "/tests/engine/config/data";

std::string text_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The table of keys.

TEST(QuickFixKeys, every_listed_key_has_a_row) {
  std::istringstream lines{text_of(data_folder / "quickfix_keys.txt")};
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words{line.substr(line.find(':') + 1)};
    for (std::string key; words >> key; ++count) EXPECT_NE(quickfix::find_key(key), nullptr) << key;
  }
  EXPECT_GE(count, 140U);
}

TEST(QuickFixKeys, every_row_says_what_it_has_to) {
  std::set<std::string_view> names;
  for (const QuickFixKey& key : quickfix_keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_TRUE(names.insert(key.name).second) << "twice";
    const bool taken_over = key.treatment == KeyTreatment::honoured || key.treatment == KeyTreatment::mapped;
    EXPECT_EQ(taken_over, !key.ours.empty());
    EXPECT_TRUE(key.treatment == KeyTreatment::honoured || !key.note.empty());
    EXPECT_EQ(key.note.find('|'), std::string_view::npos);
  }
}

TEST(QuickFixKeys, patterns_stand_for_their_keys_only) {
  const auto name = [](std::string_view key) {
    const quickfix::KeyRow* row = quickfix::find_key(key);
    return row == nullptr ? std::string_view{} : row->key.name;
  };
  EXPECT_EQ(name("socketconnecthost"), "SocketConnectHost");
  EXPECT_EQ(name("SocketConnectHost7"), "SocketConnectHost<n>");
  EXPECT_EQ(name("SocketConnectHost0"), "");
  EXPECT_EQ(name("SocketConnectHosts"), "");
  EXPECT_EQ(name("MySQLStoreHost"), "MySQLStore*");
  EXPECT_EQ(name("AppDataDictionary.FIX.5.0"), "AppDataDictionary.<BeginString>");
  EXPECT_EQ(name("AppDataDictionary."), "");
  EXPECT_EQ(name("TimestampPrecision"), "TimestampPrecision");
}

TEST(QuickFixKeys, documented_table_is_that_of_the_code) {
  test::expect_table_in("docs/quickfix.md", quickfix_key_table());
}

// Reading of a file.

TEST(QuickFixSettings, file_is_told_by_its_sections) {
  EXPECT_TRUE(looks_like_quickfix(initiator));
  EXPECT_TRUE(looks_like_quickfix("\xEF\xBB\xBF# text\r\n  [SESSION]  \r\nBeginString=FIX.4.4\r\n"));
  EXPECT_TRUE(looks_like_quickfix("[session]\nBeginString=FIX.4.4\n"));
  EXPECT_FALSE(looks_like_quickfix("[defaults]\nrole = \"acceptor\"\n[[session]]\npassword = \"x\"\n"));
  EXPECT_FALSE(looks_like_quickfix("[session]\nsender_comp_id = \"US\"\npassword = \"x\"\n"));
  EXPECT_FALSE(looks_like_quickfix("# [SESSION]\n"));
  EXPECT_FALSE(looks_like_quickfix(""));
}

TEST(QuickFixSettings, keys_are_trimmed_and_their_case_counts_for_nothing) {
  EXPECT_EQ(value_of(translated(initiator + "  resetONLOGON \t=  Y \r\n"), 0, "reset_on_logon"), "true");
}

TEST(QuickFixSettings, value_is_everything_behind_the_first_equals_sign) {
  EXPECT_EQ(value_of(translated(initiator + "SenderSubID=a=b#c\n"), 0, "sender_sub_id"), "\"a=b#c\"");
  EXPECT_EQ(value_of(translated(initiator + "SenderSubID=\"a\\b\"\n"), 0, "sender_sub_id"), R"("\"a\\b\"")");
}

TEST(QuickFixSettings, comments_start_a_line) {
  const TranslatedSettings settings = translated(initiator + "#ResetOnLogon=Y\n   # ResetOnLogout=Y\n");
  EXPECT_EQ(value_of(settings, 0, "reset_on_logon"), "");
  EXPECT_EQ(warnings_of(settings), "");
}

TEST(QuickFixSettings, comments_follow_a_value_after_a_blank_with_one_warning_but_not_in_a_password) {
  const TranslatedSettings settings =
      translated(initiator + "ResetOnLogon=Y # at last\nSenderSubID=a#b\t#c\nLogonTag=554=one #two\nHeartBtInt=20 #\n");
  EXPECT_EQ(value_of(settings, 0, "reset_on_logon"), "true");
  EXPECT_EQ(value_of(settings, 0, "sender_sub_id"), "\"a#b\"");
  EXPECT_EQ(value_of(settings, 0, "password"), "\"one #two\"");
  EXPECT_EQ(value_of(settings, 0, "heartbeat_interval_s"), "20");
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:11: text after ' #' is a comment here, and a part of the value for QuickFIX: write it on a "
            "separate line; also at line 12, 14\n");
}

TEST(QuickFixSettings, lines_that_begin_like_comments_of_other_formats_are_not_read) {
  const TranslatedSettings settings = translated(initiator + ";ResetOnLogon=Y\n// ResetOnLogout=Y\n");
  EXPECT_EQ(value_of(settings, 0, "reset_on_logon"), "");
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:11: QuickFIX's comments begin with '#'; this line and similar ones are ignored\n");
}

TEST(QuickFixSettings, sections_are_found_in_any_case_with_blanks_before_and_a_comment_after) {
  std::string text = initiator;
  text.replace(text.find("[DEFAULT]"), 9, "  [ Default ] \t # for all");
  text.replace(text.find("[SESSION]"), 9, "\t[session]# one");
  EXPECT_TRUE(looks_like_quickfix(text));
  const TranslatedSettings settings = translated(text);
  EXPECT_EQ(value_of(settings, 0, "heartbeat_interval_s"), "30");
  EXPECT_EQ(value_of(settings, 0, "sender_comp_id"), "\"US\"");
  EXPECT_EQ(warnings_of(settings), "");
  EXPECT_EQ(warnings_of(translated(initiator + "[session\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n"
                                               "SocketConnectHost=h\nSocketConnectPort=1\n")),
            "broker.cfg:11: the section has no ']': it is read as [session]\n");
}

TEST(QuickFixSettings, flags_are_read_as_other_programs_write_them_with_a_warning) {
  for (const char* yes : {"Y", "y", "yes", "True", "ON", "1"})
    EXPECT_EQ(value_of(translated(initiator + "ResetOnLogon=" + yes + "\n"), 0, "reset_on_logon"), "true") << yes;
  for (const char* no : {"N", "n", "No", "false", "off", "0"})
    EXPECT_EQ(value_of(translated(initiator + "ResetOnLogon=" + no + "\n"), 0, "reset_on_logon"), "false") << no;
  EXPECT_EQ(warnings_of(translated(initiator + "ResetOnLogon=true\n")),
            "broker.cfg:11: [SESSION] ResetOnLogon: is read as Y: QuickFIX itself knows only Y and N\n");
  EXPECT_EQ(warnings_of(translated(initiator + "PreserveMessageFieldsOrder=true\n")), "")
      << "as Y: it asks for nothing";
}

TEST(QuickFixSettings, times_may_leave_out_seconds_and_a_leading_zero) {
  expect_cases(daily(initiator), {{"StartTime=9:05", "start_time = \"09:05:00\""},
                                  {"StartTime=09:05:07.000", "start_time = \"09:05:07\""},
                                  {"StartTime=9:05:07", "start_time = \"09:05:07\""}});
}

TEST(QuickFixSettings, zones_of_windows_java_and_offsets_become_iana_names_with_a_warning) {
  expect_cases(daily(initiator), {{"TimeZone=SE Asia Standard Time", "time_zone = \"Asia/Bangkok\""},
                                  {"TimeZone=eastern standard time", "time_zone = \"America/New_York\""},
                                  {"TimeZone=PST", "time_zone = \"America/Los_Angeles\""},
                                  {"TimeZone=GMT+8", "time_zone = \"Etc/GMT-8\""},
                                  {"TimeZone=UTC-05:00", "time_zone = \"Etc/GMT+5\""},
                                  {"TimeZone=UTC+0", "time_zone = \"Etc/GMT\""},
                                  {"TimeZone=GMT+5:30", "time_zone = \"GMT+5:30\""},
                                  {"TimeZone=US/Eastern", "time_zone = \"US/Eastern\""},
                                  {"TimeZone=Asia/Tokyo", "time_zone = \"Asia/Tokyo\""}});
  EXPECT_EQ(warnings_of(translated(daily(initiator) + "TimeZone=SE Asia Standard Time\n")),
            "broker.cfg:12: [SESSION] TimeZone: \"SE Asia Standard Time\" is read as the time zone Asia/Bangkok\n");
}

TEST(QuickFixSettings, start_and_end_may_be_in_different_zones_as_in_java) {
  const auto zones = [](const std::string& lines) {
    const TranslatedSettings settings = translated(daily(initiator) + lines);
    return value_of(settings, 0, "start_time") + ' ' + value_of(settings, 0, "time_zone") + ' ' +
           value_of(settings, 0, "end_time") + ' ' + value_of(settings, 0, "end_time_zone");
  };
  EXPECT_EQ(zones("StartTime=18:00:00 America/New_York\nEndTime=17:00:00 Asia/Tokyo\n"),
            "\"18:00:00\" \"America/New_York\" \"17:00:00\" \"Asia/Tokyo\"");
  EXPECT_EQ(zones("StartTime=18:00:00 US/Central\n"), "\"18:00:00\" \"US/Central\" \"17:00:00\" \"UTC\"");
  EXPECT_EQ(zones("TimeZone=Asia/Tokyo\nEndTime=17:00:00 US/Central\n"),
            "\"09:00:00\" \"Asia/Tokyo\" \"17:00:00\" \"US/Central\"");
  EXPECT_EQ(zones("EndTime=17:00:00 US/Central\n"), "\"09:00:00\" \"UTC\" \"17:00:00\" \"US/Central\"");
  EXPECT_EQ(zones("StartTime=08:00:00EST\nEndTime=17:00:00 EST\n"), "\"08:00:00\" \"EST\" \"17:00:00\" ");
}

TEST(QuickFixSettings, limits_of_messages_are_keys_of_ours_and_the_largest_counts) {
  const TranslatedSettings settings = translated("[DEFAULT]\nMaxFields=2000\nmax_message_size=262144\n" +
                                                 without(initiator, "[DEFAULT]\n") + "max_fields = 20000\n");
  EXPECT_NE(settings.toml.find("\n[engine]\nmax_message_size = 262144 "), std::string::npos) << settings.toml;
  EXPECT_NE(settings.toml.find("\nmax_fields = 20000 "), std::string::npos) << settings.toml;
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:13: [SESSION] MaxFields: is for the whole engine: move it to [DEFAULT]\n");
}

TEST(QuickFixSettings, variables_have_defaults_and_properties_of_java) {
  const VariableLookup environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/desk";
    return std::nullopt;
  };
  const auto path = [&](const std::string& text) {
    const TranslatedSettings settings =
        translate_quickfix_settings(initiator + "FileStorePath=" + text + "\n", "broker.cfg", environment);
    return value_of(settings, 0, "store_directory");
  };
  EXPECT_EQ(path("${user.home}/store"), "\"/home/desk/store\"");
  EXPECT_EQ(path("${STORE:data}/s"), "\"data/s\"");
  EXPECT_EQ(path("${STORE:-data}"), "\"data\"");
  EXPECT_EQ(path("${HOME:data}"), "\"/home/desk\"");
  EXPECT_EQ(complaint(initiator + "FileStorePath=${catalina.base}\n", environment),
            "broker.cfg:11: [SESSION] FileStorePath: the environment variable catalina.base is not set; set it, or "
            "write the value");
}

TEST(QuickFixSettings, folders_of_windows_become_folders_below_the_configuration) {
  expect_cases(initiator, {{"FileStorePath=store\\fix", "store_directory = \"store/fix\""},
                           {"FileStorePath=C:\\data\\fix\\", "store_directory = \"data/fix/\""},
                           {"FileStorePath=/var/fix", "store_directory = \"/var/fix\""},
                           {"ClientCertificateFile=certs\\us.pem", "tls_certificate = \"certs/us.pem\""}});
  EXPECT_EQ(warnings_of(translated(initiator + "FileStorePath=C:\\data\\fix\n")),
            "broker.cfg:11: [SESSION] FileStorePath: is a Windows path: the folder is data/fix, below that of the "
            "configuration\n");
}

TEST(QuickFixSettings, bracketed_addresses_are_hosts) {
  expect_cases(initiator, {{"SocketConnectHost=[::1]", "connect = \"[::1]:9\""},
                           {"SocketConnectHost=2001:db8::1", "connect = \"[2001:db8::1]:9\""}});
}

TEST(QuickFixSettings, long_line_is_read_whole) {
  const std::string id(5000, 'x');
  EXPECT_EQ(value_of(translated(initiator + "SenderSubID=" + id + "\n"), 0, "sender_sub_id"), '"' + id + '"');
}

TEST(QuickFixSettings, session_overrides_the_default_wherever_that_stands) {
  const std::string text =
      without(initiator, "[DEFAULT]\nConnectionType=initiator\nNonStopSession=Y\nHeartBtInt=30\n") +
      "HeartBtInt=11\n[DEFAULT]\nHeartBtInt=30\nConnectionType=initiator\nNonStopSession=Y\n";
  const TranslatedSettings settings = translated(text);
  EXPECT_EQ(value_of(settings, 0, "heartbeat_interval_s"), "11");
  EXPECT_EQ(value_of(settings, 0, "role"), "\"initiator\"");
}

TEST(QuickFixSettings, first_default_section_wins_and_the_last_of_equal_keys) {
  const TranslatedSettings settings =
      translated(initiator + "ResetOnLogon=N\nResetOnLogon=Y\n[DEFAULT]\nHeartBtInt=5\n");
  EXPECT_EQ(value_of(settings, 0, "heartbeat_interval_s"), "30");
  EXPECT_EQ(value_of(settings, 0, "reset_on_logon"), "true");
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:12: [SESSION] ResetOnLogon: duplicate key, also at line 11: the last one counts\n"
            "broker.cfg:13: duplicate section [DEFAULT]; the first one counts, at line 1\n");
}

TEST(QuickFixSettings, environment_variables_are_put_in) {
  const VariableLookup environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "NAME") return "desk";
    return std::nullopt;
  };
  const auto sub_id = [&](const std::string& value) {
    const TranslatedSettings settings =
        translate_quickfix_settings(initiator + "SenderSubID=" + value + "\n", "broker.cfg", environment);
    return value_of(settings, 0, "sender_sub_id") + (settings.warnings.empty() ? "" : " warned");
  };
  EXPECT_EQ(sub_id("$NAME"), "\"desk\"");
  EXPECT_EQ(sub_id("a-${NAME}-$(NAME).$NAME"), "\"a-desk-desk.desk\"");
  EXPECT_EQ(sub_id("pa$word"), "\"pa$word\" warned");
  EXPECT_EQ(sub_id("$"), "\"$\" warned");
  EXPECT_EQ(sub_id("${NAME"), "\"${NAME\" warned");
  EXPECT_EQ(
      complaint(initiator + "SenderSubID=${OTHER}\n", environment),
      "broker.cfg:11: [SESSION] SenderSubID: the environment variable OTHER is not set; set it, or write the value");
  EXPECT_EQ(value_of(translated(initiator + "SenderSubID=${NAME}\n"), 0, "sender_sub_id"), "\"${NAME}\"");
}

// Translation of values.

TEST(QuickFixSettings, session_keys_become_ours) {
  expect_cases(initiator, {
                              {"SenderSubID=S", "sender_sub_id = \"S\""},
                              {"SenderLocationID=S", "sender_location_id = \"S\""},
                              {"TargetSubID=S", "target_sub_id = \"S\""},
                              {"TargetLocationID=S", "target_location_id = \"S\""},
                              {"SessionQualifier=q", "session_qualifier = \"q\""},
                              {"DefaultApplVerID=9", "default_appl_ver_id = "},
                              {"ResetOnLogon=n", "reset_on_logon = false"},
                              {"ResetOnLogout=Y", "reset_on_logout = true"},
                              {"ResetOnDisconnect=Y", "reset_on_disconnect = true"},
                              {"ResetOnError=Y", "reset_on_error = true"},
                              {"RefreshOnLogon=Y", "refresh_on_logon = true"},
                              {"SendNextExpectedMsgSeqNum=Y", "send_next_expected_seq_num = true"},
                              {"EnableNextExpectedMsgSeqNum=Y", "send_next_expected_seq_num = true"},
                              {"EnableLastMsgSeqNumProcessed=Y", "send_last_msg_seq_num_processed = true"},
                              {"SendRedundantResendRequests=Y", "send_redundant_resend_requests = true"},
                              {"ResendRequestChunkSize=100", "resend_chunk_size = 100"},
                              {"MaxMessagesInResendRequest=2500", "resend_chunk_size = 2500"},
                              {"ClosedResendInterval=Y", "closed_resend_requests = true"},
                              {"TimestampPrecision=0", "timestamp_digits = 0"},
                              {"TimeStampPrecision=MICROS", "timestamp_digits = 6"},
                              {"TimestampPrecision=seconds", "timestamp_digits = 0"},
                              {"MillisecondsInTimeStamp=N", "timestamp_digits = 0"},
                              {"MillisecondsInTimeStamp=N\nTimestampPrecision=9", "timestamp_digits = 9"},
                              {"PersistMessages=N", "retain_messages = 0"},
                              {"PersistMessages=Y", "retain_messages = "},
                              {"TestRequestDelayMultiplier=0.5", "test_request_percent = 150"},
                              {"TestRequestDelayMultiplier=.25", "test_request_percent = 125"},
                              {"HeartBeatTimeoutMultiplier=1.405", "heartbeat_timeout_percent = 241"},
                              {"HeartBeatTimeoutMultiplier=2", "heartbeat_timeout_percent = 300"},
                              {"DisableHeartBeatCheck=Y", "check_heartbeats = false"},
                              {"HeartBtInt=7200", "max_heartbeat_interval_s = 7200"},
                              {"HeartBtInt=3600", "max_heartbeat_interval_s = "},
                          });
}

TEST(QuickFixSettings, validation_keys_become_ours) {
  expect_cases(initiator, {
                              {"UseDataDictionary=N\nDataDictionary=x.xml", "dictionary = \"none\""},
                              {"UseDataDictionary=Y", "dictionary = "},
                              {"DataDictionary=spec/x.xml", "dictionary = \"spec/x.xml\""},
                              {"ValidateFieldsOutOfOrder=N", "field_order = \"lenient\""},
                              {"ValidateFieldsOutOfOrder=Y", "field_order = \"strict\""},
                              {"ValidateFieldsHaveValues=N", "values_present = \"lenient\""},
                              {"ValidateUserDefinedFields=N", "user_defined_fields = \"lenient\""},
                              {"ValidateUserDefinedFields=Y", "user_defined_fields = \"strict\""},
                              {"AllowUnknownMsgFields=Y", "unknown_fields = \"lenient\""},
                              {"AllowUnknownMsgFields=N", "fields_not_in_message = \"strict\""},
                              {"ResetOnLogon=Y", "unknown_fields = "},
                              {"AllowUnknownEnumValues=Y", "enum_values = \"lenient\""},
                              {"ValidateUnorderedGroupFields=N", "groups = \"off\""},
                              {"ValidateUnorderedGroupFields=N\nFirstFieldInGroupIsDelimiter=Y", "groups = \"off\""},
                              {"FirstFieldInGroupIsDelimiter=N", "groups = "},
                              {"RejectInvalidMessage=N", "validation = \"lenient\""},
                              {"RejectInvalidMessage=Y", "validation = \"strict\""},
                              {"RejectInvalidMessage=N\nValidateIncomingMessage=N", "validation = \"off\""},
                              {"CheckCompID=N", "check_comp_id = false"},
                              {"CheckLatency=N", "check_latency = false"},
                              {"MaxLatency=60", "max_latency_s = 60"},
                              {"RequiresOrigSendingTime=N", "require_orig_sending_time = false"},
                              {"ValidateLengthAndChecksum=N", "verify_checksum = false"},
                              {"ValidateChecksum=N", "verify_checksum = false"},
                          });
}

TEST(QuickFixSettings, connection_keys_become_ours) {
  expect_cases(initiator, {
                              {"LogonTimeout=15", "logon_timeout_s = 15"},
                              {"LogoutTimeout=1m5s", "logout_timeout_s = 65"},
                              {"ResetOnLogon=Y", "reconnect_delay_ms = 30000"},
                              {"ResetOnLogon=Y", "reconnect_delay_max_ms = 30000"},
                              {"ReconnectInterval=5", "reconnect_delay_max_ms = 5000"},
                              {"ReconnectInterval=500ms", "reconnect_delay_ms = 500"},
                              {"ReconnectInterval=0", "reconnect_delay_ms = 1000"},
                              {"ReconnectInterval=3x5;60;10", "reconnect_delay_ms = 5000"},
                              {"ReconnectInterval=3*5;60;10", "reconnect_delay_max_ms = 60000"},
                              {"SocketConnectHost=::1", "connect = \"[::1]:9\""},
                              {"SocketConnectHost2=b\nSocketConnectPort2=2\nSocketConnectHost1=a\nSocketConnectPort1=1",
                               R"(connect = ["127.0.0.1:9", "a:1", "b:2"])"},
                              {"SocketConnectSourceHost=10.0.0.1\nSocketConnectSourcePort=4000",
                               "connect_from = \"10.0.0.1:4000\""},
                              {"SocketLocalHost=10.0.0.1", "connect_from = \"10.0.0.1:0\""},
                              {"SocketLocalPort=77", "connect_from = \"0.0.0.0:77\""},
                              {"SocketConnectTimeout=7", "connect_timeout_s = 7"},
                              {"SocketTimeout=9s", "connect_timeout_s = 9"},
                              {"HostSelectionPolicy=ROUNDROBIN", "host_selection = \"round_robin\""},
                              {"HostSelectionPolicy=PRIORITY", "host_selection = \"priority\""},
                              {"HostSelectionPolicyPriorityStartOverInterval=60", "host_priority_restart_s = 60"},
                              {"SocketNodelay=N", "tcp_nodelay = false"},
                              {"SocketTcpNoDelay=Y", "tcp_nodelay = true"},
                              {"SocketSendBufferSize=4096", "socket_send_buffer = 4096"},
                              {"SocketReceiveBufferSize=8192", "socket_receive_buffer = 8192"},
                              {"SocketAcceptPort=7", "listen = "},
                          });
  expect_cases(acceptor,
               {
                   {"ResetOnLogon=Y", "listen = \"0.0.0.0:9\""},
                   {"SocketAcceptAddress=127.0.0.1", "listen = \"127.0.0.1:9\""},
                   {"SocketAcceptHost=::", "listen = \"[::]:9\""},
                   {"AllowedRemoteAddresses=10.0.0.1, 10.0.0.2", R"(allowed_addresses = ["10.0.0.1", "10.0.0.2"])"},
                   {"AcceptorTemplate=Y", "template = true"},
                   {"HeartBtInt=5", "heartbeat_interval_s = "},
                   {"HeartBtInt=5\nHeartBtIntOverride=Y", "heartbeat_override_s = 5"},
                   {"ReconnectInterval=5", "reconnect_delay_ms = "},
               });
}

TEST(QuickFixSettings, schedules_become_ours) {
  expect_cases(daily(initiator),
               {
                   {"ResetOnLogon=Y", "start_time = \"09:00:00\""},
                   {"ResetOnLogon=Y", "time_zone = "},
                   {"StartDay=MO\nEndDay=Friday", "start_day = \"monday\""},
                   {"StartDay=MO\nEndDay=Friday", "end_day = \"friday\""},
                   {"Weekdays=Sun, tue", R"(weekdays = ["sunday", "tuesday"])"},
                   {"UseLocalTime=Y", "time_zone = \"local\""},
                   {"UseLocalTime=N", "time_zone = "},
                   {"TimeZone=Europe/London", "time_zone = \"Europe/London\""},
                   {"TimeZone=Europe/London\nUseLocalTime=N", "time_zone = \"Europe/London\""},
                   {"TimeZone=Local", "time_zone = \"local\""},
                   {"StartTime=09:30:00 US/Central\nEndTime=16:00:00 US/Central", "time_zone = \"US/Central\""},
                   {"StartTime=09:30:00 US/Central\nEndTime=16:00:00 US/Central", "end_time = \"16:00:00\""},
                   {"LogonTime=09:10:00", "logon_time = \"09:10:00\""},
                   {"LogonTime=09:10:00", "logout_time = \"17:00:00\""},
                   {"LogonTime=09:10:00", "logon_day = "},
                   {"StartDay=Mo\nEndDay=Fr\nLogoutDay=th", "logout_day = \"thursday\""},
                   {"StartDay=Mo\nEndDay=Fr\nLogoutDay=th", "logon_day = \"monday\""},
                   {"ResetSeqTime=12:00:00", "reset_time = \"12:00:00\""},
                   {"ResetSeqTime=12:00:00\nEnableResetSeqTime=N", "reset_time = "},
                   {"NonStopSession=Y", "start_time = "},
                   {"NonStopSession=Y\nTimeZone=Europe/London", "time_zone = "},
                   {"NonStopSession=Y\nTimeZone=Europe/London\nResetSeqTime=12:00:00", "time_zone = \"Europe/London\""},
               });
}

TEST(QuickFixSettings, fixt_sessions_have_dictionaries_of_their_own) {
  std::string fixt = initiator + "DefaultApplVerID=FIX.5.0SP2\n";
  fixt.replace(fixt.find("FIX.4.4"), 7, "FIXT.1.1");
  expect_cases(fixt, {
                         {"DataDictionary=a.xml", "dictionary = "},
                         {"ResetOnLogon=Y", "default_appl_ver_id = \"FIX.5.0SP2\""},
                         {"AppDataDictionary=a.xml\nTransportDataDictionary=t.xml", "dictionary = \"a.xml\""},
                         {"AppDataDictionary=a.xml\nTransportDataDictionary=t.xml", "transport_dictionary = \"t.xml\""},
                         {"appdatadictionary.fix.5.0sp1=b.xml\nAppDataDictionary.FIX.4.4=c.xml",
                          R"(application_dictionaries = ["FIX.5.0SP1=b.xml", "FIX.4.4=c.xml"])"},
                     });
}

TEST(QuickFixSettings, session_without_connection_type_is_what_its_addresses_say) {
  expect_cases(without(without(initiator, "ConnectionType=initiator\n"), "NonStopSession=Y\n"),
               {{"", "role = \"initiator\""}, {"", "start_time = "}});
  expect_cases(without(acceptor, "ConnectionType=acceptor\n"), {{"", "role = \"acceptor\""}});
}

TEST(QuickFixSettings, dynamic_sessions_become_one_template) {
  const TranslatedSettings settings = translated(
      "[DEFAULT]\nSocketAcceptPort=9\nDynamicSessions=Y\nSenderCompID=US\n"
      "[SESSION]\nBeginString=FIX.4.2\nTargetCompID=A\n");
  ASSERT_EQ(settings.session_lines, (std::vector<std::size_t>{5, 3}));
  EXPECT_EQ(value_of(settings, 1, "template"), "true");
  EXPECT_EQ(value_of(settings, 1, "begin_string"), "\"FIX.4.2\"");
  EXPECT_EQ(value_of(settings, 1, "sender_comp_id"), "\"US\"");
  EXPECT_EQ(value_of(settings, 1, "target_comp_id"), "\"*\"");
  EXPECT_EQ(value_of(settings, 0, "template"), "");
}

TEST(QuickFixSettings, setting_that_two_keys_make_is_taken_from_the_session) {
  const std::string text = without(initiator, "[DEFAULT]\n");
  const TranslatedSettings settings = translated("[DEFAULT]\nSocketNodelay=N\n" + text + "SocketTcpNoDelay=Y\n");
  EXPECT_EQ(value_of(settings, 0, "tcp_nodelay"), "true");
  EXPECT_EQ(warnings_of(settings),
            "broker.cfg:2: [DEFAULT] SocketNodelay: has no effect: SocketTcpNoDelay sets the same\n");
}

// Secrets.

TEST(QuickFixSettings, logon_tags_become_username_password_and_fields) {
  const TranslatedSettings settings =
      translated(initiator + "LogonTag1=554=p=w\nLogonTag=553=me\nLogonTag3=1407=Y\nLogonTag2=925=new\n");
  EXPECT_EQ(value_of(settings, 0, "username"), "\"me\"");
  EXPECT_EQ(value_of(settings, 0, "password"), "\"p=w\"");
  EXPECT_EQ(value_of(settings, 0, "logon_fields"), R"(["925=new", "1407=Y"])");
  EXPECT_EQ(settings.secret_line, 11U);
}

TEST(QuickFixSettings, password_that_is_a_variable_stays_one) {
  const VariableLookup environment = [](std::string_view) { return "hidden"; };
  const TranslatedSettings settings =
      translate_quickfix_settings(initiator + "LogonTag=554=${BROKER_PASSWORD}\n", "broker.cfg", environment);
  EXPECT_EQ(value_of(settings, 0, "password_env"), "\"BROKER_PASSWORD\"");
  EXPECT_EQ(settings.secret_line, 0U);
  EXPECT_EQ(settings.toml.find("hidden"), std::string::npos);
}

TEST(QuickFixSettings, no_warning_or_error_shows_a_secret) {
  const std::string secrets = "Password=hidden\nJdbcPassword=hidden\nMySQLStorePassword=hidden\nOwnPassword=hidden\n";
  EXPECT_EQ(warnings_of(translated(initiator + secrets)).find("hidden"), std::string::npos);
  for (const char* line : {"ProxyPassword=hidden\n", "SocketKeyStorePassword=hidden\n", "LogonTag=hidden\n"})
    EXPECT_EQ(complaint(initiator + line).find("hidden"), std::string::npos) << line;
}

// Mistakes and warnings.

struct Mistake {
  std::string text;
  std::string begins;  // the error
  std::string holds;
};

std::vector<Mistake> mistakes() {
  const std::string& i = initiator;
  const std::string& a = acceptor;
  return {
      {i + "ResetOnLogon=sure\n", "broker.cfg:11: [SESSION] ResetOnLogon: ", "expected Y or N"},
      {"[DEFAULT]\nResetOnLogon=2\n" + without(i, "[DEFAULT]\n"), "broker.cfg:2: [DEFAULT] ResetOnLogon: ", "Y or N"},
      {without(i, "HeartBtInt=30\n"), "broker.cfg:4: [SESSION] HeartBtInt: ", "missing: write HeartBtInt=30"},
      {i + "HeartBtInt=0\n", "broker.cfg:11: [SESSION] HeartBtInt: ", "above 0"},
      {i + "HeartBtInt=-5\n", "broker.cfg:11: [SESSION] HeartBtInt: ", "number of seconds"},
      {i + "MaxLatency=1500ms\n", "broker.cfg:11: [SESSION] MaxLatency: ", "whole seconds"},
      {i + "ResendRequestChunkSize=many\n", "broker.cfg:11: [SESSION] ResendRequestChunkSize: ", "whole number"},
      {i + "ReconnectInterval=-1\n", "broker.cfg:11: [SESSION] ReconnectInterval: ", "such as 30"},
      {i + "ReconnectInterval=\n", "broker.cfg:11: [SESSION] ReconnectInterval: ", "such as 30"},
      {without(i, "NonStopSession=Y\n"), "broker.cfg:4: [SESSION] StartTime: ", "NonStopSession=Y"},
      {without(i, "NonStopSession=Y\n") + "StartTime=09:00:00\n", "broker.cfg:4: [SESSION] EndTime: ", "missing"},
      {daily(i) + "StartTime=9:0\n", "broker.cfg:12: [SESSION] StartTime: ", "expected a time such as 09:30:00"},
      {daily(i) + "EndTime=24:00:00\n", "broker.cfg:12: [SESSION] EndTime: ", "expected a time"},
      {daily(i) + "TimeZone=UTC\nLogonTime=09:00:00 US/Central\n",
       "broker.cfg:13: [SESSION] LogonTime: ", "only EndTime may have another zone"},
      {i + "SocketConnectHost=127.0.0.1:7777\n",
       "broker.cfg:11: [SESSION] SocketConnectHost: ", "write SocketConnectHost=127.0.0.1 and SocketConnectPort=7777"},
      {i + "SocketConnectHost=[::1]:7777\n",
       "broker.cfg:11: [SESSION] SocketConnectHost: ", "write SocketConnectHost=[::1] and SocketConnectPort=7777"},
      {i + "SocketConnectHost=tcp://fix.example:7/x\n",
       "broker.cfg:11: [SESSION] SocketConnectHost: ", "write SocketConnectHost=fix.example and SocketConnectPort=7"},
      {i + "SocketConnectHost1=b:2\nSocketConnectPort1=2\n",
       "broker.cfg:11: [SESSION] SocketConnectHost1: ", "write SocketConnectHost1=b and SocketConnectPort1=2"},
      {i + "SocketConnectHost=one, two\n", "broker.cfg:11: [SESSION] SocketConnectHost: ", "SocketConnectHost1"},
      {i + "SocketLocalHost=10.0.0.1:5\n", "broker.cfg:11: [SESSION] SocketLocalHost: ", "SocketLocalPort=5"},
      {a + "SocketAcceptAddress=10.0.0.1:5\n", "broker.cfg:9: [SESSION] SocketAcceptAddress: ", "SocketAcceptPort=5"},
      {i + "MaxFields=many\n", "broker.cfg:11: [SESSION] MaxFields: ", "whole number"},
      {daily(i) + "TimeZone=UTC\nUseLocalTime=Y\n", "broker.cfg:13: [SESSION] UseLocalTime: ", "remove one of them"},
      {daily(i) + "StartDay=Mon\n", "broker.cfg:12: [SESSION] StartDay: ", "needs EndDay"},
      {daily(i) + "EndDay=Mon\n", "broker.cfg:12: [SESSION] EndDay: ", "needs StartDay"},
      {daily(i) + "StartDay=Mon\nEndDay=Xyz\n", "broker.cfg:13: [SESSION] EndDay: ", "expected a day"},
      {daily(i) + "StartDay=Mon\nEndDay=Fri\nWeekdays=Mon\n",
       "broker.cfg:14: [SESSION] Weekdays: ", "remove one of them"},
      {daily(i) + "Weekdays=Mon,Holiday\n", "broker.cfg:12: [SESSION] Weekdays: ", "expected days"},
      {daily(i) + "LogonDay=Mon\n", "broker.cfg:12: [SESSION] LogonDay: ", "needs LogoutDay"},
      {i + "ConnectionType=client\n", "broker.cfg:11: [SESSION] ConnectionType: ", "initiator or acceptor"},
      {without(i, "ConnectionType=initiator\n") + "SocketAcceptPort=1\n",
       "broker.cfg:4: [SESSION] ConnectionType: ", "missing"},
      {i + "BeginString=FIX.5.0SP2\n",
       "broker.cfg:11: [SESSION] BeginString: ", "BeginString=FIXT.1.1 and DefaultApplVerID=FIX.5.0SP2"},
      {i + "BeginString=FIX44\n", "broker.cfg:11: [SESSION] BeginString: ", "expected one of FIX.4.0"},
      {i + "BeginString=*\n", "broker.cfg:11: [SESSION] BeginString: ", "one [SESSION] for each"},
      {i + "BeginString=FIXT.1.1\n", "broker.cfg:5: [SESSION] DefaultApplVerID: ", "missing"},
      {without(i, "BeginString=FIX.4.4\n"), "broker.cfg:5: [SESSION] BeginString: ", "missing"},
      {without(i, "SenderCompID=US\n"), "broker.cfg:5: [SESSION] SenderCompID: ", "missing"},
      {i + "TargetCompID=\n", "broker.cfg:5: [SESSION] TargetCompID: ", "missing"},
      {i + "SocketConnectPort=70000\n", "broker.cfg:11: [SESSION] SocketConnectPort: ", "1 to 65535"},
      {without(i, "SocketConnectHost=127.0.0.1\nSocketConnectPort=9\n"),
       "broker.cfg:5: [SESSION] SocketConnectHost: ", "missing"},
      {without(i, "SocketConnectPort=9\n"), "broker.cfg:9: [SESSION] SocketConnectHost: ", "needs SocketConnectPort"},
      {i + "SocketConnectPort3=1\n", "broker.cfg:11: [SESSION] SocketConnectPort3: ", "needs SocketConnectHost3"},
      {i + "HostSelectionPolicy=RANDOM\n", "broker.cfg:11: [SESSION] HostSelectionPolicy: ", "ROUNDROBIN or PRIORITY"},
      {i + "TimestampPrecision=10\n", "broker.cfg:11: [SESSION] TimestampPrecision: ", "0 to 9"},
      {i + "HeartBeatTimeoutMultiplier=x\n", "broker.cfg:11: [SESSION] HeartBeatTimeoutMultiplier: ", "such as 0.5"},
      {i + "LogonTag=name\n", "broker.cfg:11: [SESSION] LogonTag: ", "tag=value"},
      {without(a, "SocketAcceptPort=9\n"), "broker.cfg:4: [SESSION] SocketAcceptPort: ", "missing"},
      {a + "HeartBtIntOverride=Y\n", "broker.cfg:5: [SESSION] HeartBtInt: ", "missing"},
      {"[DEFAULT]\nDynamicSessions=Y\nSocketAcceptPort=1\n", "broker.cfg:2: [DEFAULT] BeginString: ", "missing"},
      {"[DEFAULT]\nDynamicSessions=Y\n" + without(i, "[DEFAULT]\n"),
       "broker.cfg:2: [DEFAULT] DynamicSessions: ", "for acceptors"},
      {i + i.substr(i.find("[SESSION]")),
       "broker.cfg:11: [SESSION] TargetCompID: ", "is that of line 5 again: give it a SessionQualifier"},
      {"[DEFAULT]\nHeartBtInt=30\n", "broker.cfg:1: no session: ", "add a [SESSION] section"},
      {i + "[Session]\n", "broker.cfg:11: [SESSION] BeginString: ", "missing"},
      {i + "SenderSubID=\xE9t\xE9\n", "broker.cfg:11: not UTF-8", "save the file as UTF-8"},
      {i + "SSLProtocol=all -TLSv1_2 -TLSv1_3\nSocketUseSSL=Y\n",
       "broker.cfg:11: [SESSION] SSLProtocol: ", "add TLSv1.2"},
      {i + "SSLProtocol=TLSv9\n", "broker.cfg:11: [SESSION] SSLProtocol: ", "expected versions such as"},
      {i + "SocketMinimumTLSVersion=13\n", "broker.cfg:11: [SESSION] SocketMinimumTLSVersion: ", "TLS12 or TLS13"},
      {i + "SocketUseSSL=perhaps\n", "broker.cfg:11: [SESSION] SocketUseSSL: ", "expected Y or N"},
      {i + "CertificateVerifyLevel=3\n", "broker.cfg:11: [SESSION] CertificateVerifyLevel: ", "0, 1 or 2"},
      {i + "ClientCertificateFile=\n", "broker.cfg:11: [SESSION] ClientCertificateFile: ", "expected a PEM file"},
      {i + "SocketKeyStore=a.jks\n", "broker.cfg:11: [SESSION] SocketKeyStore: ", "openssl pkcs12 -in keys.p12"},
      {i + "SocketTrustStore=a.jks\n", "broker.cfg:11: [SESSION] SocketTrustStore: ", "-nokeys"},
      {i + "SSLCertificate=a.pfx\n", "broker.cfg:11: [SESSION] SSLCertificate: ", "openssl pkcs12 -in FILE"},
      {i + "SocketCABytes=x\n", "broker.cfg:11: [SESSION] SocketCABytes: ", "write it to a file"},
      {i + "FileStorePath=\n", "broker.cfg:11: [SESSION] FileStorePath: ", "expected a folder"},
      {i + "FileLogPath=\n", "broker.cfg:11: [SESSION] FileLogPath: ", "expected a folder"},
      {i + "ProxyHost=proxy\n", "broker.cfg:11: [SESSION] ProxyHost: ", "a direct one would bypass it"},
      {a + "UseTCPProxy=Y\n", "broker.cfg:9: [SESSION] UseTCPProxy: ", "PROXY protocol"},
  };
}

TEST(QuickFixSettings, every_mistake_is_one_line_with_its_place_and_its_fix) {
  for (const Mistake& each : mistakes()) {
    const std::string said = complaint(each.text);
    EXPECT_TRUE(said.starts_with(each.begins)) << said << "\nfor\n" << each.text;
    EXPECT_NE(said.find(each.holds), std::string::npos) << said << "\nfor\n" << each.text;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(QuickFixSettings, refused_keys_that_are_switched_off_do_no_harm) {
  for (const char* line :
       {"SocketUseSSL=N\nSocketKeyStore=a.jks\n", "SSLEnable=N\nSSLCertificate=c\n", "UseTCPProxy=N\n"})
    EXPECT_EQ(complaint(initiator + line), "no complaint") << line;
}

TEST(QuickFixSettings, unknown_key_is_a_warning_with_the_nearest_one) {
  const std::string said = warnings_of(translated(initiator + "ResetOnLogin=Y\n"));
  EXPECT_EQ(said,
            "broker.cfg:11: [SESSION] ResetOnLogin: unknown key, ignored; did you mean "
            "ResetOnLogon? ('nfx config keys --quickfix' lists all)\n");
}

TEST(QuickFixSettings, ignored_keys_are_warned_of_once_for_all_sessions) {
  std::string text = initiator + "JdbcURL=a\nCustomKey=1\n" + initiator.substr(initiator.find("[SESSION]")) +
                     "SessionQualifier=2\nJdbcURL=b\ncustomkey=2\n";
  const TranslatedSettings settings = translated(text);
  ASSERT_EQ(settings.warnings.size(), 2U) << warnings_of(settings);
  EXPECT_EQ(settings.warnings[0].line, 11U);
  EXPECT_NE(settings.warnings[0].text.find("write FileStorePath"), std::string::npos);
  EXPECT_EQ(settings.warnings[1].line, 12U);
}

TEST(QuickFixSettings, every_ignored_key_is_warned_of_unless_its_value_asks_for_nothing) {
  std::size_t count = 0;
  for (const quickfix::KeyRow& row : quickfix::key_rows()) {
    if (row.key.treatment != KeyTreatment::ignored) continue;
    std::string key{row.key.name};
    if (key.ends_with('*')) key.back() = 'X';
    SCOPED_TRACE(key);
    ++count;
    const std::string said = warnings_of(translated(initiator + key + "=7\n"));
    EXPECT_EQ(said, "broker.cfg:11: [SESSION] " + key + ": " + std::string{row.key.note} + "\n");
    if (row.harmless.empty()) continue;
    EXPECT_EQ(warnings_of(translated(initiator + key + "=" + std::string{row.harmless} + "\n")), "");
  }
  EXPECT_GE(count, 40U);
}

TEST(QuickFixSettings, every_refused_key_is_an_error) {
  for (const quickfix::KeyRow& row : quickfix::key_rows()) {
    if (row.key.treatment != KeyTreatment::refused) continue;
    std::string key{row.key.name};
    if (key.ends_with('*')) key.back() = 'X';
    EXPECT_EQ(complaint(initiator + key + "=Y\n"),
              "broker.cfg:11: [SESSION] " + key + ": " + std::string{row.key.note});
  }
}

TEST(QuickFixSettings, keys_without_effect_in_this_session_are_said) {
  EXPECT_EQ(warnings_of(translated(initiator + "SocketAcceptPort=1\n")),
            "broker.cfg:11: [SESSION] SocketAcceptPort: has no effect: the session is an initiator\n");
  EXPECT_EQ(warnings_of(translated(acceptor + "HeartBtInt=5\nReconnectInterval=1\nAppDataDictionary=x\n")),
            "broker.cfg:9: [SESSION] HeartBtInt: has no effect: an acceptor uses the value in the peer's Logon\n"
            "broker.cfg:10: [SESSION] ReconnectInterval: has no effect: the session is an acceptor\n"
            "broker.cfg:11: [SESSION] AppDataDictionary: is read with FIXT.1.1 only: use DataDictionary\n");
}

TEST(QuickFixSettings, a_session_that_only_sub_ids_distinguish_has_them_as_its_qualifier) {
  const std::string session = initiator.substr(initiator.find("[SESSION]"));
  const TranslatedSettings settings = translated(initiator + "TargetSubID=QUOTE\n" + session + "TargetSubID=TRADE\n" +
                                                 session + "SenderSubID=a\nTargetLocationID=b\n" + session);
  std::string qualifiers;
  constexpr std::string_view key = "\nsession_qualifier = ";
  for (std::size_t at = settings.toml.find(key); at != std::string::npos; at = settings.toml.find(key, at + 1)) {
    const std::size_t value = at + key.size();
    qualifiers += settings.toml.substr(value, settings.toml.find(' ', value) - value);
  }
  EXPECT_EQ(qualifiers, R"("TRADE""a-b""4")");
  const std::string warnings = warnings_of(settings);
  EXPECT_EQ(warnings.substr(0, warnings.find('\n')),
            "broker.cfg:18: [SESSION] TargetSubID: another session has the same CompIDs, so session_qualifier = "
            "\"TRADE\" names this one in logs and journals");
}

TEST(QuickFixSettings, lines_that_are_not_read_are_said) {
  EXPECT_EQ(warnings_of(translated("Early=1\n" + initiator + "just words\n=5\n[SESION]\nTargetCompID=X\n")),
            "broker.cfg:1: Early: is before the first section, ignored: move it below [DEFAULT]\n"
            "broker.cfg:12: neither a comment, a section nor Key=Value: ignored\n"
            "broker.cfg:13: no key before '=': ignored\n"
            "broker.cfg:14: [SESION] is not a section of QuickFIX, ignored; did you mean SESSION?\n");
}

TEST(QuickFixSettings, silence_on_unknown_fields_is_noted_once) {
  EXPECT_EQ(translated(initiator).notes.size(), 1U);
  EXPECT_EQ(translated(initiator + "AllowUnknownMsgFields=N\nValidateUserDefinedFields=Y\n").notes.size(), 0U);
  EXPECT_EQ(translated(initiator + "UseDataDictionary=N\n").notes.size(), 0U);
}

// Origins of settings.

TEST(QuickFixSettings, origins_name_line_key_and_section) {
  const TranslatedSettings settings = translated(initiator);
  const auto origin = [&](std::string_view key) {
    const auto found = std::ranges::find(settings.origins, key, &SettingOrigin::key);
    EXPECT_NE(found, settings.origins.end()) << key;
    return std::to_string(found->line) + ' ' + found->quickfix_key + (found->in_default_section ? " default" : "");
  };
  EXPECT_EQ(origin("role"), "2 ConnectionType default");
  EXPECT_EQ(origin("target_comp_id"), "8 TargetCompID");
  EXPECT_EQ(origin("connect"), "9 SocketConnectHost, SocketConnectPort");
  EXPECT_EQ(origin("reconnect_delay_ms"), "0 ReconnectInterval");
}

TEST(QuickFixSettings, toml_keeps_the_shape_of_the_file) {
  const TranslatedSettings settings = translated(initiator +
                                                 "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=US\n"
                                                 "TargetCompID=B\nSocketConnectHost=h\nSocketConnectPort=1\n");
  const std::size_t defaults = settings.toml.find("\n[defaults]\n"), first = settings.toml.find("\n[[session]]");
  ASSERT_NE(defaults, std::string::npos);
  ASSERT_LT(defaults, first);
  const std::size_t heartbeat = settings.toml.find("\nheartbeat_interval_s = 30");
  EXPECT_TRUE(defaults < heartbeat && heartbeat < first) << settings.toml;
  EXPECT_EQ(settings.toml.find("heartbeat_interval_s", heartbeat + 2), std::string::npos);
}

}  // namespace
}  // namespace nfx
