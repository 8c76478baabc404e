// The keys of a session: one row each, in the order of the documentation.
#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

#include "config/rows.hpp"
#include "config/version_text.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "transport/tls_option_rows.hpp"

namespace nfx::config {
namespace {

// Accepts a complete field such as "1408=1.0". Refuses fields that the session writes itself.
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

Secret logon_fields(const Value& value) {
  std::vector<Secret> secrets;
  std::vector<std::string> fields;
  std::size_t size = 0;
  for (const std::string& text : value.texts()) {
    fields.push_back(logon_field(text));
    std::string& field = fields.back();
    const std::size_t begin = field.find('=') + 1;
    // Passes only the value, so that a name that stands for a secret is recognised.
    secrets.push_back(value.secret_of(std::string_view{field}.substr(begin, field.size() - 1 - begin)));
    field.resize(begin);
    size += begin + secrets.back().reveal().size() + 1;
  }
  std::string all;
  all.reserve(size);
  for (std::size_t i = 0; i < fields.size(); ++i) all.append(fields[i]).append(secrets[i].reveal()).append(1, soh);
  Secret made{all};
  clear_text(all);
  return made;
}

std::vector<std::string> omitted_types(std::vector<std::string> types) {
  for (const std::string& type : types) {
    if (type.empty() || type.size() > 32 || type.find(soh) != std::string::npos)
      throw BadValue("expected message types such as \"BE\"");
    if (is_session_msg_type(type))
      throw BadValue("session messages such as \"" + type + "\" are never stored: remove it");
  }
  return types;
}

std::vector<Tag> omitted_fields(const std::vector<std::string>& tags) {
  std::vector<Tag> fields;
  for (const std::string& text : tags) {
    std::int32_t tag = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tag);
    if (error != std::errc{} || end != text.data() + text.size() || tag <= 0)
      throw BadValue("expected tags such as \"554\"");
    fields.push_back(Tag{tag});
  }
  return fields;
}

constexpr std::int64_t max_retained = 16 * 1024 * 1024;

// Builds a help text that contains a list.
constexpr StaticTextBuilder help(std::string_view before, std::string_view list, std::string_view after) {
  StaticTextBuilder text;
  text += before;
  text += list;
  text += after;
  return text;
}

// The network and the identity of the session.
constexpr auto connection_rows = std::to_array<Key<SessionDraft>>({
    NFX_ENUM(
        "role", settings.session.role,
        "Which side opens the connection. \"acceptor\": we listen and the peer connects. \"initiator\": we connect."),
    NFX_TEXT("begin_string", settings.session.begin_string, static_text<[] {
               return help("FIX version of the session, BeginString(8): ", begin_strings,
                           ". FIX 5.0 and later are sent over FIXT.1.1.");
             }>),
    {"default_appl_ver_id", "text",
     [](SessionDraft& t, const Value& v) {
       const std::string text = v.text();
       const std::string_view id = appl_ver_id_of(text);
       t.settings.session.default_appl_ver_id = id.empty() ? text : std::string{id};
     },
     [](const SessionDraft& t) { return in_quotes(t.settings.session.default_appl_ver_id); }, static_text<[] {
       return help(
           "FIXT.1.1 only: version of the application messages, DefaultApplVerID(1137), by name or "
           "number: ",
           application_versions, ".");
     }>},
    NFX_TEXT("sender_comp_id", settings.session.sender_comp_id,
             "Our CompID: SenderCompID(49) of what we send and TargetCompID(56) of what we receive, such as \"DESK\"."),
    NFX_TEXT("target_comp_id", settings.session.target_comp_id,
             "The peer's CompID: TargetCompID(56) of what we send, such as \"VENUE\"."),
    NFX_TEXT(
        "session_qualifier", settings.session.session_qualifier,
        "Name that distinguishes sessions with equal CompIDs in this configuration, its logs and its journals. It is "
        "never sent. Needed for a second connection of the same CompIDs."),
    NFX_TEXT("sender_sub_id", settings.session.sender_sub_id,
             "SenderSubID(50) in every message we send. Empty: not sent. Set it when the peer requires it."),
    NFX_TEXT("target_sub_id", settings.session.target_sub_id,
             "TargetSubID(57) in every message we send. Empty: not sent. Set it when the peer requires it."),
    NFX_TEXT("sender_location_id", settings.session.sender_location_id,
             "SenderLocationID(142) in every message we send. Empty: not sent. Set it when the peer requires it."),
    NFX_TEXT("target_location_id", settings.session.target_location_id,
             "TargetLocationID(143) in every message we send. Empty: not sent. Set it when the peer requires it."),
    NFX_INTEGER(
        "cpu_affinity_core", settings.session.cpu_affinity_core, -1, CpuSet::max_cpus - 1,
        "CPU of the poll thread that serves the session. Needs idle \"spin\" or \"auto\", as blocking poll threads "
        "are not pinned. -1: any poll thread. Use an isolated CPU near the network card."),
    NFX_FLAG("auto_pin_to_core", settings.session.auto_pin_to_core,
             "Whether the session is served by a pinned poll thread that [placement] mapping chooses. Needs idle "
             "\"spin\" or \"auto\", as blocking poll threads are not pinned."),
    NFX_FLAG("template", settings.is_template,
             "Acceptor: whether this is a pattern for sessions that are made when a peer logs on. \"*\" in "
             "sender_comp_id or "
             "target_comp_id stands for any text. Use it when clients are not known at start."),
    {"listen", "host:port", [](SessionDraft& t, const Value& v) { t.settings.listen = v.endpoint(); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "Acceptor, required: address to listen on, such as \"0.0.0.0:9878\". Several sessions may have the same."},
    {"connect", "host:port or list", [](SessionDraft& t, const Value& v) { t.settings.connect = v.endpoints(); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "Initiator, required: address of the peer, or a list of addresses to try, such as [\"venue:9878\", "
     "\"backup:9878\"]."},
    NFX_ENUM("host_selection", settings.host_selection,
             "Initiator: which address of connect is tried next. \"round_robin\": the one after the last tried. "
             "\"priority\": "
             "the first again after the session was logged on, or after host_priority_restart_s."),
    NFX_DURATION("host_priority_restart_s", settings.host_priority_restart, std::chrono::seconds, 1, day_s,
                 "Seconds after which an initiator with host_selection = \"priority\" tries the first address again."),
    {"connect_from", "host:port", [](SessionDraft& t, const Value& v) { t.settings.socket.from = v.endpoint(); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "Initiator: local address of the connection, such as \"192.0.2.7:0\"; port 0 is any port. Set it when the peer "
     "allows "
     "one of our addresses only. Not set: the kernel chooses."},
    NFX_DURATION("connect_timeout_s", settings.connect_timeout, std::chrono::seconds, 1, day_s,
                 "Initiator: seconds for a TCP connection to be established before the next address is tried."),
    NFX_LIST("allowed_addresses", settings.allowed_addresses,
             "Acceptor: IP addresses that may log on as this session, such as [\"192.0.2.1\"]. Empty: any. Host names "
             "are not "
             "resolved."),
    NFX_FLAG("tcp_nodelay", settings.socket.nodelay,
             "TCP_NODELAY: whether small messages are sent immediately. False lets the kernel collect them into fewer "
             "packets, "
             "which delays them."),
    NFX_INTEGER(
        "socket_send_buffer", settings.socket.send_buffer, 0, gib,
        "SO_SNDBUF: the kernel's send buffer in bytes. 0: the kernel's default. Raise it for bursts over a long "
        "distance."),
    NFX_INTEGER(
        "socket_receive_buffer", settings.socket.receive_buffer, 0, gib,
        "SO_RCVBUF: the kernel's receive buffer in bytes. 0: the kernel's default. Raise it for bursts over a long "
        "distance."),
    NFX_INTEGER(
        "busy_poll_us", settings.socket.busy_poll_us, 0, 1'000'000,
        "SO_BUSY_POLL: microseconds that a receive may busy-poll the network card's queue. 0: the kernel's default. "
        "Set it, such as 50, on hosts where interrupts cost latency."),
    NFX_FLAG(
        "quickack", settings.socket.quickack,
        "TCP_QUICKACK: whether each segment is acknowledged immediately, for one system call per read. True for peers "
        "that wait for acknowledgements (Nagle's algorithm)."),
    NFX_INTEGER("tcp_keepalive_s", settings.socket.keepalive_s, 0, 32767,
                "SO_KEEPALIVE: seconds without receiving after which the kernel probes the peer's host; "
                "without an answer the connection ends after as long again. 0: no probes."),
    NFX_INTEGER("tcp_user_timeout_s", settings.socket.user_timeout_s, 0, day_s,
                "TCP_USER_TIMEOUT: most seconds that sent data waits for the peer's host, or for a peer that does not "
                "read, before the connection ends. 0: the kernel's default."),
    NFX_FLAG("timestamps", settings.socket.timestamps,
             "SO_TIMESTAMPING: whether received bytes have a time stamp of the kernel or network card, which "
             "SessionHandle::received_at returns."),
    {"tls", "boolean",
     [](SessionDraft& t, const Value& v) {
       t.settings.tls_enabled = v.boolean();
       t.tls_mentioned = true;
     },
     [](const SessionDraft& t) { return shown(t.settings.tls_enabled); },
     "Whether the connection is encrypted with TLS. Required as soon as another tls_ key is given. See docs/tls.md."},
});

template <std::size_t index>
inline constexpr auto tls_member = std::get<tls_option_rows[index].member.index()>(tls_option_rows[index].member);

// The row of one option of TLS.
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

// Dictionaries, Logon, sequence numbers and their protection.
constexpr auto session_rows = std::to_array<Key<SessionDraft>>({
    NFX_TEXT(
        "dictionary", dictionary,
        "FIX dictionary for validation: an XML file such as \"venue.xml\", or \"none\" for the session layer's checks "
        "only. Empty: the shipped dictionary of the version."),
    NFX_TEXT("transport_dictionary", transport_dictionary,
             "FIXT.1.1 only: XML file with header, trailer and session messages. Empty: the shipped FIXT11.xml."),
    NFX_LIST("dictionary_overlays", dictionary_overlays,
             "XML files with a counterparty's differences, applied to the dictionary in this order, such as "
             "[\"venue.xml\"]."),
    NFX_LIST(
        "application_dictionaries", application_dictionaries,
        "FIXT.1.1 only: dictionaries for messages of other versions than default_appl_ver_id, by ApplVerID(1128), such "
        "as [\"FIX.4.4=FIX44.xml\"]."),
    NFX_ENUM(
        "dictionary_problems", dictionary_problems,
        "Irregularities of dictionary files that have an obvious meaning, such as a value listed twice. \"repair\": "
        "they are repaired, with a warning at start. \"refuse\": the configuration is refused."),
    NFX_DURATION(
        "heartbeat_interval_s", settings.session.heartbeat_interval, std::chrono::seconds, 0, day_s,
        "Initiator: seconds between heartbeats, HeartBtInt(108) of our Logon. 0: no heartbeats. An acceptor uses the "
        "peer's value."),
    NFX_DURATION("max_heartbeat_interval_s", settings.session.max_heartbeat_interval, std::chrono::seconds, 1, day_s,
                 "Largest HeartBtInt(108) in seconds that a peer's Logon may have. A Logon with more is refused."),
    NFX_DURATION("heartbeat_override_s", settings.session.heartbeat_override, std::chrono::seconds, 0, day_s,
                 "Acceptor: seconds between heartbeats, whatever the peer's Logon requests. 0: as the peer requests."),
    NFX_INTEGER(
        "test_request_percent", settings.session.test_request_percent, 10, 1000,
        "Time without receiving after which a TestRequest is sent, in percent of the heartbeat interval. 120 with an "
        "interval of 30 s is 36 s."),
    NFX_INTEGER(
        "heartbeat_timeout_percent", settings.session.heartbeat_timeout_percent, 20, 2000,
        "Time without receiving after which the connection is closed, in percent of the heartbeat interval. More than "
        "test_request_percent. 240 with an interval of 30 s is 72 s."),
    NFX_FLAG(
        "check_heartbeats", settings.session.check_heartbeats,
        "Whether a peer that sends nothing gets a TestRequest and is then disconnected. False for a peer that sends no "
        "heartbeats."),
    NFX_FLAG(
        "allow_no_heartbeats", settings.session.allow_no_heartbeats,
        "Whether a peer's Logon with HeartBtInt(108)=0 is accepted. False refuses it, as nothing would show that a "
        "silent peer is dead. With heartbeat_override_s it is accepted in any case."),
    NFX_DURATION("idle_test_s", settings.session.idle_test_interval, std::chrono::seconds, 0, day_s,
                 "With HeartBtInt(108)=0: seconds without receiving after which a TestRequest is sent; after as many "
                 "again the connection is closed. 0: a silent peer stays connected."),
    NFX_DURATION("takeover_timeout_s", settings.session.takeover_timeout, std::chrono::seconds, 0, 60,
                 "Acceptor: when a connected peer from which nothing has arrived for this time logs on a second "
                 "time, it has as many to answer a TestRequest; unanswered, the second connection takes the session "
                 "over. 0: the second Logon is always refused."),
    NFX_TEXT("username", settings.session.username,
             "Username(553). An initiator sends it in Logon; an acceptor refuses a Logon with another one. Empty: not "
             "sent and "
             "not checked."),
    NFX_SECRET("password", settings.session.password,
               "Password(554). An initiator sends it in Logon; an acceptor refuses a Logon with another one. "
               "password_env keeps "
               "it out of the file."),
    NFX_TEXT(
        "password_env", password_env,
        "Name of the environment variable that holds the password, such as \"VENUE_PASSWORD\". Instead of password."),
    {"logon_fields", "text or list",
     [](SessionDraft& t, const Value& v) { t.settings.session.logon_fields = logon_fields(v); },
     [](const SessionDraft&) { return std::string{"[]"}; },
     "Further fields of our Logon, such as [\"1408=1.0\"]. For fields that a venue requires and no other key sets."},
    NFX_ENUM(
        "test_message_indicator", settings.session.environment,
        "TestMessageIndicator(464) in our Logon. \"test\" or \"production\": a peer whose Logon has the other one is "
        "refused, so that a test system never trades. \"none\": not sent and not checked."),
    NFX_FLAG(
        "answer_incomplete_logon", settings.session.answer_incomplete_logon,
        "Whether a Logon of an authenticated peer that lacks a required field is answered with a Logout whose Text "
        "names it. False closes the connection without an answer, as QuickFIX does when DefaultApplVerID(1137) is "
        "missing."),
    NFX_DURATION("logon_timeout_s", settings.session.logon_timeout, std::chrono::seconds, 1, day_s,
                 "Seconds that the peer has to answer our Logon before we disconnect."),
    NFX_DURATION("logout_timeout_s", settings.session.logout_timeout, std::chrono::seconds, 1, day_s,
                 "Seconds that the peer has to answer our Logout before we disconnect."),
    NFX_FLAG("reset_on_logon", settings.session.reset_on_logon,
             "Whether both sequence numbers are reset to 1 at every Logon. An initiator sends ResetSeqNumFlag(141)=Y. "
             "Messages "
             "missed while disconnected are then lost."),
    NFX_FLAG("reset_on_logout", settings.session.reset_on_logout,
             "Whether both sequence numbers are reset to 1 after a Logout. Both sides must agree."),
    NFX_FLAG("reset_on_disconnect", settings.session.reset_on_disconnect,
             "Whether both sequence numbers are reset to 1 whenever the connection ends. Both sides must agree."),
    NFX_FLAG("reset_on_error", settings.session.reset_on_error,
             "Whether both sequence numbers are reset to 1 after a session that ended because a side violated the "
             "protocol or "
             "stopped sending."),
    NFX_FLAG(
        "refresh_on_logon", settings.session.refresh_on_logon,
        "Whether sequence numbers are read from the store again before each Logon. It has no effect with a journal, "
        "which one process uses at a time."),
    NFX_FLAG("check_comp_id", settings.session.check_comp_id,
             "Whether a message with other CompIDs than the session's is rejected and the session logs out, as FIX "
             "requires. False for a peer "
             "that varies them."),
    NFX_FLAG(
        "check_latency", settings.session.check_latency,
        "Whether a message whose SendingTime(52) differs from our clock by more than max_latency_s is rejected and the "
        "session logs out."),
    NFX_DURATION("max_latency_s", settings.session.max_latency, std::chrono::seconds, 1, day_s,
                 "Largest difference in seconds between SendingTime(52) and our clock, with check_latency = true."),
    NFX_FLAG("verify_checksum", settings.session.verify_checksum,
             "Whether a resent message with a wrong CheckSum(10) is ignored, as FIX requires. False for a peer that "
             "resends with wrong ones: messages with PossDupFlag(43)=Y are then processed while they fill a gap, and "
             "counted in nfx_wrong_checksum_accepted_total. All others are always verified."),
    NFX_FLAG("require_orig_sending_time", settings.session.require_orig_sending_time,
             "Whether a message with PossDupFlag(43)=Y and no OrigSendingTime(122) is rejected. False for peers that "
             "omit it."),
    NFX_FLAG("send_next_expected_seq_num", settings.session.send_next_expected_seq_num,
             "Whether Logons carry NextExpectedMsgSeqNum(789), so that missed messages are sent without a "
             "ResendRequest. FIX "
             "4.4 and later; both sides must agree."),
    NFX_FLAG("send_last_msg_seq_num_processed", settings.session.send_last_msg_seq_num_processed,
             "Whether every message we send carries LastMsgSeqNumProcessed(369). True when the peer requires it."),
    NFX_FLAG(
        "closed_resend_requests", settings.session.closed_resend_requests,
        "Whether EndSeqNo(16) of our ResendRequests is the last missing sequence number. False sends 0, \"all that "
        "follow\". True for peers that do not accept 0."),
    NFX_FLAG(
        "send_redundant_resend_requests", settings.session.send_redundant_resend_requests,
        "Whether every message received ahead of a gap causes another ResendRequest. False sends one per gap. True for "
        "peers that ignore the first."),
    NFX_INTEGER(
        "resend_chunk_size", settings.session.resend_chunk_size, 0, 1000000,
        "Messages requested by one ResendRequest; the next follows when they have arrived. 0: the whole gap; 1 is "
        "treated as 2, because a request is a message too, and two sides that both miss messages would never end. Set "
        "it for peers that limit a resend, such as 2500."),
    NFX_DURATION("resend_timeout_s", settings.session.resend_timeout, std::chrono::seconds, 1, day_s,
                 "Seconds without progress after which a missing range is requested again."),
    NFX_INTEGER("max_resend_attempts", settings.session.max_resend_attempts, 1, 1000,
                "ResendRequests for the same gap without progress before the session logs out."),
    NFX_INTEGER(
        "max_same_resend_requests", settings.session.max_same_resend_requests, 1, 1000000,
        "ResendRequests of the peer from the same sequence number before the session logs out, because the peer is in "
        "a loop."),
    NFX_INTEGER("max_resent_messages", settings.session.max_resent_messages, 0, 1'000'000'000,
                "Most messages that a peer may request with one ResendRequest; one for more is rejected. 0: no limit."),
    NFX_INTEGER("resend_rate", settings.session.resend_rate, 0, 1'000'000'000,
                "Most messages resent per second. Live messages do not wait for them. 0: as fast as the peer reads."),
    NFX_INTEGER(
        "repeated_resend_rate", settings.session.repeated_resend_rate, 0, 1'000'000'000,
        "Bytes resent per second once the peer has had every stored byte resent twice, eight seconds' worth in one "
        "burst. Live messages do not wait for them. 0: no limit."),
    NFX_INTEGER(
        "max_invalid_rate", settings.session.max_invalid_rate, 0, 1'000'000,
        "Messages of the peer per second on average that are garbled or answered with Reject, ten times as many in one "
        "burst. Beyond that it is disconnected, and its address held off for hold_off_s. 0: no limit."),
    NFX_INTEGER(
        "max_resets_per_hour", settings.session.max_resets_per_hour, 0, 1'000'000,
        "Logons of the peer per hour that may reset both sequence numbers to 1, on average and in one burst. Further "
        "ones are answered with Logout, which shuts out a client that resets at every Logon and reconnects often. 0: "
        "no "
        "limit, as a reset costs one record, and a segment of the journal at most once per minute."),
    NFX_INTEGER("max_logon_rate", settings.max_logon_rate, 0, 1'000'000,
                "Acceptor: Logons of the session per second on average that are accepted, and ten times as many in one "
                "burst. The connection of a further one is closed without an answer. 0: no limit."),
    NFX_INTEGER("throttle_rate", settings.session.throttle_rate, 0, 1'000'000'000,
                "Application messages that the peer may send per second on average, valid or not. Heartbeats, "
                "TestRequests and Rejects have the same limit apart. throttle_action handles more. 0: no limit."),
    NFX_INTEGER("throttle_burst", settings.session.throttle_burst, 0, 1'000'000'000,
                "Application messages that the peer may send at the same moment after sending none; then throttle_rate "
                "applies. 0: as many as throttle_rate allows in a second."),
    NFX_ENUM("throttle_action", settings.session.throttle_action,
             "What happens to messages beyond throttle_rate. \"reject\": BusinessMessageReject; a TestRequest is not "
             "answered. \"delay\": the connection is not read until they are allowed. \"disconnect\": Logout."),
    NFX_ENUM(
        "too_large_message", settings.too_large_message,
        "What happens to a message of the peer beyond max_message_size or max_fields, or unreadable in every resend. "
        "\"skip\": it is reported and not delivered, and its sequence number counts as received. \"logout\": the same, "
        "and the session logs out and stays logged out until an operator's or the program's logon."),
    NFX_INTEGER(
        "max_queued_messages", settings.session.max_queued_messages, 1, 1000000,
        "Most messages stored that arrive ahead of a sequence gap. Further ones are dropped; the resend brings them "
        "again."),
    NFX_INTEGER("max_queued_bytes", settings.session.max_queued_bytes, 1024, gib,
                "Most bytes of messages stored that arrive ahead of a sequence gap."),
    NFX_INTEGER(
        "timestamp_digits", settings.session.timestamp_digits, 0, 9,
        "Digits of the second's fraction in SendingTime(52): 3 are milliseconds, 6 microseconds. FIX 4.0 and 4.1 have "
        "none."),
});

// Validation of received messages.
constexpr auto validation_rows = std::to_array<Key<SessionDraft>>({
    NFX_ENUM("validation", validation,
             "Strictest mode of all checks below. \"strict\": a fault is rejected. \"lenient\": the message is "
             "delivered with a "
             "report. \"off\": nothing is checked. validation_overrides has precedence."),
    NFX_ENUM(
        "unknown_fields", checks.unknown_fields,
        "Fields with tags below 5000 that the dictionary does not define: rejected, delivered with a report, or not "
        "checked."),
    NFX_ENUM(
        "user_defined_fields", checks.user_defined_fields,
        "Fields with tags from 5000 on that the dictionary does not allow in the message: rejected, delivered with a "
        "report, or not checked."),
    NFX_ENUM("fields_not_in_message", checks.fields_not_in_message,
             "Fields that the dictionary defines for other messages only: rejected, delivered with a report, or not "
             "checked."),
    NFX_ENUM("field_order", checks.field_order,
             "Fields of header, body and trailer out of order: rejected, delivered with a "
             "report, or not checked."),
    NFX_ENUM("values_present", checks.values_present,
             "Fields without a value, such as 58=: rejected, delivered with a report, or not checked."),
    NFX_ENUM("formats", checks.formats,
             "Values that do not match the field's type, such as letters in a price: rejected, delivered with a "
             "report, or not "
             "checked."),
    NFX_ENUM("enum_values", checks.enum_values,
             "Values that the dictionary does not list for the field: rejected, delivered with a "
             "report, or "
             "not checked."),
    NFX_ENUM("required_fields", checks.required_fields,
             "Missing fields that the dictionary requires: rejected, delivered with a report, or not checked."),
    NFX_ENUM(
        "group_counts", checks.group_counts,
        "Repeating groups with another number of entries than their count field: rejected, delivered with a report, or "
        "not checked."),
    NFX_ENUM("duplicate_fields", checks.duplicate_fields,
             "Tags that appear twice outside repeating groups: rejected, delivered with a report, or not checked."),
    NFX_ENUM("message_types", checks.message_types,
             "Message types that the dictionary does not define: rejected, delivered with a report, or not checked."),
    {"groups", "text",
     [](SessionDraft& t, const Value& v) {
       // The earlier name of this mode, when it was the only one that let entries begin with any member.
       if (v.text() == "first_field") {
         t.checks.groups = ValidationMode::off;
       } else {
         read_name(v, t.checks.groups);
       }
     },
     [](const SessionDraft& t) { return in_quotes(to_string(t.checks.groups)); },
     "Repeating groups whose members are in another order than the dictionary's, also entries that begin with another "
     "member than its first: rejected, delivered with a report, or not checked.",
     0, 0, [](const SessionDraft& t) { return choices_of(t.checks.groups); }},
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
     "Modes for single messages and fields, such as [\"8=lenient\"] for execution reports or [\"8/9730=off\"] for tag "
     "9730 in "
     "them."},
});

// When the session is open, and how it ends.
constexpr auto schedule_rows = std::to_array<Key<SessionDraft>>({
    NFX_DURATION(
        "reconnect_delay_ms", settings.reconnect_delay, std::chrono::milliseconds, 1, day_s * 1000,
        "Initiator: milliseconds before the first reconnect. The delay doubles with each failure and is shortened by "
        "up to half at random."),
    NFX_DURATION(
        "reconnect_delay_max_ms", settings.reconnect_delay_max, std::chrono::milliseconds, 1, day_s * 1000,
        "Initiator: longest delay in milliseconds between two attempts to connect. At least reconnect_delay_ms."),
    NFX_TEXT("start_time", schedule.start_time,
             "Time of day at which the session begins, with new sequence numbers, such as \"08:00:00\". Needs "
             "end_time. Empty: "
             "the session is always open."),
    NFX_TEXT("end_time", schedule.end_time,
             "Time of day at which the session ends and logs out, such as \"17:00:00\". A time before start_time is on "
             "the next "
             "day. Needs start_time."),
    NFX_TEXT(
        "start_day", schedule.start_day,
        "Day on which a weekly session begins at start_time, such as \"sunday\". Needs end_day. Empty: the session is "
        "daily."),
    NFX_TEXT("end_day", schedule.end_day,
             "Day on which a weekly session ends at end_time, such as \"friday\". Needs start_day."),
    NFX_LIST("weekdays", schedule.weekdays,
             "Days on which a daily session begins, such as [\"mon\", \"tue\"]. Empty: every day."),
    NFX_TEXT("logon_time", schedule.logon_time,
             "Earliest time of day for a Logon within the session, such as \"08:30:00\". Empty: start_time."),
    NFX_TEXT("logout_time", schedule.logout_time,
             "Time of day at which we log out within the session, such as \"16:30:00\". Sequence numbers continue at "
             "the next "
             "Logon. Empty: end_time."),
    NFX_TEXT(
        "logon_day", schedule.logon_day,
        "Weekly session: day from which Logons are allowed, at logon_time, such as \"monday\". Empty: every day, or "
        "start_day when logout_day is given."),
    NFX_TEXT(
        "logout_day", schedule.logout_day,
        "Weekly session: day on which we log out, at logout_time, such as \"friday\". Empty: every day, or end_day "
        "when logon_day is given."),
    NFX_TEXT("reset_time", schedule.reset_time,
             "Time of day at which sequence numbers are reset to 1 within an open session, such as \"17:00:00\". For "
             "sessions "
             "that run around the clock. Empty: no such reset."),
    NFX_TEXT("time_zone", schedule.time_zone,
             "Time zone of all times of the schedule: an IANA name such as \"America/New_York\", \"UTC\", or \"local\" "
             "for the "
             "host's."),
    NFX_TEXT("end_time_zone", schedule.end_time_zone,
             "Time zone of end_time and end_day, if it differs from start_time's. Not with logon_time, "
             "logout_time or reset_time. Empty: time_zone."),
    NFX_FLAG(
        "cancel_on_disconnect", settings.cancel_on_disconnect,
        "Whether Application::on_cancel is called when a session ends without Logout, so that the program cancels the "
        "peer's open orders."),
    NFX_FLAG("cancel_on_logout", settings.cancel_on_logout,
             "Whether Application::on_cancel is called after a Logout too, so that the program cancels the peer's open "
             "orders."),
    NFX_DURATION("cancel_delay_ms", settings.cancel_delay, std::chrono::milliseconds, 0, day_s * 1000,
                 "Milliseconds that a peer has to log on again before Application::on_cancel is called. 0: called "
                 "immediately."),
    NFX_INTEGER(
        "send_buffer_size", settings.send_buffer_size, 64 * 1024, gib,
        "Bytes of encoded messages that may wait for a peer that reads slowly. When it is full, slow_consumer decides. "
        "Half of it is the longest message sent."),
    NFX_ENUM("slow_consumer", settings.slow_consumer,
             "What happens to a peer whose send buffer is full. \"refuse\": send() returns would_block until the peer "
             "reads. "
             "\"disconnect\": also, the connection is closed after slow_consumer_timeout_ms."),
    NFX_DURATION(
        "slow_consumer_timeout_ms", settings.slow_consumer_timeout, std::chrono::milliseconds, 1, day_s * 1000,
        "Milliseconds without reading after which a peer is disconnected, with slow_consumer = \"disconnect\"."),
    NFX_DURATION(
        "unhandled_timeout_s", settings.unhandled_timeout, std::chrono::seconds, 0, day_s,
        "Seconds after which a session logs out whose message on_message does not handle (Handled::not_now). 0: "
        "never."),
});

#define NFX_STORE_HELP(name, type, help) "\"" #name "\": " help

// The session's store, and the poll thread that serves it.
constexpr auto store_rows = std::to_array<Key<SessionDraft>>({
    {"store", "text", [](SessionDraft& t, const Value& v) { t.settings.store_kind = named(v, StoreKind::memory); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "Where sent messages and sequence numbers are stored. " NFX_STORES(
         NFX_STORE_HELP) "Not set: journal with store_directory, in nfx serve and in nfx::run, otherwise memory.",
     0, 0, [](const SessionDraft&) { return enum_names(StoreKind::memory); }},
    NFX_PATH("store_directory", settings.journal.directory,
             "Folder of the journals, such as \"store\"; each session has a folder in it. Required with store = "
             "\"journal\"."),
    NFX_PATH(
        "store_ring_directory", settings.journal.ring_directory,
        "Folder of the journal's ring, the memory that holds what waits to be written. It must be a tmpfs, so that its "
        "pages are not written to a disk."),
    NFX_INTEGER("segment_size", settings.journal.segment_size, 64 * 1024, gib, "Size of a journal file in bytes."),
    NFX_INTEGER("ring_size", settings.journal.ring_size, 64 * 1024, gib,
                "Bytes of a session that may wait to be written to its journal, a power of two. Raise it when "
                "nfx_store_ring_full_total grows."),
    NFX_ENUM(
        "durability", settings.journal.durability,
        "When journals are synced to the disk. \"none\": when the journal is closed. \"interval\": every "
        "sync_interval_ms. "
        "\"group\": before messages are sent to the peer. \"message\": before send() returns, which stops its poll "
        "thread. \"replicated\": as interval, and [cluster] has messages before they are sent. \"async\": soon after."),
    NFX_TEXT(
        "replica_name", settings.replica_name,
        "Name of the session in [cluster], with durability \"replicated\" or \"async\". Empty: its CompIDs, such as "
        "\"DESK-VENUE\"."),
    NFX_DURATION(
        "sync_interval_ms", settings.journal.sync_interval, std::chrono::milliseconds, 1, 60'000,
        "Milliseconds between two syncs, with durability = \"interval\". A power failure or an operating system crash "
        "loses at most this much; a killed process loses nothing."),
    // One key for both kinds of store. Until it is set, each keeps its own default.
    {"retain_messages", "integer",
     [](SessionDraft& t, const Value& v) {
       t.settings.store.retain_messages = static_cast<std::size_t>(v.integer(0, max_retained));
       t.settings.journal.retain_messages = t.settings.store.retain_messages;
     },
     [](const SessionDraft& t) { return shown(t.settings.store.retain_messages); },
     "Sent messages stored for resends, counted back from the last. Not set: 65536 in memory, 1048576 in a journal. 0: "
     "none, "
     "a resend is answered with a gap fill.",
     0, max_retained},
    NFX_INTEGER("retain_bytes", settings.store.retain_bytes, 4096, gib,
                "store = \"memory\": most bytes of sent messages stored for resends. The oldest are removed."),
    NFX_INTEGER("store_retain_bytes", settings.journal.retain_bytes, 0, 1024 * gib * 1024,
                "store = \"journal\": most bytes of journal files of a session, archived ones included. The oldest are "
                "deleted. "
                "At least twice segment_size. 0: none are deleted."),
    NFX_DURATION(
        "store_retain_age_h", settings.journal.retain_age, std::chrono::hours, 0, 24 * 36500,
        "store = \"journal\": age in hours at which a journal file is deleted, such as 720 for 30 days. 0: none are "
        "deleted."),
    NFX_ENUM("store_archive", settings.journal.archive,
             "store = \"journal\": what happens to the files from before a reset of the sequence numbers. \"keep\": "
             "they are "
             "moved to archive/. \"remove\": they are deleted."),
    NFX_INTEGER("store_archive_bytes", settings.journal.archive_bytes, 0, 1024 * gib * 1024,
                "Most bytes of archived journal files of a session, each counted as at least 64 KiB. The oldest are "
                "deleted. 0: no limit."),
    NFX_DURATION(
        "store_archive_age_d", settings.journal.archive_age, std::chrono::days, 0, 36500,
        "Age in days at which an archived journal file is deleted. Raise it where the law requires records for "
        "longer. 0: none are deleted."),
    {"store_omit_types", "text or list",
     [](SessionDraft& t, const Value& v) { t.settings.session.store_omit_types = omitted_types(v.texts()); },
     [](const SessionDraft&) { return std::string{"[]"}; },
     "Types of messages that are not stored, such as [\"BE\"] for UserRequest, which carries a password. A resend "
     "has a gap fill in their place."},
    {"store_omit_fields", "text or list",
     [](SessionDraft& t, const Value& v) { t.settings.session.store_omit_fields = omitted_fields(v.texts()); },
     [](const SessionDraft&) { return std::string{"[]"}; },
     "Tags of fields such as [\"554\", \"925\"], Password and NewPassword: messages with one of them are not "
     "stored. A resend has a gap fill in their place."},
    NFX_FLAG(
        "store_received", settings.store_received,
        "store = \"journal\": whether the peer's messages are stored too, for an audit; with a replicated durability "
        "in [cluster] as well. Not those with a password, or that store_omit_types or store_omit_fields name. 'nfx "
        "store cat --received' shows them. A journal grows by as much as is received."),
    NFX_DURATION(
        "store_full_timeout_s", settings.journal.full_timeout, std::chrono::seconds, 0, day_s,
        "store = \"journal\": seconds that a session keeps its connection while its disk is full. Nothing is sent or "
        "read in that time. It continues when there is space, and logs out afterwards. 0: it logs out immediately."),
    NFX_SEQ_NUM(
        "next_inbound", settings.next_inbound,
        "MsgSeqNum expected in the peer's first message, if the store is empty. Set it when you continue a session "
        "and agreed on a number."),
    NFX_SEQ_NUM(
        "next_outbound", settings.next_outbound,
        "MsgSeqNum of our first message, if the store is empty. Set it when you continue a session and agreed on a "
        "number."),
    {"numbers_as_of", "text",
     [](SessionDraft& t, const Value& v) {
       const auto time = parse_utc_timestamp(v.text());
       if (!time) throw BadValue("expected a UTC time such as \"20260313-21:00:00\"");
       t.settings.numbers_as_of = time->time;
     },
     [](const SessionDraft&) { return std::string{"none"}; },
     "UTC time at which next_inbound and next_outbound were correct, such as \"20260313-21:00:00\". If the schedule "
     "has reset "
     "the session since then, both are 1. Not set: the start of the engine."},
    {"prefault", "boolean", [](SessionDraft& t, const Value& v) { t.settings.prefault = v.boolean(); },
     [](const SessionDraft&) { return std::string{"none"}; },
     "Whether the store's memory is mapped ahead of its use, so that no page fault delays a message. With store = "
     "\"memory\" all of it at start; a journal's index by the flusher, a part at each step by which the journal "
     "grows. Not set: true where the poll thread busy-polls."},
    NFX_INTEGER("flusher", settings.flusher, -1, 1023,
                "store = \"journal\": number of the flusher thread that writes the journal, from 0. -1: the one with "
                "the fewest "
                "journals. Set it to give each disk its own flusher."),
    NFX_INTEGER("poll_thread", settings.poll_thread, 0, 1023,
                "Number of the poll thread that serves the session, from 0, below [engine] poll_threads. Sessions with "
                "the same "
                "listen address need the same."),
});

constexpr auto session_table = joined(connection_rows, tls_rows(std::make_index_sequence<tls_option_rows.size()>{}),
                                      session_rows, validation_rows, schedule_rows, store_rows);
static_assert(rows_are_sound<SessionDraft>(session_table));

}  // namespace

std::span<const Key<SessionDraft>> session_keys() noexcept { return session_table; }

}  // namespace nfx::config
