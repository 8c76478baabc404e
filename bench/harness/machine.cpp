// Describes the CPU, kernel and compiler of a measurement; sets the core and the descriptor limit of the process.
#include "harness/machine.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {
namespace {

std::string cpu_model() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    // x86 and some ARM kernels have "model name"; other ARM kernels have only the part number.
    if (!line.starts_with("model name") && !line.starts_with("CPU part")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

// The first line of a file; empty if there is none.
std::string line_of(const char* path) {
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  return line;
}

std::string governor() {
  const std::string name = line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return name.empty() ? "not shown to this system" : name;
}

std::string isolated() {
  const std::string cpus = line_of("/sys/devices/system/cpu/isolated");
  return cpus.empty() ? "none" : cpus;
}

std::string hypervisor() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("flags") && line.contains(" hypervisor")) {
      const std::string vendor = line_of("/sys/class/dmi/id/sys_vendor");
      return vendor.empty() ? "yes" : vendor;
    }
  }
  return {};
}

// The compiler can neither shorten the chain nor overlap its parts. The fastest of several runs was not interrupted.
double measured_ghz() {
  constexpr std::uint32_t additions = 200'000;
  double least_ns = std::numeric_limits<double>::max();
  for (int run = 0; run < 10; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t value = 1;
    for (std::uint32_t i = 0; i < additions / 10; ++i) {
      for (int j = 0; j < 10; ++j) {
        value += i;
        asm volatile("" : "+r"(value));
      }
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least_ns = std::min(least_ns, took.count());
  }
  return additions / least_ns;
}

}  // namespace

Machine this_machine() {
  utsname system{};
  ::uname(&system);
  Machine machine;
  machine.cpu_model = cpu_model();
  machine.architecture = system.machine;
  machine.kernel = std::string{system.sysname} + ' ' + system.release;
  machine.compiler = compiler();
  machine.flags = NFX_BENCH_FLAGS;
  machine.governor = governor();
  machine.isolated = isolated();
  machine.hypervisor = hypervisor();
  machine.cores = std::thread::hardware_concurrency();
  machine.ghz = measured_ghz();
#ifndef NDEBUG
  machine.assertions = true;
#endif
  return machine;
}

std::string describe(const Machine& machine) {
  return machine.cpu_model + ", " + std::to_string(machine.cores) + " cores, " + machine.kernel + ", " +
         machine.compiler + ", " + machine.flags + (machine.assertions ? ", WITH ASSERTIONS: not for quoting" : "");
}

std::string describe_state(const Machine& machine) {
  char ghz[32];
  std::snprintf(ghz, sizeof ghz, "%.2f GHz", machine.ghz);
  return std::string{ghz} + ", governor: " + machine.governor + ", isolated CPUs: " + machine.isolated +
         (machine.hypervisor.empty() ? ", no hypervisor" : ", hypervisor: " + machine.hypervisor);
}

std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core) {
  const CpuSet allowed = CpuAffinity::get();
  const int cpu = core ? static_cast<int>(*core) : allowed.last();
  if (!allowed.contains(cpu)) return std::unexpected("core " + std::to_string(cpu) + " is not among the allowed ones");
  const AffinityResult pinned = CpuAffinity::pin_to_core(cpu);
  if (!pinned) return std::unexpected("cannot pin to core " + std::to_string(cpu) + ": " + pinned.message());
  return static_cast<unsigned>(cpu);
}

unsigned run_on_core(std::optional<unsigned> core) {
  const auto pinned = pin_to_core(core);
  if (!pinned) throw std::runtime_error(pinned.error() + "; choose another core");
  return *pinned;
}

void allow_descriptors(std::uint64_t wanted, std::string_view otherwise) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  limit.rlim_max = std::max<rlim_t>(limit.rlim_max, wanted);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw std::runtime_error("needs " + std::to_string(wanted) + " file descriptors: run 'ulimit -n " +
                           std::to_string(wanted) + "' with the right to do so, or choose " + std::string{otherwise});
}

}  // namespace nfx::bench
