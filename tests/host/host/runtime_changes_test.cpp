// The changes that a plan requires on a host.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/apply.hpp"
#include "host/rehearsed_host.hpp"

namespace nfx {
namespace {

using rehearsal::Groups;
using rehearsal::Host;
using rehearsal::plan_for;

std::vector<Change> changes_of(const Host& host, const PlacementPlan& plan) {
  return runtime_changes(plan, host.facts(), host.files());
}

const Change* find(const std::vector<Change>& changes, std::string_view path) {
  const auto found = std::ranges::find(changes, path, &Change::path);
  return found == changes.end() ? nullptr : &*found;
}

TEST(RuntimeChanges, say_what_is_there_what_is_wanted_and_why) {
  const auto changes = changes_of(Host{}, plan_for({3}));
  for (const Change& change : changes) EXPECT_FALSE(change.why.empty()) << change.path;
  const Change* interval = find(changes, "/proc/sys/vm/stat_interval");
  ASSERT_NE(interval, nullptr);
  EXPECT_EQ(interval->seen, "1\n");
  EXPECT_EQ(interval->wanted, "120");
}

TEST(RuntimeChanges, keep_the_part_of_an_interrupts_cpus_that_is_not_isolated) {
  const Host host;
  host.interrupt(20, "1,3", "1");
  const auto changes = changes_of(host, plan_for({3}));
  EXPECT_EQ(find(changes, "/proc/irq/20/smp_affinity_list")->wanted, "1");
  EXPECT_EQ(find(changes, "/proc/irq/12/smp_affinity_list")->wanted, "0-2");
  EXPECT_EQ(find(changes, "/proc/irq/13/smp_affinity_list"), nullptr);
}

TEST(RuntimeChanges, lift_the_throttling_only_for_real_time_spinners) {
  const Host host;
  host.put("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
  host.put("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n");
  const std::string_view throttling = "/proc/sys/kernel/sched_rt_runtime_us";
  EXPECT_EQ(find(changes_of(host, plan_for({3})), throttling), nullptr);
  const auto changes = changes_of(host, plan_for({3}, 50));
  EXPECT_EQ(find(changes, throttling)->wanted, "-1");
  EXPECT_EQ(find(changes, "/sys/kernel/debug/sched/fair_server/cpu3/runtime")->wanted, "0");
  EXPECT_EQ(find(changes, "/sys/kernel/debug/sched/fair_server/cpu2/runtime"), nullptr);
}

TEST(RuntimeChanges, leave_out_what_the_host_does_not_have) {
  const Host host;
  std::filesystem::remove_all(host.files().path("/sys/devices/system/cpu/cpufreq"));
  std::filesystem::remove_all(host.files().path("/proc/sys/kernel"));
  for (const Change& change : changes_of(host, plan_for({3}))) {
    EXPECT_NE(change.area, "power");
    EXPECT_NE(change.area, "scheduler");
  }
}

TEST(RuntimeChanges, leave_a_longer_stat_interval_alone) {
  const Host host;
  host.put("/proc/sys/vm/stat_interval", "300\n");
  EXPECT_EQ(find(changes_of(host, plan_for({3})), "/proc/sys/vm/stat_interval"), nullptr);
}

TEST(RuntimeChanges, leave_packet_steering_that_is_off_alone) {
  const auto changes = changes_of(Host{}, plan_for({3}));
  EXPECT_NE(find(changes, "/sys/class/net/eth0/queues/rx-0/rps_cpus"), nullptr);
  EXPECT_EQ(find(changes, "/sys/class/net/eth0/queues/rx-1/rps_cpus"), nullptr);
}

TEST(RuntimeChanges, shrink_other_cpusets_from_the_inside_out) {
  const Host host;
  host.put("/sys/fs/cgroup/cpuset/jobs/inner/cpuset.cpus", "3\n");
  host.put("/sys/fs/cgroup/cpuset/jobs/inner/tasks", "61\n");
  const auto changes = changes_of(host, plan_for({3}));
  const Change* inner = find(changes, "/sys/fs/cgroup/cpuset/jobs/inner/cpuset.cpus");
  const Change* outer = find(changes, "/sys/fs/cgroup/cpuset/jobs/cpuset.cpus");
  ASSERT_TRUE(inner != nullptr && outer != nullptr);
  EXPECT_LT(inner, outer);
  EXPECT_EQ(outer->wanted, "2");
}

TEST(RuntimeChanges, leave_an_empty_cpuset_of_isolated_cpus_to_whom_it_was_made_for) {
  const Host host;
  host.put("/sys/fs/cgroup/cpuset/engine/cpuset.cpus", "3\n");
  host.put("/sys/fs/cgroup/cpuset/engine/tasks", "");
  EXPECT_EQ(find(changes_of(host, plan_for({3})), "/sys/fs/cgroup/cpuset/engine/cpuset.cpus"), nullptr);
}

TEST(RuntimeChanges, leave_partitions_of_cgroup_v2_alone_and_say_so) {
  const Host host{Groups::v2};
  host.put("/sys/fs/cgroup/system.slice/cpuset.cpus.partition", "isolated\n");
  std::vector<std::string> notes;
  const auto changes = runtime_changes(plan_for({3}), host.facts(), host.files(), nullptr, &notes);
  EXPECT_EQ(find(changes, "/sys/fs/cgroup/system.slice/cpuset.cpus"), nullptr);
  EXPECT_NE(find(changes, "/sys/fs/cgroup/init.scope/cpuset.cpus"), nullptr);
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) { return note.contains("system.slice"); }));
}

TEST(RuntimeChanges, without_cpusets_say_that_masks_are_weaker) {
  const Host host{Groups::none};
  std::vector<std::string> notes;
  const auto changes = runtime_changes(plan_for({3}), host.facts(), host.files(), nullptr, &notes);
  EXPECT_EQ(changes.front().kind, ChangeKind::set_affinities);
  EXPECT_EQ(changes.front().from, "all tasks");
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes.front().find("no cpusets"), std::string::npos);
}

TEST(RuntimeChanges, warn_of_irqbalance) {
  const Host host;
  std::vector<std::string> notes;
  (void)runtime_changes(plan_for({3}), host.facts(), host.files(), nullptr, &notes);
  EXPECT_TRUE(notes.empty());
  host.task(80, 80, "irqbalance", "0-3", 0);
  (void)runtime_changes(plan_for({3}), host.facts(), host.files(), nullptr, &notes);
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) { return note.contains("irqbalance"); }));
}

TEST(RuntimeChanges, are_none_for_a_plan_that_isolates_nothing) {
  EXPECT_TRUE(changes_of(Host{}, plan_for({})).empty());
}

}  // namespace
}  // namespace nfx
