// Where and with what a figure was measured, and the core it was measured on.
#pragma once

#include <expected>
#include <optional>
#include <string>

namespace nfx::bench {

struct Machine {
  std::string cpu_model;
  std::string architecture;
  std::string kernel;
  std::string compiler;
  std::string flags;  // what the optimiser was told
  unsigned cores = 0;
  bool assertions = false;  // such figures are not worth quoting
};

[[nodiscard]] Machine this_machine();
// In a line, with a warning where assertions are on.
[[nodiscard]] std::string describe(const Machine& machine);

// Confines the calling thread to one core: the given one, or the last that it may use. Gives that core, or says why
// it cannot.
[[nodiscard]] std::expected<unsigned, std::string> pin_to_core(std::optional<unsigned> core);

}  // namespace nfx::bench
