// Sessions whose store is a journal: which records survive a restart, which messages wait for the disk, and the effects
// of a disk failure. The disk is in memory, and the test runs the flusher.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "engine/journal_session.hpp"
#include "store/journal_reader.hpp"

namespace nfx::test {
namespace {

TEST_F(JournalSession, goes_on_with_its_numbers_and_messages_after_a_kill) {
  start(Durability::interval);
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(report(id));
  turn(2);
  EXPECT_EQ(reports_received(), 3u);
  const SeqNum out = rig.venue.session().next_outbound(), in = rig.venue.session().next_inbound();
  restart_venue(Durability::interval);
  EXPECT_EQ(rig.venue.session().next_outbound(), out);
  EXPECT_EQ(rig.venue.session().next_inbound(), in);
  ASSERT_NE(rig.venue.session().journal(), nullptr);
  EXPECT_FALSE(rig.venue.session().journal()->recovery().clean);
  const auto kept = rig.venue.session().journal()->read(SeqNum{3});
  ASSERT_TRUE(kept);
  EXPECT_NE(kept->find("11=b"), std::string_view::npos);
}

TEST_F(JournalSession, asks_for_a_reset_again_after_a_kill_and_takes_it_back_when_the_peer_has_not_reset) {
  start(Durability::interval);
  ASSERT_TRUE(report("a"));
  turn(2);
  const SeqNum out = rig.venue.session().next_outbound(), in = rig.venue.session().next_inbound();
  rig.venue.session().reset_sequence_numbers();
  EXPECT_EQ(rig.venue.session().send({.msg_type = "8", .body = std::string_view{field(11, "x")}}).error(),
            SendError::resetting);
  restart_venue(Durability::interval);  // before the Logon left
  EXPECT_TRUE(rig.venue.session().journal()->reset_asked());
  EXPECT_EQ(rig.venue.session().next_outbound(), out);
  EXPECT_EQ(rig.venue.session().next_inbound(), in);
  rig.pass(3s);
  turn(20);
  ASSERT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(rig.venue.application.count(Notice::reset_unanswered), 1U);
  ASSERT_TRUE(report("b"));
  turn(4);
  EXPECT_EQ(rig.trader.application.at().orders.back(), "b");
  restart_venue(Durability::interval);
  EXPECT_FALSE(rig.venue.session().journal()->reset_asked());
}

TEST_F(JournalSession, each_sync_is_in_the_counts_of_its_flusher) {
  open_venue(Durability::group);
  const JournalFlusher& flusher = stores->flusher();
  const JournalStore& journal = *rig.venue.session().journal();
  const std::uint64_t before = journal.counters().syncs;  // made without the flusher
  EXPECT_EQ(flusher.syncs().count(), 0U);
  open_trader();
  turn(6);
  ASSERT_TRUE(rig.venue.session().logged_on());
  const JournalCounters after = journal.counters();
  EXPECT_GT(after.syncs, before);
  EXPECT_EQ(flusher.syncs().count(), after.syncs - before);
  EXPECT_GE(flusher.syncs().sum(), static_cast<std::uint64_t>(after.longest_sync.count()));
}

TEST_F(JournalSession, resends_after_a_kill_what_the_peer_never_got) {
  start(Durability::interval);
  ASSERT_TRUE(report("a"));  // encoded and stored, but the process is killed before the iteration that would send it
  restart_venue(Durability::interval);
  rig.pass(3s);
  turn(20);
  ASSERT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(reports_received(), 1u);
  EXPECT_EQ(rig.trader.application.at(0).duplicates.size(), 1u);
}

TEST_F(JournalSession, lets_nothing_leave_before_it_is_synced_when_it_holds_back) {
  start(Durability::group);
  const std::size_t before = reports_received();
  ASSERT_TRUE(report("a"));
  rig.turn(10);
  EXPECT_EQ(reports_received(), before);
  durable_calls = 0;
  flush();
  EXPECT_GT(durable_calls, 0);
  rig.turn(2);
  EXPECT_EQ(reports_received(), before + 1);
}

TEST_F(JournalSession, the_durable_lag_of_a_sync_is_the_age_of_its_oldest_record) {
  start(Durability::interval);
  const auto lags = [this] {
    LatencyReport report;
    rig.venue.loop->add_latency(report);
    return report.sessions.at(0).stages[LatencyStage::durable_lag];
  };
  rig.clock.advance(1s);
  turn(2);
  const LatencyCounts before = lags();
  ASSERT_TRUE(
      rig.venue.session().send({.msg_type = "8", .body = std::string_view{test::order(1)}, .header_fields = {}}));
  rig.venue.loop->turn(0ns);
  rig.clock.advance(30ms);
  rig.venue.loop->turn(0ns);
  ASSERT_TRUE(
      rig.venue.session().send({.msg_type = "8", .body = std::string_view{test::order(2)}, .header_fields = {}}));
  rig.clock.advance(20ms);
  flush();
  LatencyCounts since = lags();
  since.subtract(before);
  EXPECT_EQ(since.count(), 1U) << "one sync";
  EXPECT_GE(since.sum(), 50'000'000U);
  EXPECT_LT(since.sum(), 600'000'000'000U) << "besides, the time that the sync took on this host";
}

TEST_F(JournalSession, serves_one_sync_to_all_that_gathered_meanwhile) {
  start(Durability::group);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(report("r" + std::to_string(i)));
  const std::uint64_t syncs = rig.venue.session().journal()->counters().syncs;
  turn(3);
  EXPECT_EQ(reports_received(), 20u);
  EXPECT_LE(rig.venue.session().journal()->counters().syncs, syncs + 2);
}

TEST_F(JournalSession, returns_from_send_only_with_the_message_on_disk_when_each_is_to_be) {
  start(Durability::message);
  std::atomic<bool> stop{false};
  std::thread flusher{[&] {
    while (!stop.load(std::memory_order_acquire)) flush();
  }};
  const auto sent = report("a");
  stop.store(true, std::memory_order_release);
  flusher.join();
  ASSERT_TRUE(sent);
  const JournalStore& journal = *rig.venue.session().journal();
  EXPECT_GE(journal.durable(), journal.position());
}

TEST_F(JournalSession, keeps_its_connection_on_a_full_disk_sends_nothing_and_goes_on_when_there_is_room) {
  start(Durability::interval);
  fill_disk();
  turn_for(5s);
  EXPECT_TRUE(rig.venue.session().logged_on());
  EXPECT_EQ(count_of(Notice::store_trouble), 1);
  EXPECT_EQ(count_of(Notice::store_recovered), 0);
  // The peer's messages wait in the network.
  const std::size_t orders = rig.venue.application.at(0).orders.size();
  const JournalPosition position = rig.venue.session().journal()->position();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(order(std::to_string(i)));
  turn_for(5s);
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), orders);
  EXPECT_EQ(rig.venue.session().journal()->position(), position);
  disk.fill(MemoryDisk::never);
  turn_for(3s);
  EXPECT_EQ(count_of(Notice::store_recovered), 1);
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), orders + 200);
  EXPECT_TRUE(report("after"));
  EXPECT_TRUE(rig.venue.application.at(0).logouts.empty());
}

