// The folder of a journal: what is left of it when nothing was stored.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/store/journal_reader.hpp"
#include "nexusfix/store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
namespace fs = std::filesystem;

constexpr std::string_view identity = "FIX.4.4:US->THEM";
const fs::path root = "/store";

class JournalFolder : public testing::Test {
 protected:
  JournalFolder() {
    options_.directory = root;
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
  }
  JournalStore open() { return JournalStore(disk_, options_, identity, UtcTime(1s)); }
  void store_a_message() { ASSERT_TRUE(open().append(SeqNum{1}, "a message")); }
  void discard() { open().discard_if_new(); }

  [[nodiscard]] std::vector<std::string> folders() {
    return disk_.exists(root) ? *disk_.list(root) : std::vector<std::string>{};
  }

  MemoryDisk disk_;
  JournalOptions options_;
};

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
  const fs::path folder = session_folder(root, identity);
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

TEST_F(JournalFolder, goes_when_it_cannot_be_begun_on_a_full_disk) {
  ASSERT_TRUE(disk_.make_folder(root));
  disk_.fill(10'000);
  EXPECT_THROW(open(), StoreError);
  EXPECT_TRUE(folders().empty());
}

// A process that is killed at any change leaves what the next one takes for new, and removes.
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
  EXPECT_GT(changes, 10U);
}

TEST_F(JournalFolder, is_whole_or_new_after_a_power_loss_while_it_is_removed) {
  for (std::uint64_t changes = 0; changes < 60; ++changes) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      MemoryDisk disk;
      disk.die_at(changes);
      try {
        JournalStore(disk, options_, identity, UtcTime(1s)).discard_if_new();
      } catch (const StoreError&) {
        // As above.
      }
      disk.crash(MemoryDisk::Keep::part, seed);
      EXPECT_NO_THROW(JournalStore(disk, options_, identity, UtcTime(1s))) << changes << ' ' << seed;
    }
  }
}

}  // namespace
}  // namespace nfx
