// nfx fabric plan: the groups of a machine's network cards, their threads, memory and rates.
#include <algorithm>
#include <string>
#include <vector>

#include "command.hpp"
#include "fabric/fabric.hpp"
#include "fabric/figures_text.hpp"
#include "fabric/rail_plan.hpp"
#include "json_output.hpp"

namespace nfx::app::fabric {
namespace {

using nfx::fabric::PlannedGroup;
using nfx::fabric::PlannedRail;
using nfx::fabric::RailPlan;
using nfx::fabric::RailPlanRequest;
using nfx::fabric::Rate;

struct PlanOptions {
  std::string topology;
  std::uint32_t region_mib = 64;
  double card_gbps = 0;
  double switch_gbps = 0;
  bool json = false;
};

std::string gigabits(std::uint64_t megabits) {
  return decimal(static_cast<double>(megabits) / 1000, megabits % 1000 == 0 ? 0 : 1);
}

// "100", "100 (given)", "unknown"
std::string rate_text(const std::optional<Rate>& rate) {
  if (!rate) return "unknown";
  return gigabits(rate->megabits_per_s) + (rate->assumed ? " (given)" : "");
}

std::string share_text(const std::optional<double>& share) {
  return share ? decimal(*share * 100, 1) + " %" : std::string{"unknown"};
}

bool alike(const PlannedRail& a, const PlannedRail& b) {
  const auto rate = [](const std::optional<Rate>& r) { return r ? r->megabits_per_s : 0; };
  return rate(a.link) == rate(b.link) && rate(a.slot) == rate(b.slot) && a.share_of_link == b.share_of_link;
}

void append_group(SafeText& out, const Topology& topology, const PlannedGroup& group, std::size_t number) {
  out.add("group {}  {}, {}, thread on CPU {} of {}\n", number,
          topology.devices[group.rails.front().device].pci_switch.empty() ? group.domain : "switch " + group.domain,
          group.numa_node < 0 ? std::string{"node unknown"} : "node " + std::to_string(group.numa_node),
          group.cpu < 0 ? std::string{"none"} : std::to_string(group.cpu), [&] {
            CpuSet cores;
            for (const int cpu : group.cores) cores.insert(cpu);
            return cores.empty() ? std::string{"none"} : cores.to_list();
          }());
  out += "  cards   ";
  for (const PlannedRail& rail : group.rails) {
    out += ' ';
    out += topology.devices[rail.device].name;
  }
  out += '\n';
  if (group.gpus > 0) out.add("  GPUs     {}\n", group.gpus);
  out.add("  memory   {} MiB, {} huge pages, {} for each card\n", group.memory_bytes >> 20U,
          group.memory_bytes / nfx::fabric::huge_page_bytes,
          group.memory_bytes / nfx::fabric::huge_page_bytes / group.rails.size());
  const bool all_alike =
      std::ranges::all_of(group.rails, [&](const PlannedRail& rail) { return alike(rail, group.rails.front()); });
  for (const PlannedRail& rail : group.rails) {
    out.add("  {}  link {} Gb/s, slot {} Gb/s, reaches {} of its link\n",
            all_alike ? std::string{"a card "} : topology.devices[rail.device].name, rate_text(rail.link),
            rate_text(rail.slot), share_text(rail.share_of_link));
    if (all_alike) break;
  }
  const bool has_switch = !topology.devices[group.rails.front().device].pci_switch.empty();
  out.add("  all      {} Gb/s at most", group.reach_megabits_per_s ? gigabits(*group.reach_megabits_per_s) : "unknown");
  if (group.reach_megabits_per_s) out.add(", by its {}", to_string(group.limit));
  if (has_switch) {
    out.add("; switch {} Gb/s, of which {}", rate_text(group.pcie_switch), share_text(group.share_of_switch));
  }
  out += '\n';
}

void print_text(const Topology& topology, const RailPlan& plan) {
  SafeText out;
  out.add("{}{}{}: groups {}, cards {}, threads {}\n", topology.source, topology.machine.empty() ? "" : ", ",
          topology.machine, plan.groups.size(), plan.rail_count(),
          std::ranges::count_if(plan.groups, [](const PlannedGroup& group) { return group.cpu >= 0; }));
  for (std::size_t i = 0; i < plan.groups.size(); ++i) append_group(out, topology, plan.groups[i], i);
  for (const PlanFinding& finding : plan.findings) {
    out.add("{}, {}: {}{}{}\n", to_string(finding.severity), finding.id, finding.text, finding.fix.empty() ? "" : "; ",
            finding.fix);
  }
  print(out);
}

Json json_of(const std::optional<Rate>& rate) {
  return rate ? Json{{"megabits_per_s", rate->megabits_per_s}, {"assumed", rate->assumed}} : Json{};
}

Json known(int number) { return number < 0 ? Json{} : Json(number); }

Json json_of(const Topology& topology, const PlannedGroup& group) {
  Json cards = Json::array();
  for (const PlannedRail& rail : group.rails) {
    const Device& device = topology.devices[rail.device];
    cards.push_back({{"name", device.name},
                     {"pci_address", device.pci_address},
                     {"link", json_of(rail.link)},
                     {"slot", json_of(rail.slot)},
                     {"share_of_link", or_null(rail.share_of_link)}});
  }
  return {{"domain", group.domain},
          {"numa_node", known(group.numa_node)},
          {"cpu", known(group.cpu)},
          {"cores", group.cores},
          {"gpus", group.gpus},
          {"memory_bytes", group.memory_bytes},
          {"switch", json_of(group.pcie_switch)},
          {"reach_megabits_per_s", or_null(group.reach_megabits_per_s)},
          {"share_of_switch", or_null(group.share_of_switch)},
          {"limit", to_string(group.limit)},
          {"cards", std::move(cards)}};
}

void print_json(const Topology& topology, const RailPlan& plan) {
  Json groups = Json::array(), findings = Json::array();
  for (const PlannedGroup& group : plan.groups) groups.push_back(json_of(topology, group));
  for (const PlanFinding& finding : plan.findings)
    findings.push_back({{"severity", to_string(finding.severity)},
                        {"id", finding.id},
                        {"subject", finding.subject},
                        {"text", finding.text},
                        {"fix", finding.fix}});
  print(json_line({{"source", topology.source},
                   {"refused", plan.refused()},
                   {"cards", plan.rail_count()},
                   {"groups", std::move(groups)},
                   {"findings", std::move(findings)}}));
}

int plan_machine(const PlanOptions& options) {
  const Topology topology = load_topology(options.topology);
  const RailPlan plan = nfx::fabric::plan_rails(
      topology, {.region_bytes_per_rail = std::uint64_t{options.region_mib} << 20U,
                 .card_megabits_per_s = static_cast<std::uint64_t>(options.card_gbps * 1000),
                 .switch_megabits_per_s = static_cast<std::uint64_t>(options.switch_gbps * 1000)});
  options.json ? print_json(topology, plan) : print_text(topology, plan);
  return plan.refused() ? exit_failed : exit_done;
}

}  // namespace

cli::Command plan_command() {
  static PlanOptions options;
  return {
      .name = "plan",
      .summary = "Show which network cards each thread polls, on which CPU, and the rate they can reach",
      .run = [] { return plan_machine(options); },
      .options = {{.names = "TOPOLOGY",
                   .target = &options.topology,
                   .help = "Another machine: a file of 'lstopo --of xml', or a folder with its sys/ and proc/",
                   .kind = cli::Kind::file,
                   .default_text = "this machine"},
                  {.names = "--region",
                   .target = &options.region_mib,
                   .help = "Memory registered for each card, in MiB",
                   .value = "MIB",
                   .range = {{1, 1 << 20}}},
                  {.names = "--card-rate",
                   .target = &options.card_gbps,
                   .help = "Rate of a card whose link the topology does not state, in Gb/s",
                   .value = "GBPS",
                   .range = {{0, 10'000}}},
                  {.names = "--switch-rate",
                   .target = &options.switch_gbps,
                   .help = "Rate of a PCIe switch's own link where the topology does not state it, in Gb/s",
                   .value = "GBPS",
                   .range = {{0, 100'000}}},
                  {.names = "--json", .target = &options.json, .help = "Print one JSON object"}},
      .details =
          "A group is the cards of one PCIe switch, or of one NUMA node where cards share no switch. Pin its thread "
          "before memory and queues are made. Rates are for one direction between network and the host's memory. A "
          "rate that neither the topology nor an option states is unknown.",
      .exit_codes = "0 planned, 1 refused, 2 wrong usage or a topology that cannot be read",
      .examples = {{.line = "nfx fabric plan", .about = "this machine"},
                   {.line = "nfx fabric plan server.xml --card-rate 100",
                    .about = "another one, with the rate that its XML leaves out"}},
  };
}

}  // namespace nfx::app::fabric
