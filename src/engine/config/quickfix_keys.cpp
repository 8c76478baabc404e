// The rows of QuickFIX's keys: the treatment of every key and its reason, in one place.
#include "config/quickfix_keys.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "config/version_text.hpp"

namespace nfx::quickfix {
namespace {

using enum KeyTreatment;
using enum Conversion;

constexpr Side initiator = Side::initiator;
constexpr Side acceptor = Side::acceptor;

constexpr std::string_view all = "C++ J Go N";
constexpr std::string_view no_database =
    "databases are not supported, and without a journal sequence numbers start at 1 with each process: write "
    "FileStorePath";
constexpr std::string_view no_log_files = "[log] in TOML configures the log files";
constexpr std::string_view log_has_all = "log files contain all messages, with times in nanoseconds";
constexpr std::string_view own_log = "not supported: use [log] in TOML, or an Observer in the program";
constexpr std::string_view no_java_keys =
    "Java key stores are not read: with 'keytool -importkeystore -srckeystore STORE -destkeystore keys.p12 "
    "-deststoretype PKCS12' and 'openssl pkcs12 -in keys.p12 -out keys.pem -nodes' make a PEM file, name it in "
    "ServerCertificateFile and ServerCertificateKeyFile (an initiator: Client...), and remove this key; or write "
    "SocketUseSSL=N";
constexpr std::string_view no_java_trust =
    "Java trust stores are not read: with 'keytool -importkeystore -srckeystore STORE -destkeystore ca.p12 "
    "-deststoretype PKCS12' and 'openssl pkcs12 -in ca.p12 -out ca.pem -nokeys' make a PEM file, name it in "
    "CertificationAuthoritiesFile, and remove this key; or write SocketUseSSL=N";
constexpr std::string_view no_pfx =
    "PKCS #12 files are not read: make a PEM file with 'openssl pkcs12 -in FILE -out keys.pem -nodes', name it in "
    "ServerCertificateFile and ServerCertificateKeyFile (an initiator: Client...), and remove this key; or write "
    "SSLEnable=N";
constexpr std::string_view no_bytes =
    "certificates and keys are read from files only: write it to a file and name that with the key that ends in File; "
    "or write SocketUseSSL=N";
constexpr std::string_view part_of_a_key_store = "belongs to a key store, which is not supported";
constexpr std::string_view no_proxy =
    "connections through a proxy are not supported, and a direct one would bypass it: remove the key, or forward a "
    "port through the proxy and connect to that";
constexpr std::string_view kernel_default = "the kernel's default is used";
constexpr std::string_view begin_string_note = static_text<[] {
  StaticTextBuilder text;
  text += config::begin_strings;
  text += "; FIX 5.0 and later are sent over FIXT.1.1";
  return text;
}>;
constexpr std::string_view checksum_note =
    "N: resent messages that fill a gap are processed with a wrong CheckSum too, and counted; all others, and "
    "BodyLength, "
    "are always checked, and a garbled message is ignored";

constexpr KeyRow session_rows[] = {
    {{"BeginString", all, honoured, "begin_string", begin_string_note}, special},
    {{"SenderCompID", all, honoured, "sender_comp_id", ""}, text},
    {{"TargetCompID", all, honoured, "target_comp_id", ""}, text},
    {{"SenderSubID", "J Go N", honoured, "sender_sub_id", ""}, text},
    {{"SenderLocationID", "J Go N", honoured, "sender_location_id", ""}, text},
    {{"TargetSubID", "J Go N", honoured, "target_sub_id",
      "of sessions that SubIDs or LocationIDs distinguish, the later ones have them as session_qualifier too"},
     text},
    {{"TargetLocationID", "J Go N", honoured, "target_location_id", ""}, text},
    {{"SessionQualifier", all, honoured, "session_qualifier", ""}, text},
    {{"DefaultApplVerID", all, honoured, "default_appl_ver_id", "required with FIXT.1.1, as number or name"}, special},
    {{"ConnectionType", "C++ J N", mapped, "role",
      "without it, as in Go's files: an initiator has SocketConnectHost, an acceptor SocketAcceptPort"},
     special},
    {{"Description", "J", ignored, "", "a name for people: write a comment"}},

    {{"StartTime", all, mapped, "start_time",
      "required unless NonStopSession=Y; a time zone after the time, as in J, applies to this time"},
     special},
    {{"EndTime", all, mapped, "end_time, end_time_zone", "as StartTime; end_time_zone if its zone differs"}, special},
    {{"StartDay", all, mapped, "start_day", "the first two letters are compared; with EndDay the session is weekly"},
     special},
    {{"EndDay", all, mapped, "end_day", "as StartDay"}, special},
    {{"LogonTime", "C++", honoured, "logon_time", ""}, special},
    {{"LogoutTime", "C++", honoured, "logout_time", ""}, special},
    {{"LogonDay", "C++", mapped, "logon_day", "the first two letters are compared"}, special},
    {{"LogoutDay", "C++", mapped, "logout_day", "the first two letters are compared"}, special},
    {{"UseLocalTime", "C++ N", mapped, "time_zone", "Y: the host's zone, \"local\"; N: UTC"}, special},
    {{"TimeZone", "J Go N", honoured, "time_zone",
      "an IANA name; names of Windows and short names of Java are mapped, with a warning"},
     special},
    {{"NonStopSession", "C++ J N", mapped, "start_time, end_time",
      "Y: no schedule; other keys of a schedule are ignored"},
     special},
    {{"Weekdays", "J Go", mapped, "weekdays", "the first two letters of each are compared"}, special},
    {{"ResetSeqTime", "Go", honoured, "reset_time", "unless EnableResetSeqTime=N"}, special},
    {{"EnableResetSeqTime", "Go", mapped, "reset_time", "N: no reset_time"}, special},

    {{"ResetOnLogon", all, honoured, "reset_on_logon", ""}, flag},
    {{"ResetOnLogout", all, honoured, "reset_on_logout", ""}, flag},
    {{"ResetOnDisconnect", all, honoured, "reset_on_disconnect", ""}, flag},
    {{"ResetOnError", "J", honoured, "reset_on_error", ""}, flag},
    {{"RefreshOnLogon", all, honoured, "refresh_on_logon",
      "no effect with a journal: only one process can open it, so its sequence numbers are always current"},
     flag},
    {{"SendResetSeqNumFlag", "C++", ignored, "",
      "QuickFIX itself does not read it: ResetOnLogon sends ResetSeqNumFlag"}},
    {{"SendNextExpectedMsgSeqNum", "C++", honoured, "send_next_expected_seq_num", ""}, flag},
    {{"EnableNextExpectedMsgSeqNum", "J Go", honoured, "send_next_expected_seq_num", ""}, flag},
    {{"EnableLastMsgSeqNumProcessed", "J Go N", honoured, "send_last_msg_seq_num_processed", ""}, flag},
    {{"SendRedundantResendRequests", "C++ J N", honoured, "send_redundant_resend_requests", ""}, flag},
    {{"ResendRequestChunkSize", "J Go", honoured, "resend_chunk_size", ""}, count},
    {{"MaxMessagesInResendRequest", "N", honoured, "resend_chunk_size", "messages per ResendRequest"}, count},
    {{"ClosedResendInterval", "J", honoured, "closed_resend_requests", ""}, flag},
    {{"TimestampPrecision", "C++", mapped, "timestamp_digits", "0 to 9, or SECONDS, MILLIS, MICROS, NANOS"}, special},
    {{"TimeStampPrecision", "J Go N", mapped, "timestamp_digits",
      "as TimestampPrecision; the case of letters in keys does not matter"},
     special},
    {{"MillisecondsInTimeStamp", "C++ N", mapped, "timestamp_digits", "N: 0; TimestampPrecision has precedence"},
     special},
    {{"PersistMessages", all, mapped, "retain_messages", "N: 0, gaps are filled and nothing is resent"}, special},
    {{"LogonTag", "J", mapped, "username, password, password_env, logon_fields",
      "553 and 554 become username and password; a password that is one variable becomes password_env"},
     special},
    {{"LogonTag<n>", "J", mapped, "username, password, password_env, logon_fields", "as LogonTag"}, special},
    {{"TestRequestDelayMultiplier", "J", mapped, "test_request_percent", "0.5 becomes 150"}, special},
    {{"HeartBeatTimeoutMultiplier", "J", mapped, "heartbeat_timeout_percent", "1.4 becomes 240"}, special},
    {{"DisableHeartBeatCheck", "J", mapped, "check_heartbeats", "Y: false"}, inverted_flag},
    {{"HeartBtIntOverride", "Go", mapped, "heartbeat_override_s",
      "Y: HeartBtInt is used instead of the value in the peer's Logon"},
     special,
     acceptor},
    {{"DisconnectOnError", "J", ignored, "", "an exception of a callback logs its session out in any case"},
     none,
     {},
     "N"},
    {{"RejectMessageOnUnhandledException", "J", ignored, "", "the application answers with reject_business"},
     none,
     {},
     "N"},
    {{"ForceResendWhenCorruptedStore", "J", ignored, "",
      "a damaged store does not open: the error names the place, and 'nfx store repair' repairs it"},
     none,
     {},
     "N"},
    {{"ContinueInitializationOnError", "J", ignored, "",
      "the engine does not start with a wrong session: correct it, or remove it"},
     none,
     {},
     "N"},
    {{"SendLogoutBeforeDisconnectFromTimeout", "N", ignored, "",
      "a peer that stops sending is disconnected without a Logout"},
     none,
     {},
     "N"},
    {{"IgnorePossDupResendRequests", "N", ignored, "",
      "a ResendRequest with PossDupFlag=Y and a sequence number that is too low is always ignored"},
     none,
     {},
     "Y"},
    {{"ResendSessionLevelRejects", "N", ignored, "", "session messages become gap fills in a resend"}, none, {}, "N"},
};

constexpr KeyRow validation_rows[] = {
    {{"UseDataDictionary", "C++ J N", mapped, "dictionary", "N: \"none\"; Y without DataDictionary: the shipped one"},
     special},
    {{"DataDictionary", all, honoured, "dictionary",
      "searched next to the settings file, in the current folder and among the shipped ones (see above); not read with "
      "FIXT.1.1, "
      "as in QuickFIX"},
     special},
    {{"TransportDataDictionary", all, honoured, "transport_dictionary", "FIXT.1.1 only"}, special},
    {{"AppDataDictionary", all, honoured, "dictionary", "FIXT.1.1 only: the dictionary of DefaultApplVerID"}, special},
    {{"AppDataDictionary.<BeginString>", all, mapped, "application_dictionaries", "FIXT.1.1 only"}, special},
    {{"ValidateLengthAndChecksum", "C++ N", mapped, "verify_checksum", checksum_note}, flag},
    {{"ValidateChecksum", "J", mapped, "verify_checksum", checksum_note}, flag},
    {{"ValidateFieldsOutOfOrder", all, mapped, "field_order", "Y: \"strict\"; N: \"lenient\", delivered and reported"},
     strict_when_yes},
    {{"ValidateFieldsHaveValues", "C++ J N", mapped, "values_present", "Y: \"strict\"; N: \"lenient\""},
     strict_when_yes},
    {{"ValidateUserDefinedFields", all, mapped, "user_defined_fields",
      "Y: \"strict\"; N: \"lenient\"; when absent, QuickFIX takes Y and NexusFIX \"lenient\""},
     strict_when_yes},
    {{"AllowUnknownMsgFields", all, mapped, "unknown_fields, fields_not_in_message",
      "N: \"strict\"; Y: \"lenient\"; when absent, QuickFIX takes N and NexusFIX \"lenient\""},
     strict_when_no},
    {{"AllowUnknownEnumValues", "J", mapped, "enum_values", "N: \"strict\"; Y: \"lenient\""}, strict_when_no},
    {{"ValidateUnorderedGroupFields", "J", mapped, "groups", "Y: \"strict\"; N: \"off\""}, special},
    {{"FirstFieldInGroupIsDelimiter", "J", mapped, "groups", "Y: \"off\""}, special},
    {{"ValidateIncomingMessage", "J", mapped, "validation", "N: \"off\""}, special},
    {{"RejectInvalidMessage", "J Go", mapped, "validation", "Y: \"strict\"; N: \"lenient\", delivered and reported"},
     special},
    {{"RejectGarbledMessage", "J", ignored, "",
      "a garbled message is ignored, as FIX requires: its sequence number opens a gap"},
     none,
     {},
     "N"},
    {{"PreserveMessageFieldsOrder", "C++", ignored, "", "the order of fields is always preserved"}, none, {}, "Y"},
    {{"CheckCompID", "C++ J N", honoured, "check_comp_id", ""}, flag},
    {{"CheckLatency", all, honoured, "check_latency", ""}, flag},
    {{"MaxLatency", all, honoured, "max_latency_s", ""}, seconds},
    {{"RequiresOrigSendingTime", "J N", honoured, "require_orig_sending_time", ""}, flag},
    {{"ValidateSequenceNumbers", "J", ignored, "",
      "sequence numbers are always checked: for a peer that does not store them, use ResetOnLogon=Y"},
     none,
     {},
     "Y"},
    {{"AllowPosDup", "J", ignored, "", "only the session sets PossDupFlag: an application sends PossResend instead"},
     none,
     {},
     "N"},
};

constexpr KeyRow connection_rows[] = {
    {{"HeartBtInt", all, honoured, "heartbeat_interval_s", "required and above 0 for an initiator"}, special},
    {{"LogonTimeout", all, honoured, "logon_timeout_s", ""}, seconds},
    {{"LogoutTimeout", all, honoured, "logout_timeout_s", ""}, seconds},
    {{"ReconnectInterval", all, mapped, "reconnect_delay_ms, reconnect_delay_max_ms",
      "sets both, so that the delay does not grow; of a list, as in J, the first and the longest; 0 is 1 s; 30 s when "
      "absent"},
     special,
     initiator},
    {{"SocketConnectHost", all, mapped, "connect", "with SocketConnectPort"}, special, initiator},
    {{"SocketConnectPort", all, mapped, "connect", "with SocketConnectHost"}, special, initiator},
    {{"SocketConnectHost<n>", all, mapped, "connect", "the further addresses, by number"}, special, initiator},
    {{"SocketConnectPort<n>", all, mapped, "connect", "as SocketConnectHost<n>"}, special, initiator},
    {{"SocketConnectProtocol", "J", ignored, "", "only TCP is supported; VM_PIPE: connect over the loopback interface"},
     none,
     {},
     "TCP"},
    {{"SocketConnectSourceHost", "C++", mapped, "connect_from", "with SocketConnectSourcePort"}, special, initiator},
    {{"SocketConnectSourcePort", "C++", mapped, "connect_from", "with SocketConnectSourceHost"}, special, initiator},
    {{"SocketLocalHost", "J", mapped, "connect_from", "with SocketLocalPort"}, special, initiator},
    {{"SocketLocalPort", "J", mapped, "connect_from", "with SocketLocalHost"}, special, initiator},
    {{"SocketConnectTimeout", "J", honoured, "connect_timeout_s", ""}, seconds, initiator},
    {{"SocketTimeout", "Go", honoured, "connect_timeout_s", ""}, seconds, initiator},
    {{"HostSelectionPolicy", "C++", mapped, "host_selection", "ROUNDROBIN: \"round_robin\"; PRIORITY: \"priority\""},
     special,
     initiator},
    {{"HostSelectionPolicyPriorityStartOverInterval", "C++", honoured, "host_priority_restart_s", ""},
     seconds,
     initiator},
    {{"DynamicSession", "J", ignored, "", "every session of the file connects: remove those that should not"},
     none,
     {},
     "N"},

    {{"SocketAcceptPort", all, mapped, "listen", "with SocketAcceptAddress or SocketAcceptHost; 0.0.0.0 without"},
     special,
     acceptor},
    {{"SocketAcceptAddress", "J", mapped, "listen", "with SocketAcceptPort"}, special, acceptor},
    {{"SocketAcceptHost", "Go N", mapped, "listen", "with SocketAcceptPort"}, special, acceptor},
    {{"SocketAcceptProtocol", "J", ignored, "", "only TCP is supported; VM_PIPE: listen on the loopback interface"},
     none,
     {},
     "TCP"},
    {{"AllowedRemoteAddresses", "C++ J", honoured, "allowed_addresses", "IP addresses separated by commas"},
     special,
     acceptor},
    {{"AcceptorTemplate", "J", honoured, "template", "Y: \"*\" in a CompID stands for any"}, flag, acceptor},
    {{"DynamicSessions", "Go", mapped, "template",
      "Y: one more session, a template made of [DEFAULT] that takes any CompIDs it does not name"},
     special,
     acceptor},
    {{"DynamicQualifier", "Go", ignored, "", "one identity has one connection: a second one is refused"},
     none,
     {},
     "N"},

    {{"SocketNodelay", "C++ N", honoured, "tcp_nodelay", "true when absent"}, flag},
    {{"SocketTcpNoDelay", "J", honoured, "tcp_nodelay", ""}, flag},
    {{"SocketSendBufferSize", "C++ J N", honoured, "socket_send_buffer", ""}, count},
    {{"SocketReceiveBufferSize", "C++ J N", honoured, "socket_receive_buffer", ""}, count},
    {{"SocketReuseAddress", "C++ J", ignored, "", "a listening socket always reuses its address"}, none, {}, "Y"},
    {{"SocketKeepAlive", "J", ignored, "", "heartbeats detect a dead peer sooner"}, none, {}, "N"},
    {{"SocketLinger", "J", ignored, "", kernel_default}},
    {{"SocketOobInline", "J", ignored, "", "FIX has no urgent data"}, none, {}, "N"},
    {{"SocketTrafficClass", "J", ignored, "", kernel_default}},
    {{"SocketSynchronousWrites", "J", ignored, "",
      "a send never waits: bytes that the kernel does not accept are queued, see send_buffer_size"},
     none,
     {},
     "N"},
    {{"SocketSynchronousWriteTimeout", "J", ignored, "", "as SocketSynchronousWrites"}},
    {{"MaxScheduledWriteRequests", "J", ignored, "", "send_buffer_size limits the bytes that wait for a slow peer"},
     none,
     {},
     "0"},
};

constexpr KeyRow store_and_log_rows[] = {
    {{"FileStorePath", all, mapped, "store, store_directory",
      "\"journal\" in this folder, in NexusFIX's own files; 'nfx store import' imports QuickFIX's files"},
     special},
    {{"FileStoreSync", "J Go", mapped, "durability", "Y: \"group\", messages are sent after they are synced"}, special},
    {{"FileStoreMaxCachedMsgs", "J", ignored, "", "retain_messages limits what is stored"}},
    {{"MySQLStore*", "C++", ignored, "", no_database}},
    {{"PostgreSQLStore*", "C++", ignored, "", no_database}},
    {{"OdbcStore*", "C++ N", ignored, "", no_database}},
    {{"SQLStore*", "Go", ignored, "", no_database}},
    {{"MongoStore*", "Go", ignored, "", no_database}},
    {{"Sleepycat*", "J", ignored, "", no_database}},
    {{"Jdbc*", "J", ignored, "", no_database}},
    {{"Jndi*", "J", ignored, "", no_database}},

    {{"FileLogPath", all, mapped, "directory, format",
      "of [log]: one folder for all sessions, the first that is named"},
     special},
    {{"FileLogBackupPath", "C++", ignored, "", "closed files stay in their folder: see rotate_bytes and keep_files"}},
    {{"FileLogHeartbeats", "J", ignored, "", log_has_all}, none, {}, "Y"},
    {{"FileIncludeMilliseconds", "J", ignored, "", log_has_all}, none, {}, "Y"},
    {{"FileIncludeTimeStampForMessages", "J", ignored, "", log_has_all}, none, {}, "Y"},
    {{"DebugFileLogPath", "N", ignored, "", no_log_files}},
    {{"ScreenLogShowIncoming", "C++ J", ignored, "", "nfx serve --messages shows messages"}},
    {{"ScreenLogShowOutgoing", "C++ J", ignored, "", "nfx serve --messages shows messages"}},
    {{"ScreenLogShowEvents", "C++ J", ignored, "", "nfx serve always prints events"}, none, {}, "Y"},
    {{"ScreenLogShowHeartBeats", "J", ignored, "", "nfx serve --messages shows them too"}},
    {{"ScreenIncludeMilliseconds", "J", ignored, "", "nfx serve always prints them"}, none, {}, "Y"},
    {{"RedactFieldsInLogs", "C++", ignored, "", "passwords are masked wherever nfx prints a message"}},
    {{"MySQLLog*", "C++", ignored, "", own_log}},
    {{"PostgreSQLLog*", "C++", ignored, "", own_log}},
    {{"OdbcLog*", "C++ N", ignored, "", own_log}},
    {{"SQLLog*", "Go", ignored, "", own_log}},
    {{"MongoLog*", "Go", ignored, "", own_log}},
    {{"SLF4J*", "J", ignored, "", own_log}},
    {{"HttpAcceptPort", "C++", ignored, "", "there is no web page of the sessions"}, none, {}, "0"},
    {{"Username", "", ignored, "",
      "not a key of any engine, although many applications read it: write LogonTag=553=name, or username in TOML"}},
    {{"Password", "", ignored, "",
      "not a key of any engine, although many applications read it: write LogonTag=554=${VARIABLE}, or password_env in "
      "TOML"}},
};

// Limits that other engines do not have. They may be written as in TOML, with '_'.
constexpr KeyRow own_rows[] = {
    {{"MaxMessageSize", ours_only, honoured, "max_message_size", "of [engine]; in [DEFAULT]"}, special},
    {{"MaxFields", ours_only, honoured, "max_fields", "of [engine]; in [DEFAULT]"}, special},
};

constexpr KeyRow tls_row(std::string_view name, std::string_view engines, KeyTreatment treatment, std::string_view ours,
                         std::string_view note, Side side = Side::both, std::string_view harmless = {}) {
  const Conversion conversion = ours.empty() ? none : treatment == honoured ? tls_option : special;
  return {{name, engines, treatment, ours, note}, conversion, side, harmless, true};
}

constexpr KeyRow tls_and_proxy_rows[] = {
    tls_row("SocketUseSSL", "J Go", mapped, "tls", "Y: true; N: TLS is off, and other keys of TLS are ignored",
            Side::both, "N"),
    tls_row("SSLEnable", "N", mapped, "tls", "as SocketUseSSL", Side::both, "N"),
    tls_row("SSLProtocol", "C++", mapped, "tls_min_version, tls_max_version",
            "such as \"all -SSLv2 -SSLv3\": versions older than TLS 1.2 are omitted; without any other it turns "
            "nothing on"),
    tls_row("SSLCipherSuite", "C++", honoured, "tls_ciphers", ""),
    tls_row("TLSCipherSuites", "C++", honoured, "tls_ciphersuites", ""),
    tls_row("CertificationAuthoritiesFile", "C++", honoured, "tls_ca", ""),
    tls_row("CertificationAuthoritiesDirectory", "C++", honoured, "tls_ca", ""),
    tls_row("ServerCertificateFile", "C++", honoured, "tls_certificate", "", acceptor),
    tls_row("ServerCertificateKeyFile", "C++", honoured, "tls_key", "", acceptor),
    tls_row("ClientCertificateFile", "C++", honoured, "tls_certificate", "", initiator),
    tls_row("ClientCertificateKeyFile", "C++", honoured, "tls_key", "", initiator),
    tls_row("CertificateVerifyLevel", "C++", mapped, "tls_client_certificate, tls_verify",
            "acceptor: 0 \"none\", 1 \"request\", 2 \"require\"; initiator: 0 accepts any server; when absent, the "
            "server is verified"),
    tls_row("CertificateRevocationListFile", "C++", honoured, "tls_crl", ""),
    tls_row("CertificateRevocationListDirectory", "C++", refused, "",
            "folders are not read: write CertificateRevocationListFile for each file, or tls_crl in TOML"),
    tls_row("SocketKeyStore*", "J", refused, "", no_java_keys),
    tls_row("SocketTrustStore*", "J", refused, "", no_java_trust),
    tls_row("KeyStoreType", "J", ignored, "", part_of_a_key_store),
    tls_row("TrustStoreType", "J", ignored, "", part_of_a_key_store),
    tls_row("KeyManagerFactoryAlgorithm", "J", ignored, "", part_of_a_key_store),
    tls_row("TrustManagerFactoryAlgorithm", "J", ignored, "", part_of_a_key_store),
    tls_row("NeedClientAuth", "J", mapped, "tls_client_certificate", "Y: \"require\"", acceptor, "N"),
    tls_row("EnabledProtocols", "J", mapped, "tls_min_version, tls_max_version", "the oldest and the newest of them"),
    tls_row("CipherSuites", "J", mapped, "tls_ciphers, tls_ciphersuites, tls_min_version, tls_max_version",
            "by OpenSSL's names; a version of TLS without any of them is not used"),
    tls_row("EndpointIdentificationAlgorithm", "J", ignored, "",
            "an initiator compares the host's name with the certificate, unless tls_check_name is false in TOML",
            Side::both, "HTTPS"),
    tls_row("UseSNI", "J", ignored, "", "the name of the host is always sent", Side::both, "Y"),
    tls_row("SNIHostName", "J", honoured, "tls_server_name", "", initiator),
    tls_row("SocketPrivateKeyFile", "Go", honoured, "tls_key", ""),
    tls_row("SocketPrivateKeyBytes", "Go", refused, "", no_bytes),
    tls_row("SocketCertificateFile", "Go", honoured, "tls_certificate", ""),
    tls_row("SocketCertificateBytes", "Go", refused, "", no_bytes),
    {{"SocketCAFile", "Go", mapped, "tls_ca, tls_client_certificate", "acceptor: \"require\" too, as in Go"},
     tls_option,
     {},
     {},
     true},
    tls_row("SocketCABytes", "Go", refused, "", no_bytes),
    tls_row("SocketServerName", "Go", honoured, "tls_server_name", "", initiator),
    tls_row("SocketMinimumTLSVersion", "Go", mapped, "tls_min_version", "a version older than TLS12 becomes \"1.2\""),
    tls_row("SocketInsecureSkipVerify", "Go", mapped, "tls_verify", "Y: false", Side::both, "N"),
    tls_row("SSLServerName", "N", honoured, "tls_server_name", "", initiator),
    tls_row("SSLProtocols", "N", mapped, "tls_min_version, tls_max_version",
            "such as Tls12, Tls13: the oldest and the newest of them"),
    tls_row("SSLValidateCertificates", "N", mapped, "tls_verify", "N: false", Side::both, "Y"),
    tls_row("SSLCheckCertificateRevocation", "N", ignored, "",
            "no revocation list is fetched: name files in CertificateRevocationListFile", Side::both, "N"),
    tls_row("SSLCertificate", "N", refused, "", no_pfx),
    tls_row("SSLCertificatePassword", "N", ignored, "",
            "tls_key_password_env in TOML names the variable that holds it"),
    tls_row("SSLRequireClientCertificate", "N", mapped, "tls_client_certificate", "Y: \"require\"; N: \"none\"",
            acceptor, "N"),
    {{"SSLCACertificate", "N", mapped, "tls_ca", "a PEM file"}, tls_option, {}, {}, true},
    {{"Proxy*", "J Go", refused, "", no_proxy}},
    {{"UseTCPProxy", "Go", refused, "",
      "the PROXY protocol is not supported, so every Logon through such a proxy would fail: forward plain TCP"},
     none,
     {},
     "N"},
};

// Whether each row has everything that its treatment needs, and each name appears once.
template <std::size_t count>
consteval bool rows_are_sound(const KeyRow (&rows)[count]) {
  for (std::size_t i = 0; i < count; ++i) {
    const QuickFixKey& key = rows[i].key;
    const bool translated = key.treatment == honoured || key.treatment == mapped;
    if (key.name.empty() || key.note.contains('|') || key.note.contains('\n')) return false;
    if (translated != !key.ours.empty() || translated != (rows[i].conversion != none)) return false;
    if (key.treatment != honoured && key.note.empty()) return false;
    if (!rows[i].harmless.empty() && rows[i].conversion != none && !rows[i].tls) return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (rows[k].key.name == key.name) return false;
    }
  }
  return true;
}
static_assert(rows_are_sound(session_rows));
static_assert(rows_are_sound(validation_rows));
static_assert(rows_are_sound(connection_rows));
static_assert(rows_are_sound(store_and_log_rows));
static_assert(rows_are_sound(own_rows));
static_assert(rows_are_sound(tls_and_proxy_rows));

const std::vector<KeyRow>& rows() {
  static const std::vector<KeyRow> table = [] {
    std::vector<KeyRow> result;
    for (const std::span<const KeyRow> part :
         {std::span<const KeyRow>{session_rows}, std::span<const KeyRow>{validation_rows},
          std::span<const KeyRow>{connection_rows}, std::span<const KeyRow>{store_and_log_rows},
          std::span<const KeyRow>{own_rows}, std::span<const KeyRow>{tls_and_proxy_rows}}) {
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }();
  return table;
}

// Whether a name in the table matches a key in a file.
bool stands_for(std::string_view name, std::string_view key) {
  constexpr std::string_view number = "<n>", version = "<BeginString>";
  if (name.ends_with(number)) {
    const auto n = numbered(key, name.substr(0, name.size() - number.size()));
    return n && *n > 0;
  }
  if (name.ends_with(version)) {
    const std::string_view prefix = name.substr(0, name.size() - version.size());
    return key.size() > prefix.size() && starts_with_key(key, prefix);
  }
  if (name.ends_with('*')) return starts_with_key(key, name.substr(0, name.size() - 1));
  return same_key(name, key);
}

}  // namespace

bool starts_with_key(std::string_view text, std::string_view prefix) noexcept {
  return same_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool same_key(std::string_view a, std::string_view b) noexcept { return same_ignoring_case(a, b); }

std::optional<std::size_t> numbered(std::string_view name, std::string_view prefix) noexcept {
  if (!starts_with_key(name, prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty()) return 0;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number == 0) return std::nullopt;
  return number;
}

std::span<const KeyRow> key_rows() { return rows(); }

const KeyRow* find_key(std::string_view name) {
  // Exact names take precedence over patterns.
  for (const KeyRow& row : rows()) {
    if (same_key(row.key.name, name)) return &row;
  }
  for (const KeyRow& row : rows()) {
    if (stands_for(row.key.name, name)) return &row;
  }
  return nullptr;
}

const std::vector<std::string_view>& key_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const KeyRow& row : rows()) result.push_back(row.key.name);
    return result;
  }();
  return names;
}

}  // namespace nfx::quickfix

