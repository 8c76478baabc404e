// What the memory management does without the engine's knowledge.
#include <algorithm>
#include <array>
#include <string>

#include "host/doctor/check.hpp"

namespace nfx::doctor {
namespace {

constexpr std::string_view sysctl_boot = "the same setting in a file of /etc/sysctl.d";

const std::string huge = "/sys/kernel/mm/transparent_hugepage/";

void thp(const Examination& e, Report& report) {
  const auto text = report.text(e, huge + "enabled");
  if (!text) return;
  const std::string mode = chosen(*text);
  if (mode != "always") return report.good(mode);
  report.warning(mode, "madvise or never");
}

void thp_defrag(const Examination& e, Report& report) {
  const auto text = report.text(e, huge + "defrag");
  if (!text) return;
  const std::string mode = chosen(*text);
  const bool off = chosen(e.files.text(huge + "enabled").value_or("")) == "never";
  if (mode != "always" || off) return report.good(mode + (off ? "; huge pages are off" : ""));
  report.warning(mode + ": a page fault may wait for memory to be moved together", "madvise, defer or never");
}

void khugepaged(const Examination& e, Report& report) {
  const auto on = report.integer(e, huge + "khugepaged/defrag");
  if (!on) return;
  const bool off = chosen(e.files.text(huge + "enabled").value_or("")) == "never";
  if (*on == 0 || off) return report.good(off ? "huge pages are off" : "does not move memory together");
  report.info("may replace pages of programs that use huge pages");
}

void ksm(const Examination& e, Report& report) {
  const auto run = report.integer(e, "/sys/kernel/mm/ksm/run");
  if (!run) return;
  if (*run != 1) return report.good(*run == 0 ? "off" : "off, and what was merged is taken apart");
  report.warning("merges equal pages", "off: 2 takes merged pages apart again");
}

// Lines after the head of /proc/swaps.
std::vector<std::string> swap_areas(const std::string& text) {
  std::vector<std::string> areas;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("Filename")) continue;
    const std::string area = line.substr(0, line.find_first_of(" \t"));
    if (!area.empty()) areas.push_back(area);
  }
  return areas;
}

void swap(const Examination& e, Report& report) {
  const auto text = report.text(e, "/proc/swaps");
  if (!text) return;
  const std::vector<std::string> areas = swap_areas(*text);
  if (areas.empty()) return report.good("none");
  report.warning(join(areas), "no swap area, or all memory of the engine locked");
}

void swappiness(const Examination& e, Report& report) {
  const auto value = report.integer(e, "/proc/sys/vm/swappiness");
  if (!value) return;
  const std::string seen = "vm.swappiness = " + std::to_string(*value);
  if (swap_areas(e.files.text("/proc/swaps").value_or("")).empty()) return report.good(seen + ", without swap areas");
  if (*value <= 10) return report.good(seen);
  report.warning(seen, "vm.swappiness = 1");
}

std::size_t nodes_with_cpus(const Examination& e) {
  const std::string base = "/sys/devices/system/node/";
  std::size_t nodes = 0;
  for (const std::string& name : e.files.list(base)) {
    const bool node = name.starts_with("node") && all_digits(std::string_view{name}.substr(4));
    if (node && !e.files.text(base + name + "/cpulist").value_or("").empty()) ++nodes;
  }
  return std::max(nodes, e.input.topology.nodes.size());
}

void numa_balancing(const Examination& e, Report& report) {
  const auto on = report.integer(e, "/proc/sys/kernel/numa_balancing");
  if (!on) return;
  if (*on == 0) return report.good("off");
  if (nodes_with_cpus(e) < 2) return report.good("on, but there is one node only");
  report.warning("on, with " + std::to_string(nodes_with_cpus(e)) + " nodes", "kernel.numa_balancing = 0");
}

void zone_reclaim(const Examination& e, Report& report) {
  const auto mode = report.integer(e, "/proc/sys/vm/zone_reclaim_mode");
  if (!mode) return;
  if (*mode == 0) return report.good("off");
  report.warning("vm.zone_reclaim_mode = " + std::to_string(*mode), "vm.zone_reclaim_mode = 0");
}

void dirty_pages(const Examination& e, Report& report) {
  const auto background = report.integer(e, "/proc/sys/vm/dirty_background_ratio");
  if (!background) return;
  const auto ratio = e.files.integer("/proc/sys/vm/dirty_ratio");
  const auto interval = e.files.integer("/proc/sys/vm/dirty_writeback_centisecs");
  const auto word = [](const std::expected<long long, int>& value) {
    return value ? std::to_string(*value) : std::string{"?"};
  };
  const std::string seen = "dirty_background_ratio " + std::to_string(*background) + " %, dirty_ratio " + word(ratio) +
                           " %, dirty_writeback_centisecs " + word(interval);
  if (ratio && *ratio > 40) return report.warning(seen, "vm.dirty_ratio at most 20");
  report.info(seen);
}

void huge_pages(const Examination& e, Report& report) {
  const auto text = report.text(e, "/proc/meminfo");
  if (!text) return;
  const auto total = line_value(*text, "HugePages_Total");
  const auto size = line_value(*text, "Hugepagesize");
  if (!total) return report.not_here("the kernel has none");
  report.info(*total + " reserved of " + size.value_or("?"));
}

void compaction(const Examination& e, Report& report) {
  const auto value = report.integer(e, "/proc/sys/vm/compaction_proactiveness");
  if (!value) return;
  const std::string seen = "vm.compaction_proactiveness = " + std::to_string(*value);
  if (*value == 0) return report.good(seen);
  report.warning(seen, "vm.compaction_proactiveness = 0");
}

