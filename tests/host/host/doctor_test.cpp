// The doctor's table of checks, and its behaviour on small invented hosts.
#include "nexusfix/host/doctor.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

class Doctor : public ::testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) const {
    const fs::path path = root_.path() / "host" / file.substr(1);
    fs::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  [[nodiscard]] fs::path host() const { return root_.path() / "host"; }

  [[nodiscard]] std::vector<DoctorFinding> examined(const fs::path& where, const PlacementPlan* plan = nullptr) const {
    const HostFiles files{where};
    const HostFacts facts = read_host_facts(files);
    const Topology topology = facts.online.empty() ? Topology{} : load_topology(where);
    return examine({files, topology, facts, plan});
  }
  [[nodiscard]] DoctorFinding finding(std::string_view id, const PlacementPlan* plan = nullptr) const {
    for (const DoctorFinding& found : examined(host(), plan)) {
      if (found.check->id == id) return found;
    }
    ADD_FAILURE() << "no finding of " << id;
    return {};
  }

  test::TemporaryFolder root_;
};

std::vector<std::string> lines(std::span<const DoctorFinding> findings,
                               const std::set<std::string_view>& without = {}) {
  std::vector<std::string> out;
  for (const DoctorFinding& f : findings) {
    if (without.contains(f.check->id)) continue;
    out.push_back(std::string{f.check->id} + '|' + std::string{to_string(f.result)} + '|' + f.subject + '|' + f.seen);
  }
  return out;
}

TEST(DoctorChecks, are_at_least_45_and_each_is_described) {
  const auto checks = doctor_checks();
  EXPECT_GE(checks.size(), 45U);
  const std::set<std::string_view> areas{"isolation", "scheduler", "interrupts", "network",
                                         "power",     "memory",    "process",    "virtualisation"};
  std::set<std::string_view> ids, seen_areas;
  for (const CheckInfo& check : checks) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    seen_areas.insert(check.area);
    EXPECT_TRUE(areas.contains(check.area)) << check.id;
    EXPECT_TRUE(check.id.starts_with(std::string{check.area} + '.')) << check.id;
    EXPECT_FALSE(check.title.empty() || check.source.empty() || check.why.empty() || check.risk.empty()) << check.id;
    EXPECT_EQ(find_check(check.id), &check);
  }
  EXPECT_EQ(seen_areas, areas);
  EXPECT_EQ(find_check("isolation.nothing"), nullptr);
}

// A reason that a reader can look up or reproduce: a setting, a file, an error code, a page of the kernel's
// documentation, or a command of nfx. A text without any of these must be marked as not measured.
TEST(DoctorChecks, give_a_reason_that_can_be_looked_up_or_say_that_it_was_not_measured) {
  const std::regex named{R"([A-Z]{2,}_[A-Z_]+|\bE[A-Z]{3,}\b|[a-z]+[a-z0-9]*[._=][a-z0-9]+|--[a-z]+|\./dev bench)"};
  const std::regex figure{"p99|percentile|[0-9],[0-9]{3} us|was measured|[0-9] %"};
  for (const CheckInfo& check : doctor_checks()) {
    const std::string why{check.why};
    EXPECT_TRUE(why.ends_with("Not measured here.") || std::regex_search(why, named)) << check.id << ": " << why;
    EXPECT_FALSE(std::regex_search(why, figure)) << check.id << ": no command prints this measurement: " << why;
    const bool otherwise = why.contains("easured here") && !why.ends_with("Not measured here.");
    EXPECT_FALSE(otherwise) << check.id << ": one wording for all: " << why;
  }
}

TEST_F(Doctor, every_check_says_something_about_any_host) {
  put("/sys/devices/system/cpu/online", "0-1\n");
  std::set<std::string_view> ids;
  for (const DoctorFinding& found : examined(host())) ids.insert(found.check->id);
  EXPECT_EQ(ids.size(), doctor_checks().size());
}

TEST_F(Doctor, a_file_that_may_not_be_read_is_not_taken_for_a_missing_one) {
  put("/sys/devices/system/cpu/online", "0-1\n");
  EXPECT_EQ(finding("memory.ksm").result, CheckResult::not_here);
  fs::create_directories(host() / "sys/kernel/mm/ksm/run");  // a folder: EISDIR
  EXPECT_EQ(finding("memory.ksm").result, CheckResult::cannot_tell);
  put("/proc/swaps", "Filename Type Size Used Priority\n");
  put("/nexusfix/unreadable", "13 /proc/swaps\n");
  EXPECT_EQ(finding("memory.swap").result, CheckResult::cannot_tell);
  EXPECT_EQ(finding("memory.swap").seen, "/proc/swaps: Permission denied");
}

