// A process on this host that speaks the rendezvous of a rail over shared memory, and then provides memory and writes
// that no rail provides: nothing is read or written outside of regions, and nothing is allocated for it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "fabric/fabric_testing.hpp"
#include "fabric/rendezvous.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx::fabric::testing {
namespace {

constexpr std::uint32_t slots = 128;
constexpr std::size_t slot_bytes = 256, first_slot = 2 * cache_line, ring_bytes = first_slot + slots * slot_bytes;

struct ForgedCard {
  std::uint32_t slots = testing::slots;
  std::uint32_t regions = 0;
  std::array<std::uint64_t, max_regions> sizes{};
};

class Memory {
 public:
  explicit Memory(std::uint64_t size, bool sealed = true)
      : fd_(::memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(fd_, static_cast<off_t>(size)), 0);
    if (!sealed) return;
    EXPECT_EQ(::fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::close(fd_); }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] std::uint64_t allocated() const {
    struct stat facts{};
    return ::fstat(fd_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
  }

 private:
  int fd_;
};

class HostilePeer : public ::testing::Test {
 protected:
  HostilePeer() {
    region = make_region(1 << 16);
    rail = ShmRail::make({.address = {RailEnd::listens, path}, .slots = slots}).value();
    EXPECT_EQ(rail->add_region(region), RegionIndex{0});
  }
  ~HostilePeer() override {
    if (ring != nullptr) ::munmap(ring, ring_bytes);
  }

  // Runs until both cards have arrived, and some more iterations.
  RailState meet(const ForgedCard& card, const std::vector<int>& files) {
    if (rail->state() == RailState::closed) rail->open(now);
    peer.begin(std::as_bytes(std::span{&card, 1}), files);
    for (int i = 0, after = 0; i < 10000 && after < 5 && rail->state() != RailState::closed; ++i) {
      now += std::chrono::milliseconds{1};
      peer.advance(now);
      rail->maintain(now);
      after += peer.complete() ? 1 : 0;
    }
    if (peer.complete() && !peer.peer().files.empty()) {
      void* const mapped = ::mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, peer.peer().files[0], 0);
      if (mapped != MAP_FAILED) ring = static_cast<std::byte*>(mapped);
    }
    return rail->state();
  }
  template <class Value>
  void put(std::size_t at, Value value) const {
    std::memcpy(ring + at, &value, sizeof value);
  }

  const std::string path = fresh_path();
  Region region;
  std::unique_ptr<ShmRail> rail;
  Rendezvous peer{CardKind::shm, {RailEnd::connects, path}};
  MonotonicTime now{};
  std::byte* ring = nullptr;  // the rail's ring that the peer writes
};

TEST_F(HostilePeer, a_region_that_its_owner_has_not_allocated_is_not_allocated_here) {
  const Memory own_ring{ring_bytes}, hole{std::uint64_t{256} << 20};
  ForgedCard card{.regions = 1};
  card.sizes[0] = std::uint64_t{256} << 20;
  EXPECT_EQ(meet(card, {own_ring.fd(), hole.fd()}), RailState::up);
  EXPECT_LT(hole.allocated(), std::uint64_t{1} << 20);
}

TEST_F(HostilePeer, memory_that_may_shrink_or_is_smaller_than_stated_is_refused) {
  const Memory unsealed{ring_bytes, false};
  EXPECT_EQ(meet({}, {unsealed.fd()}), RailState::closed);
  const Memory small{ring_bytes - 1};
  EXPECT_EQ(meet({}, {small.fd()}), RailState::closed);
  const Memory good{ring_bytes}, little{4096};
  ForgedCard card{.regions = 1};
  card.sizes[0] = 8192;
  EXPECT_EQ(meet(card, {good.fd(), little.fd()}), RailState::closed);
}

TEST_F(HostilePeer, a_card_with_impossible_counts_is_refused) {
  const Memory good{ring_bytes};
  for (const ForgedCard& card :
       {ForgedCard{.slots = 0}, ForgedCard{.slots = 3}, ForgedCard{.slots = 1U << 31}, ForgedCard{.regions = 1},
        ForgedCard{.regions = 17}, ForgedCard{.regions = 0xffffffff}})
    EXPECT_EQ(meet(card, {good.fd()}), RailState::closed) << card.slots << ' ' << card.regions;
}

TEST_F(HostilePeer, slots_with_any_bytes_end_the_rail_or_arrive_inside_of_a_region) {
  constexpr int rounds = 200;
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random{seed};
  const Memory own_ring{ring_bytes}, own_region{1 << 16};
  ForgedCard card{.regions = 1};
  card.sizes[0] = 1 << 16;
  int ended = 0;
  for (int round = 0; round < rounds; ++round) {
    if (ring != nullptr) ::munmap(std::exchange(ring, nullptr), ring_bytes);
    ASSERT_EQ(meet(card, {own_ring.fd(), own_region.fd()}), RailState::up) << "seed " << seed;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::size_t at = first_slot + slot * slot_bytes;
      const auto any = [&random](std::uint64_t small) {
        const std::uint64_t choice = random();
        return choice % 3 == 0 ? random() : choice % 3 == 1 ? random() % small : small - 8 + random() % 16;
      };
      put(at + 8, any(1 << 16));
      put(at + 16, any(1 << 16));
      put(at + 24, static_cast<std::uint32_t>(any(216)));
      put(at + 32, static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0));
      put(at + 33, static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0));
      put(at + 34, static_cast<std::uint8_t>(random()));
      put(at, std::uint64_t{slot + 1});
    }
    if (round % 2 == 0) put(0, random());  // how much the rail has written
    for (int i = 0; i < 200 && rail->state() == RailState::up; ++i) {
      std::array<Completion, 16> space;
      for (const Completion& each : std::span{space}.first(rail->poll(space)))
        EXPECT_TRUE(each.kind != CompletionKind::arrived || each.length <= region.size());
    }
    ended += rail->state() == RailState::closed ? 1 : 0;
    if (rail->state() != RailState::closed) rail->close();
  }
  EXPECT_GT(ended, rounds / 2);
}

}  // namespace
}  // namespace nfx::fabric::testing
