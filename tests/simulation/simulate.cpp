// Runs simulated worlds by seed, and stops at the first violation. A run of several seeds also fails if a requested
// fault never happened.
//   build/release/tests/simulation/simulate --seeds 1..500 --hours 24
//   build/release/tests/simulation/simulate --seed 17 --trace
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "base/seed_range.hpp"
#include "cli/command_line.hpp"
#include "simulation/world.hpp"

namespace {

using namespace nfx::simulation;

struct Totals {
  std::uint64_t seeds = 0;
  double simulated_hours = 0;
  double logged_on_hours = 0;
  std::uint64_t turns = 0;
  std::uint64_t events = 0;
  std::uint64_t refused_sends = 0;
  LedgerCounts counts;
  ReloadCounts reloads;
  std::array<std::uint64_t, fault_count> injected{};
  std::map<std::string, std::uint64_t> refusal_texts;
  std::size_t engine_bytes = 0;
  std::size_t engine_bytes_most = 0;
  std::size_t network_bytes_most = 0;
};

double hours(nfx::Duration time) { return std::chrono::duration<double, std::ratio<3600>>(time).count(); }

void add(Totals& totals, const RunResult& result) {
  ++totals.seeds;
  totals.simulated_hours += hours(result.simulated);
  totals.logged_on_hours += hours(result.logged_on);
  totals.turns += result.turns;
  totals.events += result.events;
  totals.refused_sends += result.refused_sends;
  totals.reloads += result.reloads;
  for (std::size_t i = 0; i < fault_count; ++i) totals.injected[i] += result.injected[i];
  for (const auto& [text, count] : result.refusal_texts) totals.refusal_texts[text] += count;
  totals.engine_bytes = std::max(totals.engine_bytes, result.engine_bytes);
  totals.engine_bytes_most = std::max(totals.engine_bytes_most, result.engine_bytes_most);
  totals.network_bytes_most = std::max(totals.network_bytes_most, result.network_bytes_most);
  const LedgerCounts& each = result.counts;
  LedgerCounts& sum = totals.counts;
  sum.acknowledged += each.acknowledged;
  sum.delivered += each.delivered;
  sum.delivered_again += each.delivered_again;
  sum.resent += each.resent;
  sum.gap_fills += each.gap_fills;
  sum.session_messages += each.session_messages;
  sum.resets += each.resets;
  sum.given_up_at_reset += each.given_up_at_reset;
  sum.lost_tail += each.lost_tail;
  sum.rejected += each.rejected;
  sum.refusals += each.refusals;
  sum.overtaken += each.overtaken;
}

// If a requested fault never happened, a clean run would seem to test it.
bool all_happened(const Totals& totals, const FaultSet& faults) {
  bool all = true;
  for (std::size_t i = 0; i < fault_count; ++i) {
    if (!faults.has(static_cast<Fault>(i)) || totals.injected[i] != 0) continue;
    std::fprintf(stderr, "the fault '%s' never happened: take more seeds or hours\n",
                 to_string(static_cast<Fault>(i)).data());
    all = false;
  }
  return all;
}

void line(const char* what, std::uint64_t count) {
  std::printf("  %-42s %14llu\n", what, static_cast<unsigned long long>(count));
}

using nfx::control::ReloadStatus;
constexpr std::pair<const char*, ReloadStatus> reload_lines[] = {
    {"done", ReloadStatus::done},
    {"nothing to do", ReloadStatus::nothing_to_do},
    {"incomplete, and the report states why", ReloadStatus::incomplete},
    {"refused: the file has a mistake", ReloadStatus::invalid},
    {"refused: the poll thread does not answer", ReloadStatus::not_answering},
};

void print(const Totals& totals, double seconds) {
  std::printf("%llu seeds, %.0f simulated session hours (%.0f logged on) in %.1f s\n",
              static_cast<unsigned long long>(totals.seeds), totals.simulated_hours, totals.logged_on_hours, seconds);
  std::puts("faults");
  for (std::size_t i = 0; i < fault_count; ++i) line(to_string(static_cast<Fault>(i)).data(), totals.injected[i]);
  std::puts("messages");
  line("taken by send()", totals.counts.acknowledged);
  line("refused by send()", totals.refused_sends);
  line("delivered", totals.counts.delivered);
  line("delivered again, marked PossDup", totals.counts.delivered_again);
  line("resent, equal to their originals", totals.counts.resent);
  line("gap fills", totals.counts.gap_fills);
  line("session messages", totals.counts.session_messages);
  line("sequence-number epochs begun", totals.counts.resets);
  std::puts("reloads of the configuration file");
  for (const auto& [text, status] : reload_lines)
    line(text, totals.reloads.by_status[static_cast<std::size_t>(status)]);
  line("ended with their process", totals.reloads.cut_off);
  line("plans", totals.reloads.plans);
  std::puts("excused");
  line("undelivered at a reset of sequence numbers", totals.counts.given_up_at_reset);
  line("lost with a machine, as durability allows", totals.counts.lost_tail);
  line("rejected by the peer's session", totals.counts.rejected);
  line("Logons overtaken by a newer connection", totals.counts.overtaken);
  std::puts("why sessions rejected and logged out");
  for (const auto& [text, count] : totals.refusal_texts) line(text.c_str(), count);
  std::puts("work");
  line("poll-loop iterations", totals.turns);
  line("events", totals.events);
  std::puts("memory of one side, KiB");
  line("most held by an engine between iterations", totals.engine_bytes / 1024);
  line("most held by an engine at any time", totals.engine_bytes_most / 1024);
  line("most held by its network", totals.network_bytes_most / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  std::string seeds = "1..100";
  std::string faults = "all";
  std::optional<std::uint64_t> seed;
  unsigned run_hours = 24;
  bool trace = false;
  const nfx::cli::Command program{
      .name = "simulate",
      .summary = "Two engines, a network, disks and time, from one seed: the same seed is the same run",
      .options =
          {{.names = "--seed", .target = &seed, .help = "One seed", .excludes = {"--seeds"}},
           {.names = "--seeds", .target = &seeds, .help = "Several seeds", .value = "FIRST..LAST"},
           {.names = "--hours", .target = &run_hours, .help = "Simulated hours of each seed", .range = {{1, 100'000}}},
           {.names = "--faults", .target = &faults, .help = "all, none, or names with commas between"},
           {.names = "--trace", .target = &trace, .help = "Print every event"}},
  };
  if (const auto exit_code = nfx::cli::parse(program, argc, argv)) return *exit_code;

  const std::optional range = seed ? nfx::test::SeedRange{*seed, *seed} : nfx::test::read_seeds(seeds);
  if (!range) return 2;
  const auto fault_set = FaultSet::parse(faults);
  if (!fault_set) {
    std::fprintf(stderr, "--faults: there is no fault '%s'; there are", fault_set.error().c_str());
    for (std::size_t i = 0; i < fault_count; ++i) std::fprintf(stderr, " %s", to_string(static_cast<Fault>(i)).data());
    std::fputs("\n", stderr);
    return 2;
  }

  const auto began = std::chrono::steady_clock::now();
  Totals totals;
  for (std::uint64_t each = range->first; each <= range->last; ++each) {
    RunOptions options{
        .seed = each, .hours = std::chrono::hours{run_hours}, .faults = *fault_set, .live = trace ? stdout : nullptr};
    RunResult result = World{options}.run();
    add(totals, result);
    if (const std::size_t left = held_by_engines_and_networks(); left != 0 && !result.violation)
      result.violation = "the world is gone and " + std::to_string(left) + " bytes of its engines and networks are not";
    if (!result.violation) {
      if (range->count() == 1)
        std::printf("seed %llu: trace hash %016llx\n", static_cast<unsigned long long>(each),
                    static_cast<unsigned long long>(result.trace_hash));
      continue;
    }
    if (!trace) std::fputs(result.trace.c_str(), stdout);
    std::printf("seed %llu: %s\nagain: simulate --seed %llu --hours %u --faults %s --trace\n",
                static_cast<unsigned long long>(each), result.violation->c_str(), static_cast<unsigned long long>(each),
                run_hours, faults.c_str());
    return 1;
  }
  print(totals, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return range->count() == 1 || all_happened(totals, *fault_set) ? 0 : 1;
}
