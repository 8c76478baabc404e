// Where and how urgently a thread runs: sets of CPUs, numbered and spelled as the kernel does ("0-3,8" and
// "ff,00000001"), the affinity of a thread, set and read, and the seed of session-to-core assignment.
// Thread: a CpuSet is a value; each function of CpuAffinity is about the calling thread. Cost: a CpuSet allocates for
// CPUs from 0 to the highest member; CpuAffinity makes one or two system calls. Errors: the parsers return a text that
// names the place, CpuAffinity returns an AffinityResult; neither throws. Lifetime: masks stay until changed; threads
// made later inherit the mask of the one that makes them, so every thread of the engine sets its own.
// Source: Documentation/admin-guide/cputopology.rst and the bitmap formats of the kernel's lib/bitmap-str.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

class CpuSet {
 public:
  // No kernel supports more.
  static constexpr int max_cpus = 8192;

  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);
  // first to last, both included; empty when last < first.
  [[nodiscard]] static CpuSet range(int first, int last);

  // "0-3,8,16-31:2/8" as in cpulists, "" for none. Blanks around it are ignored.
  [[nodiscard]] static std::expected<CpuSet, std::string> parse_list(std::string_view text);
  // "3" or "ff,ffffffff": hexadecimal words of 32 bits, highest first.
  [[nodiscard]] static std::expected<CpuSet, std::string> parse_mask(std::string_view text);

  // CPUs outside 0 to max_cpus - 1 are not CPUs: never contained, not inserted.
  void insert(int cpu);
  void erase(int cpu) noexcept;
  [[nodiscard]] bool contains(int cpu) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] int first() const noexcept;  // -1 when empty
  [[nodiscard]] int last() const noexcept;   // -1 when empty
  [[nodiscard]] std::vector<int> members() const;

  [[nodiscard]] bool contains_all(const CpuSet& other) const noexcept;
  [[nodiscard]] bool intersects(const CpuSet& other) const noexcept;

  [[nodiscard]] std::string to_list() const;
  // As wide as needed for `cpus` CPUs, in words of 32 bits as the kernel prints them.
  [[nodiscard]] std::string to_mask(int cpus = 1) const;

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);
  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  void trim() noexcept;

  std::vector<std::uint64_t> words_;  // without zero words at the end, so that equal sets are equal
};

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
  // The CPU mask of the calling thread, or of another thread by its kernel thread ID.
  [[nodiscard]] static AffinityResult set(const CpuSet& cpus, int tid = 0) noexcept;
  [[nodiscard]] static CpuSet get();
  [[nodiscard]] static AffinityResult set_fifo_priority(int priority) noexcept;  // 0: the ordinary scheduler
  static void name_thread(std::string_view name) noexcept;                       // the first 15 characters
  // Lowers the priority of a background thread until it ends: a nice value of 19. A poll thread that wakes on its CPU
  // then runs immediately, without waiting for the rest of a time slice of some milliseconds. On busy CPUs it gets a
  // seventieth of the time of another thread of the process. Threads that it starts inherit the nice value.
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
