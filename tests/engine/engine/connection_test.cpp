// The owner of a connection, the place of its bytes, and that nothing of it outlives it.
#include "engine/connection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "engine/connection_owners.hpp"
#include "engine/index_list.hpp"

namespace nfx {
namespace {

constexpr ConnectionId id_of(std::uint32_t slot, std::uint32_t generation) {
  return ConnectionId{(std::uint64_t{generation} << 32) | slot};
}
constexpr ConnectionOwner session(std::uint32_t index) { return {ConnectionOwner::Kind::session, index}; }
constexpr ConnectionOwner pending(std::uint32_t index) { return {ConnectionOwner::Kind::pending, index}; }

TEST(ConnectionOwners, a_connection_passes_from_a_pending_logon_to_a_session_and_then_to_nobody) {
  ConnectionOwners owners{4};
  const ConnectionId id = id_of(2, 1);
  EXPECT_EQ(owners.find(id), ConnectionOwner{});
  owners.set(id, pending(3));
  EXPECT_EQ(owners.find(id), pending(3));
  owners.set(id, session(7));
  EXPECT_EQ(owners.find(id), session(7));
  owners.clear(id);
  EXPECT_EQ(owners.find(id), ConnectionOwner{});
}

TEST(ConnectionOwners, an_id_of_an_earlier_use_of_its_slot_has_no_owner_and_takes_none_away) {
  ConnectionOwners owners{4};
  owners.set(id_of(1, 1), session(0));
  owners.clear(id_of(1, 1));
  owners.set(id_of(1, 2), session(5));
  EXPECT_EQ(owners.find(id_of(1, 1)), ConnectionOwner{});
  owners.clear(id_of(1, 1));
  EXPECT_EQ(owners.find(id_of(1, 2)), session(5));
}

TEST(ConnectionOwners, grows_for_slots_beyond_those_expected) {
  ConnectionOwners owners{1};
  EXPECT_EQ(owners.find(id_of(100, 1)), ConnectionOwner{});
  owners.set(id_of(100, 1), session(1));
  EXPECT_EQ(owners.find(id_of(100, 1)), session(1));
}

#ifndef NDEBUG
TEST(ConnectionOwnersDeathTest, a_connection_of_one_session_cannot_be_given_to_another) {
  ConnectionOwners owners{4};
  owners.set(id_of(1, 1), session(0));
  EXPECT_DEATH(owners.set(id_of(1, 1), session(1)), "entry.owner == owner");
}

TEST(ConnectionOwnersDeathTest, a_slot_cannot_be_taken_before_its_last_connection_let_go_of_it) {
  ConnectionOwners owners{4};
  owners.set(id_of(1, 1), session(0));
  EXPECT_DEATH(owners.set(id_of(1, 2), session(0)), "entry.id == id");
}
#endif

TEST(IndexList, holds_each_number_once_in_the_order_of_adding) {
  IndexList list{10};
  for (const std::uint32_t index : {3U, 1U, 3U, 9U, 1U}) list.add(index);
  EXPECT_EQ(list.items(), (std::vector<std::uint32_t>{3, 1, 9}));
  EXPECT_TRUE(list.contains(1));
  list.erase(1);
  list.erase(1);
  EXPECT_FALSE(list.contains(1));
  EXPECT_EQ(list.items(), (std::vector<std::uint32_t>{3, 9}));
  list.erase_at(0);
  EXPECT_EQ(list.items(), (std::vector<std::uint32_t>{9}));
}

TEST(IndexList, drain_also_visits_what_is_added_meanwhile) {
  IndexList list{10};
  list.add(1);
  list.add(2);
  std::vector<std::uint32_t> visited;
  list.drain([&](std::uint32_t index) {
    visited.push_back(index);
    if (visited.size() == 1) list.add(1);  // again: it is no longer listed
    if (visited.size() == 2) list.add(5);
  });
  EXPECT_EQ(visited, (std::vector<std::uint32_t>{1, 2, 1, 5}));
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.contains(5));
}

// Messages of random lengths in reads of random lengths come out whole and in order.
TEST(PartialMessage, puts_together_what_lies_in_several_reads) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  std::vector<char> memory(64);
  PartialMessage partial{memory};
  // A message is a length in one byte and as many bytes, so `wanted` is known from the first.
  std::string stream;
  std::vector<std::string> messages, got;
  for (int i = 0; i < 2000; ++i) {
    const auto size = static_cast<char>(2 + random.below(60));
    std::string message(static_cast<std::size_t>(size), static_cast<char>('a' + i % 26));
    message[0] = size;
    messages.push_back(message);
    stream += message;
  }
  const auto use = [&](std::string_view bytes) {  // whole messages at the front: bytes used, and wanted of the rest
    std::size_t used = 0;
    while (used < bytes.size() && used + static_cast<std::size_t>(bytes[used]) <= bytes.size()) {
      const auto size = static_cast<std::size_t>(bytes[used]);
      got.emplace_back(bytes.substr(used, size));
      used += size;
    }
    const std::size_t wanted = used < bytes.size() ? static_cast<std::size_t>(bytes[used]) : 0;
    return std::pair{used, wanted};
  };
  for (std::size_t place = 0; place < stream.size();) {
    const std::size_t size = std::min<std::size_t>(1 + random.below(150), stream.size() - place);
    std::string_view bytes{stream.data() + place, size};
    place += size;
    while (!bytes.empty()) {
      if (partial.empty()) {
        const auto [used, wanted] = use(bytes);
        bytes.remove_prefix(used);
        if (!bytes.empty()) partial.keep(bytes, wanted);
        break;
      }
      const std::string_view all = partial.complete(bytes);
      const auto [used, wanted] = use(all);
      partial.keep_rest(all, used, wanted);
    }
  }
  EXPECT_EQ(got, messages);
  EXPECT_TRUE(partial.empty());
}

