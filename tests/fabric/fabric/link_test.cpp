// Links in virtual time: defects of the published demonstration that this link must not have, deaths of rails at every
// point of a transfer, credits, acknowledgements, and refusals.
#include "fabric/fabric_testing.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx::fabric::testing {
namespace {

TEST(link, a_transfer_is_complete_only_when_every_page_is_there_in_whatever_order) {
  // Writes overtake each other by up to two milliseconds, so that the last one posted is rarely the last to arrive.
  bool last_came_early = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LinkPair pair{2, {.seed = seed * 10, .delay_max = 2ms}};
    ASSERT_TRUE(pair.come_up());
    pair.begin(1, 48);
    ASSERT_TRUE(pair.until([&] { return pair.events[1].received.contains(1); }));
    const auto& order = pair.events[1].pages[1];
    ASSERT_EQ(order.size(), 48U);
    last_came_early = last_came_early || order.back() != 47;
    EXPECT_TRUE(pair.is_whole(48));
  }
  EXPECT_TRUE(last_came_early) << "the order was the order of posting: nothing was tested";
}

TEST(link, an_error_completion_ends_no_transfer_and_nothing_hangs) {
  LinkPair pair{2, {.delay_max = 200us, .failed = 0.02}};
  ASSERT_TRUE(pair.come_up());
  for (std::uint64_t id = 1; id <= 10; ++id) {
    pair.begin(id, 64);
    ASSERT_TRUE(pair.until([&] { return pair.is_reported(id); })) << id;
    EXPECT_EQ(pair.events[0].sent[id], TransferResult::complete);
    EXPECT_TRUE(pair.is_whole(64));
  }
  EXPECT_GT(pair.wires[0].counters().errors + pair.wires[1].counters().errors, 0U);
}

TEST(link, one_dead_card_ends_no_transfer) {
  LinkPair pair{4, {.delay_max = 300us}};
  ASSERT_TRUE(pair.come_up());
  pair.begin(1, 64);
  pair.step();
  pair.step();
  pair.wires[2].vanish(1h);
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(1); }));
  EXPECT_EQ(pair.events[0].sent[1], TransferResult::complete);
  EXPECT_EQ(pair.events[1].received[1], TransferResult::complete);
  EXPECT_TRUE(pair.is_whole(64));
  EXPECT_EQ(pair.links[0]->rails_up(), 3U);
}

TEST(link, a_rail_over_which_nothing_comes_is_closed_although_its_writes_are_done) {
  LinkOptions options = quick_options();
  options.write_deadline = 10s;  // so that only the silence can end it
  LinkPair pair{2, {}, options};
  ASSERT_TRUE(pair.come_up());
  pair.events[0].changes.clear();
  const MonotonicTime from = pair.now;
  pair.wires[1].mute(1);
  ASSERT_TRUE(pair.until([&] { return !pair.events[0].changes.empty(); }));
  EXPECT_EQ(pair.events[0].changes.front(), (std::pair{std::size_t{1}, RailChange::silent}));
  EXPECT_LE(pair.now - from, options.silence + options.heartbeat + 5ms);
}

TEST(link, small_and_large_writes_go_over_the_rails_that_are_preferred_for_them_while_one_is_up) {
  LinkOptions options = quick_options();
  options.choice = {.small_most = 256, .small_rails = 0b100, .large_rails = 0b011};
  LinkPair pair{3, {}, options};
  ASSERT_TRUE(pair.come_up());
  // Statuses go over every rail: only those few are counted where nothing else is sent.
  const auto writes_since = [&](const std::array<std::uint64_t, 3>& before) {
    std::array<std::uint64_t, 3> more{};
    for (std::size_t i = 0; i < 3; ++i) more[i] = pair.wires[i].counters().writes - before[i];
    return more;
  };
  auto before = writes_since({});
  pair.begin(1, 64);
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(1); }));
  const auto of_pages = writes_since(before);
  EXPECT_GE(of_pages[0] + of_pages[1], 64U);
  EXPECT_GT(std::min(of_pages[0], of_pages[1]), 16U);
  EXPECT_LT(of_pages[2], 32U);

  before = writes_since({});
  std::uint64_t sent = 0;
  ASSERT_TRUE(pair.until([&] {
    if (sent < 200 && pair.links[0]->send_record(bytes_of("small"))) ++sent;
    return pair.events[0].acknowledged == 200;
  }));
  const auto of_records = writes_since(before);
  EXPECT_GE(of_records[2], 200U);
  EXPECT_LT(of_records[0] + of_records[1], 100U);

  for (const std::size_t rail : {0U, 1U}) pair.wires[rail].vanish(1h);
  pair.begin(2, 64);
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(2); }));
  EXPECT_EQ(pair.events[0].sent[2], TransferResult::complete);
  EXPECT_EQ(pair.links[0]->rails_up(), 1U);

  options.choice.large_rails = 0b1000;
  EXPECT_THROW((LinkPair{3, {}, options}), std::runtime_error);
}

