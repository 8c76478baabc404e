// The boot files: their content, and the scripts, run on folders instead of a host.
#include "host/boot_artefacts.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "host/apply/known_paths.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

constexpr const char* grub = "/etc/default/grub.d/50-nexusfix.cfg";
constexpr const char* entry = "/etc/nexusfix/boot-entry.conf";
constexpr const char* steer = "/usr/local/lib/nexusfix/steer-interrupts";
constexpr const char* tune = "/usr/local/lib/nexusfix/tune-nics";
constexpr const char* entries = "/usr/local/lib/nexusfix/boot-entries";

Interrupt interrupt(int number, const char* device, const char* action) {
  return {.number = number, .actions = {action}, .device = device};
}

Device nic(const char* name, const char* address, int node) {
  return {.kind = DeviceKind::network, .name = name, .pci_address = address, .numa_node = node};
}

// Two nodes of two cores with two hardware threads; one busy-polling thread on each node's second core.
struct Machine {
  Topology topology;
  HostFacts facts;
  PlacementPlan plan;

  Machine() {
    topology.online = topology.allowed = facts.online = CpuSet::range(0, 7);
    for (int cpu = 0; cpu < 8; cpu += 2)
      topology.cores.push_back(
          {.cpus = {cpu, cpu + 1}, .package = cpu / 4, .numa_node = cpu / 4, .cache = -1, .kind = -1});
    topology.nodes = {{.number = 0, .cpus = CpuSet::range(0, 3), .memory_bytes = 0},
                      {.number = 1, .cpus = CpuSet::range(4, 7), .memory_bytes = 0}};
    topology.devices = {nic("eth0", "0000:01:00.0", 0), nic("eth1", "0000:81:00.0", 1)};
    topology.devices.push_back(nic("nvme0n1", "0000:82:00.0", 1));
    topology.devices.back().kind = DeviceKind::storage;
    facts.interrupts = {interrupt(40, "0000:01:00.0", "eth0-rx-0"), interrupt(41, "0000:01:00.0", "eth0-rx-1"),
                        interrupt(42, "0000:01:00.0", "eth0-rx-2"), interrupt(50, "0000:82:00.0", "nvme0q1")};
    plan.isolated_cpus = {2, 3, 6, 7};
    plan.housekeeping = {0, 1, 4, 5};
    plan.hash = "0123456789abcdef";
    add_thread("nfx-poll-0", {2}, ThreadWait::spin);
    add_thread("nfx-poll-1", {6}, ThreadWait::spin);
    add_thread("nfx-log", plan.housekeeping, ThreadWait::block);
  }

  void add_thread(const char* name, const CpuSet& cpus, ThreadWait wait) {
    ThreadPlacement thread{.name = name, .wait = wait, .cpus = cpus};
    plan.threads.push_back(thread);
  }

  [[nodiscard]] std::map<std::string, BootArtefact> artefacts() const {
    std::map<std::string, BootArtefact> by_path;
    for (BootArtefact& each : boot_artefacts(plan, topology, facts)) {
      const std::string path = each.path;
      EXPECT_TRUE(by_path.emplace(path, std::move(each)).second) << path << " comes twice";
    }
    return by_path;
  }

  [[nodiscard]] std::string content(const char* path) const {
    const auto all = artefacts();
    const auto found = all.find(path);
    return found == all.end() ? std::string{} : found->second.content;
  }
};

// A folder that represents the root of a host, removed with the test.
class Host {
 public:
  void write(const std::string& path, const std::string& content, bool executable = false) const {
    const fs::path file = root() + path;
    fs::create_directories(file.parent_path());
    std::ofstream{file} << content;
    if (executable) fs::permissions(file, fs::perms{0755});
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream{root() + path}.rdbuf();
    return text.str();
  }
  void add_interrupt(int number, const std::string& device, const std::string& action, const std::string& cpus) const {
    const std::string name = std::to_string(number);
    write("/proc/irq/" + name + "/smp_affinity_list", cpus + '\n');
    write("/sys/kernel/irq/" + name + "/actions", action + '\n');
    if (!device.empty()) write("/sys/bus/pci/devices/" + device + "/msi_irqs/" + name, "msix\n");
  }
  void write_all(const Machine& machine) const {
    for (const auto& [path, each] : machine.artefacts()) write(path, each.content, (each.mode & 0100) != 0);
  }

