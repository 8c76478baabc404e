// What network devices and the network stack do on which CPU, and how long they wait.
#include <algorithm>
#include <array>
#include <string>

#include "host/doctor/check.hpp"

namespace nfx::doctor {
namespace {

constexpr std::string_view sysctl_boot = "the same setting in a file of /etc/sysctl.d";
constexpr std::string_view ethtool_boot = "the ethtool script of nfx host apply --boot CONFIG";

bool no_device(const Examination& e, Report& report) {
  if (!e.network.empty()) return false;
  report.not_here("no network device with hardware");
  return true;
}

// The devices' answer under `key`, or a finding in its place.
std::optional<long long> asked(const NetworkDevice& device, std::string_view key, std::string_view topic,
                               Report& report) {
  if (const auto value = device.setting(key)) return value;
  if (const auto error = device.setting(std::string{topic} + "_error")) {
    report.cannot_tell("ethtool: error " + std::to_string(*error), device.name);
  } else {
    report.not_here("the driver does not report it", device.name);
  }
  return std::nullopt;
}

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

void rps(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
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

void xps(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
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
}

void rfs(const Examination& e, Report& report) {
  const auto entries = report.integer(e, "/proc/sys/net/core/rps_sock_flow_entries");
  if (!entries) return;
  if (*entries == 0) return report.good("packets do not follow their reader's CPU");
  if (e.isolated_cpus.empty()) return report.info("packets follow their reader's CPU");
  report.warning("packets follow their reader's CPU, the busy-polling threads' too",
                 "net.core.rps_sock_flow_entries = 0");
}

void flow_limit(const Examination& e, Report& report) {
  const auto mask = report.mask(e, "/proc/sys/net/core/flow_limit_cpu_bitmap");
  if (!mask) return;
  if (mask->empty()) return report.info("off: one flow may fill a CPU's backlog");
  report.info("on for " + mask->to_list());
}

void queues(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  const std::size_t cpus = (e.facts.online - e.isolated_cpus).size();
  for (const NetworkDevice& device : e.network) {
    const auto combined = asked(device, "channels_combined", "channels", report);
    if (!combined) continue;
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
}

void coalescing(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const auto wait = asked(device, "rx_usecs", "coalesce", report);
    if (!wait) continue;
    const bool adaptive = device.setting("adaptive_rx").value_or(0) != 0;
    if (*wait == 0 && !adaptive) {
      report.good("each packet interrupts immediately", device.name);
    } else {
      report.warning("rx-usecs " + std::to_string(*wait) + (adaptive ? ", adaptive-rx on" : ""),
                     "rx-usecs 0, adaptive-rx off", device.name);
    }
  }
}

void ring_sizes(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const auto size = asked(device, "ring_rx", "ring", report);
    if (!size) continue;
    const long long most = device.setting("ring_rx_max").value_or(*size);
    const long long enough = std::min(1024LL, most);
    const std::string seen = "receive ring " + std::to_string(*size) + " of at most " + std::to_string(most);
    if (*size >= enough) {
      report.good(seen, device.name);
    } else {
      report.warning(seen, "at least " + std::to_string(enough), device.name);
    }
  }
}

void busy_poll(const Examination& e, Report& report) {
  const auto poll = report.integer(e, "/proc/sys/net/core/busy_poll");
  if (!poll) return;
  const long long read = e.files.integer("/proc/sys/net/core/busy_read").value_or(0);
  if (*poll == 0 && read == 0) return report.info("off for all sockets; individual ones may use SO_BUSY_POLL");
  report.info("busy_poll " + std::to_string(*poll) + " us, busy_read " + std::to_string(read) + " us for all sockets");
}

void napi(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const std::string base = "/sys/class/net/" + device.name + '/';
    const auto defer = e.files.integer(base + "napi_defer_hard_irqs");
    const auto timeout = e.files.integer(base + "gro_flush_timeout");
    if (!defer && !timeout) {
      report.not_here("no napi_defer_hard_irqs", device.name);
      continue;
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
}

void time_stamps(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const auto hardware = asked(device, "rx_hardware_time_stamps", "time_stamps", report);
    if (!hardware) continue;
    if (*hardware != 0) {
      report.good("stamps packets in hardware", device.name);
    } else {
      report.info("software time stamps only", device.name);
    }
  }
}

void gro(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const auto on = asked(device, "gro", "gro", report);
    if (!on) continue;
    if (*on == 0) {
      report.good("off", device.name);
    } else {
      report.info("on: packets of one poll are joined before they are delivered", device.name);
    }
  }
}

void lro(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    const auto on = asked(device, "lro", "flags", report);
    if (!on) continue;
    if (*on == 0) {
      report.good("off", device.name);
    } else {
      report.warning("on", "off", device.name);
    }
  }
}

