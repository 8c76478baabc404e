// Shared by the parts of one poll loop: configuration, time, network, reports, and the lists of sessions with something
// to do.
// Thread: the poll thread, except for loop_thread and counters(). Lifetime: outlives every part and session of the
// loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/jitter.hpp"
#include "base/shared_counters.hpp"
#include "engine/connection_owners.hpp"
#include "engine/deadline_heap.hpp"
#include "engine/engine_counter_rows.hpp"
#include "engine/index_list.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/latency_recorder.hpp"
#include "engine/line_limits.hpp"
#include "engine/loop_network.hpp"
#include "engine/loop_reports.hpp"
#include "engine/loop_thread.hpp"
#include "engine/session_stores.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

class Admission;
class Receiver;

struct LoopOptions {
  const EngineConfig& config;  // this and what follows outlives the loop
  std::uint32_t thread = 0;    // the poll thread whose sessions it runs
  LoopNetwork& network;
  Callbacks callbacks;
  SessionStores& stores;
  Instant now{};
};

// The maximum number of sessions of one poll thread: the configured ones, and the ones added while it runs.
[[nodiscard]] std::size_t most_sessions(const EngineConfig& config) noexcept;

// The time that events happen at.
class LoopTime {
 public:
  explicit LoopTime(Instant now) noexcept : now_(now) {}
  [[nodiscard]] const Instant& now() const noexcept { return now_; }
  void set(Instant now) noexcept {
    NFX_ASSERT(now.monotonic >= now_.monotonic);
    // Copied one member after the other. Copied as a whole, it would be read from memory before the stores of its
    // halves are complete.
    now_.utc = now.utc;
    now_.monotonic = now.monotonic;
  }
  // Within an iteration the time of day advances with the monotonic clock: one reading instead of two for each event. A
  // change of the system time takes effect in the next iteration.
  void advance_to(MonotonicTime now) noexcept {
    NFX_ASSERT(now >= now_.monotonic);
    now_.utc += now - now_.monotonic;
    now_.monotonic = now;
  }

 private:
  Instant now_;
};

struct LoopContext {
  explicit LoopContext(const LoopOptions& options);
  LoopContext(const LoopContext&) = delete;
  LoopContext& operator=(const LoopContext&) = delete;

  [[nodiscard]] const Instant& now() const noexcept { return time.now(); }
  // Application::on_turn, which is called again soon when it throws.
  [[nodiscard]] Duration on_turn() noexcept;
  // A callback without a session has thrown. Called within a catch block.
  void callback_threw(std::string_view callback) noexcept;
  void store_alert(const std::string& text) noexcept;
  void check_stores_soon() noexcept { store_changes_seen = ~std::uint64_t{0}; }
  // Prefetches what the next message of this session uses; see WarmUp.
  void warm(std::uint32_t index, ConnectionId id) const noexcept;
  void count(std::uint64_t PollLoopCounters::* what) noexcept { count_shared(counters_.*what); }
  // From any thread.
  [[nodiscard]] PollLoopCounters counters() const noexcept { return read_shared(counters_); }

  const EngineConfig& config;
  const std::uint32_t thread;
  LoopNetwork& network;
  const Callbacks callbacks;
  SessionStores& stores;
  LoopTime time;
  LoopThread loop_thread;
  LatencyLedger latencies;
  LatencyRecorder recorder{latencies, config.latency, time.now(), network};
  const void* delivering = nullptr;  // the session whose on_message runs, where latencies are measured; null: none
  LoopReports reports;
  ConnectionOwners owners;
  MessageView replayed;  // the message that is sent again
  Jitter jitter;
  std::uint64_t store_changes_seen = 0;
  bool stopping = false;
  bool draining = false;

  // By place in the session table.
  DeadlineHeap deadlines;
  IndexList dirty;      // with something to flush
  IndexList replaying;  // with a resend under way
  IndexList waiting;    // whose messages wait for their journal's sync
  IndexList leaving;    // to be removed once their connection has ended
  IndexList failed;     // of which a callback threw, to be logged out

  // Set by these, before the first event.
  Admission* admission = nullptr;
  Receiver* receiver = nullptr;

 private:
  LineLimit callback_lines_;
  PollLoopCounters counters_;  // with count_shared()
};

}  // namespace nfx
