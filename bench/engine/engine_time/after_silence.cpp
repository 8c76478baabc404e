// The sessions take turns within each repeat. Between two iterations of a silence another program may use the core: it
// reads and writes 64 MB in all, which is what a host does whose CPUs other threads use.
#include "engine_time/after_silence.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/figures.hpp"
#include "harness/report.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t hot_orders = 2000;
constexpr double hot_ns = 25'000;

// Reads and writes its memory, a piece at a time.
class OtherProgram {
 public:
  void begin() noexcept { done_ = 0; }
  // The next piece, unless this part of the memory was used. True: all of it was.
  bool run_until(double part) noexcept {
    if (done_ < static_cast<std::size_t>(part * static_cast<double>(pieces))) {
      for (std::size_t at = done_ * words; at < (done_ + 1) * words; at += 8) memory_[at] += at;
      ++done_;
    }
    return done_ == pieces;
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return memory_[words]; }

 private:
  static constexpr std::size_t pieces = 1024, words = 8 * 1024;  // 64 KiB each

  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(pieces * words);
  std::size_t done_ = 0;
};

struct Case {
  const char* name;
  StoreKind store;
  Durability durability;
};
constexpr std::array cases{Case{"memory", StoreKind::memory, Durability::none},
                           Case{"journal, interval", StoreKind::journal, Durability::interval}};

struct Silence {
  const char* name;
  double ns;
};
constexpr std::array silences{Silence{"hot, 25 us", hot_ns}, Silence{"1 ms", 1e6}, Silence{"100 ms", 1e8},
                              Silence{"1 s", 1e9}};

std::uint32_t orders_of(const SilenceOptions& options, std::size_t silence) {
  return std::array{hot_orders, options.after_1ms, options.after_100ms, options.after_1s}[silence];
}

}  // namespace

void measure_after_silence(const SilenceOptions& options, SessionChoice choice, const CycleClock& clock) {
  struct Measured {
    std::size_t store, silence;
    bool disturbed, warm;
    std::vector<Figures> in{}, out{}, both{};
  };
  std::vector<Measured> rows;
  for (std::size_t store = 0; store < cases.size(); ++store) {
    for (std::size_t silence = 0; silence < silences.size(); ++silence) {
      if (orders_of(options, silence) == 0) continue;
      for (const bool disturbed : {false, true}) {
        if (disturbed && silence == 0) continue;
        for (const bool warm : {false, true}) rows.push_back({store, silence, disturbed, warm});
      }
    }
  }
  choice.observed = false;
  OtherProgram other;
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    choice.folder = options.folder / std::to_string(repeat);
    std::vector<std::unique_ptr<OneSession>> sessions;
    for (const Case& each : cases) {
      choice.store = each.store;
      choice.durability = each.durability;
      for (const bool warm : {false, true}) {
        choice.name = std::string{each.name} + (warm ? ", warm" : "");
        choice.warm_up = std::chrono::microseconds{warm ? options.warm_up_us : 0};
        sessions.push_back(std::make_unique<OneSession>(choice));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Measured& row = rows[repeat % 2 == 0 ? i : rows.size() - 1 - i];
      OneSession& session = *sessions[2 * row.store + (row.warm ? 1 : 0)];
      session.exchange(hot_orders, static_cast<std::uint32_t>(hot_ns), clock, false, [](const Marks&) {});
      std::vector<std::uint32_t> in, out, both;
      other.begin();
      session.exchange_after_silence(
          orders_of(options, row.silence), silences[row.silence].ns, clock,
          [&](double passed) { return !row.disturbed || other.run_until(passed); },
          [&](const Marks& marks) {
            in.push_back(marks.between(Point::bytes_in, Point::delivered));
            out.push_back(marks.between(Point::send_begins, Point::handed_over));
            both.push_back(marks.between(Point::bytes_in, Point::handed_over));
            other.begin();
          });
      row.in.push_back(figures_of_ticks(in, clock, options.own));
      row.out.push_back(figures_of_ticks(out, clock, options.own));
      row.both.push_back(figures_of_ticks(both, clock, options.own));
    }
    keep(other.sum());
    sessions.clear();
    std::filesystem::remove_all(choice.folder);
  }
  std::printf("the first order after a silence; medians of %u repeats in ns; x: times hot at p50\n", options.repeats);
  std::printf("%-18s %-11s %-13s %-8s %24s %24s %31s %6s\n", "store", "after", "meanwhile", "warm-up", "in p50 p99 max",
              "out p50 p99 max", "in to handed over p50 p99 max", "x");
  for (const Measured& row : rows) {
    const Measured* hot = &row;
    while (hot->silence != 0 || hot->warm) --hot;
    std::printf("%-18s %-11s %-13s %-8s", cases[row.store].name, silences[row.silence].name,
                row.disturbed ? "another" : "nothing else", row.warm ? "on" : "off");
    for (const auto* figures : {&row.in, &row.out, &row.both}) {
      std::printf(" %7.0f %7.0f %8.0f", middle(*figures, &Figures::p50), middle(*figures, &Figures::p99),
                  middle(*figures, &Figures::max));
    }
    std::printf(" %6.2f\n", middle_ratio(row.both, hot->both, &Figures::p50));
  }
}

}  // namespace nfx::bench
