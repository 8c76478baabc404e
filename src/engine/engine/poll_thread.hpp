// One poll thread of an engine, for any transport: the loop, its clock and its way to idle.
// Thread: made anywhere, then its own; wake() from any; loop() as LoopParts states. Cost: one virtual call per
// iteration. Errors: as PollLoop and the transport.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/counter_clock.hpp"
#include "engine/engine_logs.hpp"
#include "engine/loop_reports.hpp"
#include "engine/measured_thread.hpp"
#include "engine/session_figures.hpp"
#include "engine/session_stores.hpp"
#include "engine/thread_watch.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/submit.hpp"

namespace nfx {

class HandOnQueue;
class HandshakeExecutor;
struct LoopParts;

class PollThread : public MeasuredThread {
 public:
  explicit PollThread(IdleMode idle_mode) : idle(idle_mode) {}
  ~PollThread() override = default;
  PollThread(const PollThread&) = delete;
  PollThread& operator=(const PollThread&) = delete;

  virtual void start() = 0;
  virtual void turns_follow() noexcept = 0;   // see PollLoop
  virtual void count_latency() noexcept = 0;  // see PollLoop
  virtual std::size_t turn_loop(Duration max_wait) = 0;
  [[nodiscard]] virtual TurnTimes turn_times() const noexcept = 0;
  virtual void request_stop() noexcept = 0;
  [[nodiscard]] virtual bool finished() const noexcept = 0;
  virtual void wake() noexcept = 0;
  virtual void wake_when_readable(int descriptor) = 0;
  [[nodiscard]] virtual std::optional<Endpoint> local_endpoint(const Endpoint& configured) const = 0;
  // Without its transport.
  [[nodiscard]] virtual LoopParts& loop() noexcept = 0;
  [[nodiscard]] const LoopParts& loop() const noexcept { return const_cast<PollThread&>(*this).loop(); }
  void add_latency(LatencyReport& into) const override;
  [[nodiscard]] SlowRing& slow() const noexcept override;
  [[nodiscard]] TraceRing* traces() const noexcept override;
  // For the metrics page: all, or what is not of sessions.
  virtual void gather(ThreadFigures& into) const = 0;
  virtual void gather_loop(ThreadFigures& into) const = 0;
  // Socket options that this host refused, one sentence each.
  [[nodiscard]] virtual std::vector<std::string> transport_warnings() const = 0;

  std::size_t turn(Duration max_wait);
  // Turns until stop, then until all sessions are logged out or their time for it is over.
  void run();
  // The calling thread is the one that turns.
  void begin() noexcept { tid_.store(::gettid(), std::memory_order_relaxed); }
  [[nodiscard]] int thread_id() const noexcept override { return tid_.load(std::memory_order_relaxed); }
  // Copies the counters for the reader, who has requested them. The poll thread, or another after its end.
  void publish();

  CounterClock<> clock;
  IdleStrategy idle;
  IdleGap gap;
  EngineLogs::Figures figures;
  std::atomic<bool> stop{false};
  std::chrono::seconds longest_logout{0};

 private:
  ThreadFigures gathered_;
  std::atomic<int> tid_{0};
};

// The transport that the poll threads will use, and why it is not the configured one; empty when it is.
struct TransportChoice {
  TransportKind kind = TransportKind::epoll;  // never automatic
  bool tls = false;                           // some session is encrypted
  std::string text;
};
[[nodiscard]] TransportChoice choose_transport(const EngineConfig& config);

struct PollThreadOptions {
  const EngineConfig& config;  // this and what follows outlives the thread
  std::uint32_t number = 0;
  IdleMode idle = IdleMode::block;  // never automatic
  const Callbacks& callbacks;
  SessionStores& stores;
  HandshakeExecutor* handshakes = nullptr;  // null: a poll thread with TLS computes them
};
[[nodiscard]] std::unique_ptr<PollThread> make_poll_thread(const TransportChoice& choice,
                                                           const PollThreadOptions& options);

}  // namespace nfx
