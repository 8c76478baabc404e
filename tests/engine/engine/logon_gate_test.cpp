// The conditions for a Logon: places, bytes and time of connections without a Logon, listeners, templates, addresses.
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

class AskedApplication final : public Authenticator {
 public:
  bool on_logon_request(const LogonRequest& request) override {
    peers.emplace_back(request.peer);
    were_new.push_back(request.is_new);
    return agrees;
  }

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
    if (!gate_) gate_ = std::make_unique<LogonGate>(config, 0, &application);
    return *gate_;
  }
  static ConnectionId id(std::uint64_t slot) { return ConnectionId{(std::uint64_t{1} << 32) | slot}; }
  static constexpr MonotonicTime start{Duration{100s}};
  std::optional<std::uint32_t> admit(std::uint64_t slot, std::string_view peer, MonotonicTime now = start) {
    return gate().admit({.listener = ListenerId{1}, .id = id(slot), .peer = peer}, now, [this](std::uint32_t oldest) {
      evicted.push_back(oldest);
      gate().release(oldest);
    });
  }
  const MessageView& logon(std::string sender, std::string target = "VENUE") {
    bytes_ = test::logon_bytes(std::move(sender), std::move(target));
    EXPECT_EQ(message_.parse(bytes_), WireError::none);
    return message_;
  }

  EngineConfig config;
  AskedApplication application;
  std::vector<std::uint32_t> evicted;

 private:
  std::unique_ptr<LogonGate> gate_;
  std::string bytes_;
  MessageView message_;
};

TEST_F(LogonGateTest, gives_a_place_to_a_newcomer_by_closing_the_oldest_silent_connection) {
  const auto first = admit(1, "10.0.0.1:1");
  const auto second = admit(2, "10.0.0.1:2");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  gate().collect(*first, std::string{"8=FIX"});
  EXPECT_EQ(admit(3, "10.0.0.1:3"), second);
  EXPECT_EQ(evicted, (std::vector<std::uint32_t>{*second}));
  EXPECT_EQ(gate()[*second].peer, "10.0.0.1:3");
  EXPECT_EQ(gate().counters().pending_accepted, 3U);
}

TEST_F(LogonGateTest, refuses_a_newcomer_when_all_others_wait_for_their_session_to_be_opened) {
  for (const std::uint64_t slot : {1U, 2U}) gate()[*admit(slot, "10.0.0.1:1")].opening = slot;
  EXPECT_FALSE(admit(3, "10.0.0.1:3"));
  EXPECT_TRUE(evicted.empty());
}

TEST_F(LogonGateTest, allows_the_addresses_of_all_sessions_of_a_listener_and_knows_those_that_are_named) {
  gate().listening(ListenerId{1}, {"venue", 9000});
  gate().listening(ListenerId{2}, {"venue", 9001});
  EXPECT_EQ(gate().standing(ListenerId{1}, "10.0.0.9:1"), PeerStanding::unknown) << "the template allows every address";
  SessionSettings one = config.sessions[0];
  one.listen = {"venue", 9001};
  one.allowed_addresses = {"10.0.0.1", "::ffff:10.0.0.2"};
  SessionSettings two = one;
  two.allowed_addresses = {"10.0.0.2", "2001:db8::1"};
  gate().expect(one);
  gate().expect(two);
  for (const char* peer : {"10.0.0.1:5", "10.0.0.2:5", "[2001:db8:0::1]:5"})
    EXPECT_EQ(gate().standing(ListenerId{2}, peer), PeerStanding::known) << peer;
  for (const char* peer : {"10.0.0.3:5", "[2001:db8::2]:5", "loopback"})
    EXPECT_EQ(gate().standing(ListenerId{2}, peer), PeerStanding::not_allowed) << peer;
  gate().forget(two);
  EXPECT_EQ(gate().standing(ListenerId{2}, "10.0.0.2:5"), PeerStanding::known) << "the other session names it too";
  EXPECT_EQ(gate().standing(ListenerId{2}, "[2001:db8::1]:5"), PeerStanding::not_allowed);
  two.allowed_addresses = {};
  gate().expect(two);
  EXPECT_EQ(gate().standing(ListenerId{2}, "10.0.0.3:5"), PeerStanding::unknown);
}

