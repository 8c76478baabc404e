// The machine and the build of a measurement, its core, and the number of file descriptors it may open.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace nfx::bench {

struct Machine {
  std::string cpu_model;
  std::string architecture;
  std::string kernel;
  std::string compiler;
  std::string flags;       // of the optimiser
  std::string governor;    // of the CPU's frequency, or why it cannot be read
  std::string isolated;    // CPUs isolated by the kernel, or "none"
  std::string hypervisor;  // empty on bare metal
  unsigned cores = 0;
  double ghz = 0;           // measured: dependent additions take a cycle each
  bool assertions = false;  // if true, the results must not be quoted
};

// Takes a few milliseconds, to measure the frequency.
[[nodiscard]] Machine this_machine();
// One line, with a warning if assertions are on.
[[nodiscard]] std::string describe(const Machine& machine);
// Frequency, governor, isolation and hypervisor in one line.
[[nodiscard]] std::string describe_state(const Machine& machine);

// Pins the calling thread to one core: the given one, or the last that it may use. Returns that core, or the reason for
// the failure.
[[nodiscard]] std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core);
// The same; throws std::runtime_error, which suggests choosing another core.
unsigned run_on_core(std::optional<unsigned> core);

// Raises this process's limit of open file descriptors. Throws std::runtime_error, which names an alternative, if the
// system does not allow it.
void allow_descriptors(std::uint64_t wanted, std::string_view otherwise);

}  // namespace nfx::bench
