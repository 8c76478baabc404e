// The arbiter of two MoldUDP64 lines: order, gaps, requests, and what it does with invalid packets.
#include "nexusfix/market/itch_transport.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "mold_packets.hpp"

namespace nfx::market {
namespace {

using namespace std::chrono_literals;
using test::Bytes;

const MoldSession today = test::session_of("TODAY");
const MoldSession tomorrow = test::session_of("TOMORROW");

// Message n is the text of its number.
struct Feed {
  explicit Feed(const MoldOptions& options = {.buffered_messages = 64}) : arbiter(options) {}

  struct Sink {
    Feed& feed;
    void message(std::uint64_t sequence, std::span<const std::byte> bytes) {
      EXPECT_EQ(test::bytes_of(std::to_string(sequence)), Bytes(bytes.begin(), bytes.end()));
      feed.given.push_back(sequence);
    }
    void request(const MoldRequest& wanted) { feed.requests.push_back(wanted); }
    void session(const MoldSession&) { ++feed.sessions; }
  };

  static Bytes packet_of(std::uint64_t first, std::uint16_t count, const MoldSession& session = today) {
    std::vector<Bytes> messages;
    for (std::uint64_t i = 0; i < count; ++i) messages.push_back(test::bytes_of(std::to_string(first + i)));
    return test::mold_packet(session, first, messages);
  }
  void receive(const Bytes& bytes, MoldLine line = MoldLine::a) { arbiter.packet(line, bytes, now, Sink{*this}); }
  void receive(std::uint64_t first, std::uint16_t count, MoldLine line = MoldLine::a) {
    receive(packet_of(first, count), line);
  }
  void wait(Duration time) {
    now += time;
    arbiter.tick(now, Sink{*this});
  }
  // 1 to `last`, each once.
  [[nodiscard]] bool complete(std::uint64_t last) const {
    if (given.size() != last) return false;
    for (std::uint64_t i = 0; i < last; ++i) {
      if (given[i] != i + 1) return false;
    }
    return true;
  }

  MoldArbiter arbiter;
  MonotonicTime now{100s};
  std::vector<std::uint64_t> given;
  std::vector<MoldRequest> requests;
  unsigned sessions = 0;
};

TEST(MoldUdp, header_is_session_sequence_and_count_in_20_bytes) {
  const MoldHeader header{today, 0x0102030405060708, 0x090A};
  const auto bytes = header.bytes();
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 10), test::bytes_of("TODAY     "));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(bytes[10 + i], std::byte(i + 1));
  const MoldHeader read = MoldHeader::read(bytes);
  EXPECT_EQ(read.session, today);
  EXPECT_EQ(read.sequence, header.sequence);
  EXPECT_EQ(read.count, header.count);
}

TEST(MoldUdp, gives_each_message_once_from_two_lines) {
  Feed feed;
  EXPECT_EQ(feed.arbiter.state(), FeedState::waiting);
  for (std::uint64_t first = 1; first <= 91; first += 10) {
    feed.receive(first, 10, MoldLine::a);
    feed.receive(first, 10, MoldLine::b);
  }
  EXPECT_TRUE(feed.complete(100));
  EXPECT_EQ(feed.sessions, 1U);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_EQ(feed.arbiter.counters().duplicates, 10U);
  EXPECT_EQ(feed.arbiter.counters().messages, 100U);
  EXPECT_EQ(feed.arbiter.line(MoldLine::a).first, 10U);
  EXPECT_EQ(feed.arbiter.line(MoldLine::b).first, 0U);
  EXPECT_EQ(feed.arbiter.line(MoldLine::b).packets, 10U);
}

TEST(MoldUdp, fills_a_gap_of_one_line_from_the_other_without_a_request) {
  Feed feed;
  feed.receive(1, 5, MoldLine::a);
  feed.receive(11, 5, MoldLine::a);
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  EXPECT_EQ(feed.arbiter.end_sequence(), 16U);
  feed.wait(100us);
  feed.receive(1, 5, MoldLine::b);
  feed.receive(6, 5, MoldLine::b);
  feed.receive(11, 5, MoldLine::b);
  feed.wait(1s);
  EXPECT_TRUE(feed.complete(15));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_TRUE(feed.requests.empty());
  EXPECT_EQ(feed.arbiter.counters().gaps, 1U);
}

TEST(MoldUdp, takes_packets_that_overlap_and_come_in_any_order) {
  Feed feed;
  feed.receive(4, 6);
  feed.receive(12, 1);
  feed.receive(2, 4);
  feed.receive(1, 1);
  feed.receive(8, 5);
  EXPECT_TRUE(feed.complete(12));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
}

