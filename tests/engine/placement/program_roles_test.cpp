// The roles of a program's own threads on captured machines: the CPUs of each, and refusals and warnings.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "nexusfix/placement/plan.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

// Threads of a trading program, one of each role, and an engine that uses the order thread for nothing else.
PlacementRequest trading() {
  PlacementRequest request;
  request.enabled = true;
  for (const ThreadRole role : {ThreadRole::feed, ThreadRole::model, ThreadRole::orders}) {
    request.role(role).threads = 1;
    request.role(role).wait = ThreadWait::spin;
  }
  for (const ThreadRole role : {ThreadRole::recorder, ThreadRole::ui}) request.role(role).threads = 1;
  return request;
}

// "feed 1; model 2; recorder 0,3": each role with the CPUs of its threads, in the order of the roles.
std::string roles_of(const PlacementPlan& plan) {
  std::string text;
  for (const ThreadPlacement& thread : plan.threads)
    text += (text.empty() ? "" : "; ") + std::string{to_string(thread.role)} + ' ' + thread.cpus.to_list();
  return text;
}

// "refusal oversubscribed-spinners, warning not-critical"; notes are left out.
std::string findings_of(const PlacementPlan& plan) {
  std::string text;
  for (const PlanFinding& finding : plan.findings) {
    if (finding.severity == Severity::note) continue;
    text += (text.empty() ? "" : ", ") + std::string{to_string(finding.severity)} + ' ' + finding.id;
  }
  return text;
}

