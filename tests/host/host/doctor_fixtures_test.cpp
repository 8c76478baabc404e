// The doctor on descriptions of good and bad hosts: tests/host/host/hosts/<name>; what.txt describes each.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "nexusfix/host/doctor.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;
using enum CheckResult;

fs::path hosts() { return fs::path{NFX_SOURCE_DIR} / "tests/host/host/hosts"; }

struct PlanOfHost {
  std::string_view isolated_cpus;  // "": examined without a plan
  int priority = 0;
};

struct Case {
  std::string_view host;
  PlanOfHost plan;
  HostExit exit = HostExit::ok;
  std::map<std::string_view, CheckResult> expected;  // the worst result of each check
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.host; }

std::optional<PlacementPlan> plan_of(const Case& c) {
  if (c.plan.isolated_cpus.empty()) return std::nullopt;
  PlacementPlan plan;
  plan.isolated_cpus = CpuSet::parse_list(c.plan.isolated_cpus).value();
  plan.hash = "0123456789abcdef";
  ThreadPlacement thread{.name = "nfx-poll-0", .cpus = {plan.isolated_cpus.first()}, .priority = c.plan.priority};
  plan.threads.push_back(thread);
  return plan;
}

std::vector<DoctorFinding> examine_host(const fs::path& folder, const Case& c) {
  const HostFiles files{folder};
  const HostFacts facts = read_host_facts(files);
  const Topology topology = facts.online.empty() ? Topology{} : load_topology(folder);
  const auto plan = plan_of(c);
  return examine({files, topology, facts, plan ? &*plan : nullptr});
}

int badness(CheckResult result) {
  switch (result) {
    case not_here: return 0;
    case good: return 1;
    case info: return 2;
    case cannot_tell: return 3;
    case warning: return 4;
    case failure: return 5;
  }
  return 0;
}

