// Builds the boot files for a plan. Each family of files has its own source file; this one has the order and the shared
// parts.
#include "host/boot_artefacts.hpp"

#include <algorithm>
#include <cctype>

#include "host/boot/families.hpp"

namespace nfx {
namespace boot {
namespace {

// The hash is inserted into a command line and into scripts without quoting.
std::string plain_word(std::string_view text) {
  std::string word;
  std::ranges::copy_if(text, std::back_inserter(word),
                       [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  return word;
}

// A plan that isolates no CPU, or that must not be used, needs nothing from the kernel.
bool asks_nothing(const PlacementPlan& plan) {
  return plan.isolated_cpus.empty() || plan.housekeeping.empty() || plan.isolated_cpus.intersects(plan.housekeeping) ||
         plan.refused();
}

Context make_context(const PlacementPlan& plan, const Topology& topology, const HostFacts& facts) {
  const CpuSet all = plan.isolated_cpus | plan.housekeeping | topology.online;
  const int width = all.last() + 1;
  Context context{.plan = plan,
                  .topology = topology,
                  .hash = plain_word(plan.hash),
                  .parameters = boot_parameters(plan, topology, facts),
                  .isolated_cpus = plan.isolated_cpus.to_list(),
                  .housekeeping = plan.housekeeping.to_list(),
                  .isolated_mask = plan.isolated_cpus.to_mask(width),
                  .housekeeping_mask = plan.housekeeping.to_mask(width),
                  .spinners = {},
                  .engine = plan.housekeeping};
  for (const ThreadPlacement& thread : plan.threads) {
    context.engine |= thread.cpus;
    if (thread.wait == ThreadWait::spin) context.spinners |= thread.cpus & plan.isolated_cpus;
  }
  return context;
}

// Empty if the device does not report its location.
CpuSet cpus_beside(const Device& device, const Topology& topology) {
  if (!device.local_cpus.empty() || device.numa_node < 0) return device.local_cpus;
  const auto node = std::ranges::find(topology.nodes, device.numa_node, &NumaNode::number);
  return node == topology.nodes.end() ? CpuSet{} : node->cpus;
}

}  // namespace

std::string heading(const Context& context) {
  return "# Plan " + context.hash + ": isolated CPUs " + context.isolated_cpus + ", housekeeping CPUs " +
         context.housekeeping +
         ".\n# Written by 'nfx host apply --boot'; a change here is lost when that runs again.\n";
}

std::string shell_quoted(std::string_view text) {
  std::string quoted{'\''};
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + '\'';
}

bool printable(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c != '\x7f'; });
}

std::vector<NearNic> near_nics(const Context& context) {
  std::vector<NearNic> nics;
  for (const Device& device : context.topology.devices) {
    if (device.kind != DeviceKind::network || !device.usable) continue;
    const CpuSet local = cpus_beside(device, context.topology);
    // A device without a location may be near any busy-polling thread.
    if (!local.empty() && !local.intersects(context.spinners)) continue;
    if (!printable(device.name) || (!device.pci_address.empty() && !printable(device.pci_address))) continue;
    // Ports of one card may share an address, and one entry tunes all of their interfaces.
    const auto same = [&](const NearNic& nic) {
      return !device.pci_address.empty() && nic.pci_address == device.pci_address;
    };
    if (std::ranges::any_of(nics, same)) continue;
    const CpuSet beside = local & context.plan.housekeeping;
    nics.push_back({device.pci_address, device.name, beside.empty() ? context.plan.housekeeping : beside});
  }
  return nics;
}

}  // namespace boot

std::string boot_parameters(const PlacementPlan& plan, const Topology&, const HostFacts& facts) {
  if (boot::asks_nothing(plan)) return {};
  const std::string isolated_cpus = plan.isolated_cpus.to_list();
  // Kernels before 5.6 ignore isolcpus= altogether if it contains a flag they do not know.
  const bool knows_managed = facts.kernel.major == 0 || facts.kernel >= KernelVersion{5, 6};
  std::string text = "isolcpus=";
  text += knows_managed ? "managed_irq,domain," : "domain,";
  text += isolated_cpus;
  text += " nohz_full=" + isolated_cpus;
  text += " rcu_nocbs=" + isolated_cpus;
  text += " irqaffinity=" + plan.housekeeping.to_list();
  // Staggers the ticks, which otherwise fire on all CPUs at once and contend for the same locks; costs some power.
  text += " skew_tick=1";
  text += ' ' + std::string{plan_parameter} + '=' + boot::plain_word(plan.hash);
  return text;
}

std::vector<BootArtefact> boot_artefacts(const PlacementPlan& plan, const Topology& topology, const HostFacts& facts) {
  if (boot::asks_nothing(plan)) return {};
  const boot::Context context = boot::make_context(plan, topology, facts);
  std::vector<BootArtefact> artefacts;
  boot::add_kernel(context, artefacts);
  boot::add_systemd(context, artefacts);
  boot::add_services(context, artefacts);
  boot::add_interrupts(context, facts, artefacts);
  boot::add_network(context, artefacts);
  return artefacts;
}

}  // namespace nfx
