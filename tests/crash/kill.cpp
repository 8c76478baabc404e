// Kills a party at random moments, also during recovery, and audits both journals after each restart.
#include <cstdio>

#include "modes.hpp"

namespace nfx::crash {
namespace {

void print(const CrashOptions& options, std::uint32_t cycle, const AuditCounts& counts) {
  if (options.quiet) return;
  std::printf(
      "cycle %u: %llu orders, each executed and confirmed once; %llu messages stored; %llu came again marked, %llu "
      "sent again, %llu refused; next out %llu and %llu\n",
      cycle, static_cast<unsigned long long>(counts.orders), static_cast<unsigned long long>(counts.messages),
      static_cast<unsigned long long>(counts.seen_again), static_cast<unsigned long long>(counts.sent_again),
      static_cast<unsigned long long>(counts.refused), static_cast<unsigned long long>(counts.outbound[0]),
      static_cast<unsigned long long>(counts.outbound[1]));
  std::fflush(stdout);
}

}  // namespace

void run_kill(const CrashOptions& options) {
  constexpr std::uint32_t cycles_between_audits = 50;
  Random random{options.seed};
  Pair pair{options, random, false};
  for (std::uint32_t cycle = 1; cycle <= options.cycles; ++cycle) {
    pair.start();
    // A third while they start, recover and log on; the others in the middle of orders and resends.
    const bool early = random() % 3 == 0;
    if (!early) pair.wait_for_logon();
    const Deadline moment = in(std::chrono::microseconds{random() % (early ? 20000 : 6000)});
    while (std::chrono::steady_clock::now() < moment) {
      static_cast<void>(pair.heard(Word::settled));
      wait_for_words(pair.exchange, pair.trader, moment);
    }
    const auto victim = random() % 5;
    if (victim != 0 && victim != 1) pair.kill(pair.exchange);
    if (victim != 2 && victim != 3) pair.kill(pair.trader);
    if (cycle % cycles_between_audits == 0) print(options, cycle, pair.settle_and_audit());
  }
  print(options, options.cycles, pair.settle_and_audit());
}

}  // namespace nfx::crash
