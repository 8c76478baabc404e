// Facts of invented hosts.
#include "nexusfix/placement/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

class Facts : public ::testing::Test {
 protected:
  Facts() {
    put("/sys/devices/system/cpu/online", "0-7\n");
    put("/sys/devices/system/cpu/present", "0-7\n");
  }

  void put(const std::string& file, const std::string& text) const {
    const fs::path path = root_.path() / file.substr(1);
    fs::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  [[nodiscard]] HostFacts read() const { return read_host_facts(HostFiles{root_.path()}); }

  test::TemporaryFolder root_;
};

TEST_F(Facts, flags_of_isolcpus_are_told_from_its_cpus) {
  put("/proc/cmdline", "quiet isolcpus=domain,managed_irq,2-N\n");
  const HostFacts facts = read();
  EXPECT_EQ(facts.isolcpus.flags, (std::vector<std::string>{"domain", "managed_irq"}));
  EXPECT_EQ(facts.isolcpus.cpus.to_list(), "2-7");
}

TEST_F(Facts, isolcpus_without_flags_has_none) {
  put("/proc/cmdline", "isolcpus=2-3,5\n");
  EXPECT_TRUE(read().isolcpus.flags.empty());
  EXPECT_EQ(read().isolcpus.cpus.to_list(), "2-3,5");
}

TEST_F(Facts, quoted_values_keep_their_blanks_and_what_is_behind_two_dashes_is_for_init) {
  put("/proc/cmdline", "a=\"b c\" nohz_full=2 -- isolcpus=3\n");
  const HostFacts facts = read();
  EXPECT_EQ(facts.parameters.at("a"), "b c");
  EXPECT_FALSE(facts.parameters.contains("isolcpus"));
}

TEST_F(Facts, dashes_in_parameter_names_are_underscores) {
  put("/proc/cmdline", "rcu-nocbs=4-5\n");
  EXPECT_EQ(read().rcu_nocbs.to_list(), "4-5");
}

TEST_F(Facts, a_kernel_that_ignores_nohz_full_has_the_tick) {
  put("/proc/cmdline", "nohz_full=2-7\n");
  EXPECT_EQ(read().nohz_full.to_list(), "2-7");  // nothing contradicts it
  put("/sys/devices/system/cpu/isolated", "\n");
  EXPECT_TRUE(read().nohz_full.empty());  // a kernel without CONFIG_NO_HZ_FULL
  put("/sys/devices/system/cpu/nohz_full", "(null)\n");
  EXPECT_TRUE(read().nohz_full.empty());
  put("/sys/devices/system/cpu/nohz_full", "2-7\n");
  EXPECT_EQ(read().nohz_full.to_list(), "2-7");
  EXPECT_EQ(read().rcu_nocbs.to_list(), "2-7");
}

TEST_F(Facts, interrupts_know_their_handlers_and_devices) {
  put("/proc/irq/9/smp_affinity_list", "0-7\n");
  fs::create_directories(root_.path() / "proc/irq/9/acpi");
  put("/proc/irq/30/smp_affinity_list", "1\n");
  put("/proc/irq/30/effective_affinity_list", "1\n");
  put("/sys/kernel/irq/30/actions", "eth0-rx-0,eth0-tx-0\n");
  put("/sys/bus/pci/devices/0000:3b:00.0/msi_irqs/30", "msix\n");
  put("/proc/irq/default_smp_affinity", "ff\n");
  const HostFacts facts = read();
  ASSERT_EQ(facts.interrupts.size(), 2U);
  EXPECT_EQ(facts.interrupts[0].actions, std::vector<std::string>{"acpi"});
  EXPECT_FALSE(facts.interrupts[0].effective);
  EXPECT_EQ(facts.interrupts[1].actions, (std::vector<std::string>{"eth0-rx-0", "eth0-tx-0"}));
  EXPECT_EQ(facts.interrupts[1].device, "0000:3b:00.0");
}

TEST_F(Facts, the_fair_server_is_unknown_where_it_cannot_be_seen) {
  put("/proc/sys/kernel/osrelease", "6.11.0\n");
  EXPECT_EQ(read().fair_server, false);
  put("/proc/sys/kernel/osrelease", "6.12.0-rc1\n");
  EXPECT_EQ(read().fair_server, std::nullopt);
  put("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0\n");
  EXPECT_EQ(read().fair_server, false);
  put("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000\n");
  EXPECT_EQ(read().fair_server, true);
}

TEST_F(Facts, cpus_outside_the_housekeeping_group_are_shielded) {
  put("/proc/self/mounts", "cgroup /cg/cpuset cgroup rw,cpuset 0 0\n");
  put("/cg/cpuset/nexusfix_housekeeping/cpuset.cpus", "0-5\n");
  EXPECT_EQ(find_cpusets(HostFiles{root_.path()}).version, CpusetHierarchy::Version::v1);
  EXPECT_EQ(read().shielded.to_list(), "6-7");
  EXPECT_EQ(read().isolated_cpus().to_list(), "6-7");
}

TEST_F(Facts, an_empty_folder_is_a_host_that_says_nothing) {
  fs::remove_all(root_.path() / "sys");
  const HostFacts facts = read();
  EXPECT_TRUE(facts.online.empty());
  EXPECT_TRUE(facts.interrupts.empty());
  EXPECT_TRUE(facts.unreadable.empty());
}

}  // namespace
}  // namespace nfx
