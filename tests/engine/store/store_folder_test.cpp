// Folders and files of a store that other users of the machine could change or read.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/private_files.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

using test::session_name;

class StoreFolder : public testing::Test {
 protected:
  StoreFolder() {
    options_.directory = root_.file("store");
    options_.ring_directory = root_.path().string();
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    folder_ = session_folder(options_.directory, session_name);
  }

  // The error when the store is opened; "" if there is none.
  std::string open() {
    try {
      JournalStore store(posix_disk(), options_, session_name, UtcTime(1s));
      EXPECT_TRUE(store.append(SeqNum{1}, "8=FIX.4.4"));
      std::string said;
      for (const std::string& line : store.recovery().corrected) said += line + '\n';
      return said;
    } catch (const StoreError& error) {
      return error.what();
    }
  }
  static void set_mode(const fs::path& path, unsigned mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); }
  static unsigned mode_of(const fs::path& path) {
    struct stat facts{};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }
  [[nodiscard]] fs::path segment() const { return folder_ / "00000001.nfxj"; }

  test::TemporaryFolder root_;
  JournalOptions options_;
  fs::path folder_;
};

TEST_F(StoreFolder, is_used_without_a_word_when_it_was_made_by_this_user) {
  EXPECT_EQ(open(), "");
  EXPECT_EQ(open(), "");
  EXPECT_EQ(mode_of(folder_), 0700U);
  EXPECT_EQ(mode_of(segment()), 0600U);
}

TEST_F(StoreFolder, is_refused_with_the_fix_when_others_may_write_to_it) {
  ASSERT_EQ(open(), "");
  for (const fs::path& folder : {fs::path{options_.directory}, folder_}) {
    for (const unsigned mode : {0777U, 0770U}) {
      set_mode(folder, mode);
      const std::string said = open();
      EXPECT_NE(said.find("chmod go-w " + folder.string()), std::string::npos) << said;
    }
    set_mode(folder, 0700);
  }
  EXPECT_EQ(open(), "");
}

TEST_F(StoreFolder, is_refused_when_everybody_can_replace_it) {
  ASSERT_EQ(open(), "");
  set_mode(root_.path(), 0777);
  const std::string said = open();
  EXPECT_NE(said.find("chmod o-w " + root_.path().string()), std::string::npos) << said;
  set_mode(root_.path(), 01777);
  EXPECT_EQ(open(), "") << "as /tmp is";
}

TEST_F(StoreFolder, is_refused_when_a_session_s_folder_is_a_symbolic_link) {
  ASSERT_EQ(open(), "");
  fs::rename(folder_, root_.path() / "elsewhere");
  fs::create_directory_symlink(root_.path() / "elsewhere", folder_);
  const std::string said = open();
  EXPECT_NE(said.find(folder_.string() + " is a symbolic link"), std::string::npos) << said;
}

TEST_F(StoreFolder, may_be_a_symbolic_link_itself) {
  ASSERT_EQ(open(), "");
  fs::rename(options_.directory, root_.path() / "elsewhere");
  fs::create_directory_symlink(root_.path() / "elsewhere", options_.directory);
  EXPECT_EQ(open(), "");
}

TEST_F(StoreFolder, corrects_the_mode_of_a_file_that_others_could_read_and_says_it) {
  ASSERT_EQ(open(), "");
  fs::create_directory(folder_ / "archive");
  const fs::path archived = folder_ / "archive" / "00000001-20240315-093000.nfxj";
  fs::copy_file(segment(), archived);
  set_mode(segment(), 0644);
  set_mode(archived, 0666);
  const std::string said = open();
  EXPECT_NE(said.find(segment().string() + ": mode changed from 0644"), std::string::npos) << said;
  EXPECT_NE(said.find(archived.string() + ": mode changed from 0666"), std::string::npos) << said;
  EXPECT_EQ(mode_of(segment()), 0600U);
  EXPECT_EQ(mode_of(archived), 0600U);
  EXPECT_EQ(open(), "");
}

TEST_F(StoreFolder, is_refused_when_another_user_owns_it_or_a_file_in_it) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  constexpr uid_t another = 12345;
  ASSERT_EQ(open(), "");
  for (const fs::path& path : {fs::path{options_.directory}, folder_, segment()}) {
    ASSERT_EQ(::chown(path.c_str(), another, static_cast<gid_t>(-1)), 0);
    const std::string said = open();
    EXPECT_NE(said.find(path.string() + " belongs to user 12345"), std::string::npos) << said;
    ASSERT_EQ(::chown(path.c_str(), 0, static_cast<gid_t>(-1)), 0);
  }
  EXPECT_EQ(open(), "");
}

}  // namespace
}  // namespace nfx
