// Which gateway owns a session: one row for each situation, and who is alive.
#include "gateway/ownership.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;
using cluster::GatewayId;
using cluster::Phase;
using cluster::StopReason;
using std::chrono::seconds;

constexpr MonotonicTime start{1000s};
constexpr GatewayId a{1}, b{2}, b_restarted{3};
constexpr std::size_t member_b = 1;

ClusterConfig gateways(std::vector<std::string> names) {
  ClusterConfig config;
  config.gateway = "a";
  config.gateways = std::move(names);
  config.lease = 4s;
  return config;
}

// A session that the hash gives to this gateway of a and b.
std::string session_of(const std::string& gateway) {
  for (int i = 0;; ++i) {
    const std::string name = "S" + std::to_string(i);
    if ((cluster::weight_of(name, "a") > cluster::weight_of(name, "b")) == (gateway == "a")) return name;
  }
}

// Gateway a, which knows of no other one that is alive, and a session of the stream that has no owner and goes to it.
struct Case {
  Members members{gateways({"a", "b"}), a};
  OwnershipRules rules{.lease = 4s, .lost_after = 10s, .begin = start, .follow_again = 1s};
  OwnershipState session{.name = session_of("a"), .looked = true, .knows_lease = true, .follow_at = cluster::never};
  OwnershipFacts facts{.has_frame = true};
  MonotonicTime now = start;

  Decision decide() { return gateway::decide(session, facts, members, rules, now); }

  // Events, one after the other.
  template <Act act>
  void decided() {
    EXPECT_EQ(static_cast<int>(decide().act), static_cast<int>(act));
  }
  template <int ms>
  void later() {
    now += std::chrono::milliseconds{ms};
  }
  template <auto flag, bool value = true>
  void set() {
    if constexpr (requires { facts.*flag; })
      facts.*flag = value;
    else
      session.*flag = value;
  }
  template <Phase phase>
  void in() {
    facts.phase = phase;
  }
  template <Stage stage>
  void at() {
    session.stage = stage;
    if (stage != Stage::none) facts.phase = Phase::owning;
  }
  template <NoteState note>
  void has_note() {
    session.note = note;
  }
  template <StopReason reason>
  void stopped() {
    note_stop(session, reason, now);
  }
  template <bool changed>
  void not_opened() {
    note_not_opened(session, changed, members, rules, now);
    EXPECT_EQ(decide().act, Act::read_again);
  }
  template <WhenLost when_lost, int seconds = 11>
  void unanswered() {
    at<Stage::serving>();
    rules.when_lost = when_lost;
    facts.unanswered_since = now - std::chrono::seconds{seconds};
  }
  template <std::uint64_t run = 2>
  void b_lives() {
    EXPECT_TRUE(members.on_lease(member_b, GatewayId{run}, now));
  }
  void b_is_first() { session.name = session_of("b"); }
  template <std::uint64_t of>
  void has_lease() {
    facts.lease_of = GatewayId{of};
    note_lease(session, GatewayId{of}, members, rules, now);
  }
  void begins_later() { rules.begin = start + 500ms; }
  void asked_for_lease() { session.lease_asked = start - 400ms; }
  void may_follow() { session.follow_at = {}; }
  void alone() { members = Members{gateways({"a"}), a}; }
  void c_is_next() {
    members = Members{gateways({"a", "b", "c"}), a};
    b_lives();
    EXPECT_TRUE(members.on_lease(2, GatewayId{7}, now));
    while (members.is_next(session.name, now)) session.name += 'x';
  }
  void pinned_to_b() {
    ClusterConfig config = gateways({"a", "b"});
    config.pins = {session.name + "=b"};
    members = Members{config, a};
  }
  void drains() {
    ClusterConfig config = gateways({"a", "b"});
    config.drain = {"a"};
    members = Members{config, a};
  }
  void operator_drains() { members.set({.drains = {"a"}, .moves = {}}); }
  void operator_moves_it_here() { members.set({.drains = {}, .moves = {{session.name, "a"}}}); }
};

