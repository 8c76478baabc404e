// The owner's step: takeover, one frame in flight, release, fencing, and what becomes of every answer that can come.
#include "cluster/owner.hpp"

#include "cluster/cluster_testing.hpp"

namespace nfx::cluster {
namespace {

using namespace testing;

FrameView decoded(const std::string& bytes) {
  FrameView view;
  EXPECT_EQ(decode_frame(bytes, view), FrameError::none);
  return view;
}

TEST(Owner, of_a_new_session_publishes_the_first_epoch_and_starts) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  ASSERT_EQ(stream.entries.size(), 1U);
  EXPECT_EQ(decoded(stream.entries[0].bytes).header.epoch, Epoch{1});
  EXPECT_EQ(owner.state.counters, Counters{});
}

TEST(Owner, releases_a_record_when_its_frame_is_stored_and_not_before) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "logon");
  EXPECT_EQ(owner.released, 0U);
  owner.serve_one(stream);
  EXPECT_EQ(owner.released, 1U);
}

TEST(Owner, puts_what_comes_while_a_frame_is_in_flight_into_the_next_frame) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  for (std::uint64_t seq = 1; seq <= 5; ++seq) owner.append(RecordKind::outbound, seq, "message");
  EXPECT_EQ(owner.open.size(), 1U);
  EXPECT_EQ(lag(owner.state).records, 5U);
  owner.serve_one(stream);
  EXPECT_EQ(owner.released, 1U);
  owner.serve_one(stream);
  EXPECT_EQ(owner.released, 5U);
  EXPECT_EQ(stream.entries.size(), 3U);
  EXPECT_EQ(decoded(stream.entries[2].bytes).header.record_count, 4U);
  EXPECT_EQ(lag(owner.state).records, 0U);
  EXPECT_EQ(lag(owner.state).bytes, 0U);
}

TEST(Owner, divides_what_one_frame_does_not_take) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  const std::string large(1500, 'x');
  for (std::uint64_t seq = 1; seq <= 5; ++seq) owner.append(RecordKind::outbound, seq, large);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 5U);
  EXPECT_EQ(stream.entries.size(), 4U);  // the epoch, and one, two and two records
}

TEST(Owner, has_no_space_when_records_or_bytes_are_at_their_limit) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  EXPECT_FALSE(has_space(owner.state, RecordKind::inbound, 0)) << "not the owner yet";
  become_owner(owner, stream);
  EXPECT_FALSE(has_space(owner.state, RecordKind::outbound, 4096 - 80 - 16 + 1)) << "longer than a frame";
  std::uint64_t seq = 1;
  for (; has_space(owner.state, RecordKind::inbound, 0); ++seq) owner.append(RecordKind::inbound, seq);
  EXPECT_EQ(seq - 1, 65U);  // one in flight and sixty-four that wait
  owner.serve_all(stream);
  EXPECT_TRUE(has_space(owner.state, RecordKind::inbound, 0));
  const std::string large(3000, 'x');
  for (seq = 1; has_space(owner.state, RecordKind::outbound, large.size()); ++seq)
    owner.append(RecordKind::outbound, seq, large);
  EXPECT_EQ(seq - 1, 3U);
}

TEST(Owner, publishes_the_identical_frame_again_when_no_answer_comes) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  const auto [first, bytes] = owner.take();
  owner.append(RecordKind::outbound, 2, "another");
  owner.now += 2s;
  owner.give(EventKind::timer);
  ASSERT_EQ(owner.open.size(), 1U);
  EXPECT_EQ(owner.open[0].second, bytes);
  EXPECT_EQ(owner.open[0].first.sequence, first.sequence);
  EXPECT_NE(owner.open[0].first.request, first.request);
}

TEST(Owner, takes_a_late_answer_to_an_earlier_publish_of_the_same_frame) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  const auto [first, bytes] = owner.take();
  owner.now = owner.state.deadline;
  owner.give(EventKind::timer);
  owner.answer(EventKind::stored, first.request, *stream.store(first.sequence, bytes));
  EXPECT_EQ(owner.released, 1U);
  owner.serve_one(stream);  // the second publish is refused, which is of no interest any more
  EXPECT_TRUE(owner.open.empty());
  EXPECT_TRUE(owner.owns);
}

