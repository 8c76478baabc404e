// Rotation, removal and errors of log files.
#include "log/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime noon = UtcTime{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15}} + 12h;

LogFileOptions options_for(const LogFolder& folder) {
  LogFileOptions options;
  options.folder = folder.path();
  options.name = "log";
  return options;
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777 : 0;
}

TEST(LogFile, names_its_files_by_day_and_number) {
  const LogFolder folder;
  LogFile file{options_for(folder)};
  EXPECT_TRUE(folder.files().empty());
  ASSERT_TRUE(file.append(noon, "a\n"));
  EXPECT_EQ(folder.files(), std::vector<std::string>{"log-20240315-0001.log"});
  EXPECT_EQ(folder.text(), "a\n");
}

TEST(LogFile, is_for_its_owner_alone) {
  const LogFolder folder;
  LogFileOptions options = options_for(folder);
  options.folder /= "made/here";
  LogFile file{options};
  ASSERT_TRUE(file.append(noon, "a\n"));
  EXPECT_EQ(mode_of(folder.path() / "made"), 0700U);
  EXPECT_EQ(mode_of(folder.path() / "made/here"), 0700U);
  EXPECT_EQ(mode_of(file.path()), 0600U);
}

TEST(LogFile, refuses_a_folder_that_others_may_write_to_and_names_the_fix) {
  const LogFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  try {
    const LogFile file{options_for(folder)};
    ADD_FAILURE() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string_view{error.what()}.find("chmod go-w " + folder.path().string()), std::string_view::npos)
        << error.what();
  }
}

TEST(LogFile, corrects_the_mode_of_a_file_that_others_could_read_and_says_it_once) {
  const LogFolder folder;
  for (const unsigned mode : {0666U, 0604U}) {
    LogFile file{options_for(folder)};
    ASSERT_TRUE(file.append(noon, "a\n"));
    ASSERT_EQ(::chmod(file.path().c_str(), mode), 0);
    LogFile again{options_for(folder)};
    ASSERT_TRUE(again.open_now(noon));
    EXPECT_EQ(mode_of(file.path()), 0600U);
    EXPECT_NE(again.take_correction().find("to 0600"), std::string::npos);
    EXPECT_EQ(again.take_correction(), "");
  }
}

TEST(LogFile, lets_a_group_read_it_that_was_allowed_to) {
  const LogFolder folder;
  LogFile file{options_for(folder)};
  ASSERT_TRUE(file.append(noon, "a\n"));
  ASSERT_EQ(::chmod(file.path().c_str(), 0640), 0);
  LogFile again{options_for(folder)};
  ASSERT_TRUE(again.append(noon, "b\n"));
  EXPECT_EQ(mode_of(file.path()), 0640U);
  EXPECT_EQ(again.take_correction(), "");
}

TEST(LogFile, is_not_appended_to_when_another_user_owns_it) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const LogFolder folder;
  LogFile file{options_for(folder)};
  ASSERT_TRUE(file.append(noon, "a\n"));
  ASSERT_EQ(::chown(file.path().c_str(), 12345, static_cast<gid_t>(-1)), 0);
  LogFile again{options_for(folder)};
  const auto opened = again.open_now(noon);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text.find("belongs to user 12345"), std::string::npos) << opened.error().text;
}

TEST(LogFile, begins_a_new_one_when_it_would_grow_beyond_its_size) {
  const LogFolder folder;
  LogFileOptions options = options_for(folder);
  options.max_bytes = 8;
  LogFile file{options};
  for (const char* line : {"1234\n", "12\n", "1\n", "longer than a whole file\n", "x\n"}) {
    ASSERT_TRUE(file.append(noon, line));
  }
  EXPECT_EQ(folder.text("log-20240315-0001.log"), "1234\n12\n");
  EXPECT_EQ(folder.text("log-20240315-0002.log"), "1\n");
  EXPECT_EQ(folder.text("log-20240315-0003.log"), "longer than a whole file\n");
  EXPECT_EQ(folder.text("log-20240315-0004.log"), "x\n");
}

TEST(LogFile, begins_a_new_one_each_utc_day_and_never_goes_back) {
  const LogFolder folder;
  LogFile file{options_for(folder)};
  ASSERT_TRUE(file.append(noon + 12h - 1ns, "friday\n"));
  EXPECT_TRUE(file.is_later_day(noon + 12h));
  ASSERT_TRUE(file.append(noon + 12h, "saturday\n"));
  ASSERT_TRUE(file.append(noon, "late\n"));
  EXPECT_EQ(folder.text("log-20240315-0001.log"), "friday\n");
  EXPECT_EQ(folder.text("log-20240316-0001.log"), "saturday\nlate\n");
}

