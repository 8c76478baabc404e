// Checks of network devices and the network stack: the CPUs that do their work, and how long they wait.
#include <algorithm>
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

struct QueueMasks {
  CpuSet cpus;
  std::size_t queues = 0;
};

QueueMasks queue_masks(const Examination& e, const std::string& device, std::string_view prefix, const char* file) {
  QueueMasks masks;
  const std::string base = "/sys/class/net/" + device + "/queues/";
  for (const std::string& queue : e.files.list(base)) {
    if (!queue.starts_with(prefix)) continue;
    const auto text = e.files.text(base + queue + file);
    if (!text) continue;
    ++masks.queues;
    masks.cpus |= CpuSet::parse_mask(*text).value_or(CpuSet{});
  }
  return masks;
}

}  // namespace

std::string_view no_isolated_cpus(const Examination& e) { return e.isolated_cpus.empty() ? "no CPU is isolated" : ""; }

void rps(const Examination& e, Report& report) {
  if (report.no_network(e)) return;
  for (const NetworkDevice& device : e.network) {
    const QueueMasks masks = queue_masks(e, device.name, "rx-", "/rps_cpus");
    if (masks.queues == 0) {
      report.not_here("no rps_cpus", device.name);
    } else if (masks.cpus.empty()) {
      report.good("packets stay where their interrupt was", device.name);
    } else if (const CpuSet shared = masks.cpus & e.isolated_cpus; !shared.empty()) {
      report.failure("packets are handed to " + shared.to_list(), "rps_cpus without " + e.isolated_cpus.to_list(),
                     device.name);
    } else {
      report.good("packets are handed to " + masks.cpus.to_list(), device.name);
    }
  }
  if (const auto text = e.files.text("/proc/sys/net/core/rps_default_mask")) {
    const auto mask = CpuSet::parse_mask(*text);
    if (mask && mask->intersects(e.isolated_cpus))
      report.warning("devices that come later start with " + mask->to_list(),
                     "net.core.rps_default_mask without " + e.isolated_cpus.to_list());
  }
}

void xps(const Examination& e, const NetworkDevice& device, Report& report) {
  const QueueMasks masks = queue_masks(e, device.name, "tx-", "/xps_cpus");
  if (masks.queues == 0) {
    report.not_here("no xps_cpus", device.name);
  } else if (masks.cpus.empty()) {
    report.info("transmit queues are chosen by flow", device.name);
  } else if (e.isolated_cpus.empty() || masks.cpus.contains_all(e.isolated_cpus)) {
    report.good("each CPU has its transmit queue", device.name);
  } else {
    report.info((e.isolated_cpus - masks.cpus).to_list() + " have no transmit queue of their own", device.name);
  }
}

void flow_limit(const Examination& e, Report& report) {
  const auto mask = report.mask(e, "/proc/sys/net/core/flow_limit_cpu_bitmap");
  if (!mask) return;
  if (mask->empty()) return report.info("off: one flow may fill a CPU's backlog");
  report.info("on for " + mask->to_list());
}

void queues(const Examination& e, const NetworkDevice& device, Report& report) {
  const std::size_t cpus = (e.facts.online - e.isolated_cpus).size();
  const auto combined = report.setting(device, "channels_combined", "channels");
  if (!combined) return;
  const auto receive = *combined + device.setting("channels_rx").value_or(0);
  const std::string seen = std::to_string(receive) + " receive queues for " + std::to_string(cpus) + " CPUs";
  if (e.isolated_cpus.empty() || cpus == 0) {
    report.info(seen, device.name);
  } else if (static_cast<std::size_t>(receive) > cpus) {
    report.warning(seen + " that are not isolated", "at most " + std::to_string(cpus) + " queues", device.name);
  } else {
    report.good(seen, device.name);
  }
}

void coalescing(const Examination&, const NetworkDevice& device, Report& report) {
  const auto wait = report.setting(device, "rx_usecs", "coalesce");
  if (!wait) return;
  const bool adaptive = device.setting("adaptive_rx").value_or(0) != 0;
  if (*wait == 0 && !adaptive) {
    report.good("each packet interrupts immediately", device.name);
  } else {
    report.warning("rx-usecs " + std::to_string(*wait) + (adaptive ? ", adaptive-rx on" : ""),
                   "rx-usecs 0, adaptive-rx off", device.name);
  }
}

void ring_sizes(const Examination&, const NetworkDevice& device, Report& report) {
  const auto size = report.setting(device, "ring_rx", "ring");
  if (!size) return;
  const long long most = device.setting("ring_rx_max").value_or(*size);
  const long long enough = std::min(1024LL, most);
  const std::string seen = "receive ring " + std::to_string(*size) + " of at most " + std::to_string(most);
  if (*size >= enough) {
    report.good(seen, device.name);
  } else {
    report.warning(seen, "at least " + std::to_string(enough), device.name);
  }
}

void busy_poll(const Examination& e, Report& report) {
  const auto poll = report.integer(e, "/proc/sys/net/core/busy_poll");
  if (!poll) return;
  const long long read = e.files.integer("/proc/sys/net/core/busy_read").value_or(0);
  if (*poll == 0 && read == 0) return report.info("off for all sockets; individual ones may use SO_BUSY_POLL");
  report.info("busy_poll " + std::to_string(*poll) + " us, busy_read " + std::to_string(read) + " us for all sockets");
}

void napi(const Examination& e, const NetworkDevice& device, Report& report) {
  const std::string base = "/sys/class/net/" + device.name + '/';
  const auto defer = e.files.integer(base + "napi_defer_hard_irqs");
  const auto timeout = e.files.integer(base + "gro_flush_timeout");
  if (!defer && !timeout) {
    report.not_here("no napi_defer_hard_irqs", device.name);
    return;
  }
  const bool threaded = e.files.integer(base + "threaded").value_or(0) != 0;
  const std::string threads = threaded ? "; polled by kernel threads" : "";
  if (timeout.value_or(0) == 0) {
    report.good("packets are not held back" + threads, device.name);
  } else {
    report.info("gro_flush_timeout " + std::to_string(*timeout) + " ns, napi_defer_hard_irqs " +
                    std::to_string(defer.value_or(0)) + ": for busy polling" + threads,
                device.name);
  }
}

void numa_node(const Examination& e, const NetworkDevice& device, Report& report) {
  if (device.numa_node < 0) {
    report.info("does not state its NUMA node", device.name);
    return;
  }
  const NumaNode* const local = e.input.topology.node(device.numa_node);
  const std::string node = "node " + std::to_string(device.numa_node);
  if (local == nullptr || local->cpus.contains_all(e.isolated_cpus)) {
    report.good("on " + node, device.name);
  } else {
    report.info("on " + node + "; on other nodes: " + (e.isolated_cpus - local->cpus).to_list(), device.name);
  }
}

}  // namespace nfx::doctor::look