TEST(Owner, finds_by_comparison_that_a_frame_without_an_answer_was_stored) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  const auto [first, bytes] = owner.take();
  ASSERT_TRUE(stream.store(first.sequence, bytes));  // the answer is lost
  owner.now = owner.state.deadline;
  owner.give(EventKind::timer);
  owner.serve_one(stream);  // refused
  EXPECT_EQ(owner.released, 0U);
  ASSERT_EQ(owner.open.size(), 1U);
  EXPECT_EQ(owner.open[0].first.kind, ActionKind::read_next);
  owner.serve_one(stream);
  EXPECT_EQ(owner.released, 1U);
  EXPECT_EQ(stream.entries.size(), 2U);
}

TEST(Owner, does_not_believe_a_refusal_that_no_frame_explains) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.answer(EventKind::refused, owner.take().first.request);  // by a leader that does not know the last frame
  owner.serve_one(stream);                                       // and indeed, nothing follows
  EXPECT_TRUE(owner.owns);
  EXPECT_TRUE(owner.open.empty());
  owner.now = owner.state.deadline;
  owner.give(EventKind::timer);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 1U);
}

TEST(Owner, does_not_believe_a_read_that_returns_an_earlier_frame) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.answer(EventKind::refused, owner.take().first.request);
  owner.answer(EventKind::found, owner.take().first.request, stream.last(), stream.entries.back().bytes);
  EXPECT_TRUE(owner.owns);
  EXPECT_EQ(owner.stopped, StopReason::none);
}

TEST(Owner, is_fenced_by_the_frame_of_another_owner) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, other{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  become_owner(other, stream);
  EXPECT_EQ(other.state.epoch, Epoch{2});
  owner.serve_all(stream);
  EXPECT_EQ(owner.stopped, StopReason::fenced);
  EXPECT_EQ(owner.released, 0U);
  EXPECT_FALSE(has_space(owner.state, RecordKind::inbound, 0));
}

TEST(Owner, that_is_idle_finds_out_by_the_lease_that_it_is_fenced) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, other{options_of(2)};
  become_owner(owner, stream);
  become_owner(other, stream);
  owner.give({.kind = EventKind::lease, .gateway = GatewayId{2}});
  owner.serve_all(stream);
  EXPECT_EQ(owner.stopped, StopReason::fenced);
}

TEST(Owner, remains_owner_when_the_lease_alone_names_another) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.give({.kind = EventKind::lease, .gateway = GatewayId{2}});
  owner.serve_all(stream);
  EXPECT_TRUE(owner.owns);
  EXPECT_EQ(stream.entries.size(), 2U);
}

TEST(Owner, renews_its_lease_three_times_within_it) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  const std::size_t before = owner.others.size();
  const MonotonicTime end = owner.now + owner.state.options.lease;
  while (next_deadline(owner.state) <= end) owner.let_time_pass();
  EXPECT_EQ(owner.others.size() - before, 3U);
}

TEST(Candidate, waits_until_the_lease_of_another_was_not_renewed) {
  TestOwner candidate{options_of(2)};
  candidate.give({.kind = EventKind::lease, .gateway = GatewayId{1}});
  candidate.give(EventKind::want);
  EXPECT_EQ(candidate.state.phase, Phase::waiting);
  candidate.now += 5s;
  candidate.give({.kind = EventKind::lease, .gateway = GatewayId{1}});  // renewed
  candidate.now += 5400ms;
  candidate.give(EventKind::timer);
  EXPECT_TRUE(candidate.open.empty());
  candidate.now += 100ms;
  candidate.give(EventKind::timer);
  EXPECT_EQ(candidate.open.size(), 1U);
}

TEST(Candidate, starts_immediately_when_the_lease_is_dropped) {
  TestOwner candidate{options_of(2)};
  candidate.give({.kind = EventKind::lease, .gateway = GatewayId{1}});
  candidate.give(EventKind::want);
  candidate.give({.kind = EventKind::lease});
  EXPECT_EQ(candidate.open.size(), 1U);
}

TEST(Candidate, recovers_all_records_and_continues_their_sequence_numbers) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, next_owner{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::inbound, 1, "logon");
  owner.append(RecordKind::outbound, 1, "answer");
  owner.serve_all(stream);
  become_owner(next_owner, stream);
  EXPECT_EQ(next_owner.recovered.size(), 4U);  // two epochs, two frames
  EXPECT_EQ(next_owner.state.counters, (Counters{.inbound = SeqNum{2}, .outbound = SeqNum{2}}));
  next_owner.append(RecordKind::outbound, 2, "order");
  next_owner.serve_all(stream);
  EXPECT_EQ(next_owner.released, 1U);
}

