// Checks a Logon's sender and terms before anything of a session changes; secrets are compared in constant time.
#include "nexusfix/session/logon_check.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

// Every byte is compared, even after a difference, so that the time taken reveals nothing about the secret.
bool credentials_acceptable(const SessionConfig& config, const MessageView& message) noexcept {
  if (config.role == Role::initiator) return true;
  const auto same = [&](Tag tag, std::string_view wanted) {
    if (wanted.empty()) return true;
    const std::string_view given = message.get_view(tag);
    unsigned difference = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
      difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i % wanted.size()]);
    }
    return difference == 0;
  };
  const bool user = same(Tag::Username, config.username);
  const bool password = same(Tag::Password, config.password);
  return user && password;
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
  const auto seq = message.get_seq_num(Tag::MsgSeqNum);
  if (!seq || *seq >= Session::seq_num_limit)
    return {LogonRefusalReason::malformed, "Logon without a usable MsgSeqNum"};
  scratch.clear();
  if (config.dictionary != nullptr && !config.validation.is_off() &&
      validate(message, *config.dictionary, config.validation, scratch)) {
    return {LogonRefusalReason::malformed, "Logon does not conform to the dictionary"};
  }
  const auto sending_time = message.get_utc_timestamp(Tag::SendingTime);
  if (!sending_time) return {LogonRefusalReason::sending_time, "Logon with a SendingTime(52) missing or malformed"};
  if (!within_latency(config, sending_time->time, now))
    return {LogonRefusalReason::sending_time, clock_text(config, sending_time->time, now, room)};
  if (session_rules(config.begin_string) == SessionRules::fixt11 && !message.has(Tag::DefaultApplVerID)) {
    return {LogonRefusalReason::malformed, "Logon without DefaultApplVerID(1137)"};
  }
  // Before anything is reset or counted: an unauthenticated peer must not change the session.
  if (!credentials_acceptable(config, message))
    return {LogonRefusalReason::credentials, "Logon with a wrong Username(553) or Password(554)"};
  return {};
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

LogonFault logon_terms_fault(const SessionConfig& config, const MessageView& message) noexcept {
  const auto refuse = [](std::string_view text, LogonRefusalReason reason = LogonRefusalReason::terms) {
    return LogonFault{reason, text, true};
  };
  if (message.has(Tag::EncryptMethod) && message.get_view(Tag::EncryptMethod) != "0") {
    return refuse("EncryptMethod not supported: only 0 (none)");
  }
  if (config.environment != Environment::unspecified) {
    const bool peer_tests = message.get_view(Tag::TestMessageIndicator) == "Y";
    if (peer_tests != (config.environment == Environment::test)) {
      return refuse(peer_tests ? "TestMessageIndicator=Y, but this is a production session"
                               : "this is a test session: TestMessageIndicator must be Y");
    }
  }
  const auto interval = message.get_int(Tag::HeartBtInt);
  if (!interval) return {LogonRefusalReason::malformed, "Logon without a valid HeartBtInt"};
  if (*interval < 0) return refuse("HeartBtInt must not be negative");
  if (*interval == 0 && !may_have_no_heartbeats(config)) return refuse("HeartBtInt must not be 0 here");
  if (*interval > config.max_heartbeat_interval.count()) return refuse("HeartBtInt is longer than allowed here");
  if (message.get_view(Tag::ResetSeqNumFlag) == "Y" && message.get_seq_num(Tag::MsgSeqNum) != first_seq_num) {
    return refuse("ResetSeqNumFlag=Y needs MsgSeqNum 1", LogonRefusalReason::sequence_number);
  }
  return {};
}

}  // namespace nfx
