// A journal is small until it is used, and grows with use: what it reserves and when, and what happens if it cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/forwarding_disk.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"
#include "store/sizes.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::kib;
using test::MemoryDisk;
namespace fs = std::filesystem;

// A disk that lists the operations on files and folders, and may refuse to provide memory.
class ListingDisk final : public ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;

  std::vector<std::string> done;
  bool memory_full = false;

  [[nodiscard]] std::size_t syncs() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(done, [](const std::string& each) { return each.starts_with("sync"); }));
  }

  DiskResult<std::unique_ptr<DiskFile>> open(const fs::path& path, OpenMode mode) override {
    auto opened = ForwardingDisk::open(path, mode);
    if (!opened) return opened;
    return std::make_unique<File>(*this, *std::move(opened), path.filename().string());
  }
  DiskResult<void> sync_folder(const fs::path& folder) override {
    done.push_back("sync folder " + folder.string());
    return ForwardingDisk::sync_folder(folder);
  }
  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const fs::path& path, std::size_t size) override {
    auto mapped = ForwardingDisk::map_shared(path, size);
    if (!mapped) return mapped;
    return std::make_unique<Memory>(*this, *std::move(mapped));
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(ListingDisk& disk, std::unique_ptr<DiskFile> inner, std::string name)
        : ForwardingFile(std::move(inner)), disk_(disk), name_(std::move(name)) {}
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      disk_.done.push_back((offset < segment_header_size ? "header " : "records ") + name_);
      return ForwardingFile::write(offset, bytes);
    }
    DiskResult<void> sync() override {
      disk_.done.push_back("sync " + name_);
      return ForwardingFile::sync();
    }

   private:
    ListingDisk& disk_;
    std::string name_;
  };
  class Memory final : public SharedMemory {
   public:
    Memory(ListingDisk& disk, std::unique_ptr<SharedMemory> inner) : disk_(disk), inner_(std::move(inner)) {}
    std::span<char> bytes() noexcept override { return inner_->bytes(); }
    [[nodiscard]] bool fresh() const noexcept override { return inner_->fresh(); }
    DiskResult<void> provide(std::size_t begin, std::size_t end) override {
      if (disk_.memory_full) return std::unexpected(DiskError{ENOSPC, "allocate memory"});
      return inner_->provide(begin, end);
    }

   private:
    ListingDisk& disk_;
    std::unique_ptr<SharedMemory> inner_;
  };
};

class JournalGrowth : public testing::Test {
 protected:
  JournalGrowth() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 4096 * kib;
    options_.ring_size = 2048 * kib;
    options_.retain_messages = 1 << 16;
    folder_ = session_folder(options_.directory, "A->B");
  }

  void open() {
    store_.emplace(disk_, options_, "A->B", UtcTime(1s));
    flusher_.add(*store_);
  }
  void close() { store_.reset(); }
  bool append(std::size_t size) {
    const bool kept = store_->append(SeqNum{seq_}, text(seq_, size), now_.utc);
    if (kept) store_->set_next_outbound(SeqNum{++seq_});
    return kept;
  }
  static std::string text(std::uint64_t seq, std::size_t size) {
    return std::string(size, static_cast<char>('a' + seq % 26));
  }
  void turn(Duration later = 20ms) {
    now_.monotonic += later;
    now_.utc += later;
    (void)flusher_.turn(now_);
  }
  [[nodiscard]] std::uint64_t file_size(std::string_view name) {
    return inner_.exists(folder_ / name) ? inner_.bytes(folder_ / name).size() : 0;
  }
  // The first segment as left by an earlier version: written to its end.
  void make_whole(std::string_view name) { inner_.bytes(folder_ / name).resize(options_.segment_size, '\0'); }

  MemoryDisk inner_;
  ListingDisk disk_{inner_};
  JournalOptions options_;
  fs::path folder_;
  JournalFlusher flusher_;
  std::optional<JournalStore> store_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  std::uint64_t seq_ = 1;
};

TEST_F(JournalGrowth, takes_a_few_kib_and_writes_and_syncs_nothing_more_while_it_is_not_used) {
  open();
  EXPECT_LE(inner_.used(), 16 * kib);
  const std::size_t done = disk_.done.size();
  for (int i = 0; i < 500; ++i) turn();
  EXPECT_EQ(disk_.done.size(), done);
  EXPECT_LE(inner_.used(), 16 * kib);
  close();
  EXPECT_EQ(disk_.syncs(), 0U);
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_outbound(), SeqNum{1});
  EXPECT_EQ(disk_.syncs(), 0U);
}

