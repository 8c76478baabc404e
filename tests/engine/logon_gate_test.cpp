// Who may log on: places, bytes and time of connections without a Logon, listeners, templates, addresses.
#include "engine/logon_gate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/fake_network.hpp"
#include "nexusfix/session/schedule.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

class AskedApplication final : public Application {
 public:
  bool on_logon_request(const LogonRequest& request) override {
    peers.emplace_back(request.peer);
    were_new.push_back(request.is_new);
    return agrees;
  }
  void on_message(SessionHandle&, const MessageView&) override {}

  bool agrees = true;
  std::vector<std::string> peers;
  std::vector<bool> were_new;
};

class LogonGateTest : public ::testing::Test {
 protected:
  LogonGateTest() {
    config.max_pending_logons = 2;
    config.pending_logon_bytes = 16;
    config.pending_logon_timeout = 10s;
    SessionSettings any;
    any.session.sender_comp_id = "VENUE";
    any.session.target_comp_id = "DESK*";
    any.is_template = true;
    any.listen = {"venue", 9000};
    config.sessions.push_back(any);
  }
  LogonGate& gate() {
    if (!gate_) gate_ = std::make_unique<LogonGate>(config, 0, application);
    return *gate_;
  }
  static ConnectionId id(std::uint64_t slot) { return ConnectionId{(std::uint64_t{1} << 32) | slot}; }
  static constexpr MonotonicTime start{Duration{100s}};
  const MessageView& logon(std::string sender, std::string target = "VENUE") {
    bytes_ = test::logon_bytes(std::move(sender), std::move(target));
    EXPECT_EQ(message_.parse(bytes_), WireError::none);
    return message_;
  }

  EngineConfig config;
  AskedApplication application;

 private:
  std::unique_ptr<LogonGate> gate_;
  std::string bytes_;
  MessageView message_;
};

TEST_F(LogonGateTest, admits_as_many_as_there_are_places_and_counts_who_finds_none) {
  const auto first = gate().admit(ListenerId{1}, id(1), "10.0.0.1:1", start);
  const auto second = gate().admit(ListenerId{1}, id(2), "10.0.0.1:2", start);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_FALSE(gate().admit(ListenerId{1}, id(3), "10.0.0.1:3", start));
  gate().release(*first);
  EXPECT_EQ(gate().admit(ListenerId{1}, id(4), "10.0.0.1:4", start), first);
  EXPECT_EQ(gate()[*first].peer, "10.0.0.1:4");
  EXPECT_EQ(gate().counters().pending_accepted, 4U);
  EXPECT_EQ(gate().counters().pending_refused, 1U);
}

TEST_F(LogonGateTest, takes_no_more_bytes_than_a_place_has_and_forgets_them_with_the_place) {
  const auto index = *gate().admit(ListenerId{1}, id(1), "peer", start);
  const std::string ten(10, 'a');
  EXPECT_EQ(gate().collect(index, ten), 10U);
  EXPECT_FALSE(gate().full(index));
  EXPECT_EQ(gate().collect(index, ten), 6U);
  EXPECT_TRUE(gate().full(index));
  EXPECT_EQ(gate().received(index), std::string(16, 'a'));
  EXPECT_EQ(gate().collect(index, ten), 0U);
  gate().release(index);
  ASSERT_EQ(gate().admit(ListenerId{1}, id(2), "peer", start), index);
  EXPECT_EQ(gate().received(index), "");
}

TEST_F(LogonGateTest, drops_those_whose_time_is_over_and_says_when_the_next_is) {
  EXPECT_EQ(gate().deadline(), MonotonicTime::max());
  const auto early = *gate().admit(ListenerId{1}, id(1), "peer", start);
  const auto late = *gate().admit(ListenerId{1}, id(2), "peer", start + 3s);
  EXPECT_EQ(gate().deadline(), start + 10s);
  std::vector<std::uint32_t> dropped;
  gate().expire(start + 10s, [&](std::uint32_t index) {
    dropped.push_back(index);
    gate().release(index);
  });
  EXPECT_EQ(dropped, (std::vector<std::uint32_t>{early}));
  EXPECT_EQ(gate().deadline(), start + 13s);
  EXPECT_EQ(gate()[late].id, id(2));
  EXPECT_EQ(gate().counters().pending_timed_out, 1U);
}

TEST_F(LogonGateTest, names_in_a_logon_count_together_with_the_listener_they_came_in_by) {
  gate().listening(ListenerId{7}, {"venue", 9000});
  EXPECT_EQ(gate().listener_at({"venue", 9000}), ListenerId{7});
  EXPECT_FALSE(gate().listener_at({"venue", 9001}));
  PendingLogon pending{.id = id(1), .listener = ListenerId{7}};
  const auto key = gate().key_of(logon("DESK1"), pending);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->listen, "venue:9000");
  EXPECT_EQ(key->ours, "VENUE");
  EXPECT_EQ(key->peers, "DESK1");
  pending.listener = ListenerId{8};
  EXPECT_FALSE(gate().key_of(logon("DESK1"), pending));
}

