// Only regular files of a bounded size are read, and nothing else makes the caller wait.
#include "base/regular_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace nfx {
namespace {

class RegularFiles : public ::testing::Test {
 protected:
  RegularFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "nfx-regular-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RegularFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::filesystem::path write(std::string_view text, unsigned mode = 0640) const {
    const std::filesystem::path file = folder_ / "file";
    std::ofstream{file, std::ios::binary} << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
  [[nodiscard]] std::filesystem::path fifo() const {
    const std::filesystem::path file = folder_ / "fifo";
    EXPECT_EQ(::mkfifo(file.c_str(), 0600), 0);
    return file;
  }

  std::filesystem::path folder_;
};

TEST_F(RegularFiles, a_file_is_read_whole_with_its_mode_and_owner) {
  const auto read = read_regular_file(write(std::string(200'000, 'x')), 200'000);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->text, std::string(200'000, 'x'));
  EXPECT_EQ(read->mode, 0640U);
  EXPECT_EQ(read->owner, ::geteuid());
  EXPECT_EQ(read_regular_file(write(""), 0)->text, "");
}

TEST_F(RegularFiles, a_file_of_proc_is_read_although_it_states_no_size) {
  EXPECT_NE(read_regular_file("/proc/self/status", 1 << 20)->text.find("Pid:"), std::string::npos);
  EXPECT_EQ(read_regular_file("/proc/self/status", 10).error().why, "it is larger than 10 bytes");
}

TEST_F(RegularFiles, a_file_above_the_bound_is_refused) {
  EXPECT_EQ(read_regular_file(write(std::string(1025, 'x')), 1024).error().why, "it is larger than 1 KiB");
  EXPECT_TRUE(read_regular_file(write(std::string(1024, 'x')), 1024).has_value());
}

TEST_F(RegularFiles, a_fifo_is_refused_for_reading_and_writing_without_waiting) {
  const std::filesystem::path file = fifo();
  EXPECT_EQ(read_regular_file(file, 100).error().why, "it is a FIFO, not a regular file");
  EXPECT_EQ(open_regular_file(file, O_WRONLY | O_APPEND | O_CREAT).error().why, "it is a FIFO, not a regular file");
  const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(open_regular_file(file, O_WRONLY | O_APPEND | O_CREAT).error().why, "it is a FIFO, not a regular file");
  ::close(reader);
}

TEST_F(RegularFiles, devices_and_folders_are_refused) {
  EXPECT_EQ(read_regular_file("/dev/zero", 100).error().why, "it is a device, not a regular file");
  EXPECT_EQ(read_regular_file(folder_, 100).error().why, "it is a folder");
  EXPECT_EQ(read_regular_file(folder_ / "none", 100).error().code, ENOENT);
}

TEST_F(RegularFiles, an_opened_file_is_written_as_by_open) {
  const std::filesystem::path file = folder_ / "new";
  const auto fd = open_regular_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_TRUE(fd.has_value());
  EXPECT_EQ(::write(*fd, "a\n", 2), 2);
  ::close(*fd);
  EXPECT_EQ(read_regular_file(file, 10)->text, "a\n");
  EXPECT_EQ(read_regular_file(file, 10)->mode, 0600U);
}

}  // namespace
}  // namespace nfx