TEST_F(Doctor, what_could_not_be_seen_gives_3_unless_something_failed) {
  put("/sys/devices/system/cpu/online", "0-1\n");
  const auto of = [](std::initializer_list<CheckResult> results) {
    std::vector<DoctorFinding> findings;
    for (const CheckResult result : results) findings.push_back({&doctor_checks()[0], result, "", "", ""});
    return exit_of(findings);
  };
  EXPECT_EQ(of({}), HostExit::ok);
  EXPECT_EQ(of({CheckResult::good, CheckResult::info, CheckResult::not_here}), HostExit::ok);
  EXPECT_EQ(of({CheckResult::warning, CheckResult::good}), HostExit::warnings);
  EXPECT_EQ(of({CheckResult::warning, CheckResult::cannot_tell}), HostExit::cannot_tell);
  EXPECT_EQ(of({CheckResult::failure, CheckResult::cannot_tell, CheckResult::warning}), HostExit::failures);
}

TEST_F(Doctor, garbage_in_files_is_reported_and_not_believed) {
  put("/sys/devices/system/cpu/online", "0-3\n");
  put("/sys/devices/system/cpu/isolated", "x-y\n");
  put("/proc/cmdline", "isolcpus=,,, nohz_full=9-1 rcu_nocbs= isolcpus=2- nexusfix.plan\n");
  put("/proc/sys/vm/stat_interval", "often\n");
  put("/proc/irq/default_smp_affinity", "zz\n");
  put("/proc/stat", "cpu0\ncpu\ncpux 1 2 3\n");
  put("/proc/self/cgroup", ":::\n0::\nx\n");
  put("/proc/self/mounts", "cgroup2\ncgroup2 /x\n");
  put("/proc/7/status", "Name:\nState:\nCpus_allowed_list:\tfoo\n");
  put("/proc/swaps", " \t \n\n\t\n");
  put("/proc/self/status", "CapEff:\t~\n");
  put("/sys/devices/system/cpu/cpufreq/policy/scaling_governor", "?\n");
  put("/sys/devices/system/machinecheck/machinecheck/check_interval", "300\n");
  EXPECT_EQ(finding("scheduler.stat_interval").result, CheckResult::cannot_tell);
  EXPECT_EQ(finding("interrupts.default_affinity").result, CheckResult::cannot_tell);
}

TEST_F(Doctor, without_cpus_set_apart_isolation_warns_and_does_not_fail) {
  put("/sys/devices/system/cpu/online", "0-3\n");
  put("/sys/devices/system/cpu/isolated", "\n");
  for (const char* id : {"isolation.isolcpus", "isolation.nohz_full", "isolation.rcu_nocbs"}) {
    EXPECT_EQ(finding(id).result, CheckResult::warning) << id;
    EXPECT_EQ(finding(id).seen, "no CPU is isolated") << id;
  }
  PlacementPlan plan{.isolated_cpus = {3}};
  EXPECT_EQ(finding("isolation.isolcpus", &plan).result, CheckResult::failure);
  plan.isolated_cpus = {};
  EXPECT_EQ(finding("isolation.isolcpus", &plan).result, CheckResult::info);
}

TEST_F(Doctor, irqbalance_may_be_banned_by_list_by_mask_or_by_isolation) {
  put("/sys/devices/system/cpu/online", "0-3\n");
  put("/proc/650/status", "Name:\tirqbalance\nState:\tS (sleeping)\nVmSize:\t1 kB\nCpus_allowed_list:\t0-1\n");
  PlacementPlan plan{.isolated_cpus = {2, 3}};
  EXPECT_EQ(finding("interrupts.irqbalance", &plan).result, CheckResult::failure);
  put("/etc/sysconfig/irqbalance", "export IRQBALANCE_BANNED_CPULIST=2-3\n");
  EXPECT_EQ(finding("interrupts.irqbalance", &plan).result, CheckResult::good);
  put("/etc/sysconfig/irqbalance", "IRQBALANCE_BANNED_CPUS=\"c\"\n");
  EXPECT_EQ(finding("interrupts.irqbalance", &plan).result, CheckResult::good);
  put("/etc/sysconfig/irqbalance", "#IRQBALANCE_BANNED_CPUS=c\n");
  EXPECT_EQ(finding("interrupts.irqbalance", &plan).result, CheckResult::failure);
  put("/sys/devices/system/cpu/isolated", "2-3\n");
  EXPECT_EQ(finding("interrupts.irqbalance", &plan).result, CheckResult::good);
}

TEST_F(Doctor, text_hides_what_is_good_and_json_has_everything) {
  put("/sys/devices/system/cpu/online", "0-1\n");
  put("/sys/kernel/mm/ksm/run", "1\n");
  put("/proc/swaps", "Filename Type Size Used Priority\n");
  const auto findings = examined(host());
  const std::string text = to_text(findings, false);
  EXPECT_TRUE(text.contains("memory.ksm"));
  EXPECT_FALSE(text.contains("memory.swap "));
  EXPECT_TRUE(to_text(findings, true).contains("memory.swap "));
  const auto json = nlohmann::json::parse(to_json(findings));
  EXPECT_EQ(json["findings"].size(), findings.size());
  EXPECT_EQ(json["summary"]["checks"], doctor_checks().size());
  EXPECT_EQ(json["findings"][0]["id"], doctor_checks()[0].id);
}

