// A journal accepts messages while its disk or its memory stalls, until its ring is full. Two seconds of 100,000 orders
// per second are 200,000 messages without any write, sync or new page of memory.
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "store/forwarding_disk.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"
#include "store/sizes.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::kib;
using test::MemoryDisk;
using test::mib;
using test::session_name;
namespace fs = std::filesystem;

constexpr std::uint64_t stalled_orders = 200'000;
constexpr std::size_t report_size = 253;

// Threads that pass through wait while it is closed.
class Gate {
 public:
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
    waiting_ = false;
  }
  void await_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool waiting_ = false;
};

// Memory that is provided only while its gate is open. For files, the disk may stall too.
class StallingDisk final : public ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;
  Gate memory;
  Gate file;

  DiskResult<std::unique_ptr<DiskFile>> open(const fs::path& path, OpenMode mode) override {
    auto opened = ForwardingDisk::open(path, mode);
    if (!opened) return opened;
    return std::make_unique<File>(*this, *std::move(opened));
  }
  DiskResult<std::unique_ptr<SharedMemory>> map_shared(const fs::path& path, std::size_t size) override {
    auto mapped = ForwardingDisk::map_shared(path, size);
    if (!mapped) return mapped;
    return std::make_unique<Memory>(*this, *std::move(mapped));
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(StallingDisk& disk, std::unique_ptr<DiskFile> inner) : ForwardingFile(std::move(inner)), disk_(disk) {}
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      disk_.file.pass();
      return ForwardingFile::write(offset, bytes);
    }
    DiskResult<void> reserve(std::uint64_t size) override {
      disk_.file.pass();
      return ForwardingFile::reserve(size);
    }
    DiskResult<void> sync() override {
      disk_.file.pass();
      return ForwardingFile::sync();
    }

   private:
    StallingDisk& disk_;
  };
  class Memory final : public SharedMemory {
   public:
    Memory(StallingDisk& disk, std::unique_ptr<SharedMemory> inner) : disk_(disk), inner_(std::move(inner)) {}
    std::span<char> bytes() noexcept override { return inner_->bytes(); }
    [[nodiscard]] bool fresh() const noexcept override { return inner_->fresh(); }
    DiskResult<void> provide(std::size_t begin, std::size_t end) override {
      disk_.memory.pass();
      return inner_->provide(begin, end);
    }

   private:
    StallingDisk& disk_;
    std::unique_ptr<SharedMemory> inner_;
  };
};

class JournalStall : public testing::Test {
 protected:
  JournalStall() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.retain_messages = 1 << 20;
  }

  void open() {
    store_.emplace(disk_, options_, session_name, UtcTime(1s));
    flusher_.add(*store_);
  }
  void turn() {
    now_.monotonic += 10ms;
    now_.utc += 10ms;
    (void)flusher_.turn(now_);
  }
  // Sends a report, after receiving the order that it answers.
  bool answer() {
    if (!store_->append(SeqNum{seq_}, text(seq_), now_.utc)) return false;
    ++seq_;
    store_->set_next_inbound(SeqNum{seq_}, now_.utc);
    return true;
  }
  static std::string text(std::uint64_t seq) {
    std::string text = std::to_string(seq);
    return text + std::string(report_size - text.size(), static_cast<char>('a' + seq % 26));
  }
  // Answers each order; the flusher runs every 10 ms at 100,000 orders per second.
  void answer_all(std::uint64_t orders) {
    for (std::uint64_t i = 0; i < orders; ++i) {
      ASSERT_TRUE(answer()) << "order " << seq_ << ": " << store_->condition_text();
      if (i % 1000 == 999) turn();
    }
  }
  void expect_all_kept() {
    for (std::uint64_t seq = value(store_->oldest_kept()); seq < seq_; ++seq)
      ASSERT_EQ(store_->read(SeqNum{seq}), text(seq)) << seq;
  }
  void await(const std::function<bool()>& condition) {
    while (!condition()) {
      turn();
      std::this_thread::yield();
    }
  }

  MemoryDisk inner_;
  StallingDisk disk_{inner_};
  JournalOptions options_;
  JournalFlusher flusher_;
  std::optional<JournalStore> store_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  std::uint64_t seq_ = 1;
};

TEST_F(JournalStall, answers_every_order_while_no_memory_comes_for_two_seconds) {
  options_.ring_size = 16 * mib;
  flusher_.wait_for_memory_elsewhere();
  open();
  store_->prefault();
  store_->prepare();
  await([&] { return store_->accepts(64 * kib); });
  disk_.memory.close();
  answer_all(stalled_orders);
  disk_.memory.open();
  answer_all(stalled_orders);
  EXPECT_EQ(store_->counts().refused, 0U);
  EXPECT_EQ(store_->counters().ring_full, 0U);
  expect_all_kept();
  store_.reset();
  open();
  EXPECT_TRUE(store_->recovery().clean);
  EXPECT_EQ(store_->next_outbound(), SeqNum{seq_});
  expect_all_kept();
}

