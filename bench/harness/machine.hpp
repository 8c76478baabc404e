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
  std::string flags;  // of the optimiser
  unsigned cores = 0;
  bool assertions = false;  // then the results must not be quoted
};

[[nodiscard]] Machine this_machine();
// In a line, with a warning where assertions are on.
[[nodiscard]] std::string describe(const Machine& machine);

// Confines the calling thread to one core: the given one, or the last that it may use. Returns that core, or the reason
// why it cannot.
[[nodiscard]] std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core);

// Lets this process have so many file descriptors open. Throws std::runtime_error, which names what else would help,
// where the system does not allow it.
void allow_descriptors(std::uint64_t wanted, std::string_view otherwise);

}  // namespace nfx::bench
