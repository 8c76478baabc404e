// Counters per CPU, from written /proc files.
#include "placement/cpu_counters.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace nfx {
namespace {

// A folder that plays a host's /proc.
class CpuCountersTest : public testing::Test {
 protected:
  CpuCountersTest() { std::filesystem::create_directories(folder_.path() / "proc"); }

  void write(const std::string& file, const std::string& content) const {
    std::ofstream{folder_.path() / "proc" / file} << content;
  }
  [[nodiscard]] CounterSample sample() const { return sample_counters(HostFiles{folder_.path()}); }

  test::TemporaryFolder folder_;
};

constexpr const char* interrupts =
    "           CPU0       CPU2       \n"
    " 24:          1         20  IO-APIC   5-edge      ACPI:Ged\n"
    " 36:          3      40000 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
    "NMI:          5          6   Non-maskable interrupts\n"
    "LOC:        700        800   Local timer interrupts\n"
    "RES:         11         12   Rescheduling interrupts\n"
    "CAL:         13         14   Function call interrupts\n"
    "TLB:         15         16   TLB shootdowns\n"
    "ERR:          9\n"
    "MIS:          0\n";
constexpr const char* softirqs =
    "                    CPU0       CPU1       CPU2       \n"
    "          HI:          0          0          0\n"
    "       TIMER:         31         32         33\n"
    "      NET_RX:         41         42         43\n";
constexpr const char* stat =
    "cpu  300 3 30 3000 3 0 6 12 0 0\n"
    "cpu0 100 1 10 1000 1 2 3 4 5 6\n"
    "cpu2 200 2 20 2000 2 4 6 8 0 0\n"
    "intr 22608869 0 0 0\n"
    "ctxt 123456\n"
    "btime 1\n";

TEST_F(CpuCountersTest, counts_belong_to_the_cpu_of_their_column_even_where_a_cpu_is_offline) {
  write("interrupts", interrupts);
  write("softirqs", softirqs);
  write("stat", stat);
  const CounterSample sample = this->sample();
  ASSERT_EQ(sample.cpus.size(), 2U);
  const CpuCounters& second = sample.cpus[1];
  EXPECT_EQ(second.cpu, 2);
  EXPECT_EQ(second.timer, 800U);
  EXPECT_EQ(second.rescheduling, 12U);
  EXPECT_EQ(second.function_calls, 14U);
  EXPECT_EQ(second.tlb_shootdowns, 16U);
  EXPECT_EQ(second.devices, 40020U);
  EXPECT_EQ(second.other, 6U);
  EXPECT_EQ(second.softirqs.at("NET_RX"), 43U);
  EXPECT_EQ(second.user, 202U);
  EXPECT_EQ(second.idle, 2002U);
  EXPECT_EQ(second.interrupt, 4U);
  EXPECT_EQ(second.softirq, 6U);
  EXPECT_EQ(second.steal, 8U);
  EXPECT_EQ(sample.context_switches, 123456U);
}

TEST_F(CpuCountersTest, interrupts_keep_what_stands_behind_their_counts) {
  write("interrupts", interrupts);
  const CounterSample sample = this->sample();
  ASSERT_EQ(sample.interrupts.size(), 2U);
  EXPECT_EQ(sample.interrupts[1].number, 36);
  EXPECT_EQ(sample.interrupts[1].name, "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0");
  EXPECT_EQ(sample.interrupts[1].per_cpu, (std::vector<std::uint64_t>{3, 40000}));
}

TEST_F(CpuCountersTest, arm_names_of_interrupts_between_processors_are_understood) {
  write("interrupts",
        "           CPU0       CPU1\n"
        " 11:         50         60     GICv3  30 Level     arch_timer\n"
        "IPI0:         1          2       Rescheduling interrupts\n"
        "IPI1:         3          4       Function call interrupts\n"
        "IPI2:         5          6       CPU stop interrupts\n"
        "Err:          0\n");
  const CounterSample sample = this->sample();
  ASSERT_EQ(sample.cpus.size(), 2U);
  EXPECT_EQ(sample.cpus[1].rescheduling, 2U);
  EXPECT_EQ(sample.cpus[1].function_calls, 4U);
  EXPECT_EQ(sample.cpus[1].other, 6U);
  EXPECT_EQ(sample.cpus[1].devices, 60U);
}

TEST_F(CpuCountersTest, a_host_that_shows_nothing_has_no_counters) {
  const CounterSample sample = this->sample();
  EXPECT_TRUE(sample.cpus.empty());
  EXPECT_TRUE(sample.interrupts.empty());
}

TEST_F(CpuCountersTest, broken_files_are_no_counters_and_no_crash) {
  write("interrupts", "CPU0 CPU99999999999 CPUx\n: 1\n 7\nLOC:\nLOC: x y\n36: 18446744073709551616 1\n");
  write("softirqs", "\n\n\x01\x02:\n");
  write("stat", "cpu-1 1\ncpu0\ncpu1 1 2 three\nctxt many\n");
  EXPECT_LE(this->sample().cpus.size(), 3U);
}

TEST_F(CpuCountersTest, a_difference_leaves_out_cpus_that_came_and_counts_nothing_for_what_went_back) {
  CounterSample before, after;
  before.cpus = {CpuCounters{.cpu = 0, .timer = 5, .devices = 100, .softirqs = {{"TIMER", 1}}}};
  before.interrupts = {{36, "disk", {100}}, {40, "old device", {1000}}};
  after.cpus = {CpuCounters{.cpu = 0, .timer = 8, .devices = 90, .softirqs = {{"TIMER", 4}, {"RCU", 2}}},
                CpuCounters{.cpu = 1, .timer = 1, .softirqs = {}}};
  after.interrupts = {{36, "disk", {107, 3}}, {40, "other device", {7, 1}}};
  after.context_switches = 9;
  const CounterSample change = difference(before, after);
  ASSERT_EQ(change.cpus.size(), 1U);
  EXPECT_EQ(change.cpus[0].timer, 3U);
  EXPECT_EQ(change.cpus[0].devices, 0U);
  EXPECT_EQ(change.cpus[0].softirqs.at("TIMER"), 3U);
  EXPECT_EQ(change.cpus[0].softirqs.at("RCU"), 2U);
  ASSERT_EQ(change.interrupts.size(), 2U);
  EXPECT_EQ(change.interrupts[0].per_cpu, (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(change.interrupts[1].per_cpu, (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(change.context_switches, 9U);
}

}  // namespace
}  // namespace nfx