using Step = void (Case::*)();
using Facts = OwnershipFacts;
using State = OwnershipState;
constexpr Step b_lives = &Case::b_lives<>, b_is_first = &Case::b_is_first, lease_of_b = &Case::has_lease<2>,
               serves = &Case::at<Stage::serving>, opening = &Case::at<Stage::opening>,
               leaving = &Case::at<Stage::leaving>, closed = &Case::set<&Facts::journal_closed>,
               ends = &Case::set<&Facts::gateway_ends>, is_new = &Case::set<&State::found_nothing>,
               no_frame = &Case::set<&Facts::has_frame, false>, follows = &Case::set<&State::follows>,
               behind = &Case::set<&Facts::is_behind>, write_due = &Case::set<&Facts::is_write_due>,
               stored = &Case::set<&Facts::is_stored>, not_looked = &Case::set<&State::looked, false>,
               lease_unknown = &Case::set<&State::knows_lease, false>, waited = &Case::decided<Act::wait>,
               a_lease_later = &Case::later<4000>, three_leases_later = &Case::later<13500>, soon = &Case::later<249>,
               a_quarter_later = &Case::later<250>, lost_stop = &Case::unanswered<WhenLost::stop>,
               lost_continue = &Case::unanswered<WhenLost::keep_on>, note_kept = &Case::has_note<NoteState::kept>,
               note_written = &Case::has_note<NoteState::written>;

struct Row {
  const char* situation;
  std::vector<Step> steps;
  Decision expected;
};

constexpr Decision wait{};
Decision wait_until(Duration since_start) { return {.until = start + since_start}; }

