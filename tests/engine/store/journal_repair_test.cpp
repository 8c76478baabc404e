// Repairing damaged journals, with and without a copy.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::MemoryDisk;
using test::session_name;
namespace fs = std::filesystem;

constexpr std::uint64_t messages = 900;

std::string text(std::uint64_t seq) { return "message " + std::to_string(seq) + std::string(150 + seq % 100, 'x'); }

class DamagedJournal : public testing::Test {
 protected:
  DamagedJournal() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    folder_ = session_folder(options_.directory, session_name);
    JournalStore store = open();
    JournalFlusher flusher;
    flusher.add(store);
    Instant now{UtcTime(2s), MonotonicTime(1s)};
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      while (!store.append(SeqNum{seq}, text(seq), now.utc)) {
        now.monotonic += 1ms;
        flusher.turn(now);
      }
      store.set_next_outbound(SeqNum{seq + 1});
    }
    store.set_next_inbound(SeqNum{77});
  }

  JournalStore open() { return JournalStore(disk_, options_, session_name, UtcTime(1s)); }
  [[nodiscard]] fs::path segment(int n) const { return folder_ / ("0000000" + std::to_string(n) + ".nfxj"); }

  [[nodiscard]] fs::path last_segment() { return scan_journal(disk_, folder_).segments.back().path; }

  // A copy of the current folder, for repair_from_copy.
  fs::path copy() {
    const fs::path to = "/copy";
    if (!disk_.make_folder(to)) ADD_FAILURE();
    const auto names = disk_.list(folder_);
    for (const std::string& name : *names) {
      if (!name.ends_with(".nfxj")) continue;
      auto file = disk_.open(to / name, OpenMode::create);
      if (!(*file)->write(0, disk_.bytes(folder_ / name))) ADD_FAILURE();
    }
    return to;
  }

  std::string refusal() {
    try {
      open();
    } catch (const StoreError& error) {
      return error.what();
    }
    return "opened";
  }

  // The sent sequence numbers that cannot be read; compares all readable ones.
  std::vector<std::uint64_t> lost(const JournalStore& store) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      const auto kept = store.read(SeqNum{seq});
      if (!kept) {
        numbers.push_back(seq);
      } else {
        EXPECT_EQ(*kept, text(seq));
      }
    }
    return numbers;
  }

  MemoryDisk disk_;
  JournalOptions options_;
  fs::path folder_;
};

