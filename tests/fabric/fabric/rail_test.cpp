// Every rule of the rail interface on every rail: over shared memory, TCP, a Unix socket, and the faulty rail without
// faults.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>

#include "fabric/fabric_testing.hpp"

namespace nfx::fabric::testing {
namespace {

class EveryRail : public ::testing::TestWithParam<const char*> {
 protected:
  void fill(Region& region, unsigned seed) {
    for (std::uint64_t i = 0; i < region.size(); ++i) region.data()[i] = static_cast<std::byte>(i * seed + i / 255);
  }
};

TEST_P(EveryRail, writes_arrive_whole_and_with_their_number) {
  RailPair pair{GetParam()};
  pair.open();
  fill(pair.regions[0], 7);
  std::uint32_t number = 100;
  for (const std::uint32_t length : {0U, 1U, 100U, 216U, 217U, 4096U, 100000U, 900000U}) {
    const Write write{.local_offset = 5, .remote_offset = 77, .length = length, .number = ++number, .slot = 3};
    ASSERT_EQ(pair.end(0).try_write(write), WriteResult::ok);
    bool arrived = false, done = false;
    for (int i = 0; i < 20000 && !(arrived && done); ++i) {
      for (const Completion& each : pair.take(1, 0)) static_cast<void>(each);
      pair.step();
      std::array<Completion, 4> space;
      for (std::size_t k = pair.end(1).poll(space); k > 0; --k) {
        ASSERT_EQ(space[k - 1].kind, CompletionKind::arrived);
        ASSERT_EQ(space[k - 1].value, number);
        ASSERT_EQ(std::memcmp(pair.regions[0].data() + 5, pair.regions[1].data() + 77, length), 0);
        arrived = true;
      }
      for (std::size_t k = pair.end(0).poll(space); k > 0; --k) {
        ASSERT_EQ(space[k - 1].kind, CompletionKind::done);
        ASSERT_EQ(space[k - 1].value, 3U);
        done = true;
      }
    }
    ASSERT_TRUE(arrived && done) << length;
  }
}

TEST_P(EveryRail, a_full_rail_returns_again_and_takes_more_after_polls) {
  RailPair pair{GetParam()};
  pair.open();
  const std::uint32_t slots = pair.end(0).limits().slots;
  std::uint32_t posted = 0;
  std::set<std::uint32_t> numbers, free;
  for (std::uint32_t slot = 0; slot < slots; ++slot) free.insert(slot);
  bool was_full = false;
  for (int i = 0; i < 40000 && numbers.size() < 3 * slots; ++i) {
    while (!free.empty() && posted < 3 * slots) {
      const Write write{.length = 64, .number = posted, .slot = *free.begin()};
      const WriteResult result = pair.end(0).try_write(write);
      ASSERT_NE(result, WriteResult::failed);
      if (result == WriteResult::again) break;
      free.erase(free.begin());
      ++posted;
    }
    was_full = was_full || free.empty();
    pair.step();
    std::array<Completion, 8> space;
    for (std::size_t k = pair.end(0).poll(space); k > 0; --k) ASSERT_TRUE(free.insert(space[k - 1].value).second);
    for (std::size_t k = pair.end(1).poll(space); k > 0; --k) ASSERT_TRUE(numbers.insert(space[k - 1].value).second);
  }
  EXPECT_TRUE(was_full);
  EXPECT_EQ(numbers.size(), 3 * slots);
}

TEST_P(EveryRail, a_write_outside_of_a_region_is_refused) {
  RailPair pair{GetParam()};
  pair.open();
  const std::uint64_t size = pair.regions[0].size();
  EXPECT_EQ(pair.end(0).try_write({.local_offset = size - 10, .length = 11}), WriteResult::failed);
  EXPECT_EQ(pair.end(0).try_write({.remote_offset = size - 10, .length = 11}), WriteResult::failed);
  EXPECT_EQ(pair.end(0).try_write({.remote_offset = ~std::uint64_t{0} - 5, .length = 11}), WriteResult::failed);
  EXPECT_EQ(pair.end(0).try_write({.length = 11, .local_region = RegionIndex{1}}), WriteResult::failed);
  EXPECT_EQ(pair.end(0).try_write({.length = 11, .remote_region = RegionIndex{15}}), WriteResult::failed);
  EXPECT_EQ(pair.end(0).try_write({.local_offset = size - 11, .remote_offset = size - 11, .length = 11}),
            WriteResult::ok);
}

TEST_P(EveryRail, nothing_changes_memory_after_close) {
  RailPair pair{GetParam()};
  pair.open();
  fill(pair.regions[0], 3);
  std::memset(pair.regions[1].data(), 0x55, pair.regions[1].size());
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    const Write write{
        .remote_offset = slot * 40000, .length = slot % 2 == 0 ? 30000U : 50U, .number = slot, .slot = slot};
    ASSERT_EQ(pair.end(0).try_write(write), WriteResult::ok);
  }
  pair.end(1).close();
  EXPECT_EQ(pair.end(1).state(), RailState::closed);
  for (int i = 0; i < 20; ++i) {
    pair.step();
    std::array<Completion, 8> space;
    EXPECT_EQ(pair.end(1).poll(space), 0U);
    static_cast<void>(pair.end(0).poll(space));
  }
  EXPECT_TRUE(std::ranges::all_of(pair.regions[1].bytes(), [](std::byte each) { return each == std::byte{0x55}; }));
}

TEST_P(EveryRail, an_end_that_was_closed_can_be_opened_again) {
  if (std::string{GetParam()} == "faulty") GTEST_SKIP() << "it ends at one end alone, as a peer that vanishes does";
  RailPair pair{GetParam()};
  for (std::uint32_t round = 0; round < 4; ++round) {
    pair.open();
    ASSERT_EQ(pair.end(0).try_write({.length = 8, .number = round}), WriteResult::ok);
    const auto arrived = pair.take(1, 1);
    ASSERT_EQ(arrived.size(), 1U);
    ASSERT_EQ(arrived[0].value, round);
    const std::size_t closing = round % 2;
    pair.end(closing).close();
    const auto seen = pair.take(1 - closing, closing == 0 ? 1 : 2);
    ASSERT_FALSE(seen.empty());
    ASSERT_EQ(seen.back().kind, CompletionKind::down);
    ASSERT_EQ(pair.end(1 - closing).state(), RailState::closed);
  }
}

TEST_P(EveryRail, a_closed_rail_takes_no_write) {
  RailPair pair{GetParam()};
  EXPECT_EQ(pair.end(0).state(), RailState::closed);
  EXPECT_EQ(pair.end(0).try_write({.length = 8}), WriteResult::failed);
  std::array<Completion, 4> space;
  EXPECT_EQ(pair.end(0).poll(space), 0U);
}

INSTANTIATE_TEST_SUITE_P(fabric, EveryRail, ::testing::Values("shm", "tcp", "unix", "faulty"),
                         [](const auto& each) { return std::string{each.param}; });

TEST(tcp_rail, what_connects_and_is_not_a_rail_is_dropped) {
  RailPair pair{"tcp"};
  pair.end(0).open({});
  const std::string place{pair.end(0).name().substr(4)};
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(place.substr(place.rfind(':') + 1))));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(::connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::send(stranger, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
  for (int i = 0; i < 200 && pair.end(0).last_error().empty(); ++i) pair.step();
  EXPECT_NE(pair.end(0).last_error().find("not a rail of the fabric"), std::string_view::npos)
      << pair.end(0).last_error();
  pair.open();
  ::close(stranger);
}

TEST(tcp_rail, an_address_that_is_in_use_is_named_with_the_fix) {
  const auto first = TcpRail::make({.address = {RailEnd::listens, "127.0.0.1:0"}}).value();
  const auto second = TcpRail::make({.address = {RailEnd::listens, first->place()}});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find(first->place()), std::string::npos) << second.error();
  EXPECT_NE(second.error().find("choose another"), std::string::npos) << second.error();
}

TEST(rail_address, wrong_addresses_are_refused_with_the_right_forms) {
  for (const char* wrong :
       {"", "localhost:7000", "10.0.0.2", "10.0.0.2:", "10.0.0.2:70000", "[::1:7000", "relative/path"})
    EXPECT_NE(check_address(wrong).find("10.0.0.2:7000"), std::string::npos) << wrong;
  for (const char* right : {"10.0.0.2:7000", "[::1]:7000", "/run/nfx/standby.0"}) EXPECT_EQ(check_address(right), "");
  EXPECT_NE(check_address("/" + std::string(200, 'x')).find("at most 107"), std::string::npos);
}

}  // namespace
}  // namespace nfx::fabric::testing
