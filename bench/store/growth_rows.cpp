// One new journal after the other is filled beyond its steps; the appends at the steps are rows of their own.
#include "store/growth_rows.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/flusher_thread.hpp"
#include "harness/measure.hpp"
#include "store/open_journal.hpp"

namespace nfx::bench {

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

JournalOptions options_of(const GrowthPlan& plan) {
  JournalOptions options;
  options.directory = plan.folder;
  options.durability = Durability::interval;
  return options;
}

}  // namespace

// The flusher reserves the next step where a quarter is used, is woken where half is; the next step begins at its end.
std::vector<GrowthRow> growth_rows() {
  std::vector<GrowthRow> rows;
  rows.push_back({.name = "the first after opening"});
  for (const std::uint64_t step : {1 * mib, 4 * mib, 16 * mib}) {
    const std::string size = std::to_string(step / mib) + " MiB";
    rows.push_back({.name = "a quarter of " + size + " used", .at = step / 4 + 1});
    rows.push_back({.name = "half of " + size + " used", .at = step / 2});
    rows.push_back({.name = "beyond " + size, .at = step});
  }
  return rows;
}

void run_growth(std::vector<GrowthRow>& rows, const GrowthPlan& plan) {
  const UtcTime now = read_utc();
  JournalFlusher flusher;
  const FlusherThread thread{flusher, on_cores(plan.flusher_cores)};
  OpenJournal journal{options_of(plan), 1, flusher};
  JournalStore& store = *journal;
  std::string just_encoded(256, '\0');
  const double pace = plan.pace_ns * plan.clock.ticks_per_ns;
  std::uint64_t due = ticks_before();
  std::uint64_t seq = 1;
  for (std::size_t row = 0; row < rows.size(); ++seq) {
    due += static_cast<std::uint64_t>(pace);
    while (ticks_before() < due) continue;
    just_encoded = message_at(plan.messages, seq);
    const std::uint64_t before = ticks_before();
    const bool kept = store.append(SeqNum{seq}, just_encoded, now);
    store.set_next_outbound(SeqNum{seq + 1});
    const std::uint64_t after = ticks_after();
    if (after > due) due = std::max(due, after - static_cast<std::uint64_t>(pace));
    if (!kept) {
      ++rows[row].refused;
      --seq;
      continue;
    }
    if (store.position() < rows[row].at) continue;
    const double ticks = std::max(0.0, static_cast<double>(after - before) - plan.own_cost_ticks);
    rows[row++].ns.record(static_cast<std::uint64_t>(plan.clock.to_ns(ticks)));
  }
  for (std::uint64_t each = 1; each < seq; ++each) {
    if (store.read(SeqNum{each}) != message_at(plan.messages, each))
      throw WrongAnswerError("a journal that grew gives back another message " + std::to_string(each));
  }
}

void print_growth(const std::vector<GrowthRow>& rows) {
  std::printf("\n%-36s %9s %9s %9s %9s\n", "journal, interval: append, ns", "p50", "max", "samples", "refused");
  for (const GrowthRow& row : rows) {
    std::printf("%-36s %9llu %9llu %9llu %9llu\n", row.name.c_str(),
                static_cast<unsigned long long>(row.ns.percentile(50)), static_cast<unsigned long long>(row.ns.max()),
                static_cast<unsigned long long>(row.ns.count()), static_cast<unsigned long long>(row.refused));
  }
}

}  // namespace nfx::bench