TEST(MoldUdp, requests_what_is_missing_after_the_time_for_reordering) {
  Feed feed{{.buffered_messages = 64, .request_messages = 4}};
  feed.receive(1, 2);
  feed.receive(9, 1);
  EXPECT_TRUE(feed.requests.empty());
  feed.wait(199us);
  EXPECT_TRUE(feed.requests.empty());
  feed.wait(1us);
  ASSERT_EQ(feed.requests.size(), 1U);
  EXPECT_EQ(feed.requests[0].session, today);
  EXPECT_EQ(feed.requests[0].sequence, 3U);
  EXPECT_EQ(feed.requests[0].count, 4U);
  feed.wait(100us);
  // A part of the answer: the rest is requested, but not faster than the interval allows.
  feed.receive(3, 3, MoldLine::request);
  EXPECT_EQ(feed.requests.size(), 1U);
  feed.wait(899us);
  EXPECT_EQ(feed.requests.size(), 1U);
  feed.wait(1us);
  ASSERT_EQ(feed.requests.size(), 2U);
  EXPECT_EQ(feed.requests[1].sequence, 6U);
  EXPECT_EQ(feed.requests[1].count, 3U);
  feed.receive(6, 3, MoldLine::request);
  EXPECT_TRUE(feed.complete(9));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
}

TEST(MoldUdp, requests_the_second_gap_when_the_first_is_filled) {
  Feed feed;
  feed.receive(1, 1);
  feed.receive(4, 1);
  feed.receive(7, 1);
  feed.wait(1ms);
  ASSERT_EQ(feed.requests.size(), 1U);
  EXPECT_EQ(feed.requests[0].sequence, 2U);
  EXPECT_EQ(feed.requests[0].count, 2U);
  feed.wait(1ms);
  feed.receive(2, 2, MoldLine::request);
  ASSERT_EQ(feed.requests.size(), 2U);
  EXPECT_EQ(feed.requests[1].sequence, 5U);
  EXPECT_EQ(feed.requests[1].count, 2U);
  EXPECT_EQ(feed.arbiter.counters().gaps, 2U);
}

TEST(MoldUdp, becomes_stale_when_no_request_is_answered_and_live_when_the_messages_come_late) {
  Feed feed;
  feed.receive(1, 1);
  feed.receive(3, 1);
  for (int i = 0; i < 1000; ++i) feed.wait(100us);
  EXPECT_EQ(feed.requests.size(), 5U);
  for (int i = 0; i < 1000; ++i) feed.wait(1ms);
  EXPECT_EQ(feed.requests.size(), 5U);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_EQ(feed.arbiter.stale_reason(), StaleReason::gap_not_filled);
  EXPECT_TRUE(feed.arbiter.snapshot_wanted());
  feed.receive(2, 1, MoldLine::b);
  EXPECT_TRUE(feed.complete(3));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_FALSE(feed.arbiter.snapshot_wanted());
  EXPECT_EQ(feed.arbiter.counters().stale, 1U);
}

TEST(MoldUdp, becomes_stale_when_a_gap_takes_too_long_although_requests_are_answered_in_part) {
  Feed feed{{.buffered_messages = 4096}};
  feed.receive(1, 1);
  feed.receive(3000, 1);
  for (std::uint64_t next = 2; feed.arbiter.state() == FeedState::recovering; ++next) {
    feed.receive(next, 1, MoldLine::request);
    feed.wait(10ms);
    ASSERT_LT(next, 300U);
  }
  EXPECT_EQ(feed.arbiter.stale_reason(), StaleReason::gap_not_filled);
}

TEST(MoldUdp, makes_no_requests_when_there_is_no_server_for_them) {
  Feed feed{{.buffered_messages = 64, .request_attempts = 0}};
  feed.receive(1, 1);
  feed.receive(3, 1);
  feed.wait(1s);
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  feed.wait(1s);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_TRUE(feed.requests.empty());
}

TEST(MoldUdp, keeps_the_newest_messages_when_more_come_than_the_buffer_holds) {
  Feed feed;
  feed.receive(1, 1);
  for (std::uint64_t first = 3; first < 203; first += 10) feed.receive(first, 10);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_EQ(feed.arbiter.stale_reason(), StaleReason::gap_too_large);
  EXPECT_EQ(feed.arbiter.counters().dropped, 200U - 64);
  feed.arbiter.snapshot_begin(feed.now);
  EXPECT_FALSE(feed.arbiter.snapshot_fits(138));
  ASSERT_TRUE(feed.arbiter.snapshot_fits(139));
  feed.given.clear();
  feed.arbiter.snapshot_end(139, feed.now, Feed::Sink{feed});
  EXPECT_EQ(feed.given.size(), 64U);
  EXPECT_EQ(feed.given.front(), 139U);
  EXPECT_EQ(feed.given.back(), 202U);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_EQ(feed.arbiter.counters().snapshots_refused, 1U);
}

