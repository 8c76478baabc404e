// Records of a journal as records of an owner, and the positions that its releases stand for.
#include "gateway/session_tail.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nfx::gateway {
namespace {

using cluster::Event;
using cluster::EventKind;
using cluster::OwnerState;

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
