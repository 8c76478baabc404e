// Revert restores the changes of apply, also after a crash in between.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "host/apply.hpp"
#include "host/rehearsed_host.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using rehearsal::Died;
using rehearsal::FaultyWriter;
using rehearsal::Groups;
using rehearsal::Host;
using rehearsal::plan_for;

constexpr std::array all_groups{Groups::v1, Groups::v2, Groups::none};

struct Revert : ::testing::Test {
  test::TemporaryFolder state{rehearsal::place_of_folders()};
  PlacementPlan plan = plan_for({3}, 50);

  [[nodiscard]] std::filesystem::path record() const { return state.path() / "record" / runtime_record; }
  // False if it died.
  bool apply(const Host& host, HostWriter& writer) const {
    try {
      (void)apply_runtime(plan, host.facts(), host.files(), writer, {.record = record()});
      return true;
    } catch (const Died&) {
      return false;
    }
  }
  void apply(const Host& host) const {
    FolderWriter writer{host.files()};
    ASSERT_TRUE(apply(host, writer));
  }
  RevertReport put_back(const Host& host) const {
    FolderWriter writer{host.files()};
    return revert(host.files(), writer, record());
  }
  // As if it had died while writing the next line.
  void begin_a_line() const {
    if (std::filesystem::exists(record())) std::ofstream{record(), std::ios::app} << "{\"kind\":\"write_fi";
  }
};

TEST_F(Revert, restores_every_byte) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    apply(host);
    EXPECT_NE(host.snapshot(), before);
    const RevertReport report = put_back(host);
    EXPECT_EQ(report.exit, HostExit::ok);
    EXPECT_EQ(report.restored, report.changes);
    EXPECT_EQ(host.snapshot(), before);
    EXPECT_FALSE(std::filesystem::exists(record().parent_path()));
  }
}

TEST_F(Revert, restores_every_byte_wherever_apply_died) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    std::size_t points = 0;
    for (const bool done : {false, true}) {
      for (std::size_t n = 0;; ++n, ++points) {
        FaultyWriter writer{host};
        (done ? writer.die_after : writer.die_before) = n;
        const bool finished = apply(host, writer);
        ASSERT_EQ(put_back(host).exit, HostExit::ok) << "operation " << n;
        ASSERT_EQ(host.snapshot(), before) << "operation " << n << (done ? " done" : " not done");
        ASSERT_FALSE(std::filesystem::exists(record()));
        if (finished) break;
      }
    }
    EXPECT_GT(points, 30U);
  }
}

TEST_F(Revert, restores_every_byte_with_a_last_line_that_was_cut_off) {
  const Host host;
  const auto before = host.snapshot();
  for (std::size_t n = 0;; ++n) {
    FaultyWriter writer{host};
    writer.die_before = n;
    const bool finished = apply(host, writer);
    begin_a_line();
    ASSERT_EQ(put_back(host).exit, HostExit::ok) << "operation " << n;
    ASSERT_EQ(host.snapshot(), before) << "operation " << n;
    if (finished) break;
  }
}

TEST_F(Revert, apply_goes_on_from_a_record_that_was_cut_off) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    for (std::size_t n = 0;; ++n) {
      FaultyWriter writer{host};
      writer.die_before = n;
      const bool finished = apply(host, writer);
      begin_a_line();
      apply(host);
      ASSERT_EQ(host.mask(1, 1), "0-2");
      ASSERT_EQ(put_back(host).exit, HostExit::ok) << "operation " << n;
      ASSERT_EQ(host.snapshot(), before) << "operation " << n;
      if (finished) break;
    }
  }
}

TEST_F(Revert, may_die_itself_and_be_repeated) {
  for (const Groups groups : all_groups) {
    const Host host{groups};
    const auto before = host.snapshot();
    for (std::size_t n = 0;; ++n) {
      apply(host);
      FaultyWriter writer{host};
      writer.die_after = n;
      bool finished = true;
      try {
        (void)revert(host.files(), writer, record());
      } catch (const Died&) {
        finished = false;
      }
      ASSERT_EQ(put_back(host).exit, HostExit::ok);
      ASSERT_EQ(host.snapshot(), before) << "operation " << n;
      if (finished) break;
    }
  }
}

TEST_F(Revert, without_a_record_there_is_nothing_to_do) {
  const Host host;
  const RevertReport report = put_back(host);
  EXPECT_FALSE(report.found);
  EXPECT_EQ(report.exit, HostExit::ok);
}

TEST_F(Revert, a_number_that_belongs_to_another_task_by_now_is_not_touched) {
  const Host host{Groups::none};
  apply(host);
  host.task(50, 51, "another", "0-1", 0, 1, 999);
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.mask(50, 51), "0-1");
}

TEST_F(Revert, tasks_and_interrupts_that_are_gone_are_no_trouble) {
  const Host host;
  apply(host);
  std::filesystem::remove_all(host.files().path("/proc/50"));
  std::filesystem::remove_all(host.files().path("/proc/irq/10"));
  host.put("/sys/fs/cgroup/cpuset/nexusfix_housekeeping/tasks", "1\n2\n");
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.mask(1, 1), "0-3");
}

TEST_F(Revert, tasks_that_were_started_meanwhile_leave_the_group_too) {
  const Host host;
  apply(host);
  host.task(70, 70, "child", "0-2", 0);
  host.put("/sys/fs/cgroup/cpuset/nexusfix_housekeeping/tasks", "1\n2\n50\n51\n70\n");
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.mask(70, 70), "0-3");
  EXPECT_FALSE(host.files().exists("/sys/fs/cgroup/cpuset/nexusfix_housekeeping"));
}

TEST_F(Revert, tasks_that_inherited_a_narrowed_mask_get_their_parents_back) {
  const Host host{Groups::none};
  apply(host);
  host.task(70, 70, "child", "0-2", 0, 50);
  host.task(71, 71, "of its own mind", "0-1", 0, 50);
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.mask(70, 70), "0-3");
  EXPECT_EQ(host.mask(71, 71), "0-1");
}

TEST_F(Revert, what_cannot_be_restored_is_named_and_the_record_stays) {
  const Host host;
  const auto before = host.snapshot();
  apply(host);
  FaultyWriter writer{host};
  writer.refused_file = "/vm/stat_interval";
  const RevertReport report = revert(host.files(), writer, record());
  EXPECT_EQ(report.exit, HostExit::partly_applied);
  ASSERT_EQ(report.left.size(), 1U);
  EXPECT_NE(report.left[0].find("/proc/sys/vm/stat_interval"), std::string::npos);
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.snapshot(), before);
}

TEST_F(Revert, a_record_of_another_boot_restores_nothing_of_the_running_host) {
  const Host host;
  apply(host);
  host.put("/proc/sys/kernel/random/boot_id", "second-boot\n");
  const auto now = host.snapshot();
  EXPECT_EQ(put_back(host).exit, HostExit::ok);
  EXPECT_EQ(host.snapshot(), now);
  EXPECT_FALSE(std::filesystem::exists(record()));
}

}  // namespace
}  // namespace nfx
