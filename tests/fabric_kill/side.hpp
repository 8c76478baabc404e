// The two programs of the kill test, and their accounts in memory that outlives them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace nfx::fabric_kill {

inline constexpr std::size_t sessions = 4096;   // per side and run
inline constexpr std::size_t transfers = 4096;  // per session; only the receiver compares later ones

// Written by one side, read by the driver, also after the side was killed.
struct SideAccount {
  std::atomic<std::uint64_t> progress{0};    // number of all reports
  std::atomic<std::uint64_t> starts{0};      // number of sessions started; the last one has this index minus one
  std::atomic<std::uint64_t> violations{0};  // number of violations
  std::atomic<std::uint64_t> complete{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> losses{0};
  std::array<char, 128> violation{};  // text of the first violation
  struct Session {
    std::array<std::atomic<std::uint64_t>, transfers / 64> complete{};  // one bit per transfer reported as complete
    std::atomic<std::uint64_t> records{0};                              // sender: acknowledged; receiver: delivered
    std::atomic<std::uint64_t> of{0};  // receiver: the sender's session, numbered from 1
  };
  std::array<Session, sessions> by_session{};
};
struct Accounts {
  SideAccount sender;
  SideAccount receiver;
};

struct SideOptions {
  bool sends = false;
  std::vector<std::string> places;  // of the rails: a path means shared memory, otherwise TCP
  std::uint64_t seed = 1;
};

// Returns only if it cannot start.
int run_side(const SideOptions& options, Accounts& accounts);

}  // namespace nfx::fabric_kill
