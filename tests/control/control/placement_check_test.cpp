// Reports about threads that do not run where the plan places them.
#include "control/placement_check.hpp"

#include <gtest/gtest.h>

namespace nfx::control {
namespace {

ThreadPlacement planned(std::string name, ThreadRole role, const CpuSet& cpus, ThreadWait wait = ThreadWait::block) {
  ThreadPlacement thread;
  thread.name = std::move(name);
  thread.role = role;
  thread.wait = wait;
  thread.cpus = cpus;
  return thread;
}

// A poll thread on CPU 3 and a flusher on the housekeeping CPUs.
struct Process {
  Process() {
    plan.threads = {planned("nfx-poll-0", ThreadRole::poll, CpuSet{3}, ThreadWait::spin),
                    planned("nfx-flush-0", ThreadRole::flusher, CpuSet{0, 1})};
    plan.housekeeping = CpuSet{0, 1};
    for (const ThreadPlacement& each : plan.threads) add(each.name, each.cpus);
  }
  void add(const std::string& name, const CpuSet& cpus) {
    ThreadReport& report = reports.emplace_back();
    report.name = name;
    report.planned = report.cpus = cpus;
    run(name, cpus);
  }
  void run(const std::string& name, const CpuSet& cpus) {
    RunningThread& thread = running.emplace_back();
    thread.sample.name = name;
    thread.sample.tid = 4711;
    thread.sample.allowed = cpus;
  }
  [[nodiscard]] std::vector<std::string> problems() const { return placement_problems(plan, reports, running); }

  PlacementPlan plan;
  std::vector<ThreadReport> reports;
  std::vector<RunningThread> running;
};

TEST(PlacementCheck, finds_nothing_where_all_threads_run_as_planned) {
  Process process;
  process.add("nfx-control", CpuSet{0, 1});
  process.run("worker", CpuSet{0, 1, 2});
  EXPECT_TRUE(process.problems().empty());
}

TEST(PlacementCheck, names_a_thread_with_another_mask) {
  Process process;
  process.reports[0].cpus = CpuSet{2, 3};
  EXPECT_EQ(process.problems(), (std::vector<std::string>{"nfx-poll-0 may run on CPU 2-3, and is planned for CPU 3"}));
}

TEST(PlacementCheck, names_a_thread_that_is_missing) {
  Process process;
  process.plan.threads.push_back(planned("nfx-poll-1", ThreadRole::poll, CpuSet{2}));
  process.plan.threads.push_back(planned("nfx-feed-0", ThreadRole::feed, CpuSet{4}));
  EXPECT_EQ(process.problems(),
            (std::vector<std::string>{"nfx-poll-1 is in the plan, and no such thread runs",
                                      "nfx-feed-0 is in the plan, and no such thread of the program has entered"}));
}

TEST(PlacementCheck, names_another_priority) {
  Process process;
  process.plan.threads[0].priority = 10;
  EXPECT_EQ(process.problems(),
            (std::vector<std::string>{"nfx-poll-0 has real-time priority 0, and is planned with 10"}));
}

TEST(PlacementCheck, names_a_thread_that_may_disturb_one_that_busy_polls) {
  Process process;
  process.run("worker", CpuSet{0, 1, 2, 3});
  EXPECT_EQ(process.problems(),
            (std::vector<std::string>{"worker (thread 4711) is not in the plan, and may run on CPU 3 of nfx-poll-0"}));
}

}  // namespace
}  // namespace nfx::control
