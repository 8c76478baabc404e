// Two engines over a network that splits, delays, cuts and swallows: what one side sends, the other gets once, in
// order.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/loop_rig.hpp"
#include "engine/poll_loop_impl.hpp"
#include "transport/faulty_transport.hpp"

namespace nfx::test {
namespace {

using Faulty = FaultyTransport<LoopbackTransport>;

struct FaultySide {
  FaultySide(LoopbackNetwork& network, ManualClock& its_clock, FaultOptions faults)
      : clock(its_clock),
        inner(network),
        transport(inner, faults, [&its_clock] { return its_clock.now().monotonic; }) {}
  void start() {
    loop.emplace(config, 0, transport, clock, application);
    loop->start();
  }
  SessionHandle& session() { return *loop->find(0); }

  ManualClock& clock;
  EngineConfig config;
  LoopbackTransport inner;
  Faulty transport;
  RecordingApplication application;
  std::optional<PollLoop<Faulty, ManualClock>> loop;
  std::size_t sent = 0;
};

void try_to_send(FaultySide& side, std::size_t total) {
  if (side.sent == total || !side.session().logged_on()) return;
  if (side.session().send({.msg_type = "D", .body = std::string_view{order(side.sent)}}).has_value()) ++side.sent;
}

std::vector<std::string> sequence(std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(std::to_string(i));
  return result;
}

FaultCounters run(std::uint64_t seed, std::uint32_t chunk) {
  SCOPED_TRACE("NFX_TEST_SEED=" + std::to_string(seed));
  constexpr std::size_t messages = 400;
  FaultOptions faults{.seed = seed,
                      .split_probability = 0.9,
                      .delay_probability = 0.3,
                      .max_delay = 200ms,
                      .cut_probability = 0.6,
                      .cut_within = 32 * 1024,
                      .swallow_probability = 0.1,
                      .swallow_within = 32 * 1024};
  LoopbackNetwork network;
  ManualClock clock{engine_test_start()};
  FaultySide venue{network, clock, faults};
  faults.seed = seed * 2 + 1;
  FaultySide trader{network, clock, faults};
  venue.config.sessions = {acceptor()};
  trader.config.sessions = {initiator()};
  trader.config.sessions[0].session.heartbeat_interval = 2s;
  for (FaultySide* side : {&venue, &trader}) {
    SessionConfig& session = side->config.sessions[0].session;
    session.resend_chunk_size = chunk;
    session.resend_timeout = 3s;
    session.max_resend_attempts = 100;
    side->config.sessions[0].reconnect_delay_max = 2000ms;
    side->start();
  }
  const auto agree = [&] {
    return venue.session().logged_on() && trader.session().logged_on() &&
           venue.session().next_inbound() == trader.session().next_outbound() &&
           trader.session().next_inbound() == venue.session().next_outbound();
  };
  const auto complete = [&] {
    return venue.application.at().orders.size() == messages && trader.application.at().orders.size() == messages;
  };
  for (int i = 0; i < 200'000 && !(complete() && agree()); ++i) {
    clock.advance(10ms);
    if (i % 5 == 0) try_to_send(venue, messages);
    if (i % 3 == 0) try_to_send(trader, messages);
    venue.loop->turn(0ns);
    trader.loop->turn(0ns);
  }
  EXPECT_EQ(venue.application.at().orders, sequence(messages));
  EXPECT_EQ(trader.application.at().orders, sequence(messages));
  EXPECT_TRUE(agree());
  const FaultCounters& a = venue.transport.counters();
  const FaultCounters& b = trader.transport.counters();
  return {a.small_pieces + b.small_pieces, a.delayed_pieces + b.delayed_pieces, a.cuts + b.cuts, a.losses + b.losses,
          a.swallowed_bytes + b.swallowed_bytes};
}

TEST(FaultyNetwork, every_message_arrives_once_and_in_order_and_the_numbers_agree) {
  std::uint64_t first = 1, last = 40;
  if (const char* text = std::getenv("NFX_TEST_SEED")) first = last = std::strtoull(text, nullptr, 10);
  FaultCounters faults;
  for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    const FaultCounters each = run(seed, seed % 3 == 0 ? 5 : 0);
    faults.small_pieces += each.small_pieces;
    faults.delayed_pieces += each.delayed_pieces;
    faults.cuts += each.cuts;
    faults.swallowed_bytes += each.swallowed_bytes;
  }
  if (first == last) return;
  EXPECT_GT(faults.small_pieces, 2'000U);
  EXPECT_GT(faults.delayed_pieces, 2'000U);
  EXPECT_GT(faults.cuts, 30U);
  EXPECT_GT(faults.swallowed_bytes, 1'000U);
}

}  // namespace
}  // namespace nfx::test