const Row rows[] = {
    // A session without an owner.
    {"it is free and goes to this gateway", {}, {Act::own}},
    {"it is free and has this gateway's lease", {&Case::has_lease<1>}, {Act::own}},
    {"it is free and goes to a gateway that is lost", {b_is_first}, {Act::own}},
    {"who is alive is not known yet", {&Case::begins_later}, wait_until(500ms)},
    {"a takeover has just failed", {&Case::stopped<StopReason::lost_claim>}, wait_until(1s)},
    {"its lease is not known", {lease_unknown}, {Act::ask_for_lease}},
    {"its lease was asked for", {lease_unknown, &Case::asked_for_lease}, wait_until(600ms)},
    {"this gateway gave it up", {&Case::stopped<StopReason::retired>, &Case::later<1000>}, {Act::ask_for_lease}},
    {"this gateway was fenced", {&Case::stopped<StopReason::fenced>, &Case::later<1000>}, {Act::own}},
    {"another gateway has its lease", {b_lives, lease_of_b}, wait_until(4500ms)},
    {"its lease was not renewed", {b_lives, lease_of_b, &Case::later<4500>}, {Act::end_lease}},
    {"the stream was not looked into", {not_looked}, wait},
    {"another gateway goes before", {b_is_first, b_lives}, wait_until(13500ms)},
    {"the one before has not taken it for three leases",
     {b_is_first, b_lives, waited, three_leases_later, b_lives},
     {Act::own}},
    {"it had another owner meanwhile, so its turn begins again",
     {b_is_first, b_lives, waited, &Case::later<10000>, b_lives, lease_of_b, &Case::has_lease<0>},
     wait_until(23500ms)},
    {"this gateway drains, so it comes last", {b_lives, &Case::operator_drains}, wait_until(13500ms)},
    {"it is new, and its journal may be at another gateway", {is_new, no_frame}, wait_until(4500ms)},
    {"it is new, and its journal is here",
     {is_new, no_frame, b_is_first, b_lives, &Case::set<&State::has_journal>},
     {Act::own}},
    {"it is new to a cluster of one gateway", {is_new, no_frame, &Case::alone}, {Act::own}},
    {"its journal is to be read again", {&Case::set<&State::reads_all>}, {Act::read_again}},
    {"its journal could not be opened a moment ago", {&Case::not_opened<false>}, wait_until(4s)},
    {"its journal could not be opened, and others go first",
     {&Case::not_opened<false>, a_lease_later, b_lives},
     wait_until(40500ms)},
    {"its journal could not be opened, and no other gateway is alive",
     {&Case::not_opened<false>, a_lease_later},
     {Act::own}},
    {"its journal was changed, so it was not opened", {&Case::not_opened<true>, a_lease_later, b_lives}, {Act::own}},
    {"an operator has removed it", {&Case::set<&State::removed>}, wait},
    {"another thread has its journal", {&Case::set<&Facts::journal_busy>}, wait},
    {"another thread writes its note", {&Case::has_note<NoteState::writing>}, wait},
    {"another thread removes its note", {&Case::has_note<NoteState::removing>}, wait},
    {"this gateway ends", {ends}, wait},

    // Following.
    {"it is time to look into the stream", {not_looked, &Case::may_follow}, {Act::follow}},
    {"this gateway is next after the owner", {b_lives, lease_of_b, &Case::may_follow}, {Act::follow}},
    {"a third gateway is next", {&Case::c_is_next, lease_of_b, &Case::may_follow}, wait_until(4500ms)},
    {"as many as may follow do",
     {b_lives, lease_of_b, &Case::may_follow, &Case::set<&Facts::may_follow, false>},
     wait_until(4500ms)},
    {"it follows now", {lease_of_b, follows, &Case::in<Phase::following>}, wait_until(4500ms)},
    {"it has read enough for its journal", {lease_of_b, follows, behind, write_due}, {Act::write}},
    {"its journal has that, and there is more",
     {lease_of_b, follows, behind, write_due, &Case::decided<Act::write>},
     {Act::follow}},
    {"it has read everything", {lease_of_b, follows}, wait_until(4500ms)},
    {"it has read everything, and pauses",
     {b_lives, lease_of_b, follows, waited, &Case::later<999>},
     wait_until(4500ms)},
    {"its pause is over", {b_lives, lease_of_b, follows, waited, &Case::later<1000>}, {Act::follow}},

    // A takeover.
    {"it goes to another gateway by now", {b_is_first, b_lives, &Case::in<Phase::reading>}, {Act::abandon}},
    {"it was just seen that it goes to this gateway",
     {&Case::in<Phase::reading>, waited, b_is_first, b_lives, soon},
     wait},
    {"its claim may be stored", {b_is_first, b_lives, &Case::in<Phase::claiming>}, wait},
    {"its claim is stored", {b_is_first, b_lives, &Case::in<Phase::replaying>}, wait},
    {"its journal is opened", {b_is_first, b_lives, opening}, wait},

    // An owner.
    {"the hash gives it to another gateway, which has come back", {b_is_first, b_lives, serves}, wait},
    {"this gateway drains, and no other one is alive", {&Case::drains, serves}, wait},
    {"this gateway drains", {&Case::drains, b_lives, serves}, {Act::give_up}},
    {"an operator drains this gateway", {&Case::operator_drains, b_lives, serves}, {Act::give_up}},
    {"it is pinned to a gateway that is not alive", {&Case::pinned_to_b, serves}, wait},
    {"it is pinned to another gateway", {&Case::pinned_to_b, b_lives, serves}, {Act::give_up}},
    {"it is pinned, and was looked at a moment ago", {&Case::pinned_to_b, serves, waited, b_lives, soon}, wait},
    {"it is pinned, and an operator has moved it here",
     {&Case::pinned_to_b, b_lives, serves, &Case::operator_moves_it_here},
     wait},
    {"it is pinned to a gateway that did not take it",
     {&Case::pinned_to_b, b_lives, waited, serves, a_quarter_later},
     wait},
    {"it is pinned to a gateway that did not take it and was started again",
     {&Case::pinned_to_b, b_lives, waited, serves, a_quarter_later, &Case::b_lives<3>},
     {Act::give_up}},
    {"an operator has removed its session", {serves, closed}, {Act::end_removed}},
    {"its gateway ends", {serves, ends}, {Act::give_up}},
    {"it logs out", {leaving}, wait},
    {"it has left, and the stream lacks some of its journal", {leaving, closed, &Case::set<&Facts::has_rest>}, wait},
    {"it has left, and its owner retires", {leaving, closed, &Case::set<&Facts::retiring>}, wait},
    {"it has left", {leaving, closed}, {Act::retire}},
    {"it leaves, and its gateway ends", {leaving, ends}, {Act::retire}},
    {"it has left, and its ownership has ended", {leaving, closed, &Case::in<Phase::idle>}, {Act::close}},
    {"it has left, and is claimed again", {leaving, closed, &Case::in<Phase::claiming>}, wait},

    // Without the cluster.
    {"the cluster has not answered for lost_after", {&Case::unanswered<WhenLost::stop, 10>}, wait},
    {"the cluster does not answer: stop", {lost_stop}, {Act::cut}},
    {"the cluster does not answer: continue", {lost_continue}, {Act::write_note}},
    {"the cluster does not answer, and its journal is not open yet", {lost_continue, opening}, wait},
    {"its note is written", {lost_continue, &Case::decided<Act::write_note>}, wait},
    {"its note is there", {lost_continue, note_written}, {Act::continue_alone}},
    {"its note cannot be written", {lost_continue, &Case::has_note<NoteState::failed>}, {Act::cut}},
    {"it continues alone", {lost_continue, note_written, &Case::decided<Act::continue_alone>}, wait},
    {"it continues alone, and the cluster answers",
     {serves, note_written, &Case::decided<Act::continue_alone>},
     {Act::continue_with_cluster}},
    {"the cluster answers, and lacks some of what was sent alone", {serves, note_kept}, wait},
    {"the cluster has all that was sent alone", {serves, note_kept, stored}, {Act::remove_note}},
    {"its note is removed", {serves, note_kept, stored, &Case::decided<Act::remove_note>}, wait},
    {"its note was not compared with the stream yet", {opening, stored}, wait},
};