  struct Result {
    int exit = -1;
    std::string output;
  };
  // In the folder itself, with its bin/ first in the path.
  [[nodiscard]] Result run(const std::string& command) const {
    const std::string line = "cd '" + root() + "' && export NEXUSFIX_ROOT='" + root() + "' PATH='" + root() +
                             "/bin:'\"$PATH\" && { " + command + "\n} 2>&1";
    Result result;
    FILE* pipe = popen(line.c_str(), "r");
    char buffer[4096];
    for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, got);
    const int status = pclose(pipe);
    result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
  }

  test::TemporaryFolder folder;

 private:
  [[nodiscard]] std::string root() const { return folder.path().string(); }
};

bool have(const char* program) {
  return std::system((std::string{"command -v "} + program + " >/dev/null 2>&1").c_str()) == 0;
}

// Every value after `pattern` in the text, without the comments.
std::vector<std::string> values(const std::string& text, const std::string& pattern) {
  std::istringstream lines{text};
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::regex expression{pattern};
    for (std::sregex_iterator at{line.begin(), line.end(), expression}, end; at != end; ++at) found.push_back((*at)[1]);
  }
  return found;
}

TEST(BootArtefacts, each_is_a_path_that_revert_takes_away_again) {
  const Machine machine;
  const std::vector<BootArtefact> artefacts = boot_artefacts(machine.plan, machine.topology, machine.facts);
  EXPECT_GT(artefacts.size(), 8U);
  for (const BootArtefact& artefact : artefacts) EXPECT_TRUE(host::is_installed_path(artefact.path)) << artefact.path;
}

TEST(BootArtefacts, a_plan_without_isolated_cpus_asks_for_nothing) {
  Machine machine;
  machine.plan.isolated_cpus = {};
  EXPECT_EQ(boot_parameters(machine.plan, machine.topology, machine.facts), "");
  EXPECT_TRUE(machine.artefacts().empty());
}

TEST(BootArtefacts, a_plan_without_housekeeping_cpus_is_not_written) {
  Machine machine;
  machine.plan.housekeeping = {};
  EXPECT_EQ(boot_parameters(machine.plan, machine.topology, machine.facts), "");
  EXPECT_TRUE(machine.artefacts().empty());
}

TEST(BootArtefacts, a_refused_plan_is_not_written) {
  Machine machine;
  machine.plan.findings.push_back({Severity::refusal, "oversubscribed-spinners", "", "", ""});
  EXPECT_TRUE(machine.artefacts().empty());
}

TEST(BootParameters, name_the_isolated_cpus_and_the_plan) {
  const Machine machine;
  EXPECT_EQ(boot_parameters(machine.plan, machine.topology, machine.facts),
            "isolcpus=managed_irq,domain,2-3,6-7 nohz_full=2-3,6-7 rcu_nocbs=2-3,6-7 irqaffinity=0-1,4-5 skew_tick=1 "
            "nexusfix.plan=0123456789abcdef");
}

TEST(BootParameters, leave_managed_irq_out_for_kernels_that_would_drop_isolcpus_for_it) {
  Machine machine;
  machine.facts.kernel = {5, 5};
  EXPECT_TRUE(boot_parameters(machine.plan, machine.topology, machine.facts).starts_with("isolcpus=domain,2-3,6-7 "));
  machine.facts.kernel = {5, 6};
  EXPECT_TRUE(boot_parameters(machine.plan, machine.topology, machine.facts).starts_with("isolcpus=managed_irq,"));
}

