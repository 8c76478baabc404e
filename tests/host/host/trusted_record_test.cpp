// Revert runs as root and follows a record. A record that another user may have written is not used, and whatever a
// record says, only the paths that apply changes are written.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "host/apply.hpp"
#include "host/change_record.hpp"
#include "host/rehearsed_host.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;
using rehearsal::Groups;
using rehearsal::Host;
using rehearsal::plan_for;

constexpr uid_t another_user = 4711;

struct TrustedRecord : ::testing::Test {
  test::TemporaryFolder state{rehearsal::place_of_folders()};
  fs::path record = state.path() / "installed.jsonl";
  Host host{Groups::v1};

  void write_record(const Change& change) const {
    fs::remove(record);
    ChangeRecord writer{record, nullptr};
    writer.set_plan(plan_for({3}), "first-boot");
    (void)writer.add(change);
  }
  static Change installed(std::string path) {
    Change change{.kind = ChangeKind::install_file,
                  .area = "boot",
                  .path = std::move(path),
                  .seen = "what an attacker wants there\n",
                  .wanted = "what is there\n",
                  .seen_mode = 0755};
    return change;
  }
  RevertReport put_back() const {
    FolderWriter writer{host.files()};
    return revert(host.files(), writer, record);
  }
  // The error of a revert, which must have changed nothing.
  std::string refusal() const {
    const auto before = host.snapshot();
    try {
      (void)put_back();
    } catch (const ApplyError& error) {
      EXPECT_EQ(host.snapshot(), before);
      return error.what();
    }
    return {};
  }
};

TEST_F(TrustedRecord, a_file_that_apply_never_installs_is_not_written_whatever_a_record_says) {
  for (const char* path : {"/etc/passwd", "/etc/sudoers.d/nexusfix", "/etc/nexusfix/../passwd",
                           "/etc/systemd/system/evil.service", "/etc/systemd/system/a/b.d/50-nexusfix.conf",
                           "/usr/local/lib/nexusfix/boot-entries/x", "etc/passwd", "/", ""}) {
    host.put("/etc/passwd", "root\n");
    write_record(installed(path));
    EXPECT_NE(refusal().find("never changes"), std::string::npos) << path;
  }
  EXPECT_EQ(host.get("/etc/passwd"), "root");
}

TEST_F(TrustedRecord, a_file_of_the_kernel_that_apply_never_changes_is_not_written) {
  for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/sys/kernel/uevent_helper",
                           "/proc/irq/../sys/kernel/core_pattern", "/sys/fs/cgroup/../../../etc/cpuset.cpus",
                           "/home/user/cpuset.cpus", "/sys/fs/cgroup/a/release_agent"}) {
    Change change = installed(path);
    change.kind = ChangeKind::write_file;
    change.undo = "|/tmp/evil";
    write_record(change);
    EXPECT_NE(refusal().find("never changes"), std::string::npos) << path;
  }
}

TEST_F(TrustedRecord, no_folder_is_removed_and_no_task_moved_but_in_the_groups_of_apply) {
  for (const ChangeKind kind : {ChangeKind::make_group, ChangeKind::make_directory, ChangeKind::move_tasks}) {
    Change change = installed("/home/user");
    change.kind = kind;
    change.from = "/sys/fs/cgroup/cpuset/tasks";
    write_record(change);
    EXPECT_NE(refusal().find("/home/user"), std::string::npos) << to_string(kind);
  }
}

TEST_F(TrustedRecord, a_mode_that_runs_a_file_as_its_owner_is_not_a_record) {
  for (const std::uint32_t mode : {04755U, 02755U, 01777U, 0100644U}) {
    Change change = installed("/etc/sysctl.d/50-nexusfix.conf");
    change.seen_mode = mode;
    write_record(change);
    EXPECT_NE(refusal().find("is not a line of a record"), std::string::npos) << mode;
    change.seen_mode = 0644;
    change.mode = mode;
    write_record(change);
    EXPECT_NE(refusal().find("is not a line of a record"), std::string::npos) << mode;
  }
}

