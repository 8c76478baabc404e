// The simulator is reproducible, and detects what it should detect.
#include <gtest/gtest.h>

#include "simulation/world.hpp"

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;

// The faults of runs that once violated a rule: with more faults, a seed gives another run.
constexpr std::string_view first_faults =
    "split,delay,cut,swallow,lose,kill,crash,full,sync,slow,clock,restart,operate";

RunOptions options(std::uint64_t seed, std::string_view faults) {
  RunOptions options;
  options.seed = seed;
  options.hours = 1h;
  options.faults = FaultSet::parse(faults).value();
  return options;
}

// The first violation among some seeds, or nothing.
std::string first_violation(RunOptions options, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    options.seed = seed;
    if (const RunResult result = World{options}.run(); result.violation) return *result.violation;
  }
  return {};
}

TEST(Simulation, the_same_seed_is_the_same_run_event_for_event) {
  const RunResult first = World{options(5, "all")}.run();
  const RunResult again = World{options(5, "all")}.run();
  EXPECT_EQ(first.trace_hash, again.trace_hash);
  EXPECT_EQ(first.events, again.events);
  EXPECT_GT(first.events, 1000U);
  EXPECT_NE(first.trace_hash, World{options(6, "all")}.run().trace_hash);
}

TEST(Simulation, every_message_that_was_taken_arrives_once_when_nothing_goes_wrong) {
  const RunResult result = World{options(1, "none")}.run();
  EXPECT_EQ(result.violation, std::nullopt) << result.trace;
  EXPECT_GT(result.counts.acknowledged, 100U);
  EXPECT_EQ(result.counts.delivered + result.counts.given_up_at_reset, result.counts.acknowledged);
  EXPECT_EQ(result.counts.delivered_again, 0U);
}

TEST(Simulation, the_ledger_sees_a_message_that_is_delivered_twice) {
  RunOptions broken = options(1, "none");
  broken.defect = Defect::delivers_twice;
  EXPECT_NE(first_violation(broken, 1), "");
}

TEST(Simulation, the_ledger_sees_a_gap_fill_in_the_place_of_a_message) {
  RunOptions broken = options(1, "cut,delay,swallow");
  broken.defect = Defect::resends_nothing;
  EXPECT_NE(first_violation(broken, 10).find("gap where it sent a message"), std::string::npos);
}

TEST(Simulation, the_ledger_sees_a_store_that_lost_one_counter_record) {
  RunOptions broken = options(1, "kill");
  broken.defect = Defect::forgets_a_number;
  EXPECT_NE(first_violation(broken, 10), "");
}

TEST(Simulation, the_ledger_sees_a_session_that_is_added_again_without_its_last_number) {
  RunOptions broken = options(1, "reload");
  broken.defect = Defect::forgets_a_number;
  EXPECT_NE(first_violation(broken, 10), "");
}

TEST(Simulation, the_ledger_sees_a_link_that_repeats_a_message) {
  RunOptions broken = options(1, "none");
  broken.broken = BrokenLink::repeats_a_message;
  EXPECT_NE(first_violation(broken, 1).find("came twice"), std::string::npos);
}

TEST(Simulation, the_ledger_sees_a_resent_message_that_is_not_the_original) {
  RunOptions broken = options(1, "cut,delay,swallow");
  broken.broken = BrokenLink::alters_a_resend;
  EXPECT_NE(first_violation(broken, 20).find("not what was sent"), std::string::npos);
}

TEST(Simulation, a_reload_that_reports_a_change_which_was_not_made_is_seen) {
  RunOptions broken = options(1, "reload");
  broken.defect = Defect::changes_nothing;
  EXPECT_NE(first_violation(broken, 10).find("has other settings, and the report does not state it"),
            std::string::npos);
}

TEST(Simulation, a_reload_that_replaces_a_session_and_leaves_it_disabled_is_seen) {
  RunOptions broken = options(1, "reload");
  broken.defect = Defect::adds_disabled;
  EXPECT_NE(first_violation(broken, 10).find("a reload has enabled, disabled, held or released"), std::string::npos);
}

TEST(Simulation, an_engine_that_keeps_a_buffer_for_each_message_holds_too_much) {
  RunOptions broken = options(1, "none");
  broken.defect = Defect::hoards;
  EXPECT_NE(first_violation(broken, 10).find("venue: its engine holds"), std::string::npos);
}

