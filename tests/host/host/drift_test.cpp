// Each kind of alert: when it is raised, and when it is not.
#include "host/drift.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nfx {
namespace {

// Two CPUs, CPU 1 isolated, with one busy-polling thread; a second passes, in which only the events added by a test
// happen.
class DriftTest : public testing::Test {
 protected:
  DriftTest() {
    before_.counters.cpus = {{.cpu = 0, .softirqs = {}, .idle = 1000}, {.cpu = 1, .softirqs = {}, .idle = 1000}};
    before_.counters.interrupts = {{.number = 36, .name = "virtio1-req.0", .per_cpu = {5, 5}}};
    before_.online = {0, 1};
    before_.clocksource = "tsc";
    before_.governors = {{"policy1", "performance"}};
    before_.threads = {thread("nfx-poll-0", 11)};
    after_ = before_;
    after_.time = std::chrono::seconds{1};
    for (CpuCounters& cpu : after_.counters.cpus) cpu.idle += 100;
    plan_.threads.resize(1);
    plan_.threads[0].name = "nfx-poll-0";
    plan_.threads[0].wait = ThreadWait::spin;
    plan_.threads[0].cpus = {1};
    plan_.isolated_cpus = {1};
    plan_.housekeeping = {0};
  }

  static ThreadSample thread(const std::string& name, int tid) {
    ThreadSample sample{.pid = 10,
                        .tid = tid,
                        .name = name,
                        .state = 'R',
                        .allowed = {1},
                        .cpu = 1,
                        .migrations = 3,
                        .run_ns = 1000,
                        .wait_ns = 1000};
    return sample;
  }
  static OtherTask task(const std::string& name, std::uint64_t run_ns) {
    return {.pid = 90, .tid = 90, .start_ticks = 1, .name = name, .cpu = 1, .run_ns = run_ns};
  }

  DriftReport report(const DriftOptions& options = {}) const {
    return find_drift({.before = before_,
                       .after = after_,
                       .plan = planned_ ? &plan_ : nullptr,
                       .isolated_cpus = isolated_,
                       .tickless = tickless_},
                      options);
  }
  // "id subject: text" of each alert.
  std::vector<std::string> alerts() const {
    std::vector<std::string> lines;
    for (const Alert& alert : report().alerts)
      lines.push_back(std::string{to_string(alert.drift)} + ' ' + alert.subject + ": " + alert.text);
    return lines;
  }
  using Lines = std::vector<std::string>;

  ThreadSample& poll() { return after_.threads[0]; }
  CpuCounters& isolated_cpu() { return after_.counters.cpus[1]; }

  WatchSample before_, after_;
  PlacementPlan plan_;
  bool planned_ = true;
  CpuSet isolated_{1};
  CpuSet tickless_;
};

TEST_F(DriftTest, is_silent_when_nothing_happens) {
  EXPECT_EQ(alerts(), Lines{});
  planned_ = false;
  EXPECT_EQ(alerts(), Lines{});
}

TEST_F(DriftTest, every_alert_has_a_name_of_its_own_and_says_why_and_what_to_do) {
  std::set<std::string_view> names;
  for (const DriftInfo& info : drift_table()) {
    EXPECT_TRUE(names.insert(info.id).second) << info.id;
    EXPECT_EQ(to_string(info.drift), info.id);
    EXPECT_FALSE(info.why.empty() || info.fix.empty()) << info.id;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Drift::cpu_offline) + 1);
}

TEST_F(DriftTest, planned_thread_that_does_not_run_is_missing) {
  after_.threads.clear();
  before_.threads.clear();
  EXPECT_EQ(alerts(), Lines{"thread-missing nfx-poll-0: is planned and does not run"});
}

TEST_F(DriftTest, engine_thread_that_ends_is_missing_without_a_plan_too) {
  planned_ = false;
  before_.threads.push_back(thread("nfx-log", 12));
  before_.threads.push_back(thread("pool", 13));
  EXPECT_EQ(alerts(), Lines{"thread-missing nfx-log: has ended"});
}

TEST_F(DriftTest, process_that_ends_is_told_once) {
  planned_ = false;
  before_.threads.push_back(thread("nfx-log", 12));
  after_.threads.clear();
  EXPECT_EQ(alerts(), Lines{"thread-missing process 10: has ended"});
}

TEST_F(DriftTest, thread_that_was_started_again_is_not_compared_with_the_one_before) {
  poll().tid = 99;
  poll().involuntary_switches = 1000000;
  EXPECT_EQ(alerts(), Lines{});
}

TEST_F(DriftTest, thread_that_the_plan_does_not_know_is_unplanned_on_isolated_cpus) {
  ThreadSample other = thread("nfx-x", 12);
  other.allowed = {0};
  after_.threads.push_back(other);
  EXPECT_EQ(alerts(), Lines{}) << "a helper on the housekeeping CPUs";
  after_.threads.back().name = "pool";
  EXPECT_EQ(alerts(), Lines{});
  after_.threads.back().allowed = {0, 1};
  EXPECT_EQ(alerts(), Lines{"thread-unplanned pool (12): is not in the plan and may run on the isolated CPUs 1"});
}