TEST_F(JournalGrowth, syncs_its_file_its_folder_and_the_folder_above_before_its_first_record) {
  open();
  ASSERT_TRUE(append(100));
  store_->want_sync();
  disk_.done.clear();
  turn();
  const std::vector<std::string> first(disk_.done.begin(), disk_.done.begin() + 5);
  EXPECT_EQ(first, (std::vector<std::string>{"sync 00000001.nfxj", "sync folder " + folder_.string(),
                                             "sync folder /store", "records 00000001.nfxj", "sync 00000001.nfxj"}));
  EXPECT_EQ(store_->durable(), store_->position());
}

TEST_F(JournalGrowth, has_nothing_synced_to_do_when_it_is_opened_after_an_end_in_order) {
  open();
  ASSERT_TRUE(append(100));
  close();
  const std::size_t syncs = disk_.syncs();
  open();
  turn();
  turn();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(disk_.syncs(), syncs);
  close();
  EXPECT_EQ(disk_.syncs(), syncs);
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_outbound(), SeqNum{2});
}

TEST_F(JournalGrowth, grows_by_steps_before_they_are_used_up_and_never_refuses_a_message_for_that) {
  open();
  store_->prepare();
  turn();
  std::vector<std::uint64_t> sizes;
  for (int i = 0; i < 700; ++i) {
    ASSERT_TRUE(append(5000)) << i << ": " << store_->condition_text();
    if (i % 10 == 9) turn();
    if (const std::uint64_t size = file_size("00000001.nfxj"); sizes.empty() || sizes.back() != size) {
      sizes.push_back(size);
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1028 * kib, 4096 * kib}));
  for (std::uint64_t seq = 1; seq < seq_; ++seq) ASSERT_EQ(store_->read(SeqNum{seq}), text(seq, 5000)) << seq;
}

TEST_F(JournalGrowth, has_the_next_segment_reserved_further_when_the_stream_comes_near_it) {
  open();
  store_->prepare();
  turn();
  EXPECT_EQ(file_size("00000002.nfxj"), 1028 * kib);
  while (seq_ < 500) {
    ASSERT_TRUE(append(5000));
    if (seq_ % 10 == 9) turn();
  }
  EXPECT_EQ(file_size("00000002.nfxj"), 4096 * kib);
  while (store_->counters().segments == 0) {
    ASSERT_TRUE(append(5000)) << store_->condition_text();
    if (seq_ % 10 == 9) turn();
  }
}

TEST_F(JournalGrowth, is_busy_when_what_is_reserved_is_used_up_and_goes_on_after_a_turn) {
  open();
  EXPECT_TRUE(store_->accepts(2 * kib)) << "a Logon";
  EXPECT_FALSE(store_->accepts(16 * kib));
  while (append(1000)) continue;
  EXPECT_GE(seq_, 3U);
  EXPECT_EQ(store_->condition(), StoreCondition::busy);
  EXPECT_NE(store_->condition_text().find("is being reserved"), std::string::npos) << store_->condition_text();
  store_->set_next_inbound(SeqNum{2}, now_.utc);
  EXPECT_EQ(store_->counts().refused, 1U) << "a sequence number has space that messages have not";
  turn(1ms);
  EXPECT_EQ(store_->condition(), StoreCondition::good);
  EXPECT_TRUE(store_->accepts(16 * kib));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append(1000)) << i;
}

TEST_F(JournalGrowth, takes_a_message_that_is_longer_than_what_was_reserved_after_a_turn) {
  options_.ring_size = 4096 * kib;
  open();
  EXPECT_FALSE(append(1900 * kib));
  turn(1ms);
  ASSERT_TRUE(append(1900 * kib)) << store_->condition_text();
  EXPECT_FALSE(store_->accepts(4096 * kib));
  EXPECT_EQ(store_->condition(), StoreCondition::good) << "too long for any segment";
  turn();
  EXPECT_EQ(store_->read(SeqNum{1}), text(1, 1900 * kib));
}

TEST_F(JournalGrowth, grows_without_a_flusher_too) {
  options_.ring_size = 4096 * kib;
  open();
  flusher_.remove(*store_);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(append(5000)) << i << ": " << store_->condition_text();
  close();
  open();
  EXPECT_EQ(store_->last_kept(), SeqNum{300});
}

TEST_F(JournalGrowth, refuses_messages_where_it_cannot_grow_and_goes_on_when_there_is_space) {
  open();
  inner_.fill(0);
  while (append(500)) turn();
  turn();
  EXPECT_TRUE(store_->disk_full());
  EXPECT_EQ(store_->condition(), StoreCondition::full);
  EXPECT_NE(store_->condition_text().find("reserve"), std::string::npos) << store_->condition_text();
  EXPECT_NE(store_->condition_text().find("No space left on device"), std::string::npos) << store_->condition_text();
  EXPECT_TRUE(store_->has_reserve());
  for (std::uint64_t inbound = 2; inbound < 12; ++inbound) store_->set_next_inbound(SeqNum{inbound}, now_.utc);
  inner_.fill(MemoryDisk::never);
  turn(10ms);
  EXPECT_EQ(store_->condition(), StoreCondition::full) << "space was requested again before a second had passed";
  turn(1s);
  EXPECT_EQ(store_->condition(), StoreCondition::good);
  EXPECT_FALSE(store_->disk_full());
  EXPECT_TRUE(append(500));
  close();
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_inbound(), SeqNum{11});
  EXPECT_EQ(store_->next_outbound(), SeqNum{seq_});
}

