// A journal is shown, verified in parts and read from its end while its store is open.
#include "control/store_view.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "dictionary/support.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx::control {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;

class StoreViewTest : public ::testing::Test {
 protected:
  void open(std::uint64_t segment_size) {
    JournalOptions options;
    options.directory = "/store";
    options.ring_directory = "/ring";
    options.segment_size = segment_size;
    store.emplace(disk, options, "FIX.4.4:A->B", UtcTime{1s});
  }
  void send(std::size_t text_size, std::string_view fields = {}) {
    const SeqNum seq{++sent};
    const std::string message = dictionary_test::message(
        "FIX.4.4", "D",
        "34=" + std::to_string(value(seq)) + "|" + std::string{fields} + "58=" + std::string(text_size, 'x') + "|");
    while (!store->append(seq, message, UtcTime{2s})) ASSERT_TRUE(store->sync(UtcTime{2s}));
  }
  JournalStatus status() {
    EXPECT_TRUE(store->sync(UtcTime{3s}));
    return {.status = CommandStatus::done,
            .exists = true,
            .session = "FIX.4.4:A->B",
            .folder = store->folder(),
            .position = store->position()};
  }

  MemoryDisk disk;
  std::optional<JournalStore> store;
  std::uint64_t sent = 0;
};

TEST_F(StoreViewTest, a_journal_is_verified_part_after_part_as_if_it_were_read_at_once) {
  open(1024 * 1024);
  constexpr std::uint64_t messages = 5000;
  for (std::uint64_t i = 0; i < messages; ++i) send(8000);
  const JournalStatus journal = status();
  JournalPosition from = 0;
  std::uint64_t parts = 0, found = 0;
  for (bool complete = false; !complete; ++parts) {
    const StoreVerification part = verify_store(disk, journal, from);
    EXPECT_FALSE(part.damage);
    EXPECT_EQ(part.found, 0U);
    EXPECT_GT(part.to, from);
    EXPECT_LT(part.to - from, verified_bytes + 1024 * 1024);
    found += part.messages;
    complete = part.complete;
    from = part.to;
  }
  EXPECT_EQ(found, messages);
  EXPECT_EQ(parts, 3U);
  EXPECT_EQ(from, journal.position);
}

TEST_F(StoreViewTest, a_changed_byte_is_found_with_its_place) {
  open(64 * 1024);
  for (int i = 0; i < 100; ++i) send(1000);
  const JournalStatus journal = status();
  const std::filesystem::path file = journal.folder / "00000001.nfxj";
  {
    const auto opened = disk.open(file, OpenMode::write);
    ASSERT_TRUE(opened);
    const char wrong = '!';
    ASSERT_TRUE((*opened)->write(20'000, {&wrong, 1}));
  }
  const StoreVerification verified = verify_store(disk, journal, 0);
  ASSERT_TRUE(verified.damage);
  EXPECT_FALSE(verified.torn);
  EXPECT_EQ(verified.damage->file, file.string());
  EXPECT_EQ(verified.damage->reason, "the checksum of a record is wrong");
}

TEST_F(StoreViewTest, the_last_messages_come_in_order_with_secrets_masked) {
  open(64 * 1024);
  for (int i = 0; i < 200; ++i) send(1000);
  send(1, "554=secret|");
  send(9000);
  const std::vector<RecentMessage> last = store_tail(disk, status(), 3);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].number, 200U);
  EXPECT_EQ(last[2].number, 202U);
  EXPECT_FALSE(last[1].cut);
  EXPECT_TRUE(last[2].cut);
  EXPECT_GT(last[2].size, 9000U);
  const auto password = std::ranges::find(last[1].fields, Tag{554}, &ShownField::tag);
  ASSERT_NE(password, last[1].fields.end());
  EXPECT_EQ(password->value, "***");
}

TEST_F(StoreViewTest, what_is_before_the_last_bytes_is_not_read) {
  open(1024 * 1024);
  for (int i = 0; i < 1000; ++i) send(8000);
  const std::vector<RecentMessage> last = store_tail(disk, status(), 1000);
  EXPECT_EQ(last.back().number, 1000U);
  EXPECT_GT(last.size(), tail_bytes / 9000);
  EXPECT_LT(last.size(), tail_bytes / 7000);
}

TEST_F(StoreViewTest, shows_how_many_files_there_are) {
  open(64 * 1024);
  for (int i = 0; i < 200; ++i) send(1000);
  const StoreView view = store_view(disk, status());
  EXPECT_GE(view.segments.files, 4U);
  EXPECT_GE(view.segments.bytes, 200'000U);
  EXPECT_EQ(view.archived.files, 0U);
}

}  // namespace
}  // namespace nfx::control