TEST(ParkedBytes, gives_back_in_order_what_was_parked_and_what_came_behind_it) {
  std::string memory, taken;
  ParkedBytes parked{memory};
  EXPECT_FALSE(parked.held());
  parked.park("abc", MonotonicTime{Duration{5}});
  parked.add("def");
  EXPECT_TRUE(parked.held());
  EXPECT_EQ(parked.until(), MonotonicTime{Duration{5}});
  parked.take(taken);
  EXPECT_EQ(taken, "abcdef");
  EXPECT_FALSE(parked.held());
  parked.park("x", MonotonicTime{Duration{9}});
  parked.take(taken);
  EXPECT_EQ(taken, "x");
}

struct NeverCommits {
  [[nodiscard]] bool holds_back() const noexcept { return true; }
  [[nodiscard]] CommitPosition position() const noexcept { return 10; }
  [[nodiscard]] CommitPosition committed() const noexcept { return 0; }
  void request_commit() const noexcept {}
};

TEST(Connection, ends_with_an_assignment_that_leaves_nothing_of_it_behind) {
  ConnectionMemory memory{{.send_buffer_size = 100, .max_message_size = 50}};
  Connection connection{memory};
  connection.id = id_of(1, 1);
  connection.connecting = true;
  connection.connect_deadline = MonotonicTime{Duration{1}};
  connection.out.append(10);
  EXPECT_TRUE(connection.out.may_leave(NeverCommits{}).empty());
  connection.in.partial.keep("8=FIX", 40);
  connection.in.parked.park("9=", MonotonicTime{Duration{2}});

  connection = Connection{memory};

  EXPECT_FALSE(connection.exists());
  EXPECT_FALSE(connection.connecting);
  EXPECT_EQ(connection.connect_deadline, MonotonicTime::max());
  EXPECT_TRUE(connection.out.empty());
  EXPECT_FALSE(connection.out.blocked());
  EXPECT_FALSE(connection.out.waits_for_commit());
  EXPECT_EQ(connection.out.reader_deadline(), MonotonicTime::max());
  EXPECT_EQ(connection.out.room(100).size(), 100U);
  EXPECT_TRUE(connection.in.partial.empty());
  EXPECT_FALSE(connection.in.parked.held());
}

}  // namespace
}  // namespace nfx
