// Warnings and refusals of a plan, by name.
#include <gtest/gtest.h>

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

const PlanFinding* finding(const PlacementPlan& plan, std::string_view id) {
  for (const PlanFinding& each : plan.findings) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

bool says(const PlanFinding* found, std::string_view text) {
  return found != nullptr && (found->text + '\n' + found->fix).find(text) != std::string::npos;
}

PlacementPlan plain(const Topology& topology, const PlacementRequest& request) {
  return make_plan(topology, machines::plain_host(topology), request);
}

void busy(PlacementRequest& request, ThreadRole role) {
  request.role(role).threads = 1;
  request.role(role).wait = ThreadWait::spin;
}

// A trading program: its threads in their roles, and an engine that only sends orders.
PlacementRequest trading(ThreadWait recorder) {
  PlacementRequest request = spinning(1);
  for (const ThreadRole role : {ThreadRole::feed, ThreadRole::model, ThreadRole::orders}) busy(request, role);
  request.role(ThreadRole::recorder).threads = 1;
  request.role(ThreadRole::recorder).wait = recorder;
  request.role(ThreadRole::ui).threads = 1;
  return request;
}

TEST(PlanFindings, only_critical_threads_of_a_program_get_cores_of_their_own) {
  for (const Topology& machine : {machines::two_sockets(), machines::seed_28(), machines::hybrid(),
                                  machines::threads_384(), machines::eight_groups()}) {
    const PlacementPlan plan = plain(machine, trading(ThreadWait::block));
    EXPECT_FALSE(plan.refused());
    EXPECT_EQ(finding(plan, "not-critical"), nullptr);
    CpuSet taken;
    for (const ThreadPlacement& each : plan.threads) {
      const bool critical = each.role == ThreadRole::poll || kind_of(each.role) == RoleKind::critical;
      EXPECT_EQ(each.cpus.size() == 1, critical) << each.name;
      EXPECT_EQ(plan.isolated_cpus.contains_all(each.cpus), critical) << each.name;
      if (!critical) continue;
      EXPECT_FALSE(taken.intersects(each.cpus)) << each.name;
      taken |= each.cpus;
    }
    EXPECT_EQ(taken.size(), 4U);
  }
}

TEST(PlanFindings, warn_of_a_recorder_that_takes_a_core) {
  const PlacementPlan plan = plain(machines::two_sockets(), trading(ThreadWait::spin));
  const PlanFinding* found = finding(plan, "not-critical");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_EQ(found->subject, "[placement.recorder] wait");
  EXPECT_TRUE(says(found, "wait = \"block\""));
}

TEST(PlanFindings, mention_a_feed_that_sleeps) {
  PlacementRequest request = trading(ThreadWait::block);
  request.role(ThreadRole::feed).wait = ThreadWait::block;
  const PlacementPlan plan = plain(machines::two_sockets(), request);
  const PlanFinding* found = finding(plan, "critical-but-blocking");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::note);
  EXPECT_EQ(found->subject, "[placement.feed] wait");
}

TEST(PlanFindings, refuse_a_feed_and_a_model_that_busy_poll_on_one_core) {
  PlacementRequest request;
  request.enabled = true;
  busy(request, ThreadRole::feed);
  busy(request, ThreadRole::model);
  const PlacementPlan plan = plain(machines::small_vm(), request);
  EXPECT_TRUE(plan.refused());
  EXPECT_TRUE(says(finding(plan, "oversubscribed-spinners"), "set [placement.model] wait = \"block\""));
}

// Cores 2-15 of 28 are isolated, and sessions are hashed onto 2-27.
PlacementPlan seeds() {
  const Topology machine = machines::seed_28();
  PlacementRequest request = spinning(26);
  request.role(ThreadRole::poll).cpus = CpuSet::range(2, 27);
  request.sessions = {{"SENDER1", "TARGET1", 0, -1, true},
                      {"SENDER2", "TARGET2", 0, -1, true},
                      {"CLIENT_A", "EXCHANGE", 0, -1, true},
                      {"BROKER_1", "CLEARING", 0, -1, true}};
  return make_plan(machine, machines::isolating_host(machine, CpuSet::range(2, 15)), request);
}

TEST(PlanFindings, reproduce_the_published_mapping) {
  const PlacementPlan plan = seeds();
  std::vector<int> cpus;
  for (const std::uint32_t thread : plan.session_threads) cpus.push_back(plan.threads[thread].cpus.first());
  EXPECT_EQ(cpus, (std::vector{22, 20, 12, 22}));
  EXPECT_EQ(plan.housekeeping.to_list(), "0-1");
  EXPECT_FALSE(plan.refused());
}