struct Row {
  std::string name;  // of the test
  std::string machine;
  std::function<void(PlacementRequest&)> change;
  std::string roles;
  std::string isolated;
  std::string findings{};
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class ProgramRoles : public testing::TestWithParam<Row> {};

TEST_P(ProgramRoles, have_these_cpus) {
  const Row& row = GetParam();
  const Topology machine =
      load_topology(fs::path{NFX_SOURCE_DIR} / "tests/engine/placement/topologies" / (row.machine + ".xml"));
  PlacementRequest request = trading();
  if (row.change) row.change(request);
  const PlacementPlan plan = make_plan(machine, HostFacts{}, request);
  EXPECT_EQ(findings_of(plan), row.findings);
  EXPECT_EQ(plan.refused(), row.findings.contains("refusal"));
  EXPECT_EQ(roles_of(plan), row.roles);
  EXPECT_EQ(plan.isolated_cpus.to_list(), row.isolated);
  for (const ThreadPlacement& thread : plan.threads) {
    const bool waits = thread.wait == ThreadWait::block && !plan.refused();
    EXPECT_FALSE(waits && thread.cpus.intersects(plan.isolated_cpus)) << thread.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    machines, ProgramRoles,
    testing::ValuesIn(std::vector<Row>{
        // CPU 0 is for housekeeping, and a message's path stays on one node: the odd CPUs are the second one.
        {"two_sockets",
         "two_sockets",
         {},
         "feed 1; model 3; orders 5; recorder 0,2,4,6-8,10,12,14-15; ui 0,2,4,6-8,10,12,14-15",
         "1,3,5,9,11,13"},
        {"core_complexes",
         "core_complexes",
         {},
         "feed 1; model 2; orders 3; recorder 0,4-12,16-23; ui 0,4-12,16-23",
         "1-3,13-15"},
        {"gpu_groups", "gpu_groups", {}, "feed 1; model 2; orders 3; recorder 0,4-8,12-15; ui 0,4-8,12-15", "1-3,9-11"},
        {"places_unknown", "unknown_places", {}, "feed 1; model 2; orders 3; recorder 0; ui 0", "1-3"},
        // Two fast cores, one of them for housekeeping.
        {"hybrid",
         "hybrid",
         {},
         "feed 2; model 4; orders 5; recorder 0-1,6-7; ui 0-1,6-7",
         "2-5",
         "warning slow-core-kind"},
        {"slow_cores_by_configuration", "hybrid",
         [](PlacementRequest& request) { request.role(ThreadRole::model).cpus = {6}; },
         "feed 2; model 6; orders 4; recorder 0-1,5,7; ui 0-1,5,7", "2-4,6", "warning slow-core-kind"},
        {"too_few_cores",
         "offline_cpu",
         {},
         "feed 1; model 2; orders 0; recorder 0; ui 0",
         "1-2",
         "refusal oversubscribed-spinners"},
        {"a_feed_near_its_card", "two_sockets",
         [](PlacementRequest& request) { request.role(ThreadRole::feed).near = "eth1"; },
         "feed 2; model 4; orders 6; recorder 0-1,3,5,7-9,11,13,15; ui 0-1,3,5,7-9,11,13,15", "2,4,6,10,12,14"},
        {"all_near_a_card_of_the_other_node", "two_sockets",
         [](PlacementRequest& request) {
           for (const ThreadRole role : thread_roles) request.role(role).near = "eth2";
         },
         "feed 1; model 3; orders 5; recorder 7,15; ui 7,15", "1,3,5,9,11,13"},
        {"two_feeds_in_two_complexes", "core_complexes",
         [](PlacementRequest& request) {
           request.role(ThreadRole::feed).threads = 2;
           request.role(ThreadRole::model).threads = 2;
           request.role(ThreadRole::model).same_cache_as = ThreadRole::feed;
         },
         "feed 1; feed 3; model 2; model 4; orders 5; recorder 0,6-12,18-23; ui 0,6-12,18-23", "1-5,13-17"},
        {"feeds_near_two_cards_with_their_models", "two_sockets",
         [](PlacementRequest& request) {
           request.role(ThreadRole::feed).threads = 2;
           request.role(ThreadRole::feed).cpus = {2, 3};
           request.role(ThreadRole::model).threads = 2;
           request.role(ThreadRole::orders).threads = 0;
         },
         "feed 2; feed 3; model 4; model 1; recorder 0,5-8,13-15; ui 0,5-8,13-15", "1-4,9-12"},
        {"a_feed_for_each_group_of_devices", "gpu_groups",
         [](PlacementRequest& request) {
           request.role(ThreadRole::feed).threads = 2;
           request.role(ThreadRole::feed).near = "each_group";
         },
         "feed 2; feed 6; model 1; orders 3; recorder 0,4-5,7-8,12-13,15; ui 0,4-5,7-8,12-13,15", "1-3,6,9-11,14"},
        {"configured_cpus", "two_sockets",
         [](PlacementRequest& request) {
           request.role(ThreadRole::feed).cpus = {6};
           request.role(ThreadRole::orders).cpus = {5};
         },
         "feed 6; model 2; orders 5; recorder 0-1,3-4,7-9,11-12,15; ui 0-1,3-4,7-9,11-12,15", "2,5-6,10,13-14"},
        {"a_feed_that_sleeps", "two_sockets",
         [](PlacementRequest& request) { request.role(ThreadRole::feed).wait = ThreadWait::block; },
         "feed 0,2,4-8,10,12-15; model 1; orders 3; recorder 0,2,4-8,10,12-15; ui 0,2,4-8,10,12-15", "1,3,9,11"},
        {"a_recorder_that_spins", "two_sockets",
         [](PlacementRequest& request) { request.role(ThreadRole::recorder).wait = ThreadWait::spin; },
         "feed 1; model 3; orders 5; recorder 2; ui 0,4,6-8,12,14-15", "1-3,5,9-11,13", "warning not-critical"},
        {"a_cpu_that_is_offline", "offline_cpu",
         [](PlacementRequest& request) {
           request.role(ThreadRole::model).threads = request.role(ThreadRole::orders).threads = 0;
           request.role(ThreadRole::feed).cpus = {3};
         },
         "feed 0-2; recorder 0-2; ui 0-2", "", "refusal cpu-not-available, refusal oversubscribed-spinners"},
        {"a_card_that_is_not_there", "two_sockets",
         [](PlacementRequest& request) { request.role(ThreadRole::feed).near = "eth9"; },
         "feed 1; model 3; orders 5; recorder 0,2,4,6-8,10,12,14-15; ui 0,2,4,6-8,10,12,14-15", "1,3,5,9,11,13",
         "refusal device-unknown"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace nfx