namespace nfx {

std::string_view to_string(KeyTreatment treatment) noexcept {
  switch (treatment) {
    case KeyTreatment::honoured: return "honoured";
    case KeyTreatment::mapped: return "mapped";
    case KeyTreatment::ignored: return "ignored";
    case KeyTreatment::refused: return "refused";
  }
  return "?";
}

std::span<const QuickFixKey> quickfix_keys() {
  static const std::vector<QuickFixKey> keys = [] {
    std::vector<QuickFixKey> result;
    for (const quickfix::KeyRow& row : quickfix::rows()) result.push_back(row.key);
    return result;
  }();
  return keys;
}

std::string quickfix_key_table() {
  std::string out = "| key | engines | treatment | NexusFIX keys | remarks |\n|---|---|---|---|---|\n";
  for (const QuickFixKey& key : quickfix_keys()) {
    std::string ours;
    for (std::size_t begin = 0; begin < key.ours.size();) {
      const std::size_t end = std::min(key.ours.find(", ", begin), key.ours.size());
      ours += (ours.empty() ? "`" : ", `") + std::string{key.ours.substr(begin, end - begin)} + '`';
      begin = end + 2;
    }
    out += "| `" + std::string{key.name} + "` | " + std::string{key.engines} + " | " +
           std::string{to_string(key.treatment)} + " | " + ours + " | " + std::string{key.note} + " |\n";
  }
  return out;
}

}  // namespace nfx