void idle_window(const Examination& e, Report& report) {
  const auto on = report.integer(e, "/proc/sys/net/ipv4/tcp_slow_start_after_idle");
  if (!on) return;
  if (*on == 0) return report.good("off");
  report.warning("on", "net.ipv4.tcp_slow_start_after_idle = 0");
}

void numa_node(const Examination& e, Report& report) {
  if (no_device(e, report)) return;
  for (const NetworkDevice& device : e.network) {
    if (device.numa_node < 0) {
      report.info("does not state its NUMA node", device.name);
      continue;
    }
    const auto text = e.files.text("/sys/devices/system/node/node" + std::to_string(device.numa_node) + "/cpulist");
    const auto local = text ? CpuSet::parse_list(*text) : std::unexpected{std::string{}};
    const std::string node = "node " + std::to_string(device.numa_node);
    if (!local || e.isolated_cpus.empty() || local->contains_all(e.isolated_cpus)) {
      report.good("on " + node, device.name);
    } else {
      report.info("on " + node + "; on other nodes: " + (e.isolated_cpus - *local).to_list(), device.name);
    }
  }
}

constexpr std::array steering_table{
    Check{{.id = "network.rps",
           .title = "Packets are not handed to the busy-polling threads' CPUs",
           .source = "/sys/class/net/*/queues/rx-*/rps_cpus, /proc/sys/net/core/rps_default_mask",
           .why = "RPS sends an interrupt to these CPUs and processes the packets of all connections there, in a "
                  "softirq (networking/scaling.rst). Not measured here.",
           .fix_runtime = "write a mask without these CPUs into rps_cpus",
           .fix_boot = "the udev rule of nfx host apply --boot CONFIG",
           .risk = "Fewer CPUs process packets."},
          rps},
    Check{{.id = "network.xps",
           .title = "Transmit queues by CPU",
           .source = "/sys/class/net/*/queues/tx-*/xps_cpus",
           .why = "A CPU with a queue of its own does not wait for others' locks when it sends "
                  "(networking/scaling.rst). Not measured here.",
           .fix_runtime = "write the masks into xps_cpus",
           .fix_boot = "the udev rule of nfx host apply --boot CONFIG",
           .risk = "None known."},
          xps},
    Check{{.id = "network.rfs",
           .title = "Packets do not follow the reader onto its CPU",
           .source = "/proc/sys/net/core/rps_sock_flow_entries",
           .why = "RFS processes packets in a softirq on the CPU where the socket was last read, which is the "
                  "busy-polling thread's. Not measured here.",
           .fix_runtime = "sysctl net.core.rps_sock_flow_entries=0",
           .fix_boot = sysctl_boot,
           .risk = "Other programs may read from a colder cache."},
          rfs},
    Check{{.id = "network.flow_limit",
           .title = "One flow cannot fill the backlog",
           .source = "/proc/sys/net/core/flow_limit_cpu_bitmap",
           .why = "With RPS, a flood of one flow drops packets of that flow first (networking/scaling.rst).",
           .fix_runtime = "write the mask of the CPUs that process packets",
           .fix_boot = sysctl_boot,
           .risk = "A single large flow loses packets."},
          flow_limit},
    Check{{.id = "network.queues",
           .title = "No more receive queues than CPUs to serve them",
           .source = "ethtool channels (ETHTOOL_GCHANNELS)",
           .why = "Each queue has an interrupt, and drivers spread them over all CPUs when they start "
                  "(networking/scaling.rst).",
           .fix_runtime = "ethtool -L DEVICE combined N",
           .fix_boot = ethtool_boot,
           .risk = "The link goes down for a moment with many drivers; less throughput."},
          queues},
    Check{{.id = "network.numa_node",
           .title = "Network devices are near the busy-polling threads",
           .source = "/sys/class/net/*/device/numa_node, /sys/devices/system/node/node*/cpulist",
           .why = "A packet that is read on another node comes over the link between the processors. Not measured "
                  "here.",
           .fix_runtime = "near = \"DEVICE\" in [placement]",
           .fix_boot = "",
           .risk = "None."},
          numa_node},
};

