// Jobs run on a thread that has a name and a place, and their ends where run_ends() is called.
#include "gateway/opener.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

namespace nfx::gateway {
namespace {

TEST(Opener, runs_jobs_in_the_place_that_it_is_given_and_their_ends_elsewhere) {
  std::promise<void> ended;
  std::promise<std::thread::id> of_place, of_job;
  std::string name;
  Opener opener{[&] { ended.set_value(); },
                [&](std::string_view wanted, const std::function<void()>& work) {
                  name = wanted;
                  of_place.set_value(std::this_thread::get_id());
                  work();
                }};
  std::thread::id of_end;
  opener.add([&] { of_job.set_value(std::this_thread::get_id()); },
             [&](MonotonicTime) { of_end = std::this_thread::get_id(); });
  ended.get_future().wait();
  EXPECT_TRUE(opener.has_ends());
  opener.run_ends({});
  EXPECT_EQ(of_end, std::this_thread::get_id());
  EXPECT_EQ(of_job.get_future().get(), of_place.get_future().get());
  EXPECT_EQ(name, "nfx-cluster-io");
}

}  // namespace
}  // namespace nfx::gateway
