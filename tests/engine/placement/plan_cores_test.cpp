// Which thread gets which CPU.
#include <gtest/gtest.h>

#include <set>

#include "nexusfix/placement/plan.hpp"
#include "placement/machines.hpp"

namespace nfx {
namespace {

PlacementRequest spinning(std::uint32_t polls) {
  PlacementRequest request;
  request.enabled = true;
  request.role(ThreadRole::poll).threads = polls;
  request.role(ThreadRole::poll).wait = ThreadWait::spin;
  return request;
}

RoleRequest& with(PlacementRequest& request, ThreadRole role, std::uint32_t threads, ThreadWait wait) {
  request.role(role).threads = threads;
  request.role(role).wait = wait;
  return request.role(role);
}

std::vector<int> cpus_of(const PlacementPlan& plan, ThreadRole role) {
  std::vector<int> cpus;
  for (const ThreadPlacement& thread : plan.threads) {
    if (thread.role == role) cpus.push_back(thread.cpus.size() == 1 ? thread.cpus.first() : -1);
  }
  return cpus;
}

std::vector<int> polls(const PlacementPlan& plan) { return cpus_of(plan, ThreadRole::poll); }

const PlanFinding* finding(const PlacementPlan& plan, std::string_view id) {
  for (const PlanFinding& each : plan.findings) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

PlacementPlan unseen(const Topology& topology, const PlacementRequest& request) {
  return make_plan(topology, HostFacts{}, request);
}

TEST(Plan, pins_nobody_when_placement_is_off) {
  PlacementRequest request = spinning(1);
  request.enabled = false;
  const PlacementPlan plan = unseen(machines::small_vm(), request);
  EXPECT_EQ(plan.threads[0].cpus.to_list(), "0-1");
  EXPECT_TRUE(plan.isolated_cpus.empty());
  EXPECT_EQ(plan.housekeeping.to_list(), "0-1");
  EXPECT_TRUE(finding(plan, "placement-off"));
  EXPECT_FALSE(plan.refused() || plan.has_warnings());
}

TEST(Plan, leaves_cpu_0_to_housekeeping) {
  const PlacementPlan plan = unseen(machines::small_vm(), spinning(1));
  EXPECT_EQ(polls(plan), std::vector{1});
  EXPECT_EQ(plan.isolated_cpus.to_list(), "1");
  EXPECT_EQ(plan.housekeeping.to_list(), "0");
}

TEST(Plan, gives_whole_cores_and_leaves_their_siblings_idle) {
  const PlacementPlan plan = unseen(machines::two_sockets(), spinning(3));
  EXPECT_EQ(polls(plan), (std::vector{1, 2, 3}));
  EXPECT_EQ(plan.isolated_cpus.to_list(), "1-3,17-19");
  EXPECT_EQ(plan.housekeeping.to_list(), "0,4-16,20-31");
  EXPECT_FALSE(plan.refused());
}

TEST(Plan, shares_smt_siblings_only_when_told_and_cores_run_out) {
  PlacementRequest request = spinning(4);
  const Topology machine = machines::make({.nodes = 1, .cores_per_node = 3, .threads_per_core = 2});
  EXPECT_TRUE(finding(unseen(machine, request), "oversubscribed-spinners"));
  request.share_smt = true;
  const PlacementPlan plan = unseen(machine, request);
  EXPECT_EQ(polls(plan), (std::vector{1, 2, 4, 5}));
  EXPECT_FALSE(plan.refused());
  EXPECT_EQ(finding(plan, "smt-siblings-shared")->severity, Severity::warning);
}

TEST(Plan, keeps_as_many_housekeeping_cores_as_asked_for) {
  PlacementRequest request = spinning(2);
  request.housekeeping_cores = 4;
  EXPECT_EQ(polls(unseen(machines::seed_28(), request)), (std::vector{4, 5}));
}

TEST(Plan, keeps_housekeeping_where_it_is_configured) {
  PlacementRequest request = spinning(2);
  request.housekeeping = {2, 3};
  const PlacementPlan plan = unseen(machines::seed_28(), request);
  EXPECT_EQ(polls(plan), (std::vector{1, 4})) << "CPU 0 comes last";
  EXPECT_EQ(plan.housekeeping.to_list(), "2-3");
}

TEST(Plan, lets_threads_that_block_float_over_housekeeping) {
  PlacementRequest request = spinning(1);
  with(request, ThreadRole::flusher, 1, ThreadWait::block);
  const PlacementPlan plan = unseen(machines::seed_28(), request);
  EXPECT_EQ(plan.thread("nfx-flush-0")->cpus.to_list(), "0,2-27");
}

TEST(Plan, keeps_threads_that_block_on_the_node_of_those_they_serve) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).near = "eth1";
  with(request, ThreadRole::flusher, 1, ThreadWait::block);
  with(request, ThreadRole::log, 1, ThreadWait::block).near = "eth0";
  const PlacementPlan plan = unseen(machines::two_sockets(), request);
  EXPECT_EQ(polls(plan), (std::vector{8, 9}));
  EXPECT_EQ(plan.thread("nfx-flush-0")->cpus.to_list(), "10-15,26-31");
  EXPECT_EQ(plan.thread("nfx-log-0")->cpus.to_list(), "0-7,16-23");
}

TEST(Plan, takes_the_configured_cpus_in_order) {
  PlacementRequest request = spinning(3);
  request.role(ThreadRole::poll).cpus = {5, 7, 9};
  EXPECT_EQ(polls(unseen(machines::seed_28(), request)), (std::vector{5, 7, 9}));
}

TEST(Plan, moves_housekeeping_away_from_cpus_that_threads_were_given) {
  PlacementRequest request = spinning(4);
  request.role(ThreadRole::poll).cpus = CpuSet::range(0, 3);
  const PlacementPlan plan = unseen(machines::make({.nodes = 1, .cores_per_node = 6}), request);
  EXPECT_EQ(polls(plan), (std::vector{1, 2, 3, 0}));
  EXPECT_EQ(plan.housekeeping.to_list(), "4-5");
  EXPECT_TRUE(finding(plan, "cpu0-spinner"));
  EXPECT_FALSE(plan.refused());
}

TEST(Plan, serves_the_role_with_the_shorter_list_first) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).cpus = CpuSet::range(2, 5);
  with(request, ThreadRole::deferred, 1, ThreadWait::spin).cpus = {2};
  const PlacementPlan plan = unseen(machines::seed_28(), request);
  EXPECT_EQ(cpus_of(plan, ThreadRole::deferred), std::vector{2});
  EXPECT_EQ(polls(plan), (std::vector{3, 4}));
}

