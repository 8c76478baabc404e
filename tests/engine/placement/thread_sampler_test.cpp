// Samples of invented hosts, and of this process.
#include "placement/thread_sampler.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nfx {
namespace {

// A host's /proc and /sys in a folder of its own, removed afterwards.
class ThreadSampler : public testing::Test {
 protected:
  ThreadSampler() {
    root_ = std::filesystem::path{testing::TempDir()} / ("nfx_sampler_" + std::to_string(getpid()) + '_' +
                                                         testing::UnitTest::GetInstance()->current_test_info()->name());
    write("proc/stat", "cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 5 0 5 50 0 0 0 0 0 0\ncpu1 5 0 5 50 0 0 0 0 0 0\n");
    write("sys/devices/system/cpu/online", "0-1\n");
  }
  ~ThreadSampler() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << content;
  }

  struct Task {
    int pid = 0;
    int tid = 0;
    std::string name;
    int cpu = 0;
    std::uint64_t flags = 4194304;
    std::string schedstat = "5000000 2000000 17\n";
  };
  static std::string folder(const Task& task) {
    return "proc/" + std::to_string(task.pid) + "/task/" + std::to_string(task.tid) + '/';
  }
  void write(const Task& task) const {
    const std::string stat = std::to_string(task.tid) + " (" + task.name + ") R 1 1 1 0 -1 " +
                             std::to_string(task.flags) +
                             " 111 0 7 0 3 2 0 0 -81 0 3 0 4242 1000 20 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 " +
                             std::to_string(task.cpu) + " 80 1 0 0 0 0 0 0 0 0 0 0 0\n";
    write(folder(task) + "stat", stat);
    write(folder(task) + "schedstat", task.schedstat);
    write(
        folder(task) + "status",
        "Name:\tx\nCpus_allowed:\t2\nCpus_allowed_list:\t1\nvoluntary_ctxt_switches:\t31\nnonvoluntary_ctxt_switches:\t"
        "4\n");
    write(folder(task) + "sched",
          "x (1, #threads: 1)\n-----\nse.exec_start                 :      1.5\nse.nr_migrations                 :"
          "                   12\nnr_switches : 35\n");
  }

  WatchSample sample(const WatchTarget& target) const {
    return sample_host(HostFiles{root_}, target, std::chrono::seconds{7});
  }

  std::filesystem::path root_;
};

TEST_F(ThreadSampler, reads_what_the_kernel_tells_about_a_thread) {
  write(Task{.pid = 40, .tid = 41, .name = "nfx-poll-0", .cpu = 1});
  const WatchSample seen = sample({.pid = 40, .isolated_cpus = {}});
  EXPECT_EQ(seen.time, std::chrono::seconds{7});
  ASSERT_EQ(seen.threads.size(), 1U);
  const ThreadSample& thread = seen.threads[0];
  EXPECT_EQ(thread.key(), (TaskKey{40, 41, 4242}));
  EXPECT_EQ(thread.name, "nfx-poll-0");
  EXPECT_EQ(thread.state, 'R');
  EXPECT_EQ(thread.allowed, CpuSet{1});
  EXPECT_EQ(thread.cpu, 1);
  EXPECT_EQ(scheduling(thread.policy, thread.priority), "SCHED_FIFO 80");
  EXPECT_EQ(thread.voluntary_switches, 31U);
  EXPECT_EQ(thread.involuntary_switches, 4U);
  EXPECT_EQ(thread.minor_faults, 111U);
  EXPECT_EQ(thread.major_faults, 7U);
  EXPECT_EQ(thread.migrations, 12U);
  EXPECT_EQ(thread.run_ns, 5000000U);
  EXPECT_EQ(thread.wait_ns, 2000000U);
}

