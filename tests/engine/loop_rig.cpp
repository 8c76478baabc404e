// The bodies of the rig, compiled once.
#include "engine/loop_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::test {

Instant engine_test_start() {
  return {UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + 12h}, MonotonicTime{100h}};
}

std::string field(int tag, std::string_view value) { return std::to_string(tag) + "=" + std::string{value} + soh; }
std::string order(std::size_t number) { return field(11, std::to_string(number)); }

RecordingApplication::RecordingApplication() = default;
RecordingApplication::~RecordingApplication() = default;

RecordingApplication::Session& RecordingApplication::at(std::size_t id) { return sessions_[id]; }
std::size_t RecordingApplication::count(Notice notice, std::size_t id) {
  return static_cast<std::size_t>(std::ranges::count(at(id).notices, notice));
}

void RecordingApplication::on_logon(SessionHandle& session) {
  ++at(session.id()).logons;
  at(session.id()).handle = &session;
  if (when_logged_on) when_logged_on(session);
}
void RecordingApplication::on_message(SessionHandle& session, const MessageView& message) {
  at(session.id()).orders.emplace_back(message.get_view(Tag::ClOrdID));
  if (message.get_view(Tag::PossDupFlag) == "Y")
    at(session.id()).duplicates.emplace_back(message.get_view(Tag::ClOrdID));
  if (when_message) when_message(session, message);
}
void RecordingApplication::on_session_message(SessionHandle& session, const MessageView& message) {
  if (when_session_message) when_session_message(session, message);
}
void RecordingApplication::on_session_message_sending(SessionHandle& session, SessionMessage& message) {
  if (when_sending) when_sending(session, message);
}
void RecordingApplication::on_reject(SessionHandle& session, const MessageView&) { ++at(session.id()).rejects; }
void RecordingApplication::on_logout(SessionHandle& session, std::string_view reason) {
  at(session.id()).logouts.emplace_back(reason);
  if (when_logged_out) when_logged_out(session);
}
bool RecordingApplication::on_logon_request(const LogonRequest& request) {
  return !when_logon_requested || when_logon_requested(request);
}
void RecordingApplication::on_logon_refused(const LogonRefusal& refusal) {
  refusals.push_back({.reason = refusal.reason,
                      .peer = std::string{refusal.peer},
                      .names = std::string{refusal.begin_string} + ' ' + std::string{refusal.sender_comp_id} + ' ' +
                               std::string{refusal.target_comp_id},
                      .text = std::string{refusal.text},
                      .count = refusal.count,
                      .has_session = refusal.session != nullptr,
                      .time = refusal.time});
}
void RecordingApplication::on_added(SessionHandle& session) { added.push_back(session.id()); }
void RecordingApplication::on_removed(SessionHandle& session) {
  removed.push_back(session.id());
  at(session.id()).handle = nullptr;
}
void RecordingApplication::on_cancel(SessionHandle& session, std::string_view reason) {
  at(session.id()).cancels.emplace_back(reason);
}
void RecordingApplication::on_violations(SessionHandle& session, const MessageView&, const ValidationReport& report) {
  for (const Violation& each : report.violations()) at(session.id()).violations.push_back(each);
}
void RecordingApplication::on_store_alert(std::string_view text) { store_alerts.emplace_back(text); }
bool RecordingApplication::on_resend(SessionHandle& session, const MessageView& message) {
  return !when_resent || when_resent(session, message);
}
void RecordingApplication::on_traffic(SessionHandle& session, Direction direction, std::string_view message) {
  if (direction == Direction::out) at(session.id()).traffic_out.emplace_back(message);
  if (when_traffic) when_traffic(session, direction);
}
void RecordingApplication::on_notice(SessionHandle& session, Notice notice, SeqNum, std::string_view text) {
  at(session.id()).notices.push_back(notice);
  at(session.id()).notice_texts.emplace_back(text);
}
Duration RecordingApplication::on_turn(Instant) {
  if (when_turn) when_turn();
  return Duration::max();
}

