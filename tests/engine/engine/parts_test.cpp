// The small parts of a poll loop, each compared with its contract.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/seeded.hpp"
#include "engine/deadline_heap.hpp"
#include "engine/loop_thread.hpp"
#include "engine/output_buffer.hpp"
#include "engine/submissions.hpp"

namespace nfx {
namespace {

TEST(DeadlineHeap, names_the_same_earliest_item_as_a_sorted_map_does) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (const std::uint32_t count : {1U, 2U, 7U, 64U, 333U}) {
    DeadlineHeap heap{count};
    std::multimap<MonotonicTime, std::uint32_t> model;
    std::vector<std::multimap<MonotonicTime, std::uint32_t>::iterator> places;
    for (std::uint32_t i = 0; i < count; ++i) places.push_back(model.emplace(MonotonicTime::max(), i));
    for (int step = 0; step < 5000; ++step) {
      const auto item = static_cast<std::uint32_t>(random.below(count));
      const MonotonicTime due = random.below(5) == 0
                                    ? MonotonicTime::max()
                                    : MonotonicTime{Duration{static_cast<std::int64_t>(random.below(1000))}};
      heap.set(item, due);
      model.erase(places[item]);
      places[item] = model.emplace(due, item);
      ASSERT_EQ(heap.earliest(), model.begin()->first);
      ASSERT_EQ(heap.due(heap.earliest_item()), heap.earliest());
      ASSERT_EQ(heap.due(item), due);
    }
    // Taking the earliest out again and again gives all of them in order.
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(heap.earliest(), model.begin()->first);
      model.erase(model.begin());
      heap.set(heap.earliest_item(), MonotonicTime::max());
    }
    EXPECT_EQ(heap.earliest(), MonotonicTime::max());
  }
}

TEST(DeadlineHeap, without_items_is_never_due) { EXPECT_EQ(DeadlineHeap{0}.earliest(), MonotonicTime::max()); }

std::string text_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

TEST(OutputBuffer, gives_back_in_order_what_was_put_in_whatever_the_sizes) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  constexpr std::size_t capacity = 1000;
  std::vector<char> memory(capacity);
  OutputBuffer buffer{memory};
  std::string model;
  char letter = 'a';
  for (int step = 0; step < 50'000; ++step) {
    if (random.below(2) == 0) {
      const auto room = buffer.room(random.below(200));
      ASSERT_LE(room.size() + buffer.pending().size(), capacity);
      const std::size_t size = std::min<std::size_t>(room.size(), random.below(150));
      std::fill_n(room.begin(), size, letter);
      model.append(size, letter);
      letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
      buffer.append(size);
    } else {
      const std::size_t size = random.below(buffer.pending().size() + 1);
      buffer.consume(size);
      model.erase(0, size);
    }
    ASSERT_EQ(text_of(buffer.pending()), model);
    ASSERT_EQ(buffer.empty(), model.empty());
  }
}

TEST(OutputBuffer, moves_no_more_than_twice_the_bytes_it_gains) {
  std::vector<char> memory(1000);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(900).size());
  buffer.consume(299);  // 601 pending: more than twice 299
  EXPECT_EQ(buffer.room(200).size(), 100U);
  buffer.consume(2);  // 599 pending, 301 to gain
  EXPECT_EQ(buffer.room(200).size(), 401U);
}

TEST(OutputBuffer, leaves_its_bytes_alone_while_there_is_room_behind_them) {
  std::vector<char> memory(1000);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(500).size());
  buffer.consume(400);
  const char* place = buffer.pending().data();
  EXPECT_EQ(buffer.room(500).size(), 500U);
  EXPECT_EQ(buffer.pending().data(), place);
}

TEST(OutputBuffer, starts_over_at_the_front_once_all_is_gone) {
  std::vector<char> memory(100);
  OutputBuffer buffer{memory};
  buffer.append(buffer.room(1).first(100).size());
  EXPECT_EQ(buffer.room(1).size(), 0U);
  buffer.consume(100);
  EXPECT_EQ(buffer.room(1).size(), 100U);
}

// The messages that a Submissions gives to its poll thread, as text.
std::vector<std::string> drained(Submissions& submissions) {
  std::vector<std::string> seen;
  submissions.drain([&](std::span<const char> record) {
    const Submission each = Submission::of(record);
    seen.push_back(std::to_string(each.header.ticket) + ' ' + std::to_string(each.header.session) + ' ' +
                   std::string{each.message.msg_type} + ' ' + std::string{each.message.header_fields} + ' ' +
                   std::string{each.message.body});
  });
  return seen;
}

TEST(Submissions, hand_over_all_parts_of_a_message_in_the_order_of_their_tickets) {
  Submissions submissions{{}};
  const SessionConfig config;
  SubmitState state;
  state.logged_on = true;
  submissions.add(3, config, state);
  submissions.add(4, config, state);
  const SubmitResult first =
      submissions.submit(3, {.msg_type = "D", .body = "11=1\x01", .header_fields = "97=Y\x01"}, {});
  const SubmitResult second = submissions.submit(4, {.msg_type = "AE", .body = ""}, {});
  EXPECT_TRUE(first);
  EXPECT_EQ(first.ticket, 1U);
  EXPECT_EQ(second.ticket, 2U);
  EXPECT_GT(submissions.queued_bytes(), 0U);
  EXPECT_EQ(drained(submissions), (std::vector<std::string>{"1 3 D 97=Y\x01 11=1\x01", "2 4 AE  "}));
  EXPECT_EQ(submissions.queued_bytes(), 0U);
}

