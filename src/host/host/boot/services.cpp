// Configuration of other services, so that they do not undo the plan: sysctl, irqbalance, tuned, the kubelet.
#include <algorithm>

#include "host/boot/families.hpp"

namespace nfx::boot {
namespace {

constexpr const char* irqbalance_path = "/etc/nexusfix/irqbalance.env";

std::string sysctl(const Context& context) {
  // A minus before a name: it is not an error if the kernel does not have it.
  std::string text =
      heading(context) +
      "# The per-CPU counters of the memory management are gathered by a worker on every CPU: less often.\n"
      "-vm.stat_interval = 120\n"
      "# Moving pages between nodes stops their users with faults; the engine's memory is where it was "
      "first touched.\n"
      "-kernel.numa_balancing = 0\n"
      "# The watchdog's timer and its task stay off the isolated CPUs.\n"
      "-kernel.watchdog_cpumask = " +
      context.housekeeping + '\n';
  if (std::ranges::any_of(context.plan.threads, [](const ThreadPlacement& thread) { return thread.priority > 0; })) {
    text +=
        "# The plan has real-time threads: throttled, they would stop for 50 ms of every second.\n"
        "-kernel.sched_rt_runtime_us = -1\n";
  }
  return text;
}

// tuned 2.23 moved the profiles; each version searches only one of the two folders.
void add_tuned(const Context& context, Artefacts& artefacts) {
  const std::string content =
      heading(context) +
      "# On top of the distribution's cpu-partitioning (package tuned-profiles-cpu-partitioning). Its own kernel "
      "arguments\n# are derived from isolated_cores and thus name the same CPUs; isolcpus= and the plan's hash come "
      "with the boot\n# loader's configuration.\n"
      "[main]\nsummary=NexusFIX: CPUs " +
      context.isolated_cpus +
      " isolated\ninclude=cpu-partitioning\n\n[variables]\nisolated_cores=" + context.isolated_cpus + '\n';
  for (const auto& [folder, versions] :
       {std::pair{"/etc/tuned/profiles/nexusfix", "from 2.23 on"}, std::pair{"/etc/tuned/nexusfix", "before 2.23"}}) {
    artefacts.push_back({.path = std::string{folder} + "/tuned.conf",
                         .content = content,
                         .mode = 0644,
                         .purpose = std::string{"A profile for hosts that run tuned, versions "} + versions + '.',
                         .next = "tuned-adm profile nexusfix (only where tuned runs)"});
  }
}

void add_irqbalance(const Context& context, Artefacts& artefacts) {
  artefacts.push_back(
      {.path = irqbalance_path,
       .content = heading(context) +
                  "# By CPU, so that it holds for whatever interrupts there are. The list is read by irqbalance from "
                  "1.8 on, the\n# mask by older ones.\nIRQBALANCE_BANNED_CPULIST=" +
                  context.isolated_cpus + "\nIRQBALANCE_BANNED_CPUS=" + context.isolated_mask + '\n',
       .mode = 0644,
       .purpose = "The CPUs that irqbalance gives no interrupts.",
       .next = ""});
  artefacts.push_back({.path = "/etc/systemd/system/irqbalance.service.d/50-nexusfix.conf",
                       .content = heading(context) +
                                  "# A file and not Environment=, which the distribution's own /etc/default/irqbalance "
                                  "would override: of several\n# files the last wins.\n[Service]\nEnvironmentFile=" +
                                  irqbalance_path + '\n',
                       .mode = 0644,
                       .purpose = "Makes irqbalance read it.",
                       .next = "systemctl daemon-reload && systemctl try-restart irqbalance.service"});
}

std::string kubelet(const Context& context) {
  std::string text =
      heading(context) +
      "# For hosts that are Kubernetes nodes: put these keys into the kubelet's configuration, or this file into the "
      "folder\n# of --config-dir under a name that ends in .conf. The static policy gives the isolated CPUs to "
      "containers "
      "that request\n# whole CPUs (requests equal to limits) and runs everything else on the reserved ones. Before "
      "the "
      "kubelet starts\n# with another list, its /var/lib/kubelet/cpu_manager_state has to be removed.\n"
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: static\n";
  if (std::ranges::any_of(context.topology.cores, [](const Core& core) { return core.cpus.size() > 1; })) {
    text +=
        "cpuManagerPolicyOptions:\n  # No container gets one SMT sibling of a core without the other.\n"
        "  full-pcpus-only: \"true\"\n";
  }
  return text + "reservedSystemCPUs: \"" + context.housekeeping +
         "\"\n# CPUs and devices of a container come from one NUMA node.\ntopologyManagerPolicy: single-numa-node\n";
}

}  // namespace

void add_services(const Context& context, Artefacts& artefacts) {
  artefacts.push_back({.path = "/etc/sysctl.d/50-nexusfix.conf",
                       .content = sysctl(context),
                       .mode = 0644,
                       .purpose = "Kernel settings that disturb isolated CPUs.",
                       .next = "sysctl --system"});
  add_tuned(context, artefacts);
  add_irqbalance(context, artefacts);
  artefacts.push_back({.path = "/etc/nexusfix/kubelet.yaml",
                       .content = kubelet(context),
                       .mode = 0644,
                       .purpose = "What a Kubernetes node's kubelet must be configured with.",
                       .next = ""});
}

}  // namespace nfx::boot