TEST(LogFile, goes_on_with_the_last_file_of_the_day_after_a_restart) {
  const LogFolder folder;
  LogFileOptions options = options_for(folder);
  options.max_bytes = 8;
  for (int start = 0; start < 3; ++start) {
    LogFile file{options};
    ASSERT_TRUE(file.append(noon, "123\n"));
  }
  EXPECT_EQ(folder.text("log-20240315-0001.log"), "123\n123\n");
  EXPECT_EQ(folder.text("log-20240315-0002.log"), "123\n");
}

TEST(LogFile, does_not_join_a_line_that_a_crash_tore) {
  const LogFolder folder;
  std::ofstream{folder.path() / "log-20240315-0001.log"} << "whole\ntor";
  LogFile file{options_for(folder)};
  ASSERT_TRUE(file.append(noon, "next\n"));
  EXPECT_EQ(folder.text(), "whole\ntor\nnext\n");
}

TEST(LogFile, keeps_as_many_files_as_it_may_and_the_last) {
  const LogFolder folder;
  std::ofstream{folder.path() / "log-20240101-0001.log.mine"} << "not a log";
  std::ofstream{folder.path() / "other-20240101-0001.log"} << "another log";
  LogFileOptions options = options_for(folder);
  options.max_bytes = 2;
  options.keep_files = 2;
  LogFile file{options};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(file.append(noon, "x\n"));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"log-20240101-0001.log.mine", "log-20240315-0004.log",
                                                      "log-20240315-0005.log", "other-20240101-0001.log"}));
}

TEST(LogFile, removes_files_that_are_too_old) {
  const LogFolder folder;
  LogFileOptions options = options_for(folder);
  options.keep_days = 2;
  LogFile file{options};
  for (int day = 0; day < 4; ++day) ASSERT_TRUE(file.append(noon + day * 24h, "x\n"));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"log-20240317-0001.log", "log-20240318-0001.log"}));
}

TEST(LogFile, counts_an_old_file_that_cannot_be_removed_and_continues) {
  const LogFolder folder;
  std::filesystem::create_directories(folder.path() / "log-20240101-0001.log" / "inside");
  LogFileOptions options = options_for(folder);
  options.keep_files = 1;
  LogFile file{options};
  ASSERT_TRUE(file.append(noon, "x\n"));
  EXPECT_EQ(file.removals_failed(), 1U);
  ASSERT_TRUE(file.append(noon + 24h, "y\n"));
  EXPECT_EQ(file.removals_failed(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "log-20240316-0001.log"));
}

TEST(LogFile, follows_no_symbolic_link) {
  const LogFolder folder;
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "log-20240315-0001.log");
  LogFile file{options_for(folder)};
  const auto result = file.append(noon, "a\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ELOOP);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

TEST(LogFile, says_how_much_a_full_disk_took_and_goes_on_behind_a_new_line) {
  const LogFolder folder;
  LogFile file{options_for(folder)};
  {
    const FullDisk full{6};
    const auto result = file.append(noon, "first\nsecond\n");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().written, 6U);
    EXPECT_NE(result.error().text.find("log-20240315-0001.log: File too large"), std::string::npos)
        << result.error().text;
  }
  ASSERT_TRUE(file.append(noon, "third\n"));
  EXPECT_EQ(folder.text(), "first\nthird\n");
  {
    const FullDisk full{14};
    EXPECT_FALSE(file.append(noon, "fourth\n"));
  }
  ASSERT_TRUE(file.append(noon, "fifth\n"));
  EXPECT_EQ(folder.text(), "first\nthird\nfo\nfifth\n");
}

TEST(LogFile, refuses_what_it_cannot_write_with_the_name_of_it) {
  const LogFolder folder;
  std::ofstream{folder.path() / "file"} << "x";
  LogFileOptions options = options_for(folder);
  options.folder = folder.path() / "file";
  EXPECT_THROW(LogFile{options}, std::runtime_error);
  options.folder = folder.path() / "file" / "below";
  try {
    LogFile{options};
    FAIL() << "a folder below a file";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find("file/below"), std::string::npos) << error.what();
  }
  options = options_for(folder);
  options.name = "a/b";
  EXPECT_THROW(LogFile{options}, std::runtime_error);
  options = options_for(folder);
  options.keep_files = 0;
  EXPECT_THROW(LogFile{options}, std::runtime_error);
}

}  // namespace
}  // namespace nfx