TEST(Submissions, say_why_a_message_is_not_queued) {
  Submissions submissions{{.queue_bytes = 64 * 1024, .keep_bytes = 64 * 1024, .max_message_size = 1024}};
  const SessionConfig config;
  SubmitState state;
  submissions.add(0, config, state);
  const std::string longest(900, 'x');
  const auto submit = [&](std::size_t session, std::string_view body, WhileLoggedOff off = WhileLoggedOff::refuse) {
    return submissions.submit(session, {.msg_type = "D", .body = body}, {.while_logged_off = off}).status;
  };
  EXPECT_EQ(submit(7, ""), SubmitStatus::unknown_session);
  EXPECT_EQ(submit(0, ""), SubmitStatus::not_logged_on);
  EXPECT_EQ(submit(0, "", WhileLoggedOff::keep), SubmitStatus::queued);
  const std::size_t charged = state.keep_bytes.exchange(64 * 1024 - 128);
  EXPECT_EQ(charged, 128U);
  EXPECT_EQ(submit(0, longest, WhileLoggedOff::keep), SubmitStatus::full) << "of what is held";
  EXPECT_EQ(submit(0, std::string(20000, 'x'), WhileLoggedOff::keep), SubmitStatus::too_long);
  state.logged_on = true;
  EXPECT_EQ(submit(0, std::string(2000, 'x')), SubmitStatus::too_long);
  std::uint64_t queued = 1;
  while (submit(0, longest) == SubmitStatus::queued) ++queued;
  EXPECT_GT(queued, 40U);
  EXPECT_EQ(submit(0, longest), SubmitStatus::full);
  EXPECT_EQ(drained(submissions).size(), queued);
  EXPECT_EQ(submit(0, longest), SubmitStatus::queued) << "there is space again";
  submissions.remove(0);
  EXPECT_EQ(submit(0, ""), SubmitStatus::unknown_session);
  const PollLoopCounters counters = submissions.counters();
  EXPECT_EQ(counters.submitted, queued + 1);
  EXPECT_EQ(counters.submit_unknown_session, 2U);
  EXPECT_EQ(counters.submit_not_logged_on, 1U);
  EXPECT_EQ(counters.submit_full, 3U);
  EXPECT_EQ(counters.submit_too_long, 2U);
}

TEST(Submissions, find_a_session_by_its_names) {
  Submissions submissions{{}};
  SessionConfig desk, second;
  desk.sender_comp_id = second.sender_comp_id = "DESK";
  desk.target_comp_id = second.target_comp_id = "VENUE";
  desk.sender_sub_id = "ALGO";
  second.session_qualifier = "second";
  SubmitState state;
  submissions.add(2, desk, state);
  submissions.add(5, second, state);
  const SessionId names{.begin_string = "FIX.4.4", .sender_comp_id = "DESK", .target_comp_id = "VENUE"};
  EXPECT_EQ(submissions.find(names), 2U);
  SessionId other = names;
  other.session_qualifier = "second";
  EXPECT_EQ(submissions.find(other), 5U);
  other = names;
  other.sender_sub_id = "ALGO";
  EXPECT_EQ(submissions.find(other), 2U);
  other.sender_sub_id = "MANUAL";
  EXPECT_EQ(submissions.find(other), std::nullopt);
  other = names;
  other.target_comp_id = "DESK";
  EXPECT_EQ(submissions.find(other), std::nullopt);
  submissions.remove(2);
  EXPECT_EQ(submissions.find(names), std::nullopt);
}

TEST(Submissions, lose_nothing_between_several_producers_and_the_consumer) {
  Submissions submissions{{.queue_bytes = 64 * 1024, .keep_bytes = 64 * 1024, .max_message_size = 1024}};
  constexpr std::size_t producers = 3;
  constexpr int each = 2000;
  const SessionConfig config;
  std::array<SubmitState, producers> states;
  for (std::size_t p = 0; p < producers; ++p) {
    states[p].logged_on = true;
    submissions.add(p, config, states[p]);
  }
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < producers; ++p) {
    threads.emplace_back([&submissions, p] {
      for (int i = 0; i < each;) {
        if (submissions.submit(p, {.msg_type = "D", .body = std::string_view{std::to_string(i)}}, {})) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::vector<int> next(producers, 0);
  std::uint64_t ticket = 0;
  bool in_order = true;
  while (next != std::vector<int>(producers, each)) {
    submissions.drain([&](std::span<const char> record) {
      const Submission one = Submission::of(record);
      in_order = in_order && one.header.ticket == ++ticket &&
                 one.message.body.view() == std::to_string(next[one.header.session]++);
    });
    std::this_thread::yield();
  }
  EXPECT_TRUE(in_order);
}

TEST(LoopThread, is_the_one_that_entered_until_it_leaves) {
  LoopThread thread;
  const auto is_another = [&thread] {
    bool is_this = false;
    std::jthread{[&] { is_this = thread.is_this(); }}.join();
    return is_this;
  };
  EXPECT_TRUE(is_another()) << "nobody has entered";
  thread.enter();
  EXPECT_TRUE(thread.is_this());
  EXPECT_FALSE(is_another());
  thread.leave();
  EXPECT_TRUE(is_another());
}

}  // namespace
}  // namespace nfx