TEST(link, counters_are_on_cache_lines_of_their_own) {
  LinkPair pair{1};
  const auto first = reinterpret_cast<std::uintptr_t>(&pair.links[0]->counters());
  const auto second = reinterpret_cast<std::uintptr_t>(&pair.links[1]->counters());
  EXPECT_EQ(first % cache_line, 0U);
  EXPECT_EQ(second % cache_line, 0U);
  EXPECT_GE(std::max(first, second) - std::min(first, second), sizeof(LinkCounters));
}

enum class Death { cut_both, cut_sender, cut_receiver, vanish, restart_sender, restart_receiver };

// The rail, or the peer, dies after `steps` steps of the transfer. Returns false if the transfer had already ended.
bool dies_after(int steps, Death death, std::size_t rails) {
  LinkPair pair{rails, {.seed = 5, .delay_max = 150us}};
  EXPECT_TRUE(pair.come_up());
  pair.begin(1, 32);
  for (int i = 0; i < steps; ++i) pair.step();
  const bool had_ended = pair.is_reported(1);
  switch (death) {
    case Death::cut_both: pair.wires[0].cut(2); break;
    case Death::cut_sender: pair.wires[0].cut(0); break;
    case Death::cut_receiver: pair.wires[0].cut(1); break;
    case Death::vanish: pair.wires[0].vanish(40ms); break;
    case Death::restart_sender: pair.links[0]->restart(77, pair.now); break;
    case Death::restart_receiver: pair.links[1]->restart(78, pair.now); break;
  }
  EXPECT_TRUE(pair.until([&] { return pair.is_reported(1); }, 300ms)) << "not reported, " << steps;
  const bool restarted = death == Death::restart_sender || death == Death::restart_receiver;
  if (!restarted) {
    EXPECT_EQ(pair.events[0].sent[1], TransferResult::complete) << steps;
    EXPECT_EQ(pair.events[1].received[1], TransferResult::complete) << steps;
  }
  if (pair.events[1].received[1] == TransferResult::complete) {
    EXPECT_TRUE(pair.is_whole(32)) << steps;
  } else {
    EXPECT_NE(pair.events[0].sent[1], TransferResult::complete) << steps;
  }
  // No write is late: from here on the memory is used otherwise.
  std::memset(pair.memory[1].data(), 0x11, pair.memory[1].size());
  static_cast<void>(pair.until([] { return false; }, 60ms));
  EXPECT_TRUE(std::ranges::all_of(pair.memory[1].bytes(), [](std::byte each) { return each == std::byte{0x11}; }));
  EXPECT_TRUE(restarted || pair.links[0]->rails_up() == rails) << "it did not come back";
  return !had_ended;
}

TEST(link, a_rail_or_a_peer_dies_at_every_point_of_a_transfer) {
  for (const Death death : {Death::cut_both, Death::cut_sender, Death::cut_receiver, Death::vanish,
                            Death::restart_sender, Death::restart_receiver}) {
    for (const std::size_t rails : {std::size_t{1}, std::size_t{2}}) {
      int steps = 0;
      while (dies_after(steps, death, rails) && !HasFailure()) ++steps;
      EXPECT_GT(steps, 10) << "the transfer was too short for a test";
    }
  }
}

TEST(link, a_receiver_that_does_not_poll_stops_the_sender_by_its_credits) {
  LinkOptions options = quick_options();
  options.silence = options.write_deadline = 10s;
  LinkPair pair{1, {.limits = {.slots = 64, .arrivals = 72, .longest_write = 1 << 20}}, options};
  ASSERT_TRUE(pair.come_up());
  pair.begin(1, 64);
  while (pair.events[1].pages.empty()) pair.step();
  for (int i = 0; i < 500; ++i) pair.step(false);
  EXPECT_EQ(pair.wires[0].counters().overruns, 0U);
  EXPECT_LT(pair.links[0]->counters().pages_sent, 64U);
  EXPECT_GT(pair.links[0]->counters().without_credit, 0U);
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(1); }));
  EXPECT_TRUE(pair.is_whole(64));
}