TEST_F(JournalGrowth, has_its_numbers_after_they_used_up_all_that_a_full_disk_had_reserved) {
  open();
  inner_.fill(0);
  while (append(500)) turn();
  std::uint64_t inbound = 2;
  for (; inbound < 1000; ++inbound) {
    store_->set_next_inbound(SeqNum{inbound}, now_.utc);
    if (inbound % 50 == 0) turn();
  }
  EXPECT_FALSE(store_->has_reserve());
  EXPECT_GT(store_->counts().refused, 100U);
  close();
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_inbound(), SeqNum{999});
  EXPECT_TRUE(store_->disk_full());
  inner_.fill(MemoryDisk::never);
  turn(1s);
  EXPECT_FALSE(store_->disk_full());
}

TEST_F(JournalGrowth, is_full_where_there_is_no_memory_for_its_ring_and_goes_on_when_there_is) {
  open();
  disk_.memory_full = true;
  while (append(500)) turn();
  turn();
  EXPECT_EQ(store_->condition(), StoreCondition::full);
  EXPECT_NE(store_->condition_text().find("allocate memory"), std::string::npos) << store_->condition_text();
  disk_.memory_full = false;
  turn(1s);
  EXPECT_EQ(store_->condition(), StoreCondition::good);
  EXPECT_TRUE(append(500));
}

TEST_F(JournalGrowth, opens_after_a_power_loss_at_any_step_of_its_first_use) {
  options_.durability = Durability::none;  // the next segment is created before the first record is written
  std::uint64_t changes = 0;
  for (bool whole = false; !whole; ++changes) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE("dies at change " + std::to_string(changes) + ", seed " + std::to_string(seed));
      MemoryDisk disk;
      JournalFlusher flusher;
      disk.die_at(changes);
      try {
        JournalStore store(disk, options_, "A->B", UtcTime(1s));
        flusher.add(store);
        store.prepare();
        for (int i = 0; i < 3; ++i) (void)flusher.turn({UtcTime(2s), MonotonicTime(i * 20ms)});
        whole = !disk.dead();
        disk.die_now();
      } catch (const StoreError& error) {
        ASSERT_TRUE(disk.dead()) << error.what();
      }
      disk.crash(seed < 10    ? MemoryDisk::Keep::part
                 : seed == 10 ? MemoryDisk::Keep::none
                              : MemoryDisk::Keep::all,
                 seed);
      const JournalStore store(disk, options_, "A->B", UtcTime(1s));
      ASSERT_EQ(store.next_outbound(), SeqNum{1});
    }
  }
  EXPECT_GT(changes, 10U);
}

TEST_F(JournalGrowth, opens_and_continues_a_journal_that_was_written_whole) {
  open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(append(5000) || (turn(), append(5000)));
    if (i % 10 == 9) turn();
  }
  close();
  make_whole("00000001.nfxj");
  make_whole("00000002.nfxj");
  for (int life = 0; life < 3; ++life) {
    open();
    EXPECT_TRUE(store_->recovery().clean);
    ASSERT_EQ(store_->next_outbound(), SeqNum{seq_});
    store_->prepare();
    turn();
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(append(5000)) << i << ": " << store_->condition_text();
      if (i % 10 == 9) turn();
    }
    close();
    EXPECT_EQ(file_size("00000001.nfxj"), options_.segment_size);
  }
  open();
  for (std::uint64_t seq = 1; seq < seq_; ++seq) ASSERT_EQ(store_->read(SeqNum{seq}), text(seq, 5000)) << seq;
}

TEST_F(JournalGrowth, counts_what_is_reserved_of_a_segment_for_retain_bytes) {
  options_.retain_bytes = 6 * 1024 * kib;
  open();
  store_->prepare();
  turn();
  ASSERT_TRUE(append(1000));
  turn();
  store_->reset(now_.utc);
  seq_ = 1;
  ASSERT_TRUE(append(1000));
  turn(2s);
  turn(2s);
  ASSERT_TRUE(inner_.exists(folder_ / "archive"));
  EXPECT_EQ(inner_.list(folder_ / "archive").value().size(), 1U) << "a segment of 1 MiB counted as 4 MiB";
}

}  // namespace
}  // namespace nfx
