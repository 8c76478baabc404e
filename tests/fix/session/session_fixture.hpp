// A SessionRig and the peer's side of the conversation, written as "35=D|34=2|11=x|".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/wire/encoder.hpp"
#include "session/session_rig.hpp"

namespace nfx::test {

// These settings, with names.
inline SessionConfig acceptor_config(SessionConfig config = {}) {
  if (config.sender_comp_id.empty()) config.sender_comp_id = "US";
  if (config.target_comp_id.empty()) config.target_comp_id = "PEER";
  return config;
}
inline SessionConfig acceptor_config(std::string_view begin_string) {
  return acceptor_config({.begin_string = std::string{begin_string}});
}

// A peer may log on with HeartBtInt 0, and then gets no TestRequest.
inline SessionConfig quiet_config(SessionConfig config = {}) {
  config.allow_no_heartbeats = true;
  config.idle_test_interval = std::chrono::seconds{0};
  return acceptor_config(std::move(config));
}

inline SessionConfig initiator_config(SessionConfig config = {}) {
  config.role = Role::initiator;
  return acceptor_config(std::move(config));
}

// A message of the peer: 49, 52 and 56 follow 34, the rest as given.
inline std::string peer_message(const SessionRig& rig, std::string_view text) {
  std::string fields{text};
  std::ranges::replace(fields, '|', '\x01');
  const std::size_t type_end = fields.find('\x01');
  const std::string type = fields.substr(3, type_end - 3);
  std::size_t front = type_end + 1;
  if (fields.compare(front, 3, "34=") == 0) front = fields.find('\x01', front) + 1;
  std::vector<char> buffer(fields.size() + 256);
  Encoder encoder{buffer};
  encoder.begin(rig.session.config().begin_string, type);
  encoder.fields()
      .append_raw(std::string_view{fields}.substr(type_end + 1, front - type_end - 1))
      .append(Tag::SenderCompID, rig.session.config().target_comp_id)
      .append(Tag::SendingTime, rig.now.utc)
      .append(Tag::TargetCompID, rig.session.config().sender_comp_id)
      .append_raw(std::string_view{fields}.substr(front));
  return std::string{encoder.finish()};
}

inline void say(SessionRig& rig, std::string_view text) { rig.receive(peer_message(rig, text)); }

// An acceptor that has answered the peer's Logon.
inline void log_on_acceptor(SessionRig& rig, int heartbeat = 30) {
  rig.connect();
  say(rig,
      "35=A|34=" + std::to_string(value(rig.session.next_inbound())) + "|98=0|108=" + std::to_string(heartbeat) + "|");
  ASSERT_TRUE(rig.session.logged_on());
  rig.sent.clear();
}

inline SessionRig logged_on(SessionConfig config = {}, int heartbeat = 30) {
  SessionRig rig{acceptor_config(std::move(config))};
  log_on_acceptor(rig, heartbeat);
  return rig;
}

// An initiator whose Logon has been answered.
inline void log_on_initiator(SessionRig& rig) {
  rig.connect();
  say(rig, "35=A|34=" + std::to_string(value(rig.session.next_inbound())) +
               "|98=0|108=" + std::to_string(rig.session.heartbeat_interval().count()) + "|");
  ASSERT_TRUE(rig.session.logged_on());
  rig.sent.clear();
}

inline std::string original_time(const SessionRig& rig) {
  char text[max_utc_timestamp_size];
  return "122=" + std::string(text, write_utc_timestamp(text, rig.now.utc, 3)) + "|";
}

}  // namespace nfx::test
