// Tests the arithmetic of plans and fits, and the takeovers in virtual time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sizing/cluster_plan.hpp"
#include "sizing/takeover_simulation.hpp"

namespace nfx::bench {
namespace {

UnitCosts costs() {
  UnitCosts costs{.machine = "a machine", .cores = 8, .replicas = 3, .points = {}, .samples = {}};
  costs.points = {
      {.frames_per_s = 100, .server_cores = 0.1, .gateway_cores = 0.02, .release_p50_us = 500, .release_p99_us = 900},
      {.frames_per_s = 10'000,
       .server_cores = 1,
       .gateway_cores = 0.2,
       .release_p50_us = 2000,
       .release_p99_us = 9000}};
  costs.release_ns_per_byte = 20;
  costs.server_ns_per_byte = 10;
  costs.gateway_us_per_record = 2;
  costs.bytes_per_s = 50e6;
  costs.busiest_server_share = 0.4;
  costs.stored_bytes_per_frame = 60;
  return costs;
}

TEST(ClusterPlan, costs_between_two_rates_are_between_those_that_were_measured) {
  const CostPoint middle = costs().at(1000);  // half way by logarithms
  EXPECT_NEAR(middle.server_cores, std::sqrt(0.1 * 1), 1e-9);
  EXPECT_NEAR(middle.release_p50_us, 1000, 1e-6);
  EXPECT_NEAR(costs().at(100).gateway_cores, 0.02, 1e-12);
  EXPECT_NEAR(costs().at(10).server_cores, 0.01, 1e-12);
  EXPECT_NEAR(costs().at(10).release_p50_us, 500, 1e-12);
  EXPECT_NEAR(costs().at(20'000).server_cores, 1, 1e-12);
}

TEST(ClusterPlan, slow_session_has_a_record_in_each_frame_and_fast_one_as_many_as_a_release_takes) {
  const CostSample slow = predict(costs(), 10, 1, 200);
  EXPECT_NEAR(slow.frames_per_s, 10, 1e-6);
  EXPECT_NEAR(slow.bytes_per_s, 10 * (80 + 16 + 200), 1e-6);
  const CostSample fast = predict(costs(), 1, 20'000, 200);
  // Each frame is published when the previous one is released.
  EXPECT_NEAR(fast.frames_per_s * fast.release_p50_us, 1e6, 1e4);
  EXPECT_LT(fast.frames_per_s, 2000);
  EXPECT_GT(fast.release_p50_us, slow.release_p50_us);
}

TEST(ClusterPlan, streams_servers_and_disks_grow_with_the_load_and_stay_within_the_utilization) {
  PlanOptions options{.sessions = 1000, .rate = 10, .size = 200};
  const ClusterPlan small = make_plan(costs(), options);
  EXPECT_NEAR(small.records_per_s, 10'000, 1e-6);
  EXPECT_EQ(small.servers, 3U);
  EXPECT_LE(small.streams_utilization, options.utilization);
  EXPECT_EQ(small.streams, 2U);  // 10,000 frames/s, at most 10,000 each, of which half is used
  // All replicas of a day: the bytes that leave the gateways, and 60 bytes for each frame.
  const double day = 10'000 * (80 + 16 + 200 + 60) * 3600.0 * 8;
  EXPECT_NEAR(small.disk_bytes_per_day * small.servers, 3 * day, day * 1e-6);
  EXPECT_NEAR(small.server_in_bytes_per_s * small.servers, 3 * small.bytes_per_s, 1e-3);
  EXPECT_NEAR(small.server_out_bytes_per_s * small.servers, 2 * small.bytes_per_s, 1e-3);
  options.sessions = 100'000;
  const ClusterPlan large = make_plan(costs(), options);
  EXPECT_EQ(large.streams, 200U);
  EXPECT_LE(large.server_cores / large.servers, options.cores * options.utilization);
  EXPECT_GT(large.servers, small.servers);
  EXPECT_GT(large.gateways, small.gateways);
  EXPECT_TRUE(large.limits.empty());
  options.gateways = 2;
  ASSERT_EQ(make_plan(costs(), options).limits.size(), 1U);
  EXPECT_NE(make_plan(costs(), options).limits[0].find("use more gateways"), std::string::npos);
}

TEST(ClusterPlan, costs_are_the_same_after_writing_and_reading_and_damage_is_named) {
  std::string name = (std::filesystem::temp_directory_path() / "nfx-costs-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  write_costs(name, costs());
  const UnitCosts read = read_costs(name);
  EXPECT_EQ(read.machine, "a machine");
  ASSERT_EQ(read.points.size(), 2U);
  EXPECT_EQ(read.points[1].gateway_cores, 0.2);
  EXPECT_EQ(read.frames_per_s(), 10'000);
  EXPECT_EQ(read.stored_bytes_per_frame, 60);
  const auto error_of = [&](const std::string& text) {
    std::ofstream{name} << text;
    try {
      static_cast<void>(read_costs(name));
    } catch (const std::runtime_error& error) {
      return std::string{error.what()};
    }
    return std::string{"no error"};
  };
  EXPECT_NE(error_of("{").find(name + " (--costs): not a file of costs"), std::string::npos);
  EXPECT_NE(error_of(R"({"version": 9})").find("of another version"), std::string::npos);
  EXPECT_NE(error_of(R"({"version": 1, "cores": -1})").find("\"cores\" is not a number of at least 0"),
            std::string::npos);
  std::filesystem::remove(name);
  EXPECT_NE(error_of("").find("not a file"), std::string::npos);
  std::filesystem::remove(name);
  EXPECT_THROW(static_cast<void>(read_costs(name)), std::runtime_error);
}

TEST(TakeoverSimulation, one_seed_gives_one_result_and_another_seed_another_one) {
  const TakeoverOptions options{.seed = 7, .sessions = 3000};
  const TakeoverResult first = simulate_takeover(options), second = simulate_takeover(options);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.events, second.events);
  TakeoverOptions other = options;
  other.seed = 8;
  EXPECT_NE(simulate_takeover(other).digest, first.digest);
}

TEST(TakeoverSimulation, session_without_a_queue_is_owned_after_its_lease_and_its_requests) {
  // At most ten sessions, so that nothing waits; no replay, and the leaders are elected before a lease ends.
  const TakeoverOptions options{.sessions = 10,
                                .gateways = 2,
                                .sites = 2,
                                .lease_s = 20,
                                .replay_frames = 0,
                                .round_trip_us = 1000,
                                .publish_us = 10,
                                .read_us = 10};
  const TakeoverResult result = simulate_takeover(options);
  ASSERT_GT(result.moved, 0U);
  // Half a second more than the lease, from a renewal that is up to a third of the lease old; then a read and a
  // publish.
  EXPECT_GE(result.owned_s.p50, 20 + 0.5 - 20 / 3.0);
  EXPECT_LE(result.owned_s.max, 20 + 0.5 + 0.003);
  EXPECT_EQ(result.lost_requests, 0U);
  EXPECT_EQ(result.reads, result.moved);
  EXPECT_EQ(result.publishes, 2U * result.moved);  // epochs and Logons
}

TEST(TakeoverSimulation, a_third_of_the_sessions_moves_and_publishes_wait_for_elections) {
  const TakeoverResult result = simulate_takeover({.sessions = 30'000, .lease_s = 1});
  EXPECT_NEAR(result.moved, 30'000 * 34 / 100.0, 400);  // of 100 gateways, 34 are on the first site
  EXPECT_EQ(result.elections, 1U);
  EXPECT_GT(result.lost_requests, 0U);
  EXPECT_GE(result.owned_s.max, result.election_s_max);
}

TEST(TakeoverSimulation, logons_are_bounded_on_each_gateway_and_all_peers_come_back) {
  const TakeoverOptions options{.sessions = 20'000, .gateways = 10, .logons_per_s = 50};
  const TakeoverResult result = simulate_takeover(options);
  EXPECT_EQ(result.logons_per_s_max, 50U);
  EXPECT_GT(result.logons_refused, 0U);
  // Six gateways take the sessions of four others, at 50 per second each.
  EXPECT_GE(result.logged_on_s.max, result.moved / (6.0 * 50));
  TakeoverOptions faster = options;
  faster.logons_per_s = 5000;
  EXPECT_LT(simulate_takeover(faster).logged_on_s.max, result.logged_on_s.max);
}

TEST(TakeoverSimulation, a_server_is_never_busy_for_more_than_a_second_in_a_second) {
  const TakeoverResult result = simulate_takeover({.sessions = 30'000, .replay_frames = 1000});
  EXPECT_LE(result.busiest_server, 1.001);
  EXPECT_GT(result.busiest_server, 0.99);  // 10 million reads of 30 us on two servers take minutes
  EXPECT_GE(result.owned_s.max, static_cast<double>(result.reads) * 30e-6 / 2);
}

TEST(TakeoverSimulation, a_longer_history_takes_longer) {
  const double none = simulate_takeover({.sessions = 3000, .replay_frames = 0}).owned_s.p50;
  const double some = simulate_takeover({.sessions = 3000, .replay_frames = 2000}).owned_s.p50;
  EXPECT_GT(some, none + 2000 * 400e-6 * 0.9);
}

}  // namespace
}  // namespace nfx::bench
