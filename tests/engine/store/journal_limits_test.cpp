// A journal at its limits: the ring, the segment, the disk, and the archive.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "store/journal_archive.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;

class JournalLimits : public testing::Test {
 protected:
  JournalLimits() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    folder_ = session_folder(options_.directory, "A->B");
  }

  void open() {
    store_.emplace(disk_, options_, "A->B", UtcTime(1s));
    flusher_.add(*store_);
  }
  void close() { store_.reset(); }
  // Has the flusher prepare space for a session in use.
  void use() {
    store_->prepare();
    turn();
  }

  bool append(std::size_t size = 1000) {
    const bool kept = store_->append(SeqNum{seq_}, std::string(size, static_cast<char>('a' + seq_ % 26)), now_.utc);
    if (kept) store_->set_next_outbound(SeqNum{++seq_});
    return kept;
  }
  // One message, and a reset that archives it.
  bool append_and_reset() {
    seq_ = 1;
    if (!append(100)) return false;
    store_->reset(now_.utc);
    return true;
  }
  void turn(Duration later = 20ms) {
    now_.monotonic += later;
    now_.utc += later;
    (void)flusher_.turn(now_);
  }
  // Appends, with iterations in between, until `segments` more were started.
  void fill_segments(std::uint64_t segments) {
    const std::uint64_t wanted = store_->counters().segments + segments;
    for (int i = 0; i < 2000 && store_->counters().segments < wanted; ++i) {
      (void)append();
      turn();
    }
    ASSERT_EQ(store_->counters().segments, wanted);
    turn();
  }
  [[nodiscard]] std::size_t files(const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const std::string& name : disk_.list(folder).value_or(std::vector<std::string>{})) {
      count += name.ends_with(".nfxj") ? 1 : 0;
    }
    return count;
  }

  MemoryDisk disk_;
  JournalOptions options_;
  std::filesystem::path folder_;
  JournalFlusher flusher_;
  std::optional<JournalStore> store_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  std::uint64_t seq_ = 1;
};

TEST_F(JournalLimits, is_busy_while_the_ring_is_full_and_goes_on_when_the_flusher_has_written) {
  open();
  use();
  while (append()) continue;
  EXPECT_EQ(store_->condition(), StoreCondition::busy);
  EXPECT_NE(store_->condition_text().find("ring"), std::string::npos) << store_->condition_text();
  EXPECT_FALSE(store_->accepts(1000));
  EXPECT_GT(store_->counters().ring_full, 0U);
  EXPECT_EQ(store_->counts().refused, 1U);
  turn();
  EXPECT_EQ(store_->condition(), StoreCondition::good);
  EXPECT_TRUE(append());
}

TEST_F(JournalLimits, refuses_messages_on_a_full_disk_while_numbers_still_go_until_room_is_made) {
  open();
  disk_.fill(0);
  for (int i = 0; i < 200 && append(); ++i) turn();
  EXPECT_EQ(store_->condition(), StoreCondition::full);
  EXPECT_NE(store_->condition_text().find("No space left on device"), std::string::npos) << store_->condition_text();
  EXPECT_FALSE(store_->accepts(1000));
  const JournalPosition before = store_->position();
  store_->set_next_outbound(SeqNum{++seq_}, now_.utc);  // a Logout
  EXPECT_GT(store_->position(), before);
  disk_.fill(MemoryDisk::never);
  turn(10ms);
  EXPECT_EQ(store_->condition(), StoreCondition::full) << "space was requested again before a second had passed";
  turn(1s);
  EXPECT_EQ(store_->condition(), StoreCondition::good);
  EXPECT_TRUE(append());
}

TEST_F(JournalLimits, reopens_with_the_numbers_that_it_had_when_they_used_up_the_whole_segment_of_a_full_disk) {
  open();
  disk_.fill(0);
  for (int i = 0; i < 200 && append(); ++i) turn();
  EXPECT_TRUE(store_->has_reserve());
  std::uint64_t inbound = 1;
  for (; inbound < 5000; ++inbound) {
    store_->set_next_inbound(SeqNum{inbound}, now_.utc);
    if (inbound % 50 == 0) turn();
  }
  EXPECT_FALSE(store_->has_reserve());
  EXPECT_GT(store_->counts().refused, 100U);
  store_->set_next_outbound(SeqNum{seq_ + 7}, now_.utc);
  close();
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_inbound(), SeqNum{4999});
  EXPECT_EQ(store_->next_outbound(), SeqNum{seq_ + 7});
}

