#include "harness/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <thread>

namespace nfx::bench {
namespace {

std::string cpu_model() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    // x86 and some ARM kernels say "model name"; other ARM kernels only number the part.
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

std::string why(const std::string& what, int error) { return what + ": " + std::generic_category().message(error); }

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

std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return std::unexpected(why("cannot read which cores are allowed", errno));
  }
  if (!core) {
    for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed)) core = i;
    }
  }
  if (!core || *core >= CPU_SETSIZE || !CPU_ISSET(*core, &allowed)) {
    return std::unexpected("core " + (core ? std::to_string(*core) : "?") + " is not among the allowed ones");
  }
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(*core, &wanted);
  if (::sched_setaffinity(0, sizeof wanted, &wanted) != 0) {
    return std::unexpected(why("cannot pin to core " + std::to_string(*core), errno));
  }
  return *core;
}

}  // namespace nfx::bench
