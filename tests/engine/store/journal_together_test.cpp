// Several journals with one flusher on a slow disk, each filled at a steady rate while the disk works. Space is
// reserved in time for all of them; if the disk is slower than the traffic, refused messages are accepted later and
// nothing is lost. The test controls time: a disk operation takes a given time, during which the sessions continue to
// append.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

constexpr std::size_t message_size = 500;

class SlowDisk final : public ForwardingDisk {
 public:
  SlowDisk(Disk& inner, std::function<void(Duration)> passes) : ForwardingDisk(inner), passes_(std::move(passes)) {}

  Duration sync_takes{};
  Duration one_sync_takes{};  // only for the next sync
  Duration kib_takes{};       // per KiB written
  Duration other_takes = 100us;

  DiskResult<std::unique_ptr<DiskFile>> open(const std::filesystem::path& path, OpenMode mode) override {
    auto opened = ForwardingDisk::open(path, mode);
    if (!opened) return opened;
    return std::make_unique<File>(*this, *std::move(opened));
  }
  DiskResult<void> sync_folder(const std::filesystem::path& folder) override {
    passes_(sync_takes);
    return ForwardingDisk::sync_folder(folder);
  }
  DiskResult<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    passes_(other_takes);
    return ForwardingDisk::rename(from, to);
  }

 private:
  class File final : public ForwardingFile {
   public:
    File(SlowDisk& disk, std::unique_ptr<DiskFile> inner) : ForwardingFile(std::move(inner)), disk_(disk) {}
    DiskResult<void> write(std::uint64_t offset, std::span<const char> bytes) override {
      disk_.passes_(disk_.kib_takes * static_cast<std::int64_t>(bytes.size() / kib));
      return ForwardingFile::write(offset, bytes);
    }
    DiskResult<void> reserve(std::uint64_t size) override {
      disk_.passes_(disk_.other_takes);
      return ForwardingFile::reserve(size);
    }
    DiskResult<void> sync() override {
      disk_.passes_(disk_.sync_takes + std::exchange(disk_.one_sync_takes, {}));
      return ForwardingFile::sync();
    }

   private:
    SlowDisk& disk_;
  };

  std::function<void(Duration)> passes_;
};

// One session: a message is due at each multiple of its interval; a refused one is tried again first.
class Sender {
 public:
  Sender(Disk& disk, const JournalOptions& options, const std::string& identity, Instant now, Duration interval)
      : store_(disk, options, identity, now.utc), interval_(interval), due_(now.monotonic) {}

  JournalStore& store() noexcept { return store_; }

  void send_due(Instant now) {
    for (; due_ <= now.monotonic; due_ += interval_) {
      if (store_.append(SeqNum{seq_}, text(seq_), now.utc)) {
        store_.set_next_outbound(SeqNum{++seq_});
        continue;
      }
      ++refused;
      if (store_.condition() != StoreCondition::busy && store_.condition() != StoreCondition::good) ++not_busy;
      if (store_.condition_text().find("is being reserved") != std::string::npos) ++not_reserved;
      if (store_.condition_text().find("the disk is slower than what is sent") != std::string::npos) ++ring_full;
      return;  // like a session, which tries again a little later
    }
  }

  // Every message in order, and the next number.
  void expect_all_kept(std::uint64_t at_least) const {
    EXPECT_GE(seq_, at_least);
    EXPECT_EQ(store_.next_outbound(), SeqNum{seq_});
    EXPECT_EQ(store_.oldest_kept(), SeqNum{1});
    for (std::uint64_t each = 1; each < seq_; ++each) ASSERT_EQ(store_.read(SeqNum{each}), text(each)) << each;
  }

  std::uint64_t refused = 0;
  std::uint64_t not_reserved = 0;
  std::uint64_t ring_full = 0;
  std::uint64_t not_busy = 0;

 private:
  static std::string text(std::uint64_t seq) {
    return std::to_string(seq) + std::string(message_size, static_cast<char>('a' + seq % 26));
  }

  JournalStore store_;
  Duration interval_;
  MonotonicTime due_;
  std::uint64_t seq_ = 1;
};

struct Sum {
  std::uint64_t refused = 0, not_reserved = 0, ring_full = 0, not_busy = 0, segments = 0;
};

class JournalsTogether : public testing::Test {
 protected:
  static constexpr std::size_t sessions = 16;
  static constexpr Duration between_messages = 300us;  // of a session: 1.7 MB/s, 27 MB/s together

