// Two poll loops, a venue's and a trader's, on a network without a network and a clock that the test moves; and a peer
// that sends the bytes of the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/poll_loop.hpp"
#include "nexusfix/session/composer.hpp"
#include "nexusfix/transport/loopback_transport.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "wire/wrong_checksum.hpp"

namespace nfx::test {

using namespace std::chrono_literals;

// 2024-03-15 12:00:00 UTC, with a monotonic clock that has nothing to do with it.
inline Instant engine_test_start() {
  return {UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + 12h}, MonotonicTime{100h}};
}

inline std::string field(int tag, std::string_view value) {
  return std::to_string(tag) + "=" + std::string{value} + soh;
}
inline std::string order(std::size_t number) { return field(11, std::to_string(number)); }

// Records its callbacks; what it does besides is up to the test.
class RecordingApplication : public Application {
 public:
  struct Session {
    std::vector<std::string> orders;      // ClOrdID(11) of every application message, in order
    std::vector<std::string> duplicates;  // and of those with PossDupFlag=Y
    std::vector<std::string> traffic_out;
    std::vector<std::string> logouts;
    std::vector<std::string> cancels;
    std::vector<Violation> violations;
    std::vector<Notice> notices;
    std::size_t logons = 0;
    std::size_t rejects = 0;
    SessionHandle* handle = nullptr;
  };

  Session& at(std::size_t id = 0) { return sessions_[id]; }
  std::size_t count(Notice notice, std::size_t id = 0) {
    return static_cast<std::size_t>(std::ranges::count(at(id).notices, notice));
  }

  void on_logon(SessionHandle& session) override {
    ++at(session.id()).logons;
    at(session.id()).handle = &session;
    if (when_logged_on) when_logged_on(session);
  }
  void on_message(SessionHandle& session, const MessageView& message) override {
    at(session.id()).orders.emplace_back(message.get_view(Tag::ClOrdID));
    if (message.get_view(Tag::PossDupFlag) == "Y")
      at(session.id()).duplicates.emplace_back(message.get_view(Tag::ClOrdID));
    if (when_message) when_message(session, message);
  }
  void on_session_message(SessionHandle& session, const MessageView& message) override {
    if (when_session_message) when_session_message(session, message);
  }
  void on_session_message_sending(SessionHandle& session, SessionMessage& message) override {
    if (when_sending) when_sending(session, message);
  }
  void on_reject(SessionHandle& session, const MessageView&) override { ++at(session.id()).rejects; }
  void on_logout(SessionHandle& session, std::string_view reason) override {
    at(session.id()).logouts.emplace_back(reason);
    if (when_logged_out) when_logged_out(session);
  }
  bool on_logon_request(const LogonRequest& request) override {
    return !when_logon_requested || when_logon_requested(request);
  }
  void on_logon_refused(const LogonRefusal& refusal) override {
    refusals.push_back({.reason = refusal.reason,
                        .peer = std::string{refusal.peer},
                        .names = std::string{refusal.begin_string} + ' ' + std::string{refusal.sender_comp_id} + ' ' +
                                 std::string{refusal.target_comp_id},
                        .text = std::string{refusal.text},
                        .count = refusal.count,
                        .has_session = refusal.session != nullptr,
                        .time = refusal.time});
  }
  void on_added(SessionHandle& session) override { added.push_back(session.id()); }
  void on_removed(SessionHandle& session) override {
    removed.push_back(session.id());
    at(session.id()).handle = nullptr;
  }
  void on_cancel(SessionHandle& session, std::string_view reason) override {
    at(session.id()).cancels.emplace_back(reason);
  }
  void on_violations(SessionHandle& session, const MessageView&, const ValidationReport& report) override {
    for (const Violation& each : report.violations()) at(session.id()).violations.push_back(each);
  }
  void on_store_alert(std::string_view text) override { store_alerts.emplace_back(text); }
  bool on_resend(SessionHandle& session, const MessageView& message) override {
    return !when_resent || when_resent(session, message);
  }
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override {
    if (direction == Direction::out) at(session.id()).traffic_out.emplace_back(message);
    if (when_traffic) when_traffic(session, direction);
  }
  void on_notice(SessionHandle& session, Notice notice, SeqNum, std::string_view) override {
    at(session.id()).notices.push_back(notice);
  }
  Duration on_turn(Instant) override {
    if (when_turn) when_turn();
    return Duration::max();
  }

  std::function<void(SessionHandle&)> when_logged_on;
  std::function<void(SessionHandle&, const MessageView&)> when_message;
  std::function<void(SessionHandle&, const MessageView&)> when_session_message;
  std::function<void(SessionHandle&, SessionMessage&)> when_sending;
  std::function<void(SessionHandle&)> when_logged_out;
  std::function<bool(SessionHandle&, const MessageView&)> when_resent;
  std::function<void(SessionHandle&, Direction)> when_traffic;
  std::function<void()> when_turn;
  std::function<bool(const LogonRequest&)> when_logon_requested;
  struct Refusal {
    LogonRefusalReason reason{};
    std::string peer;
    std::string names;
    std::string text;
    std::uint64_t count = 0;
    bool has_session = false;
    UtcTime time{};
  };
  std::vector<Refusal> refusals;
  std::vector<std::string> store_alerts;
  std::vector<std::size_t> added;
  std::vector<std::size_t> removed;

 private:
  std::map<std::size_t, Session> sessions_;
};