// A peer with a short heartbeat, while the disk is full and an order of its waits for it.
class FullDisk : public JournalSession {
 protected:
  void start_and_fill() {
    rig.trader.config.sessions = {initiator()};
    rig.trader.config.sessions[0].session.heartbeat_interval = 4s;
    start(Durability::interval);
    fill_disk();
    ASSERT_TRUE(order("waits"));
    turn(2);
  }
  // The trader does nothing meanwhile.
  void venue_turns_for(Duration time) {
    for (Duration gone{}; gone < time; gone += 50ms) {
      rig.clock.advance(50ms);
      rig.venue.loop->turn(0ns);
      flush();
    }
  }
  [[nodiscard]] const std::vector<std::string>& logouts() { return rig.venue.application.at(0).logouts; }
};

TEST_F(FullDisk, does_not_hide_that_the_peer_is_silent) {
  start_and_fill();
  venue_turns_for(15s);
  ASSERT_EQ(logouts().size(), 1U);
  EXPECT_EQ(logouts().front(), "the peer is silent: TestRequest unanswered");
}

TEST_F(FullDisk, does_not_hide_that_the_connection_has_ended) {
  start_and_fill();
  rig.trader.session().drop_connection();
  turn(2);
  ASSERT_EQ(logouts().size(), 1U);
  EXPECT_EQ(logouts().front(), "connection lost");
}

