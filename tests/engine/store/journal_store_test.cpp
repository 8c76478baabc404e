// The journal as a message store.
#include "store/journal_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "store/flusher_thread.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/memory_disk.hpp"
#include "temporary_folder.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view identity = "FIX.4.4:US->THEM";

class JournalOnDisk : public testing::Test {
 protected:
  JournalOnDisk() {
    options_.directory = root_.file("store");
    options_.ring_directory = root_.file("ring");
    options_.segment_size = 64 * 1024;
    options_.ring_size = 64 * 1024;
    options_.retain_messages = 1 << 16;
  }

  JournalStore open() { return JournalStore(posix_disk(), options_, identity, UtcTime(1s)); }
  [[nodiscard]] fs::path folder() const { return session_folder(options_.directory, identity); }

  test::TemporaryFolder root_;
  JournalOptions options_;
};

std::string text(std::uint64_t seq, std::size_t size = 200) {
  std::string bytes = "message " + std::to_string(seq) + ' ';
  while (bytes.size() < size) bytes.push_back(static_cast<char>('a' + (bytes.size() + seq) % 26));
  return bytes;
}

TEST_F(JournalOnDisk, gives_back_the_bytes_it_was_given) {
  JournalStore store = open();
  EXPECT_TRUE(store.append(SeqNum{1}, "first"));
  EXPECT_TRUE(store.append(SeqNum{2}, "second"));
  EXPECT_EQ(store.read(SeqNum{1}), "first");
  EXPECT_EQ(store.read(SeqNum{2}), "second");
  EXPECT_EQ(store.read(SeqNum{3}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{0}), std::nullopt);
}

TEST_F(JournalOnDisk, forgets_the_messages_whose_numbers_an_operator_sets_back) {
  {
    JournalStore store = open();
    for (std::uint64_t i = 1; i <= 9; ++i) ASSERT_TRUE(store.append(SeqNum{i}, text(i)));
    ASSERT_TRUE(store.set_number({.inbound = false, .seq = SeqNum{5}, .reason = "set back"}, UtcTime(1s)));
    store.set_next_outbound(SeqNum{6});  // a session message, which is not stored
    EXPECT_EQ(store.read(SeqNum{5}), std::nullopt);
    EXPECT_EQ(store.read(SeqNum{4}), text(4));
  }
  JournalStore store = open();
  EXPECT_EQ(store.next_outbound(), SeqNum{6});
  EXPECT_EQ(store.read(SeqNum{5}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{9}), std::nullopt);
  EXPECT_EQ(store.read(SeqNum{4}), text(4));
}

TEST_F(JournalOnDisk, has_messages_and_numbers_after_an_end_in_order) {
  {
    JournalStore store = open();
    for (std::uint64_t seq = 1; seq <= 20; ++seq) ASSERT_TRUE(store.append(SeqNum{seq}, text(seq)));
    store.set_next_outbound(SeqNum{21});
    store.set_next_inbound(SeqNum{7});
  }
  JournalStore store = open();
  EXPECT_TRUE(store.recovery().clean);
  EXPECT_EQ(store.recovery().taken_from_ring, 0U);
  EXPECT_EQ(store.next_outbound(), SeqNum{21});
  EXPECT_EQ(store.next_inbound(), SeqNum{7});
  EXPECT_EQ(store.creation_time(), UtcTime(1s));
  for (std::uint64_t seq = 1; seq <= 20; ++seq) ASSERT_EQ(store.read(SeqNum{seq}), text(seq)) << seq;
}