TEST(Plan, uses_only_cpus_that_this_process_may_use) {
  Topology machine = machines::seed_28();
  machine.allowed = CpuSet::range(10, 12);
  const PlacementPlan plan = unseen(machine, spinning(2));
  EXPECT_EQ(polls(plan), (std::vector{11, 12}));
  EXPECT_TRUE(plan.housekeeping.contains(10));
}

TEST(Plan, takes_a_cores_other_hardware_thread_when_the_first_is_offline) {
  Topology machine = machines::make({.nodes = 1, .cores_per_node = 2, .threads_per_core = 2});
  machine.online = machine.allowed = {0, 2, 3};
  machine.offline = {1};
  const PlacementPlan plan = unseen(machine, spinning(1));
  EXPECT_EQ(polls(plan), std::vector{3});
  EXPECT_TRUE(finding(plan, "offline-sibling"));
}

TEST(Plan, prefers_isolated_cpus_then_those_without_interrupts) {
  const Topology machine = machines::seed_28();
  EXPECT_EQ(polls(make_plan(machine, machines::isolating_host(machine, {9, 10}), spinning(3))), (std::vector{1, 9, 10}))
      << "and in ascending order, as it will be when all three are isolated";
  HostFacts host = machines::plain_host(machine);
  for (const int cpu : {1, 2, 4}) host.interrupts.push_back(machines::interrupt(30 + cpu, "eth0-rx", cpu));
  EXPECT_EQ(polls(make_plan(machine, host, spinning(2))), (std::vector{3, 5}));
}