TEST_F(FullDisk, does_not_end_the_session_of_a_peer_that_sends_heartbeats) {
  start_and_fill();
  turn_for(25s);
  EXPECT_TRUE(logouts().empty());
  EXPECT_TRUE(rig.venue.session().logged_on());
}

TEST_F(FullDisk, leaves_in_the_network_what_the_peer_sends_beyond_a_bound) {
  start_and_fill();
  const std::size_t orders = rig.venue.application.at(0).orders.size();
  std::size_t sent = 0;
  for (int i = 0; i < 20'000 && order(std::to_string(i)); ++i) {
    ++sent;
    if (i % 16 == 0) turn();
  }
  EXPECT_LT(sent, 20'000U) << "the network's buffers are full";
  turn_for(15s);
  EXPECT_TRUE(logouts().empty()) << "the peer's heartbeats may wait in the network, after its orders";
  disk.fill(MemoryDisk::never);
  turn_for(5s);
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), orders + 1 + sent);
  EXPECT_TRUE(logouts().empty());
}

TEST_F(JournalSession, logs_out_when_the_disk_stays_full_and_logs_on_again_when_there_is_room) {
  start(Durability::interval);
  fill_disk();
  turn_for(29s);
  EXPECT_TRUE(rig.venue.session().logged_on());
  turn_for(2s);
  EXPECT_FALSE(rig.venue.session().logged_on());
  ASSERT_FALSE(rig.trader.application.at(0).logouts.empty());
  EXPECT_EQ(rig.trader.application.at(0).logouts.front(), "the message store takes no more");
  disk.fill(MemoryDisk::never);
  turn_for(10s);
  ASSERT_TRUE(rig.venue.session().logged_on());
  EXPECT_TRUE(report("after"));
}

TEST_F(JournalSession, does_not_connect_after_a_logout_that_the_disk_had_no_room_for) {
  rig.venue.config.sessions = {with_journal(initiator(), Durability::interval, "venue")};
  rig.trader.config.sessions = {acceptor()};
  open_trader();
  open_venue(Durability::interval);
  turn(6);
  ASSERT_NO_FATAL_FAILURE(fill_disk());
  for (int i = 0; i < 4000 && rig.venue.application.at(0).logouts.empty(); ++i) {
    static_cast<void>(order(std::to_string(i)));
    turn_for(50ms);
  }
  rig.venue.session().logout({});
  disk.fill(MemoryDisk::never);
  turn_for(60s);
  EXPECT_FALSE(rig.venue.session().logged_on());
}

TEST_F(JournalSession, has_the_same_numbers_in_session_and_store_after_an_end_in_order_on_a_full_disk) {
  start(Durability::interval);
  ASSERT_NO_FATAL_FAILURE(end_in_order_on_a_full_disk());
  const SeqNum in = rig.venue.session().next_inbound(), out = rig.venue.session().next_outbound();
  rig.venue.loop.reset();
  disk.fill(MemoryDisk::never);
  const JournalStore again{disk, rig.venue.config.sessions[0].journal, identity(rig.venue.config.sessions[0].session),
                           rig.clock.now().utc};
  EXPECT_TRUE(again.recovery().clean);
  EXPECT_EQ(again.next_inbound(), in);
  EXPECT_EQ(again.next_outbound(), out);
}

