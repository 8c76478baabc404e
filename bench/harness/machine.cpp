// Describes the CPU, kernel and compiler of a measurement; sets the core and the descriptors of the process.
#include "harness/machine.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
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
  machine.cores = std::thread::hardware_concurrency();
#ifndef NDEBUG
  machine.assertions = true;
#endif
  return machine;
}

std::string describe(const Machine& machine) {
  return machine.cpu_model + ", " + std::to_string(machine.cores) + " cores, " + machine.kernel + ", " +
         machine.compiler + ", " + machine.flags + (machine.assertions ? ", WITH ASSERTIONS: not for quoting" : "");
}

std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core) {
  const CpuSet allowed = CpuAffinity::get();
  const int cpu = core ? static_cast<int>(*core) : allowed.last();
  if (!allowed.contains(cpu)) return std::unexpected("core " + std::to_string(cpu) + " is not among the allowed ones");
  const AffinityResult pinned = CpuAffinity::pin_to_core(cpu);
  if (!pinned) return std::unexpected("cannot pin to core " + std::to_string(cpu) + ": " + pinned.message());
  return static_cast<unsigned>(cpu);
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
