// Checks of memory management: swap, dirty pages, huge pages.
#include <string>

#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

// The lines of /proc/swaps below its header.
std::vector<std::string> swap_areas(const std::string& text) {
  std::vector<std::string> areas;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("Filename")) continue;
    const std::string area = line.substr(0, line.find_first_of(" \t"));
    if (!area.empty()) areas.push_back(area);
  }
  return areas;
}

}  // namespace

std::string_view huge_pages_are_off(const Examination& e) {
  const auto text = e.files.text("/sys/kernel/mm/transparent_hugepage/enabled");
  return text && chosen(*text) == "never" ? "huge pages are off" : "";
}

std::string_view no_swap(const Examination& e) {
  return swap_areas(e.files.text("/proc/swaps").value_or("")).empty() ? "there is no swap area" : "";
}

std::string_view one_node(const Examination& e) {
  return e.input.topology.nodes.size() < 2 ? "there is one node only" : "";
}

void swap(const Examination& e, Report& report) {
  const auto text = report.text(e, "/proc/swaps");
  if (!text) return;
  const std::vector<std::string> areas = swap_areas(*text);
  if (areas.empty()) return report.good("none");
  report.warning(join(areas), "no swap area, or all memory of the engine locked");
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

}  // namespace nfx::doctor::look