TEST(Candidate, does_not_start_before_it_has_read_its_own_epoch) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.serve_all(stream);
  candidate.give(EventKind::want);
  candidate.serve_one(stream);     // read last
  candidate.serve_one(stream);     // claim
  candidate.serve_one(stream, 1);  // the first epoch
  for (int i = 0; i < 20; ++i) {
    candidate.serve_one(stream, 1);  // a server that knows no more
    EXPECT_FALSE(candidate.owns);
    candidate.now = candidate.state.deadline;
    candidate.give(EventKind::timer);
  }
  candidate.serve_one(stream, 2);
  EXPECT_FALSE(candidate.owns);
  candidate.serve_one(stream, 3);
  EXPECT_TRUE(candidate.owns);
}

TEST(Candidate, reads_again_where_a_server_returns_a_stream_with_a_gap) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.serve_all(stream);
  candidate.give(EventKind::want);
  candidate.serve_one(stream);
  candidate.serve_one(stream);
  candidate.answer(EventKind::found, candidate.take().first.request, 2, stream.entries[1].bytes);  // without the first
  EXPECT_TRUE(candidate.recovered.empty());
  candidate.now = candidate.state.deadline;
  candidate.give(EventKind::timer);
  candidate.serve_one(stream);
  candidate.answer(EventKind::found, candidate.take().first.request, 3, stream.entries[2].bytes);  // without the second
  EXPECT_FALSE(candidate.owns);
  candidate.now = candidate.state.deadline;
  candidate.give(EventKind::timer);
  candidate.serve_all(stream);
  EXPECT_TRUE(candidate.owns);
  EXPECT_EQ(candidate.recovered.size(), 3U);
}

TEST(Owner, group_is_one_frame) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  const auto append = [&](RecordKind kind, std::uint64_t seq) {
    owner.give({.kind = EventKind::append, .record = {kind, SeqNum{seq}, "bytes"}, .more = true});
  };
  append(RecordKind::outbound, 1);
  EXPECT_TRUE(owner.open.empty()) << "a frame would have the answer without the message that it answers";
  append(RecordKind::inbound, 1);
  owner.give(EventKind::end_group);
  ASSERT_EQ(owner.open.size(), 1U);
  append(RecordKind::outbound, 2);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 2U);
  EXPECT_EQ(stream.entries.size(), 2U) << "the second group has not ended";
  append(RecordKind::inbound, 2);
  owner.give(EventKind::end_group);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 4U);
  EXPECT_EQ(stream.entries.size(), 3U);
}

TEST(Owner, group_larger_than_a_frame_is_cut_after_a_message_that_was_processed) {
  StoredStream stream;
  OwnerOptions options = options_of(1);
  options.frame_bytes_max = sizeof(FrameHeader) + 5 * sizeof(RecordHeader);
  TestOwner owner{options};
  become_owner(owner, stream);
  for (std::uint64_t seq = 1; seq <= 4; ++seq) {
    owner.give({.kind = EventKind::append, .record = {RecordKind::outbound, SeqNum{seq}, {}}, .more = true});
    owner.give({.kind = EventKind::append, .record = {RecordKind::inbound, SeqNum{seq}, {}}, .more = true});
  }
  owner.give(EventKind::end_group);
  owner.serve_all(stream);
  ASSERT_EQ(stream.entries.size(), 3U);
  FrameView first;
  ASSERT_EQ(decode_frame(stream.entries[1].bytes, first), FrameError::none);
  EXPECT_EQ(first.header.record_count, 4U) << "a fifth record would be an answer without its message";
  EXPECT_EQ(owner.released, 8U);
}

TEST(Candidate, may_begin_with_a_reset_when_earlier_frames_were_purged) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  EXPECT_FALSE(has_space(owner.state, RecordKind::reset, 0)) << "a frame is in flight";
  owner.serve_all(stream);
  owner.append(RecordKind::reset, 0);
  owner.append(RecordKind::outbound, 1, "logon");
  owner.serve_all(stream);
  stream.entries.erase(stream.entries.begin(), stream.entries.begin() + 2);
  become_owner(candidate, stream);
  EXPECT_EQ(candidate.state.counters, (Counters{.inbound = SeqNum{1}, .outbound = SeqNum{2}}));
}

TEST(Candidate, that_read_an_old_last_frame_claims_again) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.serve_all(stream);
  candidate.give(EventKind::want);
  candidate.serve_one(stream, 1);
  candidate.serve_all(stream);
  EXPECT_TRUE(candidate.owns);
  EXPECT_EQ(candidate.state.epoch, Epoch{2});
  EXPECT_EQ(stream.entries.size(), 3U);
}