TEST_F(JournalLimits, reopens_after_a_reset_that_a_full_disk_had_no_room_for) {
  open();
  disk_.fill(0);
  for (int i = 0; i < 200 && append(); ++i) turn();
  for (std::uint64_t inbound = 2; inbound < 5000; ++inbound) {
    store_->set_next_inbound(SeqNum{inbound}, now_.utc);
    if (inbound % 50 == 0) turn();
  }
  store_->reset(now_.utc);
  store_->set_next_outbound(SeqNum{2}, now_.utc);
  close();
  open();
  EXPECT_EQ(store_->next_inbound(), SeqNum{1});
  EXPECT_EQ(store_->next_outbound(), SeqNum{2});
  EXPECT_EQ(store_->creation_time(), now_.utc);
  EXPECT_EQ(store_->last_kept(), SeqNum{0});
}

TEST_F(JournalLimits, stays_failed_with_the_first_error_after_a_sync_that_failed_once) {
  open();
  ASSERT_TRUE(append());
  turn();
  disk_.fail_sync_after(0);
  ASSERT_TRUE(append());
  turn();
  EXPECT_EQ(store_->condition(), StoreCondition::failed);
  const std::string first = store_->condition_text();
  EXPECT_NE(first.find("sync /store/"), std::string::npos) << first;
  EXPECT_FALSE(append());
  EXPECT_FALSE(store_->wait_durable(store_->position()));
  turn();
  EXPECT_EQ(store_->condition_text(), first);
}

TEST_F(JournalLimits, has_what_was_appended_before_a_write_failed_when_it_is_opened_anew) {
  open();
  turn();
  disk_.fail_write_after(0);
  ASSERT_TRUE(append());
  ASSERT_TRUE(append());
  turn();
  ASSERT_EQ(store_->condition(), StoreCondition::failed);
  close();
  open();
  EXPECT_GT(store_->recovery().taken_from_ring, 2000U);
  EXPECT_EQ(store_->last_kept(), SeqNum{2});
  EXPECT_EQ(store_->condition(), StoreCondition::good);
}

TEST_F(JournalLimits, moves_the_segments_in_front_of_a_reset_to_the_archive) {
  open();
  fill_segments(2);
  ASSERT_EQ(files(folder_), 4U);  // with the spare
  store_->reset(now_.utc);
  turn();
  turn(1s);
  EXPECT_EQ(files(folder_ / "archive"), 3U);
  EXPECT_EQ(store_->next_outbound(), SeqNum{1});
  EXPECT_EQ(store_->oldest_kept(), SeqNum{0});
  close();
  open();
  EXPECT_EQ(store_->next_outbound(), SeqNum{1});
  EXPECT_EQ(store_->creation_time(), now_.utc - 1s - 20ms);
}

TEST_F(JournalLimits, deletes_the_segments_in_front_of_a_reset_when_told_to) {
  options_.archive = Archive::remove;
  open();
  fill_segments(2);
  store_->reset(now_.utc);
  turn();
  turn(1s);
  EXPECT_EQ(files(folder_ / "archive"), 0U);
  EXPECT_EQ(files(folder_), 2U);
}

TEST_F(JournalLimits, shortens_an_archived_segment_to_what_it_holds) {
  open();
  turn();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(100));
  turn();
  store_->reset(now_.utc);
  turn();
  turn(1s);
  const std::vector<ArchivedSegment> archived = list_archive(disk_, folder_);
  ASSERT_EQ(archived.size(), 1U);
  EXPECT_LT(archived[0].size, segment_header_size + 1024U);
  const JournalScan scan = scan_archived(disk_, archived[0]);
  EXPECT_FALSE(scan.damage) << scan.damage->reason;
  EXPECT_EQ(scan.next_outbound, SeqNum{4});
}

TEST_F(JournalLimits, needs_no_segment_for_a_reset_without_messages) {
  open();
  turn();
  for (int i = 0; i < 50; ++i) {
    store_->set_next_inbound(SeqNum{2}, now_.utc);
    store_->reset(now_.utc);
    turn(1s);
  }
  EXPECT_EQ(files(folder_ / "archive"), 0U);
  EXPECT_EQ(files(folder_), 2U);
  EXPECT_EQ(store_->next_inbound(), SeqNum{1});
}

TEST_F(JournalLimits, begins_a_segment_for_one_reset_in_a_minute) {
  open();
  use();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(append_and_reset());
    turn(1s);
    turn(200ms);
  }
  EXPECT_EQ(files(folder_ / "archive"), 1U);
  EXPECT_EQ(files(folder_), 2U);
  ASSERT_TRUE(append_and_reset());
  turn(1s);
  turn(1s);
  EXPECT_EQ(files(folder_ / "archive"), 2U);
}

TEST_F(JournalLimits, deletes_the_oldest_archived_segments_beyond_archive_bytes) {
  options_.archive_bytes = 1024 * 1024;
  open();
  use();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(append_and_reset());
    turn(1s);
    turn(1min);
  }
  EXPECT_LE(files(folder_ / "archive"), 17U) << "each counts as 64 KiB";
  EXPECT_GE(files(folder_ / "archive"), 14U);
  const auto archived = list_archive(disk_, folder_);
  ASSERT_FALSE(archived.empty());
  EXPECT_GE(archived.back().ordinal, 40U) << "the newest stay";
}