TEST(Plan, prefers_the_node_of_the_network_and_the_fast_cores) {
  Topology machine = machines::two_sockets();
  machine.devices[0].usable = false;
  EXPECT_EQ(polls(unseen(machine, spinning(1))), std::vector{8});
  PlacementRequest request = spinning(8);
  const PlacementPlan plan = unseen(machines::hybrid(), request);
  EXPECT_EQ(polls(plan), (std::vector{2, 4, 6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(finding(plan, "slow-core-kind")->subject, "CPU 16");
}

TEST(Plan, puts_one_thread_in_the_middle_of_each_group_of_devices) {
  PlacementRequest request = spinning(8);
  request.role(ThreadRole::poll).near = "each_group";
  const PlacementPlan plan = unseen(machines::eight_groups(), request);
  EXPECT_EQ(polls(plan), (std::vector{6, 18, 30, 42, 54, 66, 78, 90}));
  EXPECT_FALSE(plan.refused() || plan.has_warnings()) << to_text(plan, machines::eight_groups());
}

TEST(Plan, goes_round_the_groups_again_when_there_are_more_threads) {
  PlacementRequest request = spinning(10);
  request.role(ThreadRole::poll).near = "each_group";
  const PlacementPlan plan = unseen(machines::eight_groups(), request);
  EXPECT_EQ(polls(plan), (std::vector{6, 18, 30, 42, 54, 66, 78, 90, 5, 17}));
  EXPECT_TRUE(finding(plan, "more-threads-than-groups"));
}

TEST(Plan, stays_in_the_group_of_a_device) {
  PlacementRequest request = spinning(3);
  request.role(ThreadRole::poll).near = "rdmap20s0";
  const PlacementPlan plan = unseen(machines::eight_groups(), request);
  EXPECT_EQ(polls(plan), (std::vector{60, 61, 62}));
}

TEST(Plan, places_peers_in_one_last_level_cache) {
  PlacementRequest request = spinning(6);
  with(request, ThreadRole::deferred, 6, ThreadWait::spin).same_cache_as = ThreadRole::poll;
  const Topology machine = machines::make({.nodes = 1, .cores_per_node = 16, .cores_per_cache = 4});
  const PlacementPlan plan = unseen(machine, request);
  const auto a = polls(plan), b = cpus_of(plan, ThreadRole::deferred);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] / 4, b[i] / 4) << i;
  EXPECT_FALSE(finding(plan, "far-from-peer"));
}

TEST(Plan, places_peers_beside_the_device_of_the_other) {
  PlacementRequest request = spinning(8);
  request.role(ThreadRole::poll).near = "each_group";
  with(request, ThreadRole::deferred, 8, ThreadWait::spin).same_cache_as = ThreadRole::poll;
  EXPECT_EQ(cpus_of(unseen(machines::eight_groups(), request), ThreadRole::deferred),
            (std::vector{1, 12, 24, 36, 48, 60, 72, 84}));
}

TEST(Plan, survives_roles_that_want_each_others_cache) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).same_cache_as = ThreadRole::deferred;
  with(request, ThreadRole::deferred, 2, ThreadWait::spin).same_cache_as = ThreadRole::poll;
  EXPECT_FALSE(unseen(machines::threads_384(), request).refused());
}

TEST(Plan, gives_a_session_the_cpu_it_asks_for) {
  PlacementRequest request = spinning(3);
  request.sessions = {
      {"A", "X", 0, 7, false}, {"B", "X", 0, 9, false}, {"C", "X", 0, 7, false}, {"D", "X", 2, -1, false}};
  const PlacementPlan plan = unseen(machines::seed_28(), request);
  EXPECT_EQ(polls(plan), (std::vector{7, 9, 1}));
  EXPECT_EQ(plan.session_threads, (std::vector<std::uint32_t>{0, 1, 0, 2}));
  EXPECT_FALSE(plan.refused());
}