TEST(BootParameters, are_read_back_by_the_host_facts_as_the_plan_has_them) {
  const Machine machine;
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : split_command_line(boot_parameters(machine.plan, machine.topology, machine.facts)))
    parameters[name] = value;
  const std::string isolcpus = parameters["isolcpus"];
  EXPECT_EQ(parse_boot_cpus(isolcpus.substr(isolcpus.find_first_of("0123456789")), machine.facts.online),
            machine.plan.isolated_cpus);
  EXPECT_EQ(parse_boot_cpus(parameters["nohz_full"], machine.facts.online), machine.plan.isolated_cpus);
  EXPECT_EQ(parse_boot_cpus(parameters["rcu_nocbs"], machine.facts.online), machine.plan.isolated_cpus);
  EXPECT_EQ(parse_boot_cpus(parameters["irqaffinity"], machine.facts.online), machine.plan.housekeeping);
  EXPECT_EQ(parameters[std::string{plan_parameter}], machine.plan.hash);
}

TEST(BootParameters, do_not_touch_mitigations) {
  const Machine machine;
  EXPECT_FALSE(boot_parameters(machine.plan, machine.topology, machine.facts).contains("mitigations"));
}

// The CPUs that each file names: isolated, housekeeping, or both with the engine's own.
struct Said {
  std::set<std::string> patterns;
  CpuSet cpus;
};

TEST(BootArtefacts, all_name_the_cpus_of_the_plan) {
  const Machine machine;
  const CpuSet isolated_cpus = machine.plan.isolated_cpus, house = machine.plan.housekeeping,
               engine = house | CpuSet{2, 6};
  const std::string units = "/etc/systemd/system/";
  const std::string allowed = "AllowedCPUs=([0-9].*)", affinity = "CPUAffinity=([0-9].*)";
  const std::map<std::string, std::vector<Said>> expected{
      {grub,
       {{{"domain,([0-9,-]+)", "nohz_full=([0-9,-]+)", "rcu_nocbs=([0-9,-]+)"}, isolated_cpus},
        {{"irqaffinity=([0-9,-]+)"}, house}}},
      {entry,
       {{{"domain,([0-9,-]+)", "nohz_full=([0-9,-]+)", "rcu_nocbs=([0-9,-]+)"}, isolated_cpus},
        {{"irqaffinity=([0-9,-]+)"}, house}}},
      {entries, {}},
      {"/etc/systemd/system.conf.d/50-nexusfix.conf", {{{affinity}, house}}},
      {units + "nexusfix.slice", {{{allowed}, engine}}},
      {units + "nexusfix.service.d/50-nexusfix.conf", {{{affinity}, engine}}},
      {units + "system.slice.d/50-nexusfix.conf", {{{allowed}, house}}},
      {units + "user.slice.d/50-nexusfix.conf", {{{allowed}, house}}},
      {units + "machine.slice.d/50-nexusfix.conf", {{{allowed}, house}}},
      {units + "init.scope.d/50-nexusfix.conf", {{{allowed}, house}}},
      {"/etc/sysctl.d/50-nexusfix.conf", {{{"watchdog_cpumask = (.*)"}, house}}},
      {"/etc/tuned/profiles/nexusfix/tuned.conf", {{{"isolated_cores=(.*)"}, isolated_cpus}}},
      {"/etc/tuned/nexusfix/tuned.conf", {{{"isolated_cores=(.*)"}, isolated_cpus}}},
      {"/etc/nexusfix/irqbalance.env", {{{"CPULIST=(.*)"}, isolated_cpus}}},
      {units + "irqbalance.service.d/50-nexusfix.conf", {}},
      {"/etc/nexusfix/kubelet.yaml", {{{"reservedSystemCPUs: \"(.*)\""}, house}}},
      {steer, {{{"^housekeeping='(.*)'"}, house}}},
      {units + "nexusfix-interrupts.service", {}},
      {"/etc/udev/rules.d/50-nexusfix.rules", {}},
      {tune, {}}};
  for (const auto& [path, each] : machine.artefacts()) {
    ASSERT_TRUE(expected.contains(path)) << path << " is not checked";
    EXPECT_TRUE(
        each.content.contains("# Plan " + machine.plan.hash + ": isolated CPUs 2-3,6-7, housekeeping CPUs 0-1,4-5"))
        << path;
    EXPECT_FALSE(each.purpose.empty()) << path;
    EXPECT_EQ(each.mode, each.content.starts_with("#!") ? 0755U : 0644U) << path;
    for (const Said& said : expected.at(path)) {
      for (const std::string& pattern : said.patterns) {
        const auto found = values(each.content, pattern);
        ASSERT_EQ(found.size(), 1U) << path << ": " << pattern;
        EXPECT_EQ(CpuSet::parse_list(found.front()), said.cpus) << path << ": " << found.front();
      }
    }
  }
  EXPECT_EQ(machine.artefacts().size(), expected.size());
}