TEST(MoldUdp, holds_everything_back_while_a_snapshot_is_loaded) {
  Feed feed;
  feed.receive(1, 4);
  feed.arbiter.snapshot_begin(feed.now);
  feed.receive(5, 4);
  EXPECT_EQ(feed.given.size(), 4U);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_EQ(feed.arbiter.stale_reason(), StaleReason::snapshot);
  EXPECT_FALSE(feed.arbiter.snapshot_fits(4)) << "message 4 was given before, and is not buffered";
  ASSERT_TRUE(feed.arbiter.snapshot_fits(7));
  feed.arbiter.snapshot_end(7, feed.now, Feed::Sink{feed});
  EXPECT_EQ(feed.given, (std::vector<std::uint64_t>{1, 2, 3, 4, 7, 8}));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
}

TEST(MoldUdp, continues_after_a_snapshot_that_is_newer_than_the_lines) {
  Feed feed;
  feed.receive(1, 4);
  feed.arbiter.snapshot_begin(feed.now);
  ASSERT_TRUE(feed.arbiter.snapshot_fits(21));
  feed.arbiter.snapshot_end(21, feed.now, Feed::Sink{feed});
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  feed.receive(5, 16);
  feed.receive(21, 2);
  EXPECT_EQ(feed.given, (std::vector<std::uint64_t>{1, 2, 3, 4, 21, 22}));
}

TEST(MoldUdp, recovers_again_from_a_gap_after_the_snapshot) {
  Feed feed;
  feed.receive(1, 1);
  feed.receive(10, 5);
  feed.receive(20, 5);
  feed.arbiter.snapshot_begin(feed.now);
  ASSERT_TRUE(feed.arbiter.snapshot_fits(12));
  feed.arbiter.snapshot_end(12, feed.now, Feed::Sink{feed});
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  feed.wait(1ms);
  ASSERT_EQ(feed.requests.size(), 1U);
  EXPECT_EQ(feed.requests[0].sequence, 15U);
  EXPECT_EQ(feed.requests[0].count, 5U);
  feed.receive(15, 5, MoldLine::request);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_EQ(feed.given.back(), 24U);
}

TEST(MoldUdp, learns_from_a_heartbeat_that_the_last_packet_was_lost) {
  Feed feed;
  feed.receive(1, 3);
  feed.receive(test::mold_heartbeat(today, 4));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  feed.receive(test::mold_heartbeat(today, 6));
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  feed.wait(1ms);
  ASSERT_EQ(feed.requests.size(), 1U);
  EXPECT_EQ(feed.requests[0].sequence, 4U);
  EXPECT_EQ(feed.requests[0].count, 2U);
}

TEST(MoldUdp, ends_when_the_last_message_of_the_session_was_given_and_starts_the_next_one) {
  Feed feed;
  feed.receive(1, 3);
  feed.receive(test::mold_heartbeat(today, 6, mold_end_of_session));
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  feed.receive(4, 2, MoldLine::request);
  EXPECT_EQ(feed.arbiter.state(), FeedState::ended);
  EXPECT_TRUE(feed.complete(5));
  feed.given.clear();
  feed.receive(Feed::packet_of(1, 2, tomorrow));
  EXPECT_EQ(feed.sessions, 2U);
  EXPECT_TRUE(feed.complete(2));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  feed.receive(6, 1);
  EXPECT_EQ(feed.arbiter.counters().other_session, 1U);
  EXPECT_EQ(feed.given.size(), 2U);
}

TEST(MoldUdp, ignores_another_session_until_the_current_one_is_silent) {
  Feed feed;
  feed.receive(1, 2);
  feed.receive(Feed::packet_of(1, 9, tomorrow));
  feed.receive(Feed::packet_of(3, 1, tomorrow), MoldLine::request);
  EXPECT_EQ(feed.arbiter.counters().other_session, 2U);
  EXPECT_EQ(feed.given.size(), 2U);
  feed.wait(5s);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_EQ(feed.arbiter.stale_reason(), StaleReason::silence);
  EXPECT_FALSE(feed.arbiter.snapshot_wanted());
  feed.receive(Feed::packet_of(1, 3, tomorrow));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_EQ(feed.given, (std::vector<std::uint64_t>{1, 2, 1, 2, 3}));
}