TEST(Candidate, stops_when_another_one_has_claimed_the_same_epoch) {
  StoredStream stream;
  TestOwner one{options_of(1)}, other{options_of(2)};
  one.give(EventKind::want);
  other.give(EventKind::want);
  one.serve_one(stream);
  other.serve_one(stream);
  one.serve_all(stream);
  other.serve_all(stream);
  EXPECT_TRUE(one.owns);
  EXPECT_EQ(other.stopped, StopReason::lost_claim);
}

TEST(Candidate, does_not_take_its_own_earlier_epoch_for_the_one_that_it_claims) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, other{options_of(2)};
  become_owner(owner, stream);
  become_owner(other, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.serve_all(stream);
  ASSERT_EQ(owner.stopped, StopReason::fenced);
  owner.give(EventKind::want);
  owner.serve_one(stream, 0);  // a server from before the first epoch
  owner.serve_all(stream);
  EXPECT_FALSE(owner.owns);
  EXPECT_EQ(owner.stopped, StopReason::lost_claim);
}

TEST(Candidate, without_an_answer_to_its_claim_compares_too) {
  StoredStream stream;
  TestOwner candidate{options_of(1)};
  candidate.give(EventKind::want);
  candidate.serve_one(stream);
  const auto [claim, bytes] = candidate.take();
  ASSERT_TRUE(stream.store(claim.sequence, bytes));
  candidate.let_time_pass();
  candidate.serve_all(stream);
  EXPECT_TRUE(candidate.owns);
  EXPECT_EQ(stream.entries.size(), 1U);
}

TEST(Candidate, stops_when_answers_do_not_help_for_too_long) {
  StoredStream stream;
  TestOwner owner{options_of(1)}, candidate{options_of(2)};
  become_owner(owner, stream);
  candidate.give(EventKind::want);
  candidate.serve_one(stream);
  candidate.serve_one(stream);
  for (std::uint32_t i = 0; i < candidate.state.options.useless_answers_max; ++i) {
    candidate.serve_one(stream, 0);
    candidate.now = std::max(candidate.now, std::min(candidate.state.deadline, candidate.now + 1h));
    candidate.give(EventKind::timer);
  }
  EXPECT_EQ(candidate.stopped, StopReason::unreadable);
  EXPECT_EQ(candidate.state.phase, Phase::idle);
}

TEST(Candidate, stops_at_a_frame_that_no_owner_writes) {
  for (const std::string& bytes : {std::string{"not a frame"}, std::string(80, '\0')}) {
    StoredStream stream;
    stream.store(StreamSeq{}, bytes);
    TestOwner candidate{options_of(1)};
    candidate.give(EventKind::want);
    candidate.serve_all(stream);
    EXPECT_EQ(candidate.stopped, StopReason::corrupt);
  }
}

TEST(Candidate, stops_at_frames_that_contradict_each_other) {
  const auto run = [](FrameHeader second) {
    StoredStream stream;
    stream.store(StreamSeq{}, make_frame(header_of(FrameKind::epoch, 1, 1, 1)));
    stream.store(StreamSeq{1}, make_frame(second));
    TestOwner candidate{options_of(2)};
    candidate.give(EventKind::want);
    candidate.serve_all(stream);
    return candidate.stopped;
  };
  const FrameHeader good = header_of(FrameKind::records, 2, 1, 1);
  EXPECT_EQ(run(good), StopReason::none);
  FrameHeader other_owner = good, other_epoch = good, other_number = good, other_session = good;
  other_owner.gateway = GatewayId{5};
  other_epoch.epoch = Epoch{2};
  other_number.first_outbound = SeqNum{2};
  other_session.session = SessionId{1};
  EXPECT_EQ(run(other_owner), StopReason::corrupt);
  EXPECT_EQ(run(other_epoch), StopReason::corrupt);
  EXPECT_EQ(run(other_number), StopReason::corrupt);
  EXPECT_EQ(run(other_session), StopReason::corrupt);
  FrameHeader at_the_end = good;
  at_the_end.first_outbound = at_the_end.outbound_limit = SeqNum{max_counter};
  EXPECT_EQ(run(at_the_end), StopReason::corrupt);
}

TEST(Retiring, stores_what_is_pending_and_then_drops_the_lease) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "one");
  owner.append(RecordKind::outbound, 2, "two");
  owner.give(EventKind::retire);
  EXPECT_FALSE(has_space(owner.state, RecordKind::inbound, 0));
  EXPECT_EQ(owner.stopped, StopReason::none);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 2U);
  EXPECT_EQ(owner.stopped, StopReason::retired);
  EXPECT_EQ(owner.others.back().kind, ActionKind::drop_lease);
}