TEST(BootArtefacts, masks_and_ranges_in_scripts_are_the_lists_of_the_plan) {
  const Machine machine;
  const auto mask = [&](const char* path, const char* pattern) {
    const auto found = values(machine.content(path), pattern);
    return found.size() == 1 ? CpuSet::parse_mask(found.front()).value_or(CpuSet{}) : CpuSet{};
  };
  EXPECT_EQ(mask("/etc/nexusfix/irqbalance.env", "BANNED_CPUS=(.*)"), machine.plan.isolated_cpus);
  EXPECT_EQ(mask(steer, "^housekeeping_mask='(.*)'"), machine.plan.housekeeping);
  EXPECT_EQ(mask("/etc/udev/rules.d/50-nexusfix.rules", "rps_cpus\\}=\"(.*)\""), machine.plan.housekeeping);
  const auto ranges = values(machine.content(steer), "^isolated='(.*)'");
  ASSERT_EQ(ranges.size(), 1U);
  std::string list = ranges.front();
  std::ranges::replace(list, ' ', ',');
  EXPECT_EQ(CpuSet::parse_list(list), machine.plan.isolated_cpus);
}

TEST(BootArtefacts, real_time_settings_come_with_real_time_threads_only) {
  Machine machine;
  const char* const service = "/etc/systemd/system/nexusfix.service.d/50-nexusfix.conf";
  EXPECT_FALSE(machine.content("/etc/sysctl.d/50-nexusfix.conf").contains("sched_rt_runtime_us"));
  EXPECT_FALSE(machine.content(service).contains("LimitRTPRIO"));
  machine.plan.threads.front().priority = 50;
  EXPECT_TRUE(machine.content("/etc/sysctl.d/50-nexusfix.conf").contains("-kernel.sched_rt_runtime_us = -1\n"));
  EXPECT_TRUE(machine.content(service).contains("LimitRTPRIO=50\n"));
}

TEST(BootArtefacts, a_hash_that_is_no_plain_word_does_not_reach_the_command_line) {
  Machine machine;
  machine.plan.hash = "ab\" $(id) init=/x";
  EXPECT_TRUE(boot_parameters(machine.plan, machine.topology, machine.facts).ends_with("nexusfix.plan=abidinitx"));
}

class GrubDropIn : public ::testing::Test {
 protected:
  [[nodiscard]] std::string sourced(const std::string& before, const std::string& print) const {
    host.write("/drop-in.cfg", Machine{}.content(grub));
    const auto result =
        host.run("sh -euc '" + before + " . ./drop-in.cfg; . ./drop-in.cfg; printf %s \"" + print + "\"'");
    EXPECT_EQ(result.exit, 0) << result.output;
    return result.output;
  }
  Host host;
  Machine machine;
  std::string parameters = boot_parameters(machine.plan, machine.topology, machine.facts);
};

