// What goes to a stream before the journal's next records: all of it in one frame.
#include "gateway/first_records.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;
using cluster::EventKind;
using cluster::RecordKind;

// An owner of a session that the stream has nothing of.
struct NewOwner {
  explicit NewOwner(std::uint32_t records_max, cluster::Durability durability = cluster::Durability::replicated)
      : state(options(records_max, durability)) {
    give({.kind = EventKind::want});
    answer({.kind = EventKind::none});
    answer({.kind = EventKind::stored, .sequence = cluster::StreamSeq{1}});
    const std::string epoch(state.flight.bytes.begin(), state.flight.bytes.end());
    answer({.kind = EventKind::found, .sequence = cluster::StreamSeq{1}, .bytes = epoch});
  }
  static cluster::OwnerOptions options(std::uint32_t records_max, cluster::Durability durability) {
    cluster::OwnerOptions options{.session = cluster::SessionId{1}, .gateway = cluster::GatewayId{1}};
    options.pending_records_max = records_max;
    options.durability = durability;
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
    cluster::FrameView frame;
    EXPECT_EQ(decode_frame({state.flight.bytes.data(), state.flight.bytes.size()}, frame), cluster::FrameError::none);
    frames_with_records += frame.header.record_count != 0 ? 1 : 0;
    answer({.kind = EventKind::stored, .sequence = cluster::StreamSeq{std::to_underlying(state.flight.expected) + 1}});
  }

  cluster::OwnerState state;
  int frames_with_records = 0;
};

struct Appended {
  RecordKind kind{};
  std::uint64_t seq = 0;
  std::string bytes;
};

class First : public ::testing::Test {
 protected:
  bool store(FirstRecords& first, NewOwner& owner) {
    return first.store(
        owner.state,
        [&](const cluster::Record& record) {
          appended.push_back({record.kind, value(record.seq), std::string{record.bytes}});
          owner.give({.kind = EventKind::append, .record = record, .more = true});
        },
        [&] { owner.give({.kind = EventKind::end_group}); });
  }
  static Upload journal_of_three() {
    Upload all;
    for (const std::uint64_t seq : {1U, 2U, 4U}) all.messages.push_back({SeqNum{seq}, "m" + std::to_string(seq)});
    all.counters = {.inbound = SeqNum{8}, .outbound = SeqNum{6}};
    all.began = UtcTime{5s};
    return all;
  }
  static cluster::FrameView flight_of(const NewOwner& owner) {
    cluster::FrameView frame;
    const std::vector<char>& bytes = owner.state.flight.bytes;
    EXPECT_EQ(decode_frame({bytes.data(), bytes.size()}, frame), cluster::FrameError::none);
    return frame;
  }

  std::vector<Appended> appended;
};

TEST_F(First, there_is_nothing_to_append) {
  NewOwner owner{16};
  FirstRecords first;
  EXPECT_TRUE(store(first, owner));
  EXPECT_TRUE(appended.empty());
}

TEST_F(First, messages_then_the_sequence_numbers_that_they_do_not_reach_and_last_their_begin) {
  NewOwner owner{16};
  ASSERT_EQ(owner.state.phase, cluster::Phase::owning);
  FirstRecords first;
  first.begin(journal_of_three());
  EXPECT_FALSE(store(first, owner)) << "it is not stored";
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
  owner.store();
  EXPECT_TRUE(store(first, owner));
  EXPECT_EQ(appended.size(), 6U) << "each once";
}

TEST_F(First, one_frame_has_all_of_it) {
  NewOwner owner{16};
  FirstRecords first;
  first.begin(journal_of_three());
  EXPECT_FALSE(store(first, owner));
  const cluster::FrameView frame = flight_of(owner);
  EXPECT_EQ(frame.header.record_count, 6U);
  EXPECT_EQ(frame.end, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{6}}));
}

TEST_F(First, one_frame_takes_what_the_limits_allow) {
  NewOwner owner{4096};
  FirstRecords first;
  Upload upload;
  const UploadLimits limits = upload_limits(owner.state.options);
  constexpr std::size_t count = 100;
  std::size_t left = limits.bytes;
  for (std::size_t seq = 1; seq <= count; ++seq) {
    const std::size_t size = seq < count ? limits.bytes / count : left;
    upload.messages.push_back({SeqNum{seq}, std::string(size - cluster::record_size(0), 'x')});
    left -= size;
  }
  upload.resets = true;
  upload.counters = {.inbound = SeqNum{8}, .outbound = SeqNum{200}};
  upload.began = UtcTime{5s};
  first.begin(std::move(upload));
  EXPECT_FALSE(store(first, owner));
  const cluster::FrameView frame = flight_of(owner);
  EXPECT_EQ(frame.bytes.size(), owner.state.options.frame_bytes_max);
  EXPECT_EQ(frame.header.record_count, count + 4);
}

TEST_F(First, numbers_that_were_reserved_are_reset_in_async_and_nothing_is_split) {
  NewOwner owner{16, cluster::Durability::async};
  FirstRecords first;
  Upload upload = journal_of_three();
  upload.resets = true;
  first.begin(std::move(upload));
  int times = 1;
  for (; !store(first, owner) && times < 20; ++times) owner.store();
  ASSERT_EQ(appended.size(), 7U);
  EXPECT_EQ(appended[0].kind, RecordKind::reset);
  EXPECT_EQ(owner.frames_with_records, 1);
  EXPECT_EQ(owner.state.stored_counters, (cluster::Counters{.inbound = SeqNum{8}, .outbound = SeqNum{6}}));
}

TEST_F(First, it_waits_until_nothing_else_is_in_flight) {
  NewOwner owner{16, cluster::Durability::async};
  ASSERT_FALSE(owner.state.flight.bytes.empty()) << "that reserves numbers";
  FirstRecords first;
  first.begin(journal_of_three());
  EXPECT_FALSE(store(first, owner));
  EXPECT_TRUE(appended.empty());
  EXPECT_TRUE(first.waits(owner.state));
}

TEST_F(First, nothing_is_left_after_the_end_of_an_ownership) {
  NewOwner owner{16};
  FirstRecords first;
  first.begin(journal_of_three());
  first.clear();
  EXPECT_TRUE(store(first, owner));
  EXPECT_TRUE(appended.empty());
}

}  // namespace
}  // namespace nfx::gateway
