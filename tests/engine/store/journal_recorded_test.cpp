// Records of a recording in a journal: two pieces that become one body, no index, and space reserved in advance.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

JournalOptions recording_options() {
  JournalOptions options;
  options.directory = "/store";
  options.ring_directory = "/ring";
  options.segment_size = 1024 * 1024;
  options.ring_size = 512 * 1024;
  options.retain_messages = 0;
  options.zeros_ahead = false;
  return options;
}

TEST(JournalRecorded, has_both_pieces_as_one_body_that_is_marked_and_not_indexed) {
  test::MemoryDisk disk;
  {
    JournalStore store{disk, recording_options(), "recording", UtcTime{1s}};
    ASSERT_TRUE(store.append_recorded(SeqNum{1}, "head", "and bytes", UtcTime{2s}));
    ASSERT_TRUE(store.append_recorded(SeqNum{2}, "head", "", UtcTime{3s}));
    EXPECT_EQ(store.read(SeqNum{1}), std::nullopt);
    EXPECT_EQ(store.last_kept(), SeqNum{0});
  }
  std::vector<std::string> bodies;
  const JournalScan scan = scan_journal(disk, session_folder("/store", "recording"), [&](const JournalRecord& record) {
    if (record.header.kind != RecordKind::message) return true;
    EXPECT_TRUE(has_flag(record.header, RecordFlag::recorded));
    bodies.emplace_back(record.body);
    return true;
  });
  EXPECT_FALSE(scan.damage.has_value());
  EXPECT_EQ(bodies, (std::vector<std::string>{"headand bytes", "head"}));
  const JournalStore again{disk, recording_options(), "recording", UtcTime{4s}};
  EXPECT_EQ(again.next_outbound(), SeqNum{3});
}

TEST(JournalRecorded, finds_the_space_that_was_prepared_though_no_flusher_has_come) {
  test::MemoryDisk disk;
  JournalStore store{disk, recording_options(), "recording", UtcTime{1s}};
  store.prepare(400 * 1024);
  JournalFlusher flusher;
  flusher.add(store);
  const std::string bytes(1000, 'b');
  std::uint64_t number = 1;
  while (number <= 350 && store.append_recorded(SeqNum{number}, "head", bytes, UtcTime{2s})) ++number;
  EXPECT_EQ(number, 351u);
}

}  // namespace
}  // namespace nfx