TEST_F(LogonGateTest, a_template_makes_settings_for_the_names_that_fit_it_on_its_own_listener) {
  gate().listening(ListenerId{1}, {"venue", 9000});
  gate().listening(ListenerId{2}, {"venue", 9001});
  const PendingLogon here{.id = id(1), .listener = ListenerId{1}};
  const PendingLogon elsewhere{.id = id(2), .listener = ListenerId{2}};
  const auto settings = gate().from_template(logon("DESK1"), here, {});
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->is_template);
  EXPECT_EQ(settings->session.sender_comp_id, "VENUE");
  EXPECT_EQ(settings->session.target_comp_id, "DESK1");
  EXPECT_FALSE(gate().from_template(logon("OTHER"), here, {}));
  EXPECT_FALSE(gate().from_template(logon("DESK1"), elsewhere, {}));
  EXPECT_FALSE(gate().from_template(logon("DESK1", "SOMEBODY"), here, {}));
}

TEST_F(LogonGateTest, a_template_makes_nothing_outside_its_time) {
  ScheduleConfig times;
  times.start_time = 8h;
  times.end_time = 17h;
  config.sessions[0].schedule = std::make_shared<Schedule>(times);
  gate().listening(ListenerId{1}, {"venue", 9000});
  const PendingLogon here{.id = id(1), .listener = ListenerId{1}};
  EXPECT_TRUE(gate().from_template(logon("DESK1"), here, UtcTime{12h}));
  EXPECT_FALSE(gate().from_template(logon("DESK1"), here, UtcTime{18h}));
}

TEST_F(LogonGateTest, templates_of_other_threads_make_nothing_here) {
  config.poll_threads = 2;
  config.sessions[0].poll_thread = 1;
  gate().listening(ListenerId{1}, {"venue", 9000});
  EXPECT_FALSE(gate().from_template(logon("DESK1"), {.id = id(1), .listener = ListenerId{1}}, {}));
}

TEST_F(LogonGateTest, asks_for_the_address_first_and_only_then_the_application) {
  SessionSettings settings = config.sessions[0];
  settings.allowed_addresses = {"10.0.0.1", "::1"};
  const MessageView& message = logon("DESK1");
  EXPECT_FALSE(gate().may_log_on(settings, message, {.id = id(1), .peer = "10.0.0.2:5"}, false));
  EXPECT_FALSE(gate().may_log_on(settings, message, {.id = id(1), .peer = "no address"}, false));
  EXPECT_TRUE(application.peers.empty());
  EXPECT_TRUE(gate().may_log_on(settings, message, {.id = id(1), .peer = "10.0.0.1:5"}, false));
  EXPECT_TRUE(gate().may_log_on(settings, message, {.id = id(1), .peer = "[0:0:0:0:0:0:0:1]:5"}, true));
  application.agrees = false;
  EXPECT_FALSE(gate().may_log_on(settings, message, {.id = id(1), .peer = "10.0.0.1:6"}, false));
  EXPECT_EQ(application.peers, (std::vector<std::string>{"10.0.0.1:5", "[0:0:0:0:0:0:0:1]:5", "10.0.0.1:6"}));
  EXPECT_EQ(application.were_new, (std::vector<bool>{false, true, false}));
}

TEST_F(LogonGateTest, asks_for_a_certificate_with_a_name_of_the_session_before_the_application) {
  SessionSettings settings = config.sessions[0];
  settings.session.target_comp_id = "DESK1";
  settings.tls_enabled = true;
  settings.tls.peer_names = {"desk1.example", "{TargetCompID}.fix.example"};
  const MessageView& message = logon("DESK1");
  const PendingLogon pending{.id = id(1), .peer = "10.0.0.1:5"};
  const TlsPeer other{.names = {"desk2.example"}, .sha256 = "00"}, own{.names = {"x", "desk1.example"}, .sha256 = "01"},
      templated{.names = {"DESK1.fix.example"}, .sha256 = "02"};
  EXPECT_FALSE(gate().may_log_on(settings, message, pending, false, nullptr));
  EXPECT_FALSE(gate().may_log_on(settings, message, pending, false, &other));
  EXPECT_TRUE(application.peers.empty());
  EXPECT_TRUE(gate().may_log_on(settings, message, pending, false, &own));
  EXPECT_TRUE(gate().may_log_on(settings, message, pending, false, &templated));
}

TEST_F(LogonGateTest, finds_the_connection_that_waits_for_a_session_until_it_is_gone) {
  const auto index = *gate().admit(ListenerId{1}, id(1), "peer", start);
  EXPECT_FALSE(gate().waiting_for(12));
  gate()[index].opening = 12;
  EXPECT_EQ(gate().waiting_for(12), index);
  gate().release(index);
  EXPECT_FALSE(gate().waiting_for(12));
}

}  // namespace
}  // namespace nfx
