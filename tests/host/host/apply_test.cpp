// Apply on a rehearsed host: its changes, their order, and the conditions that stop it.
#include "host/apply.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "host/rehearsed_host.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using rehearsal::FaultyWriter;
using rehearsal::Groups;
using rehearsal::Host;
using rehearsal::plan_for;

constexpr std::array all_groups{Groups::v1, Groups::v2, Groups::none};

struct Apply : ::testing::Test {
  test::TemporaryFolder state{rehearsal::place_of_folders()};
  PlacementPlan plan = plan_for({3});

  [[nodiscard]] std::filesystem::path record() const { return state.path() / "record" / runtime_record; }
  ApplyReport apply(const Host& host, HostWriter& writer, bool keep_going = false, bool while_trading = false) const {
    return apply_runtime(plan, host.facts(), host.files(), writer,
                         {.record = record(), .while_trading = while_trading, .keep_going = keep_going});
  }
  ApplyReport apply(const Host& host) const {
    FolderWriter writer{host.files()};
    return apply(host, writer);
  }
  RevertReport put_back(const Host& host) const {
    FolderWriter writer{host.files()};
    return revert(host.files(), writer, record());
  }
};

TEST_F(Apply, takes_everything_but_bound_kernel_threads_off_the_isolated_cpu) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const ApplyReport report = apply(host);
    EXPECT_EQ(report.error, "");
    EXPECT_EQ(host.mask(1, 1), "0-2");
    EXPECT_EQ(host.mask(2, 2), "0-2");
    EXPECT_EQ(host.mask(3, 3), "3");
    EXPECT_EQ(host.mask(50, 50), "0-2");
    EXPECT_FALSE(host.mask(50, 51).contains('3'));
    EXPECT_FALSE(host.mask(60, 60).contains('3'));
    EXPECT_EQ(host.get("/proc/irq/10/smp_affinity_list"), "0-2");
    EXPECT_EQ(host.get("/proc/irq/12/smp_affinity_list"), "0-2");
    EXPECT_EQ(host.get("/proc/irq/default_smp_affinity"), "7");
    EXPECT_EQ(host.get("/sys/devices/virtual/workqueue/writeback/cpumask"), "7");
    EXPECT_EQ(host.get("/sys/class/net/eth0/queues/rx-0/rps_cpus"), "7");
    EXPECT_EQ(host.get("/sys/devices/system/cpu/cpufreq/policy3/scaling_governor"), "performance");
    (void)put_back(host);
  }
}

TEST_F(Apply, the_shield_is_seen_in_the_facts) {
  for (const Groups groups : {Groups::v1, Groups::v2}) {
    const Host host{groups};
    (void)apply(host);
    EXPECT_EQ(host.facts().shielded, CpuSet{3});
    (void)put_back(host);
    EXPECT_TRUE(host.facts().shielded.empty());
  }
}

TEST_F(Apply, a_second_time_writes_nothing_not_even_the_record) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    (void)apply(host);
    const auto written = std::filesystem::last_write_time(record());
    const auto size = std::filesystem::file_size(record());
    const auto before = host.snapshot();
    FaultyWriter writer{host};
    const ApplyReport report = apply(host, writer);
    EXPECT_EQ(report.exit, HostExit::ok);
    EXPECT_EQ(writer.operations, 0U);
    EXPECT_EQ(host.snapshot(), before);
    EXPECT_EQ(std::filesystem::last_write_time(record()), written);
    EXPECT_EQ(std::filesystem::file_size(record()), size);
    (void)put_back(host);
  }
}

TEST_F(Apply, threads_of_the_engine_stay_where_they_are) {
  const Host host;
  host.task(50, 52, "nfx-poll-0", "3", 0);
  host.put("/sys/fs/cgroup/cpuset/tasks", "1\n2\n3\n50\n51\n52\n");
  FolderWriter writer{host.files()};
  (void)apply(host, writer, false, true);
  EXPECT_EQ(host.mask(50, 52), "3");
  EXPECT_EQ(host.get("/sys/fs/cgroup/cpuset/tasks"), "3\n52");
}

TEST_F(Apply, a_task_that_is_about_to_end_is_left_alone) {
  const Host host;
  constexpr unsigned exiting = 4;
  host.task(70, 70, "zombie", "0-3", exiting);
  host.put("/sys/fs/cgroup/cpuset/tasks", "1\n2\n3\n50\n51\n70\n");
  const ApplyReport report = apply(host);
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(host.mask(70, 70), "0-3");
  FaultyWriter writer{host};
  (void)apply(host, writer);
  EXPECT_EQ(writer.operations, 0U);
}