std::vector<Case> cases() {
  return {
      {"bare_metal_good",
       {"2-7", 50},
       HostExit::ok,
       {{"isolation.isolcpus", good},
        {"isolation.isolcpus_flags", good},
        {"isolation.nohz_full", good},
        {"isolation.plan_and_boot_agree", good},
        {"isolation.plan_hash", good},
        {"isolation.workqueues", good},
        {"interrupts.managed", good},
        {"interrupts.effective_affinity", good},
        {"scheduler.rt_throttling", good},
        {"scheduler.fair_server", not_here},
        {"power.governor", good},
        {"power.idle_states", good},
        {"network.coalescing", good},
        {"virtualisation.mitigations", info}}},
      {"seeds_inconsistent",
       {"2-27", 0},
       HostExit::failures,
       {{"isolation.isolcpus", failure},
        {"isolation.plan_and_boot_agree", failure},
        {"isolation.isolcpus_flags", warning},
        {"isolation.nohz_full", warning},
        {"isolation.boot_sets_agree", good},
        {"isolation.housekeeping", good}}},
      {"seeds_inconsistent",
       {},
       HostExit::warnings,
       {{"isolation.isolcpus", good}, {"isolation.nohz_full", good}, {"isolation.plan_and_boot_agree", info}}},
      {"isolcpus_only",
       {"2-3", 0},
       HostExit::cannot_tell,
       {{"isolation.isolcpus", good},
        {"isolation.nohz_full", warning},
        {"isolation.rcu_nocbs", warning},
        {"isolation.boot_sets_agree", warning},
        {"isolation.workqueues", good},
        {"interrupts.default_affinity", warning},
        {"interrupts.affinity", warning},
        {"interrupts.effective_affinity", good},
        {"interrupts.managed", cannot_tell}}},
      {"irqbalance_by_number",
       {"2-3", 0},
       HostExit::failures,
       {{"interrupts.irqbalance", failure},
        {"interrupts.irqbalance_by_number", warning},
        {"isolation.pid1_mask", warning},
        {"power.clock_sync", warning}}},
      {"realtime_without_knobs",
       {"2-3", 50},
       HostExit::failures,
       {{"scheduler.rt_throttling", failure},
        {"process.rtprio", failure},
        {"process.cap_sys_nice", warning},
        {"process.memlock", warning},
        {"isolation.rcu_nocbs", good}}},
      {"realtime_without_knobs",
       {"2-3", 0},
       HostExit::warnings,
       {{"scheduler.rt_throttling", good}, {"process.rtprio", info}}},
      {"fair_server_6_12",
       {"2-3", 50},
       HostExit::failures,
       {{"scheduler.fair_server", failure}, {"scheduler.rt_throttling", good}}},
      {"fair_server_6_12", {"2-3", 0}, HostExit::warnings, {{"scheduler.fair_server", good}}},
      {"ccx_governor_mixed", {"8-15", 0}, HostExit::failures, {{"power.governor", failure}, {"power.turbo", info}}},
      {"ccx_governor_mixed", {"8-11", 0}, HostExit::warnings, {{"power.governor", warning}}},
      {"virtual_machine_steal",
       {},
       HostExit::failures,
       {{"virtualisation.steal", failure},
        {"virtualisation.hypervisor", info},
        {"virtualisation.vcpu_pinning", info},
        {"virtualisation.halt_polling", info},
        {"power.clocksource", info},
        {"isolation.isolcpus", warning}}},
      {"virtual_machine_steal", {"2-3", 0}, HostExit::failures, {{"virtualisation.steal", good}}},
      {"memory_defaults",
       {},
       HostExit::warnings,
       {{"memory.thp", warning},
        {"memory.thp_defrag", warning},
        {"memory.khugepaged", info},
        {"memory.ksm", warning},
        {"memory.swap", warning},
        {"memory.swappiness", warning},
        {"memory.compaction", warning},
        {"memory.dirty_pages", warning},
        {"scheduler.stat_interval", warning}}},
      {"two_sockets",
       {"2-3", 0},
       HostExit::warnings,
       {{"memory.numa_balancing", warning},
        {"memory.zone_reclaim", warning},
        {"interrupts.nic_node", warning},
        {"network.numa_node", good}}},
      {"rps_on_isolated",
       {"2-3", 0},
       HostExit::failures,
       {{"network.rps", failure},
        {"network.xps", info},
        {"network.rfs", warning},
        {"network.queues", warning},
        {"network.coalescing", warning},
        {"network.ring_sizes", warning},
        {"network.gro", info},
        {"network.lro", warning},
        {"network.time_stamps", info},
        {"network.numa_node", info}}},
      {"interrupts_on_isolated",
       {"2-3", 0},
       HostExit::failures,
       {{"interrupts.effective_affinity", failure},
        {"interrupts.affinity", warning},
        {"interrupts.managed", warning},
        {"interrupts.pending", info}}},
      {"smt_shared", {"2", 0}, HostExit::failures, {{"isolation.smt_siblings", failure}, {"power.smt", info}}},
      {"clocksource_hpet", {}, HostExit::failures, {{"power.clocksource", failure}, {"power.tsc", warning}}},
      {"container_limited",
       {"6-7", 0},
       HostExit::failures,
       {{"scheduler.cgroup_quota", failure}, {"isolation.own_cpuset", failure}, {"virtualisation.container", info}}},
      {"plan_mismatch",
       {"4-7", 0},
       HostExit::failures,
       {{"isolation.plan_hash", failure}, {"isolation.plan_and_boot_agree", good}, {"isolation.isolcpus", good}}},
      {"offline_cpus", {"4-7", 0}, HostExit::failures, {{"isolation.offline", failure}}},
      {"offline_cpus", {"4-5", 0}, HostExit::warnings, {{"isolation.offline", warning}}},
      {"empty",
       {},
       HostExit::ok,
       {{"isolation.isolcpus", not_here},
        {"isolation.housekeeping", not_here},
        {"power.governor", not_here},
        {"network.rps", not_here},
        {"memory.thp", not_here},
        {"process.memlock", not_here}}},
      {"unprivileged",
       {"2-3", 50},
       HostExit::cannot_tell,
       {{"scheduler.fair_server", cannot_tell},
        {"scheduler.tracing", cannot_tell},
        {"scheduler.granularity", cannot_tell},
        {"interrupts.managed", cannot_tell},
        {"isolation.pid1_mask", cannot_tell},
        {"network.rfs", cannot_tell},
        {"power.cpu_dma_latency", cannot_tell},
        {"memory.swap", cannot_tell},
        {"memory.ksm", not_here}}},
      {"shielded_v1",
       {"2-3", 50},
       HostExit::failures,
       {{"isolation.isolcpus", good},
        {"isolation.cpusets", good},
        {"isolation.own_cpuset", info},
        {"isolation.pid1_mask", good},
        {"isolation.other_tasks", failure},
        {"isolation.kernel_threads", warning},
        {"scheduler.rt_group", failure},
        {"scheduler.cgroup_quota", good}}},
      {"partition_invalid", {}, HostExit::failures, {{"isolation.cpusets", failure}}},
  };
}

