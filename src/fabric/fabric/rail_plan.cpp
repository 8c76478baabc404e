// Plans groups of rails with their threads, memory and rates from a machine's topology.
#include "fabric/rail_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "nexusfix/base/assert.hpp"

namespace nfx::fabric {
namespace {

std::string gigabits(std::uint64_t megabits) {
  std::string text = std::to_string(megabits / 1000);
  if (const std::uint64_t tenths = megabits % 1000 / 100; tenths != 0) text += '.' + std::to_string(tenths);
  return text + " Gb/s";
}

std::string counted(std::size_t number, const std::string& one) {
  return std::to_string(number) + ' ' + one + (number == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::optional<Rate> rate_of(std::uint64_t stated, std::uint64_t otherwise) {
  if (stated > 0) return Rate{.megabits_per_s = stated, .assumed = false};
  if (otherwise > 0) return Rate{.megabits_per_s = otherwise, .assumed = true};
  return std::nullopt;
}

class Planner {
 public:
  Planner(const Topology& topology, const RailPlanRequest& request) : topology_(topology), request_(request) {}

  RailPlan plan() {
    for (const DeviceGroup& group : group_devices(topology_)) {
      if (group.nics.empty()) {
        without_cards_ += 1;
        cores_without_cards_ += group.cpus.size();
      } else {
        add(group);
      }
    }
    find_missing_cards();
    find_missing_cpus();
    find_missing_memory();
    find_uneven_groups();
    find_places();
    find_rates();
    sort_by_severity(plan_.findings);
    return std::move(plan_);
  }

 private:
  void add(const DeviceGroup& from) {
    PlannedGroup group;
    group.domain = from.domain;
    group.numa_node = from.numa_node;
    group.cores = from.cpus;
    group.gpus = from.gpus.size();
    // Any core would do; the published measurements used the middle one.
    if (!from.cpus.empty()) group.cpu = from.cpus[from.cpus.size() / 2];
    std::uint64_t switch_rate = 0;
    for (const std::size_t nic : from.nics) {
      const Device& device = topology_.devices[nic];
      PlannedRail rail;
      rail.device = nic;
      rail.link = rate_of(device.link_megabits_per_s, request_.card_megabits_per_s);
      rail.slot = rate_of(device.slot_megabits_per_s, 0);
      group.rails.push_back(rail);
      switch_rate = std::max(switch_rate, device.pci_switch.empty() ? 0 : device.switch_megabits_per_s);
    }
    if (has_switch(group)) group.pcie_switch = rate_of(switch_rate, request_.switch_megabits_per_s);
    group.memory_bytes = group.rails.size() * region_bytes();
    set_reach(group);
    plan_.groups.push_back(std::move(group));
  }

  [[nodiscard]] std::uint64_t region_bytes() const noexcept {
    return (request_.region_bytes_per_rail + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }

  [[nodiscard]] bool has_switch(const PlannedGroup& group) const {
    return !topology_.devices[group.rails.front().device].pci_switch.empty();
  }

  // A card is limited by the slower of its link and its slot, and all cards together by the switch.
  static void set_reach(PlannedGroup& group) {
    std::uint64_t links = 0, cards = 0;
    for (const PlannedRail& rail : group.rails) {
      if (!rail.link) return;
      links += rail.link->megabits_per_s;
      cards += std::min(rail.link->megabits_per_s, rail.slot ? rail.slot->megabits_per_s : rail.link->megabits_per_s);
    }
    std::uint64_t reach = cards;
    group.limit = cards < links ? RateLimit::slots : RateLimit::links;
    if (group.pcie_switch && group.pcie_switch->megabits_per_s < cards) {
      reach = group.pcie_switch->megabits_per_s;
      group.limit = RateLimit::pcie_switch;
    }
    group.reach_megabits_per_s = reach;
    if (group.pcie_switch) {
      group.share_of_switch = static_cast<double>(reach) / static_cast<double>(group.pcie_switch->megabits_per_s);
    }
    // Behind a slow switch, every card gets the same fraction of its own rate.
    const double carried = static_cast<double>(reach) / static_cast<double>(cards);
    for (PlannedRail& rail : group.rails) {
      const std::uint64_t link = rail.link->megabits_per_s;
      const std::uint64_t card = std::min(link, rail.slot ? rail.slot->megabits_per_s : link);
      rail.share_of_link = carried * static_cast<double>(card) / static_cast<double>(link);
    }
  }

  void find(Severity severity, std::string id, std::string subject, std::string text, std::string fix) {
    plan_.findings.push_back({severity, std::move(id), std::move(subject), std::move(text), std::move(fix)});
  }

  void find_missing_cards() {
    std::map<std::string, std::vector<std::string>> dead;
    for (const Device& device : topology_.devices) {
      if (device.kind == DeviceKind::network && !device.usable) dead[device.why_not].push_back(device.name);
    }
    for (const auto& [why, names] : dead) {
      find(Severity::warning, "dead-card", names.front(),
           counted(names.size(), "card") + " not usable (" + why + "): " + joined(names),
           "repair them, or plan with the cards that are left");
    }
    if (plan_.groups.empty()) {
      find(Severity::refusal, "no-card", topology_.source, "no network card is usable, so there is no rail",
           "'nfx host topology' lists the devices and why each is not usable");
    }
    if (without_cards_ > 0) {
      find(Severity::note, "group-without-card", "",
           counted(without_cards_, "group") + " of GPUs without a network card, with " +
               counted(cores_without_cards_, "core"),
           "");
    }
  }

  void find_missing_cpus() {
    std::vector<std::string> without;
    std::set<int> cpus;
    for (const PlannedGroup& group : plan_.groups) {
      if (group.cpu < 0) without.push_back(group.domain);
      if (group.cpu >= 0) cpus.insert(group.cpu);
    }
    if (!without.empty()) {
      find(Severity::refusal, "group-without-cpu", without.front(),
           "no CPU is left for " + counted(without.size(), "group") + " (" + joined(without) + "); " +
               counted(plan_.groups.size(), "group") + " need as many cores near their cards as there are groups",
           "use fewer cards, or let the process use more CPUs");
    }
    std::size_t cores = 0;
    for (const Core& core : topology_.cores) cores += (core.cpus & topology_.allowed).empty() ? 0 : 1;
    if (!cpus.empty() && cpus.size() >= cores) {
      find(Severity::warning, "no-core-left", "",
           "the polling threads take all " + counted(cores, "core") + ", so every other task interrupts one of them",
           "use fewer groups, or threads that yield");
    }
  }

  void find_missing_memory() {
    std::map<int, std::uint64_t> needed;
    for (const PlannedGroup& group : plan_.groups) needed[group.numa_node] += group.memory_bytes;
    for (const auto& [number, bytes] : needed) {
      const NumaNode* node = topology_.node(number);
      if (node == nullptr || node->memory_bytes == 0) continue;
      const std::string name = "NUMA node " + std::to_string(number);
      if (bytes > node->memory_bytes) {
        find(Severity::refusal, "memory", name,
             "the rails of " + name + " register " + std::to_string(bytes >> 20U) + " MiB and it has " +
                 std::to_string(node->memory_bytes >> 20U),
             "register less for a rail");
      } else if (bytes > node->memory_bytes / 2) {
        find(Severity::warning, "memory", name,
             "the rails register more than half of the memory of " + name + ", and registered memory is never swapped",
             "register less for a rail");
      }
    }
  }

  void find_uneven_groups() {
    if (plan_.groups.empty()) return;
    const auto cards = [](const PlannedGroup& group) { return group.rails.size(); };
    const auto [least, most] = std::ranges::minmax(plan_.groups, {}, cards);
    if (least.rails.size() != most.rails.size()) {
      find(Severity::warning, "uneven-groups", least.domain,
           least.domain + " has " + counted(least.rails.size(), "card") + ", " + most.domain + " has " +
               counted(most.rails.size(), "card") + ": even shares of pages end with the smallest group",
           "stripe pages by rail and not by group");
    }
    for (const PlannedGroup& group : plan_.groups) {
      std::set<std::uint64_t> rates;
      for (const PlannedRail& rail : group.rails) {
        if (rail.link) rates.insert(rail.link->megabits_per_s);
      }
      if (rates.size() > 1) {
        find(Severity::warning, "mixed-rates", group.domain,
             "cards of " + group.domain + " have links from " + gigabits(*rates.begin()) + " to " +
                 gigabits(*rates.rbegin()),
             "give a rail pages by its credits, so that the slow one does not hold up the others");
      }
    }
  }

  void find_places() {
    for (const PlannedGroup& group : plan_.groups) {
      if (group.numa_node < 0 && topology_.nodes.size() > 1) {
        find(Severity::warning, "unknown-node", group.domain,
             "the cards of " + group.domain + " do not state their NUMA node; CPU " + std::to_string(group.cpu) +
                 " is a guess",
             "look the slot up in the machine's manual, and name the CPU yourself");
      } else if (group.cpu >= 0 && group.numa_node >= 0 && topology_.numa_node_of(group.cpu) != group.numa_node) {
        find(Severity::warning, "far-cpu", group.domain,
             "the cards of " + group.domain + " are on NUMA node " + std::to_string(group.numa_node) +
                 ", which has no core for them; CPU " + std::to_string(group.cpu) + " is on another",
             "let the process use the CPUs of that node");
      }
      const NumaNode* node = topology_.node(group.numa_node);
      if (node != nullptr && node->memory_bytes == 0 && topology_.nodes.size() > 1) {
        find(Severity::warning, "node-without-memory", group.domain,
             "NUMA node " + std::to_string(group.numa_node) + " of " + group.domain +
                 " states no memory, so its pages are on another",
             "fill its memory slots");
      }
    }
  }

  void find_rates() {
    std::size_t cards = 0, switches = 0, no_switch = 0;
    for (const PlannedGroup& group : plan_.groups) {
      for (const PlannedRail& rail : group.rails) cards += rail.link ? 0 : 1;
      no_switch += has_switch(group) ? 0 : 1;
      switches += has_switch(group) && !group.pcie_switch ? 1 : 0;
      if (group.limit == RateLimit::pcie_switch) {
        find(Severity::warning, "switch-limit", group.domain,
             "the cards of " + group.domain + " carry more than its " + gigabits(group.pcie_switch->megabits_per_s) +
                 ", so each has a part of its link",
             "keep data behind the switch, or use fewer of its cards");
      } else if (group.limit == RateLimit::slots) {
        find(Severity::warning, "slot-limit", group.domain,
             "a card of " + group.domain + " has a slot slower than its link",
             "move it to a wider slot, or one of a later generation");
      }
    }
    if (cards > 0) {
      find(Severity::note, "unknown-card-rate", "",
           "the topology does not state the link of " + counted(cards, "card") + ", so shares are unknown",
           "--card-rate takes a rate for them");
    }
    if (switches > 0) {
      find(Severity::note, "unknown-switch-rate", "",
           "the topology does not state the link of " + std::to_string(switches) +
               (switches == 1 ? " switch" : " switches") + ", so it is unknown whether it limits its cards",
           "--switch-rate takes a rate for them");
    }
    if (no_switch > 0) {
      find(
          Severity::note, "no-switch", "",
          "no PCIe switch is shared by the cards of " + counted(no_switch, "group") + "; they are grouped by NUMA node",
          "");
    }
  }

  const Topology& topology_;
  const RailPlanRequest& request_;
  RailPlan plan_;
  std::size_t without_cards_ = 0;
  std::size_t cores_without_cards_ = 0;
};

}  // namespace

std::string_view to_string(RateLimit limit) noexcept {
  switch (limit) {
    case RateLimit::unknown: return "unknown";
    case RateLimit::links: return "links";
    case RateLimit::slots: return "slots";
    case RateLimit::pcie_switch: return "switch";
  }
  return {};
}

bool RailPlan::refused() const noexcept {
  return std::ranges::any_of(findings, [](const PlanFinding& f) { return f.severity == Severity::refusal; });
}

std::size_t RailPlan::rail_count() const noexcept {
  std::size_t count = 0;
  for (const PlannedGroup& group : groups) count += group.rails.size();
  return count;
}

RailPlan plan_rails(const Topology& topology, const RailPlanRequest& request) {
  return Planner{topology, request}.plan();
}

}  // namespace nfx::fabric
