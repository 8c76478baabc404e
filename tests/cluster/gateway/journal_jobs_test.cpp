// Jobs run on threads that have a name and a place, several at the same time, and their ends where run_ends() is
// called.
#include "gateway/journal_jobs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace nfx::gateway {
namespace {

TEST(JournalJobs, runs_jobs_in_the_place_that_it_is_given_and_their_ends_elsewhere) {
  std::mutex mutex;
  std::set<std::thread::id> of_places;
  std::set<std::string> names;
  std::latch ended{1};
  JournalJobs jobs{[&] { ended.count_down(); },
                   [&](std::string_view wanted, const std::function<void()>& work) {
                     {
                       const std::lock_guard lock{mutex};
                       names.emplace(wanted);
                       of_places.insert(std::this_thread::get_id());
                     }
                     work();
                   }};
  std::thread::id of_job, of_end;
  jobs.add([&] { of_job = std::this_thread::get_id(); }, [&](MonotonicTime) { of_end = std::this_thread::get_id(); });
  ended.wait();
  EXPECT_TRUE(jobs.has_ends());
  jobs.run_ends({});
  EXPECT_EQ(of_end, std::this_thread::get_id());
  const std::lock_guard lock{mutex};
  EXPECT_TRUE(of_places.contains(of_job));
  EXPECT_EQ(names, std::set<std::string>{"nfx-cluster-io"});
}

// Each job waits for the others.
TEST(JournalJobs, runs_several_jobs_at_the_same_time_and_all_of_them_before_its_end) {
  std::barrier together{static_cast<std::ptrdiff_t>(JournalJobs::threads)};
  std::atomic<std::size_t> done{0};
  {
    JournalJobs jobs{[] {}, [](std::string_view, const std::function<void()>& work) { work(); }};
    for (std::size_t i = 0; i < 8 * JournalJobs::threads; ++i) {
      jobs.add(
          [&] {
            together.arrive_and_wait();
            ++done;
          },
          [](MonotonicTime) {});
    }
  }
  EXPECT_EQ(done, 8 * JournalJobs::threads);
}

}  // namespace
}  // namespace nfx::gateway
