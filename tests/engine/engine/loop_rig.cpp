// The bodies of the rig, compiled once.
#include "engine/loop_rig.hpp"

#include <algorithm>
#include <utility>

#include "nexusfix/testing/network.hpp"
#include "nexusfix/wire/standard_fields.hpp"

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
Handled RecordingApplication::on_message(SessionHandle& session, const MessageView& message) {
  at(session.id()).orders.emplace_back(message.get_view(Tag::ClOrdID));
  if (message.get_view(Tag::PossDupFlag) == "Y")
    at(session.id()).duplicates.emplace_back(message.get_view(Tag::ClOrdID));
  if (when_message) when_message(session, message);
  return when_asked ? when_asked(session, message) : Handled::done;
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
void RecordingApplication::on_alert(AlertKind kind, std::string_view text) {
  if (kind == AlertKind::store) store_alerts.emplace_back(text);
}
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

// Without a dictionary: messages of these tests have few fields.
SessionSettings acceptor(std::string peer, std::uint16_t port) {
  SessionSettings settings = testing::acceptor("VENUE", std::move(peer), port);
  settings.dictionary = nullptr;
  return settings;
}
SessionSettings initiator(std::string name, std::uint16_t port) {
  SessionSettings settings = testing::initiator(std::move(name), "VENUE", port);
  settings.dictionary = nullptr;
  return settings;
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

}  // namespace nfx::test
