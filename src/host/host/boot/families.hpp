// The families of boot artefacts, one source file each, and their shared input. The CPU lists are formatted once, here,
// so that artefacts cannot disagree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/boot_artefacts.hpp"

namespace nfx::boot {

struct Context {
  const PlacementPlan& plan;
  const Topology& topology;
  std::string hash;
  std::string parameters;
  std::string isolated_cpus;      // "2-7"
  std::string housekeeping;       // "0-1"
  std::string isolated_mask;      // "fc"
  std::string housekeeping_mask;  // "3"
  CpuSet spinners;
  CpuSet engine;  // where the engine's threads may run, including threads that sleep
};

using Artefacts = std::vector<BootArtefact>;

// Comment lines: the plan, its CPUs, and the program that wrote the file. Every artefact has them, after a script's
// first line.
[[nodiscard]] std::string heading(const Context& context);
// Quotes any text as one word of a shell, in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view text);
// Device and interrupt names come from drivers and firmware. A name with a control character is not written into
// scripts.
[[nodiscard]] bool printable(std::string_view text) noexcept;

// A network interface near a busy-polling thread, whose interrupts and queues therefore matter.
struct NearNic {
  std::string pci_address;  // empty: identified by name
  std::string name;
  CpuSet housekeeping;  // the housekeeping CPUs on its node, or all of them if its node has none
};
[[nodiscard]] std::vector<NearNic> near_nics(const Context& context);

// The kernel parameters that NexusFIX sets; existing parameters with these names are removed.
[[nodiscard]] const std::vector<std::string>& parameter_names();

void add_kernel(const Context& context, Artefacts& artefacts);
void add_systemd(const Context& context, Artefacts& artefacts);
void add_services(const Context& context, Artefacts& artefacts);
void add_interrupts(const Context& context, const HostFacts& facts, Artefacts& artefacts);
void add_network(const Context& context, Artefacts& artefacts);

}  // namespace nfx::boot