TEST_F(DriftTest, mask_other_than_planned_is_told_by_both_its_names) {
  poll().allowed = {0, 1};
  EXPECT_EQ(alerts(), (Lines{"moved-off-plan nfx-poll-0: may run on CPUs 0-1, planned are 1",
                             "mask-changed nfx-poll-0: CPUs 1 became 0-1"}));
}

TEST_F(DriftTest, sleeping_thread_is_not_off_plan_because_of_where_it_slept) {
  before_.threads[0].cpu = poll().cpu = 0;
  EXPECT_EQ(alerts(), Lines{});
  before_.threads[0].allowed = poll().allowed = {};
  EXPECT_EQ(alerts(), Lines{"moved-off-plan nfx-poll-0: runs on CPU 0, planned are 1"});
}

TEST_F(DriftTest, priority_is_compared_with_the_plan_and_with_before) {
  poll().policy = 1;
  poll().priority = 5;
  EXPECT_EQ(alerts(), (Lines{"priority-changed nfx-poll-0: runs with SCHED_FIFO 5; planned: no real-time priority",
                             "priority-changed nfx-poll-0: SCHED_OTHER became SCHED_FIFO 5"}));
}

TEST_F(DriftTest, spinning_thread_must_not_move_wait_or_be_put_aside) {
  poll().migrations = 5;
  poll().involuntary_switches = 20;
  poll().wait_ns = *poll().wait_ns + 3500000;
  EXPECT_EQ(alerts(), (Lines{"migrated nfx-poll-0: moved to other CPUs 2/s",
                             "involuntary-switches nfx-poll-0: was preempted 20/s",
                             "stalled nfx-poll-0: waited for its CPU 3500 us/s"}));
}

TEST_F(DriftTest, move_is_seen_without_the_kernels_counter) {
  before_.threads[0].migrations = poll().migrations = std::nullopt;
  before_.threads[0].cpu = 0;
  EXPECT_EQ(alerts(), Lines{"migrated nfx-poll-0: moved to other CPUs 1/s"});
}

TEST_F(DriftTest, blocking_thread_of_the_plan_may_roam_and_be_put_aside) {
  plan_.threads[0].wait = ThreadWait::block;
  plan_.threads[0].cpus = {0, 1};
  before_.threads[0].allowed = poll().allowed = {0, 1};
  poll().migrations = 500;
  poll().involuntary_switches = 500;
  EXPECT_EQ(alerts(), Lines{});
}

TEST_F(DriftTest, blocking_thread_with_a_cpu_of_its_own_must_not_wait_for_it) {
  plan_.threads[0].wait = ThreadWait::block;
  poll().involuntary_switches = 20;
  EXPECT_EQ(alerts(), Lines{"involuntary-switches nfx-poll-0: was preempted 20/s"});
}

TEST_F(DriftTest, unpinned_thread_without_a_plan_may_move_a_little) {
  planned_ = false;
  before_.threads[0].allowed = poll().allowed = {0, 1};
  poll().migrations = 13;
  poll().involuntary_switches = 500;
  EXPECT_EQ(alerts(), Lines{});
  poll().migrations = 14;
  EXPECT_EQ(alerts(), Lines{"migrated nfx-poll-0: moved to other CPUs 11/s"});
}

TEST_F(DriftTest, major_faults_always_count_and_minor_ones_when_there_are_many) {
  poll().minor_faults = 10;
  EXPECT_EQ(alerts(), Lines{});
  poll().minor_faults = 11;
  poll().major_faults = 1;
  EXPECT_EQ(alerts(), (Lines{"page-faults nfx-poll-0: minor faults 11/s", "page-faults nfx-poll-0: major faults 1/s"}));
}

TEST_F(DriftTest, other_task_that_ran_on_a_isolated_cpu_raises_an_alert) {
  before_.others = {task("backup", 1000)};
  after_.others = {task("backup", 1000)};
  EXPECT_EQ(alerts(), Lines{});
  after_.others = {task("backup", 501000)};
  EXPECT_EQ(alerts(), Lines{"other-task-on-isolated-cpu cpu1: backup (tid 90) ran 500 us/s"});
  before_.others.clear();
  EXPECT_EQ(alerts(), Lines{"other-task-on-isolated-cpu cpu1: backup (tid 90) came and ran"});
  isolated_ = {};
  EXPECT_EQ(alerts(), Lines{});
}

TEST_F(DriftTest, kernel_thread_that_belongs_to_the_cpu_has_a_little_time) {
  before_.others = {task("ksoftirqd/1", 0)};
  after_.others = {task("ksoftirqd/1", 1000000)};
  after_.others[0].kernel = after_.others[0].bound = true;
  EXPECT_EQ(alerts(), Lines{});
  after_.others[0].run_ns = 2000000;
  EXPECT_EQ(alerts(), Lines{"other-task-on-isolated-cpu cpu1: ksoftirqd/1 (kernel thread 90) ran 2000 us/s"});
}