TEST_F(LogonGateTest, knows_the_addresses_that_logged_on_last) {
  config.max_known_addresses = 2;
  for (const char* peer : {"10.0.0.1:1", "10.0.0.2:1", "10.0.0.1:2", "10.0.0.3:1"})
    gate().addresses().remember(PeerAddress::of_peer(peer));
  EXPECT_EQ(gate().standing(ListenerId{1}, "10.0.0.1:9"), PeerStanding::known);
  EXPECT_EQ(gate().standing(ListenerId{1}, "10.0.0.2:9"), PeerStanding::unknown);
  EXPECT_EQ(gate().standing(ListenerId{1}, "10.0.0.3:9"), PeerStanding::known);
  gate().addresses().remember(PeerAddress::of_peer("loopback"));
  EXPECT_EQ(gate().standing(ListenerId{1}, "unknown"), PeerStanding::unknown);
}

TEST_F(LogonGateTest, reports_some_refusals_of_a_reason_and_then_their_number_when_the_second_is_over) {
  using enum LogonRefusalReason;
  config.max_refusal_reports = 2;
  const auto refuse = [&](LogonRefusalReason reason, Duration after) {
    return gate().count_refusal(reason, "10.0.0.1:1", start + after);
  };
  EXPECT_TRUE(refuse(not_fix, 0ms));
  EXPECT_TRUE(refuse(not_fix, 1ms));
  EXPECT_EQ(gate().deadline(), MonotonicTime::max());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(refuse(not_fix, 2ms));
  EXPECT_TRUE(refuse(evicted, 2ms)) << "another reason";
  EXPECT_EQ(gate().deadline(), start + 1s);
  std::vector<std::string> counts;
  const auto report = [&](LogonRefusalReason reason, std::uint64_t count, std::string_view peer) {
    counts.push_back(std::string{row_of(reason).name} + ' ' + std::to_string(count) + ' ' + std::string{peer});
  };
  gate().report_counts(start + 999ms, false, report);
  EXPECT_TRUE(counts.empty());
  gate().report_counts(start + 1s, false, report);
  EXPECT_EQ(counts, (std::vector<std::string>{"not_fix 1000 10.0.0.1:1"}));
  EXPECT_FALSE(refuse(not_fix, 1s)) << "the number was the report of this second";
  gate().report_counts(start + 1s, true, report);
  EXPECT_EQ(counts.size(), 2U) << "at the end nothing waits";
  EXPECT_TRUE(refuse(not_fix, 2s));
  EXPECT_EQ(gate().counters().not_fix, 1004U);
  EXPECT_EQ(gate().counters().evicted, 1U);
}

TEST_F(LogonGateTest, takes_no_more_bytes_than_a_place_has_and_forgets_them_with_the_place) {
  const auto index = *admit(1, "peer");
  const std::string ten(10, 'a');
  EXPECT_EQ(gate().collect(index, ten), 10U);
  EXPECT_FALSE(gate().full(index));
  EXPECT_EQ(gate().collect(index, ten), 6U);
  EXPECT_TRUE(gate().full(index));
  EXPECT_EQ(gate().received(index), std::string(16, 'a'));
  EXPECT_EQ(gate().collect(index, ten), 0U);
  gate().release(index);
  ASSERT_EQ(admit(2, "peer"), index);
  EXPECT_EQ(gate().received(index), "");
}

TEST_F(LogonGateTest, drops_those_whose_time_is_over_and_says_when_the_next_is) {
  EXPECT_EQ(gate().deadline(), MonotonicTime::max());
  const auto early = *admit(1, "peer");
  const auto late = *admit(2, "peer", start + 3s);
  EXPECT_EQ(gate().deadline(), start + 10s);
  std::vector<std::uint32_t> dropped;
  gate().expire(start + 10s, [&](std::uint32_t index) {
    dropped.push_back(index);
    gate().release(index);
  });
  EXPECT_EQ(dropped, (std::vector<std::uint32_t>{early}));
  EXPECT_EQ(gate().deadline(), start + 13s);
  EXPECT_EQ(gate()[late].id, id(2));
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
  PendingLogon here{.id = id(1), .listener = ListenerId{1}};
  PendingLogon elsewhere{.id = id(2), .listener = ListenerId{2}};
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
  PendingLogon here{.id = id(1), .listener = ListenerId{1}};
  EXPECT_TRUE(gate().from_template(logon("DESK1"), here, UtcTime{12h}));
  EXPECT_FALSE(gate().from_template(logon("DESK1"), here, UtcTime{18h}));
  EXPECT_EQ(here.refused, LogonRefusalReason::outside_schedule);
}