TEST_F(JournalSession, ends_the_session_once_when_a_sync_fails) {
  start(Durability::interval);
  disk.fail_sync_after(0);
  ASSERT_TRUE(report("a"));
  rig.clock.advance(20ms);
  turn(10);
  rig.clock.advance(1s);
  turn(10);
  EXPECT_FALSE(rig.venue.session().logged_on());
  const auto& notices = rig.venue.application.at(0).notices;
  EXPECT_EQ(std::ranges::count(notices, Notice::store_trouble), 1);
  const auto sent = report("b");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), SendError::store_failed);
}

TEST_F(JournalSession, keeps_the_peer_waiting_while_the_ring_is_full_and_loses_nothing) {
  start(Durability::interval);
  // No turn of the flusher: the ring fills with the answers.
  rig.venue.application.when_message = [](SessionHandle& session, const MessageView& order) {
    static_cast<void>(session.send({.msg_type = "8",
                                    .body = std::string_view{field(11, std::string{order.get_view(Tag::ClOrdID)}) +
                                                             field(58, std::string(400, 'x'))},
                                    .header_fields = {}}));
  };
  int sent = 0;
  for (int i = 0; i < 400; ++i) {
    if (rig.trader.session().send(
            {.msg_type = "D", .body = std::string_view{field(11, std::to_string(i))}, .header_fields = {}}))
      ++sent;
    rig.turn();
  }
  const std::size_t before = rig.venue.application.at(0).orders.size();
  EXPECT_LT(before, static_cast<std::size_t>(sent));
  for (int i = 0; i < 400; ++i) {
    rig.clock.advance(1ms);
    turn();
  }
  EXPECT_EQ(rig.venue.application.at(0).orders.size(), static_cast<std::size_t>(sent));
  EXPECT_EQ(reports_received(), static_cast<std::size_t>(sent));
}

TEST_F(JournalSession, opens_the_journal_of_a_template_elsewhere_while_the_logon_waits) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  rig.venue.config.sessions = {any};
  open_venue(Durability::interval, true);
  open_trader();
  turn(10);
  EXPECT_TRUE(rig.venue.application.added.empty());
  EXPECT_FALSE(rig.trader.session().logged_on());
  stores->end_jobs();
  stores->run_jobs();  // the work of a job thread
  turn(10);
  ASSERT_EQ(rig.venue.application.added.size(), 1u);
  EXPECT_TRUE(rig.trader.session().logged_on());
}

TEST_F(JournalSession, refuses_a_second_owner_of_a_template_s_journal_with_a_word_to_the_application) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  SessionSettings one = with_journal(acceptor("TRADER"), Durability::interval, "venue");
  JournalStores other{disk, {}};
  const SessionStore held = other.open(one, rig.clock.now().utc);
  rig.venue.config.sessions = {any};
  open_venue(Durability::interval);
  open_trader();
  turn(10);
  EXPECT_TRUE(rig.venue.application.added.empty());
  EXPECT_FALSE(rig.trader.session().logged_on());
  ASSERT_EQ(rig.venue.application.store_alerts.size(), 1u);
  EXPECT_EQ(rig.venue.loop->counters().store, 1u);
}

TEST_F(JournalSession, of_a_template_touches_no_disk_for_a_wrong_password) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  any.session.password = "secret";
  rig.venue.config.sessions = {any};
  open_venue(Durability::interval);
  const std::uint64_t used = disk.used();
  for (int i = 0; i < 50; ++i) {
    RawPeer stranger{rig.network, rig.clock, "CLIENT-" + std::to_string(i)};
    stranger.connect();
    turn();
    stranger.send(stranger.logon(field(554, "guess")));
    turn(2);
  }
  EXPECT_EQ(disk.used(), used);
  EXPECT_TRUE(rig.venue.application.added.empty());
}

TEST_F(JournalSession, of_a_template_leaves_no_journal_when_its_first_logon_fails) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  any.session.send_next_expected_seq_num = true;
  rig.venue.config.sessions = {any};
  open_venue(Durability::interval);
  const std::uint64_t used = disk.used();
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  turn();
  peer.send(peer.logon(field(789, "5")));
  turn(3);
  EXPECT_EQ(rig.venue.application.removed.size(), 1u);
  EXPECT_EQ(disk.used(), used);
  EXPECT_TRUE(disk.list("/venue")->empty()) << "neither a folder nor its lock";
}