TEST_F(TrustedRecord, a_record_that_another_user_can_change_is_not_used) {
  write_record(installed("/etc/sysctl.d/50-nexusfix.conf"));
  host.put("/etc/sysctl.d/50-nexusfix.conf", "what is there\n");
  ::chmod(record.c_str(), 0666);
  EXPECT_NE(refusal().find("chmod go-w"), std::string::npos);
  ::chmod(record.c_str(), 0600);
  ::chmod(state.path().c_str(), 0777);
  EXPECT_NE(refusal().find("chmod go-w"), std::string::npos);
  ::chmod(state.path().c_str(), 0700);
  EXPECT_EQ(put_back().exit, HostExit::ok);
  EXPECT_EQ(host.get("/etc/sysctl.d/50-nexusfix.conf"), "what an attacker wants there");
}

TEST_F(TrustedRecord, a_record_of_another_user_or_in_their_folder_is_not_used) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  write_record(installed("/etc/sysctl.d/50-nexusfix.conf"));
  ASSERT_EQ(::chown(record.c_str(), another_user, another_user), 0);
  EXPECT_NE(refusal().find("belongs to user 4711"), std::string::npos);
  ASSERT_EQ(::chown(record.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(state.path().c_str(), another_user, another_user), 0);
  EXPECT_NE(refusal().find("belongs to user 4711"), std::string::npos);
  // No record is written there either.
  FolderWriter writer{host.files()};
  EXPECT_THROW((void)apply_runtime(plan_for({3}), host.facts(), host.files(), writer,
                                   {.record = state.path() / "deeper" / runtime_record}),
               ApplyError);
}

TEST_F(TrustedRecord, a_record_behind_a_symbolic_link_is_not_used) {
  write_record(installed("/etc/sysctl.d/50-nexusfix.conf"));
  fs::rename(record, state.path() / "elsewhere");
  fs::create_symlink(state.path() / "elsewhere", record);
  EXPECT_NE(refusal().find("symbolic link"), std::string::npos);
}

TEST_F(TrustedRecord, an_existing_file_that_runs_as_its_owner_or_is_a_link_is_not_replaced) {
  const BootArtefact artefact{
      .path = "/etc/sysctl.d/50-nexusfix.conf", .content = "new\n", .mode = 0644, .purpose = {}, .next = {}};
  host.put(artefact.path, "old\n");
  const fs::path file = host.files().path(artefact.path);
  ::chmod(file.c_str(), 04755);
  EXPECT_THROW((void)install_changes({&artefact, 1}, host.files()), ApplyError);
  fs::remove(file);
  fs::create_symlink("/etc/hostname", file);
  EXPECT_THROW((void)install_changes({&artefact, 1}, host.files()), ApplyError);
}

TEST_F(TrustedRecord, a_live_host_s_writer_writes_to_no_file_but_the_kernel_s_and_through_no_link) {
  LiveWriter writer{HostFiles{}};
  const std::string file = state.file("file"), folder = state.file("folder"), link = state.file("link");
  std::ofstream{file} << "as it was";
  fs::create_directory(folder);
  fs::create_directory_symlink(folder, link);
  EXPECT_EQ(writer.write(file, "changed"), EPERM);
  std::ifstream in{file};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{in}, {}}), "as it was");
  EXPECT_EQ(writer.replace_file(link + "/new", "text", 0644), ELOOP);
  EXPECT_EQ(writer.make_directory(link + "/new"), ELOOP);
  EXPECT_EQ(writer.replace_file(folder + "/new", "text", 04755), EPERM);
  EXPECT_EQ(writer.replace_file(folder + "/new", "text", 0644), 0);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(folder.c_str(), another_user, another_user), 0);
  EXPECT_EQ(writer.replace_file(folder + "/new", "text", 0644), EPERM);
  EXPECT_EQ(writer.remove_file(folder + "/new"), EPERM);
}

TEST_F(TrustedRecord, a_copy_s_writer_stays_in_the_copy_where_its_links_lead_out) {
  const test::TemporaryFolder outside{rehearsal::place_of_folders()};
  std::ofstream{outside.file("file")} << "as it was";
  fs::create_directories(host.files().path("/sys"));
  fs::create_directory_symlink(outside.path(), host.files().path("/sys/out"));
  LiveWriter writer{host.files()};
  EXPECT_NE(writer.write("/sys/out/file", "changed"), 0);
  EXPECT_NE(writer.replace_file("/sys/out/new", "text", 0644), 0);
  std::ifstream in{outside.file("file")};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{in}, {}}), "as it was");
  EXPECT_FALSE(fs::exists(outside.path() / "new"));
}

}  // namespace
}  // namespace nfx
