// The two programs of the kill test, and the accounts that they write into memory which outlives them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace nfx::fabric_kill {

inline constexpr std::size_t sessions = 4096;   // of one side, in a run
inline constexpr std::size_t transfers = 4096;  // of one session; later ones are compared by the receiver alone

// Written by one side, read by the driver, also after the side was killed.
struct SideAccount {
  std::atomic<std::uint64_t> progress{0};    // reports of all kinds
  std::atomic<std::uint64_t> starts{0};      // sessions begun; the index of the last one is one less
  std::atomic<std::uint64_t> violations{0};  // what must not be
  std::atomic<std::uint64_t> complete{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> losses{0};
  std::array<char, 128> violation{};  // the first
  struct Session {
    std::array<std::atomic<std::uint64_t>, transfers / 64> complete{};  // bit per transfer that was reported so
    std::atomic<std::uint64_t> records{0};                              // sender: acknowledged; receiver: delivered
    std::atomic<std::uint64_t> of{0};  // receiver: the sender's session, counted from 1
  };
  std::array<Session, sessions> by_session{};
};
struct Accounts {
  SideAccount sender;
  SideAccount receiver;
};

struct SideOptions {
  bool sends = false;
  std::vector<std::string> places;  // of the rails: a path is one over shared memory, otherwise TCP
  std::uint64_t seed = 1;
};

// Returns only when it cannot begin.
int run_side(const SideOptions& options, Accounts& accounts);

}  // namespace nfx::fabric_kill
