// The file of the audit log: rotated, removed, and in a folder that accepts no file.
#include "control/audit_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "nexusfix/config/engine_config.hpp"
#include "temporary_folder.hpp"

namespace nfx::control {
namespace {

namespace fs = std::filesystem;

class AuditFile : public ::testing::Test {
 protected:
  static bool write(AuditLog& log, std::string_view what) {
    const Caller caller{.role = Role::operator_, .name = "alice", .via = "unix"};
    return log.write({.time = {}, .caller = caller, .event = "requested", .what = what, .detail = {}});
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in{path};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  test::TemporaryFolder folder;
  const fs::path file = folder.path() / "audit.log";
};

TEST_F(AuditFile, a_file_that_was_moved_away_is_followed_by_a_new_one) {
  AuditLog log{file};
  EXPECT_TRUE(write(log, "one"));
  fs::rename(file, folder.file("audit.log.1"));
  EXPECT_TRUE(write(log, "two"));
  EXPECT_TRUE(text_of(folder.file("audit.log.1")).contains("one"));
  EXPECT_FALSE(text_of(folder.file("audit.log.1")).contains("two"));
  EXPECT_TRUE(text_of(file).contains("two"));
  EXPECT_EQ(fs::status(file).permissions() & fs::perms::others_all, fs::perms::none);
}

TEST_F(AuditFile, a_file_that_was_removed_is_made_again) {
  AuditLog log{file};
  EXPECT_TRUE(write(log, "one"));
  fs::remove(file);
  EXPECT_TRUE(write(log, "two"));
  EXPECT_TRUE(text_of(file).contains("two"));
}

TEST_F(AuditFile, nothing_is_written_elsewhere_while_the_file_cannot_be_made) {
  AuditLog log{file};
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(write(log, "one"));
  fs::remove(file);
  fs::create_symlink(folder.file("elsewhere"), file);
  EXPECT_FALSE(write(log, "two"));
  EXPECT_FALSE(fs::exists(folder.file("elsewhere")));
  fs::remove(file);
  EXPECT_TRUE(write(log, "three"));
  EXPECT_TRUE(text_of(file).contains("three"));
}

TEST_F(AuditFile, a_fifo_in_its_place_is_refused_without_waiting) {
  AuditLog log{file};
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(write(log, "one"));
  // A FIFO is refused even if it has a reader.
  const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_FALSE(write(log, "two"));
  ::close(reader);
  EXPECT_THROW(AuditLog{file}, ConfigError);
  EXPECT_THROW(AuditLog{"/dev/zero"}, ConfigError);
}

}  // namespace
}  // namespace nfx::control