constexpr std::array waiting_table{
    Check{{.id = "network.coalescing",
           .title = "Interrupts are not held back",
           .source = "ethtool coalescing (ETHTOOL_GCOALESCE)",
           .why = "The device may hold a packet for up to rx_usecs before it raises an interrupt. A thread that polls "
                  "the device does not wait for it.",
           .fix_runtime = "ethtool -C DEVICE adaptive-rx off rx-usecs 0",
           .fix_boot = ethtool_boot,
           .risk = "More interrupts for the CPUs that handle them."},
          coalescing},
    Check{{.id = "network.ring_sizes",
           .title = "Receive rings hold a burst",
           .source = "ethtool rings (ETHTOOL_GRINGPARAM)",
           .why = "A full receive ring drops packets. TCP sends them again, at the end of a burst only after its "
                  "retransmission timeout (tcp_rto_min, 200 ms by default).",
           .fix_runtime = "ethtool -G DEVICE rx N",
           .fix_boot = ethtool_boot,
           .risk = "The link goes down for a moment; large rings take cache and memory."},
          ring_sizes},
    Check{{.id = "network.busy_poll",
           .title = "Busy polling of sockets",
           .source = "/proc/sys/net/core/busy_poll, busy_read",
           .why = "A thread that waits for a socket polls the device itself instead of waiting for its interrupt "
                  "(sysctl/net.rst names 50 us as a good value). Not measured here.",
           .fix_runtime = "sysctl net.core.busy_poll=50 net.core.busy_read=50",
           .fix_boot = sysctl_boot,
           .risk = "CPU time, for every program that polls sockets."},
          busy_poll},
    Check{{.id = "network.napi",
           .title = "Packets are not held back for grouping",
           .source = "/sys/class/net/*/gro_flush_timeout, napi_defer_hard_irqs, threaded",
           .why = "With busy polling these settings keep interrupts off while the application polls. Without it a "
                  "packet waits for up to gro_flush_timeout.",
           .fix_runtime = "echo 0 > /sys/class/net/DEVICE/gro_flush_timeout",
           .fix_boot = "the udev rule of nfx host apply --boot CONFIG",
           .risk = "More interrupts."},
          napi},
    Check{{.id = "network.time_stamps",
           .title = "Packets are stamped in hardware",
           .source = "ethtool time stamping (ETHTOOL_GET_TS_INFO)",
           .why = "A time stamp of the kernel (SOF_TIMESTAMPING_RX_SOFTWARE) includes the time that the packet waited "
                  "in the device and for its interrupt.",
           .fix_runtime = "another device or driver",
           .fix_boot = "",
           .risk = "None."},
          time_stamps},
    Check{{.id = "network.gro",
           .title = "Joining of received packets in software",
           .source = "ethtool generic receive offload (ETHTOOL_GGRO)",
           .why = "Packets of one connection are joined within one poll of the device; small single messages are "
                  "hardly held up. Not measured here.",
           .fix_runtime = "ethtool -K DEVICE gro off",
           .fix_boot = ethtool_boot,
           .risk = "More CPU time at high rates."},
          gro},
    Check{{.id = "network.lro",
           .title = "The device does not join packets",
           .source = "ethtool large receive offload (ETHTOOL_GFLAGS)",
           .why = "The device delays packets to join them with later ones. Not measured here.",
           .fix_runtime = "ethtool -K DEVICE lro off",
           .fix_boot = ethtool_boot,
           .risk = "More CPU time at high rates."},
          lro},
    Check{{.id = "network.idle_window",
           .title = "An idle connection keeps its congestion window",
           .source = "/proc/sys/net/ipv4/tcp_slow_start_after_idle",
           .why = "After a pause TCP starts over with a small window: the first burst takes more round trips "
                  "(ip-sysctl.rst). Not measured here.",
           .fix_runtime = "sysctl net.ipv4.tcp_slow_start_after_idle=0",
           .fix_boot = sysctl_boot,
           .risk = "A burst after a pause may meet a path that has become narrower."},
          idle_window},
};

constexpr auto files = std::to_array<std::string_view>({
    "/proc/sys/net/core/busy_poll",
    "/proc/sys/net/core/busy_read",
    "/proc/sys/net/core/flow_limit_cpu_bitmap",
    "/proc/sys/net/core/rps_default_mask",
    "/proc/sys/net/core/rps_sock_flow_entries",
    "/proc/sys/net/ipv4/tcp_slow_start_after_idle",
    "/sys/class/net/*/gro_flush_timeout",
    "/sys/class/net/*/napi_defer_hard_irqs",
    "/sys/class/net/*/queues/rx-*/rps_cpus",
    "/sys/class/net/*/queues/rx-*/rps_flow_cnt",
    "/sys/class/net/*/queues/tx-*/xps_cpus",
    "/sys/class/net/*/threaded",
});

}  // namespace

Area network_area() noexcept {
  static constexpr auto table = [] {
    std::array<Check, steering_table.size() + waiting_table.size()> all{};
    std::ranges::copy(steering_table, all.begin());
    std::ranges::copy(waiting_table, all.begin() + steering_table.size());
    return all;
  }();
  return {table, files};
}

}  // namespace nfx::doctor
