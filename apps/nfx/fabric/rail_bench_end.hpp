// One end of the measurement, in a process of its own, and the memory in which both report.
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
  std::uint64_t pages = 0;  // sent while time was taken
  std::uint64_t refused = 0;
  std::uint64_t all_pages = 0;  // with those before
  std::atomic<bool> is_listening{false};
  std::array<char, 108> place{};  // where
};

struct alignas(128) SharedGroup {
  double seconds = 0;
  std::atomic<bool> sent{false};        // the sender's pages are all answered, and SharedRail::all_pages are known
  std::array<ThreadReport, 2> threads;  // by Side
};

// Both processes and their parent.
struct Shared {
  std::atomic<std::uint32_t> connected{0};  // threads of both ends
  std::atomic<std::uint32_t> warm{0};       // threads of the sender
  std::atomic<std::uint32_t> done{0};       // threads of the sender: all pages are answered
  std::atomic<bool> measured{false};        // the sender needs no more answers
  std::atomic<bool> failed{false};
  std::atomic<bool> failing{false};
  std::array<char, 512> error{};
  std::array<SharedRail, max_bench_rails> rails;
  std::array<SharedGroup, max_bench_groups> groups;
  // What the demonstration had: every thread counts every page here.
  alignas(128) std::atomic<std::uint64_t> all_posted{0};
  std::atomic<std::uint64_t> all_completed{0};
  LatencyHistogram page_ns;
  LatencyHistogram small_ns;

  // The first failure is the one that is reported.
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

// Does everything of that end; failures are in `shared`.
void run_end(const BenchOptions& options, Shared& shared, const std::string& folder, Side side) noexcept;

}  // namespace nfx::app::fabric
