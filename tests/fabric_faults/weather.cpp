// The probabilities of each family of faults.
#include "fabric_faults/weather.hpp"

#include <array>

namespace nfx::fabric_faults {
namespace {

using namespace std::chrono_literals;
using fabric::RailBreak;
using fabric::RailFaults;
using simulation::Dice;

// Up to `most`, in hundredths of it.
double some(Dice& dice, double most) { return most * static_cast<double>(dice.between(1, 100)) / 100; }

void mix(Dice& dice, RailFaults& faults, RailBreak broken) {
  const double strength = dice.chance(200) ? 0 : some(dice, 1);
  // A rule cannot be violated on a rail that is always closed.
  const double ends = broken == RailBreak::none ? strength : strength / 4;
  const auto half = [&](double probability, double scale) { return dice.coin() ? probability * scale : 0; };
  faults.again = half(0.3, strength);
  faults.refused = half(0.002, ends);
  faults.failed = half(0.004, ends);
  faults.duplicate = half(0.1, strength);
  faults.lost_number = half(0.002, ends);
  faults.lost_write = half(0.002, ends);
  faults.lost_done = half(0.004, ends);
  faults.early_done = half(1, strength);
  faults.slow = half(0.1, strength);
  faults.again_spell = half(0.02, strength);
  faults.slow_spell = half(0.02, strength);
  faults.vanish = half(0.02, ends);
  faults.cut = half(0.02, strength);
  faults.open_fails = half(0.5, strength);
}

}  // namespace

Weather weather_of(Dice& dice) {
  // The rarest coincidences are in the most frequent families.
  using enum Weather;
  constexpr std::array drawn{mixed, mixed, overtaking, overtaking, overtaking, overtaking,
                             lossy, lossy, forgetful,  repeating,  crowded};
  return drawn[dice.below(drawn.size())];
}

fabric::LinkOptions options_of(Dice& dice, Weather weather) {
  fabric::LinkOptions options;
  options.record_slots = weather == Weather::mixed && dice.coin() ? 64 : 16;
  options.record_size = dice.coin() ? 200 : 300;
  options.transfers = static_cast<std::uint32_t>(dice.between(2, 8));
  options.pages = 32;
  options.batch = static_cast<std::uint32_t>(dice.between(1, 20));
  options.acknowledge_on_return = dice.coin();
  options.session = 1;  // of the peer
  if (dice.chance(300)) {
    // Rail 0 has one of each, because there may be no other.
    options.choice = {.small_most = dice.coin() ? 128U : 1024U,
                      .small_rails = static_cast<std::uint16_t>(1U | dice.below(16)),
                      .large_rails = static_cast<std::uint16_t>(1U | dice.below(16))};
  }
  options.heartbeat = 3ms;
  options.silence = dice.between(10ms, 30ms);
  options.write_deadline = dice.between(30ms, 60ms);
  options.reopen_after = dice.between(1ms, 10ms);
  options.lost_after = dice.between(60ms, 200ms);
  return options;
}

RailFaults faults_of(Dice& dice, Weather weather, RailBreak broken) {
  RailFaults faults;
  faults.seed = dice.next();
  faults.broken = broken;
  faults.delay_max = dice.coin() ? Duration{20us} : Duration{dice.between(20us, 800us)};
  faults.spell = dice.between(1ms, 60ms);
  faults.open_takes = dice.between(100us, 3ms);
  faults.limits = {.slots = static_cast<std::uint32_t>(dice.between(16, 40)),
                   .arrivals = static_cast<std::uint32_t>(dice.between(64, 128)),
                   .longest_write = 65536};
  switch (weather) {
    case Weather::mixed: mix(dice, faults, broken); break;
    case Weather::overtaking:
      faults.delay_max = 30us;
      faults.slow = some(dice, 0.5);
      faults.early_done = dice.coin() ? 1 : 0;
      faults.cut = dice.coin() ? some(dice, 0.1) : 0;
      faults.open_takes = dice.between(20us, 500us);
      break;
    case Weather::lossy:
      faults.lost_number = some(dice, 0.005);
      faults.lost_write = dice.coin() ? some(dice, 0.005) : 0;
      faults.duplicate = some(dice, 0.2);
      break;
    case Weather::forgetful:
      faults.lost_done = some(dice, 0.01);
      faults.early_done = dice.coin() ? 1 : 0;
      break;
    case Weather::repeating:
      faults.duplicate = some(dice, 0.5);
      faults.slow = some(dice, 0.05);
      break;
    case Weather::crowded:
      faults.limits = {.slots = 64, .arrivals = 64, .longest_write = 65536};
      faults.early_done = dice.coin() ? 1 : 0;
      faults.again = dice.coin() ? some(dice, 0.3) : 0;
      break;
  }
  return faults;
}

Work work_of(Dice& dice, Weather weather) {
  const std::uint64_t amount = dice.between(5, 60);
  Work work{.rails = dice.between(1, 4),
            .page_sizes = 4,
            .transfers = amount,
            .records = amount * 4,
            .cancels = 2,
            .sleeps = 2,
            .kills = 0,
            .tick = dice.between(10us, 200us),
            .sleep = 20ms};
  switch (weather) {
    case Weather::mixed: work.kills = dice.chance(400) ? dice.between(1, 4) : 0; break;
    case Weather::overtaking:
      work.rails = dice.coin() ? 2 : dice.between(3, 4);
      work.transfers = 100;
      work.records = dice.coin() ? 900 : 5;
      work.bursts = dice.between(1, 10);
      work.cancels = dice.coin() ? 20 : 1;
      work.sleeps = dice.coin() ? 50 : 0;
      work.sleep = 2ms;
      work.tick = dice.between(10us, 40us);
      break;
    case Weather::lossy:
    case Weather::forgetful: break;
    case Weather::repeating: work.transfers = 60; break;
    case Weather::crowded:
      work.rails = 1;
      work.page_sizes = 1;
      work.transfers = 300;
      work.records = 600;
      work.sleeps = 20;
      break;
  }
  return work;
}

}  // namespace nfx::fabric_faults
