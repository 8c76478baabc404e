// Checks a Logon's sender and terms before anything of a session changes; secrets are compared in constant time.
#include "session/logon_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/secret_fields.hpp"

namespace nfx {
namespace {

// Both are compared even where the first is wrong, so that the time taken does not say which of them is.
bool credentials_acceptable(const SessionConfig& config, const MessageView& message) noexcept {
  if (config.role == Role::initiator) return true;
  const bool user = config.username.empty() || same_bytes(message.get_view(Tag::Username), config.username);
  const bool password = config.password.empty() || config.password.matches(message.get_view(Tag::Password));
  return user && password;
}

// The fields that are looked at without a dictionary too.
std::string_view name_of(const SessionConfig& config, Tag tag) noexcept {
  const FieldDef* const field = config.dictionary == nullptr ? nullptr : config.dictionary->find_field(tag);
  if (field != nullptr) return field->name;
  static constexpr std::pair<Tag, std::string_view> names[] = {
      {Tag::MsgSeqNum, "MsgSeqNum"},
      {Tag::SendingTime, "SendingTime"},
      {Tag::EncryptMethod, "EncryptMethod"},
      {Tag::HeartBtInt, "HeartBtInt"},
      {Tag::TestMessageIndicator, "TestMessageIndicator"},
      {Tag::DefaultApplVerID, "DefaultApplVerID"},
  };
  const auto* const found = std::ranges::find(names, tag, &std::pair<Tag, std::string_view>::first);
  return found == std::end(names) ? std::string_view{} : found->second;
}

// "HeartBtInt(108)=abc: Incorrect data format for value", as far as there is room.
std::string_view field_text(const SessionConfig& config, const MessageView& message, Tag tag,
                            std::initializer_list<std::string_view> fault, std::span<char> room) noexcept {
  constexpr std::size_t longest_name = 32, longest_value = 48;
  char* at = room.data();
  const auto put = [&](std::string_view text, std::size_t longest) {
    text = text.substr(0, std::min(longest, static_cast<std::size_t>(room.data() + room.size() - at)));
    at = std::ranges::transform(text, at, [](char c) { return c >= ' ' && c <= '~' ? c : '?'; }).out;
  };
  const std::string_view name = name_of(config, tag);
  std::array<char, 16> number;
  const char* const end = std::to_chars(number.data(), number.data() + number.size(), value(tag)).ptr;
  put(name, longest_name);
  if (!name.empty()) put("(", 1);
  put({number.data(), end}, number.size());
  if (!name.empty()) put(")", 1);
  if (const std::uint32_t index = message.find(tag); index != MessageView::npos) {
    const std::string_view given = message.value_at(index);
    put("=", 1);
    put(is_secret(tag) ? std::string_view{masked_text} : given, longest_value);
    if (!is_secret(tag) && given.size() > longest_value) put("...", 3);
  }
  put(": ", 2);
  for (const std::string_view part : fault) put(part, room.size());
  return {room.data(), static_cast<std::size_t>(at - room.data())};
}

// An acceptor that uses an interval of its own may ignore the peer's; an initiator gets the one that it proposed.
bool may_have_no_heartbeats(const SessionConfig& config) noexcept {
  if (config.allow_no_heartbeats) return true;
  return config.role == Role::acceptor ? config.heartbeat_override.count() != 0
                                       : config.heartbeat_interval.count() == 0;
}

}  // namespace

LogonFault logon_sender_fault(const SessionConfig& config, const MessageView& message, Instant now,
                              ValidationReport& scratch, std::span<char> room) noexcept {
  if (message.begin_string() != config.begin_string)
    return {LogonRefusalReason::unknown_session, "Logon with another BeginString"};
  if (message.get_view(Tag::SenderCompID) != config.target_comp_id ||
      message.get_view(Tag::TargetCompID) != config.sender_comp_id) {
    return {LogonRefusalReason::unknown_session, "Logon with unknown CompIDs"};
  }
  // An answer consumes one of our sequence numbers, which only an authenticated peer may cause.
  const auto malformed = [&](Tag tag, std::string_view fault, std::string_view remedy, LogonRefusalReason reason) {
    const bool wanted = message.has(tag) || config.answer_incomplete_logon;
    const bool answered = wanted && credentials_acceptable(config, message);
    return LogonFault{reason, field_text(config, message, tag, {fault, ": ", remedy}, room), answered};
  };
  const auto unusable = [&](Tag tag, std::string_view fault, LogonRefusalReason reason) {
    if (message.has(tag)) return malformed(tag, fault, "correct it", reason);
    return malformed(tag, to_text(SessionRejectReason::required_tag_missing), "send it", reason);
  };
  const auto seq = message.get_seq_num(Tag::MsgSeqNum);
  if (!seq || *seq >= Session::seq_num_limit)
    return unusable(Tag::MsgSeqNum, "not a usable sequence number", LogonRefusalReason::malformed);
  scratch.clear();
  const bool defined = config.dictionary != nullptr && config.dictionary->find_message(msg_type::logon) != nullptr;
  if (defined && !config.validation.is_off()) {
    if (const auto found = validate(message, *config.dictionary, config.validation, scratch))
      return malformed(found->tag, to_text(found->reason), "correct the Logon, or the session's dictionary",
                       LogonRefusalReason::malformed);
  }
  const auto sending_time = message.get_utc_timestamp(Tag::SendingTime);
  if (!sending_time) return unusable(Tag::SendingTime, "not a time", LogonRefusalReason::sending_time);
  if (!within_latency(config, sending_time->time, now))
    return {LogonRefusalReason::sending_time, clock_text(config, sending_time->time, now, room)};
  if (session_rules(config.begin_string) == SessionRules::fixt11 && !message.has(Tag::DefaultApplVerID)) {
    return unusable(Tag::DefaultApplVerID, {}, LogonRefusalReason::malformed);
  }
  // Before anything is reset or counted: an unauthenticated peer must not change the session.
  if (!credentials_acceptable(config, message))
    return {LogonRefusalReason::credentials, "Logon with a wrong Username(553) or Password(554)"};
  return {};
}

LogonRefusalReason refusal_of(WireError error) noexcept {
  switch (error) {
    case WireError::bad_tag:
    case WireError::bad_data_length: return LogonRefusalReason::malformed;
    case WireError::too_many_fields:
    case WireError::too_large: return LogonRefusalReason::too_long;
    case WireError::none:
    case WireError::truncated:
    case WireError::header_order:
    case WireError::bad_body_length:
    case WireError::body_length_mismatch:
    case WireError::bad_check_sum:
    case WireError::check_sum_mismatch:
    case WireError::not_fix: break;
  }
  return LogonRefusalReason::not_fix;
}

std::string_view clock_text(const SessionConfig& config, UtcTime sending_time, Instant now,
                            std::span<char> room) noexcept {
  NFX_ASSERT(room.size() >= clock_text_size);
  char* at = room.data();
  const auto put = [&at](std::string_view text) { at = std::ranges::copy(text, at).out; };
  const auto put_seconds = [&](std::chrono::seconds seconds) {
    at = std::to_chars(at, room.data() + room.size(), seconds.count()).ptr;
  };
  // Each is rounded before they are subtracted: the difference of nanoseconds may overflow.
  const auto theirs = std::chrono::floor<std::chrono::seconds>(sending_time);
  const auto ours = std::chrono::floor<std::chrono::seconds>(now.utc);
  put("SendingTime(52) is ");
  put_seconds(std::max(theirs, ours) - std::min(theirs, ours));
  put(theirs < ours ? " s earlier than our clock" : " s later than our clock");
  put(", and max_latency_s allows ");
  put_seconds(std::chrono::duration_cast<std::chrono::seconds>(config.max_latency));
  put(": synchronise both clocks with NTP or PTP");
  const auto size = static_cast<std::size_t>(at - room.data());
  NFX_ASSERT(size <= clock_text_size);  // two numbers of eleven digits at most
  return {room.data(), size};
}

LogonFault logon_terms_fault(const SessionConfig& config, const MessageView& message, std::span<char> room) noexcept {
  const auto refuse = [&](Tag tag, std::initializer_list<std::string_view> fault,
                          LogonRefusalReason reason = LogonRefusalReason::terms) {
    return LogonFault{reason, field_text(config, message, tag, fault, room), true};
  };
  if (message.has(Tag::EncryptMethod) && message.get_view(Tag::EncryptMethod) != "0")
    return refuse(Tag::EncryptMethod, {"only 0 (none) is supported"});
  if (config.environment != Environment::unspecified) {
    const bool peer_tests = message.get_view(Tag::TestMessageIndicator) == "Y";
    if (peer_tests != (config.environment == Environment::test)) {
      return refuse(Tag::TestMessageIndicator,
                    {peer_tests ? "this is a production session: send N" : "this is a test session: send Y"});
    }
  }
  const auto interval = message.get_int(Tag::HeartBtInt);
  if (!interval) {
    const bool there = message.has(Tag::HeartBtInt);
    LogonFault fault =
        refuse(Tag::HeartBtInt, {there ? "not a number of seconds: correct it" : "Required tag missing: send it"},
               LogonRefusalReason::malformed);
    fault.answered = there || config.answer_incomplete_logon;
    return fault;
  }
  if (*interval < 0) return refuse(Tag::HeartBtInt, {"must not be negative"});
  if (*interval == 0 && !may_have_no_heartbeats(config))
    return refuse(Tag::HeartBtInt, {"must be above 0, as allow_no_heartbeats is not set here"});
  if (*interval > config.max_heartbeat_interval.count()) {
    std::array<char, 24> most;
    const char* const end =
        std::to_chars(most.data(), most.data() + most.size(), config.max_heartbeat_interval.count()).ptr;
    return refuse(Tag::HeartBtInt, {"max_heartbeat_interval_s here is ", {most.data(), end}});
  }
  if (message.get_view(Tag::ResetSeqNumFlag) == "Y" && message.get_seq_num(Tag::MsgSeqNum) != first_seq_num) {
    return refuse(Tag::MsgSeqNum, {"ResetSeqNumFlag(141)=Y needs 1"}, LogonRefusalReason::sequence_number);
  }
  return {};
}

}  // namespace nfx