TEST_F(Apply, is_refused_while_an_engine_trades) {
  const Host host;
  host.task(50, 52, "nfx-poll-0", "3", 0);
  FaultyWriter writer{host};
  const ApplyReport report = apply(host, writer);
  EXPECT_EQ(report.exit, HostExit::failures);
  EXPECT_NE(report.error.find("process 50"), std::string::npos);
  EXPECT_EQ(writer.operations, 0U);
}

TEST_F(Apply, a_plan_without_housekeeping_is_invalid_and_touches_nothing) {
  const Host host;
  plan.isolated_cpus = {0, 1, 2, 3};
  plan.housekeeping = {};
  FaultyWriter writer{host};
  EXPECT_EQ(apply(host, writer).exit, HostExit::policy_invalid);
  plan.housekeeping = {7};
  EXPECT_EQ(apply(host, writer).exit, HostExit::policy_invalid);
  plan.housekeeping = {0, 3};
  plan.isolated_cpus = {3};
  EXPECT_EQ(apply(host, writer).exit, HostExit::policy_invalid);
  plan.housekeeping = {0};
  plan.isolated_cpus = {9};
  EXPECT_EQ(apply(host, writer).exit, HostExit::policy_invalid);
  EXPECT_EQ(writer.operations, 0U);
}

TEST_F(Apply, a_refused_plan_is_invalid) {
  const Host host;
  plan.findings.push_back({Severity::refusal, "oversubscribed-spinners", "", "two on one CPU", ""});
  const ApplyReport report = apply(host);
  EXPECT_EQ(report.exit, HostExit::policy_invalid);
  EXPECT_NE(report.error.find("oversubscribed-spinners"), std::string::npos);
}

TEST_F(Apply, a_plan_without_spinners_changes_nothing) {
  const Host host;
  plan = plan_for({});
  FaultyWriter writer{host};
  EXPECT_EQ(apply(host, writer).exit, HostExit::ok);
  EXPECT_EQ(writer.operations, 0U);
}

TEST_F(Apply, an_interrupt_that_still_goes_to_the_isolated_cpu_is_pending) {
  const Host host;
  const ApplyReport report = apply(host);
  EXPECT_EQ(report.exit, HostExit::warnings);
  const auto outcome = [&](std::string_view path) {
    return std::ranges::find(report.changes, path, [](const ChangeResult& c) { return c.change.path; })->result.outcome;
  };
  EXPECT_EQ(outcome("/proc/irq/10/smp_affinity_list"), Outcome::pending);
  EXPECT_EQ(outcome("/proc/irq/11/smp_affinity_list"), Outcome::accepted);
}

TEST_F(Apply, a_managed_interrupt_is_listed_and_not_tried_again) {
  const Host host;
  FaultyWriter writer{host};
  writer.refused_file = "/irq/12/smp_affinity_list";
  const ApplyReport report = apply(host, writer);
  EXPECT_EQ(report.exit, HostExit::warnings);
  EXPECT_EQ(host.get("/proc/irq/12/smp_affinity_list"), "3");
  EXPECT_EQ(host.get("/sys/devices/virtual/workqueue/cpumask"), "7");
  writer.operations = 0;
  (void)apply(host, writer);
  EXPECT_EQ(writer.operations, 0U);
}

TEST_F(Apply, a_failure_at_any_write_leaves_the_host_as_it_was_or_is_listed) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    for (std::size_t n = 0;; ++n) {
      FaultyWriter writer{host};
      writer.fail_at = n;
      const ApplyReport report = apply(host, writer);
      if (report.exit == HostExit::failures) {
        EXPECT_TRUE(report.rolled_back);
        EXPECT_EQ(host.snapshot(), before) << "operation " << n;
        EXPECT_FALSE(std::filesystem::exists(record()));
      } else {
        EXPECT_EQ(put_back(host).exit, HostExit::ok) << "operation " << n;
        EXPECT_EQ(host.snapshot(), before) << "operation " << n;
      }
      if (writer.operations <= n) break;
    }
  }
}

