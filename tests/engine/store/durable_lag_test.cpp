// How long records waited for the disk, measured per sync as the age of the oldest record of a session.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"
#include "store/memory_disk.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

// Extra time on this host for a flusher that waits for its turn.
constexpr std::uint64_t host_ns = 20'000'000'000;

class DurableLag : public testing::Test {
 protected:
  DurableLag() {
    options_.directory = "/store";
    options_.ring_directory = "/ring";
    options_.segment_size = 256 * 1024;
    options_.ring_size = 64 * 1024;
  }

  void open() {
    store_ = std::make_unique<JournalStore>(disk_, options_, "A->B", now_.utc);
    store_->record_lags_in(lags_);
  }
  void pass(Duration time) {
    now_.utc += time;
    now_.monotonic += time;
  }

  test::MemoryDisk disk_;
  JournalOptions options_;
  Instant now_{UtcTime(100s), MonotonicTime(100s)};
  std::shared_ptr<LatencyCounts> lags_ = std::make_shared<LatencyCounts>();
  JournalFlusher flusher_;
  std::unique_ptr<JournalStore> store_;
};

TEST_F(DurableLag, leaves_out_the_time_from_the_opening_to_the_first_record) {
  for (int opening = 0; opening < 2; ++opening) {
    open();
    flusher_.add(*store_);
    for (int i = 0; i < 10; ++i) {
      (void)flusher_.turn(now_);
      pass(1h);
    }
    const std::uint64_t before = lags_->count();
    ASSERT_TRUE(store_->append(SeqNum{1}, "first", now_.utc));
    pass(50ms);
    (void)flusher_.turn(now_);
    EXPECT_EQ(lags_->count(), before + 1) << "one sync";
    store_.reset();
  }
  EXPECT_GE(lags_->sum(), 100'000'000U) << "50 ms each";
  EXPECT_LT(lags_->sum(), host_ns);
}

TEST_F(DurableLag, leaves_out_the_opening_without_a_flusher_too) {
  open();
  pass(1h);
  ASSERT_TRUE(store_->append(SeqNum{1}, "first", now_.utc));
  store_.reset();  // syncs: the last time is the message's
  EXPECT_GE(lags_->count(), 1U);
  EXPECT_LT(lags_->sum(), host_ns);
}

TEST_F(DurableLag, is_not_recorded_for_the_opening_alone) {
  open();
  flusher_.add(*store_);
  pass(1h);
  store_->want_sync();
  (void)flusher_.turn(now_);
  EXPECT_EQ(lags_->count(), 0U);
}

}  // namespace
}  // namespace nfx