TEST(PlanFindings, name_sessions_that_collide_while_threads_are_idle) {
  const PlacementPlan plan = seeds();
  const PlanFinding* found = finding(plan, "session-collision");
  EXPECT_TRUE(says(found, "SENDER1->TARGET1 and BROKER_1->CLEARING"));
  EXPECT_TRUE(says(found, "(CPU 22)"));
  EXPECT_TRUE(says(found, "mapping = \"balanced\""));
}

TEST(PlanFindings, name_threads_outside_the_isolated_cpus) {
  const PlacementPlan plan = seeds();
  EXPECT_TRUE(says(finding(plan, "isolated-elsewhere"), "CPUs 2-15 are isolated"));
  EXPECT_TRUE(says(finding(plan, "isolated-elsewhere"), "SENDER2->TARGET2"));
  EXPECT_EQ(finding(plan, "not-isolated")->subject, "CPUs 16-27");
}

TEST(PlanFindings, refuse_more_spinning_threads_than_cores) {
  const PlacementPlan plan = plain(machines::small_vm(), spinning(2));
  EXPECT_TRUE(plan.refused());
  EXPECT_TRUE(says(finding(plan, "oversubscribed-spinners"), "[engine] poll_threads = 1"));
  EXPECT_TRUE(plain(machines::one_cpu(), spinning(1)).refused());
}

TEST(PlanFindings, refuse_a_plan_without_housekeeping) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).cpus = {0, 1};
  EXPECT_TRUE(finding(plain(machines::small_vm(), request), "no-housekeeping"));
  request = spinning(1);
  request.housekeeping = {77};
  const PlacementPlan plan = plain(machines::small_vm(), request);
  EXPECT_TRUE(finding(plan, "no-housekeeping"));
  EXPECT_TRUE(says(finding(plan, "cpu-not-available"), "CPU 77 does not exist here"));
}

TEST(PlanFindings, refuse_siblings_that_were_both_given_to_spinning_threads) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).cpus = {3, 19};
  const PlacementPlan plan = plain(machines::two_sockets(), request);
  EXPECT_EQ(finding(plan, "smt-siblings-shared")->severity, Severity::refusal);
  request = spinning(1);
  request.role(ThreadRole::poll).cpus = {3};
  request.housekeeping = {0, 19};
  EXPECT_EQ(finding(plain(machines::two_sockets(), request), "smt-siblings-shared")->severity, Severity::warning);
}

TEST(PlanFindings, warn_of_a_pinned_thread_that_blocks) {
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::flusher) = {
      .threads = 1, .wait = ThreadWait::block, .near = {}, .same_cache_as = {}, .cpus = {5}, .priority = 0};
  PlacementPlan plan = plain(machines::seed_28(), request);
  EXPECT_TRUE(says(finding(plan, "pinned-but-blocking"), "each wake-up crosses CPUs"));
  request.role(ThreadRole::flusher).cpus = {5, 6};
  EXPECT_FALSE(finding(plain(machines::seed_28(), request), "pinned-but-blocking"));
  request.role(ThreadRole::poll).cpus = {5};
  request.role(ThreadRole::flusher).cpus = {5};
  EXPECT_TRUE(says(finding(plain(machines::seed_28(), request), "pinned-but-blocking"), "leave it no time"));
}

TEST(PlanFindings, warn_of_a_session_that_pins_a_blocking_poll_thread) {
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).wait = ThreadWait::block;
  request.sessions = {{"A", "B", 0, 3, false}};
  const PlacementPlan plan = plain(machines::seed_28(), request);
  EXPECT_EQ(plan.threads[0].cpus.to_list(), "3");
  EXPECT_TRUE(says(finding(plan, "pinned-but-blocking"), "idle = \"spin\""));
}

TEST(PlanFindings, warn_of_a_session_that_is_to_be_pinned_with_poll_threads_that_block) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).wait = ThreadWait::block;
  request.sessions = {{"A", "B", 0, -1, true}, {"C", "D", 1, -1, false}};
  const PlacementPlan plan = plain(machines::seed_28(), request);
  EXPECT_GT(plan.threads[0].cpus.size(), 1U) << "not pinned";
  EXPECT_TRUE(plan.has_warnings());
  const PlanFinding* found = finding(plan, "auto-pin-but-blocking");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_TRUE(says(found, "1 session with auto_pin_to_core = true"));
  EXPECT_TRUE(says(found, "idle = \"spin\""));
  request.sessions[0].auto_pin_to_core = false;
  EXPECT_FALSE(finding(plain(machines::seed_28(), request), "auto-pin-but-blocking"));
}

