// Counters from open files: written ones, and this process's own.
#include "placement/counter_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "placement/cpu_counters.hpp"
#include "placement/thread_sampler.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

class CounterFilesTest : public testing::Test {
 protected:
  CounterFilesTest() { std::filesystem::create_directories(folder_.path() / "proc/1/task/2"); }

  // The same file, because the kernel's files stay the same too.
  void write(const std::string& file, const std::string& content) const {
    std::ofstream{folder_.path() / "proc" / file} << content;
  }

  test::TemporaryFolder folder_;
};

using KeptFileTest = CounterFilesTest;
using CpuCounterFilesTest = CounterFilesTest;
using ThreadCounterFilesTest = CounterFilesTest;

TEST_F(KeptFileTest, what_is_new_is_read) {
  KeptFile file{folder_.path() / "proc/stat"};
  EXPECT_EQ(file.read(), "");
  write("stat", "one");
  EXPECT_EQ(file.read(), "one");
  write("stat", "another");
  EXPECT_EQ(file.read(), "another");
}

TEST_F(KeptFileTest, a_long_file_is_read_whole) {
  for (const std::size_t size : {2047U, 2048U, 2049U, 4095U, 4096U, 4097U, 100'000U}) {
    std::string content(size, '\0');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>('a' + i % 23);
    write("stat", content);
    KeptFile file{folder_.path() / "proc/stat"};
    EXPECT_EQ(file.read(), content);
    EXPECT_EQ(file.read(), content);
  }
}

TEST_F(CpuCounterFilesTest, interrupts_of_all_kinds_belong_to_the_cpu_of_their_column) {
  write("stat",
        "cpu  300 3 30 3000 3 0 6 12 0 0\n"
        "cpu0 100 1 10 1000 1 2 3 4 5 6\n"
        "cpu2 200 2 20 2000 2 4 6 8 0 0\n"
        "intr 22608869 0 0 0\n");
  const std::string head = "           CPU0       CPU2       \n";
  write("interrupts", head +
                          " 24:          1         20  IO-APIC   5-edge      ACPI:Ged\n"
                          "LOC:        700        800   Local timer interrupts\n"
                          "ERR:          9\n");
  CpuCounterFiles files{HostFiles{folder_.path()}};
  const auto cpus = files.read();
  ASSERT_EQ(cpus.size(), 2U);
  EXPECT_EQ(cpus[0].cpu, 0);
  EXPECT_EQ(cpus[0].stolen_ticks, 4U);
  EXPECT_EQ(cpus[0].interrupts, 701U);
  EXPECT_EQ(cpus[1].cpu, 2);
  EXPECT_EQ(cpus[1].stolen_ticks, 8U);
  EXPECT_EQ(cpus[1].interrupts, 820U);
  write("interrupts", head + " 24:          2         21  IO-APIC   5-edge      ACPI:Ged\n");
  EXPECT_EQ(files.read()[1].interrupts, 21U);
}

TEST_F(CpuCounterFilesTest, without_the_table_there_are_no_interrupts_and_without_stat_no_cpus) {
  CpuCounterFiles files{HostFiles{folder_.path()}};
  EXPECT_TRUE(files.read().empty());
  write("stat", "cpu0 100 1 10 1000 1 2 3 4 5 6\n");
  ASSERT_EQ(files.read().size(), 1U);
  EXPECT_EQ(files.read()[0].interrupts, 0U);
}

TEST_F(CpuCounterFilesTest, a_live_host_has_what_its_whole_sample_has) {
  CpuCounterFiles files{HostFiles{}};
  const CounterSample before = sample_counters(HostFiles{});
  const auto cpus = files.read();
  const CounterSample after = sample_counters(HostFiles{});
  ASSERT_EQ(cpus.size(), before.cpus.size());
  const auto all = [](const CpuCounters& of) {
    return of.timer + of.rescheduling + of.function_calls + of.tlb_shootdowns + of.devices + of.other;
  };
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    EXPECT_EQ(cpus[i].cpu, before.cpus[i].cpu);
    EXPECT_GE(cpus[i].interrupts, all(before.cpus[i]));
    EXPECT_LE(cpus[i].interrupts, all(after.cpus[i]));
    EXPECT_GE(cpus[i].stolen_ticks, before.cpus[i].steal);
    EXPECT_LE(cpus[i].stolen_ticks, after.cpus[i].steal);
  }
}

TEST_F(ThreadCounterFilesTest, switches_come_from_status_where_the_kernel_has_no_sched) {
  write("1/task/2/stat",
        "2 (name) R 1 1 1 0 -1 4194304 77 0 88 0 1 1 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0\n");
  write("1/task/2/status", "Name:\tname\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t9\n");
  write("1/task/2/schedstat", "1000 2000 3\n");
  ThreadCounterFiles files{HostFiles{folder_.path()}, 1, 2};
  auto counters = files.read();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->cpu, 3);
  EXPECT_EQ(counters->minor_faults, 77U);
  EXPECT_EQ(counters->major_faults, 88U);
  EXPECT_EQ(counters->run_ns, 1000U);
  EXPECT_EQ(counters->wait_ns, 2000U);
  EXPECT_EQ(counters->involuntary_switches, 9U);
  EXPECT_EQ(counters->migrations, 0U);
  write("1/task/2/sched", "se.nr_migrations   :   6\nnr_involuntary_switches   :   10\n");
  counters = files.read();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->migrations, 6U);
  EXPECT_EQ(counters->involuntary_switches, 10U);
}

TEST_F(ThreadCounterFilesTest, a_live_thread_has_what_its_whole_sample_has_until_it_ends) {
  std::optional<ThreadCounterFiles> files;
  std::thread thread{[&] {
    files.emplace(HostFiles{}, ::getpid(), ::gettid());
    const auto before = sample_thread(HostFiles{}, ::getpid(), ::gettid());
    const auto counters = files->read();
    const auto after = sample_thread(HostFiles{}, ::getpid(), ::gettid());
    ASSERT_TRUE(before && counters && after);
    EXPECT_GE(counters->minor_faults, before->minor_faults);
    EXPECT_LE(counters->minor_faults, after->minor_faults);
    EXPECT_GE(counters->involuntary_switches, before->involuntary_switches);
    EXPECT_LE(counters->involuntary_switches, after->involuntary_switches);
    EXPECT_GE(counters->wait_ns, before->wait_ns.value_or(0));
    EXPECT_LE(counters->wait_ns, after->wait_ns.value_or(0));
  }};
  thread.join();
  EXPECT_FALSE(files->read());
}

}  // namespace
}  // namespace nfx
