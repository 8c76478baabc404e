// The modes of the crash test, one function each, which throws if a guarantee was violated.
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
  std::filesystem::path folder;  // for all files of the run
  bool quiet = false;
};

// Both parties, with the driver's knowledge of them.
class Pair {
 public:
  Pair(const CrashOptions& options, Random& random, bool small);
  ~Pair();

  Child exchange{"the exchange"};
  Child trader{"the trader"};
  PartyOptions exchange_options;
  PartyOptions trader_options;

  // Starts the parties that are not running, each with a durability and a seed of its own.
  void start();
  // Waits until the trader has logged on since the last call, or until an error is reported.
  void wait_for_logon();
  // Waits until every order is confirmed and both have ended in order, and audits everything. Starts them if necessary.
  AuditCounts settle_and_audit(AuditOptions options = {});
  void kill(Child& child);
  // Reads words; true if one of them is the wanted one.
  bool heard(Word wanted);

  [[nodiscard]] bool settled() const noexcept { return settled_; }

 private:
  Random& random_;
  bool logged_on_ = false;
  bool settled_ = false;
};

// Kills either or both at random moments, starts them again, and audits occasionally.
void run_kill(const CrashOptions& options);
// Fills the disks of both, frees space, and continues. False if impossible on this host (not root, no tmpfs).
[[nodiscard]] bool run_full(const CrashOptions& options, std::string& why_not);
// Flips bytes of closed journals, opens them, repairs them and continues.
void run_damage(const CrashOptions& options);

}  // namespace nfx::crash