TEST(Plan, respects_the_poll_thread_of_the_session_that_asks) {
  PlacementRequest request = spinning(2);
  request.sessions = {{"A", "X", 1, 7, false}};
  EXPECT_EQ(polls(unseen(machines::seed_28(), request)), (std::vector{1, 7}));
}

TEST(Plan, does_not_reserve_a_cpu_that_a_session_asks_for) {
  PlacementRequest request = spinning(3);
  request.role(ThreadRole::poll).cpus = CpuSet::range(0, 3);
  request.sessions = {{"A", "X", 0, 0, false}};
  const PlacementPlan plan = unseen(machines::make({.nodes = 1, .cores_per_node = 4}), request);
  EXPECT_EQ(polls(plan), (std::vector{0, 2, 3}));
  EXPECT_EQ(plan.housekeeping.to_list(), "1");
}

TEST(Plan, balances_sessions_so_that_none_share_while_a_thread_is_idle) {
  PlacementRequest request = spinning(4);
  request.mapping = SessionMapping::balanced;
  request.sessions.push_back({"FIXED", "X", 2, -1, false});
  for (int i = 0; i < 3; ++i) request.sessions.push_back({"C" + std::to_string(i), "X", 0, -1, true});
  const PlacementPlan plan = unseen(machines::seed_28(), request);
  EXPECT_EQ((std::set<std::uint32_t>(plan.session_threads.begin(), plan.session_threads.end()).size()), 4);
  EXPECT_FALSE(finding(plan, "session-collision"));
}

TEST(Plan, is_the_same_once_it_is_applied) {
  const Topology machine = machines::two_sockets();
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).near = "eth0";
  with(request, ThreadRole::deferred, 2, ThreadWait::spin);
  HostFacts host = machines::plain_host(machine);
  for (const int cpu : {1, 3}) host.interrupts.push_back(machines::interrupt(30 + cpu, "eth0-rx", cpu));
  const PlacementPlan before = make_plan(machine, host, request);
  HostFacts applied = host;
  applied.shielded = before.isolated_cpus;
  applied.interrupts.clear();
  EXPECT_EQ(make_plan(machine, applied, request).hash, before.hash);
  EXPECT_EQ(make_plan(machine, machines::isolating_host(machine, before.isolated_cpus), request).hash, before.hash);
}

TEST(Plan, tells_what_was_not_taken_and_why) {
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).near = "eth1";
  const PlacementPlan plan = unseen(machines::two_sockets(), request);
  const ThreadPlacement& thread = plan.threads[0];
  ASSERT_FALSE(thread.refused.empty());
  EXPECT_LE(thread.refused.size(), 8U);
  std::string all;
  CpuSet covered = thread.cpus;
  for (const RefusedAlternative& each : thread.refused) {
    all += each.cpus.to_list() + ": " + each.why + '\n';
    EXPECT_FALSE(covered.intersects(each.cpus)) << each.why;
    covered |= each.cpus;
  }
  EXPECT_EQ(covered.to_list(), "0-31") << "every CPU is accounted for";
  EXPECT_NE(all.find("24: SMT siblings"), std::string::npos) << all;
  EXPECT_NE(all.find("1-7,17-23: farther from eth1"), std::string::npos) << all;
}

TEST(Plan, names_threads_in_fifteen_characters) {
  PlacementRequest request = spinning(1024);
  for (const ThreadRole role : thread_roles) with(request, role, 1024, ThreadWait::block);
  for (const ThreadPlacement& thread : unseen(machines::small_vm(), request).threads) {
    EXPECT_LE(thread.name.size(), 15U) << thread.name;
  }
}

}  // namespace
}  // namespace nfx