TEST_F(GrubDropIn, read_twice_adds_the_parameters_once) {
  EXPECT_EQ(sourced("", "$GRUB_CMDLINE_LINUX"), parameters);
  EXPECT_EQ(sourced("GRUB_CMDLINE_LINUX=nosplash", "$GRUB_CMDLINE_LINUX"), "nosplash " + parameters);
}

TEST_F(GrubDropIn, takes_former_parameters_out_of_both_variables) {
  EXPECT_EQ(sourced("GRUB_CMDLINE_LINUX=\"isolcpus=1 root=/dev/x nexusfix.plan=0\"; "
                    "GRUB_CMDLINE_LINUX_DEFAULT=\"splash nohz_full=1-3 x=y\";",
                    "$GRUB_CMDLINE_LINUX|$GRUB_CMDLINE_LINUX_DEFAULT"),
            "root=/dev/x " + parameters + "|splash x=y");
}

TEST_F(GrubDropIn, leaves_a_star_and_quotes_as_they_are) {
  EXPECT_EQ(sourced("GRUB_CMDLINE_LINUX=\"* dyndbg=\\\"file x +p\\\"\"", "$GRUB_CMDLINE_LINUX"),
            "* dyndbg=\"file x +p\" " + parameters);
}

TEST(BootScripts, are_posix_shell_without_complaints) {
  const Host host;
  host.write_all(Machine{});
  for (const char* script : {grub, steer, tune, entries}) {
    const auto parsed = host.run(std::string{"sh -n ."} + script);
    EXPECT_EQ(parsed.exit, 0) << parsed.output;
    if (!have("shellcheck")) continue;
    const auto checked = host.run(std::string{"shellcheck --norc -s sh ."} + script);
    EXPECT_EQ(checked.exit, 0) << checked.output;
  }
}

TEST(BootScripts, do_not_run_what_device_names_say) {
  Machine machine;
  const std::string evil = "x' $(touch hit) `touch hit`; touch hit #\" ";
  machine.topology.devices.push_back(nic(evil.c_str(), "", -1));
  machine.topology.devices.push_back(nic((evil + '\n' + "touch hit").c_str(), "", -1));
  machine.topology.devices.push_back(nic("eth9", evil.c_str(), 0));
  machine.facts.interrupts.push_back(interrupt(60, "0000:01:00.0", evil.c_str()));
  machine.facts.interrupts.push_back(interrupt(61, "0000:01:00.0", (evil + '\n' + "touch hit").c_str()));
  const Host host;
  host.write_all(machine);
  host.write("/bin/ethtool", "#!/bin/sh\nexit 0\n", true);
  host.write("/proc/irq/default_smp_affinity", "ff\n");
  host.add_interrupt(60, "0000:01:00.0", evil, "0-7");
  for (const char* script : {steer, tune, entries, grub}) {
    const auto result = host.run(std::string{"sh ."} + script);
    EXPECT_FALSE(result.output.contains("yntax")) << script << ": " << result.output;
  }
  EXPECT_FALSE(fs::exists(host.folder.file("hit")));
  // It is found by its name, after the three queues before it.
  EXPECT_EQ(host.read("/proc/irq/60/smp_affinity_list"), "1\n");
}

class SteerInterrupts : public ::testing::Test {
 protected:
  SteerInterrupts() {
    host.write_all(Machine{});
    host.write("/proc/irq/default_smp_affinity", "ff\n");
    // Other numbers than at the time of the plan.
    host.add_interrupt(140, "0000:01:00.0", "eth0-rx-0", "0-7");
    host.add_interrupt(141, "0000:01:00.0", "eth0-rx-1", "2");
    host.add_interrupt(142, "0000:01:00.0", "eth0-rx-2", "0-7");
    host.add_interrupt(150, "0000:82:00.0", "nvme0q1", "6");
    host.add_interrupt(9, "", "acpi", "0,3");
    host.add_interrupt(10, "", "rtc0", "1");
  }
  [[nodiscard]] std::string cpus(int number) const {
    return host.read("/proc/irq/" + std::to_string(number) + "/smp_affinity_list");
  }
  Host host;
};

