// Sends a request of 176 bytes and receives an answer of 253 bytes, over any connection between two threads: the sizes
// of the demonstration's order and report. Every request differs, and every byte of every answer is checked.
// Thread: one per side, each on its core. Errors: WrongAnswerError, which ends the run.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/machine.hpp"
#include "harness/measure.hpp"
#include "nexusfix/base/latency_histogram.hpp"
#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/tls_context.hpp"

namespace nfx::bench {

inline constexpr std::size_t request_size = 176;
inline constexpr std::size_t answer_size = 253;

struct PingPong {
  std::uint32_t warm_up = 5'000;
  std::uint32_t measured = 40'000;
  std::uint64_t seed = 1;
  unsigned client_core = 0;
  unsigned server_core = 1;
  CpuSet helper_cores;           // CPUs for the flushers of journals
  std::filesystem::path folder;  // for journals
  bool dictionary = false;       // engines validate against FIX44.xml
};

// A row of the table. `run` returns the round trips of one repeat, or throws. If it is empty, `why_not` is the reason.
struct Condition {
  std::string name;
  std::string baseline;  // the row it is compared with; empty for a baseline
  std::string why_not;
  std::function<LatencyHistogram(const PingPong&)> run;
  bool has_target = false;  // must stay within `target_ratio` of its baseline
};

inline constexpr double target_ratio = 1.25;

// A way to set up a ring, and the reason why its rows are left out, if they are.
struct RingChoice {
  std::string name;
  IoUringOptions options;
  bool in_engine = false;  // engine rows use it too
  std::string why_not;
  std::string why_not_spin;
};
[[nodiscard]] std::vector<RingChoice> ring_choices();

// TLS 1.3 on both sides, with certificates that live as long as the process.
struct Encryption {
  TlsOptions server;
  TlsOptions client;
};
[[nodiscard]] const Encryption& encryption();

void add_raw_rows(std::vector<Condition>& rows);
void add_transport_rows(std::vector<Condition>& rows);
void add_engine_rows(std::vector<Condition>& rows);

inline void fill(std::span<char> bytes, std::uint64_t number, std::uint64_t seed) noexcept {
  std::memcpy(bytes.data(), &number, sizeof number);
  std::uint64_t x = (number + seed) * 0x9E3779B97F4A7C15;
  for (std::size_t at = sizeof number; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(x >> 56);
    x = x * 0xD1B54A32D192ED03 + at;
  }
}

// An end of a connection is anything with send(span) and receive(span), which return when all bytes were transferred.
template <class End>
void answer(End& end, const PingPong& plan) {
  std::array<char, request_size> request, expected;
  std::array<char, answer_size> reply;
  for (std::uint64_t i = 0; i < plan.warm_up + plan.measured; ++i) {
    fill(reply, i, plan.seed + 1);  // before the request arrives, like a precomputed answer
    fill(expected, i, plan.seed);
    end.receive(request);
    if (request != expected) throw WrongAnswerError("request " + std::to_string(i) + " came in changed");
    end.send(reply);
  }
}

template <class End>
LatencyHistogram ask(End& end, const PingPong& plan) {
  LatencyHistogram times;
  std::array<char, request_size> request;
  std::array<char, answer_size> reply, expected;
  for (std::uint64_t i = 0; i < plan.warm_up + plan.measured; ++i) {
    fill(request, i, plan.seed);
    fill(expected, i, plan.seed + 1);
    const auto begin = std::chrono::steady_clock::now();
    end.send(request);
    end.receive(reply);
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    if (reply != expected) throw WrongAnswerError("answer " + std::to_string(i) + " is not the one to its request");
    if (i >= plan.warm_up) times.record(elapsed);
  }
  return times;
}

// Runs both sides, each pinned before it creates its objects. `serve` receives a function that passes the port to the
// other side before `trade` begins.
template <class Serve, class Trade>
LatencyHistogram run_both(const PingPong& plan, const Serve& serve, const Trade& trade) {
  std::atomic<std::uint32_t> port{0};
  std::atomic<bool> gave_up{false};
  std::exception_ptr served, traded;
  LatencyHistogram times;
  std::thread server([&] {
    try {
      run_on_core(plan.server_core);
      serve([&](std::uint16_t number) {
        port.store(number);
        port.notify_all();
      });
    } catch (...) {
      served = std::current_exception();
      gave_up.store(true);
      port.store(UINT32_MAX);
      port.notify_all();
    }
  });
  std::thread client([&] {
    try {
      run_on_core(plan.client_core);
      port.wait(0);
      if (!gave_up.load()) times = trade(static_cast<std::uint16_t>(port.load()));
    } catch (...) {
      traded = std::current_exception();
    }
  });
  client.join();
  server.join();
  if (served) std::rethrow_exception(served);
  if (traded) std::rethrow_exception(traded);
  return times;
}

}  // namespace nfx::bench