TEST(PlanFindings, warn_of_threads_far_from_their_device_or_peer) {
  PlacementRequest request = spinning(9);
  request.role(ThreadRole::poll).near = "eth1";
  EXPECT_TRUE(says(finding(plain(machines::two_sockets(), request), "far-from-device"), "nfx-poll-8 (CPU 1)"));
  request = spinning(1);
  request.role(ThreadRole::poll).cpus = {3};
  request.role(ThreadRole::deferred) = {.threads = 1,
                                        .wait = ThreadWait::spin,
                                        .near = {},
                                        .same_cache_as = ThreadRole::poll,
                                        .cpus = {9},
                                        .priority = 0};
  EXPECT_TRUE(
      says(finding(plain(machines::two_sockets(), request), "far-from-peer"), "nfx-defer-0 (CPU 9) from nfx-poll-0"));
}

TEST(PlanFindings, refuse_a_device_that_is_not_there_and_guess_what_was_meant) {
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).near = "ehto1";
  const PlacementPlan plan = plain(machines::two_sockets(), request);
  EXPECT_TRUE(plan.refused());
  EXPECT_TRUE(says(finding(plan, "device-unknown"), "did you mean eth1?"));
  request.role(ThreadRole::poll).near = "each_group";
  EXPECT_TRUE(finding(plain(machines::seed_28(), request), "no-device-groups"));
}

TEST(PlanFindings, warn_of_a_device_that_cannot_be_used) {
  Topology machine = machines::two_sockets();
  machine.devices[1].usable = false;
  machine.devices[1].why_not = "no link";
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).near = "eth1";
  EXPECT_TRUE(says(finding(plain(machine, request), "device-unusable"), "no link"));
  machine.devices[1].numa_node = -1;
  machine.devices[1].local_cpus = {};
  EXPECT_TRUE(finding(plain(machine, request), "device-without-node"));
}

TEST(PlanFindings, count_groups_that_get_no_thread) {
  PlacementRequest request = spinning(2);
  request.role(ThreadRole::poll).near = "each_group";
  EXPECT_TRUE(says(finding(plain(machines::eight_groups(), request), "more-groups-than-threads"), "8 groups"));
  Topology machine = machines::eight_groups();
  machine.devices.back().numa_node = -1;
  machine.devices.back().pci_switch.clear();
  EXPECT_TRUE(finding(plain(machine, request), "group-without-core"));
}

TEST(PlanFindings, interrupts_that_are_about_to_leave_are_no_warning) {
  const Topology machine = machines::small_vm();
  HostFacts host = machines::plain_host(machine);
  host.interrupts.push_back(
      {.number = 30, .actions = {"eth0"}, .device = {}, .allowed = CpuSet{0}, .effective = CpuSet{1}});
  const PlacementPlan plan = make_plan(machine, host, spinning(1));
  EXPECT_FALSE(finding(plan, "interrupt-on-spinner"));
  const PlanFinding* found = finding(plan, "interrupt-pending");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::note);
  EXPECT_TRUE(says(found, "30 (eth0)"));
}

TEST(PlanFindings, name_four_interrupts_and_count_the_rest) {
  const Topology machine = machines::small_vm();
  HostFacts host = machines::plain_host(machine);
  for (int i = 0; i < 7; ++i) host.interrupts.push_back(machines::interrupt(24 + i, "eth0-rx-" + std::to_string(i), 1));
  host.interrupts.push_back({.number = 9, .actions = {}, .device = {}, .allowed = {}, .effective = CpuSet{1}});
  const PlacementPlan plan = make_plan(machine, host, spinning(1));
  const PlanFinding* found = finding(plan, "interrupt-on-spinner");
  EXPECT_TRUE(says(found, "7 interrupts"));
  EXPECT_TRUE(says(found, "24 (eth0-rx-0 of 0000:3b:00.0) on CPU 1"));
  EXPECT_TRUE(says(found, "and 3 more"));
  EXPECT_FALSE(says(found, "eth0-rx-4"));
}