constexpr std::array table{
    Check{{.id = "memory.thp",
           .title = "Transparent huge pages only where requested",
           .source = "/sys/kernel/mm/transparent_hugepage/enabled",
           .why = "With \"always\" any page fault may clear 2 MiB, and khugepaged rebuilds page tables of running "
                  "programs and flushes translations on their CPUs. Not measured here.",
           .fix_runtime = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
           .fix_boot = "transparent_hugepage=madvise",
           .risk = "Programs that do not request them have more translation misses."},
          thp},
    Check{{.id = "memory.thp_defrag",
           .title = "Page faults do not wait for huge pages",
           .source = "/sys/kernel/mm/transparent_hugepage/defrag",
           .why = "With \"always\" a fault stalls while memory is reclaimed and moved (transhuge.rst). Not measured "
                  "here.",
           .fix_runtime = "echo madvise > /sys/kernel/mm/transparent_hugepage/defrag",
           .fix_boot = "the tuned profile of nfx host apply --boot CONFIG",
           .risk = "Fewer huge pages on a host whose memory is fragmented."},
          thp_defrag},
    Check{{.id = "memory.khugepaged",
           .title = "Pages are not merged into huge pages in the background",
           .source = "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
           .why = "Merging pages into huge pages flushes translations on the CPUs that use them. Not measured here.",
           .fix_runtime = "echo 0 > /sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
           .fix_boot = "transparent_hugepage=never",
           .risk = "Fewer huge pages."},
          khugepaged},
    Check{{.id = "memory.ksm",
           .title = "Equal pages are not merged",
           .source = "/sys/kernel/mm/ksm/run",
           .why = "A write to a merged page faults and copies it; the scan itself takes CPU time. Not measured here.",
           .fix_runtime = "echo 2 > /sys/kernel/mm/ksm/run",
           .fix_boot = "disable ksm and ksmtuned",
           .risk = "More memory is used, on hosts of virtual machines much more."},
          ksm},
    Check{{.id = "memory.swap",
           .title = "No memory is swapped out",
           .source = "/proc/swaps",
           .why = "A page that was swapped out is read back from the disk when it is touched. Not measured here.",
           .fix_runtime = "swapoff -a, or lock the engine's memory (CAP_IPC_LOCK or memlock)",
           .fix_boot = "remove the swap areas from /etc/fstab",
           .risk = "Without swap the kernel kills a program when memory runs out."},
          swap},
    Check{{.id = "memory.swappiness",
           .title = "Memory is swapped out as the last resort",
           .source = "/proc/sys/vm/swappiness",
           .why = "How readily programs' memory is reclaimed before cached files (sysctl/vm.rst). Not measured here.",
           .fix_runtime = "sysctl vm.swappiness=1",
           .fix_boot = sysctl_boot,
           .risk = "Less space for cached files."},
          swappiness},
    Check{
        {.id = "memory.numa_balancing",
         .title = "Memory is not moved between NUMA nodes",
         .source = "/proc/sys/kernel/numa_balancing",
         .why = "Pages are made to fault in order to see which CPU uses them, then moved (sysctl/kernel.rst); a pinned "
                "thread gains nothing. Not measured here.",
         .fix_runtime = "sysctl kernel.numa_balancing=0",
         .fix_boot = "numa_balancing=disable, or a file of /etc/sysctl.d",
         .risk = "Programs that are not placed use more memory of other nodes."},
        numa_balancing},
    Check{{.id = "memory.zone_reclaim",
           .title = "A full node takes memory from another",
           .source = "/proc/sys/vm/zone_reclaim_mode",
           .why = "Otherwise an allocation waits until memory of its own node has been reclaimed (sysctl/vm.rst). Not "
                  "measured here.",
           .fix_runtime = "sysctl vm.zone_reclaim_mode=0",
           .fix_boot = sysctl_boot,
           .risk = "Memory of another node is slower."},
          zone_reclaim},
    Check{{.id = "memory.dirty_pages",
           .title = "Dirty pages are written before writers must wait",
           .source = "/proc/sys/vm/dirty_background_ratio, dirty_ratio, dirty_writeback_centisecs",
           .why = "A thread that writes a file while dirty_ratio is reached writes back pages itself and stops: the "
                  "journal's thread too. Not measured here.",
           .fix_runtime = "sysctl vm.dirty_background_ratio=5 vm.dirty_ratio=20",
           .fix_boot = sysctl_boot,
           .risk = "More writing for data that is soon overwritten."},
          dirty_pages},
    Check{{.id = "memory.huge_pages",
           .title = "Reserved huge pages",
           .source = "/proc/meminfo",
           .why = "Only programs that request huge pages use them (hugetlbpage.rst). Reported for information.",
           .fix_runtime = "sysctl vm.nr_hugepages=N",
           .fix_boot = "hugepages=N",
           .risk = "The memory is lost to everything else."},
          huge_pages},
    Check{{.id = "memory.compaction",
           .title = "Memory is not compacted in the background",
           .source = "/proc/sys/vm/compaction_proactiveness",
           .why = "Pages of all programs are moved around, which \"could also lead to latency spikes in "
                  "unsuspecting applications\" (sysctl/vm.rst). Not measured here.",
           .fix_runtime = "sysctl vm.compaction_proactiveness=0",
           .fix_boot = sysctl_boot,
           .risk = "Huge pages take longer to get."},
          compaction},
};

constexpr auto files = std::to_array<std::string_view>({
    "/proc/swaps",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/vm/compaction_proactiveness",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_writeback_centisecs",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/zone_reclaim_mode",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
});

}  // namespace

Area memory_area() noexcept { return {table, files}; }

}  // namespace nfx::doctor
