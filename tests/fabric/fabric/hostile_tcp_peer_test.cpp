// A host that speaks the rendezvous of a rail over TCP, and then sends cards and frames that no rail sends: nothing is
// written outside of a region, and the rail can be used again.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric_testing.hpp"
#include "fabric/rendezvous.hpp"

namespace nfx::fabric::testing {
namespace {

constexpr std::uint64_t region_size = 1 << 16;

struct ForgedTcpCard {
  std::uint32_t regions = 1;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, max_regions> sizes{region_size};
};

struct ForgedFrame {
  std::uint64_t remote_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t number = 0;
  std::uint32_t region = 0;
  std::uint32_t check = 0;

  [[nodiscard]] ForgedFrame checked() const {
    ForgedFrame frame = *this;
    const std::uint64_t mixed =
        (remote_offset ^ std::uint64_t{length} << 32 ^ number ^ std::uint64_t{region} << 24) * 0x9e3779b97f4a7c15;
    frame.check = static_cast<std::uint32_t>(mixed >> 32);
    return frame;
  }
};
static_assert(sizeof(ForgedFrame) == 24);

class HostileTcpPeer : public ::testing::Test {
 protected:
  HostileTcpPeer() {
    EXPECT_EQ(rail->add_region(region), RegionIndex{0});
    std::ranges::fill(std::span{region.data(), region.size()}, std::byte{0x55});
  }

  // Runs until the rail has the card, whether it accepts it or not.
  RailState meet(std::span<const std::byte> card) {
    if (rail->state() == RailState::closed) rail->open(now);
    peer.begin(card);
    for (int i = 0, after = 0; i < 10000 && after < 20 && rail->state() == RailState::opening; ++i) {
      now += 1ms;
      peer.advance(now);
      rail->maintain(now);
      after += peer.complete() ? 1 : 0;
    }
    return rail->state();
  }
  RailState meet(const ForgedTcpCard& card = {}) { return meet(std::as_bytes(std::span{&card, 1})); }
  void send(std::span<const std::byte> bytes) const {
    EXPECT_EQ(::send(peer.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void send(const ForgedFrame& frame) const { send(std::as_bytes(std::span{&frame, 1})); }
  // Runs until the rail ends, or nothing more arrives.
  std::vector<Completion> take() {
    std::vector<Completion> all;
    for (int idle = 0; idle < 200 && rail->state() == RailState::up;) {
      std::array<Completion, 16> space;
      const std::size_t count = rail->poll(space);
      all.insert(all.end(), space.begin(), space.begin() + static_cast<std::ptrdiff_t>(count));
      idle = count == 0 ? idle + 1 : 0;
    }
    return all;
  }
  [[nodiscard]] bool region_is_untouched() const {
    return std::ranges::all_of(std::span{region.data(), region.size()},
                               [](std::byte each) { return each == std::byte{0x55}; });
  }

  Region region = make_region(region_size);
  std::unique_ptr<TcpRail> rail = TcpRail::make({.address = {RailEnd::listens, "127.0.0.1:0"}, .slots = 64}).value();
  Rendezvous peer{CardKind::tcp, {RailEnd::connects, rail->place()}};
  MonotonicTime now{1h};
};

TEST_F(HostileTcpPeer, a_frame_inside_of_a_region_arrives) {
  ASSERT_EQ(meet(), RailState::up);
  send(ForgedFrame{.remote_offset = 8, .length = 4, .number = 7}.checked());
  send(bytes_of("data"));
  const std::vector<Completion> all = take();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].value, 7U);
  EXPECT_EQ(std::memcmp(region.data() + 8, "data", 4), 0);
}

TEST_F(HostileTcpPeer, a_card_of_another_size_or_with_too_many_regions_is_refused) {
  const std::array<std::byte, 8> small{};
  EXPECT_EQ(meet(small), RailState::closed);
  const std::vector<std::byte> large(max_card);
  EXPECT_EQ(meet(large), RailState::closed);
  EXPECT_EQ(meet({.regions = max_regions + 1}), RailState::closed);
  EXPECT_EQ(meet({.regions = 0xffffffff}), RailState::closed);
  EXPECT_EQ(meet(), RailState::up) << "and the next peer is served";
}

TEST_F(HostileTcpPeer, a_frame_outside_of_every_region_ends_the_rail_and_writes_nothing) {
  const std::array frames{
      ForgedFrame{.remote_offset = region_size, .length = 1}.checked(),
      ForgedFrame{.remote_offset = region_size - 1, .length = 2}.checked(),
      ForgedFrame{.remote_offset = ~std::uint64_t{0}, .length = 2}.checked(),
      ForgedFrame{.remote_offset = ~std::uint64_t{7}, .length = 16}.checked(),
      ForgedFrame{.length = 0xffffffff}.checked(),
      ForgedFrame{.length = 4, .region = 1}.checked(),
      ForgedFrame{.length = 4, .region = 0xffffffff}.checked(),
      ForgedFrame{.length = 4, .check = 1},
  };
  for (const ForgedFrame& frame : frames) {
    ASSERT_EQ(meet(), RailState::up);
    send(frame);
    send(bytes_of("payload that must not arrive"));
    const std::vector<Completion> all = take();
    ASSERT_FALSE(all.empty()) << frame.remote_offset << ' ' << frame.length;
    EXPECT_EQ(all.back().kind, CompletionKind::down);
    EXPECT_EQ(rail->state(), RailState::closed);
    EXPECT_TRUE(region_is_untouched()) << frame.remote_offset << ' ' << frame.length << ' ' << frame.region;
  }
}

TEST_F(HostileTcpPeer, a_peer_that_ends_within_a_frame_delivers_nothing) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{23}, std::size_t{24}, std::size_t{30}}) {
    ASSERT_EQ(meet(), RailState::up);
    std::string bytes(sizeof(ForgedFrame) + 64, 'x');
    const ForgedFrame frame = ForgedFrame{.length = 64, .number = 3}.checked();
    std::memcpy(bytes.data(), &frame, sizeof frame);
    send(bytes_of(bytes).first(length));
    peer.end();
    for (const Completion& each : take()) EXPECT_EQ(each.kind, CompletionKind::down) << length;
    EXPECT_EQ(rail->state(), RailState::closed) << length;
  }
}

