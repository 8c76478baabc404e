// Gateways, three servers and a network in virtual time, from one seed. Messages are lost, delayed and sent twice;
// servers are elected, cut off, late, and answer from old states; gateways pause, are killed and lose their network; an
// operator removes obsolete frames. The rules of ledger.hpp are checked after every event.
// Thread: one per run. Cost: some 100,000 steps of an owner per second. Errors: the result's finding.
#pragma once

#include <cstdint>
#include <string>

namespace nfx::cluster_simulate {

struct WorldOptions {
  std::uint64_t seed = 1;
  double hours = 1;
};

struct WorldResult {
  std::string finding;  // empty: no rule was broken
  double hours = 0;     // simulated hours until the end or the finding
  std::uint64_t steps = 0;
  std::uint64_t frames = 0;
  std::uint64_t records = 0;  // released records
  std::uint64_t early = 0;    // how many of them before they were stored
  std::uint64_t takeovers = 0;
  std::uint64_t followed = 0;  // frames read before a takeover
  std::uint64_t fenced = 0;
  std::uint64_t lost_claims = 0;
  std::uint64_t retired = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t kills = 0;
  std::uint64_t pauses = 0;
  std::uint64_t elections = 0;
  std::uint64_t cuts = 0;         // a gateway cut off from the servers
  std::uint64_t old_answers = 0;  // reads and refusals from an old state
  std::uint64_t holes = 0;        // reads that omit stored frames
  std::uint64_t lost_messages = 0;
  std::uint64_t purges = 0;  // purges of obsolete frames by an operator
  std::uint64_t purged = 0;  // purged frames
};

[[nodiscard]] WorldResult run_world(const WorldOptions& options);

}  // namespace nfx::cluster_simulate
