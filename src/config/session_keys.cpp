// The keys of a session.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "config/rows.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/wire/field_text.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::config {
namespace {

// "1408=1.0" as a complete field. Fields that the session writes itself are refused.
std::string logon_field(const std::string& text) {
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tag);
  const auto size = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || tag <= 0 || size >= text.size() || text[size] != '=' || size + 1 == text.size() ||
      text.find(soh) != std::string::npos) {
    throw BadValue("expected a field such as \"1408=1.0\", not \"" + text.substr(0, size) + "...\"");
  }
  constexpr Tag own[] = {Tag::EncryptMethod, Tag::HeartBtInt, Tag::ResetSeqNumFlag,      Tag::NextExpectedMsgSeqNum,
                         Tag::Username,      Tag::Password,   Tag::TestMessageIndicator, Tag::DefaultApplVerID};
  if (std::ranges::find(own, Tag{tag}) != std::end(own) || is_header_tag(Tag{tag}) || is_trailer_tag(Tag{tag})) {
    throw BadValue("the session writes field " + std::to_string(tag) + " itself: use its own key");
  }
  return text + soh;
}

// Whom a session connects, and how.
constexpr auto connection_rows = std::to_array<Key<SessionDraft>>({
    NFX_ENUM("role", settings.session.role, "who connects: the initiator does"),
    NFX_TEXT("begin_string", settings.session.begin_string, "FIX.4.0 to FIX.4.4, or FIXT.1.1"),
    {"default_appl_ver_id", "text",
     [](SessionDraft& t, const Value& v) {
       const std::string text = v.text();
       const std::string_view id = appl_ver_id_of(text);
       t.settings.session.default_appl_ver_id = id.empty() ? text : std::string{id};
     },
     [](const SessionDraft& t) { return in_quotes(t.settings.session.default_appl_ver_id); },
     "FIXT.1.1: application version, such as \"FIX.5.0SP2\" or \"9\""},
    NFX_TEXT("sender_comp_id", settings.session.sender_comp_id, "our CompID"),
    NFX_TEXT("target_comp_id", settings.session.target_comp_id, "the peer's CompID"),
    NFX_TEXT("session_qualifier", settings.session.session_qualifier,
             "tells sessions with the same CompIDs apart here; never sent"),
    NFX_TEXT("sender_sub_id", settings.session.sender_sub_id, "SenderSubID(50) in every message we send"),
    NFX_TEXT("target_sub_id", settings.session.target_sub_id, "TargetSubID(57)"),
    NFX_TEXT("sender_location_id", settings.session.sender_location_id, "SenderLocationID(142)"),
    NFX_TEXT("target_location_id", settings.session.target_location_id, "TargetLocationID(143)"),
    NFX_INTEGER("cpu_affinity_core", settings.session.cpu_affinity_core, -1, CpuSet::max_cpus - 1,
                "served by a poll thread pinned to this CPU; -1: no wish"),
    NFX_FLAG("auto_pin_to_core", settings.session.auto_pin_to_core,
             "served by the pinned poll thread that [placement] mapping chooses by the CompIDs"),
    NFX_FLAG("template", settings.is_template, "acceptor: for sessions made at Logon; \"*\" in CompIDs is any text"),
    {"listen", "host:port", [](SessionDraft& t, const Value& v) { t.settings.listen = v.endpoint(); },
     [](const SessionDraft&) { return std::string{"none"}; }, "acceptor: address to listen on; sessions may share it"},
    {"connect", "host:port or list", [](SessionDraft& t, const Value& v) { t.settings.connect = v.endpoints(); },
     [](const SessionDraft&) { return std::string{"none"}; }, "initiator: addresses, see host_selection"},
    NFX_ENUM("host_selection", settings.host_selection, "which address is next: \"round_robin\" or \"priority\""),
    NFX_DURATION("host_priority_restart_s", settings.host_priority_restart, std::chrono::seconds, 1, day_s,
                 "\"priority\": begin with the first again after so long"),
    {"connect_from", "host:port", [](SessionDraft& t, const Value& v) { t.settings.socket.from = v.endpoint(); },
     [](const SessionDraft&) { return std::string{"none"}; }, "initiator: local address; port 0 for any"},
    NFX_DURATION("connect_timeout_s", settings.connect_timeout, std::chrono::seconds, 1, day_s,
                 "initiator: for TCP to connect"),
    NFX_LIST("allowed_addresses", settings.allowed_addresses, "acceptor: the peers' IP addresses; empty for any"),
    NFX_FLAG("tcp_nodelay", settings.socket.nodelay, "small messages leave at once"),
    NFX_INTEGER("socket_send_buffer", settings.socket.send_buffer, 0, gib, "SO_SNDBUF in bytes; 0: the kernel's"),
    NFX_INTEGER("socket_receive_buffer", settings.socket.receive_buffer, 0, gib, "SO_RCVBUF in bytes; 0: the kernel's"),
    NFX_INTEGER("busy_poll_us", settings.socket.busy_poll_us, 0, 1'000'000,
                "SO_BUSY_POLL: a receive may spin in the driver for so long; 0: the kernel's"),
    NFX_FLAG("quickack", settings.socket.quickack, "TCP_QUICKACK: acknowledge every segment at once"),
    NFX_FLAG("timestamps", settings.socket.timestamps, "SO_TIMESTAMPING: know when the kernel or card got the bytes"),
    {"tls", "boolean",
     [](SessionDraft& t, const Value& v) {
       t.settings.tls_enabled = v.boolean();
       t.tls_mentioned = true;
     },
     [](const SessionDraft& t) { return shown(t.settings.tls_enabled); }, "encrypted, see docs/tls.md"},
});

