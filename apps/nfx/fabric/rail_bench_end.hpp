// One end of the measurement, in a separate process, and the memory in which both ends report.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/rail_bench.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx::app::fabric {

enum class Side : std::uint8_t { sender, receiver };
[[nodiscard]] constexpr std::string_view to_string(Side side) noexcept {
  return side == Side::sender ? "sender" : "receiver";
}

inline constexpr std::uint32_t max_window = 128;

struct alignas(128) SharedRail {
  std::uint64_t pages = 0;  // sent during the measurement
  std::uint64_t refused = 0;
  std::uint64_t all_pages = 0;  // including earlier ones
  std::atomic<bool> is_listening{false};
  std::array<char, 108> place{};  // address
};

struct alignas(128) SharedGroup {
  double seconds = 0;
  std::atomic<bool> sent{false};        // all pages of the sender are answered, and SharedRail::all_pages is set
  std::array<ThreadReport, 2> threads;  // by Side
};

// Both processes and their parent.
struct Shared {
  std::atomic<std::uint32_t> connected{0};  // number of connected threads of both ends
  std::atomic<std::uint32_t> warm{0};       // number of warmed-up threads of the sender
  std::atomic<std::uint32_t> done{0};       // number of the sender's threads whose pages are all answered
  std::atomic<bool> measured{false};        // the sender needs no more answers
  std::atomic<bool> failed{false};
  std::atomic<bool> failing{false};
  std::array<char, 512> error{};
  std::array<SharedRail, max_bench_rails> rails;
  std::array<SharedGroup, max_bench_groups> groups;
  // As in the published demonstration: every thread counts every page here.
  alignas(128) std::atomic<std::uint64_t> all_posted{0};
  std::atomic<std::uint64_t> all_completed{0};
  LatencyHistogram page_ns;
  LatencyHistogram small_ns;

  // Reports only the first failure.
  void fail(std::string_view why) noexcept {
    if (failing.exchange(true)) return;
    why.substr(0, error.size() - 1).copy(error.data(), error.size() - 1);
    failed.store(true);
  }
  [[nodiscard]] std::string_view step() const noexcept {
    if (connected.load() == 0) return "making rails";
    if (warm.load() == 0) return "connecting";
    return done.load() == 0 ? "pages" : "round trips";
  }
};

// Runs that end completely; failures are reported in `shared`.
void run_end(const BenchOptions& options, Shared& shared, const std::string& folder, Side side) noexcept;

}  // namespace nfx::app::fabric
