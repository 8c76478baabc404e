// The records that a stream gets from the journal of an owned session: when its sequence numbers began, and the records
// that only the journal has, in one frame, and then the later records; and the positions that the owner's releases
// stand for.
#include "gateway/owned_journal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nfx::gateway {
namespace {

using namespace std::chrono_literals;
using cluster::EventKind;
using cluster::OwnerState;
using cluster::RecordKind;

TEST(StoredBegin, bytes_are_read_back) {
  const BeganBytes bytes = began_bytes(UtcTime{1234567890123456789ns});
  EXPECT_EQ(time_of({bytes.data(), bytes.size()}), UtcTime{1234567890123456789ns});
}

TEST(StoredBegin, is_that_of_the_last_reset_that_is_stored) {
  StoredBegin begin;
  begin.begin(std::nullopt);
  EXPECT_EQ(begin.after(0), std::nullopt);
  begin.append(UtcTime{5s}, 1);
  EXPECT_EQ(begin.after(0), std::nullopt);
  EXPECT_EQ(begin.after(1), UtcTime{5s});
  begin.append(UtcTime{6s}, 40);
  EXPECT_EQ(begin.after(39), UtcTime{5s});
  EXPECT_EQ(begin.after(41), UtcTime{6s});
  begin.begin(UtcTime{7s});
  EXPECT_EQ(begin.after(0), UtcTime{7s});
}

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

// An owner without a stream: nothing that it publishes is answered.
class Tail : public ::testing::Test {
 protected:
  Tail() : owner_({.session = cluster::SessionId{1}, .gateway = cluster::GatewayId{1}, .pending_records_max = 3}) {
    owner_.phase = cluster::Phase::owning;
    owner_.epoch = cluster::Epoch{1};
    tail_.begin(100);
  }

  bool take(nfx::RecordKind kind, std::uint64_t seq, JournalPosition end, std::string_view body = {},
            std::uint8_t flags = 0) {
    RecordHeader header{};
    header.kind = kind;
    header.flags = flags;
    header.seq = seq;
    header.time_ns = 77;
    return tail_.take(owner_, header, body, end, [&](const cluster::Record& record) {
      given_.push_back(std::to_string(static_cast<int>(record.kind)) + ":" + std::to_string(value(record.seq)) + ":" +
                       std::string{record.kind == cluster::RecordKind::began ? "time" : record.bytes});
      cluster::Actions actions;
      step(owner_, {.kind = EventKind::append, .record = record, .more = true}, MonotonicTime{}, actions);
    });
  }

  OwnerState owner_;
  SessionTail tail_;
  std::vector<std::string> given_;
};

TEST_F(Tail, message_and_numbers_become_records) {
  EXPECT_TRUE(take(nfx::RecordKind::message, 1, 200, "order"));
  EXPECT_TRUE(take(nfx::RecordKind::next_inbound, 5, 232));
  EXPECT_TRUE(take(nfx::RecordKind::next_outbound, 4, 264));
  EXPECT_EQ(given_, (std::vector<std::string>{"2:1:order", "1:4:", "2:3:"}));
  EXPECT_EQ(owner_.counters, (cluster::Counters{.inbound = SeqNum{5}, .outbound = SeqNum{4}}));
}

TEST_F(Tail, message_of_the_peer_is_in_its_record_and_an_operator_s_reason_is_not) {
  EXPECT_TRUE(take(nfx::RecordKind::next_inbound, 2, 132, "order", std::to_underlying(RecordFlag::received)));
  EXPECT_TRUE(
      take(nfx::RecordKind::next_inbound, 7, 164, "agreed by phone", std::to_underlying(RecordFlag::by_operator)));
  EXPECT_EQ(given_, (std::vector<std::string>{"1:1:order", "1:6:"}));
}

TEST_F(Tail, number_that_the_owner_has_already_and_marks_of_processes_give_nothing) {
  EXPECT_TRUE(take(nfx::RecordKind::opened, 4711, 132));
  EXPECT_TRUE(take(nfx::RecordKind::next_outbound, 1, 164));
  EXPECT_TRUE(given_.empty());
  EXPECT_EQ(tail_.released(0), 164U) << "nothing has to be stored before it";
}

TEST_F(Tail, position_follows_the_releases) {
  EXPECT_TRUE(take(nfx::RecordKind::message, 1, 200, "order"));
  EXPECT_TRUE(take(nfx::RecordKind::message, 2, 300, "order"));
  EXPECT_EQ(tail_.released(0), 100U);
  EXPECT_EQ(tail_.released(1), 200U);
  EXPECT_EQ(tail_.released(2), 300U);
}

TEST_F(Tail, record_without_space_is_refused_and_can_be_given_again) {
  // Three are in flight, and three wait.
  for (std::uint64_t seq = 1; seq <= 6; ++seq)
    EXPECT_TRUE(take(nfx::RecordKind::message, seq, 100 + 100 * seq, "order"));
  EXPECT_FALSE(take(nfx::RecordKind::message, 7, 800, "order"));
  EXPECT_EQ(given_.size(), 6U);
}

TEST_F(Tail, reset_has_the_time_at_which_the_numbers_began) {
  EXPECT_TRUE(take(nfx::RecordKind::reset, 0, 132));
  EXPECT_EQ(given_, (std::vector<std::string>{"3:0:", "4:0:time"}));
  EXPECT_FALSE(take(nfx::RecordKind::reset, 0, 164)) << "the first one is not stored";
}

TEST_F(Tail, change_by_an_operator_is_known_until_it_is_stored) {
  EXPECT_TRUE(take(nfx::RecordKind::message, 1, 200, "order"));
  EXPECT_FALSE(tail_.has_changes(0));
  EXPECT_TRUE(take(nfx::RecordKind::next_outbound, 9, 232, "agreed", std::to_underlying(RecordFlag::by_operator)));
  EXPECT_TRUE(tail_.has_changes(1));
  EXPECT_FALSE(tail_.has_changes(2));
}

TEST_F(Tail, sequence_number_that_goes_back_does_not_fit) {
  const auto fits = [this](nfx::RecordKind kind, std::uint64_t seq) {
    RecordHeader header{};
    header.kind = kind;
    header.seq = seq;
    return SessionTail::fits(owner_, header);
  };
  EXPECT_TRUE(take(nfx::RecordKind::message, 7, 200, "order"));
  EXPECT_TRUE(take(nfx::RecordKind::next_inbound, 5, 232));
  EXPECT_FALSE(fits(nfx::RecordKind::message, 7));
  EXPECT_TRUE(fits(nfx::RecordKind::message, 8));
  EXPECT_FALSE(fits(nfx::RecordKind::next_outbound, 7));
  EXPECT_TRUE(fits(nfx::RecordKind::next_outbound, 8));
  EXPECT_FALSE(fits(nfx::RecordKind::next_inbound, 4));
  EXPECT_TRUE(fits(nfx::RecordKind::next_inbound, 5));
  EXPECT_TRUE(fits(nfx::RecordKind::reset, 0));
}

}  // namespace
}  // namespace nfx::gateway