TEST_F(Apply, a_failure_undoes_only_what_this_run_has_done) {
  const Host host;
  const auto untouched = host.snapshot();
  (void)apply(host);
  const auto before = host.snapshot();
  plan = plan_for({2, 3});
  FaultyWriter writer{host};
  writer.refused_file = "/sys/kernel/watchdog_cpumask";
  const ApplyReport report = apply(host, writer);
  EXPECT_EQ(report.exit, HostExit::failures);
  EXPECT_EQ(host.snapshot(), before);
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.snapshot(), untouched);
}

TEST_F(Apply, keep_going_does_the_rest_and_says_partly_applied) {
  const Host host;
  FaultyWriter writer{host};
  writer.refused_file = "/sys/kernel/timer_migration";
  const ApplyReport report = apply(host, writer, true);
  EXPECT_EQ(report.exit, HostExit::partly_applied);
  EXPECT_NE(report.error.find("timer_migration"), std::string::npos);
  EXPECT_EQ(host.get("/proc/sys/vm/stat_interval"), "120");
}

TEST_F(Apply, two_at_a_time_are_refused_with_the_others_process) {
  const Host host;
  const RecordLock other{record().parent_path()};
  try {
    (void)apply(host);
    FAIL() << "was not refused";
  } catch (const ApplyError& error) {
    EXPECT_NE(std::string_view{error.what()}.find("process " + std::to_string(::getpid())), std::string_view::npos);
  }
}

TEST_F(Apply, another_plan_over_the_first_reverts_to_the_originals) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    (void)apply(host);
    host.task(70, 70, "late", "0-2", 0);
    if (groups == Groups::v1) host.put("/sys/fs/cgroup/cpuset/nexusfix_housekeeping/tasks", "1\n2\n50\n51\n70\n");
    plan = plan_for({2, 3});
    EXPECT_NE(apply(host).exit, HostExit::failures);
    EXPECT_EQ(host.mask(1, 1), "0-1");
    EXPECT_EQ(put_back(host).exit, HostExit::ok);
    auto after = host.snapshot();
    if (groups == Groups::v1) {
      EXPECT_EQ(host.mask(70, 70), "0-3");
      host.put("/sys/fs/cgroup/cpuset/tasks", "1\n2\n3\n50\n51\n");
    }
    std::filesystem::remove_all(host.files().path("/proc/70"));
    EXPECT_EQ(host.snapshot(), before);
    plan = plan_for({3});
  }
}

TEST_F(Apply, the_plan_of_the_record_is_the_one_applied_last) {
  const Host host;
  (void)apply(host);
  plan.threads[0].name = "nfx-poll-9";
  plan.hash = "ffffffffffffffff";
  (void)apply(host);
  const auto content = ChangeRecord::load(record());
  EXPECT_EQ(content->plan.hash, "ffffffffffffffff");
  EXPECT_EQ(content->plan.threads[0].name, "nfx-poll-9");
}

TEST_F(Apply, installed_files_come_and_go_with_their_folders) {
  const Host host;
  host.put("/etc/default/grub.d/50-nexusfix.cfg", "old\xff\n");
  std::filesystem::permissions(host.files().path("/etc/default/grub.d/50-nexusfix.cfg"), std::filesystem::perms{0640});
  const auto before = host.snapshot();
  const std::vector<BootArtefact> artefacts{
      {.path = "/etc/default/grub.d/50-nexusfix.cfg", .content = "isolated\n", .mode = 0644, .purpose = {}, .next = {}},
      {.path = "/etc/tuned/nexusfix/tuned.conf", .content = "[main]\n", .mode = 0755, .purpose = {}, .next = {}}};
  const ApplyOptions options{.record = record()};
  FolderWriter writer{host.files()};
  EXPECT_EQ(install(plan, artefacts, host.files(), writer, options).exit, HostExit::ok);
  EXPECT_EQ(host.get("/etc/tuned/nexusfix/tuned.conf"), "[main]");
  FaultyWriter counting{host};
  (void)install(plan, artefacts, host.files(), counting, options);
  EXPECT_EQ(counting.operations, 0U);
  // Also after a reboot, for which they are made.
  host.put("/proc/sys/kernel/random/boot_id", "second-boot\n");
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  host.put("/proc/sys/kernel/random/boot_id", "first-boot\n");
  EXPECT_EQ(host.snapshot(), before);
  EXPECT_EQ(std::filesystem::status(host.files().path("/etc/default/grub.d/50-nexusfix.cfg")).permissions(),
            std::filesystem::perms{0640});
}

// Verification.

