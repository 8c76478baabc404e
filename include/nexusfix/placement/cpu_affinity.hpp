// Where and how urgently a thread runs: set, read, and the seed of session-to-core assignment.
// Thread: any; each function is about the calling thread. Cost: one or two system calls. Errors: AffinityResult, never
// a throw. Lifetime: masks stay until changed; threads made later inherit the mask of the one that makes them, so every
// thread of the engine sets its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nexusfix/placement/cpu_set.hpp"

namespace nfx {

struct AffinityResult {
  int error = 0;  // errno, 0 when done
  int cpu = -1;   // where the thread runs now

  [[nodiscard]] explicit operator bool() const noexcept { return error == 0; }
  // "Invalid argument: CPU 99 is offline or outside this process's control group"
  [[nodiscard]] std::string message() const;
};

struct CpuAffinity {
  // Pins the calling thread; when this returns it runs there.
  [[nodiscard]] static AffinityResult pin_to_core(int cpu) noexcept;
  // Of the calling thread, or of another one by its number in the kernel.
  [[nodiscard]] static AffinityResult set(const CpuSet& cpus, int tid = 0) noexcept;
  [[nodiscard]] static CpuSet get();
  [[nodiscard]] static AffinityResult set_fifo_priority(int priority) noexcept;  // 0: the ordinary scheduler
  static void name_thread(std::string_view name) noexcept;                       // the first 15 characters
  // Of a thread that no message waits for, until it ends: a nice value of 19. A poll thread that wakes on its CPU then
  // runs immediately, and not after what remains of a time slice of some milliseconds. Where CPUs are full, it has a
  // seventieth of the time of another thread of the process. Threads that it makes inherit the nice value.
  static void give_way() noexcept;

  // FNV-1a, 64 bits, over SenderCompID, the byte 0x1F, TargetCompID.
  [[nodiscard]] static constexpr std::uint64_t session_hash(std::string_view sender_comp_id,
                                                            std::string_view target_comp_id) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](char c) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3; };
    for (const char c : sender_comp_id) add(c);
    add('\x1f');
    for (const char c : target_comp_id) add(c);
    return hash;
  }
};

}  // namespace nfx