template <std::size_t index>
inline constexpr auto tls_member = std::get<tls_option_rows[index].member.index()>(tls_option_rows[index].member);

// The row of one option of tls_options.hpp.
template <std::size_t index>
constexpr Key<SessionDraft> tls_row() {
  constexpr TlsOption option = tls_option_rows[index];
  using Member = std::remove_cvref_t<decltype(std::declval<TlsOptions&>().*tls_member<index>)>;
  if constexpr (std::is_same_v<Member, std::string>) {
    return NFX_TEXT(option.key, settings.tls.*tls_member<index>, option.help);
  } else if constexpr (std::is_same_v<Member, bool>) {
    return NFX_FLAG(option.key, settings.tls.*tls_member<index>, option.help);
  } else if constexpr (std::is_enum_v<Member>) {
    return NFX_ENUM(option.key, settings.tls.*tls_member<index>, option.help);
  } else {
    return NFX_LIST(option.key, settings.tls.*tls_member<index>, option.help);
  }
}

template <std::size_t... index>
constexpr auto tls_rows(std::index_sequence<index...>) {
  return std::array{tls_row<index>()...};
}

// What a session exchanges, checks and stores.
constexpr auto session_rows = std::to_array<Key<SessionDraft>>({
    NFX_TEXT("dictionary", dictionary, "XML file, \"none\", or \"\" for the shipped one of the version"),
    NFX_TEXT("transport_dictionary", transport_dictionary, "FIXT.1.1: XML file, or \"\" for the shipped one"),
    NFX_LIST("dictionary_overlays", dictionary_overlays, "XML files over the dictionary, in order"),
    NFX_LIST("application_dictionaries", application_dictionaries,
             "FIXT.1.1: for ApplVerID(1128), such as \"FIX.4.4=FIX44.xml\""),
    NFX_DURATION("heartbeat_interval_s", settings.session.heartbeat_interval, std::chrono::seconds, 0, day_s,
                 "HeartBtInt an initiator asks for; 0: no heartbeats"),
    NFX_DURATION("max_heartbeat_interval_s", settings.session.max_heartbeat_interval, std::chrono::seconds, 1, day_s,
                 "a Logon that asks for more is refused"),
    NFX_DURATION("heartbeat_override_s", settings.session.heartbeat_override, std::chrono::seconds, 0, day_s,
                 "acceptor: this instead of the peer's HeartBtInt; 0: the peer's"),
    NFX_INTEGER("test_request_percent", settings.session.test_request_percent, 10, 1000,
                "silence before TestRequest, in percent of HeartBtInt"),
    NFX_INTEGER("heartbeat_timeout_percent", settings.session.heartbeat_timeout_percent, 20, 2000,
                "and before the connection is given up"),
    NFX_FLAG("check_heartbeats", settings.session.check_heartbeats, "a silent peer is asked, then given up"),
    NFX_TEXT("username", settings.session.username, "Username(553): sent in Logon, or demanded of the peer"),
    NFX_TEXT("password", settings.session.password, "Password(554), the same"),
    NFX_TEXT("password_env", password_env, "environment variable that holds the password"),
    {"logon_fields", "text or list",
     [](SessionDraft& t, const Value& v) {
       std::string fields;
       for (const std::string& text : v.texts()) fields += logon_field(text);
       t.settings.session.logon_fields = fields;
     },
     [](const SessionDraft&) { return std::string{"[]"}; }, "further fields of our Logon, such as \"1408=1.0\""},
    NFX_ENUM("test_message_indicator", settings.session.environment,
             "464 in Logon, \"test\" or \"production\": a peer that says otherwise is refused"),
    NFX_DURATION("logon_timeout_s", settings.session.logon_timeout, std::chrono::seconds, 1, day_s,
                 "time the peer has to answer Logon"),
    NFX_DURATION("logout_timeout_s", settings.session.logout_timeout, std::chrono::seconds, 1, day_s,
                 "time the peer has to answer Logout"),
    NFX_FLAG("reset_on_logon", settings.session.reset_on_logon, "sequence numbers start at 1 with every Logon"),
    NFX_FLAG("reset_on_logout", settings.session.reset_on_logout, "sequence numbers start at 1 after a Logout"),
    NFX_FLAG("reset_on_disconnect", settings.session.reset_on_disconnect,
             "sequence numbers start at 1 after a disconnect"),
    NFX_FLAG("reset_on_error", settings.session.reset_on_error,
             "sequence numbers start at 1 after the protocol was broken or the peer fell silent"),
    NFX_FLAG("refresh_on_logon", settings.session.refresh_on_logon,
             "read the numbers from the store before each Logon"),
    NFX_FLAG("check_comp_id", settings.session.check_comp_id, "every message must carry the session's CompIDs"),
    NFX_FLAG("check_latency", settings.session.check_latency, "SendingTime must be near our clock"),
    NFX_DURATION("max_latency_s", settings.session.max_latency, std::chrono::seconds, 1, day_s, "how near"),
    NFX_FLAG("require_orig_sending_time", settings.session.require_orig_sending_time,
             "PossDupFlag=Y needs OrigSendingTime"),
    NFX_FLAG("send_next_expected_seq_num", settings.session.send_next_expected_seq_num,
             "use NextExpectedMsgSeqNum(789) in Logon"),
    NFX_FLAG("send_last_msg_seq_num_processed", settings.session.send_last_msg_seq_num_processed,
             "LastMsgSeqNumProcessed(369) in every header"),
    NFX_FLAG("closed_resend_requests", settings.session.closed_resend_requests,
             "EndSeqNo names the last missing number, not 0"),
    NFX_FLAG("send_redundant_resend_requests", settings.session.send_redundant_resend_requests,
             "one for every message beyond a gap"),
    NFX_INTEGER("resend_chunk_size", settings.session.resend_chunk_size, 0, 1000000,
                "messages per ResendRequest; 0: all at once"),
    NFX_DURATION("resend_timeout_s", settings.session.resend_timeout, std::chrono::seconds, 1, day_s,
                 "a gap without progress is requested again after so long"),
    NFX_INTEGER("max_resend_attempts", settings.session.max_resend_attempts, 1, 1000,
                "requests without progress before Logout"),
    NFX_INTEGER("max_same_resend_requests", settings.session.max_same_resend_requests, 1, 1000000,
                "the peer's ResendRequests from one number before Logout"),
    NFX_INTEGER("max_resent_messages", settings.session.max_resent_messages, 0, 1'000'000'000,
                "a ResendRequest for more is rejected; 0: any number"),
    NFX_INTEGER("resend_rate", settings.session.resend_rate, 0, 1'000'000'000, "messages resent a second; 0: no limit"),
    NFX_INTEGER("throttle_rate", settings.session.throttle_rate, 0, 1'000'000'000,
                "application messages taken a second; 0: no limit"),
    NFX_INTEGER("throttle_burst", settings.session.throttle_burst, 0, 1'000'000'000,
                "and at once; 0: a second's worth"),
    NFX_ENUM("throttle_action", settings.session.throttle_action,
             "what happens to more: \"reject\", \"delay\" or \"disconnect\""),
    NFX_INTEGER("max_queued_messages", settings.session.max_queued_messages, 1, 1000000,
                "messages kept ahead of a gap"),
    NFX_INTEGER("max_queued_bytes", settings.session.max_queued_bytes, 1024, gib, "and their bytes"),
    NFX_INTEGER("timestamp_digits", settings.session.timestamp_digits, 0, 9, "fraction digits of SendingTime"),
    NFX_ENUM("validation", validation, "the most any check below does, unless an override says otherwise"),
    NFX_ENUM("unknown_fields", checks.unknown_fields, "tags below 5000 that the dictionary does not have"),
    NFX_ENUM("user_defined_fields", checks.user_defined_fields, "tags from 5000 that the message does not have"),
    NFX_ENUM("fields_not_in_message", checks.fields_not_in_message, "known tags of other messages"),
    NFX_ENUM("field_order", checks.field_order, "header, body, trailer; members of groups"),
    NFX_ENUM("values_present", checks.values_present, "empty values"),
    NFX_ENUM("formats", checks.formats, "values that are not of their type"),
    NFX_ENUM("enum_values", checks.enum_values, "values not listed, where a list exists"),
    NFX_ENUM("required_fields", checks.required_fields, "required fields that are missing"),
    NFX_ENUM("group_counts", checks.group_counts, "NumInGroup other than the entries"),
    NFX_ENUM("duplicate_fields", checks.duplicate_fields, "tags that appear twice"),
    NFX_ENUM("message_types", checks.message_types, "message types the dictionary does not have"),
    NFX_ENUM("groups", checks.groups, "what divides groups into entries: see docs/validation.md"),
    {"validation_overrides", "text or list",
     [](SessionDraft& t, const Value& v) {
       t.validation_overrides.clear();
       for (const std::string& text : v.texts()) {
         auto parsed = parse_validation_override(text);
         if (!parsed) throw BadValue(parsed.error());
         t.validation_overrides.push_back(*std::move(parsed));
       }
     },
     [](const SessionDraft&) { return std::string{"[]"}; },
     "such as \"8=lenient\" for a message, \"8/9730=off\" for a tag in it"},
    NFX_DURATION("reconnect_delay_ms", settings.reconnect_delay, std::chrono::milliseconds, 1, day_s * 1000,
                 "initiator: before the first new try; doubles each time"),
    NFX_DURATION("reconnect_delay_max_ms", settings.reconnect_delay_max, std::chrono::milliseconds, 1, day_s * 1000,
                 "and never exceeds this"),
    NFX_TEXT("start_time", schedule.start_time, "when sessions begin, \"08:00:00\"; none: open all the time"),
    NFX_TEXT("end_time", schedule.end_time, "when they end"),
    NFX_TEXT("start_day", schedule.start_day, "weekly sessions: the day they begin, such as \"sunday\""),
    NFX_TEXT("end_day", schedule.end_day, "and the day they end"),
    NFX_LIST("weekdays", schedule.weekdays, "daily sessions: the days they begin on; empty for all"),
    NFX_TEXT("logon_time", schedule.logon_time, "logons only from then on, within the session"),
    NFX_TEXT("logout_time", schedule.logout_time, "and until then, when we log out"),
    NFX_TEXT("logon_day", schedule.logon_day, "weekly sessions: the day of logon_time"),
    NFX_TEXT("logout_day", schedule.logout_day, "and of logout_time"),
    NFX_TEXT("reset_time", schedule.reset_time, "sequence numbers start over at this time within a session too"),
    NFX_TEXT("time_zone", schedule.time_zone, "of these times: an IANA name, \"UTC\" or \"local\""),
    NFX_FLAG("cancel_on_disconnect", settings.cancel_on_disconnect, "call on_cancel when a session is lost"),
    NFX_FLAG("cancel_on_logout", settings.cancel_on_logout, "after a Logout too"),
    NFX_DURATION("cancel_delay_ms", settings.cancel_delay, std::chrono::milliseconds, 0, day_s * 1000,
                 "unless it is up again within so long"),
    NFX_INTEGER("send_buffer_size", settings.send_buffer_size, 64 * 1024, gib,
                "bytes queued for a slow peer before sends are refused"),
    NFX_ENUM("slow_consumer", settings.slow_consumer,
             "then \"refuse\" until it reads again, or \"disconnect\" when it reads nothing for so long:"),
    NFX_DURATION("slow_consumer_timeout_ms", settings.slow_consumer_timeout, std::chrono::milliseconds, 1, day_s * 1000,
                 "how long"),
    {"store", "text", [](SessionDraft& t, const Value& v) { t.settings.store_kind = named(v, StoreKind::memory); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "\"journal\": sent messages and numbers survive the process, in files; \"memory\": they do not; none: journal "
     "with a "
     "store_directory, else as the program chooses"},
    NFX_PATH("store_directory", settings.journal.directory, "journal: where; each session has a folder in it"),
    NFX_PATH("store_ring_directory", settings.journal.ring_directory,
             "journal: of what waits to be written; a tmpfs, as its pages must not go to a disk"),
    NFX_INTEGER("segment_size", settings.journal.segment_size, 64 * 1024, gib, "journal: bytes of a file"),
    NFX_INTEGER("ring_size", settings.journal.ring_size, 64 * 1024, gib,
                "journal: bytes that may wait to be written, a power of two"),
    NFX_ENUM("durability", settings.journal.durability,
             "journal: \"none\"; \"interval\": synced every sync_interval_ms; \"group\": nothing leaves before it is "
             "synced; "
             "\"message\": and send() waits for it"),
    NFX_DURATION("sync_interval_ms", settings.journal.sync_interval, std::chrono::milliseconds, 1, 60'000,
                 "\"interval\": what a dying machine may lose"),
    // One key for both kinds of store; as long as it is not given, each keeps its own default.
    {"retain_messages", "integer",
     [](SessionDraft& t, const Value& v) {
       t.settings.store.retain_messages = static_cast<std::size_t>(v.integer(0, 16 * 1024 * 1024));
       t.settings.journal.retain_messages = t.settings.store.retain_messages;
     },
     [](const SessionDraft& t) { return shown(t.settings.store.retain_messages); },
     "sent messages kept for resends; with a journal 1048576 when not given"},
    NFX_INTEGER("retain_bytes", settings.store.retain_bytes, 4096, gib, "memory: and their bytes"),
    NFX_INTEGER("store_retain_bytes", settings.journal.retain_bytes, 0, 1024 * gib * 1024,
                "journal: of files, archived ones included, the oldest go; 0: all stay"),
    NFX_DURATION("store_retain_age_h", settings.journal.retain_age, std::chrono::hours, 0, 24 * 36500,
                 "journal: of files; 0: any"),
    NFX_ENUM("store_archive", settings.journal.archive,
             "journal: files in front of a reset are moved to archive/ (\"keep\") or deleted (\"remove\")"),
    NFX_SEQ_NUM("next_inbound", settings.next_inbound, "the number expected first, when not 1 was agreed"),
    NFX_SEQ_NUM("next_outbound", settings.next_outbound, "the number sent first, when not 1 was agreed"),
    {"numbers_as_of", "text",
     [](SessionDraft& t, const Value& v) {
       const auto time = parse_utc_timestamp(v.text());
       if (!time) throw BadValue("expected a UTC time such as \"20260313-21:00:00\"");
       t.settings.numbers_as_of = time->time;
     },
     [](const SessionDraft&) { return std::string{"none"}; },
     "when they stood so: a boundary of the schedule since then makes both 1"},
    NFX_FLAG("prefault", settings.prefault, "touch all memory of the store at start: no page fault later"),
    NFX_INTEGER("flusher", settings.flusher, -1, 1023,
                "journal: the number of the flusher that writes it; -1: the one with the fewest"),
    NFX_INTEGER("poll_thread", settings.poll_thread, 0, 1023, "which poll thread serves the session"),
});

constexpr auto session_table =
    joined(connection_rows, tls_rows(std::make_index_sequence<tls_option_rows.size()>{}), session_rows);

// Who says where the journal lies wants one.
void finish_store(SessionSettings& settings) {
  if (settings.store_kind == StoreKind::unset && !settings.journal.directory.empty())
    settings.store_kind = StoreKind::journal;
}

// Whoever names a certificate means to be encrypted: going on in the clear would be a surprise.
void finish_tls(const SessionDraft& draft) {
  if (!draft.tls_mentioned && draft.settings.tls != TlsOptions{})
    throw KeyProblem("tls", "there are tls_ keys: write tls = true, or tls = false to go without for now");
}

}  // namespace

SessionDraft::SessionDraft() = default;

void finish(SessionDraft& draft) {
  SessionConfig& session = draft.settings.session;
  try {
    draft.settings.schedule = make_schedule(draft.schedule);
  } catch (const ScheduleError& error) {
    throw KeyProblem(error.key(), error.text());
  }
  session.validation = ValidationPolicy{draft.checks, draft.validation};
  for (const ValidationOverride& each : draft.validation_overrides) session.validation.set(each);
  finish_store(draft.settings);
  finish_tls(draft);
  if (draft.password_env.empty()) return;
  if (!session.password.empty()) throw KeyProblem("password_env", "password is given too: remove one of them");
  const char* password = std::getenv(draft.password_env.c_str());
  if (password == nullptr || *password == '\0') {
    throw KeyProblem("password_env",
                     "the environment has no variable " + draft.password_env + ": set it, or remove this key");
  }
  session.password = password;
}

std::span<const Key<SessionDraft>> session_keys() noexcept { return session_table; }

}  // namespace nfx::config