TEST_F(JournalLimits, deletes_archived_segments_at_their_age) {
  options_.archive_age = 24h;
  open();
  use();
  ASSERT_TRUE(append(100));
  store_->reset(now_.utc);
  turn(1s);
  turn(1s);
  ASSERT_EQ(files(folder_ / "archive"), 1U);
  turn(23h);
  EXPECT_EQ(files(folder_ / "archive"), 1U);
  turn(1h);
  turn(1h);
  EXPECT_EQ(files(folder_ / "archive"), 0U);
}

TEST_F(JournalLimits, removes_the_oldest_segments_beyond_retain_bytes_and_says_so_of_their_messages) {
  options_.retain_bytes = 3 * 64 * 1024;
  open();
  fill_segments(6);
  turn(1s);
  EXPECT_LE(files(folder_), 4U);
  EXPECT_GT(store_->oldest_kept(), SeqNum{1});
  EXPECT_EQ(store_->read(SeqNum{1}), std::nullopt);
  EXPECT_TRUE(store_->read(store_->oldest_kept()));
  EXPECT_GT(store_->counts().evicted, 0U);
  const SeqNum oldest = store_->oldest_kept();
  close();
  open();
  EXPECT_EQ(store_->oldest_kept(), oldest);
  EXPECT_EQ(store_->next_outbound(), SeqNum{seq_});
}

TEST_F(JournalLimits, removes_segments_whose_last_record_is_older_than_retain_age) {
  options_.retain_age = 60s;
  open();
  fill_segments(3);
  EXPECT_TRUE(store_->read(SeqNum{1}));
  turn(120s);
  EXPECT_EQ(store_->read(SeqNum{1}), std::nullopt);
  EXPECT_EQ(files(folder_), 2U);
}

TEST_F(JournalLimits, keeps_only_the_latest_numbers_and_counts_the_evicted) {
  options_.retain_messages = 3;
  open();
  turn();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(10));
  EXPECT_EQ(store_->oldest_kept(), SeqNum{3});
  EXPECT_EQ(store_->counts(), (StoreCounts{.appended = 5, .evicted = 2, .refused = 0}));
}

TEST_F(JournalLimits, forgets_later_messages_when_the_numbering_goes_back_also_after_reopening) {
  open();
  turn();
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(append(10));
  ASSERT_TRUE(store_->append(SeqNum{4}, "new4"));
  ASSERT_TRUE(store_->append(SeqNum{8}, "new8"));
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(store_->read(SeqNum{4}), "new4");
    EXPECT_EQ(store_->read(SeqNum{5}), std::nullopt);
    EXPECT_EQ(store_->read(SeqNum{8}), "new8");
    EXPECT_EQ(store_->read(SeqNum{9}), std::nullopt);
    close();
    open();
  }
}

TEST_F(JournalLimits, writes_nothing_for_a_number_that_the_message_in_front_says_already) {
  open();
  turn();
  ASSERT_TRUE(store_->append(SeqNum{1}, "x"));
  const JournalPosition position = store_->position();
  store_->set_next_outbound(SeqNum{2});
  EXPECT_EQ(store_->position(), position);
  store_->set_next_outbound(SeqNum{3});
  EXPECT_GT(store_->position(), position);
}

TEST_F(JournalLimits, records_why_a_person_set_a_number) {
  open();
  ASSERT_TRUE(store_->set_number(
      {.inbound = true, .seq = SeqNum{40}, .why = RecordFlag::by_operator, .reason = "the venue lost 12"}, now_.utc));
  close();
  std::string reason;
  (void)scan_journal(disk_, folder_, [&](const JournalRecord& record) {
    if (record.header.flags == static_cast<std::uint8_t>(RecordFlag::by_operator)) reason = record.body;
    return true;
  });
  EXPECT_EQ(reason, "the venue lost 12");
  open();
  EXPECT_EQ(store_->next_inbound(), SeqNum{40});
}

TEST_F(JournalLimits, takes_what_a_killed_process_left_in_a_ring_of_another_size) {
  open();
  ASSERT_TRUE(append());
  disk_.die_now();
  close();
  disk_.kill();
  options_.ring_size = 128 * 1024;
  open();
  EXPECT_EQ(store_->last_kept(), SeqNum{1});
  EXPECT_GT(store_->recovery().taken_from_ring, 1000U);
  EXPECT_FALSE(store_->recovery().clean);
}

TEST_F(JournalLimits, syncs_itself_over_many_segments_without_a_flusher) {
  open();
  flusher_.remove(*store_);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(append()) << i << ": " << store_->condition_text();
    ASSERT_TRUE(store_->wait_durable(store_->position()));
  }
  EXPECT_GT(store_->counters().segments, 3U);
}

}  // namespace
}  // namespace nfx