TEST_F(DriftTest, device_interrupt_on_a_isolated_cpu_is_named) {
  after_.counters.interrupts[0].per_cpu = {500, 8};
  isolated_cpu().devices = 3;
  EXPECT_EQ(alerts(), Lines{"interrupts-on-isolated-cpu cpu1: interrupt 36, virtio1-req.0, 3/s"});
}

TEST_F(DriftTest, tick_is_wrong_only_where_it_should_be_off) {
  isolated_cpu().timer = 1000;
  EXPECT_EQ(alerts(), Lines{});
  tickless_ = {1};
  EXPECT_EQ(alerts(),
            Lines{"interrupts-on-isolated-cpu cpu1: timer interrupts, although the tick should be off, 1000/s"});
}

TEST_F(DriftTest, softirqs_on_a_isolated_cpu_are_named_but_for_those_of_the_tick) {
  before_.counters.cpus[1].softirqs = {{"NET_RX", 0}, {"TIMER", 0}};
  isolated_cpu().softirqs = {{"NET_RX", 101}, {"TIMER", 5000}};
  EXPECT_EQ(alerts(), Lines{"interrupts-on-isolated-cpu cpu1: softirq NET_RX 101/s"});
}

TEST_F(DriftTest, interrupts_from_other_cpus_are_told_by_kind) {
  isolated_cpu().rescheduling = 11;
  isolated_cpu().function_calls = 12;
  isolated_cpu().tlb_shootdowns = 10;
  EXPECT_EQ(alerts(), (Lines{"ipis cpu1: rescheduling interrupts 11/s", "ipis cpu1: function calls 12/s"}));
}

TEST_F(DriftTest, steal_counts_where_a_thread_spins) {
  after_.counters.cpus[0].steal = 50;
  EXPECT_EQ(alerts(), Lines{});
  isolated_cpu().steal = 25;
  EXPECT_EQ(alerts(), Lines{"steal cpu1: 20% of the time"});
}

TEST_F(DriftTest, steal_counts_everywhere_when_no_thread_has_a_cpu_of_its_own) {
  planned_ = false;
  isolated_ = {};
  before_.threads.clear();
  after_.threads.clear();
  after_.counters.cpus[0].steal = 50;
  EXPECT_EQ(alerts(), Lines{"steal cpu0: 33% of the time"});
}

TEST_F(DriftTest, throttled_group_is_named) {
  before_.groups = {{.group = "/sys/fs/cgroup/pod", .throttled_periods = 2, .throttled_us = 1000}};
  after_.groups = {{.group = "/sys/fs/cgroup/pod", .throttled_periods = 5, .throttled_us = 41000}};
  EXPECT_EQ(alerts(), Lines{"throttled /sys/fs/cgroup/pod: stopped in 3 periods, for 40 ms in all"});
}

TEST_F(DriftTest, clock_frequency_and_cpus_are_watched) {
  after_.clocksource = "hpet";
  after_.governors["policy1"] = "powersave";
  after_.online = {1};
  EXPECT_EQ(alerts(),
            (Lines{"clocksource-changed host: tsc became hpet",
                   "governor-changed policy1: performance became powersave", "cpu-offline cpu0: went offline"}));
  before_.online = {1};
  EXPECT_EQ(alerts().back(), "cpu-offline cpu0: is offline and planned for");
}

TEST_F(DriftTest, single_event_in_a_short_look_is_not_blown_up) {
  after_.time = std::chrono::milliseconds{50};
  poll().involuntary_switches = 1;
  EXPECT_EQ(alerts(), Lines{});
  poll().involuntary_switches = 2;
  EXPECT_EQ(alerts(), Lines{"involuntary-switches nfx-poll-0: was preempted 40/s"});
}

TEST_F(DriftTest, long_look_is_judged_by_the_rate) {
  after_.time = std::chrono::seconds{100};
  poll().involuntary_switches = 100;
  EXPECT_EQ(alerts(), Lines{});
  poll().involuntary_switches = 101;
  EXPECT_EQ(alerts().size(), 1U);
}

TEST_F(DriftTest, counters_that_went_back_are_nothing) {
  before_.threads[0].involuntary_switches = 500;
  before_.threads[0].wait_ns = 1ULL << 40;
  EXPECT_EQ(alerts(), Lines{});
}

TEST_F(DriftTest, samples_taken_at_the_same_time_divide_nothing_by_zero) {
  after_.time = before_.time;
  poll().involuntary_switches = 2;
  EXPECT_EQ(report().alerts.size(), 1U);
}

TEST_F(DriftTest, alerts_are_bounded_and_the_rest_is_counted) {
  for (int i = 0; i < 300; ++i) after_.threads.push_back(thread("nfx-x" + std::to_string(i), 100 + i));
  const DriftReport all = report();
  EXPECT_EQ(all.alerts.size(), 200U);
  EXPECT_EQ(all.left_out, 100U);
  EXPECT_EQ(all.alerts[2].subject, "nfx-x2") << "numbers are sorted as numbers";
}

}  // namespace
}  // namespace nfx