SessionSettings acceptor(std::string peer, std::uint16_t port) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {"venue", port};
  return settings;
}

SessionSettings initiator(std::string name, std::uint16_t port) {
  SessionSettings settings;
  settings.session.role = Role::initiator;
  settings.session.sender_comp_id = std::move(name);
  settings.session.target_comp_id = "VENUE";
  settings.connect = {{"venue", port}};
  return settings;
}

LoopSide::LoopSide(LoopbackNetwork& network, ManualClock& clock, LoopbackOptions options)
    : transport(network, options), clock_(clock) {}
LoopSide::~LoopSide() = default;

void LoopSide::start() {
  check_config(config);
  loop.emplace(config, 0, transport, clock_, application);
  loop->start();
}

LoopRig::LoopRig(LoopbackOptions options) : venue(network, clock, options), trader(network, clock, options) {}
LoopRig::~LoopRig() = default;

void LoopRig::turn(int times) {
  for (int i = 0; i < times; ++i) {
    if (venue.loop) venue.loop->turn(0ns);
    if (trader.loop) trader.loop->turn(0ns);
  }
}

void LoopRig::pass(Duration time, Duration step) {
  for (Duration gone{}; gone < time; gone += step) {
    clock.advance(std::min(step, time - gone));
    turn();
  }
}

void LoopRig::start_both() {
  venue.start();
  trader.start();
  turn(4);
}

namespace {

SessionConfig config_of(std::string name, std::string venue) {
  SessionConfig config;
  config.sender_comp_id = std::move(name);
  config.target_comp_id = std::move(venue);
  return config;
}

}  // namespace

RawPeer::RawPeer(LoopbackNetwork& network, const ManualClock& clock, std::string name, LoopbackOptions options,
                 std::string venue)
    : transport_(network, options),
      clock_(clock),
      config_(config_of(std::move(name), std::move(venue))),
      composer_(config_) {}

void RawPeer::connect(std::uint16_t port, std::string from) {
  closed = false;
  received.clear();
  SocketOptions options;
  if (!from.empty()) options.from = {std::move(from), 4711};
  id_ = *transport_.connect({"venue", port}, options);
  read();
}

std::string RawPeer::message(std::string_view type, std::string_view body, std::uint64_t number) {
  std::string out(64 + body.size() + 256, '\0');
  out.resize(*composer_.compose({.msg_type = type, .seq = SeqNum{number}, .body = body}, clock_.now().utc, out));
  return out;
}
std::string RawPeer::next(std::string_view type, std::string_view body) { return message(type, body, seq++); }
std::string RawPeer::garbled(std::string_view type, std::string_view body) {
  return with_wrong_checksum(message(type, body, 99));
}
std::string RawPeer::logon(std::string_view more) {
  return next(msg_type::logon, field(98, "0") + field(108, "30") + std::string{more});
}

std::size_t RawPeer::send(std::string_view bytes) { return transport_.try_send(id_, bytes).sent; }
void RawPeer::read() { transport_.poll(*this, 0ns); }
void RawPeer::close() { transport_.close(id_); }

std::vector<std::string> RawPeer::messages() const {
  std::vector<std::string> result;
  std::string_view rest = received;
  while (!rest.empty()) {
    const Frame frame = next_frame(rest, 1 << 20);
    if (frame.status != FrameStatus::complete) {
      if (frame.status != FrameStatus::need_more) ADD_FAILURE() << "garbled output: " << rest.substr(0, 200);
      break;
    }
    result.emplace_back(rest.substr(0, frame.size));
    rest.remove_prefix(frame.size);
  }
  return result;
}
std::string RawPeer::get(const std::string& message, Tag tag) {
  MessageView view;
  EXPECT_EQ(view.parse(message), WireError::none);
  return std::string{view.get_view(tag)};
}
std::vector<std::string> RawPeer::all(Tag tag) const {
  std::vector<std::string> result;
  for (const std::string& each : messages()) result.push_back(get(each, tag));
  return result;
}

}  // namespace nfx::test
