// A candidate that reads frames before it claims: what it keeps, where it stops, and when it begins again.
#include "cluster/cluster_testing.hpp"
#include "cluster/owner.hpp"

namespace nfx::cluster {
namespace {

using namespace testing;

// A candidate that has followed an owner with two records up to its last frame.
struct Followed {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};

  Followed() {
    become_owner(owner, stream);
    store("order");
    store("another");
    candidate.give(EventKind::follow);
    candidate.serve_all(stream);
  }
  void store(std::string_view text) {
    owner.append(RecordKind::outbound, value(owner.state.counters.outbound), text);
    owner.serve_all(stream);
  }
};

TEST(Candidate, that_has_followed_reads_only_what_came_last) {
  Followed of;
  EXPECT_EQ(of.candidate.state.phase, Phase::idle);
  EXPECT_EQ(of.candidate.recovered.size(), 3U);
  of.store("the last");
  of.candidate.give(EventKind::want);
  of.candidate.serve_one(of.stream);  // read last
  of.candidate.serve_one(of.stream);  // claim
  EXPECT_EQ(of.candidate.open.front().first.sequence, StreamSeq{3});
  of.candidate.serve_one(of.stream);
  EXPECT_FALSE(of.candidate.owns) << "it has not read its own epoch";
  of.candidate.serve_one(of.stream);
  EXPECT_TRUE(of.candidate.owns);
  EXPECT_EQ(of.candidate.recovered.size(), 5U) << "each frame once";
  EXPECT_EQ(of.candidate.state.counters.outbound, SeqNum{4});
}

TEST(Candidate, does_not_follow_past_frames_that_a_server_does_not_return) {
  Followed of;
  of.store("not returned");
  of.store("the last");
  of.candidate.give(EventKind::follow);
  of.candidate.answer(EventKind::found, of.candidate.take().first.request, 5, of.stream.entries[4].bytes);
  EXPECT_EQ(of.candidate.recovered.size(), 3U);
  become_owner(of.candidate, of.stream);
  EXPECT_EQ(of.candidate.recovered.size(), 6U);
}

TEST(Candidate, follows_past_frames_that_were_purged_before_a_reset) {
  Followed of;
  of.store("purged");
  of.owner.append(RecordKind::reset, 0);
  of.owner.serve_all(of.stream);
  of.stream.entries.erase(of.stream.entries.begin(), of.stream.entries.end() - 1);
  of.candidate.give(EventKind::follow);
  of.candidate.serve_all(of.stream);
  EXPECT_EQ(of.candidate.state.counters, Counters{});
  become_owner(of.candidate, of.stream);
}

TEST(Candidate, that_reads_frames_while_they_are_removed_continues_with_the_reset) {
  Followed of;
  of.store("read before");
  of.store("removed");
  of.candidate.give(EventKind::follow);
  of.candidate.serve_one(of.stream);
  of.owner.append(RecordKind::reset, 0);
  of.owner.append(RecordKind::outbound, 1, "logon");
  of.owner.serve_all(of.stream);
  of.stream.entries.erase(of.stream.entries.begin(), of.stream.entries.end() - 2);
  of.candidate.serve_all(of.stream);
  EXPECT_EQ(of.candidate.state.phase, Phase::idle);
  EXPECT_EQ(of.candidate.state.counters, (Counters{.inbound = SeqNum{1}, .outbound = SeqNum{2}}));
  become_owner(of.candidate, of.stream);
}

TEST(Candidate, whose_frames_are_removed_during_its_takeover_becomes_the_owner) {
  Followed of;
  of.owner.append(RecordKind::reset, 0);
  of.owner.serve_all(of.stream);
  TestOwner candidate{options_of(3)};
  candidate.give(EventKind::want);
  for (int i = 0; i < 3; ++i) candidate.serve_one(of.stream);  // the last frame, its epoch, the first frame
  EXPECT_EQ(candidate.recovered.size(), 1U);
  of.stream.entries.erase(of.stream.entries.begin(), of.stream.entries.end() - 2);
  candidate.serve_all(of.stream);
  EXPECT_TRUE(candidate.owns);
  EXPECT_EQ(candidate.recovered.size(), 3U);
  EXPECT_EQ(candidate.state.counters, Counters{});
}

TEST(Candidate, whose_epoch_was_removed_after_a_reset_of_the_next_owner_is_fenced) {
  Followed of;
  of.candidate.give(EventKind::want);
  for (int i = 0; i < 2; ++i) of.candidate.serve_one(of.stream);  // the last frame, its epoch
  TestOwner successor{options_of(3)};
  become_owner(successor, of.stream);
  successor.append(RecordKind::reset, 0);
  successor.serve_all(of.stream);
  of.stream.entries.erase(of.stream.entries.begin(), of.stream.entries.end() - 1);
  of.candidate.serve_all(of.stream);
  EXPECT_EQ(of.candidate.stopped, StopReason::fenced);
  EXPECT_TRUE(of.candidate.others.empty() || of.candidate.others.back().kind != ActionKind::drop_lease)
      << "the lease is the next owner's";
}

TEST(Candidate, does_not_begin_after_frames_that_a_server_does_not_return) {
  Followed of;
  of.stream.entries.erase(of.stream.entries.begin());
  TestOwner candidate{options_of(3)};
  candidate.give(EventKind::follow);
  candidate.serve_all(of.stream);
  EXPECT_TRUE(candidate.recovered.empty()) << "its first frame is not number 1, and does not begin with a reset";
}

TEST(Candidate, that_followed_a_stream_which_was_made_anew_begins_again) {
  Followed of;
  of.stream = {};
  TestOwner owner{options_of(3)};
  become_owner(owner, of.stream);
  become_owner(of.candidate, of.stream);
  EXPECT_EQ(of.candidate.recovered.size(), 2U);
  EXPECT_EQ(of.candidate.state.counters, Counters{});
}

TEST(Candidate, follows_no_more_frames_at_a_time_than_its_limit) {
  Followed of;
  OwnerOptions options = options_of(4);
  options.follow_frames_max = 2;
  TestOwner candidate{options};
  candidate.give(EventKind::follow);
  candidate.serve_all(of.stream);
  EXPECT_EQ(candidate.recovered.size(), 2U);
  EXPECT_TRUE(is_behind(candidate.state));
  candidate.give(EventKind::follow);
  candidate.serve_all(of.stream);
  EXPECT_EQ(candidate.recovered.size(), 3U);
  EXPECT_FALSE(is_behind(candidate.state));
}

TEST(Candidate, without_an_answer_follows_no_longer) {
  Followed of;
  of.candidate.give(EventKind::follow);
  of.candidate.let_time_pass();
  EXPECT_EQ(of.candidate.state.phase, Phase::idle);
  EXPECT_EQ(next_deadline(of.candidate.state), never);
}

TEST(Owner, that_was_fenced_reads_only_what_was_stored_after_its_last_frame) {
  Followed of;
  EXPECT_EQ(of.owner.recovered.size(), 1U) << "its epoch";
  become_owner(of.candidate, of.stream);
  of.owner.append(RecordKind::outbound, 3, "not stored");
  of.owner.serve_all(of.stream);
  EXPECT_EQ(of.owner.stopped, StopReason::fenced);
  EXPECT_EQ(of.owner.state.counters.outbound, SeqNum{3}) << "its own record was not stored";
  become_owner(of.owner, of.stream);
  EXPECT_EQ(of.owner.recovered.size(), 3U) << "and the epochs of the other one and of itself";
  EXPECT_EQ(of.owner.state.counters.outbound, SeqNum{3});
}

TEST(Owner, that_stops_reads_a_frame_that_was_stored_without_its_knowledge) {
  Followed of;
  of.owner.append(RecordKind::outbound, 3, "stored, the answer is lost");
  static_cast<void>(of.stream.store(of.owner.open.front().first.sequence, of.owner.open.front().second));
  of.owner.open.clear();
  of.owner.append(RecordKind::outbound, 4, "not stored");
  of.owner.give(EventKind::abandon);
  become_owner(of.owner, of.stream);
  EXPECT_EQ(of.owner.recovered.size(), 3U) << "its frame and its epochs";
  EXPECT_EQ(of.owner.state.counters.outbound, SeqNum{4});
}

TEST(Owner, of_reserved_numbers_that_stops_skips_them) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "stored");
  owner.serve_all(stream);
  owner.append(RecordKind::outbound, 2, "sent, and not stored");
  owner.give(EventKind::abandon);
  become_owner(owner, stream);
  EXPECT_GT(owner.state.counters.outbound, SeqNum{2}) << "it may have been sent";
}

TEST(Owner, whose_recovered_frames_are_lost_reads_all_again) {
  Followed of;
  of.owner.give(EventKind::abandon);
  of.owner.give(EventKind::forget);
  become_owner(of.owner, of.stream);
  EXPECT_EQ(of.owner.recovered.size(), 4U);
  EXPECT_EQ(of.owner.state.counters.outbound, SeqNum{3});
}

}  // namespace
}  // namespace nfx::cluster