TEST_F(JournalStall, waits_for_memory_on_a_thread_that_writes_no_journal) {
  flusher_.wait_for_memory_elsewhere();
  open();
  disk_.memory.close();
  store_->prepare();
  turn();
  disk_.memory.await_somebody();
  JournalStore other(inner_, options_, "FIX.4.4:US->OTHER", UtcTime(1s));
  flusher_.add(other);
  ASSERT_TRUE(other.append(SeqNum{1}, "a message", now_.utc));
  other.want_sync();
  turn();
  EXPECT_EQ(other.durable(), other.position());
  disk_.memory.open();
  await([&] { return store_->accepts(64 * kib); });
}

TEST_F(JournalStall, may_be_closed_while_memory_is_on_its_way) {
  flusher_.wait_for_memory_elsewhere();
  open();
  disk_.memory.close();
  store_->prepare();
  turn();
  disk_.memory.await_somebody();
  std::thread closing([&] { store_.reset(); });
  disk_.memory.open();
  closing.join();
  open();
  EXPECT_TRUE(store_->recovery().clean);
}

TEST_F(JournalStall, answers_every_order_while_its_disk_stalls_for_two_seconds) {
  options_.ring_size = 128 * mib;
  options_.segment_size = 256 * mib;
  open();
  store_->prefault();
  store_->prepare();
  await([&] { return store_->accepts(64 * kib); });
  turn();
  disk_.file.close();
  std::thread flusher([&] { turn(); });
  for (std::uint64_t i = 0; i < stalled_orders; ++i) {
    if (answer()) continue;
    ADD_FAILURE() << "order " << seq_ << ": " << store_->condition_text();
    break;
  }
  disk_.file.open();
  flusher.join();
  turn();
  EXPECT_EQ(store_->counts().refused, 0U);
  expect_all_kept();
}

TEST_F(JournalStall, takes_a_whole_ring_of_messages_wherever_in_its_segment_the_disk_stalls) {
  options_.ring_size = 4 * mib;
  options_.segment_size = 16 * mib;
  open();
  store_->prepare();
  turn();
  answer_all(20'000);
  for (int stall = 0; stall < 24; ++stall) {
    turn();
    const JournalPosition begin = store_->position();
    while (answer()) continue;
    EXPECT_GT(store_->position() - begin, options_.ring_size - 32 * kib)
        << "stall " << stall << " at " << begin << ": " << store_->condition_text();
    for (int i = 0; i < 3; ++i) turn();
    answer_all(2500);
  }
  EXPECT_GT(store_->counters().segments, 4U);
  expect_all_kept();
}

TEST_F(JournalStall, takes_a_long_message_at_any_place_of_a_ring_that_is_short_of_memory) {
  options_.lean = true;
  options_.ring_size = 1 * mib;
  inner_.provide_up_to(84 * kib);
  open();
  store_->prepare();
  turn();
  const std::string longest(40 * kib, 'x');
  for (int i = 0; i < 60; ++i) {
    for (int small = 0; small < i; ++small) {
      if (!answer()) turn();
    }
    for (int tries = 0; !store_->append(SeqNum{seq_}, longest, now_.utc); ++tries) {
      ASSERT_LT(tries, 3) << i << ": " << store_->condition_text();
      turn();
    }
    ASSERT_EQ(store_->read(SeqNum{seq_}), longest);
    ++seq_;
  }
}

TEST_F(JournalStall, takes_a_message_that_is_longer_than_the_part_of_the_ring_once_there_is_memory) {
  options_.lean = true;
  options_.ring_size = 1 * mib;
  inner_.provide_up_to(84 * kib);
  open();
  store_->prepare();
  turn();
  for (int i = 0; i < 500; ++i) {  // into the third quarter of a larger round
    if (!answer()) turn();
  }
  const std::string longest(200 * kib, 'x');
  EXPECT_FALSE(store_->accepts(longest.size()));
  turn();
  EXPECT_FALSE(store_->accepts(longest.size()));
  inner_.provide_up_to(MemoryDisk::never);
  now_.monotonic += 2s;
  for (int tries = 0; !store_->append(SeqNum{seq_}, longest, now_.utc); ++tries) {
    ASSERT_LT(tries, 4) << store_->condition_text();
    turn();
  }
  EXPECT_EQ(store_->read(SeqNum{seq_}), longest);
}

}  // namespace
}  // namespace nfx
