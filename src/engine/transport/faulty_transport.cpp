// Draws the faults of the faulty transport from its seed.
#include "transport/faulty_transport.hpp"

#include <stdexcept>

namespace nfx::detail {

namespace {

// SplitMix64: the same numbers with every standard library.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

[[nodiscard]] bool happens(std::uint64_t& state, double probability) noexcept {
  constexpr double two_to_53 = 9007199254740992.0;
  return static_cast<double>(next_random(state) >> 11) < probability * two_to_53;
}

[[nodiscard]] std::uint64_t below(std::uint64_t& state, std::uint64_t bound) noexcept {
  return next_random(state) % bound;
}

constexpr std::uint64_t whole_piece = 4096;

}  // namespace

void FaultyFlow::begin(std::uint64_t seed) noexcept { random_ = seed; }

void FaultyFlow::start_piece(MonotonicTime now, const FaultOptions& options, FaultCounters& counters) {
  piece_left_ = whole_piece;
  if (happens(random_, options.split_probability)) {
    piece_left_ = 1 + below(random_, options.small_piece);
    ++counters.small_pieces;
  }
  MonotonicTime due = now;
  if (happens(random_, options.delay_probability)) {
    due +=
        Duration(static_cast<Duration::rep>(1 + below(random_, static_cast<std::uint64_t>(options.max_delay.count()))));
    ++counters.delayed_pieces;
  }
  piece_due_ = std::max(piece_due_, due);  // a stream keeps its order
}

void FaultyFlow::add(std::span<const char> bytes, MonotonicTime now, const FaultOptions& options,
                     FaultCounters& counters) {
  while (!bytes.empty() && !cut()) {
    if (piece_left_ == 0) start_piece(now, options, counters);
    std::uint64_t count = std::min({std::uint64_t{bytes.size()}, piece_left_, cut_at_ - position_});
    if (position_ < swallow_from_) {
      count = std::min(count, swallow_from_ - position_);
      pieces.push_back({piece_due_, std::string(bytes.data(), count)});
      queued += count;
    } else {
      counters.swallowed_bytes += count;
    }
    position_ += count;
    piece_left_ -= count;
    bytes = bytes.subspan(count);
  }
}

void plan_faults(const FaultOptions& options, std::uint64_t ordinal, FaultyFlow& in, FaultyFlow& out) noexcept {
  std::uint64_t random = options.seed;
  random = next_random(random) ^ (ordinal * 0xD1B54A32D192ED03U);
  in.begin(next_random(random));
  out.begin(next_random(random));
  if (happens(random, options.cut_probability)) {
    FaultyFlow& flow = below(random, 2) == 0 ? in : out;
    flow.cut_at(1 + below(random, options.cut_within));
  }
  if (happens(random, options.swallow_probability)) {
    FaultyFlow& flow = below(random, 2) == 0 ? in : out;
    flow.swallow_from(below(random, options.swallow_within));
  }
}

void check_fault_options(const FaultOptions& options) {
  const auto is_probability = [](double p) { return p >= 0 && p <= 1; };
  if (!is_probability(options.split_probability) || !is_probability(options.delay_probability) ||
      !is_probability(options.cut_probability) || !is_probability(options.swallow_probability)) {
    throw std::invalid_argument("fault options: expected probabilities from 0 to 1");
  }
  if (options.small_piece == 0 || options.max_delay <= Duration::zero() || options.cut_within == 0 ||
      options.swallow_within == 0 || options.send_buffer == 0 || options.receive_buffer == 0) {
    throw std::invalid_argument("fault options: expected sizes and max_delay of at least 1");
  }
}

}  // namespace nfx::detail