TEST_F(JournalSession, of_a_template_leaves_memory_when_idle_and_goes_on_with_its_journal) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  rig.venue.config.sessions = {any};
  rig.venue.config.dynamic_session_idle = 60s;
  open_venue(Durability::interval);
  RawPeer peer{rig.network, rig.clock};
  const auto log_on = [&] {
    peer.connect();
    turn();
    peer.send(peer.logon());
    turn(2);
    peer.read();
  };
  log_on();
  ASSERT_EQ(rig.venue.application.added, (std::vector<std::size_t>{1}));
  ASSERT_TRUE(
      rig.venue.session(1).send({.msg_type = "8", .body = std::string_view{field(11, "a")}, .header_fields = {}}));
  peer.close();
  turn(2);
  rig.pass(59s, 1s);
  EXPECT_TRUE(rig.venue.application.removed.empty());
  rig.pass(2s, 1s);
  EXPECT_EQ(rig.venue.application.removed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(rig.venue.loop->counters().dynamic_idle, 1u);
  // A second failed Logon leaves an existing journal in place.
  peer.seq = 1;
  log_on();
  EXPECT_FALSE(list_sessions(disk, "/venue").empty());
  turn(2);
  peer.seq = 2;
  log_on();
  EXPECT_EQ(peer.all(Tag::MsgSeqNum).back(), "4") << "a Logon, a message and a Logout went before";
  EXPECT_EQ(rig.venue.application.added.size(), 3u);
}

TEST_F(JournalSession, of_a_template_that_an_operator_has_held_stays_in_memory) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  rig.venue.config.sessions = {any};
  rig.venue.config.dynamic_session_idle = 60s;
  open_venue(Durability::interval);
  RawPeer peer{rig.network, rig.clock};
  peer.connect();
  turn();
  peer.send(peer.logon());
  turn(2);
  const auto hold = std::make_shared<LoopCall>([](OperatorRequests& requests) {
    EXPECT_TRUE(requests.command(1, SessionCommand{.kind = SessionCommandKind::hold}));
  });
  ASSERT_TRUE(rig.venue.loop->push(hold));
  turn();
  peer.close();
  turn(2);
  rig.pass(90s, 1s);
  EXPECT_TRUE(rig.venue.application.removed.empty());
  EXPECT_NE(rig.venue.loop->find(1), nullptr);
}

TEST_F(JournalSession, of_a_template_makes_room_for_another_when_it_is_idle) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  rig.venue.config.sessions = {any};
  rig.venue.config.max_dynamic_sessions = 1;
  open_venue(Durability::interval);
  RawPeer one{rig.network, rig.clock, "ONE"}, two{rig.network, rig.clock, "TWO"};
  for (RawPeer* peer : {&one, &two, &one}) {
    peer->connect();
    turn();
    peer->send(peer->logon());
    turn(2);
    peer->read();
    EXPECT_EQ(peer->all(Tag::MsgType), (std::vector<std::string>{"A"}));
    peer->close();
    turn(2);
  }
  EXPECT_EQ(one.seq, 3u);
  EXPECT_EQ(rig.venue.loop->counters().too_many_sessions, 0u);
}

TEST_F(JournalSession, of_a_template_beyond_the_number_of_journals_is_refused_with_one_alert_and_known_ones_continue) {
  SessionSettings any = with_journal(acceptor("*"), Durability::interval, "venue");
  any.is_template = true;
  rig.venue.config.sessions = {any};
  store_limits.stores = 2;
  open_venue(Durability::interval);
  const auto logs_on = [&](RawPeer& peer) {
    peer.connect();
    turn();
    peer.send(peer.logon());
    turn(3);
    peer.read();
    return peer.all(Tag::MsgType) == std::vector<std::string>{"A"};
  };
  RawPeer one{rig.network, rig.clock, "ONE"}, two{rig.network, rig.clock, "TWO"};
  EXPECT_TRUE(logs_on(one));
  EXPECT_TRUE(logs_on(two));
  for (int i = 0; i < 20; ++i) {
    RawPeer stranger{rig.network, rig.clock, "CLIENT-" + std::to_string(i)};
    EXPECT_FALSE(logs_on(stranger)) << i;
  }
  ASSERT_EQ(rig.venue.application.store_alerts.size(), 1u);
  EXPECT_NE(rig.venue.application.store_alerts[0].find("as many as max_dynamic_stores allows"), std::string::npos);
  EXPECT_EQ(rig.venue.loop->counters().store, 20u);
  EXPECT_EQ(list_sessions(disk, "/venue").size(), 2u);
  one.close();
  turn(2);
  EXPECT_TRUE(logs_on(one)) << "its journal is there";
}