// Until the flusher has written it, the record of a process's start may be only in the ring.
TEST_F(JournalOnDisk, has_what_a_killed_process_left_in_memory_behind_an_end_in_order) {
  test::MemoryDisk disk;
  options_.directory = "/store";
  options_.ring_directory = "/ring";
  const auto open_there = [&] { return JournalStore(disk, options_, identity, UtcTime(1s)); };
  {
    JournalStore store = open_there();
    ASSERT_TRUE(store.append(SeqNum{1}, text(1)));
  }
  {
    JournalStore store = open_there();
    EXPECT_TRUE(store.recovery().clean);
    ASSERT_TRUE(store.append(SeqNum{2}, text(2)));
    disk.die_now();
  }
  disk.kill();
  JournalStore store = open_there();
  EXPECT_FALSE(store.recovery().clean);
  EXPECT_GT(store.recovery().taken_from_ring, 0U);
  EXPECT_EQ(store.next_outbound(), SeqNum{3});
  EXPECT_EQ(store.read(SeqNum{2}), text(2));
}

TEST_F(JournalOnDisk, goes_over_many_segments_and_reads_back_from_files_what_the_ring_no_longer_holds) {
  JournalStore store = open();
  JournalFlusher flusher;
  flusher.add(store);
  Instant now{UtcTime(2s), MonotonicTime(1s)};
  for (std::uint64_t seq = 1; seq <= 3000; ++seq) {
    while (!store.append(SeqNum{seq}, text(seq), now.utc)) {
      ASSERT_EQ(store.condition(), StoreCondition::busy) << store.condition_text();
      flusher.turn(now);
      now.monotonic += 1ms;
    }
  }
  for (std::uint64_t seq = 1; seq <= 3000; ++seq) ASSERT_EQ(store.read(SeqNum{seq}), text(seq)) << seq;
  EXPECT_GT(store.counters().segments, 5U);
  EXPECT_GT(store.counters().read_from_file, 2000U);
}

TEST_F(JournalOnDisk, refuses_a_second_process_and_names_the_first) {
  const JournalStore store = open();
  try {
    (void)open();
    FAIL() << "two stores hold one session";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("process " + std::to_string(::getpid())), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(holder(posix_disk(), folder()), ::getpid());
}

TEST_F(JournalOnDisk, is_held_by_nobody_after_an_end_in_order_and_leaves_no_ring) {
  (void)open();
  EXPECT_EQ(holder(posix_disk(), folder()), std::nullopt);
  EXPECT_TRUE(fs::is_empty(options_.ring_directory));
}

TEST_F(JournalOnDisk, keeps_its_files_from_other_users) {
  const JournalStore store = open();
  for (const fs::path& path : {folder() / "00000001.nfxj", ring_path(options_.ring_directory, folder())}) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write) << path;
  }
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
}

TEST_F(JournalOnDisk, says_which_option_is_out_of_range) {
  const auto refusal = [&](auto change) -> std::string {
    const JournalOptions before = options_;
    change(options_);
    std::string text = "opened";
    try {
      (void)open();
    } catch (const StoreError& error) {
      text = error.what();
    }
    options_ = before;
    return text;
  };
  EXPECT_NE(refusal([](auto& o) { o.ring_size = 100'000; }).find("ring_size is 100000"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.segment_size = 1; }).find("segment_size is 1"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.sync_interval = Duration::zero(); }).find("sync_interval"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.directory.clear(); }).find("directory"), std::string::npos);
}

TEST_F(JournalOnDisk, lists_its_sessions_with_their_identities) {
  const JournalStore store = open();
  const auto sessions = list_sessions(posix_disk(), options_.directory);
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].identity, identity);
  EXPECT_EQ(sessions[0].folder, folder());
}

TEST_F(JournalOnDisk, waits_until_a_message_is_durable_behind_a_flusher_of_its_own_thread) {
  options_.durability = Durability::message;
  JournalStore store = open();
  JournalFlusher flusher;
  flusher.add(store);
  const FlusherThread thread{flusher};
  for (std::uint64_t seq = 1; seq <= 200; ++seq) {
    while (!store.append(SeqNum{seq}, text(seq))) store.want_sync();
    ASSERT_TRUE(store.wait_durable(store.position()));
    ASSERT_GE(store.durable(), store.position());
  }
  EXPECT_GE(store.counters().syncs, 200U);
}

}  // namespace
}  // namespace nfx