TEST_F(HostileTcpPeer, streams_of_any_frames_end_the_rail_or_arrive_inside_of_a_region) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random{seed};
  const auto any = [&random](std::uint64_t small) {
    const std::uint64_t choice = random() % 8;
    return choice == 0 ? random() : choice == 1 ? small - 8 + random() % 16 : random() % small;
  };
  int ended = 0, arrived = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(meet(), RailState::up) << "seed " << seed;
    std::string stream;
    for (int i = 0; i < 20; ++i) {
      const ForgedFrame frame = ForgedFrame{.remote_offset = any(region_size),
                                            .length = static_cast<std::uint32_t>(any(600)),
                                            .number = static_cast<std::uint32_t>(random()),
                                            .region = static_cast<std::uint32_t>(random() % 32 == 0 ? random() : 0)}
                                    .checked();
      stream.append(reinterpret_cast<const char*>(&frame), sizeof frame);
      stream.append(std::min<std::size_t>(frame.length, 700), 'p');
    }
    if (round % 4 == 0) stream[random() % stream.size()] ^= static_cast<char>(1 + random() % 255);
    send(bytes_of(stream));
    for (const Completion& each : take()) {
      EXPECT_TRUE(each.kind != CompletionKind::arrived || each.length <= region.size()) << "seed " << seed;
      arrived += each.kind == CompletionKind::arrived ? 1 : 0;
    }
    ended += rail->state() == RailState::closed ? 1 : 0;
    if (rail->state() != RailState::closed) rail->close();
  }
  EXPECT_GT(ended, rounds / 2) << "seed " << seed;
  EXPECT_GT(arrived, rounds) << "nothing was tested, seed " << seed;
}

}  // namespace
}  // namespace nfx::fabric::testing
