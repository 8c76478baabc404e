// The demonstration's trader: an initiator that sends new orders, replaces and cancels, first at a set rate, then as
// fast as answers come, and records the result of each.
// Thread: the engine's poll thread; progress() from any. Cost: no allocation after construction. Latency is counted
// from the moment when a request was due, not from when it was sent: a stall shows in every request that it delays.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "demo/book.hpp"
#include "demo/disturbance.hpp"
#include "demo/market.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/engine/application.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "placement/thread_sampler.hpp"

namespace nfx::app::demo {

// A phase of requests, at most `window` of them unanswered at a time: at `rate_per_s` if it is not 0 (open loop),
// otherwise as fast as answers come (closed loop).
struct PhasePlan {
  std::string_view name;  // for programs
  std::string title{};    // for people
  std::uint32_t requests = 0;
  std::uint32_t rate_per_s = 0;
  std::uint32_t window = 0;
  bool reported = true;     // false: warm-up
  bool may_repeat = false;  // repeated once if the scheduler disturbed it
};

struct PhaseResult {
  PhasePlan plan;
  LatencyHistogram round_trip;
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  Duration elapsed{};
  Disturbance disturbance;
  std::optional<Disturbance> first_run;  // if the first run was disturbed, and this is the second one

  [[nodiscard]] double messages_per_s() const noexcept {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    return seconds > 0 ? static_cast<double>(messages_in + messages_out) / seconds : 0;
  }
};

struct TraderCounts {
  std::uint64_t orders = 0;
  std::uint64_t replaces = 0;
  std::uint64_t cancels = 0;
  std::uint64_t fills = 0;
  std::uint64_t rejects = 0;
  std::uint64_t unexpected = 0;  // reports that match none of our requests; the demonstration then fails
};

class Trader final : public Application, public Observer {
 public:
  Trader(std::vector<PhasePlan> plan, std::uint64_t seed);
  // Measures what disturbs each phase. Call it before the engine starts; the meter outlives the trader.
  void measure_with(DisturbanceMeter& meter) noexcept { meter_ = &meter; }

  void on_logon(SessionHandle& session) override;
  Handled on_message(SessionHandle& session, const MessageView& message) override;
  void on_traffic(SessionHandle& session, Direction direction, std::string_view message) override;
  void on_reject(SessionHandle& session, const MessageView& reject) override;
  void on_logout(SessionHandle& session, std::string_view reason) override;
  Duration on_turn(Instant now) override;

  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] bool completed() const noexcept { return phase_ == phases_.size(); }
  [[nodiscard]] std::uint32_t progress() const noexcept { return answered_total_.load(std::memory_order_relaxed); }
  // The number planned at this time; most_requests() includes all possible repetitions.
  [[nodiscard]] std::uint32_t total_requests() const noexcept { return planned_total_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t most_requests() const noexcept {
    return static_cast<std::uint32_t>(requests_.size() - 1);
  }

  // Requires done().
  [[nodiscard]] const std::vector<PhaseResult>& phases() const noexcept { return phases_; }
  [[nodiscard]] const TraderCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const ThreadStats& thread_before() const noexcept { return thread_before_; }
  [[nodiscard]] const ThreadStats& thread_after() const noexcept { return thread_after_; }
  [[nodiscard]] std::vector<OrderSummary> summaries() const;
  // Mean size of whole messages, including the session header: a raw connection has to carry as many bytes for a fair
  // comparison.
  [[nodiscard]] std::size_t mean_request_bytes() const noexcept { return traffic_out_.mean(); }
  [[nodiscard]] std::size_t mean_answer_bytes() const noexcept { return traffic_in_.mean(); }

 private:
  struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    [[nodiscard]] std::size_t mean() const noexcept { return messages == 0 ? 0 : bytes / messages; }
  };
  struct Request {
    std::uint32_t order = 0;  // the request that opened it
    bool answered = false;
    MonotonicTime due{};
  };
  struct Order {
    std::uint32_t price_ticks = 0;
    std::uint32_t quantity = 0;
    std::uint32_t filled = 0;
    std::uint32_t cl_ord_id = 0;
    std::uint32_t place = no_order;  // index in open_
    std::uint8_t symbol = 0;
    Side side = Side::buy;
    OrderState state = OrderState::none;
    bool pending = false;  // a replace or cancel is in flight
  };

  void begin_phase();
  void end_phase(MonotonicTime now);
  void send_due(MonotonicTime now);
  [[nodiscard]] bool is_window_full() const noexcept;
  [[nodiscard]] bool send_request(MonotonicTime due);
  [[nodiscard]] bool send_new(std::uint32_t id);
  [[nodiscard]] bool send_change(std::uint32_t id, std::uint32_t order, bool replace);
  void append_instrument(FieldWriter& body, const Order& order, std::uint32_t price_ticks, std::uint32_t quantity);
  void execution_report(const MessageView& message);
  void answered(std::uint32_t request, MonotonicTime now);
  void open_order(std::uint32_t order);
  void close_order(std::uint32_t order);
  [[nodiscard]] std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  std::vector<PhaseResult> phases_;
  std::size_t phase_ = 0;
  std::uint32_t sent_in_phase_ = 0;
  std::uint32_t answered_in_phase_ = 0;
  MonotonicTime phase_start_{};
  std::uint64_t in_before_ = 0;
  std::uint64_t out_before_ = 0;

  SessionHandle* session_ = nullptr;
  std::mt19937_64 random_;
  std::vector<Request> requests_;  // by ClOrdID, from 1
  std::vector<Order> orders_;      // by the ClOrdID that opened them
  std::vector<std::uint32_t> open_;
  std::uint32_t next_id_ = 1;
  Traffic traffic_in_;
  Traffic traffic_out_;
  TraderCounts counts_;
  ThreadStats thread_before_;
  ThreadStats thread_after_;
  DisturbanceMeter* meter_ = nullptr;
  std::atomic<std::uint32_t> planned_total_{0};
  std::atomic<std::uint32_t> answered_total_{0};
  std::atomic<bool> done_{false};
  std::array<char, 512> buffer_;
};

}  // namespace nfx::app::demo
