// Logons, messages of other threads and operators' requests, over a network that records its calls.
#include "engine/loop_parts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fake_network.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class RefusalRecorder final : public Application, public Observer {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override { return Handled::done; }
  void on_logon_refused(const LogonRefusal& refusal) override { refused.push_back(refusal.reason); }

  std::vector<LogonRefusalReason> refused;
};

class LoopPartsTest : public ::testing::Test {
 protected:
  LoopPartsTest() {
    SessionSettings settings;
    settings.session.sender_comp_id = "VENUE";
    settings.session.target_comp_id = "A";
    settings.listen = {"venue", 9000};
    config.sessions.push_back(std::move(settings));
    loop = std::make_unique<LoopParts>(LoopOptions{.config = config,
                                                   .thread = 0,
                                                   .network = network,
                                                   .callbacks = application,
                                                   .stores = memory_stores(),
                                                   .now = now});
    loop->start();
  }
  SessionDriver& session() { return loop->sessions[0]; }
  ConnectionId accept() {
    const ConnectionId id = network.next_id();
    loop->admission.accept(ListenerId{1}, id, "10.0.0.1:5");
    return id;
  }
  void receive(ConnectionId id, std::string_view bytes) {
    std::string copy{bytes};
    loop->admission.receive(loop->context.owners.find(id).index, copy);
  }
  static ConnectionOwner pending(std::uint32_t index) { return {ConnectionOwner::Kind::pending, index}; }

  EngineConfig config;
  test::FakeNetwork network;
  RefusalRecorder application;
  Instant now{UtcTime{24h * 365 * 50}, MonotonicTime{100h}};
  std::unique_ptr<LoopParts> loop;
  const std::string logon = test::logon_bytes("A", "VENUE", now.utc);
};

TEST_F(LoopPartsTest, a_whole_logon_takes_its_connection_to_the_session_that_it_names) {
  const ConnectionId id = accept();
  receive(id, std::string_view{logon}.substr(0, 20));
  EXPECT_EQ(loop->context.owners.find(id), pending(0));
  EXPECT_FALSE(session().connected());
  receive(id, std::string_view{logon}.substr(20));
  EXPECT_EQ(loop->context.owners.find(id).kind, ConnectionOwner::Kind::session);
  EXPECT_TRUE(session().logged_on());
  EXPECT_EQ(session().connection().id, id);
}

TEST_F(LoopPartsTest, a_logon_of_an_unknown_session_is_reported_and_its_connection_closed) {
  const ConnectionId id = accept();
  receive(id, test::logon_bytes("B", "VENUE", now.utc));
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{id}));
  EXPECT_EQ(loop->context.owners.find(id), ConnectionOwner{});
  EXPECT_EQ(application.refused, (std::vector{LogonRefusalReason::unknown_session}));
}

TEST_F(LoopPartsTest, a_second_logon_is_refused_while_the_first_connection_is_in_use) {
  receive(accept(), logon);
  const ConnectionId second = accept();
  receive(second, logon);
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{second}));
  EXPECT_EQ(application.refused, (std::vector{LogonRefusalReason::already_connected}));
  EXPECT_TRUE(session().logged_on());
}

TEST_F(LoopPartsTest, connections_without_a_logon_are_closed_when_their_time_is_over_and_when_the_loop_stops) {
  const ConnectionId late = accept();
  ASSERT_EQ(loop->admission.deadline(), now.monotonic + config.pending_logon_timeout);
  loop->context.time.advance_to(loop->admission.deadline());
  loop->admission.expire();
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{late}));
  const ConnectionId last = accept();
  loop->stop_sessions();
  EXPECT_EQ(network.closed, (std::vector<ConnectionId>{late, last}));
  EXPECT_EQ(application.refused, (std::vector{LogonRefusalReason::logon_timeout, LogonRefusalReason::stopping}));
}

TEST_F(LoopPartsTest, a_submitted_message_is_held_until_its_session_has_logged_on) {
  const Outgoing message{.msg_type = "B", .body = std::string_view{"148=news\x01"}};
  ASSERT_TRUE(loop->submit(0, message, {.while_logged_off = WhileLoggedOff::keep}));
  loop->submitted.send();
  EXPECT_EQ(loop->counters().submit_kept, 1U);
  EXPECT_EQ(session().counters().messages_out, 0U);
  receive(accept(), logon);
  EXPECT_TRUE(loop->submitted.can_go_on());
  loop->submitted.send();
  EXPECT_EQ(session().counters().messages_out, 2U);  // with the Logon
  EXPECT_FALSE(loop->submitted.can_go_on());
}

TEST_F(LoopPartsTest, a_drain_logs_out_what_is_enabled_and_its_end_enables_that_again) {
  receive(accept(), logon);
  loop->operators.drain("maintenance");
  EXPECT_FALSE(session().logged_on());
  EXPECT_FALSE(session().enabled());
  EXPECT_EQ(loop->operators.command(0, {.kind = SessionCommandKind::enable}).status, CommandStatus::stopping);
  loop->operators.end_drain();
  EXPECT_TRUE(session().enabled());
}

TEST_F(LoopPartsTest, a_command_that_changes_nothing_states_so) {
  EXPECT_EQ(loop->operators.command(7, {}).status, CommandStatus::no_such_session);
  EXPECT_EQ(loop->operators.command(0, {.kind = SessionCommandKind::drop}).status, CommandStatus::nothing_to_do);
  EXPECT_EQ(loop->operators.command(0, {.kind = SessionCommandKind::disable}).status, CommandStatus::done);
  EXPECT_EQ(loop->operators.command(0, {.kind = SessionCommandKind::disable}).status, CommandStatus::nothing_to_do);
}

}  // namespace
}  // namespace nfx
