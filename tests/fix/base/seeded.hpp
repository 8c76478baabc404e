// Random numbers for property tests: the seed is fixed, printed on failure, and replaced by NFX_TEST_SEED.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace nfx::test {

struct Seeded {
  std::uint64_t seed = 20240229;
  std::mt19937_64 generator;

  Seeded() {
    if (const char* text = std::getenv("NFX_TEST_SEED")) seed = std::strtoull(text, nullptr, 10);
    generator.seed(seed);
  }

  // A number from 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) { return generator() % limit; }

  [[nodiscard]] std::string trace() const { return "NFX_TEST_SEED=" + std::to_string(seed); }
};

}  // namespace nfx::test
