#include "engine/config_keys.hpp"

#include <chrono>

namespace nfx::config {
namespace {

std::string in_quotes(std::string_view text) { return "\"" + std::string{text} + "\""; }
std::string shown(bool value) { return value ? "true" : "false"; }
template <class Int>
std::string shown(Int value) {
  return std::to_string(value);
}

constexpr std::int64_t day_s = 86400;
constexpr std::int64_t max_seq_num = 999'999'999'999;
constexpr std::int64_t gib = 1024 * 1024 * 1024;

// Rows for members that are plain integers, flags and durations.
#define NFX_INTEGER(name, member, least, most, meaning)                                                 \
  {name, "integer",                                                                                     \
   [](auto& t, const Value& v) { t.member = static_cast<decltype(t.member)>(v.integer(least, most)); }, \
   [](const auto& t) { return shown(t.member); }, meaning}
#define NFX_FLAG(name, member, meaning)                                      \
  {name, "boolean", [](auto& t, const Value& v) { t.member = v.boolean(); }, \
   [](const auto& t) { return shown(t.member); }, meaning}
#define NFX_DURATION(name, member, unit, least, most, meaning)                                \
  {name, "integer", [](auto& t, const Value& v) { t.member = unit{v.integer(least, most)}; }, \
   [](const auto& t) { return shown(std::chrono::duration_cast<unit>(t.member).count()); }, meaning}
#define NFX_SEQ_NUM(name, member, meaning)                                                                    \
  {name, "integer",                                                                                           \
   [](auto& t, const Value& v) { t.member = SeqNum{static_cast<std::uint64_t>(v.integer(1, max_seq_num))}; }, \
   [](const auto& t) { return shown(nfx::value(t.member)); }, meaning}
#define NFX_TEXT(name, member, meaning)                                \
  {name, "text", [](auto& t, const Value& v) { t.member = v.text(); }, \
   [](const auto& t) { return in_quotes(t.member); }, meaning}

const Key<EngineConfig> engine_table[] = {
    NFX_INTEGER("poll_threads", poll_threads, 1, 1024, "threads that serve sessions"),
    {"idle", "text",
     [](EngineConfig& t, const Value& v) {
       const auto mode = parse_idle_mode(v.text());
       if (!mode) throw BadValue("expected \"spin\", \"yield\" or \"block\"");
       t.idle = *mode;
     },
     [](const EngineConfig& t) { return in_quotes(to_string(t.idle)); },
     "what a poll thread does when nothing happens"},
    NFX_INTEGER("max_message_size", max_message_size, 512, 8 * 1024 * 1024,
                "bytes; a longer message ends its connection"),
    NFX_INTEGER("max_fields", max_fields, 16, 32768, "fields per message; one with more is ignored as garbled"),
    NFX_INTEGER("max_pending_logons", max_pending_logons, 1, 65536,
                "connections that have not logged on; more are closed"),
    NFX_DURATION("pending_logon_timeout_ms", pending_logon_timeout, std::chrono::milliseconds, 10, day_s * 1000,
                 "time a connection has to send its Logon"),
    NFX_INTEGER("pending_logon_bytes", pending_logon_bytes, 256, 1024 * 1024, "the longest Logon accepted"),
};

const Key<SessionDraft> session_table[] = {
    {"role", "text",
     [](SessionDraft& t, const Value& v) {
       const std::string text = v.text();
       if (text != "acceptor" && text != "initiator") throw BadValue("expected \"acceptor\" or \"initiator\"");
       t.settings.session.role = text == "acceptor" ? Role::acceptor : Role::initiator;
     },
     [](const SessionDraft& t) { return in_quotes(to_string(t.settings.session.role)); },
     "who connects: the initiator does"},
    NFX_TEXT("begin_string", settings.session.begin_string, "FIX.4.0 to FIX.4.4"),
    NFX_TEXT("sender_comp_id", settings.session.sender_comp_id, "our CompID"),
    NFX_TEXT("target_comp_id", settings.session.target_comp_id, "the peer's CompID"),
    {"listen", "host:port", [](SessionDraft& t, const Value& v) { t.settings.listen = v.endpoint(); },
     [](const SessionDraft&) { return std::string{"none"}; }, "acceptor: address to listen on; sessions may share it"},
    {"connect", "host:port or list", [](SessionDraft& t, const Value& v) { t.settings.connect = v.endpoints(); },
     [](const SessionDraft&) { return std::string{"none"}; }, "initiator: addresses, tried in turn"},
    NFX_TEXT("dictionary", dictionary, "XML file, \"none\", or \"\" for the shipped one of begin_string"),
    NFX_DURATION("heartbeat_interval_s", settings.session.heartbeat_interval, std::chrono::seconds, 0, day_s,
                 "HeartBtInt an initiator asks for; 0: no heartbeats"),
    NFX_DURATION("max_heartbeat_interval_s", settings.session.max_heartbeat_interval, std::chrono::seconds, 1, day_s,
                 "a Logon that asks for more is refused"),
    NFX_DURATION("logon_timeout_s", settings.session.logon_timeout, std::chrono::seconds, 1, day_s,
                 "time the peer has to answer Logon"),
    NFX_DURATION("logout_timeout_s", settings.session.logout_timeout, std::chrono::seconds, 1, day_s,
                 "time the peer has to answer Logout"),
    NFX_FLAG("reset_on_logon", settings.session.reset_on_logon, "sequence numbers start at 1 with every Logon"),
    NFX_FLAG("reset_on_logout", settings.session.reset_on_logout, "sequence numbers start at 1 after a Logout"),
    NFX_FLAG("reset_on_disconnect", settings.session.reset_on_disconnect,
             "sequence numbers start at 1 after a disconnect"),
    NFX_FLAG("check_latency", settings.session.check_latency, "SendingTime must be near our clock"),
    NFX_DURATION("max_latency_s", settings.session.max_latency, std::chrono::seconds, 1, day_s, "how near"),
    NFX_FLAG("require_orig_sending_time", settings.session.require_orig_sending_time,
             "PossDupFlag=Y needs OrigSendingTime"),
    NFX_FLAG("send_next_expected_seq_num", settings.session.send_next_expected_seq_num,
             "use NextExpectedMsgSeqNum(789) in Logon"),
    NFX_INTEGER("resend_chunk_size", settings.session.resend_chunk_size, 0, 1000000,
                "messages per ResendRequest; 0: all at once"),
    NFX_DURATION("resend_timeout_s", settings.session.resend_timeout, std::chrono::seconds, 1, day_s,
                 "a gap without progress is requested again after so long"),
    NFX_INTEGER("max_resend_attempts", settings.session.max_resend_attempts, 1, 1000,
                "requests without progress before Logout"),
    NFX_INTEGER("max_queued_messages", settings.session.max_queued_messages, 1, 1000000,
                "messages kept ahead of a gap"),
    NFX_INTEGER("max_queued_bytes", settings.session.max_queued_bytes, 1024, gib, "and their bytes"),
    NFX_INTEGER("timestamp_digits", settings.session.timestamp_digits, 0, 9, "fraction digits of SendingTime"),
    NFX_FLAG("reject_unknown_fields", settings.session.validation.reject_unknown_fields,
             "tags the dictionary does not have"),
    NFX_FLAG("reject_user_defined_fields", settings.session.validation.reject_user_defined_fields,
             "tags from 5000 not in the message"),
    NFX_FLAG("reject_fields_not_in_message", settings.session.validation.reject_fields_not_in_message,
             "known tags of other messages"),
    NFX_FLAG("check_field_order", settings.session.validation.check_field_order,
             "header, body, trailer; members of groups"),
    NFX_FLAG("check_values_present", settings.session.validation.check_values_present, "empty values are rejected"),
    NFX_FLAG("check_formats", settings.session.validation.check_formats, "values must be of their type"),
    NFX_FLAG("check_enum_values", settings.session.validation.check_enum_values,
             "values must be listed, where a list exists"),
    NFX_FLAG("check_required_fields", settings.session.validation.check_required_fields,
             "required fields must be there"),
    NFX_FLAG("check_group_counts", settings.session.validation.check_group_counts, "NumInGroup must equal the entries"),
    NFX_DURATION("reconnect_delay_ms", settings.reconnect_delay, std::chrono::milliseconds, 1, day_s * 1000,
                 "initiator: before the first new try; doubles each time"),
    NFX_DURATION("reconnect_delay_max_ms", settings.reconnect_delay_max, std::chrono::milliseconds, 1, day_s * 1000,
                 "and never exceeds this"),
    NFX_INTEGER("send_buffer_size", settings.send_buffer_size, 64 * 1024, gib,
                "bytes queued for a slow peer before sends are refused"),
    NFX_INTEGER("retain_messages", settings.store.retain_messages, 0, 16 * 1024 * 1024,
                "sent messages kept for resends"),
    NFX_INTEGER("retain_bytes", settings.store.retain_bytes, 4096, gib, "and their bytes"),
    NFX_SEQ_NUM("next_inbound", settings.next_inbound, "the number expected first, when not 1 was agreed"),
    NFX_SEQ_NUM("next_outbound", settings.next_outbound, "the number sent first, when not 1 was agreed"),
    NFX_FLAG("prefault", settings.prefault, "touch all memory of the store at start: no page fault later"),
    NFX_INTEGER("poll_thread", settings.poll_thread, 0, 1023, "which poll thread serves the session"),
};

#undef NFX_SEQ_NUM
#undef NFX_INTEGER
#undef NFX_FLAG
#undef NFX_DURATION
#undef NFX_TEXT

}  // namespace

std::string Value::text() const {
  if (const auto* value = node_->as_string()) return value->get();
  throw BadValue("expected a text in quotes");
}

bool Value::boolean() const {
  if (const auto* value = node_->as_boolean()) return value->get();
  throw BadValue("expected true or false");
}

std::int64_t Value::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = node_->as_integer();
  if (value != nullptr && value->get() >= least && value->get() <= most) return value->get();
  throw BadValue("expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
}

Endpoint Value::endpoint() const {
  if (const auto* value = node_->as_string()) {
    if (auto endpoint = Endpoint::parse(value->get())) return *std::move(endpoint);
  }
  throw BadValue("expected an address such as \"127.0.0.1:9878\" or \"[::1]:9878\"");
}

std::vector<Endpoint> Value::endpoints() const {
  const auto* list = node_->as_array();
  if (list == nullptr) return {endpoint()};
  std::vector<Endpoint> result;
  for (const toml::node& each : *list) result.push_back(Value{each}.endpoint());
  if (result.empty()) throw BadValue("expected at least one address");
  return result;
}

std::span<const Key<EngineConfig>> engine_keys() noexcept { return engine_table; }
std::span<const Key<SessionDraft>> session_keys() noexcept { return session_table; }

}  // namespace nfx::config
