// The folder of a journal: its name, the name given by earlier versions, and the files left if nothing was stored.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

const fs::path root = "/store";
const fs::path former = root / "8dfc14cb50e6ac38";  // the folder name of `session_name` in earlier versions

class JournalFolder : public testing::Test {
 protected:
  JournalFolder() {
    options_.directory = root;
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
  }
  JournalStore open(std::string_view name = session_name) { return JournalStore(disk_, options_, name, UtcTime(1s)); }
  void store_a_message(std::string_view name = session_name) { ASSERT_TRUE(open(name).append(SeqNum{1}, "a message")); }
  void discard() { open().discard_if_new(); }

  void move_folder(const fs::path& from, const fs::path& to) {
    ASSERT_TRUE(disk_.make_folder(to));
    const auto names = disk_.list(from);
    ASSERT_TRUE(names);
    for (const std::string& name : *names) ASSERT_TRUE(disk_.rename(from / name, to / name));
    ASSERT_TRUE(disk_.remove_folder(from));
  }
  [[nodiscard]] std::vector<std::string> folders() {
    return disk_.exists(root) ? *disk_.list(root) : std::vector<std::string>{};
  }

  MemoryDisk disk_;
  JournalOptions options_;
};

TEST_F(JournalFolder, has_32_digits_of_a_hash_that_does_not_change) {
  store_a_message();
  EXPECT_EQ(folders(), std::vector<std::string>{"11e47ec7d163a8407e8a0596e046cc5b"});
}

TEST_F(JournalFolder, of_a_former_name_is_used_on) {
  store_a_message();
  move_folder(session_folder(root, session_name), former);
  {
    JournalStore store = open();
    EXPECT_EQ(store.read(SeqNum{1}), "a message");
    ASSERT_TRUE(store.append(SeqNum{2}, "in the ring"));
    disk_.die_now();
  }
  disk_.kill();
  EXPECT_EQ(open().read(SeqNum{2}), "in the ring") << "of a killed process";
  EXPECT_EQ(folders(), std::vector<std::string>{former.filename().string()});
  ASSERT_EQ(list_sessions(disk_, root).size(), 1U);
  EXPECT_EQ(list_sessions(disk_, root)[0].identity, session_name);
}

TEST_F(JournalFolder, of_a_former_name_stays_another_session_s) {
  store_a_message("FIX.4.4:US->OTHER");
  move_folder(session_folder(root, "FIX.4.4:US->OTHER"), former);
  EXPECT_EQ(open().read(SeqNum{1}), std::nullopt);
  EXPECT_EQ(folders().size(), 2U);
  EXPECT_EQ(list_sessions(disk_, root).size(), 2U);
}

TEST_F(JournalFolder, of_a_former_name_is_not_passed_over_when_its_header_is_damaged) {
  store_a_message();
  move_folder(session_folder(root, session_name), former);
  const auto names = disk_.list(former);
  for (const std::string& name : *names) {
    if (name.ends_with(".nfxj")) disk_.bytes(former / name)[20] ^= 1;
  }
  EXPECT_THROW(open(), StoreError);
}

TEST_F(JournalFolder, goes_with_a_journal_in_which_nothing_was_stored) {
  discard();
  EXPECT_TRUE(folders().empty());
  store_a_message();
  EXPECT_EQ(open().read(SeqNum{1}), "a message");
}

TEST_F(JournalFolder, stays_with_a_journal_in_which_something_was_stored) {
  store_a_message();
  discard();
  EXPECT_EQ(open().read(SeqNum{1}), "a message");
}

TEST_F(JournalFolder, stays_with_what_was_put_there) {
  const fs::path folder = session_folder(root, session_name);
  ASSERT_TRUE(disk_.make_folder(folder / "archive"));
  ASSERT_TRUE(disk_.open(folder / "archive" / "note", OpenMode::create));
  discard();
  EXPECT_TRUE(disk_.exists(folder / "archive" / "note"));
  ASSERT_TRUE(disk_.remove(folder / "archive" / "note"));
  ASSERT_TRUE(disk_.remove_folder(folder / "archive"));
  ASSERT_TRUE(disk_.open(folder / "note", OpenMode::create));
  discard();
  EXPECT_TRUE(disk_.exists(folder / "note"));
  EXPECT_TRUE(disk_.exists(folder / "lock"));
}

// As a cleaner of old files may do.
TEST(LockOfAFolder, holds_when_its_file_is_removed) {
  const test::TemporaryFolder folder;
  Disk& disk = posix_disk();
  const fs::path path = folder.path() / "lock";
  auto held = disk.lock(path);
  ASSERT_TRUE(held);
  ASSERT_TRUE(disk.remove(path));
  const auto second = disk.lock(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
  held->reset();
  EXPECT_TRUE(disk.lock(path));
}

TEST_F(JournalFolder, goes_when_it_cannot_be_begun_on_a_full_disk) {
  ASSERT_TRUE(disk_.make_folder(root));
  disk_.fill(10'000);
  EXPECT_THROW(open(), StoreError);
  EXPECT_TRUE(folders().empty());
}

// If a process is killed at any change, the next one treats the files as new, and removes them.
TEST_F(JournalFolder, goes_with_what_a_killed_process_left_of_it) {
  std::uint64_t changes = 0;
  for (bool whole = false; !whole; ++changes) {
    disk_.die_at(changes);
    try {
      discard();
    } catch (const StoreError&) {
      // Killed while it opened the store.
    }
    whole = !disk_.dead();
    disk_.kill();
    discard();
    ASSERT_TRUE(folders().empty()) << "killed at change " << changes;
  }
  EXPECT_GT(changes, 5U);
}

TEST_F(JournalFolder, is_whole_or_new_after_a_power_loss_while_it_is_removed) {
  for (std::uint64_t changes = 0; changes < 60; ++changes) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      MemoryDisk disk;
      disk.die_at(changes);
      try {
        JournalStore(disk, options_, session_name, UtcTime(1s)).discard_if_new();
      } catch (const StoreError&) {
        // As above.
      }
      disk.crash(MemoryDisk::Keep::part, seed);
      EXPECT_NO_THROW(JournalStore(disk, options_, session_name, UtcTime(1s))) << changes << ' ' << seed;
    }
  }
}

}  // namespace
}  // namespace nfx