TEST(link, numbers_that_come_twice_are_credited_twice_and_a_queue_that_overflows_loses_nothing) {
  std::uint64_t overflows = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    LinkOptions options = quick_options();
    options.silence = 100ms;
    LinkPair pair{1,
                  {.seed = seed,
                   .delay_max = 3ms,
                   .duplicate = 0.5,
                   .early_done = 1,
                   .spell = 1ms,
                   .limits = {.slots = 64, .arrivals = 64, .longest_write = 1 << 20}},
                  options};
    ASSERT_TRUE(pair.come_up());
    for (std::uint64_t id = 1; id <= 4; ++id) pair.begin(id, 64);
    // The receiver polls now and then.
    for (int i = 0; i < 5000 && !pair.is_reported(4); ++i) pair.step(i % 250 == 0);
    for (std::uint64_t id = 1; id <= 4; ++id) {
      ASSERT_TRUE(pair.until([&] { return pair.is_reported(id); })) << seed;
      EXPECT_EQ(pair.events[0].sent[id], TransferResult::complete) << seed;
      EXPECT_EQ(pair.events[1].received[id], TransferResult::complete) << seed;
    }
    EXPECT_TRUE(pair.is_whole(64)) << seed;
    overflows += pair.links[1]->counters().rails_closed;
  }
  EXPECT_GT(overflows, 0U) << "no queue overflowed: nothing was tested";
}

TEST(link, records_are_delivered_in_order_once_while_rails_end) {
  LinkPair pair{2, {.seed = 9, .delay_max = 500us, .duplicate = 0.1, .cut = 0.05}};
  ASSERT_TRUE(pair.come_up());
  std::uint64_t sent = 0;
  ASSERT_TRUE(pair.until(
      [&] {
        if (sent < 2000 && pair.links[0]->send_record(bytes_of("record " + std::to_string(sent + 1)))) ++sent;
        return pair.events[1].records.size() == 2000 && pair.events[0].acknowledged == 2000;
      },
      20s));
  for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(pair.events[1].records[i], "record " + std::to_string(i + 1));
  EXPECT_GT(pair.links[0]->counters().rails_closed, 0U);
  EXPECT_GT(pair.links[0]->counters().records_sent_again, 0U);
}

TEST(link, an_acknowledgement_waits_for_the_application_where_it_is_to) {
  LinkOptions options = quick_options();
  options.acknowledge_on_return = false;
  LinkPair pair{1, {}, options};
  ASSERT_TRUE(pair.come_up());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.links[0]->send_record(bytes_of("x")));
  ASSERT_TRUE(pair.until([&] { return pair.events[1].records.size() == 3; }));
  EXPECT_FALSE(pair.until([&] { return pair.events[0].acknowledged != 0; }, 50ms));
  pair.links[1]->acknowledge(RecordSeq{2});
  ASSERT_TRUE(pair.until([&] { return pair.events[0].acknowledged == 2; }));
  pair.links[1]->acknowledge(RecordSeq{99});  // more than were received
  ASSERT_TRUE(pair.until([&] { return pair.events[0].acknowledged == 3; }));
}

TEST(link, what_is_full_is_refused_and_works_again_after_polls) {
  LinkPair pair{1};
  ASSERT_TRUE(pair.come_up());
  int taken = 0;
  while (pair.links[0]->send_record(bytes_of("x"))) ++taken;
  EXPECT_EQ(taken, 12);  // of 16 slots, 4 are reserved for the link
  EXPECT_EQ(pair.links[0]->send_record(bytes_of("x")).error(), LinkError::full);
  ASSERT_TRUE(pair.until([&] { return pair.events[0].acknowledged == 12; }));
  EXPECT_TRUE(pair.links[0]->send_record(bytes_of("x")));
  EXPECT_EQ(pair.links[0]->send_record(bytes_of(std::string(201, 'x'))).error(), LinkError::too_long);

  for (std::uint64_t id = 1; id <= 4; ++id) ASSERT_TRUE(pair.links[0]->send(TransferId{id}, LinkPair::range(1)));
  EXPECT_EQ(pair.links[0]->send(TransferId{5}, LinkPair::range(1)).error(), LinkError::full);
  EXPECT_EQ(pair.links[0]->send(TransferId{4}, LinkPair::range(1)).error(), LinkError::in_use);
  pair.links[0]->cancel_send(TransferId{4});
  ASSERT_TRUE(pair.until([&] { return pair.events[0].sent.contains(4); }));
  EXPECT_EQ(pair.events[0].sent[4], TransferResult::cancelled);
  EXPECT_EQ(pair.links[0]->send(TransferId{6}, LinkPair::range(65)).error(), LinkError::too_long);
  PageRange outside = LinkPair::range(64);
  outside.offset = 1;
  EXPECT_EQ(pair.links[0]->send(TransferId{6}, outside).error(), LinkError::out_of_range);
  outside = LinkPair::range(1);
  outside.region = RegionIndex{0};
  EXPECT_EQ(pair.links[0]->receive(TransferId{6}, outside).error(), LinkError::out_of_range);
}