TEST(Ownership, each_situation_has_its_decision) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.situation);
    Case c;
    for (const Step step : row.steps) (c.*step)();
    const Decision decision = c.decide();
    EXPECT_EQ(static_cast<int>(decision.act), static_cast<int>(row.expected.act));
    EXPECT_EQ(Duration{decision.until - start}, Duration{row.expected.until - start});
  }
}

std::string owner_of(const Members& members, const std::string& session, MonotonicTime now = start) {
  const cluster::Assignment owner = members.owner_of(session, now);
  return owner.gateway == cluster::Assignment::no_gateway ? "none" : members.name(owner.gateway);
}

TEST(Members, gateway_is_alive_for_its_lease_and_half_a_second_more_or_until_it_ends_it) {
  Members members{gateways({"a", "b"}), a};
  EXPECT_EQ(owner_of(members, session_of("b")), "a") << "nothing was heard of b";
  ASSERT_TRUE(members.on_lease(member_b, b, start));
  EXPECT_EQ(owner_of(members, session_of("b"), start + 4400ms), "b");
  EXPECT_EQ(owner_of(members, session_of("b"), start + 4500ms), "a");
  ASSERT_TRUE(members.on_lease(member_b, GatewayId{}, start + 1s));
  EXPECT_EQ(owner_of(members, session_of("b"), start + 1s), "a");
}

TEST(Members, lease_of_a_session_names_the_gateway_that_has_renewed_its_own) {
  Members members{gateways({"a", "b"}), a};
  EXPECT_EQ(members.name_of(b), "") << "nothing was heard of b";
  ASSERT_TRUE(members.on_lease(member_b, b, start));
  EXPECT_EQ(members.name_of(b), "b");
  EXPECT_EQ(members.name_of(a), "a");
  EXPECT_EQ(members.name_of(GatewayId{}), "") << "no gateway has the session";
  ASSERT_TRUE(members.on_lease(member_b, b_restarted, start));
  EXPECT_EQ(members.name_of(b), "") << "b was started again";
}

TEST(Members, another_process_of_this_name_is_found) {
  Members members{gateways({"a", "b"}), a};
  EXPECT_TRUE(members.on_lease(0, a, start));
  EXPECT_FALSE(members.on_lease(0, GatewayId{7}, start));
}

TEST(Members, gateway_is_next_where_the_loss_of_another_one_makes_it_the_owner) {
  const ClusterConfig config = gateways({"a", "b", "c"});
  Members members{config, a}, without_b{config, a}, without_c{config, a};
  for (Members* each : {&members, &without_c}) ASSERT_TRUE(each->on_lease(1, b, start));
  for (Members* each : {&members, &without_b}) ASSERT_TRUE(each->on_lease(2, GatewayId{7}, start));
  int next = 0, other = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string session = "S" + std::to_string(i);
    const bool expected = owner_of(without_b, session) == "a" || owner_of(without_c, session) == "a";
    EXPECT_EQ(members.is_next(session, start), expected) << session;
    ++(expected ? next : other);
  }
  EXPECT_GT(next, 0);
  EXPECT_GT(other, 0);
}