TEST_F(SteerInterrupts, finds_them_by_device_and_handler) {
  const auto result = host.run(std::string{"."} + steer);
  EXPECT_EQ(result.exit, 0) << result.output;
  EXPECT_EQ(cpus(140), "0\n");
  EXPECT_EQ(cpus(141), "1\n");
  EXPECT_EQ(cpus(142), "0\n");
  EXPECT_EQ(cpus(150), "4-5\n");
  EXPECT_TRUE(result.output.contains("irq 141 (0000:01:00.0 eth0-rx-1): 2 -> 1")) << result.output;
}

TEST_F(SteerInterrupts, moves_others_only_when_they_may_reach_a_isolated_cpu) {
  EXPECT_EQ(host.run(std::string{"."} + steer).exit, 0);
  EXPECT_EQ(cpus(9), "0-1,4-5\n");
  EXPECT_EQ(cpus(10), "1\n");
  EXPECT_EQ(CpuSet::parse_mask(host.read("/proc/irq/default_smp_affinity")), (CpuSet{0, 1, 4, 5}));
}

TEST_F(SteerInterrupts, has_nothing_to_do_the_second_time) {
  EXPECT_EQ(host.run(std::string{"."} + steer).exit, 0);
  const auto again = host.run(std::string{"."} + steer);
  EXPECT_EQ(again.exit, 0);
  EXPECT_EQ(again.output, "0 moved, 6 away from the isolated CPUs before, 0 refused\n");
}

TEST_F(SteerInterrupts, writes_nothing_in_a_dry_run) {
  const auto result = host.run(std::string{"."} + steer + " --dry-run");
  EXPECT_EQ(result.exit, 0);
  EXPECT_TRUE(result.output.contains("5 moved")) << result.output;
  EXPECT_EQ(cpus(141), "2\n");
  EXPECT_EQ(host.read("/proc/irq/default_smp_affinity"), "ff\n");
}

TEST_F(SteerInterrupts, says_with_its_exit_code_that_it_was_called_wrongly_or_may_not) {
  EXPECT_EQ(host.run(std::string{"."} + steer + " eth0").exit, 2);
  fs::remove(host.folder.file("proc/irq/default_smp_affinity"));
  EXPECT_EQ(host.run(std::string{"."} + steer).exit, 3);
}

class TuneNics : public ::testing::Test {
 protected:
  TuneNics() {
    host.write_all(Machine{});
    // The interface has another name than at the time of the plan.
    host.write("/sys/bus/pci/devices/0000:01:00.0/net/enp1s0/mtu", "1500\n");
    host.write("/sys/class/net/enp1s0/mtu", "1500\n");
  }
  // Maximum and current number of queues.
  [[nodiscard]] std::string calls(int maximum, int present) const {
    host.write(
        "/bin/ethtool",
        "#!/bin/sh\necho \"$*\" >>\"$NEXUSFIX_ROOT/calls\"\n[ \"$1\" != -l ] || printf 'Combined:\\t%s\\nRX:\\tn/a\\n"
        "Combined:\\t%s\\n' " +
            std::to_string(maximum) + ' ' + std::to_string(present) + "\nexit 0\n",
        true);
    fs::remove(host.folder.file("calls"));
    const auto result = host.run(std::string{"."} + tune);
    EXPECT_EQ(result.exit, 0) << result.output;
    return host.read("/calls");
  }
  Host host;
};

TEST_F(TuneNics, finds_interfaces_by_address_and_turns_coalescing_off) {
  const std::string seen = calls(8, 8);
  EXPECT_TRUE(seen.contains("-C enp1s0 adaptive-rx off\n")) << seen;
  EXPECT_TRUE(seen.contains("-C enp1s0 rx-usecs 0\n")) << seen;
}