inline SessionSettings acceptor(std::string peer = "TRADER", std::uint16_t port = 9000) {
  SessionSettings settings;
  settings.session.role = Role::acceptor;
  settings.session.sender_comp_id = "VENUE";
  settings.session.target_comp_id = std::move(peer);
  settings.listen = {"venue", port};
  return settings;
}

inline SessionSettings initiator(std::string name = "TRADER", std::uint16_t port = 9000) {
  SessionSettings settings;
  settings.session.role = Role::initiator;
  settings.session.sender_comp_id = std::move(name);
  settings.session.target_comp_id = "VENUE";
  settings.connect = {{"venue", port}};
  return settings;
}

using LoopbackLoop = PollLoop<LoopbackTransport, ManualClock>;

}  // namespace nfx::test

// Instantiated in loopback_loop.cpp.
extern template class nfx::PollLoop<nfx::LoopbackTransport, nfx::ManualClock>;

namespace nfx::test {

// One side: configuration, transport, application and, once started, the loop.
class LoopSide {
 public:
  LoopSide(LoopbackNetwork& network, ManualClock& clock, LoopbackOptions options = {})
      : transport(network, options), clock_(clock) {}

  void start() {
    check_config(config);
    loop.emplace(config, 0, transport, clock_, application);
    loop->start();
  }
  SessionHandle& session(std::size_t id = 0) { return *loop->find(id); }

  EngineConfig config;
  LoopbackTransport transport;
  RecordingApplication application;
  std::optional<LoopbackLoop> loop;

 private:
  ManualClock& clock_;
};

class LoopRig {
 public:
  explicit LoopRig(LoopbackOptions options = {}) : venue(network, clock, options), trader(network, clock, options) {}

  void turn(int times = 1) {
    for (int i = 0; i < times; ++i) {
      if (venue.loop) venue.loop->turn(0ns);
      if (trader.loop) trader.loop->turn(0ns);
    }
  }
  // Time passes in steps, and both sides take part in every one.
  void pass(Duration time, Duration step = 100ms) {
    for (Duration gone{}; gone < time; gone += step) {
      clock.advance(std::min(step, time - gone));
      turn();
    }
  }
  void start_both() {
    venue.start();
    trader.start();
    turn(4);
  }

  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  LoopSide venue;
  LoopSide trader;
};

// A peer that does nothing of its own accord.
class RawPeer {
 public:
  RawPeer(LoopbackNetwork& network, const ManualClock& clock, std::string name = "TRADER", LoopbackOptions options = {},
          std::string venue = "VENUE")
      : transport_(network, options),
        clock_(clock),
        config_(config_of(std::move(name), std::move(venue))),
        composer_(config_) {}

  // From this address; empty: the network has none.
  void connect(std::uint16_t port = 9000, std::string from = {}) {
    closed = false;
    received.clear();
    SocketOptions options;
    if (!from.empty()) options.from = {std::move(from), 4711};
    id_ = *transport_.connect({"venue", port}, options);
    read();
  }
  [[nodiscard]] std::string message(std::string_view type, std::string_view body, std::uint64_t number) {
    std::string out(64 + body.size() + 256, '\0');
    out.resize(*composer_.compose({.msg_type = type, .seq = SeqNum{number}, .body = body}, clock_.now().utc, out));
    return out;
  }
  [[nodiscard]] std::string next(std::string_view type, std::string_view body = {}) {
    return message(type, body, seq++);
  }
  // A message with a wrong CheckSum.
  [[nodiscard]] std::string garbled(std::string_view type, std::string_view body = {}) {
    return with_wrong_checksum(message(type, body, 99));
  }
  [[nodiscard]] std::string logon(std::string_view more = {}) {
    return next(msg_type::logon, field(98, "0") + field(108, "30") + std::string{more});
  }
  // How many bytes the network took.
  std::size_t send(std::string_view bytes) { return transport_.try_send(id_, bytes).sent; }
  void read() { transport_.poll(*this, 0ns); }
  void close() { transport_.close(id_); }

  // The messages received so far, each as its bytes.
  [[nodiscard]] std::vector<std::string> messages() const {
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
  [[nodiscard]] static std::string get(const std::string& message, Tag tag) {
    MessageView view;
    EXPECT_EQ(view.parse(message), WireError::none);
    return std::string{view.get_view(tag)};
  }
  // One field of every message received.
  [[nodiscard]] std::vector<std::string> all(Tag tag) const {
    std::vector<std::string> result;
    for (const std::string& each : messages()) result.push_back(get(each, tag));
    return result;
  }

  void on_accept(ListenerId, ConnectionId, std::string_view) {}
  void on_connect(ConnectionId) {}
  void on_receive(ConnectionId, std::span<const char> bytes) { received.append(bytes.data(), bytes.size()); }
  void on_writable(ConnectionId) {}
  void on_close(ConnectionId, CloseReason) { closed = true; }

  std::uint64_t seq = 1;
  std::string received;
  bool closed = false;

 private:
  static SessionConfig config_of(std::string name, std::string venue) {
    SessionConfig config;
    config.sender_comp_id = std::move(name);
    config.target_comp_id = std::move(venue);
    return config;
  }

  LoopbackTransport transport_;
  const ManualClock& clock_;
  SessionConfig config_;
  Composer composer_;
  ConnectionId id_ = no_connection;
};

}  // namespace nfx::test
