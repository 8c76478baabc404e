// Generates messages of all shapes, valid, nearly valid and invalid, fast enough that the kernels dominate the time.
// Thread: one per generator. Cost: a few copies of about 200 bytes per message. The same seed gives the same messages.
//
// A pool of base messages is made at the start. A walk begins at one of them and changes it step by step, mostly from
// one readable message to another. The output is a copy of the current message, damaged in half of the cases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nfx::test {

// SplitMix64: one addition and a few multiplications per number.
class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  // From 0 to `limit` - 1.
  std::uint32_t below(std::uint64_t limit) noexcept { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  bool one_in(std::uint32_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

class MessageGenerator {
 public:
  // Nearly all messages are small; some of the large ones are too large for 16-bit positions.
  static constexpr std::size_t max_small_size = 4096;
  static constexpr std::size_t max_size = 70000;

  explicit MessageGenerator(std::uint64_t seed);

  // Valid until the next call.
  [[nodiscard]] std::string_view next();

  [[nodiscard]] FastRandom& random() noexcept { return random_; }

 private:
  void start_walk();
  void step();
  void damage();
  void insert(std::size_t at, std::string_view piece);
  [[nodiscard]] std::string any_piece();
  [[nodiscard]] std::size_t any_field_start() noexcept;
  [[nodiscard]] std::size_t any_value_start() noexcept;

  FastRandom random_;
  std::vector<std::string> small_;
  std::vector<std::string> large_;
  std::string walk_;
  std::string out_;
  std::size_t max_walk_size_ = 0;
  std::uint32_t steps_left_ = 0;
};

}  // namespace nfx::test