TEST(Members, rank_is_the_number_of_living_gateways_that_a_session_goes_to_before) {
  Members members{gateways({"a", "b"}), a};
  EXPECT_EQ(members.rank(session_of("b"), start), 0U) << "nothing was heard of b";
  EXPECT_TRUE(members.is_alone(start));
  ASSERT_TRUE(members.on_lease(member_b, b, start));
  EXPECT_EQ(members.rank(session_of("b"), start), 1U);
  EXPECT_EQ(members.rank(session_of("a"), start), 0U);
  EXPECT_FALSE(members.is_alone(start));
  members.set({.drains = {"a"}, .moves = {}});
  EXPECT_EQ(members.rank(session_of("a"), start), 1U) << "the one that drains comes last";
}

TEST(Members, operators_go_before_the_configuration_until_they_undo_it) {
  const std::string session = session_of("a");
  ClusterConfig config = gateways({"a", "b"});
  config.pins = {session + "=b"};
  Members members{config, a};
  EXPECT_EQ(owner_of(members, session), "a") << "b is not alive";
  ASSERT_TRUE(members.on_lease(member_b, b, start));
  members.set({.drains = {}, .moves = {{session, "a"}}});
  EXPECT_EQ(owner_of(members, session), "a");
  members.set({});
  EXPECT_EQ(owner_of(members, session), "b");
}

TEST(OperatorSettings, are_read_as_they_were_written_and_what_is_not_known_is_ignored) {
  const OperatorSettings settings{.drains = {"a", "b"}, .moves = {{"DESK-VENUE", "c"}}};
  EXPECT_EQ(to_string(settings), "drain a\ndrain b\nmove DESK-VENUE c\n");
  EXPECT_EQ(parse_settings(to_string(settings) + "\n"), settings);
  EXPECT_EQ(parse_settings("drain\nmove S\nshed load a\n\n drain  a \n"),
            (OperatorSettings{.drains = {"a"}, .moves = {}}));
}

// How many tries, one each second, are in vain.
int tries_in_vain(ServerTries& tries, MonotonicTime& now) {
  for (int count = 1; count <= 60; ++count) {
    now += 1s;
    tries.note_try(now);
    EXPECT_FALSE(tries.in_vain(now));
    if (tries.in_vain(now + ServerTries::last_wait)) return count;
  }
  return 0;
}

TEST(ServerTries, are_in_vain_when_none_succeeds_for_three_seconds) {
  ServerTries tries;
  MonotonicTime now = start;
  EXPECT_FALSE(tries.in_vain(now));
  EXPECT_EQ(tries_in_vain(tries, now), 4);
  tries.note_success();
  EXPECT_FALSE(tries.in_vain(now + ServerTries::last_wait));
  EXPECT_EQ(tries_in_vain(tries, now), 4);
}

TEST(ServerTries, take_longer_after_all_servers_were_tried_until_one_succeeds) {
  ServerTries tries;
  MonotonicTime now = start;
  for (const int expected : {4, 4, 4, 7, 7, 7, 13, 13, 13, 13, 13}) {
    EXPECT_EQ(tries_in_vain(tries, now), expected);
    tries.note_change();
  }
  tries.note_success();
  EXPECT_EQ(tries_in_vain(tries, now), 4);
}

TEST(ServerTries, one_that_was_given_up_does_not_count_hours_later) {
  ServerTries tries;
  for (const int at : {1000, 9000, 9002}) tries.note_try(MonotonicTime{seconds{at}});
  EXPECT_FALSE(tries.in_vain(MonotonicTime{9003s}));
  tries.note_try(MonotonicTime{9003s});
  EXPECT_TRUE(tries.in_vain(MonotonicTime{9004s}));
}

TEST(Refusal, full_stream_has_its_remedy_and_another_error_is_repeated_as_the_server_states_it) {
  const std::string busy = "JetStream system temporarily unavailable";
  EXPECT_EQ(
      refusal_text("maximum bytes exceeded"),
      "the stream is full and stores nothing (maximum bytes exceeded): run nfx cluster compact, or raise max_bytes");
  EXPECT_TRUE(is_full("insufficient storage resources available"));
  EXPECT_FALSE(is_full(busy));
  EXPECT_EQ(refusal_text(busy), "the cluster stores nothing: " + busy);
}

}  // namespace
}  // namespace nfx::gateway
