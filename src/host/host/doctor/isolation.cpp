// Checks whether the CPUs of the busy-polling threads are isolated, at boot and as planned.
#include <algorithm>
#include <string>

#include "host/boot_artefacts.hpp"
#include "host/doctor/looks.hpp"

namespace nfx::doctor::look {
namespace {

std::string cpus(const CpuSet& set) { return set.empty() ? "none" : set.to_list(); }

}  // namespace

void isolcpus(const Examination& e, Report& report) {
  if (!report.set_apart(e, CheckResult::warning)) return;
  const CpuSet missing = e.isolated_cpus - e.facts.isolated_cpus();
  if (missing.empty()) {
    const CpuSet shielded = e.isolated_cpus - e.facts.isolated;
    report.good(shielded.empty() ? "the scheduler leaves " + cpus(e.isolated_cpus) + " alone"
                                 : cpus(shielded) + " isolated by control groups until the next reboot");
  } else {
    report.failure("not isolated: " + cpus(missing) + "; isolated: " + cpus(e.facts.isolated_cpus()),
                   "all of " + cpus(e.isolated_cpus) + " isolated");
  }
}

void isolcpus_flags(const Examination& e, Report& report) {
  if (!report.set_apart(e, CheckResult::warning)) return;
  const auto parameter = e.parameter("isolcpus");
  if (!parameter) return report.info("isolcpus= is not on the kernel command line");
  const auto& flags = e.facts.isolcpus.flags;
  const auto has = [&](std::string_view flag) { return std::ranges::find(flags, flag) != flags.end(); };
  const std::string seen = "isolcpus=" + *parameter;
  if (!flags.empty() && !has("domain"))
    return report.failure(seen + ": with flags but without \"domain\" the scheduler balances onto these CPUs",
                          "isolcpus=domain,managed_irq," + cpus(e.isolated_cpus));
  if (!has("managed_irq"))
    return report.warning(seen + ": managed interrupts may still go to these CPUs",
                          "isolcpus=domain,managed_irq," + cpus(e.isolated_cpus));
  report.good(seen);
}

void nohz_full(const Examination& e, Report& report) {
  if (!report.set_apart(e, CheckResult::warning)) return;
  const CpuSet missing = e.isolated_cpus - e.facts.nohz_full;
  if (missing.empty()) return report.good("nohz_full=" + cpus(e.facts.nohz_full));
  report.warning("periodic tick on " + cpus(missing), "nohz_full=" + cpus(e.isolated_cpus));
}

void rcu_nocbs(const Examination& e, Report& report) {
  if (!report.set_apart(e, CheckResult::warning)) return;
  const CpuSet missing = e.isolated_cpus - e.facts.rcu_nocbs;
  if (missing.empty()) return report.good("no RCU callbacks on " + cpus(e.isolated_cpus));
  report.warning("RCU callbacks run on " + cpus(missing), "rcu_nocbs=" + cpus(e.isolated_cpus));
}

void boot_sets_agree(const Examination& e, Report& report) {
  std::vector<std::string> differ;
  const CpuSet& isolated = e.facts.isolcpus.cpus;
  const bool any = e.parameter("isolcpus") || e.parameter("nohz_full") || e.parameter("rcu_nocbs");
  if (!any) return report.info("none of isolcpus=, nohz_full=, rcu_nocbs= is on the kernel command line");
  const auto compare = [&](std::string_view name, const CpuSet& set) {
    if (set != isolated) differ.push_back(std::string{name} + ' ' + cpus(set));
  };
  compare("nohz_full", e.facts.nohz_full);
  compare("rcu_nocbs", e.facts.rcu_nocbs);
  if (differ.empty()) return report.good("all name " + cpus(isolated));
  report.warning("isolcpus " + cpus(isolated) + ", but " + join(differ), "the same CPUs in all three");
}

void plan_and_boot_agree(const Examination& e, Report& report) {
  if (e.plan == nullptr) return report.info("no configuration was given");
  const CpuSet& isolated = e.facts.isolcpus.cpus;
  if (isolated.empty()) return report.info("no isolcpus= to compare the plan with");
  const CpuSet outside = e.isolated_cpus - isolated;
  const CpuSet unused = isolated - e.isolated_cpus;
  if (!outside.empty())
    return report.failure(
        "the kernel was booted with isolcpus for " + cpus(isolated) + ", but busy-polling threads are to run on " +
            cpus(e.isolated_cpus) + ": " + cpus(outside) + " have no protection",
        "isolcpus= for exactly " + cpus(e.isolated_cpus) + ", or the roles' cpus within " + cpus(isolated));
  if (!unused.empty())
    return report.warning(cpus(unused) + " are isolated, but no thread of the plan uses them",
                          "isolcpus= for exactly " + cpus(e.isolated_cpus));
  report.good("isolcpus and the plan both name " + cpus(isolated));
}

void plan_hash(const Examination& e, Report& report) {
  const auto booted = e.parameter(plan_parameter);
  if (e.plan == nullptr)
    return report.info(booted ? "booted for plan " + *booted + "; no configuration was given to compare it with"
                              : "not booted for a plan");
  if (!booted) return report.info("the kernel command line names no plan; this one is " + e.plan->hash);
  if (*booted == e.plan->hash) return report.good("booted for this plan, " + *booted);
  report.failure("booted for plan " + *booted, std::string{plan_parameter} + '=' + e.plan->hash);
}

void offline(const Examination& e, Report& report) {
  if (!e.has_cpus) return report.not_here("no CPUs are described");
  const CpuSet named = e.isolated_cpus | e.facts.isolcpus.cpus;
  const CpuSet missing = named - e.facts.online;
  const CpuSet planned = e.isolated_cpus - e.facts.online;
  if (missing.empty()) return report.good(named.empty() ? "no CPU is named" : "all of " + cpus(named) + " are online");
  report.add(planned.empty() ? CheckResult::warning : CheckResult::failure, "not online: " + cpus(missing),
             "only CPUs that are online: " + cpus(e.facts.online));
}

void housekeeping(const Examination& e, Report& report) {
  if (!e.has_cpus) return report.not_here("no CPUs are described");
  const CpuSet rest = e.facts.online - e.isolated_cpus - e.facts.isolated_cpus();
  if (rest.empty()) return report.failure("no CPU is left for the rest of the host", "at least one whole core");
  report.good(cpus(rest) + " left for the rest of the host");
}

void smt_siblings(const Examination& e, Report& report) {
  if (!report.set_apart(e)) return;
  std::vector<std::string> shared;
  for (const int cpu : e.isolated_cpus.members()) {
    const CpuSet others = (e.input.topology.siblings_of(cpu) & e.facts.online) - e.isolated_cpus;
    if (!others.empty()) shared.push_back(std::to_string(cpu) + " with " + cpus(others));
  }
  if (shared.empty()) return report.good("no core is shared with other work");
  report.failure("cores shared by SMT: " + join(shared), "the siblings offline or isolated too");
}

void cpusets(const Examination& e, Report& report) {
  const CpusetHierarchy hierarchy = find_cpusets(e.files.files());
  if (hierarchy.version == CpusetHierarchy::Version::none)
    return report.not_here("no hierarchy of control groups with the cpuset controller");
  const std::string name = hierarchy.version == CpusetHierarchy::Version::v2 ? "cgroup v2" : "cgroup v1";
  std::vector<std::string> partitions, broken;
  for (const std::string& group : e.files.list(hierarchy.mount)) {
    const auto kind = e.files.text(hierarchy.mount + '/' + group + "/cpuset.cpus.partition");
    if (!kind || *kind == "member" || kind->empty()) continue;
    const auto list = e.files.text(hierarchy.mount + '/' + group + "/cpuset.cpus");
    (kind->contains("invalid") ? broken : partitions).push_back(group + ": " + *kind + ' ' + list.value_or(""));
  }
  if (!broken.empty())
    return report.failure(name + ", " + join(broken), "a partition that the kernel accepts, with CPUs of its own");
  if (!e.facts.shielded.empty()) return report.good(name + ": no other task may run on " + cpus(e.facts.shielded));
  if (!partitions.empty()) return report.good(name + ", " + join(partitions));
  report.info(name + ": no group isolates CPUs");
}

void own_cpuset(const Examination& e, Report& report) {
  const OwnGroup group = own_group(e.files.files(), "cpuset");
  if (group.folders.empty()) return report.not_here("no control group for CPUs");
  for (const std::string& folder : group.folders) {
    for (const char* file : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
      const auto text = e.files.text(folder + file);
      if (!text || text->empty()) continue;
      const CpuSet allowed = CpuSet::parse_list(*text).value_or(CpuSet{});
      const CpuSet missing = (e.isolated_cpus & e.facts.online) - allowed;
      const std::string seen = "this process's group may use " + cpus(allowed);
      if (missing.empty()) return report.good(seen);
      if (e.facts.isolated_cpus().contains_all(missing))
        return report.info(seen + "; the engine must start in another group");
      return report.failure(seen, "a group that may use " + cpus(e.isolated_cpus));
    }
  }
  report.not_here("no cpuset file in the control group " + group.folders.front());
}

}  // namespace nfx::doctor::look
