// What goes to a stream before the journal's next records: in order, as the owner has space.
#include "gateway/first_records.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;
using cluster::EventKind;
using cluster::RecordKind;

// An owner of a session that the stream has nothing of.
struct NewOwner {
  explicit NewOwner(std::uint32_t records_max) : state(options(records_max)) {
    give({.kind = EventKind::want});
    answer({.kind = EventKind::none});
    answer({.kind = EventKind::stored, .sequence = cluster::StreamSeq{1}});
    const std::string epoch(state.flight.bytes.begin(), state.flight.bytes.end());
    answer({.kind = EventKind::found, .sequence = cluster::StreamSeq{1}, .bytes = epoch});
  }
  static cluster::OwnerOptions options(std::uint32_t records_max) {
    cluster::OwnerOptions options{.session = cluster::SessionId{1}, .gateway = cluster::GatewayId{1}};
    options.pending_records_max = records_max;
    return options;
  }
  void give(const cluster::Event& event) {
    cluster::Actions actions;
    step(state, event, MonotonicTime{1s}, actions);
  }
  void answer(cluster::Event event) {
    event.request = state.request;
    give(event);
  }
  void store() {
    answer({.kind = EventKind::stored, .sequence = cluster::StreamSeq{std::to_underlying(state.flight.expected) + 1}});
  }

  cluster::OwnerState state;
};

struct Appended {
  RecordKind kind{};
  std::uint64_t seq = 0;
  std::string bytes;
};

class First : public ::testing::Test {
 protected:
  bool append(FirstRecords& first, NewOwner& owner) {
    return first.append_to(owner.state, [&](const cluster::Record& record) {
      appended.push_back({record.kind, value(record.seq), std::string{record.bytes}});
      owner.give({.kind = EventKind::append, .record = record});
    });
  }
  static Recovered journal_of_three() {
    Recovered all;
    for (const std::uint64_t seq : {1U, 2U, 4U}) all.messages.push_back({SeqNum{seq}, "m" + std::to_string(seq)});
    all.counters = {.inbound = SeqNum{8}, .outbound = SeqNum{6}};
    return all;
  }

  std::vector<Appended> appended;
};

TEST_F(First, there_is_nothing_to_append) {
  NewOwner owner{16};
  FirstRecords first;
  EXPECT_TRUE(append(first, owner));
  EXPECT_TRUE(appended.empty());
}

TEST_F(First, messages_then_the_sequence_numbers_that_they_do_not_reach_and_last_their_begin) {
  NewOwner owner{16};
  ASSERT_EQ(owner.state.phase, cluster::Phase::owning);
  FirstRecords first;
  first.begin(UtcTime{5s}, journal_of_three());
  EXPECT_TRUE(append(first, owner));
  ASSERT_EQ(appended.size(), 6U);
  EXPECT_EQ(appended[0].bytes, "m1");
  EXPECT_EQ(appended[2].seq, 4U);
  EXPECT_EQ(appended[3].kind, RecordKind::outbound);
  EXPECT_EQ(appended[3].seq, 5U);
  EXPECT_EQ(appended[4].kind, RecordKind::inbound);
  EXPECT_EQ(appended[4].seq, 7U);
  EXPECT_EQ(appended[5].kind, RecordKind::began);
  EXPECT_EQ(time_of(appended[5].bytes), UtcTime{5s});
  EXPECT_EQ(owner.state.counters, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{6}}));
  EXPECT_TRUE(append(first, owner));
  EXPECT_EQ(appended.size(), 6U) << "each once";
}

TEST_F(First, what_does_not_fit_is_appended_later) {
  NewOwner owner{1};
  FirstRecords first;
  first.begin(UtcTime{5s}, journal_of_three());
  int times = 1;
  for (; !append(first, owner) && times < 20; ++times) owner.store();
  EXPECT_GT(times, 1);
  ASSERT_EQ(appended.size(), 6U);
  EXPECT_EQ(appended[5].kind, RecordKind::began);
}

TEST_F(First, nothing_is_left_after_the_end_of_an_ownership) {
  NewOwner owner{16};
  FirstRecords first;
  first.begin(UtcTime{5s}, journal_of_three());
  first.clear();
  EXPECT_TRUE(append(first, owner));
  EXPECT_TRUE(appended.empty());
}

}  // namespace
}  // namespace nfx::gateway