TEST_F(TuneNics, makes_as_many_queues_as_there_are_housekeeping_cpus_on_the_node) {
  EXPECT_TRUE(calls(8, 8).contains("-L enp1s0 combined 2\n"));
  EXPECT_TRUE(calls(1, 4).contains("-L enp1s0 combined 1\n"));
}

TEST_F(TuneNics, does_not_take_the_link_down_for_the_same_number) { EXPECT_FALSE(calls(8, 2).contains("-L")); }

TEST(BootArtefacts, interfaces_far_from_every_spinning_thread_are_left_alone) {
  Machine machine;
  machine.plan.threads.erase(machine.plan.threads.begin() + 1);
  EXPECT_TRUE(machine.content(tune).contains("'0000:01:00.0'"));
  EXPECT_FALSE(machine.content(tune).contains("'0000:81:00.0'"));
  machine.topology.devices.clear();
  EXPECT_FALSE(machine.artefacts().contains(tune));
  EXPECT_FALSE(machine.content("/etc/systemd/system/nexusfix-interrupts.service").contains("tune-nics"));
}

class BootEntries : public ::testing::Test {
 protected:
  BootEntries() { host.write_all(machine); }
  [[nodiscard]] Host::Result run(const std::string& argument) const {
    return host.run(std::string{"."} + entries + ' ' + argument);
  }
  Machine machine;
  std::string parameters = boot_parameters(machine.plan, machine.topology, machine.facts);
  Host host;
};

TEST_F(BootEntries, add_and_remove_leave_the_kernels_command_line_as_it_was) {
  host.write("/etc/kernel/cmdline", "root=UUID=1 quiet\n");
  EXPECT_EQ(run("add").exit, 0);
  EXPECT_EQ(run("add").exit, 0);
  EXPECT_EQ(host.read("/etc/kernel/cmdline"), "root=UUID=1 quiet " + parameters + '\n');
  EXPECT_EQ(run("remove").exit, 0);
  EXPECT_EQ(host.read("/etc/kernel/cmdline"), "root=UUID=1 quiet\n");
}

TEST_F(BootEntries, goes_through_grubby_where_it_is) {
  host.write("/bin/grubby", "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$NEXUSFIX_ROOT/calls\"\n", true);
  EXPECT_EQ(run("add").exit, 0);
  EXPECT_EQ(host.read("/calls"),
            "--update-kernel=ALL\n--remove-args=isolcpus nohz_full rcu_nocbs irqaffinity skew_tick nexusfix.plan\n"
            "--update-kernel=ALL\n--args=" +
                parameters + '\n');
}

TEST_F(BootEntries, says_when_the_host_has_neither) {
  EXPECT_EQ(run("add").exit, 1);
  EXPECT_EQ(run("").exit, 2);
}

TEST(BootArtefacts, systemd_understands_the_units) {
  if (!have("systemd-analyze")) GTEST_SKIP() << "there is no systemd-analyze";
  const Host host;
  host.write_all(Machine{});
  // Commands of units are searched outside of the folder.
  const std::string service = host.read("/etc/systemd/system/nexusfix-interrupts.service");
  host.write("/units/nexusfix-interrupts.service",
             std::regex_replace(service, std::regex{"/usr/local/lib/nexusfix/[a-z-]+"}, "/bin/true"));
  host.write("/units/nexusfix.slice", host.read("/etc/systemd/system/nexusfix.slice"));
  const auto result = host.run(
      "SYSTEMD_UNIT_PATH=\"$PWD/units:\" systemd-analyze verify --man=no units/nexusfix-interrupts.service "
      "units/nexusfix.slice");
  for (const char* complaint : {"Unknown", "nvalid", "Failed to parse", "not executable"})
    EXPECT_FALSE(result.output.contains(complaint)) << result.output;
}

}  // namespace
}  // namespace nfx