// Journals from before names were escaped.
class FormerJournal : public JournalSession {
 protected:
  FormerJournal() {
    rig.venue.config.sessions = {with_journal(acceptor("B"), Durability::interval, "venue")};
    mine = rig.venue.config.sessions[0].session;
    mine.sender_comp_id = rig.venue.config.sessions[0].session.sender_comp_id = "V->A";
  }
  // With one message of this session, under the name that both had.
  void leave_journal_of(const SessionConfig& session) {
    JournalStores old{disk, {}};
    JournalStore journal{disk, rig.venue.config.sessions[0].journal, former_identity(mine), rig.clock.now().utc};
    old.flusher().add(journal);
    std::string bytes(512, '\0');
    Composer composer{session};
    bytes.resize(
        *composer.compose({.msg_type = "8", .seq = SeqNum{7}, .body = field(11, "a")}, rig.clock.now().utc, bytes));
    ASSERT_TRUE(journal.append(SeqNum{7}, bytes, rig.clock.now().utc));
    journal.set_next_outbound(SeqNum{8}, rig.clock.now().utc);
    journal.set_next_inbound(SeqNum{5}, rig.clock.now().utc);
  }

  SessionConfig mine;
};

TEST_F(FormerJournal, is_opened_again_by_the_session_whose_messages_it_has) {
  leave_journal_of(mine);
  open_venue(Durability::interval);
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{8});
  EXPECT_EQ(rig.venue.session().next_inbound(), SeqNum{5});
  EXPECT_EQ(list_sessions(disk, "/venue").size(), 1u);
}

TEST_F(FormerJournal, of_another_session_stays_that_one_s) {
  SessionConfig other = mine;
  other.sender_comp_id = "V";
  other.target_comp_id = "A->B";
  leave_journal_of(other);
  open_venue(Durability::interval);
  EXPECT_EQ(rig.venue.session().next_outbound(), SeqNum{1});
  EXPECT_EQ(list_sessions(disk, "/venue").size(), 2u);
}

// Stores on a slow disk: meanwhile another thread has a request for the loop.
class SlowStores final : public SessionStores {
 public:
  explicit SlowStores(std::function<void()> their_meanwhile) : meanwhile(std::move(their_meanwhile)) {}
  SessionStore open(const SessionSettings& settings, UtcTime now) override {
    meanwhile();
    return memory_stores().open(settings, now);
  }
  void close(std::string_view, SessionStore) noexcept override {}
  bool later(std::string_view, std::function<void()>) override { return false; }

 private:
  std::function<void()> meanwhile;
};

TEST_F(JournalSession, nobody_waits_for_the_disk_of_a_session_that_another_thread_adds) {
  bool answered = false;
  SlowStores slow{[&] {
    auto answer = std::async(std::launch::async, [&] { return rig.venue.loop->knows("nobody"); });
    answered = answer.wait_for(10min) == std::future_status::ready;
  }};
  rig.venue.config.sessions = {acceptor("*")};
  rig.venue.config.sessions[0].is_template = true;
  check_config(rig.venue.config);
  rig.venue.loop.emplace(rig.venue.config, 0, rig.venue.transport, rig.clock, rig.venue.application, slow);
  rig.venue.loop->add(acceptor("TRADER"));
  EXPECT_TRUE(answered);
  rig.venue.loop.reset();
}

}  // namespace
}  // namespace nfx::test
