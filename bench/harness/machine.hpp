// The machine and the build of a measurement, the core it ran on, and the file descriptors it may open.
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
  std::string governor;    // of the CPU's frequency, or why there is none to read
  std::string isolated;    // CPUs that the kernel keeps free; "none" where there are none
  std::string hypervisor;  // empty on bare metal
  unsigned cores = 0;
  double ghz = 0;           // measured: additions that depend on each other take a cycle each
  bool assertions = false;  // then the results must not be quoted
};

// Takes a few milliseconds, to measure the frequency.
[[nodiscard]] Machine this_machine();
// In a line, with a warning where assertions are on.
[[nodiscard]] std::string describe(const Machine& machine);
// Frequency, governor, isolation and hypervisor, in a line.
[[nodiscard]] std::string describe_state(const Machine& machine);

// Confines the calling thread to one core: the given one, or the last that it may use. Returns that core, or the reason
// why it cannot.
[[nodiscard]] std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core);
// The same; throws std::runtime_error, which says to choose another one.
unsigned run_on_core(std::optional<unsigned> core);

// Lets this process have so many file descriptors open. Throws std::runtime_error, which names what else would help,
// where the system does not allow it.
void allow_descriptors(std::uint64_t wanted, std::string_view otherwise);

}  // namespace nfx::bench
