// Two poll loops of nexusfix::testing, a venue's and a trader's, with an application that records everything, for tests
// of the engine itself: each iteration is a call. Their bodies are in loop_rig.cpp: twenty files include this.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/engine/authenticator.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "testing/loopback_engine.hpp"
#include "testing/raw_peer.hpp"

namespace nfx::test {

using testing::LoopbackLoop;
using testing::RawPeer;

using namespace std::chrono_literals;

// 2024-03-15 12:00:00 UTC, with a monotonic clock that has nothing to do with it.
[[nodiscard]] Instant engine_test_start();

[[nodiscard]] std::string field(int tag, std::string_view value);
[[nodiscard]] std::string order(std::size_t number);

// Records its callbacks; what it does besides is up to the test.
class RecordingApplication : public Application, public Observer, public Authenticator {
 public:
  struct Session {
    std::vector<std::string> orders;      // ClOrdID(11) of every application message, in order
    std::vector<std::string> duplicates;  // and of messages with PossDupFlag=Y
    std::vector<std::string> traffic_out;
    std::vector<std::string> logouts;
    std::vector<std::string> cancels;
    std::vector<Violation> violations;
    std::vector<Notice> notices;
    std::vector<std::string> notice_texts;  // of the same
    std::size_t logons = 0;
    std::size_t rejects = 0;
    SessionHandle* handle = nullptr;
  };

  RecordingApplication();
  RecordingApplication(const RecordingApplication&) = delete;
  RecordingApplication& operator=(const RecordingApplication&) = delete;
  ~RecordingApplication() override;

  Session& at(std::size_t id = 0);
  std::size_t count(Notice notice, std::size_t id = 0);

  void on_logon(SessionHandle& session) override;
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_session_message(SessionHandle& session, const MessageView& message) override;
  void on_session_message_sending(SessionHandle& session, SessionMessage& message) override;
  void on_reject(SessionHandle& session, const MessageView& message) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  bool on_logon_request(const LogonRequest& request) override;
  void on_logon_refused(const LogonRefusal& refusal) override;
  void on_added(SessionHandle& session) override;
  void on_removed(SessionHandle& session) override;
  void on_cancel(SessionHandle& session, std::string_view reason) override;
  void on_violations(SessionHandle& session, const MessageView& message, const ValidationReport& report) override;
  void on_alert(AlertKind kind, std::string_view text) override;
  bool on_resend(SessionHandle& session, const MessageView& message) override;
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override;
  void on_notice(SessionHandle& session, Notice notice, SeqNum number, std::string_view text) override;
  Duration on_turn(Instant now) override;

  std::function<void(SessionHandle&)> when_logged_on;
  std::function<void(SessionHandle&, const MessageView&)> when_message;
  std::function<Handled(SessionHandle&, const MessageView&)> when_asked;  // what on_message returns, after when_message
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

[[nodiscard]] SessionSettings acceptor(std::string peer = "TRADER", std::uint16_t port = 9000);
[[nodiscard]] SessionSettings initiator(std::string name = "TRADER", std::uint16_t port = 9000);

// One side, with its application.
class LoopSide : public testing::LoopbackEngine {
 public:
  using LoopbackEngine::LoopbackEngine;
  ~LoopSide() { loop.reset(); }

  void start() { LoopbackEngine::start(application); }
  SessionHandle& session(std::size_t id = 0) { return *loop->find(id); }

  RecordingApplication application;
};

class LoopRig {
 public:
  explicit LoopRig(LoopbackOptions options = {});
  LoopRig(const LoopRig&) = delete;
  LoopRig& operator=(const LoopRig&) = delete;
  ~LoopRig();

  void turn(int times = 1);
  // Time passes in steps, and both sides take part in every one.
  void pass(Duration time, Duration step = 100ms);
  void start_both();

  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  LoopSide venue;
  LoopSide trader;
};

}  // namespace nfx::test
