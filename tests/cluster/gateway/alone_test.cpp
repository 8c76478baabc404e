// A session continues alone once its note is durable, and the note remains until the cluster has all of it.
#include "gateway/alone.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <semaphore>
#include <string>
#include <string_view>

#include "temporary_folder.hpp"

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;

class ContinuingAlone : public ::testing::Test {
 protected:
  ContinuingAlone() { alone_.open(folder_.path(), false); }

  void run_end() {
    ended_.acquire();
    opener_.run_ends({});
  }
  void continue_alone() {
    alone_.note(opener_, note_, [this](const std::string& error, MonotonicTime) {
      error_ = error;
      if (error.empty()) alone_.begin();
    });
  }
  [[nodiscard]] bool has_note() const { return AloneNote::read(posix_disk(), folder_.path()) == note_; }

  const AloneNote note_{.began = UtcTime{1s}, .counters = {.inbound = SeqNum{7}, .outbound = SeqNum{9}}};
  test::TemporaryFolder folder_;
  std::string error_;
  Alone alone_;
  std::counting_semaphore<> ended_{0};
  Opener opener_{[this] { ended_.release(); }, [](std::string_view, const std::function<void()>& work) { work(); }};
};

TEST_F(ContinuingAlone, continues_once_its_note_is_written_and_removes_it_when_the_cluster_has_all) {
  continue_alone();
  EXPECT_TRUE(alone_.is_busy());
  EXPECT_FALSE(alone_.continues());
  run_end();
  EXPECT_TRUE(alone_.continues());
  EXPECT_TRUE(has_note());
  EXPECT_TRUE(alone_.end());
  EXPECT_FALSE(alone_.end());
  alone_.forget(opener_);
  run_end();
  EXPECT_FALSE(has_note());
  EXPECT_FALSE(alone_.is_busy());
}

TEST_F(ContinuingAlone, does_not_continue_where_the_note_cannot_be_written) {
  alone_.open(folder_.path() / "none", false);
  continue_alone();
  run_end();
  EXPECT_NE(error_, "");
  EXPECT_FALSE(alone_.continues());
}

// The comparison with the stream reads it.
TEST_F(ContinuingAlone, leaves_the_note_until_the_journal_is_open_again) {
  continue_alone();
  run_end();
  alone_.reset();
  alone_.forget(opener_);
  EXPECT_FALSE(alone_.is_busy());
  alone_.open(folder_.path(), true);
  EXPECT_TRUE(has_note());
  alone_.forget(opener_);
  run_end();
  EXPECT_FALSE(has_note());
}

}  // namespace
}  // namespace nfx::gateway
