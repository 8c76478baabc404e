// A topology as JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/topology_print.hpp"

namespace nfx {
namespace {

using Json = nlohmann::ordered_json;

// -1 means "unknown" in the vectors; JSON uses null.
Json known(int number) { return number < 0 ? Json{} : Json(number); }

Json cores_of(const Topology& topology) {
  Json all = Json::array();
  for (const Core& core : topology.cores) {
    Json one{{"cpus", core.cpus.members()},
             {"package", known(core.package)},
             {"numa_node", known(core.numa_node)},
             {"cache", known(core.cache)}};
    if (core.kind >= 0) one["kind"] = core.kind;
    all.push_back(std::move(one));
  }
  return all;
}

Json device_of(const Device& device) {
  Json one{{"kind", to_string(device.kind)},
           {"name", device.name},
           {"other_names", device.other_names},
           {"pci_address", device.pci_address},
           {"pci_switch", device.pci_switch},
           {"pci_class", device.pci_class},
           {"description", device.description},
           {"numa_node", known(device.numa_node)},
           {"local_cpus", device.local_cpus.to_list()},
           {"usable", device.usable}};
  if (device.link_megabits_per_s > 0) one["link_megabits_per_s"] = device.link_megabits_per_s;
  if (device.slot_megabits_per_s > 0) one["slot_megabits_per_s"] = device.slot_megabits_per_s;
  if (device.switch_megabits_per_s > 0) one["switch_megabits_per_s"] = device.switch_megabits_per_s;
  if (!device.usable) one["why_not"] = device.why_not;
  return one;
}

Json groups_of(const Topology& topology) {
  const auto names = [&topology](const std::vector<std::size_t>& devices) {
    Json all = Json::array();
    for (const std::size_t i : devices) {
      all.push_back({{"name", topology.devices[i].name}, {"pci_address", topology.devices[i].pci_address}});
    }
    return all;
  };
  Json all = Json::array();
  for (const DeviceGroup& group : group_devices(topology)) {
    all.push_back({{"domain", group.domain},
                   {"numa_node", known(group.numa_node)},
                   {"gpus", names(group.gpus)},
                   {"nics", names(group.nics)},
                   {"cpus", group.cpus}});
  }
  return all;
}

Json plan_of(const PlacementPlan& plan) {
  Json threads = Json::array();
  for (const ThreadPlacement& thread : plan.threads) {
    threads.push_back({{"name", thread.name},
                       {"wait", thread.wait == ThreadWait::spin ? "spin" : "block"},
                       {"cpus", thread.cpus.to_list()}});
  }
  return {{"hash", plan.hash},
          {"isolated", plan.isolated_cpus.to_list()},
          {"housekeeping", plan.housekeeping.to_list()},
          {"threads", std::move(threads)}};
}

// Names come from files, so bytes that are not UTF-8 are replaced.
std::string dump(const Json& json) { return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n'; }

}  // namespace

std::string groups_to_json(const Topology& topology) { return dump(groups_of(topology)); }

std::string to_json(const Topology& topology, const PlacementPlan* plan) {
  Json nodes = Json::array(), caches = Json::array(), devices = Json::array();
  for (const NumaNode& node : topology.nodes) {
    nodes.push_back({{"number", node.number}, {"cpus", node.cpus.to_list()}, {"memory_bytes", node.memory_bytes}});
  }
  for (const CacheDomain& cache : topology.caches) {
    caches.push_back({{"level", cache.level}, {"size_bytes", cache.size_bytes}, {"cpus", cache.cpus.to_list()}});
  }
  for (const Device& device : topology.devices) devices.push_back(device_of(device));
  Json json{{"source", topology.source},
            {"machine", topology.machine},
            {"cpu_model", topology.cpu_model},
            {"online", topology.online.to_list()},
            {"offline", topology.offline.to_list()},
            {"allowed", topology.allowed.to_list()},
            {"smt", topology.has_smt()},
            {"nodes", std::move(nodes)},
            {"caches", std::move(caches)},
            {"cores", cores_of(topology)},
            {"devices", std::move(devices)},
            {"groups", groups_of(topology)},
            {"notes", topology.notes}};
  if (plan != nullptr) json["plan"] = plan_of(*plan);
  return dump(json);
}

}  // namespace nfx