class DoctorOnHosts : public ::testing::TestWithParam<Case> {};

TEST_P(DoctorOnHosts, says_what_is_expected_of_this_host) {
  const Case& c = GetParam();
  ASSERT_TRUE(fs::exists(hosts() / c.host / "what.txt"));
  const auto findings = examine_host(hosts() / c.host, c);
  std::map<std::string_view, DoctorFinding> worst;
  for (const DoctorFinding& found : findings) {
    const auto [at, fresh] = worst.emplace(found.check->id, found);
    if (!fresh && badness(found.result) > badness(at->second.result)) at->second = found;
  }
  EXPECT_EQ(worst.size(), doctor_checks().size());
  for (const auto& [id, result] : c.expected) {
    ASSERT_TRUE(worst.contains(id)) << id;
    EXPECT_EQ(to_string(worst.at(id).result), to_string(result)) << id << ": " << worst.at(id).seen;
  }
  EXPECT_EQ(exit_of(findings), c.exit) << to_text(findings, false);
}

TEST_P(DoctorOnHosts, says_the_same_of_a_copy) {
  const Case& c = GetParam();
  const test::TemporaryFolder folder;
  (void)collect_host(HostFiles{hosts() / c.host}, folder.path());
  EXPECT_EQ(to_json(examine_host(folder.path(), c)), to_json(examine_host(hosts() / c.host, c)));
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name{info.param.host};
  if (!info.param.plan.isolated_cpus.empty()) name += "_planned_" + std::string{info.param.plan.isolated_cpus};
  if (info.param.plan.priority > 0) name += "_realtime";
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(hosts, DoctorOnHosts, ::testing::ValuesIn(cases()), case_name);

TEST(DoctorHosts, every_described_host_is_examined) {
  std::set<std::string> examined;
  for (const Case& c : cases()) examined.emplace(c.host);
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator{hosts()}) there.insert(entry.path().filename().string());
  EXPECT_EQ(examined, there);
  EXPECT_GE(there.size(), 14U);
}

TEST(DoctorHosts, the_seeds_set_up_names_the_cpus_without_protection) {
  const Case seeds{"seeds_inconsistent", {"2-27", 0}, HostExit::failures, {}};
  for (const DoctorFinding& found : examine_host(hosts() / seeds.host, seeds)) {
    if (found.check->id == "isolation.plan_and_boot_agree") {
      EXPECT_EQ(
          found.seen,
          "the kernel was booted with isolcpus for 2-15, but busy-polling threads are to run on 2-27: 16-27 have no "
          "protection");
    }
  }
}

TEST(DoctorHosts, a_governor_that_differs_is_named_with_its_policy) {
  const Case mixed{"ccx_governor_mixed", {"8-15", 0}, HostExit::failures, {}};
  for (const DoctorFinding& found : examine_host(hosts() / mixed.host, mixed)) {
    if (found.check->id == "power.governor") {
      EXPECT_EQ(found.seen, "policy0 powersave (CPUs 0-3), policy12 powersave (CPUs 12-15)");
    }
  }
}

}  // namespace
}  // namespace nfx
