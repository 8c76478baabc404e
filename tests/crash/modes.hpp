// What the crash test does to two parties, each a function that throws when a guarantee was broken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "audit.hpp"
#include "child.hpp"

namespace nfx::crash {

using Random = std::mt19937_64;

struct CrashOptions {
  std::uint32_t cycles = 0;
  std::uint64_t seed = 1;
  std::filesystem::path folder;  // of all files of the run
  bool quiet = false;
};

// Both parties with what the driver knows of them.
class Pair {
 public:
  Pair(const CrashOptions& options, Random& random, bool small);
  ~Pair();

  Child exchange{"the exchange"};
  Child trader{"the trader"};
  PartyOptions exchange_options;
  PartyOptions trader_options;

  // Starts those that do not run, each with a durability and a seed of its own.
  void start();
  // Until the trader has logged on since the last call, or trouble was reported.
  void wait_for_logon();
  // Every order confirmed, both ended in order, everything audited. Starts them if need be.
  AuditCounts settle_and_audit(AuditOptions options = {});
  void kill(Child& child);
  // Takes words in; true when one of them is the one looked for.
  bool heard(Word wanted);

  [[nodiscard]] bool settled() const noexcept { return settled_; }

 private:
  Random& random_;
  bool logged_on_ = false;
  bool settled_ = false;
};

// Kills either or both at random moments, starts them again, and audits now and then.
void run_kill(const CrashOptions& options);
// Fills the disks of both, frees space, and continues. False: not possible on this host (not root, no tmpfs).
[[nodiscard]] bool run_full(const CrashOptions& options, std::string& why_not);
// Flips bytes of closed journals, opens them, repairs them and continues.
void run_damage(const CrashOptions& options);

}  // namespace nfx::crash