TEST(Retiring, by_force_forgets_everything_immediately) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "one");
  owner.give(EventKind::abandon);
  EXPECT_EQ(owner.stopped, StopReason::abandoned);
  EXPECT_EQ(next_deadline(owner.state), never);
  owner.serve_all(stream);  // a late answer has no effect
  EXPECT_EQ(owner.released, 0U);
}

TEST(Failing, publishes_are_tried_again_and_release_nothing) {
  StoredStream stream;
  TestOwner owner{options_of(1)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "one");
  for (int i = 0; i < 1000; ++i) {
    owner.answer(EventKind::failed, owner.take().first.request);  // the stream is full
    owner.now = owner.state.deadline;
    owner.give(EventKind::timer);
  }
  EXPECT_TRUE(owner.owns);
  EXPECT_EQ(owner.released, 0U);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 1U);
}

TEST(Async, releases_immediately_up_to_the_limit_of_records) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)};
  become_owner(owner, stream);
  for (std::uint64_t seq = 1; seq <= 4; ++seq) {
    owner.append(RecordKind::outbound, seq, "order");
    EXPECT_EQ(owner.released, seq);
  }
  owner.append(RecordKind::outbound, 5, "order");
  EXPECT_EQ(owner.released, 4U);
  EXPECT_EQ(lag(owner.state).records, 5U);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 5U);
  owner.append(RecordKind::outbound, 6, "order");
  EXPECT_EQ(owner.released, 6U);
}

TEST(Async, releases_immediately_up_to_the_limit_of_bytes) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)};
  become_owner(owner, stream);
  const std::string bytes(600, 'x');
  owner.append(RecordKind::outbound, 1, bytes);
  EXPECT_EQ(owner.released, 1U);
  owner.append(RecordKind::outbound, 2, bytes);
  EXPECT_EQ(owner.released, 1U);
}

TEST(Async, releases_no_sequence_number_that_is_not_reserved) {
  StoredStream stream;
  OwnerOptions options = options_of(1, Durability::async);
  options.async_records_max = 60;
  TestOwner owner{options};
  become_owner(owner, stream);
  for (std::uint64_t seq = 1; seq <= 15; ++seq) owner.append(RecordKind::outbound, seq, "order");
  EXPECT_EQ(owner.released, 10U);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 15U);
  EXPECT_GT(value(owner.state.granted), 16U);
}

TEST(Async, releases_nothing_early_when_the_stream_has_not_answered_for_a_lease) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)};
  become_owner(owner, stream);
  owner.now += owner.state.options.lease + 1ms;
  owner.append(RecordKind::outbound, 1, "order");
  EXPECT_EQ(owner.released, 0U);
  owner.serve_all(stream);
  owner.append(RecordKind::outbound, 2, "order");
  EXPECT_EQ(owner.released, 2U);
}

TEST(Async, next_owner_skips_what_may_have_been_sent) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)}, next_owner{options_of(2, Durability::async)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "sent, and lost with its gateway");
  EXPECT_EQ(owner.released, 1U);
  become_owner(next_owner, stream);
  EXPECT_EQ(next_owner.state.counters.outbound, SeqNum{11});
  EXPECT_EQ(next_owner.state.counters.inbound, SeqNum{1});
}

TEST(Async, next_owner_skips_nothing_after_a_retirement) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)}, next_owner{options_of(2, Durability::async)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  owner.give(EventKind::retire);
  owner.serve_all(stream);
  EXPECT_EQ(owner.stopped, StopReason::retired);
  become_owner(next_owner, stream);
  EXPECT_EQ(next_owner.state.counters.outbound, SeqNum{2});
}

TEST(Async, reset_waits_for_the_stream_and_so_do_the_numbers_after_it) {
  StoredStream stream;
  TestOwner owner{options_of(1, Durability::async)};
  become_owner(owner, stream);
  owner.append(RecordKind::outbound, 1, "order");
  EXPECT_FALSE(has_space(owner.state, RecordKind::reset, 0));
  owner.serve_all(stream);
  owner.append(RecordKind::reset, 0);
  owner.append(RecordKind::outbound, 1, "logon");
  EXPECT_EQ(owner.released, 1U);
  owner.serve_all(stream);
  EXPECT_EQ(owner.released, 3U);
  EXPECT_EQ(owner.state.granted, SeqNum{11});
}

}  // namespace
}  // namespace nfx::cluster
