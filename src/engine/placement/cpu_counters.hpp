// The kernel's counters per CPU: interrupts by kind, softirqs, steal. The difference of two samples shows why a CPU was
// interrupted.
// Thread: any. Cost: three files under /proc, tens of microseconds per CPU; allocates. Errors: counters that the kernel
// does not report stay empty. Source: /proc/interrupts, /proc/softirqs, /proc/stat
// (Documentation/filesystems/proc.rst).
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
  std::uint64_t rescheduling = 0;                              // RES: another CPU has a task to run here
  std::uint64_t function_calls = 0;                            // CAL: another CPU requests a function call
  std::uint64_t tlb_shootdowns = 0;                            // TLB
  std::uint64_t devices = 0;                                   // all numbered interrupts
  std::uint64_t other = 0;                                     // NMI, machine checks, IRQ work and the rest
  std::map<std::string, std::uint64_t, std::less<>> softirqs;  // "TIMER", "NET_RX", ...
  // Clock ticks, as in /proc/stat (1/100 s).
  std::uint64_t user = 0;  // including nice
  std::uint64_t system = 0;
  std::uint64_t idle = 0;  // including iowait
  std::uint64_t interrupt = 0;
  std::uint64_t softirq = 0;
  std::uint64_t steal = 0;
};

struct InterruptCounter {
  int number = 0;
  std::string name;                    // the text after the counts: "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0"
  std::vector<std::uint64_t> per_cpu;  // in the order of CounterSample::cpus
};

struct CounterSample {
  std::vector<CpuCounters> cpus;  // online CPUs, ascending
  std::vector<InterruptCounter> interrupts;
  std::uint64_t context_switches = 0;  // of the whole host
};

[[nodiscard]] CounterSample sample_counters(const HostFiles& files);
// The change between two samples. A CPU that is in only one of them is left out; a counter that decreased counts as 0.
[[nodiscard]] CounterSample difference(const CounterSample& before, const CounterSample& after);

}  // namespace nfx
