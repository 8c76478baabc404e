// Sessions to CPUs, by hash and balanced.
#include "placement/session_core_mapper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {
namespace {

std::vector<int> cores(int first, int last) {
  std::vector<int> list(static_cast<std::size_t>(last - first + 1));
  std::iota(list.begin(), list.end(), first);
  return list;
}

std::string sender(int i) { return "CLIENT" + std::to_string(i); }

TEST(SessionHash, gives_the_published_cores_of_four_sessions) {
  const SessionCoreMapper mapper{{.allowed_cores = cores(2, 27)}};
  EXPECT_EQ(mapper.core_for_session("SENDER1", "TARGET1"), 22);
  EXPECT_EQ(mapper.core_for_session("SENDER2", "TARGET2"), 20);
  EXPECT_EQ(mapper.core_for_session("CLIENT_A", "EXCHANGE"), 12);
  EXPECT_EQ(mapper.core_for_session("BROKER_1", "CLEARING"), 22);
}

TEST(SessionHash, is_fnv_1a_of_64_bits) {
  // The published test vector of the empty text is the offset basis; session texts always contain the separator.
  EXPECT_EQ(CpuAffinity::session_hash("", ""), (0xcbf29ce484222325ULL ^ 0x1f) * 0x100000001b3ULL);
}

TEST(SessionHash, tells_where_the_sender_ends) {
  EXPECT_NE(CpuAffinity::session_hash("AB", "C"), CpuAffinity::session_hash("A", "BC"));
}

TEST(SessionCoreMapper, refuses_to_map_onto_nothing) { EXPECT_THROW(SessionCoreMapper({}), std::invalid_argument); }

TEST(SessionCoreMapper, balanced_collides_only_when_sessions_outnumber_cores) {
  for (const int count : {1, 7, 26, 27, 60}) {
    SessionCoreMapper mapper{{.allowed_cores = cores(2, 27), .mapping = SessionMapping::balanced}};
    std::map<int, int> load;
    for (int i = 0; i < count; ++i) ++load[mapper.add(sender(i), "VENUE")];
    int most = 0;
    for (const auto& [core, sessions] : load) most = std::max(most, sessions);
    EXPECT_EQ(most, (count + 25) / 26) << count << " sessions";
  }
}

TEST(SessionCoreMapper, balanced_keeps_everybody_when_one_joins_or_leaves) {
  SessionCoreMapper mapper{{.allowed_cores = cores(2, 27), .mapping = SessionMapping::balanced}};
  std::map<int, int> before;
  for (int i = 0; i < 40; ++i) before[i] = mapper.add(sender(i), "VENUE");
  mapper.add("LATECOMER", "VENUE");
  EXPECT_TRUE(mapper.remove(sender(7), "VENUE"));
  before.erase(7);
  for (const auto& [i, core] : before) EXPECT_EQ(mapper.core_for_session(sender(i), "VENUE"), core);
}

TEST(SessionCoreMapper, balanced_gives_a_place_that_was_left_to_the_next_that_comes) {
  SessionCoreMapper mapper{{.allowed_cores = {4, 5}, .mapping = SessionMapping::balanced}};
  const int first = mapper.add("A", "X");
  mapper.add("B", "X");
  mapper.remove("A", "X");
  EXPECT_EQ(mapper.add("C", "X"), first);
}

TEST(SessionCoreMapper, balanced_starts_from_the_hash) {
  SessionCoreMapper mapper{{.allowed_cores = cores(2, 27), .mapping = SessionMapping::balanced}};
  EXPECT_EQ(mapper.add("CLIENT_A", "EXCHANGE"), 12);
}

TEST(SessionCoreMapper, balanced_counts_whom_others_have_placed) {
  SessionCoreMapper mapper{{.allowed_cores = {4, 5}, .mapping = SessionMapping::balanced}};
  EXPECT_TRUE(mapper.place("A", "X", 5));
  EXPECT_TRUE(mapper.place("B", "X", 5));
  EXPECT_FALSE(mapper.place("B", "X", 6));
  EXPECT_EQ(mapper.core_for_session("A", "X"), 5);
  EXPECT_EQ(mapper.add("C", "X"), 4);
  EXPECT_EQ(mapper.add("D", "X"), 4);
}

TEST(SessionCoreMapper, adds_a_session_once) {
  SessionCoreMapper mapper{{.allowed_cores = {4, 5}, .mapping = SessionMapping::balanced}};
  EXPECT_EQ(mapper.add("A", "X"), mapper.add("A", "X"));
  EXPECT_TRUE(mapper.remove("A", "X"));
  EXPECT_FALSE(mapper.remove("A", "X"));
}

}  // namespace
}  // namespace nfx