TEST_F(LogonGateTest, templates_of_other_threads_make_nothing_here) {
  config.poll_threads = 2;
  config.sessions[0].poll_thread = 1;
  gate().listening(ListenerId{1}, {"venue", 9000});
  PendingLogon here{.id = id(1), .listener = ListenerId{1}};
  EXPECT_FALSE(gate().from_template(logon("DESK1"), here, {}));
  EXPECT_EQ(here.refused, LogonRefusalReason::unknown_session);
}

TEST_F(LogonGateTest, asks_for_the_address_first_and_only_then_the_application) {
  SessionSettings settings = config.sessions[0];
  settings.allowed_addresses = {"10.0.0.1", "::1"};
  const MessageView& message = logon("DESK1");
  LogonRefusalReason refused{};
  const auto may_log_on = [&](std::string peer, bool is_new) {
    PendingLogon pending{.id = id(1), .peer = std::move(peer)};
    const bool may = gate().may_log_on(settings, message, pending, is_new);
    refused = pending.refused;
    return may;
  };
  EXPECT_FALSE(may_log_on("10.0.0.2:5", false));
  EXPECT_EQ(refused, LogonRefusalReason::address_not_allowed);
  EXPECT_FALSE(may_log_on("no address", false));
  EXPECT_TRUE(application.peers.empty());
  EXPECT_TRUE(may_log_on("10.0.0.1:5", false));
  EXPECT_TRUE(may_log_on("[0:0:0:0:0:0:0:1]:5", true));
  application.agrees = false;
  EXPECT_FALSE(may_log_on("10.0.0.1:6", false));
  EXPECT_EQ(refused, LogonRefusalReason::application);
  EXPECT_EQ(application.peers, (std::vector<std::string>{"10.0.0.1:5", "[0:0:0:0:0:0:0:1]:5", "10.0.0.1:6"}));
  EXPECT_EQ(application.were_new, (std::vector<bool>{false, true, false}));
}

TEST_F(LogonGateTest, asks_for_a_certificate_with_a_name_of_the_session_before_the_application) {
  SessionSettings settings = config.sessions[0];
  settings.session.target_comp_id = "DESK1";
  settings.tls_enabled = true;
  settings.tls.peer_names = {"desk1.example", "{TargetCompID}.fix.example"};
  const MessageView& message = logon("DESK1");
  PendingLogon pending{.id = id(1), .peer = "10.0.0.1:5"};
  const TlsPeer other{.names = {"desk2.example"}, .sha256 = "00"}, own{.names = {"x", "desk1.example"}, .sha256 = "01"},
      templated{.names = {"DESK1.fix.example"}, .sha256 = "02"};
  EXPECT_FALSE(gate().may_log_on(settings, message, pending, false, nullptr));
  EXPECT_FALSE(gate().may_log_on(settings, message, pending, false, &other));
  EXPECT_EQ(pending.refused, LogonRefusalReason::certificate);
  EXPECT_TRUE(application.peers.empty());
  EXPECT_TRUE(gate().may_log_on(settings, message, pending, false, &own));
  EXPECT_TRUE(gate().may_log_on(settings, message, pending, false, &templated));
}

TEST_F(LogonGateTest, finds_the_connection_that_waits_for_a_session_until_it_is_gone) {
  const auto index = *admit(1, "peer");
  EXPECT_FALSE(gate().waiting_for(12));
  gate()[index].opening = 12;
  EXPECT_EQ(gate().waiting_for(12), index);
  gate().release(index);
  EXPECT_FALSE(gate().waiting_for(12));
}

}  // namespace
}  // namespace nfx