TEST_F(ThreadSampler, reads_one_thread_alone) {
  write(Task{.pid = 50, .tid = 51, .name = "nfx-poll-0", .cpu = 1});
  const auto thread = sample_thread(HostFiles{root_}, 50, 51);
  ASSERT_TRUE(thread);
  EXPECT_EQ(thread->name, "nfx-poll-0");
  EXPECT_EQ(thread->migrations, 12U);
  EXPECT_FALSE(sample_thread(HostFiles{root_}, 50, 52));
}

TEST_F(ThreadSampler, finds_the_engines_threads_by_name_in_all_processes) {
  write(Task{.pid = 50, .tid = 50, .name = "nfx"});
  write(Task{.pid = 50, .tid = 51, .name = "nfx-poll-0"});
  write(Task{.pid = 60, .tid = 60, .name = "bash"});
  write(Task{.pid = 70, .tid = 71, .name = "nfx-flush"});
  const WatchSample seen = sample({});
  ASSERT_EQ(seen.threads.size(), 2U);
  EXPECT_EQ(seen.threads[0].tid, 51);
  EXPECT_EQ(seen.threads[1].tid, 71);
}

TEST_F(ThreadSampler, takes_all_threads_of_a_named_process) {
  write(Task{.pid = 50, .tid = 50, .name = "main"});
  write(Task{.pid = 50, .tid = 51, .name = "worker"});
  write(Task{.pid = 70, .tid = 71, .name = "nfx-flush"});
  EXPECT_EQ(sample({.pid = 50, .isolated_cpus = {}}).threads.size(), 2U);
}

TEST_F(ThreadSampler, sees_a_process_that_does_not_exist_as_no_threads) {
  EXPECT_TRUE(sample({.pid = 99, .isolated_cpus = {}}).threads.empty());
}

TEST_F(ThreadSampler, leaves_unknown_what_the_kernel_does_not_tell) {
  const Task task{.pid = 40, .tid = 40, .name = "nfx-log"};
  write(task);
  for (const char* file : {"sched", "schedstat", "status"}) std::filesystem::remove(root_ / (folder(task) + file));
  const WatchSample seen = sample({.pid = 40, .isolated_cpus = {}});
  ASSERT_EQ(seen.threads.size(), 1U);
  EXPECT_FALSE(seen.threads[0].migrations);
  EXPECT_FALSE(seen.threads[0].run_ns);
  EXPECT_FALSE(seen.threads[0].wait_ns);
  EXPECT_TRUE(seen.threads[0].allowed.empty());
}

TEST_F(ThreadSampler, survives_names_made_to_confuse) {
  write(Task{.pid = 40, .tid = 41, .name = "a) R 1 (b"});
  write(Task{.pid = 40, .tid = 42, .name = "\033[2J\xC3\xA4"});
  const WatchSample seen = sample({.pid = 40, .isolated_cpus = {}});
  ASSERT_EQ(seen.threads.size(), 2U);
  EXPECT_EQ(seen.threads[0].name, "a) R 1 (b");
  EXPECT_EQ(seen.threads[0].minor_faults, 111U);
  EXPECT_EQ(seen.threads[1].name, "?[2J??");
}

TEST_F(ThreadSampler, leaves_out_what_is_no_thread) {
  write("proc/40/task/41/stat", "41 (cut off");
  write("proc/40/task/42/stat", "42 (short) R 1 1\n");
  write("proc/40/task/43/stat", "");
  write("proc/40/task/x/stat", "44 (odd) R\n");
  EXPECT_TRUE(sample({.pid = 40, .isolated_cpus = {}}).threads.empty());
}