  JournalsTogether() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 2048 * kib;
    options_.ring_size = 1024 * kib;
    options_.retain_messages = 1 << 16;
  }

  ~JournalsTogether() override { sending_ = false; }

  void begin() {
    for (std::size_t i = 0; i < sessions; ++i) {
      senders_.push_back(std::make_unique<Sender>(disk_, options_, "A->B" + std::to_string(i), now_, between_messages));
      flusher_.add(senders_.back()->store());
      senders_.back()->store().prepare();
    }
    (void)flusher_.turn(now_);
    sending_ = true;
  }

  // The time of the poll thread: at most the interval between two checks of its sessions.
  void pass(Duration time) {
    constexpr Duration look = 200us;
    for (Duration left = time; left > Duration::zero(); left -= look) {
      now_.monotonic += std::min(left, look);
      now_.utc += std::min(left, look);
      if (!sending_) continue;
      for (const auto& sender : senders_) sender->send_due(now_);
    }
  }

  void run_for(Duration time) {
    for (const MonotonicTime end = now_.monotonic + time; now_.monotonic < end;) {
      const Duration next = flusher_.turn(now_);
      pass(std::clamp<Duration>(next, 1us, 10ms));
    }
  }

  [[nodiscard]] Sum sum() {
    Sum sum;
    for (const auto& sender : senders_) {
      sum.refused += sender->refused;
      sum.not_reserved += sender->not_reserved;
      sum.ring_full += sender->ring_full;
      sum.not_busy += sender->not_busy;
      sum.segments += sender->store().counters().segments;
    }
    return sum;
  }

  void expect_all_kept(Duration time) {
    const auto due = static_cast<std::uint64_t>(time / between_messages);
    for (const auto& sender : senders_) sender->expect_all_kept(due);
  }

  MemoryDisk inner_;
  JournalOptions options_;
  JournalFlusher flusher_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  bool sending_ = false;
  SlowDisk disk_{inner_, [this](Duration time) { pass(time); }};
  std::vector<std::unique_ptr<Sender>> senders_;
};

TEST_F(JournalsTogether, are_refused_nothing_while_the_disk_is_fast_enough_for_all) {
  begin();
  disk_.sync_takes = 2ms;
  disk_.kib_takes = 5us;  // 200 MB/s
  run_for(5s);
  EXPECT_EQ(sum().refused, 0U) << sum().not_reserved << " not reserved, " << sum().ring_full << " ring full";
  EXPECT_GE(sum().segments, 3 * sessions);
  expect_all_kept(5s);
}

TEST_F(JournalsTogether, have_their_next_segments_in_time_although_each_round_of_syncs_takes_long) {
  begin();
  run_for(50ms);
  disk_.sync_takes = 6ms;
  run_for(4s);
  EXPECT_EQ(sum().refused, 0U) << sum().not_reserved << " not reserved, " << sum().ring_full << " ring full";
  EXPECT_GE(sum().segments, 3 * sessions);
  expect_all_kept(4s);
}

// Each journal uses up its first step before its turn comes.
TEST_F(JournalsTogether, have_the_next_step_reserved_before_the_next_sync_of_any_journal) {
  options_.segment_size = 8192 * kib;
  options_.ring_size = 4096 * kib;
  begin();
  run_for(50ms);
  disk_.sync_takes = 60ms;
  run_for(2s);
  EXPECT_EQ(sum().refused, 0U) << sum().not_reserved << " not reserved, " << sum().ring_full << " ring full";
  expect_all_kept(2s);
}

TEST_F(JournalsTogether, are_busy_while_the_disk_is_slower_than_what_is_sent_and_lose_and_reorder_nothing) {
  begin();
  disk_.kib_takes = 100us;  // 10 MB/s
  run_for(1s);
  const Sum busy = sum();
  EXPECT_GT(busy.ring_full, 0U);
  EXPECT_EQ(busy.refused, busy.ring_full + busy.not_reserved);
  EXPECT_EQ(busy.not_busy, 0U) << "neither full nor failed";
  // The disk is fast enough again: waiting messages are accepted, and then nothing is refused any more.
  disk_.kib_takes = 1us;
  run_for(1s);
  const std::uint64_t refused = sum().refused;
  run_for(1s);
  EXPECT_EQ(sum().refused, refused);
  expect_all_kept(3s);
}

TEST_F(JournalsTogether, are_busy_while_one_sync_does_not_end_and_lose_and_reorder_nothing) {
  begin();
  run_for(200ms);
  EXPECT_EQ(sum().refused, 0U);
  disk_.one_sync_takes = 2s;
  (void)flusher_.turn(now_);
  const Sum busy = sum();
  EXPECT_GT(busy.refused, 0U);
  EXPECT_EQ(busy.not_busy, 0U) << "neither full nor failed";
  run_for(1s);
  const std::uint64_t refused = sum().refused;
  run_for(500ms);
  EXPECT_EQ(sum().refused, refused);
  expect_all_kept(3500ms);
}

}  // namespace
}  // namespace nfx