TEST(link, a_request_of_the_receiver_reaches_the_sender) {
  LinkPair pair{2};
  ASSERT_TRUE(pair.come_up());
  ASSERT_TRUE(pair.links[1]->receive(TransferId{7}, LinkPair::range(5)));
  ASSERT_TRUE(pair.until([&] { return !pair.events[0].requested.empty(); }));
  EXPECT_EQ(pair.events[0].requested, std::vector<std::uint64_t>{7});
  ASSERT_TRUE(pair.links[0]->send(TransferId{7}, LinkPair::range(5)));
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(7); }));
  EXPECT_TRUE(pair.is_whole(5));
}

TEST(link, different_numbers_of_pages_are_reported_at_both_ends) {
  LinkPair pair{1};
  ASSERT_TRUE(pair.come_up());
  ASSERT_TRUE(pair.links[1]->receive(TransferId{7}, LinkPair::range(5)));
  ASSERT_TRUE(pair.links[0]->send(TransferId{7}, LinkPair::range(6)));
  ASSERT_TRUE(pair.until([&] { return pair.is_reported(7); }));
  EXPECT_EQ(pair.events[0].sent[7], TransferResult::different);
  EXPECT_EQ(pair.events[1].received[7], TransferResult::different);
}

TEST(link, a_link_without_rails_is_lost_and_reports_all_that_is_open) {
  LinkPair pair{2};
  ASSERT_TRUE(pair.come_up());
  pair.begin(1, 64);
  pair.step();
  for (FaultyWire& wire : pair.wires) wire.vanish(1h);
  ASSERT_TRUE(pair.until([&] { return pair.events[0].loss && pair.events[1].loss; }));
  EXPECT_EQ(pair.events[0].loss, LossReason::no_rail);
  EXPECT_EQ(pair.events[0].sent[1], TransferResult::lost);
  EXPECT_EQ(pair.events[1].received[1], TransferResult::lost);
  EXPECT_EQ(pair.links[0]->send_record(bytes_of("x")).error(), LinkError::lost);
}

TEST(link, a_peer_that_started_again_ends_the_link_and_a_new_one_works) {
  LinkPair pair{2};
  ASSERT_TRUE(pair.come_up());
  ASSERT_TRUE(pair.links[0]->send_record(bytes_of("before")));
  pair.links[1]->restart(99, pair.now);
  ASSERT_TRUE(pair.until([&] { return pair.events[0].loss.has_value(); }));
  EXPECT_EQ(pair.events[0].loss, LossReason::peer_restarted);
  pair.links[0]->restart(98, pair.now);
  pair.events[1].records.clear();
  ASSERT_TRUE(pair.come_up());
  ASSERT_TRUE(pair.links[0]->send_record(bytes_of("after")));
  ASSERT_TRUE(pair.until([&] { return !pair.events[1].records.empty(); }));
  EXPECT_EQ(pair.events[1].records[0], "after");
}

TEST(link, options_that_cannot_work_are_refused_by_name) {
  FaultyWire wire{{}};
  Recorder events;
  const std::vector<RailRef> rails{RailRef{wire.end(0)}};
  const auto refusal = [&](auto change) {
    LinkOptions options = quick_options();
    options.session = 1;
    change(options);
    try {
      const Link link{rails, options, events};
    } catch (const std::runtime_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_NE(refusal([](LinkOptions& o) { o.session = 0; }).find("session"), std::string::npos);
  EXPECT_NE(refusal([](LinkOptions& o) { o.record_slots = 17; }).find("record_slots"), std::string::npos);
  EXPECT_NE(refusal([](LinkOptions& o) { o.pages = 0; }).find("pages"), std::string::npos);
  EXPECT_NE(refusal([](LinkOptions& o) { o.transfers = 65; }).find("transfers"), std::string::npos);
  EXPECT_NE(refusal([](LinkOptions& o) { o.silence = o.heartbeat; }).find("silence"), std::string::npos);
}

}  // namespace
}  // namespace nfx::fabric::testing
