// Two machines, a network and time, from one seed. The same seed gives the same run, event for event. Time advances
// from event to event: an hour without events only costs its heartbeats.
//
//   storm     faults every few seconds, orders all the time
//   calm      no faults, no orders: both sides must agree in the end, and everything sent must be delivered
//   weather   hours with an order and a fault now and then; heartbeats, schedules, day boundaries
//
// Thread: one owner. Errors: a violation ends the run and is part of the result.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/console.hpp"

namespace nfx::simulation {

struct RunOptions {
  std::uint64_t seed = 1;
  std::chrono::hours hours{24};
  FaultSet faults = FaultSet::all();
  std::FILE* live = nullptr;             // every event is written there
  Defect defect = Defect::none;          // of the venue
  BrokenLink broken = BrokenLink::none;  // of the trader's network
};

struct RunResult {
  std::optional<std::string> violation;
  std::string trace;  // the last events, if there is a violation
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  std::uint64_t turns = 0;
  Duration simulated{};
  Duration logged_on{};  // both sides
  LedgerCounts counts;
  std::map<std::string, std::uint64_t> refusal_texts;
  std::array<std::uint64_t, fault_count> injected{};
  std::uint64_t refused_sends = 0;
  ReloadCounts reloads;
  std::size_t engine_bytes = 0;       // the most that one side held between two iterations
  std::size_t engine_bytes_most = 0;  // ... and at any time
  std::size_t network_bytes_most = 0;
};

class World {
 public:
  explicit World(const RunOptions& options);
  [[nodiscard]] RunResult run();

 private:
  enum class Phase : std::uint8_t { storm, calm, weather };
  struct Ghost {
    std::unique_ptr<ProcessTransport> transport;
    MonotonicTime until;
  };

  void begin(Phase phase);
  void pass(Duration time);
  void become_calm();
  [[nodiscard]] bool agree();
  void step(MonotonicTime until);
  void advance(MonotonicTime until);
  void settle();
  void act();
  void inject();
  void inject(Fault fault, Side side);
  void operate(Side side);
  void disturb(Side side);
  void reconfigure(Side side);
  void change_live_settings(Side side);
  void finish_reload(Side side);
  void repair_host(Side side);
  void will_end_operations(Side side);
  void end_operations(Side side);
  void look_at_memory();
  void start(Side side);
  void flush(Side side);
  void plan_flush(Side side);
  void after_end(Side side);
  void set_clock(Side side, Duration offset);
  [[nodiscard]] Party& party(Side side) { return *parties_[index(side)]; }
  [[nodiscard]] Console& console(Side side) { return *consoles_[index(side)]; }
  [[nodiscard]] bool stalled(Side side) const { return stalled_until_[index(side)] > now_; }
  [[nodiscard]] FaultOptions network_faults(Side side);
  [[nodiscard]] bool going_on() const { return !ledger_.violation(); }

  RunOptions options_;
  Plan plan_;
  Dice dice_;
  Instant begin_;
  MonotonicTime now_;
  Trace trace_;
  Ledger ledger_;
  LoopbackNetwork network_;
  std::array<std::unique_ptr<Party>, 2> parties_;
  std::array<std::unique_ptr<Console>, 2> consoles_;
  std::array<std::function<void()>, 2> at_console_;  // the next action of an operator, which takes time
  std::vector<Ghost> ghosts_;
  Phase phase_ = Phase::calm;
  std::array<MonotonicTime, 2> order_at_;
  std::array<MonotonicTime, 2> start_at_;
  std::array<MonotonicTime, 2> clock_back_at_;
  std::array<MonotonicTime, 2> flush_at_;
  std::array<MonotonicTime, 2> room_at_;
  std::array<MonotonicTime, 2> slow_until_;
  std::array<MonotonicTime, 2> stalled_until_;
  std::array<MonotonicTime, 2> operator_done_at_;
  MonotonicTime reset_until_ = MonotonicTime::min();  // an operator's reset may be answered
  MonotonicTime fault_at_ = MonotonicTime::max();
  std::array<std::uint64_t, fault_count> injected_{};
  std::uint64_t turns_ = 0;
  Duration logged_on_{};
  std::size_t engine_bytes_ = 0;
};

}  // namespace nfx::simulation