TEST(Simulation, a_process_that_leaves_memory_behind_is_seen_when_it_ends) {
  RunOptions broken = options(1, "restart");
  broken.defect = Defect::leaves_memory;
  EXPECT_NE(first_violation(broken, 10).find("venue: its process has ended without freeing"), std::string::npos);
}

TEST(Simulation, an_engine_holds_as_much_after_two_days_as_after_two_hours) {
  RunOptions longer = options(2, "all");
  longer.hours = 48h;
  const RunResult most = World{longer}.run();
  RunOptions shorter = options(2, "all");
  shorter.hours = 2h;
  const RunResult some = World{shorter}.run();
  ASSERT_EQ(most.violation, std::nullopt) << most.trace;
  EXPECT_GT(most.counts.acknowledged, 3 * some.counts.acknowledged);
  EXPECT_GT(some.engine_bytes, 0U);
  EXPECT_LT(most.engine_bytes, some.engine_bytes + some.engine_bytes / 4);
  EXPECT_EQ(held_by_engines_and_networks(), 0U);
}

// The disk is full when a Logon is answered; its space returns while nothing is written.
TEST(Simulation, a_session_continues_when_its_disk_has_space_again) {
  RunOptions full = options(61175, first_faults);
  full.hours = 12h;
  const RunResult result = World{full}.run();
  EXPECT_EQ(result.violation, std::nullopt) << result.trace;
}

// More messages arrive on a full disk than there is space for their sequence numbers, and the process ends in order.
TEST(Simulation, a_store_has_the_numbers_of_its_session_after_an_orderly_end_on_a_full_disk) {
  const RunResult result = World{options(61225, first_faults)}.run();
  EXPECT_EQ(result.violation, std::nullopt) << result.trace;
}

// It closes a connection whose peer has lost its end and reads nothing, and is asked to stop.
TEST(Simulation, a_process_ends_in_order_while_a_closed_connection_has_a_peer_that_does_not_read) {
  RunOptions stuck = options(64678, first_faults);
  stuck.hours = 12h;
  const RunResult result = World{stuck}.run();
  EXPECT_EQ(result.violation, std::nullopt) << result.trace;
}

// Both sides miss messages, and each requests one at a time.
TEST(Simulation, two_sides_that_request_in_the_smallest_chunks_end_their_gaps) {
  RunOptions chunks = options(63451, first_faults);
  chunks.hours = 12h;
  const RunResult result = World{chunks}.run();
  EXPECT_EQ(result.violation, std::nullopt) << result.trace;
}

TEST(Simulation, operators_break_no_rule_and_lose_nothing) {
  RunOptions operated = options(1, "operate");
  operated.hours = 6h;
  EXPECT_EQ(first_violation(operated, 8), "");
  operated.faults = FaultSet::all();
  EXPECT_EQ(first_violation(operated, 8), "");
}

TEST(Simulation, sessions_that_are_removed_added_and_replaced_break_no_rule_and_lose_nothing) {
  RunOptions reloaded = options(1, "reload");
  reloaded.hours = 3h;
  EXPECT_EQ(first_violation(reloaded, 8), "");
  reloaded.faults = FaultSet::parse("reload,operate,kill,crash,restart,full,stall").value();
  EXPECT_EQ(first_violation(reloaded, 8), "");
}

TEST(Simulation, reloads_of_the_file_end_in_every_way_that_they_can) {
  using control::ReloadStatus;
  ReloadCounts all;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const RunResult result = World{options(seed, "reload,operate,kill,crash,full,stall")}.run();
    ASSERT_EQ(result.violation, std::nullopt) << result.trace;
    all += result.reloads;
  }
  for (const ReloadStatus each : {ReloadStatus::done, ReloadStatus::nothing_to_do, ReloadStatus::incomplete,
                                  ReloadStatus::invalid, ReloadStatus::not_answering})
    EXPECT_GT(all.by_status[static_cast<std::size_t>(each)], 0U) << static_cast<int>(each);
  EXPECT_GT(all.plans, 0U);
  EXPECT_GT(all.cut_off, 0U);
}

TEST(Simulation, names_the_fault_that_there_is_not) {
  EXPECT_EQ(FaultSet::parse("kill,flood").error(), "flood");
  EXPECT_TRUE(FaultSet::parse("kill,crash")->has(Fault::crash));
  EXPECT_FALSE(FaultSet::parse("kill,crash")->has(Fault::sync));
}

}  // namespace
}  // namespace nfx::simulation
