// When bytes may leave: the gate against every order of encoding, committing and sending.
#include "engine/send_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/seeded.hpp"

namespace nfx {
namespace {

// A stream of records that the test commits.
struct Commits {
  bool holding = true;
  CommitPosition written = 0;
  CommitPosition committed_to = 0;
  int requests = 0;
};
struct CommitsOf {
  Commits* of;
  [[nodiscard]] bool holds_back() const noexcept { return of->holding; }
  [[nodiscard]] CommitPosition position() const noexcept { return of->written; }
  [[nodiscard]] CommitPosition committed() const noexcept { return of->committed_to; }
  void request_commit() const noexcept { ++of->requests; }
};
static_assert(CommitSource<CommitsOf>);

// A journal whose records a second machine acknowledges: both have to have them.
struct JournalAndReplica {
  CommitsOf journal;
  CommitPosition* acknowledged;
  [[nodiscard]] bool holds_back() const noexcept { return true; }
  [[nodiscard]] CommitPosition position() const noexcept { return journal.position(); }
  [[nodiscard]] CommitPosition committed() const noexcept { return std::min(journal.committed(), *acknowledged); }
  void request_commit() const noexcept { journal.request_commit(); }
};
static_assert(CommitSource<JournalAndReplica>);

class SendGateTest : public ::testing::Test {
 protected:
  void encode(std::string_view text) {
    const std::span<char> room = gate.room(text.size());
    ASSERT_GE(room.size(), text.size());
    std::ranges::copy(text, room.begin());
    gate.append(text.size());
    commits.written += text.size();
  }
  template <class Source>
  std::string leaving(const Source& source) {
    const auto bytes = gate.may_leave(source);
    return {bytes.data(), bytes.size()};
  }
  std::string leaving() { return leaving(CommitsOf{&commits}); }