TEST_F(ThreadSampler, lists_other_tasks_only_on_isolated_cpus) {
  write(Task{.pid = 40, .tid = 41, .name = "nfx-poll-0", .cpu = 1});
  write(Task{.pid = 60, .tid = 60, .name = "bash", .cpu = 1});
  write(Task{.pid = 61, .tid = 61, .name = "bash", .cpu = 0});
  write(Task{.pid = 2, .tid = 2, .name = "ksoftirqd/1", .cpu = 1, .flags = 0x04200040});
  const WatchSample seen = sample({.pid = 40, .isolated_cpus = {1}});
  ASSERT_EQ(seen.others.size(), 2U);
  EXPECT_EQ(seen.others[0].name, "ksoftirqd/1");
  EXPECT_TRUE(seen.others[0].kernel);
  EXPECT_TRUE(seen.others[0].bound);
  EXPECT_EQ(seen.others[1].tid, 60);
  EXPECT_FALSE(seen.others[1].kernel);
  EXPECT_EQ(seen.others[1].run_ns, 5000000U);
  EXPECT_TRUE(sample({.pid = 40, .isolated_cpus = {}}).others.empty());
}

TEST_F(ThreadSampler, reads_throttling_of_a_group_and_those_above_it) {
  write(Task{.pid = 40, .tid = 41, .name = "nfx-poll-0"});
  write("proc/self/mounts",
        "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n");
  write("proc/40/cgroup", "3:cpu,cpuacct:/old\n2:cpuset:/elsewhere\n0::/pod/engine\n");
  write("sys/fs/cgroup/pod/engine/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 300\n");
  write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 900\n");
  write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  write("sys/fs/cgroup/cpu,cpuacct/old/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 5000\n");
  const WatchSample seen = sample({.pid = 40, .isolated_cpus = {}});
  ASSERT_EQ(seen.groups.size(), 3U);
  EXPECT_EQ(seen.groups[0].group, "/sys/fs/cgroup/cpu,cpuacct/old");
  EXPECT_EQ(seen.groups[0].throttled_us, 5U);
  EXPECT_EQ(seen.groups[1].group, "/sys/fs/cgroup/pod");
  EXPECT_EQ(seen.groups[1].throttled_periods, 4U);
  EXPECT_EQ(seen.groups[2].group, "/sys/fs/cgroup/pod/engine");
  EXPECT_EQ(seen.groups[2].throttled_us, 300U);
}

TEST_F(ThreadSampler, reads_clocks_and_cpus) {
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
  const WatchSample seen = sample({});
  EXPECT_EQ(seen.online.to_list(), "0-1");
  EXPECT_EQ(seen.clocksource, "tsc");
  ASSERT_EQ(seen.governors.size(), 2U);
  EXPECT_EQ(seen.governors.at("policy1"), "powersave");
  EXPECT_EQ(seen.counters.cpus.size(), 2U);
}

TEST_F(ThreadSampler, sees_this_process_on_this_host) {
  const WatchSample seen = sample_host(HostFiles{}, {.pid = getpid(), .isolated_cpus = {}}, {});
  if (seen.counters.cpus.empty()) GTEST_SKIP() << "/proc is not to be read here";
  ASSERT_FALSE(seen.threads.empty());
  EXPECT_EQ(seen.threads[0].pid, getpid());
  EXPECT_FALSE(seen.threads[0].allowed.empty());
  EXPECT_GE(seen.threads[0].cpu, 0);
}

TEST(ThreadStats, numbers_never_go_back) {
  const ThreadStats first = read_thread_stats();
  const ThreadStats second = read_thread_stats();
  ASSERT_TRUE(first.voluntary_switches && first.involuntary_switches && first.migrations && first.core);
  EXPECT_GE(*second.voluntary_switches, *first.voluntary_switches);
  EXPECT_GE(*second.involuntary_switches, *first.involuntary_switches);
  EXPECT_GE(*second.migrations, *first.migrations);
}

TEST(Scheduling, names_every_policy) {
  EXPECT_EQ(scheduling(0, 0), "SCHED_OTHER");
  EXPECT_EQ(scheduling(2, 1), "SCHED_RR 1");
  EXPECT_EQ(scheduling(6, 0), "SCHED_DEADLINE");
  EXPECT_EQ(scheduling(42, 0), "policy 42");
}

}  // namespace
}  // namespace nfx