TEST_F(Doctor, a_task_name_that_is_no_text_does_not_break_json) {
  put("/sys/devices/system/cpu/online", "0-1\n");
  put("/proc/9/status", "Name:\t\xff\xfe\nState:\tR\nVmSize:\t1 kB\nCpus_allowed_list:\t0-1\n");
  PlacementPlan plan{.isolated_cpus = {1}};
  EXPECT_TRUE(nlohmann::json::accept(to_json(examined(host(), &plan))));
}

TEST_F(Doctor, a_copy_of_this_host_is_examined_as_the_host_itself) {
  // Properties that change between two samples: running tasks, and counters.
  const std::set<std::string_view> moving{"isolation.other_tasks", "isolation.kernel_threads", "virtualisation.steal",
                                          "interrupts.pending", "interrupts.effective_affinity"};
  // Other programs may change settings of the host at this moment; then all three attempts differ.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const fs::path copy = root_.path() / ("copy" + std::to_string(attempt));
    const auto before = lines(examined("/"), moving);
    (void)collect_host(HostFiles{}, copy);
    const auto copied = lines(examined(copy), moving);
    const auto after = lines(examined("/"), moving);
    if (before != after) continue;
    EXPECT_EQ(copied, after);
    return;
  }
  GTEST_SKIP() << "the host's settings change all the time";
}

TEST_F(Doctor, a_copy_can_be_read_by_everybody_and_holds_no_command_lines) {
  put("/proc/7/cmdline", "secret");
  put("/proc/7/environ", "secret");
  put("/proc/7/status", "Name:\tx\nUid:\t0\nState:\tS\nVmSize:\t1 kB\nCpus_allowed_list:\t0-1\n");
  put("/sys/devices/system/cpu/online", "0-1\n");
  const fs::path copy = root_.path() / "copy";
  const Collected done = collect_host(HostFiles{host()}, copy);
  EXPECT_TRUE(done.complete);
  EXPECT_FALSE(fs::exists(copy / "proc/7/cmdline"));
  EXPECT_FALSE(fs::exists(copy / "proc/7/environ"));
  EXPECT_EQ(HostFiles{copy}.read("/proc/7/status").value(),
            "Name:\tx\nState:\tS\nVmSize:\t1 kB\nCpus_allowed_list:\t0-1\n");
  for (const auto& entry : fs::recursive_directory_iterator{copy}) {
    const auto wanted = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(entry.status().permissions() & wanted, wanted) << entry.path();
  }
}

TEST_F(Doctor, a_copy_keeps_links_and_writes_nothing_outside) {
  put("/sys/devices/pci0000:00/0000:00:03.0/net/eth0/device/numa_node", "1\n");
  fs::create_directories(host() / "sys/class/net");
  fs::create_directory_symlink("../../devices/pci0000:00/0000:00:03.0/net/eth0", host() / "sys/class/net/eth0");
  fs::create_directories(host() / "sys/bus/pci/devices");
  fs::create_directory_symlink("../../../../../../../../outside", host() / "sys/bus/pci/devices/evil");
  const fs::path copy = root_.path() / "copy";
  (void)collect_host(HostFiles{host()}, copy);
  EXPECT_TRUE(fs::is_symlink(copy / "sys/class/net/eth0"));
  EXPECT_EQ(HostFiles{copy}.text("/sys/class/net/eth0/device/numa_node").value(), "1");
  EXPECT_FALSE(fs::exists(root_.path() / "outside"));
}

TEST_F(Doctor, mount_points_that_lead_out_of_a_copy_are_not_followed) {
  put("/proc/self/cgroup", "0::/a/../..\n");
  put("/proc/self/mounts", "cgroup2 /sys/../../../x cgroup2 rw 0 0\n");
  std::ofstream{root_.path() / "cgroup.controllers"} << "cpuset";
  const fs::path copy = root_.path() / "deep" / "copy";
  (void)collect_host(HostFiles{host()}, copy);
  for (const auto& entry : fs::directory_iterator{root_.path() / "deep"}) EXPECT_EQ(entry.path(), copy);
  put("/proc/self/cgroup", "0::x\n");
  put("/proc/self/mounts", "cgroup2 relative cgroup2 rw 0 0\n");
  EXPECT_EQ(finding("isolation.own_cpuset").result, CheckResult::not_here);
}

TEST_F(Doctor, a_copy_into_a_folder_with_files_is_refused) {
  put("/x", "mine");
  EXPECT_THROW((void)collect_host(HostFiles{}, host()), std::runtime_error);
  EXPECT_EQ(HostFiles{host()}.text("/x").value(), "mine");
}

}  // namespace
}  // namespace nfx