TEST(MoldUdp, is_live_again_with_the_first_packet_after_silence) {
  Feed feed;
  feed.receive(1, 2);
  feed.wait(6s);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  feed.receive(test::mold_heartbeat(today, 3));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  feed.wait(6s);
  feed.receive(5, 1);
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  feed.wait(1ms);
  EXPECT_EQ(feed.requests.size(), 1U);
}

TEST(MoldUdp, is_silent_only_when_both_lines_are) {
  Feed feed;
  feed.receive(1, 2, MoldLine::a);
  for (int i = 0; i < 20; ++i) {
    feed.receive(test::mold_heartbeat(today, 3), MoldLine::b);
    feed.wait(1s);
    ASSERT_EQ(feed.arbiter.state(), FeedState::live);
  }
  EXPECT_EQ(feed.now - feed.arbiter.line(MoldLine::a).heard, 20s);
}

TEST(MoldUdp, wants_a_snapshot_when_it_joins_in_the_middle_of_a_session) {
  Feed feed;
  feed.receive(1000, 1);
  EXPECT_EQ(feed.arbiter.counters().implausible, 1U);
  feed.receive(1001, 1);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
  EXPECT_TRUE(feed.arbiter.snapshot_wanted());
  EXPECT_TRUE(feed.given.empty());
}

TEST(MoldUdp, does_not_believe_a_single_packet_that_is_far_ahead) {
  Feed feed;
  feed.receive(1, 2);
  feed.receive(1'000'000, 2);
  feed.receive(test::mold_heartbeat(today, std::uint64_t{1} << 63));
  feed.receive(3, 2);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_TRUE(feed.complete(4));
  EXPECT_EQ(feed.arbiter.counters().implausible, 1U);
  EXPECT_EQ(feed.arbiter.counters().malformed, 1U);
  feed.receive(1'000'000, 2, MoldLine::b);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live) << "the same packet on the other line";
  feed.receive(1'000'002, 1);
  EXPECT_EQ(feed.arbiter.state(), FeedState::stale);
}

TEST(MoldUdp, gives_the_whole_messages_of_a_truncated_packet_and_requests_the_rest) {
  Feed feed;
  feed.receive(1, 1);
  Bytes packet = Feed::packet_of(2, 3);
  packet.resize(packet.size() - 1);
  feed.receive(packet);
  EXPECT_TRUE(feed.complete(3));
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  EXPECT_EQ(feed.arbiter.counters().malformed, 1U);
  feed.wait(1ms);
  ASSERT_EQ(feed.requests.size(), 1U);
  EXPECT_EQ(feed.requests[0].sequence, 4U);
  feed.receive(4, 1, MoldLine::b);
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
}

TEST(MoldUdp, counts_packets_that_are_cut_anywhere_and_never_reads_past_them) {
  const Bytes whole = Feed::packet_of(2, 3);
  for (const bool live : {true, false}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Feed feed;
      feed.receive(1, live ? 1 : 0);
      const auto part = std::make_unique<std::byte[]>(size);
      std::copy_n(whole.begin(), size, part.get());
      feed.arbiter.packet(MoldLine::a, {part.get(), size}, feed.now, Feed::Sink{feed});
      EXPECT_EQ(feed.arbiter.counters().malformed, 1U) << size;
    }
  }
}

TEST(MoldUdp, delivers_a_packet_with_bytes_after_its_messages_and_counts_it) {
  Feed feed;
  Bytes packet = Feed::packet_of(1, 2);
  packet.push_back(std::byte{0});
  feed.receive(packet);
  packet = Feed::packet_of(3, 2);
  packet.push_back(std::byte{0});
  feed.receive(packet);
  EXPECT_TRUE(feed.complete(4));
  EXPECT_EQ(feed.arbiter.state(), FeedState::live);
  EXPECT_EQ(feed.arbiter.counters().malformed, 2U);
}

TEST(MoldUdp, counts_a_message_that_is_too_long_for_the_buffer_as_lost) {
  Feed feed;
  feed.receive(1, 1);
  const std::vector<Bytes> messages{Bytes(MoldArbiter::max_buffered_size + 1)};
  feed.receive(test::mold_packet(today, 3, messages));
  feed.receive(2, 1);
  EXPECT_EQ(feed.arbiter.counters().too_long, 1U);
  EXPECT_EQ(feed.arbiter.state(), FeedState::recovering);
  EXPECT_EQ(feed.arbiter.next_sequence(), 3U);
}

}  // namespace
}  // namespace nfx::market
