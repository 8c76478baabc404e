// The record of changes survives crashes, other processes and damage.
#include "host/change_record.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "host/apply.hpp"
#include "host/rehearsed_host.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using rehearsal::plan_for;

struct Record : ::testing::Test {
  test::TemporaryFolder folder{rehearsal::place_of_folders()};
  std::filesystem::path file = folder.path() / "changes.jsonl";

  static Change change(std::string path) {
    Change change{.area = "memory", .path = std::move(path)};
    change.seen = change.undo = "1\n";
    change.wanted = "120";
    change.why = "a test";
    return change;
  }
  void begin(ChangeRecord& record) const { record.set_plan(plan_for({3}), "a boot"); }
};

TEST_F(Record, gives_back_what_was_written) {
  {
    ChangeRecord record{file, nullptr};
    begin(record);
    Change binary = change("/etc/file");
    binary.kind = ChangeKind::install_file;
    for (int byte = 0; byte < 256; ++byte) binary.seen += static_cast<char>(byte);
    binary.existed = false;
    binary.mode = 0600;
    EXPECT_EQ(record.add(binary), 0U);
    Change tasks = change("/group/tasks");
    tasks.kind = ChangeKind::move_tasks;
    tasks.from = "/tasks";
    tasks.tasks.push_back({12, 13, 18446744073709551615U, "a \"name\" \x80\n", {0, 5}, true});
    const std::size_t index = record.add(tasks);
    record.add(index, {Outcome::refused, 22, "seen", {{tasks.tasks[0], 1}}});
  }
  const auto content = ChangeRecord::load(file);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->boot_id, "a boot");
  EXPECT_EQ(content->plan.isolated_cpus, CpuSet{3});
  EXPECT_EQ(content->plan.threads.at(0).name, "nfx-poll-0");
  ASSERT_EQ(content->changes.size(), 2U);
  EXPECT_EQ(content->changes[0].seen.size(), 258U);
  EXPECT_EQ(content->changes[0].seen[2 + 255], '\xff');
  EXPECT_FALSE(content->changes[0].existed);
  EXPECT_EQ(content->changes[0].mode, 0600U);
  EXPECT_FALSE(content->outcomes.contains(0));
  const TaskState& task = content->changes[1].tasks.at(0);
  EXPECT_EQ(task.name, "a \"name\" \x80\n");
  EXPECT_EQ(task.start, 18446744073709551615U);
  EXPECT_EQ(task.mask, (CpuSet{0, 5}));
  EXPECT_TRUE(task.moves);
  EXPECT_EQ(content->outcomes.at(1).refused.at(0).error, 1);
  EXPECT_EQ(content->bytes, std::filesystem::file_size(file));
}

TEST_F(Record, without_a_change_is_no_file) {
  {
    ChangeRecord record{file, nullptr};
    begin(record);
  }
  EXPECT_FALSE(ChangeRecord::load(file));
}

TEST_F(Record, is_for_its_owner_alone) {
  ChangeRecord record{file, nullptr};
  (void)record.add(change("/a"));
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms{0600});
  const RecordLock lock{folder.path() / "made"};
  EXPECT_EQ(std::filesystem::status(folder.path() / "made").permissions(), std::filesystem::perms{0700});
}

TEST_F(Record, cut_off_at_any_byte_keeps_its_whole_lines) {
  {
    ChangeRecord record{file, nullptr};
    begin(record);
    (void)record.add(change("/a"));
    (void)record.add(change("/b"));
  }
  const auto whole = std::filesystem::file_size(file);
  std::size_t last = 2;
  for (auto size = whole; size > 0; --size) {
    std::filesystem::resize_file(file, size);
    const auto content = ChangeRecord::load(file);
    ASSERT_TRUE(content);
    EXPECT_LE(content->changes.size(), last);
    EXPECT_LE(content->bytes, size);
    last = content->changes.size();
  }
  EXPECT_EQ(last, 0U);
}

TEST_F(Record, goes_on_behind_the_last_whole_line) {
  {
    ChangeRecord record{file, nullptr};
    begin(record);
    (void)record.add(change("/a"));
  }
  std::ofstream{file, std::ios::app} << "{\"kind\":\"wri";
  const auto before = ChangeRecord::load(file);
  {
    ChangeRecord record{file, &*before};
    EXPECT_EQ(record.add(change("/b")), 1U);
  }
  const auto after = ChangeRecord::load(file);
  ASSERT_EQ(after->changes.size(), 2U);
  EXPECT_EQ(after->changes[1].path, "/b");
}

TEST_F(Record, forgets_what_was_added_since) {
  {
    ChangeRecord record{file, nullptr};
    begin(record);
    (void)record.add(change("/a"));
  }
  const auto before = ChangeRecord::load(file);
  ChangeRecord record{file, &*before};
  (void)record.add(change("/b"));
  record.forget();
  EXPECT_EQ(ChangeRecord::load(file)->changes.size(), 1U);
}

TEST_F(Record, of_something_else_is_refused_with_its_line) {
  std::ofstream{file} << "{\"nexusfix_placement\":1,\"boot_id\":\"\",\"plan\":{\"hash\":\"\",\"quiet\":\"\","
                         "\"housekeeping\":\"\",\"threads\":[]}}\nhello\n";
  try {
    (void)ChangeRecord::load(file);
    FAIL() << "was accepted";
  } catch (const ApplyError& error) {
    EXPECT_NE(std::string_view{error.what()}.find("changes.jsonl:2"), std::string_view::npos);
  }
}

TEST_F(Record, lock_can_be_taken_again_after_it_was_given_back) {
  const std::filesystem::path place = folder.path() / "state";
  {
    const RecordLock lock{place};
  }
  {
    const RecordLock lock{place};
  }
  const RecordLock lock{place};
  EXPECT_THROW(RecordLock{place}, ApplyError);
}

TEST(SameContent, is_about_meaning_not_spelling) {
  EXPECT_TRUE(same_content(Compare::cpu_list, "0,1,2\n", "0-2"));
  EXPECT_FALSE(same_content(Compare::cpu_list, "0-3\n", "0-2"));
  EXPECT_TRUE(same_content(Compare::cpu_mask, "00000000,0000000f\n", "f"));
  EXPECT_FALSE(same_content(Compare::text, "performance", "powersave\n"));
  EXPECT_TRUE(same_content(Compare::contains_word, "cpu cpuset memory\n", "+cpuset"));
  EXPECT_FALSE(same_content(Compare::contains_word, "cpu memory\n", "+cpuset"));
  EXPECT_TRUE(same_content(Compare::contains_word, "cpu memory\n", "-cpuset"));
}

}  // namespace
}  // namespace nfx
