// A folder or file is trusted only if nobody except this user and root can have chosen it.
#include "base/trusted_path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

constexpr uid_t another_user = 4711;

struct TrustedPath : ::testing::Test {
  test::TemporaryFolder folder;
  fs::path below = folder.path() / "below";

  TrustedPath() { fs::create_directory(below); }
  [[nodiscard]] static int error_of(const fs::path& path) { return TrustedFolder{path}.error(); }
  void put(const fs::path& name) const { std::ofstream{below / name} << "content"; }
  [[nodiscard]] TrustedFolder::File open(const char* name) const {
    const TrustedFolder::File file = TrustedFolder{below}.open(name, O_RDONLY);
    if (file.fd >= 0) ::close(file.fd);
    return file;
  }
};

TEST_F(TrustedPath, opens_a_folder_and_a_file_of_its_own) {
  put("file");
  EXPECT_EQ(error_of(below), 0);
  EXPECT_EQ(open("file").error, 0);
  EXPECT_EQ(error_of("/"), 0);
  EXPECT_EQ(error_of(below / "" / "."), 0);
}

TEST_F(TrustedPath, a_missing_folder_is_missing_until_it_is_made) {
  EXPECT_EQ(error_of(below / "a" / "b"), ENOENT);
  const TrustedFolder made{below / "a" / "b", TrustedFolder::Missing::make};
  EXPECT_GE(made.fd(), 0);
  EXPECT_TRUE(made.made());
  struct stat facts{};
  ASSERT_EQ(::stat((below / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0700U);
}

TEST_F(TrustedPath, a_symbolic_link_is_not_followed_anywhere_in_the_path) {
  fs::create_directories(below / "real" / "inner");
  fs::create_directory_symlink(below / "real", below / "link");
  EXPECT_EQ(error_of(below / "link"), ELOOP);
  EXPECT_EQ(error_of(below / "link" / "inner"), ELOOP);
  put("file");
  fs::create_symlink(below / "file", below / "linked_file");
  EXPECT_EQ(open("linked_file").error, ELOOP);
}

TEST_F(TrustedPath, a_folder_that_every_user_may_write_to_is_refused_unless_it_is_sticky) {
  fs::create_directory(below / "inner");
  ::chmod(below.c_str(), 0777);
  EXPECT_EQ(error_of(below / "inner"), EPERM);
  ::chmod(below.c_str(), 01777);
  EXPECT_EQ(error_of(below / "inner"), 0);
}

TEST_F(TrustedPath, a_file_that_every_user_may_write_to_is_refused) {
  put("file");
  ::chmod((below / "file").c_str(), 0666);
  EXPECT_EQ(open("file").error, EPERM);
  EXPECT_NE(open("file").problem.find("chmod go-w"), std::string::npos);
}

TEST_F(TrustedPath, a_fifo_in_place_of_a_file_is_refused_without_waiting) {
  ASSERT_EQ(::mkfifo((below / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(open("fifo").error, EPERM);
}

TEST_F(TrustedPath, what_belongs_to_another_user_is_refused_also_as_a_parent) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder to another user";
  fs::create_directory(below / "inner");
  put("file");
  ASSERT_EQ(::chown((below / "file").c_str(), another_user, another_user), 0);
  EXPECT_EQ(open("file").error, EPERM);
  ASSERT_EQ(::chown(below.c_str(), another_user, another_user), 0);
  EXPECT_EQ(error_of(below), EPERM);
  EXPECT_EQ(error_of(below / "inner"), EPERM);
  EXPECT_NE(TrustedFolder(below / "inner").problem().find("4711"), std::string::npos);
}

TEST_F(TrustedPath, a_folder_that_its_group_may_write_to_is_root_s_only_where_that_is_allowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "other users are only harmed by others";
  ::chmod(below.c_str(), 0775);
  EXPECT_EQ(error_of(below), EPERM);
  const TrustedFolder allowed{below, TrustedFolder::Missing::error, TrustedFolder::GroupWrites::allowed};
  EXPECT_EQ(allowed.error(), 0);
}

}  // namespace
}  // namespace nfx