  std::vector<char> memory = std::vector<char>(1000);
  SendGate gate{memory};
  Commits commits;
};

TEST_F(SendGateTest, lets_everything_leave_at_once_where_nothing_holds_back) {
  commits.holding = false;
  encode("abc");
  encode("def");
  EXPECT_EQ(leaving(), "abcdef");
  gate.sent({.sent = 6}, 6);
  EXPECT_TRUE(gate.empty());
  EXPECT_EQ(leaving(), "");
  EXPECT_FALSE(gate.waits_for_commit());
}

TEST_F(SendGateTest, keeps_bytes_until_their_commit_and_asks_for_it_once) {
  encode("abc");
  EXPECT_EQ(leaving(), "");
  EXPECT_EQ(leaving(), "");
  EXPECT_EQ(commits.requests, 1);
  EXPECT_TRUE(gate.waits_for_commit());
  EXPECT_TRUE(gate.still_waits(CommitsOf{&commits}));
  commits.committed_to = 2;
  EXPECT_EQ(leaving(), "");
  commits.committed_to = 3;
  EXPECT_FALSE(gate.still_waits(CommitsOf{&commits}));
  EXPECT_EQ(leaving(), "abc");
  EXPECT_FALSE(gate.waits_for_commit());
}

TEST_F(SendGateTest, what_is_encoded_while_a_commit_is_awaited_forms_the_next_group) {
  encode("abc");
  EXPECT_EQ(leaving(), "");
  encode("def");
  encode("ghi");
  commits.committed_to = 5;  // beyond the first group, short of the second
  EXPECT_EQ(leaving(), "abc");
  gate.sent({.sent = 3}, 3);
  EXPECT_EQ(commits.requests, 2);
  EXPECT_EQ(leaving(), "");
  commits.committed_to = 9;
  EXPECT_EQ(leaving(), "defghi");
}

TEST_F(SendGateTest, bytes_that_were_committed_before_need_not_wait) {
  encode("abc");
  commits.committed_to = commits.written;
  EXPECT_EQ(leaving(), "abc");
  EXPECT_EQ(commits.requests, 0);
}

TEST_F(SendGateTest, a_short_send_blocks_until_the_transport_has_room) {
  commits.holding = false;
  encode("abcdef");
  EXPECT_EQ(leaving(), "abcdef");
  gate.sent({.sent = 2}, 6);
  EXPECT_TRUE(gate.blocked());
  encode("ghi");
  EXPECT_EQ(leaving(), "");
  gate.unblock();
  EXPECT_EQ(leaving(), "cdefghi");
}

TEST_F(SendGateTest, a_closed_connection_does_not_block) {
  commits.holding = false;
  encode("abc");
  EXPECT_EQ(leaving(), "abc");
  gate.sent({.sent = 0, .closed = true}, 3);
  EXPECT_FALSE(gate.blocked());
}

TEST_F(SendGateTest, a_peer_that_does_not_read_gets_one_deadline_until_it_reads) {
  commits.holding = false;
  encode("abc");
  EXPECT_EQ(leaving(), "abc");
  gate.sent({.sent = 1}, 3);
  EXPECT_TRUE(gate.give_deadline(MonotonicTime{Duration{10}}));
  EXPECT_FALSE(gate.give_deadline(MonotonicTime{Duration{20}}));
  EXPECT_EQ(gate.reader_deadline(), MonotonicTime{Duration{10}});
  gate.unblock();
  EXPECT_EQ(gate.reader_deadline(), MonotonicTime::max());
}

TEST_F(SendGateTest, bytes_leave_only_once_both_of_two_sources_have_committed_them) {
  CommitPosition acknowledged = 0;
  const JournalAndReplica both{{&commits}, &acknowledged};
  encode("abc");
  EXPECT_EQ(leaving(both), "");
  commits.committed_to = 3;
  EXPECT_EQ(leaving(both), "");
  acknowledged = 3;
  EXPECT_EQ(leaving(both), "abc");
}

TEST_F(SendGateTest, an_assignment_drops_what_was_pending_and_all_that_was_known_about_it) {
  encode("abc");
  EXPECT_EQ(leaving(), "");
  gate = SendGate{memory};
  EXPECT_TRUE(gate.empty());
  EXPECT_FALSE(gate.waits_for_commit());
  encode("xyz");
  commits.committed_to = 3;  // what was dropped
  EXPECT_EQ(leaving(), "");
  commits.committed_to = 6;
  EXPECT_EQ(leaving(), "xyz");
}

// In every order, sent messages were committed before, and all messages are sent in order once everything is committed.
TEST_F(SendGateTest, nothing_leaves_before_its_commit_in_any_order_of_events) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  std::string encoded, left;
  char letter = 'a';
  for (int step = 0; step < 50'000; ++step) {
    switch (random.below(4)) {
      case 0: {
        const std::string text(std::min<std::size_t>(random.below(40), gate.room(40).size()), letter);
        letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
        encode(text);
        encoded += text;
        break;
      }
      case 1: commits.committed_to += random.below(commits.written - commits.committed_to + 1); break;
      case 2: {
        const std::string offered = leaving();
        if (offered.empty()) break;
        const std::size_t sent = random.below(offered.size() + 1);
        gate.sent({.sent = sent}, offered.size());
        left += offered.substr(0, sent);
        break;
      }
      case 3: gate.unblock(); break;
    }
    ASSERT_EQ(encoded.substr(0, left.size()), left);
    ASSERT_LE(left.size(), commits.committed_to);
  }
  commits.committed_to = commits.written;
  gate.unblock();
  while (!gate.empty()) {
    const std::string offered = leaving();
    ASSERT_FALSE(offered.empty());
    gate.sent({.sent = offered.size()}, offered.size());
    left += offered;
  }
  EXPECT_EQ(left, encoded);
}

#ifndef NDEBUG
TEST(SendGateDeathTest, a_source_that_commits_beyond_its_end_is_found_out) {
  std::vector<char> memory(100);
  SendGate gate{memory};
  Commits commits{.written = 1, .committed_to = 2};
  gate.append(1);
  EXPECT_DEATH(static_cast<void>(gate.may_leave(CommitsOf{&commits})), "committed\\(\\) <= source.position\\(\\)");
}
#endif

}  // namespace
}  // namespace nfx
