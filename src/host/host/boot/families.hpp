// The families of boot artefacts, each in a file of its own, and what all of them are written from. The CPU lists are
// spelled once, here, so that no two artefacts can differ in them.
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
  CpuSet engine;  // where the engine's threads may run, those that sleep included
};

using Artefacts = std::vector<BootArtefact>;

// Comment lines: which plan, which CPUs, who wrote it. Every artefact has them, after a script's first line.
[[nodiscard]] std::string heading(const Context& context);
// One word of a shell: in single quotes, whatever is in it.
[[nodiscard]] std::string shell_quoted(std::string_view text);
// Device and interrupt names come from drivers and firmware: one with a control character stays out of the scripts.
[[nodiscard]] bool printable(std::string_view text) noexcept;

// A network interface near a busy-polling thread: the ones whose interrupts and queues matter to it.
struct NearNic {
  std::string pci_address;  // empty: by name
  std::string name;
  CpuSet housekeeping;  // the housekeeping CPUs on its node, or all when it has none there
};
[[nodiscard]] std::vector<NearNic> near_nics(const Context& context);

// Names of the kernel parameters that NexusFIX sets: former ones of the same names have to go.
[[nodiscard]] const std::vector<std::string>& parameter_names();

void add_kernel(const Context& context, Artefacts& artefacts);
void add_systemd(const Context& context, Artefacts& artefacts);
void add_services(const Context& context, Artefacts& artefacts);
void add_interrupts(const Context& context, const HostFacts& facts, Artefacts& artefacts);
void add_network(const Context& context, Artefacts& artefacts);

}  // namespace nfx::boot