TEST_F(DamagedJournal, is_not_opened_and_the_error_names_file_offset_and_both_repairs) {
  disk_.bytes(segment(2))[10'000] ^= 1;
  const std::string text = refusal();
  EXPECT_NE(text.find(segment(2).string() + ", offset "), std::string::npos) << text;
  EXPECT_NE(text.find("--gap-fill"), std::string::npos) << text;
  EXPECT_NE(text.find("--from COPY"), std::string::npos) << text;
}

TEST_F(DamagedJournal, loses_one_message_by_gap_fill_after_one_flipped_bit) {
  disk_.bytes(segment(2))[10'000] ^= 1;
  const std::string said = repair_by_gap_fill(disk_, folder_);
  EXPECT_NE(said.find("lost ("), std::string::npos) << said;
  EXPECT_TRUE(disk_.exists(segment(2).string() + ".damaged"));
  const JournalStore store = open();
  EXPECT_EQ(lost(store).size(), 1U);
  EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
  EXPECT_EQ(store.next_inbound(), SeqNum{77});
}

TEST_F(DamagedJournal, loses_nothing_when_a_copy_has_what_is_damaged) {
  const fs::path from = copy();
  disk_.bytes(segment(1)).replace(20'000, 3000, 3000, '\0');
  disk_.bytes(segment(2))[30'000] ^= 4;
  disk_.bytes(segment(3))[100] ^= 1;  // in the header
  const std::string said = repair_from_copy(disk_, folder_, from);
  EXPECT_NE(said.find("taken from the copy"), std::string::npos) << said;
  EXPECT_TRUE(lost(open()).empty());
}

TEST_F(DamagedJournal, finds_the_base_of_a_segment_whose_header_is_lost) {
  disk_.bytes(segment(2)).replace(0, 600, 600, '\xFF');
  EXPECT_NE(refusal().find("header"), std::string::npos);
  (void)repair_by_gap_fill(disk_, folder_);
  EXPECT_TRUE(lost(open()).empty());
}

TEST_F(DamagedJournal, has_one_hole_in_a_segment_whose_header_is_lost_and_whose_file_was_cut) {
  for (const std::size_t size : {10'001U, 10'004U, 20'000U}) {
    SCOPED_TRACE(size);
    const MemoryDisk before = disk_;
    disk_.bytes(segment(2)).replace(0, 600, 600, '\xFF');
    disk_.bytes(segment(2)).resize(size);
    (void)repair_by_gap_fill(disk_, folder_);
    {
      const JournalStore store = open();
      const std::vector<std::uint64_t> numbers = lost(store);
      ASSERT_FALSE(numbers.empty());
      EXPECT_EQ(numbers.back() - numbers.front() + 1, numbers.size()) << "all before and after it are there";
      EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
    }
    disk_ = before;
  }
}

TEST_F(DamagedJournal, goes_on_behind_a_segment_that_is_missing) {
  ASSERT_TRUE(disk_.remove(segment(2)));
  EXPECT_NE(refusal().find("missing"), std::string::npos);
  (void)repair_by_gap_fill(disk_, folder_);
  const JournalStore store = open();
  EXPECT_GT(lost(store).size(), 100U);
  EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
}

TEST_F(DamagedJournal, is_not_opened_without_its_last_segment_while_the_one_after_it_shows_that) {
  ASSERT_TRUE(disk_.remove(last_segment()));
  EXPECT_NE(refusal().find("which is missing"), std::string::npos) << refusal();
  const std::string said = repair_by_gap_fill(disk_, folder_);
  EXPECT_NE(said.find("its records are lost"), std::string::npos) << said;
  EXPECT_NE(said.find("may be too low"), std::string::npos) << said;
  const JournalStore store = open();
  EXPECT_FALSE(lost(store).empty());
  EXPECT_LT(store.next_outbound(), SeqNum{messages + 1});
}

TEST_F(DamagedJournal, gets_its_last_segment_from_a_copy) {
  const fs::path from = copy();
  ASSERT_TRUE(disk_.remove(last_segment()));
  const std::string said = repair_from_copy(disk_, folder_, from);
  EXPECT_NE(said.find("records made after the copy are lost"), std::string::npos) << said;
  const JournalStore store = open();
  EXPECT_TRUE(lost(store).empty());
  EXPECT_EQ(store.next_outbound(), SeqNum{messages + 1});
}

TEST_F(DamagedJournal, is_not_begun_again_when_all_its_segments_are_missing) {
  const JournalScan whole = scan_journal(disk_, folder_);
  for (const SegmentInfo& each : whole.segments) ASSERT_TRUE(disk_.remove(each.path));
  EXPECT_NE(refusal().find("which is missing"), std::string::npos) << refusal();
  EXPECT_THROW((void)repair_by_gap_fill(disk_, folder_), StoreError);
}

TEST_F(DamagedJournal, that_is_whole_has_its_numbers_reported_and_what_was_not_checked) {
  const std::string numbers = "next inbound 77, next outbound " + std::to_string(messages + 1) + "\n";
  const std::string said = repair_by_gap_fill(disk_, folder_);
  EXPECT_TRUE(said.starts_with("nothing is damaged: segments ") && said.ends_with(numbers)) << said;
  const JournalScan whole = scan_journal(disk_, folder_);
  for (const fs::path& each : whole.spare) ASSERT_TRUE(disk_.remove(each));
  const std::string less = repair_by_gap_fill(disk_, folder_);
  EXPECT_NE(less.find(numbers + "deletions of later segments cannot be detected"), std::string::npos) << less;
}

TEST_F(DamagedJournal, is_not_repaired_by_a_copy_that_lacks_the_same_records) {
  const fs::path from = copy();
  disk_.bytes(from / "00000002.nfxj")[10'000] ^= 1;
  disk_.bytes(segment(2))[10'000] ^= 1;
  EXPECT_THROW((void)repair_from_copy(disk_, folder_, from), StoreError);
}

TEST_F(DamagedJournal, is_not_repaired_while_a_process_has_it_open) {
  const JournalStore store = open();
  EXPECT_THROW((void)repair_by_gap_fill(disk_, folder_), StoreError);
}

TEST_F(DamagedJournal, is_read_up_to_the_damage_and_never_with_a_message_that_was_not_sent) {
  std::mt19937_64 random(5);
  std::size_t damages = 0;
  for (int round = 0; round < 60; ++round) {
    std::string& bytes = disk_.bytes(segment(1 + static_cast<int>(random() % 3)));
    const std::string before = bytes;
    for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    const JournalScan scan = scan_journal(disk_, folder_, [](const JournalRecord& record) {
      const bool right = record.header.kind != RecordKind::message || record.body == text(record.header.seq);
      EXPECT_TRUE(right) << record.header.seq;
      return right;
    });
    if (scan.damage) ++damages;
    bytes = before;
  }
  EXPECT_GT(damages, 40U);
}

}  // namespace
}  // namespace nfx
