// What the kernel counts per CPU: interrupts by kind, softirqs, steal. Two samples and their difference show what a CPU
// was interrupted for.
// Thread: any. Cost: three files under /proc, tens of microseconds per CPU; allocates. Errors: counters that the kernel
// does not show stay empty. Source: /proc/interrupts, /proc/softirqs, /proc/stat (Documentation/filesystems/proc.rst).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/placement/machine.hpp"

namespace nfx {

struct CpuCounters {
  int cpu = 0;
  std::uint64_t timer = 0;                                     // LOC: the tick and high-resolution timers
  std::uint64_t rescheduling = 0;                              // RES: another CPU reports a task to run
  std::uint64_t function_calls = 0;                            // CAL: another CPU requests a function call
  std::uint64_t tlb_shootdowns = 0;                            // TLB
  std::uint64_t devices = 0;                                   // all numbered interrupts
  std::uint64_t other = 0;                                     // NMI, machine checks, IRQ work and the rest
  std::map<std::string, std::uint64_t, std::less<>> softirqs;  // "TIMER", "NET_RX", ...
  // Clock ticks, as /proc/stat has them (1/100 s).
  std::uint64_t user = 0;  // with nice
  std::uint64_t system = 0;
  std::uint64_t idle = 0;  // with iowait
  std::uint64_t interrupt = 0;
  std::uint64_t softirq = 0;
  std::uint64_t steal = 0;
};

struct InterruptCounter {
  int number = 0;
  std::string name;                    // what follows the counts: "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0"
  std::vector<std::uint64_t> per_cpu;  // in the order of CounterSample::cpus
};

struct CounterSample {
  std::vector<CpuCounters> cpus;  // those online, ascending
  std::vector<InterruptCounter> interrupts;
  std::uint64_t context_switches = 0;  // of the whole host
};

[[nodiscard]] CounterSample sample_counters(const HostFiles& files);
// What happened in between. A CPU that came or went in between is left out; a counter that went back counts as 0.
[[nodiscard]] CounterSample difference(const CounterSample& before, const CounterSample& after);

}  // namespace nfx
