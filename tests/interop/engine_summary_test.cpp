// One long session per direction and version, and a table of its cost. Run it alone to read the table:
//   test_engine_against_quickfix --gtest_filter='EngineSummary.*'
#include <cstdio>
#include <set>

#include "engine_rig.hpp"

namespace nfx::interop {
namespace {

constexpr std::size_t opening_orders = 1000;
constexpr std::size_t burst = 500;
constexpr std::size_t cut_at = 200;

struct Row {
  Matchup matchup;
  std::size_t orders = 0;   // received, in both directions, each counted once
  std::size_t reports = 0;  // received, in both directions
  std::size_t cuts = 0;
  std::size_t resent_by_us = 0;
  std::size_t resent_by_quickfix = 0;
  std::size_t requests_by_us = 0;
  std::size_t requests_by_quickfix = 0;
  std::size_t resets = 0;
  bool passed = false;
};

std::size_t different(const std::vector<std::string>& lines) {
  std::set<std::string> ids;
  for (const std::string& line : lines) ids.insert(word(line, 1));
  return ids.size();
}

// Orders from both sides, a burst cut by each, a sequence gap, a reset by each, Logout.
bool run(EngineRig& rig, std::size_t& cuts) {
  const auto numbers_after_reset = [&] {
    return value(rig.session().next_outbound()) <= 3 && value(rig.session().next_inbound()) <= 3 && rig.numbers_agree();
  };
  if (!rig.logged_on() || !rig.peer_trades(opening_orders) || !rig.we_trade(opening_orders) || !rig.numbers_agree())
    return false;
  rig.send_command("order " + std::to_string(burst) + " cut " + std::to_string(cut_at));
  if (!rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * (opening_orders + burst); })) return false;
  rig.ours().ask_orders(burst, cut_at);
  if (!rig.pump_until([&] { return rig.ours().reports_in() >= 2 * (opening_orders + burst); })) return false;
  rig.send_command("skip 5");
  rig.send_command("order 1");
  if (!rig.pump_until([&] { return rig.peer().count("EXEC") >= 2 * (opening_orders + burst + 1); })) return false;
  if (!rig.numbers_agree()) return false;
  cuts = rig.session().counters().disconnects;
  rig.send_command("reset-live");
  if (!rig.peer_says("ADMIN-IN A 1 ") || !numbers_after_reset()) return false;
  rig.session().reset_sequence_numbers();
  if (!rig.peer_says("ADMIN-OUT A 1 ") || !numbers_after_reset()) return false;
  rig.session().logout("done");
  return rig.peer_says("LOGOUT done") && rig.pump_until([&] { return !rig.session().logged_on(); }) &&
         rig.numbers_agree() && rig.both_finish_cleanly();
}

// QuickFIX answers a ResendRequest that arrives after a gap without recording its sequence number, and drops a gap fill
// that begins below its expected number. The next message then shows it the rest of the gap: a Heartbeat, if both sides
// wait for this.
RigOptions every_five_seconds() {
  return {.peer = {"--heartbeat", "5"},
          .adjust = [](SessionConfig& config) { config.heartbeat_interval = std::chrono::seconds{5}; }};
}

Row play(const Matchup& matchup) {
  EngineRig rig(matchup, every_five_seconds());
  Row row{.matchup = matchup};
  row.passed = run(rig, row.cuts);
  TradingApplication& ours = rig.ours();
  row.orders = ours.orders_in() + different(rig.peer().events("ORDER"));
  row.reports = ours.reports_in() + rig.peer().count("EXEC");
  row.resent_by_us = ours.resent(Direction::out);
  row.resent_by_quickfix = ours.resent(Direction::in);
  row.requests_by_us = ours.traffic(Direction::out, "2");
  row.requests_by_quickfix = ours.traffic(Direction::in, "2");
  for (const std::string& logon : rig.peer().events("ADMIN-IN A 1 ")) row.resets += logon.ends_with("reset=Y") ? 1 : 0;
  row.passed = row.passed && ours.every_order_came_once(opening_orders + burst + 1) &&
               ours.every_report_came_once(opening_orders + burst) && rig.peer().count("REJECT") == 0;
  EXPECT_TRUE(row.passed) << rig.story() << rig.numbers();
  return row;
}

void print(const std::vector<Row>& rows) {
  std::printf("%-23s | %-7s | %6s | %7s | %4s | %12s | %18s | %14s | %20s | %6s | %s\n", "direction", "version",
              "orders", "reports", "cuts", "resent by us", "resent by QuickFIX", "requests by us",
              "requests by QuickFIX", "resets", "result");
  for (const Row& row : rows) {
    std::printf("%-23s | %-7s | %6zu | %7zu | %4zu | %12zu | %18zu | %14zu | %20zu | %6zu | %s\n",
                row.matchup.our_role == Role::acceptor ? "QuickFIX connects to us" : "we connect to QuickFIX",
                row.matchup.begin_string.c_str(), row.orders, row.reports, row.cuts, row.resent_by_us,
                row.resent_by_quickfix, row.requests_by_us, row.requests_by_quickfix, row.resets,
                row.passed ? "pass" : "FAIL");
  }
}

TEST(EngineSummary, of_orders_cuts_gaps_and_resets_every_direction_and_version_loses_nothing) {
  std::vector<Row> rows;
  for (const Matchup& matchup : every_matchup()) rows.push_back(play(matchup));
  print(rows);
  for (const Row& row : rows) {
    EXPECT_EQ(row.orders, 2 * (opening_orders + burst) + 1);
    EXPECT_EQ(row.reports, 2 * row.orders);
    EXPECT_GE(row.cuts, 2U);  // more if we are back before QuickFIX has noticed the end of the old connection
    EXPECT_EQ(row.resets, 2U);
    EXPECT_GE(row.resent_by_us, 1U);
    EXPECT_GE(row.resent_by_quickfix, burst - cut_at);
  }
}

}  // namespace
}  // namespace nfx::interop