TEST(PlanFindings, warn_of_real_time_without_its_knobs) {
  const Topology machine = machines::small_vm();
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).priority = 50;
  HostFacts host = machines::plain_host(machine);
  EXPECT_TRUE(finding(make_plan(machine, host, request), "realtime-throttled"));
  EXPECT_FALSE(finding(make_plan(machine, host, request), "realtime-fair-server"));
  host.rt_runtime_us = -1;
  host.kernel = {6, 12};
  EXPECT_FALSE(finding(make_plan(machine, host, request), "realtime-throttled"));
  EXPECT_TRUE(finding(make_plan(machine, host, request), "realtime-fair-server"));
  host.fair_server = false;
  EXPECT_FALSE(finding(make_plan(machine, host, request), "realtime-fair-server"));
}

TEST(PlanFindings, refuse_sessions_that_ask_for_more_cpus_than_poll_threads) {
  PlacementRequest request = spinning(1);
  request.sessions = {{"A", "X", 0, 3, false}, {"B", "X", 0, 4, false}};
  PlacementPlan plan = plain(machines::seed_28(), request);
  EXPECT_TRUE(plan.refused());
  EXPECT_TRUE(says(finding(plan, "session-core-conflict"), "B->X requests CPU 4"));
  EXPECT_TRUE(says(finding(plan, "session-core-conflict"), "poll_threads = 2"));
  request.sessions = {{"A", "X", 0, 3, false}};
  request.role(ThreadRole::poll).cpus = {5, 6};
  EXPECT_TRUE(says(finding(plain(machines::seed_28(), request), "session-core-conflict"), "5-6"));
  request.sessions = {{"A", "X", 0, 100000, false}};
  EXPECT_TRUE(finding(plain(machines::seed_28(), request), "cpu-not-available"));
}

TEST(PlanFindings, refuse_a_poll_thread_that_does_not_exist) {
  PlacementRequest request = spinning(1);
  request.sessions = {{"A", "X", 3, -1, false}};
  EXPECT_TRUE(says(finding(plain(machines::seed_28(), request), "poll-thread-missing"), "poll_thread = 3"));
}

TEST(PlanFindings, say_which_cpus_are_offline_or_not_ours) {
  Topology machine = machines::seed_28();
  machine.online.erase(7);
  machine.allowed.erase(7);
  machine.allowed.erase(8);
  machine.offline = {7};
  PlacementRequest request = spinning(1);
  request.role(ThreadRole::poll).cpus = {7, 8, 9};
  const PlacementPlan plan = plain(machine, request);
  EXPECT_TRUE(says(finding(plan, "cpu-not-available"), "CPU 7 is offline; CPU 8 is not allowed"));
}

TEST(PlanFindings, leave_the_host_out_when_it_is_not_seen) {
  const PlacementPlan plan = make_plan(machines::seed_28(), HostFacts{}, spinning(1));
  EXPECT_TRUE(finding(plan, "host-unseen"));
  EXPECT_FALSE(finding(plan, "not-isolated"));
}

TEST(PlanFindings, are_none_on_a_host_that_is_set_up_for_the_plan) {
  const Topology machine = machines::seed_28();
  const PlacementPlan plan = make_plan(machine, machines::isolating_host(machine, {1, 2}), spinning(2));
  EXPECT_TRUE(plan.findings.empty()) << to_text(plan, machine);
}

TEST(PlanFindings, come_with_the_worst_first_and_each_with_a_fix) {
  PlacementRequest request = spinning(3);
  request.role(ThreadRole::poll).priority = 1;
  const PlacementPlan plan = plain(machines::small_vm(), request);
  ASSERT_GT(plan.findings.size(), 3U);
  for (std::size_t i = 0; i < plan.findings.size(); ++i) {
    EXPECT_GE(plan.findings[i == 0 ? 0 : i - 1].severity, plan.findings[i].severity);
    EXPECT_FALSE(plan.findings[i].fix.empty() || plan.findings[i].subject.empty()) << plan.findings[i].id;
  }
}

TEST(PlanText, has_threads_sessions_alternatives_and_findings) {
  const std::string text = to_text(seeds(), machines::seed_28());
  for (const char* part : {"nfx-poll-20  poll  spin  22", "4 sessions:", "(CPU 22): 2: SENDER1->TARGET1 and BROKER_1",
                           "isolated CPUs 2-27", "housekeeping  0-1", "Not taken:", "warning [session-collision]",
                           "  fix: set [placement] mapping"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(PlanText, as_json_survives_names_that_are_no_utf_8) {
  PlacementRequest request = spinning(1);
  request.sessions = {{"A\xff", "X", 0, -1, false}};
  const std::string json = to_json(plain(machines::small_vm(), request));
  EXPECT_NE(json.find("\"isolated\": \"1\""), std::string::npos) << json;
}

}  // namespace
}  // namespace nfx
