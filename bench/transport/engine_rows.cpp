// Two engines, an order and its report at a time: what a program sees of a transport. The trader and the venue are the
// demonstration's; what they say of every order is compared at the end. A further condition is one more call of add().
#include <algorithm>

#include "demo/report.hpp"
#include "demo/trader.hpp"
#include "demo/venue.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/transport/io_uring_transport.hpp"
#include "transport/ping_pong.hpp"

namespace nfx::bench {

namespace {

using namespace std::chrono_literals;
using namespace app::demo;
using Change = std::function<void(EngineConfig&)>;

EngineConfig config_of(Role role, Endpoint endpoint, IdleMode idle, const Change& change) {
  EngineConfig config;
  config.idle = idle;
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = role == Role::acceptor ? "VENUE" : "TRADER";
  settings.session.target_comp_id = role == Role::acceptor ? "TRADER" : "VENUE";
  settings.prefault = true;
  (role == Role::acceptor ? settings.listen : settings.connect.emplace_back()) = std::move(endpoint);
  config.sessions = {settings};
  change(config);
  return config;
}

LatencyHistogram run_engines(const PingPong& plan, IdleMode idle, const Change& change) {
  Trader trader{{{.name = "warm-up", .requests = plan.warm_up, .window = 1, .reported = false},
                 {.name = "one at a time", .requests = plan.measured, .window = 1}},
                plan.seed};
  Venue venue{trader.total_requests()};
  Outcome outcome;
  std::atomic<bool> trader_failed{false};
  LatencyHistogram times = run_both(
      plan,
      [&](const auto& tell) {
        Engine engine{config_of(Role::acceptor, {"127.0.0.1", 0}, idle, change), venue};
        engine.start();
        tell(engine.local_endpoint(0)->port);
        while (!venue.done() && !trader_failed.load(std::memory_order_relaxed)) engine.turn(50ms);
        outcome.venue.counts = venue.counts();
        outcome.venue.orders = venue.summaries();
        outcome.venue.next_inbound = value(engine.session(0)->next_inbound());
        outcome.venue.next_outbound = value(engine.session(0)->next_outbound());
      },
      [&](std::uint16_t port) {
        Engine engine{config_of(Role::initiator, {"127.0.0.1", port}, idle, change), trader};
        engine.start();
        const auto deadline = std::chrono::steady_clock::now() + 120s;
        while (!trader.done() && std::chrono::steady_clock::now() < deadline) engine.turn(50ms);
        if (!trader.completed()) {
          trader_failed.store(true);
          throw WrongReply("the session ended before all requests were answered");
        }
        outcome.trader_next_inbound = value(engine.session(0)->next_inbound());
        outcome.trader_next_outbound = value(engine.session(0)->next_outbound());
        return trader.phases()[1].round_trip;
      });
  outcome.trader = &trader;
  if (const auto problems = disagreements(outcome); !problems.empty()) throw WrongReply(problems.front());
  return times;
}

void add(std::vector<Condition>& rows, const std::string& name, const Change& change, const std::string& why_not) {
  for (const IdleMode idle : {IdleMode::block, IdleMode::spin}) {
    rows.push_back({.name = name + " " + std::string(to_string(idle)),
                    .baseline = "raw " + std::string(to_string(idle)),
                    .why_not = why_not,
                    .run = [=](const PingPong& plan) { return run_engines(plan, idle, change); }});
  }
}

}  // namespace

void add_engine_rows(std::vector<Condition>& rows) {
  const IoUringFeatures features = probe_io_uring();
  add(rows, "engine, epoll", [](EngineConfig& config) { config.transport = TransportKind::epoll; }, "");
  add(
      rows, "engine, io_uring", [](EngineConfig& config) { config.transport = TransportKind::io_uring; },
      features.available ? "" : features.text);
}

}  // namespace nfx::bench
