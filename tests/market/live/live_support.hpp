// A publisher and a live feed in one thread, on sockets of this host.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clocks.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::market::test {

using namespace std::chrono_literals;

// Turns `step` until `condition` holds; false after ten minutes, which no loaded machine needs.
template <class Step, class Condition>
[[nodiscard]] bool turn_until(Step step, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    step();
  }
  return true;
}

// The hash of all books after every some events.
class HashLog final : public BookHashes {
 public:
  void hashed(std::uint64_t events, std::uint64_t hash) noexcept override { entries.emplace_back(events, hash); }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
};

}  // namespace nfx::market::test
