// The flow with two NexusFIX engines.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/engine/observer.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "sustained/flow.hpp"
#include "trap.hpp"

namespace nfx::bench {

// Without the standard library, which would allocate where no allocation is permitted.
std::uint64_t resident_kib() {
  char text[128] = {};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  unsigned long long size = 0, resident = 0;
  if (got <= 0 || std::sscanf(text, "%llu %llu", &size, &resident) != 2) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

namespace {

class Side : public Application, public Observer {
 public:
  void on_logon(SessionHandle& session) override { handle = &session; }
  void on_logout(SessionHandle&, std::string_view) override {
    handle = nullptr;
    ended = true;
  }
  void on_notice(SessionHandle&, Notice notice, SeqNum, std::string_view text) override {
    if (notice == Notice::store_trouble || notice == Notice::slow_consumer) problem = std::string{text};
  }

  SessionHandle* handle = nullptr;
  bool ended = false;
  bool wrong = false;
  std::uint64_t messages = 0;
  std::string problem;

 protected:
  std::array<char, 512> body_{};
};

class Venue final : public Side {
 public:
  Handled on_message(SessionHandle& session, const MessageView& order) override {
    const auto number = order.get_int(Tag::ClOrdID);
    if (!number || static_cast<std::uint64_t>(*number) != next_++) wrong = true;
    FieldWriter body{body_};
    body.append(Tag::OrderID, next_).append(Tag::ClOrdID, order.get_view(Tag::ClOrdID)).append(Tag::ExecID, next_);
    body.append(Tag::ExecType, "0").append(Tag::OrdStatus, "0").append(Tag::Symbol, order.get_view(Tag::Symbol));
    body.append(Tag::Side, "1").append(Tag::OrderQty, order.get_view(Tag::OrderQty));
    body.append(Tag::LeavesQty, order.get_view(Tag::OrderQty)).append(Tag::CumQty, "0").append(Tag::AvgPx, "0");
    body.append(Tag::Text, std::string_view{text_, flow_report_text});
    if (!session.send({.msg_type = "8", .body = body.view(), .header_fields = {}})) wrong = true;
    messages += 2;
    return Handled::done;
  }

 private:
  const char text_[flow_report_text + 1] = "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
  std::uint64_t next_ = 1;
};

class Trader final : public Side {
 public:
  explicit Trader(const FlowPlan& plan) : plan_(plan), due_(largest_window) {}

  Handled on_message(SessionHandle&, const MessageView& report) override {
    const auto number = report.get_int(Tag::ClOrdID);
    if (!number || static_cast<std::uint64_t>(*number) != answered_ + 1) wrong = true;
    ++answered_;
    messages += 2;
    if (recording) {
      const auto took = std::chrono::steady_clock::now() - due_[answered_ % largest_window];
      round_trip.record(static_cast<std::uint64_t>(std::max<std::int64_t>(1, std::chrono::nanoseconds{took}.count())));
    }
    return Handled::done;
  }
  Duration on_turn(Instant) override {
    if (handle == nullptr || stop) return Duration::max();
    const auto now = std::chrono::steady_clock::now();
    if (plan_.rate == 0) {
      while (sent_ - answered_ < plan_.window && send(now)) {
      }
      return Duration::max();
    }
    if (begin_ == std::chrono::steady_clock::time_point{}) begin_ = now;
    // Counted from an order's due time, so that a stall shows in all orders that it delays.
    for (int burst = 0; burst < 64; ++burst) {
      const auto due = begin_ + std::chrono::nanoseconds{sent_ * 1'000'000'000 / plan_.rate};
      if (due > now) return due - now;
      if (sent_ - answered_ >= largest_window - 1 || !send(due)) break;
    }
    return Duration::zero();
  }

  bool stop = false;
  bool recording = false;
  LatencyHistogram round_trip;

 private:
  static constexpr std::uint64_t largest_window = 1 << 20;

  bool send(std::chrono::steady_clock::time_point due) {
    const std::uint64_t number = sent_ + 1;
    FieldWriter body{body_};
    body.append(Tag::ClOrdID, number).append(Tag::Symbol, number % 2 != 0 ? "MSFT" : "AAPL").append(Tag::Side, "1");
    body.append(Tag::TransactTime, "20261121-12:00:00.123").append(Tag::OrderQty, 100 + number % 900);
    body.append(Tag::OrdType, "2")
        .append(Tag::Price, "101.25")
        .append(Tag::Text, std::string_view{text_, flow_order_text});
    if (!handle->send({.msg_type = "D", .body = body.view(), .header_fields = {}})) return false;
    ++sent_;
    due_[sent_ % largest_window] = due;
    return true;
  }

  const FlowPlan& plan_;
  const char text_[flow_order_text + 1] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  std::uint64_t sent_ = 0, answered_ = 0;
  std::chrono::steady_clock::time_point begin_{};
  std::vector<std::chrono::steady_clock::time_point> due_;
};

EngineConfig config_of(const FlowPlan& plan, bool venue) {
  EngineConfig config;
  config.idle = plan.spin ? IdleMode::spin : IdleMode::block;
  SessionSettings settings;
  settings.session.role = venue ? Role::acceptor : Role::initiator;
  settings.session.sender_comp_id = venue ? "VENUE" : "TRADER";
  settings.session.target_comp_id = venue ? "TRADER" : "VENUE";
  if (venue) {
    settings.listen = {"127.0.0.1", 0};
  } else {
    settings.connect = {{"127.0.0.1", plan.port}};
  }
  if (!plan.dictionary.empty())
    settings.dictionary = std::make_shared<const Dictionary>(load_dictionary(plan.dictionary));
  settings.prefault = true;
  if (plan.store != "memory") {
    settings.store_kind = StoreKind::journal;
    settings.journal.directory = std::filesystem::path{plan.folder} / (venue ? "venue" : "trader");
    settings.journal.ring_size = 32 * 1024 * 1024;
    settings.journal.retain_bytes = 512 * 1024 * 1024;
    for (const Durability each : {Durability::none, Durability::interval, Durability::group, Durability::message}) {
      if (plan.store == to_string(each)) settings.journal.durability = each;
    }
  }
  config.sessions.push_back(std::move(settings));
  return config;
}

void note(FlowResult& result, const std::string& text) {
  if (result.problem[0] == '\0') std::snprintf(result.problem, sizeof result.problem, "%s", text.c_str());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Runs the engine for this duration, or until the session ends.
void turn_for(Engine& engine, const Side& side, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!side.ended && seconds_since(begin) < seconds) engine.turn(std::chrono::milliseconds{20});
}

void finish(Engine& engine) {
  engine.stop();
  const auto begin = std::chrono::steady_clock::now();
  while (!engine.finished() && seconds_since(begin) < 10) engine.turn(std::chrono::milliseconds{10});
}

template <class Body>
FlowResult guarded(Body body) {
  FlowResult result;
  try {
    body(result);
  } catch (const std::exception& error) {
    note(result, error.what());
  }
  result.right = result.problem[0] == '\0' && result.messages != 0;
  return result;
}

}  // namespace

FlowResult run_nexusfix_venue(const FlowPlan& plan) {
  return guarded([&](FlowResult& result) {
    Venue venue;
    Engine engine{config_of(plan, true), venue};
    engine.start();
    const std::uint16_t port = engine.local_endpoint(0)->port;
    if (::write(plan.port_pipe, &port, sizeof port) != sizeof port) throw std::runtime_error("cannot pass on the port");
    const auto begin = std::chrono::steady_clock::now();
    while (venue.handle == nullptr && seconds_since(begin) < 10) engine.turn(std::chrono::milliseconds{20});
    turn_for(engine, venue, plan.warm_up_s);
    result.rss_begin_kib = resident_kib();
    const std::uint64_t before = venue.messages;
    {
      const test::Trap trap{test::Watch::all_but_system_calls};
      turn_for(engine, venue, plan.seconds / 2);
      result.rss_middle_kib = resident_kib();
      turn_for(engine, venue, plan.seconds / 2 - 0.5);
      result.allocations = trap.counts().allocations;
      result.allocations_counted = test::Trap::works();
    }
    result.messages = venue.messages - before;
    result.rss_end_kib = resident_kib();
    turn_for(engine, venue, 30);
    if (venue.wrong) note(result, "an order was not the next one");
    if (!venue.problem.empty()) note(result, venue.problem);
    finish(engine);
  });
}

FlowResult run_nexusfix_trader(const FlowPlan& plan) {
  return guarded([&](FlowResult& result) {
    Trader trader{plan};
    Engine engine{config_of(plan, false), trader};
    engine.start();
    turn_for(engine, trader, plan.warm_up_s);
    if (trader.handle == nullptr) throw std::runtime_error("no Logon");
    result.rss_begin_kib = resident_kib();
    const std::uint64_t before = trader.messages;
    trader.recording = true;
    const auto begin = std::chrono::steady_clock::now();
    {
      const test::Trap trap{test::Watch::all_but_system_calls};
      turn_for(engine, trader, plan.seconds / 2);
      result.rss_middle_kib = resident_kib();
      turn_for(engine, trader, plan.seconds / 2);
      result.allocations = trap.counts().allocations;
      result.allocations_counted = test::Trap::works();
    }
    result.messages = trader.messages - before;
    result.seconds = seconds_since(begin);
    result.rss_end_kib = resident_kib();
    trader.stop = true;
    turn_for(engine, trader, 0.3);
    if (trader.wrong) note(result, "a report was not the next one");
    if (trader.ended) note(result, "the session ended early");
    if (!trader.problem.empty()) note(result, trader.problem);
    result.p50_ns = trader.round_trip.percentile(50);
    result.p99_ns = trader.round_trip.percentile(99);
    result.p999_ns = trader.round_trip.percentile(99.9);
    result.max_ns = trader.round_trip.max();
    finish(engine);
  });
}

}  // namespace nfx::bench