struct Verify : Apply {
  [[nodiscard]] VerifyReport check(const Host& host, const Topology& topology = {}) const {
    const auto content = ChangeRecord::load(record());
    return verify({.plan = plan,
                   .facts = host.facts(),
                   .files = host.files(),
                   .topology = topology,
                   .runtime = content ? &*content : nullptr,
                   .installed = nullptr});
  }
  static VerifyResult result(const VerifyReport& report, std::string_view id) {
    const auto item = std::ranges::find(report.items, id, &VerifyItem::id);
    return item == report.items.end() ? VerifyResult::unknown : item->result;
  }
  static void settle(const Host& host) {
    for (const int number : {10, 11, 12}) host.interrupt(number, "0-2", "0");
  }
};

TEST_F(Verify, nothing_applied_is_violated) {
  const VerifyReport report = check(Host{});
  EXPECT_EQ(report.exit, HostExit::failures);
  for (const char* id : {"tasks.group", "tasks.user", "tasks.kernel", "interrupts.allowed", "scheduler.setting"})
    EXPECT_EQ(result(report, id), VerifyResult::violated) << id;
}

TEST_F(Verify, all_is_well_after_apply_and_the_next_interrupts) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    (void)apply(host);
    EXPECT_EQ(check(host).exit, HostExit::warnings);
    EXPECT_EQ(result(check(host), "interrupts.effective"), VerifyResult::pending);
    settle(host);
    EXPECT_EQ(check(host).exit, HostExit::ok) << to_text(check(host));
    (void)put_back(host);
  }
}

TEST_F(Verify, a_task_that_is_widened_again_is_seen) {
  const Host host;
  (void)apply(host);
  settle(host);
  host.task(80, 80, "intruder", "0-3", 0);
  const VerifyReport report = check(host);
  EXPECT_EQ(report.exit, HostExit::failures);
  EXPECT_EQ(result(report, "tasks.user"), VerifyResult::violated);
}

TEST_F(Verify, an_engine_thread_off_its_cpu_is_seen) {
  const Host host;
  (void)apply(host);
  settle(host);
  host.task(90, 91, "nfx-poll-0", "3", 0);
  EXPECT_EQ(check(host).exit, HostExit::ok);
  host.task(90, 91, "nfx-poll-0", "0-3", 0);
  EXPECT_EQ(result(check(host), "engine.threads"), VerifyResult::violated);
}

TEST_F(Verify, the_hash_on_the_command_line_tells_a_boot_with_another_plan) {
  const Host host;
  (void)apply(host);
  settle(host);
  host.put("/proc/cmdline", "nexusfix.plan=ffffffffffffffff\n");
  EXPECT_EQ(result(check(host), "boot.plan"), VerifyResult::violated);
  host.put("/proc/cmdline", "isolcpus=3 nohz_full=3 nexusfix.plan=" + plan.hash + '\n');
  host.put("/sys/devices/system/cpu/isolated", "3\n");
  host.put("/sys/devices/system/cpu/nohz_full", "3\n");
  host.put("/proc/sys/kernel/timer_migration", "1\n");  // the wanted value if the isolated CPUs are nohz_full
  EXPECT_EQ(check(host).exit, HostExit::ok);
  host.put("/proc/cmdline", "isolcpus=3 nexusfix.plan=" + plan.hash + '\n');
  host.put("/sys/devices/system/cpu/nohz_full", "(null)\n");
  EXPECT_EQ(result(check(host), "boot.nohz_full"), VerifyResult::violated);
}

TEST_F(Verify, installed_files_wait_for_the_reboot) {
  const Host host;
  (void)apply(host);
  settle(host);
  RecordContent installed{.plan = plan};
  const VerifyReport report = verify({.plan = plan,
                                      .facts = host.facts(),
                                      .files = host.files(),
                                      .topology = {},
                                      .runtime = nullptr,
                                      .installed = &installed});
  EXPECT_EQ(report.exit, HostExit::reboot_pending);
}

TEST_F(Verify, a_sibling_that_is_not_isolated_is_seen) {
  const Host host;
  (void)apply(host);
  settle(host);
  Topology topology{.cores = {{.cpus = {0, 1}, .package = 0, .numa_node = 0, .cache = -1, .kind = -1},
                              {.cpus = {2, 3}, .package = 0, .numa_node = 0, .cache = -1, .kind = -1}}};
  EXPECT_EQ(result(check(host, topology), "smt.siblings"), VerifyResult::violated);
}

}  // namespace
}  // namespace nfx
