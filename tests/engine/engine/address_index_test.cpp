// The index finds what a list that is searched linearly finds, in the same order of use.
#include "engine/address_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace nfx::test {
namespace {

PeerAddress address(std::uint32_t number) {
  PeerAddress made;
  made.bytes[3] = static_cast<std::uint8_t>(number >> 8);
  made.bytes[7] = static_cast<std::uint8_t>(number);
  made.bytes[0] = 0x20;
  return made;
}

using Place = AddressIndex::Place;

std::optional<Place> place_in(const std::vector<std::pair<PeerAddress, Place>>& list, const PeerAddress& wanted) {
  const auto found = std::ranges::find(list, wanted, &std::pair<PeerAddress, Place>::first);
  return found == list.end() ? std::nullopt : std::optional{found->second};
}

TEST(AddressIndex, finds_what_a_list_finds_and_keeps_its_order) {
  constexpr std::size_t capacity = 37;
  AddressIndex index{capacity};
  std::vector<std::pair<PeerAddress, Place>> list;  // the one used last is the last
  std::mt19937 random{7};
  for (int step = 0; step < 20'000; ++step) {
    const PeerAddress wanted = address(static_cast<std::uint32_t>(random() % 60));
    const auto found = index.find(wanted);
    ASSERT_EQ(found, place_in(list, wanted)) << "step " << step;
    if (!found && index.full()) {
      ASSERT_EQ(index.oldest(), list.front().second);
      index.erase(list.front().second);
      list.erase(list.begin());
    }
    if (!found) {
      list.emplace_back(wanted, index.insert(wanted));
      EXPECT_LT(list.back().second, capacity);
    } else {
      const auto at = std::ranges::find(list, *found, &std::pair<PeerAddress, Place>::second);
      if (random() % 4 == 0) {
        index.erase(*found);
        list.erase(at);
      } else {
        index.use(*found);
        std::rotate(at, at + 1, list.end());
      }
    }
    ASSERT_EQ(index.size(), list.size());
    auto in_order = index.oldest();
    for (const auto& [_, place] : list) {
      ASSERT_EQ(in_order, place) << "step " << step;
      in_order = index.used_after(place);
    }
    ASSERT_EQ(in_order, std::nullopt);
  }
}

TEST(AddressIndex, without_places_finds_nothing) {
  const AddressIndex index{0};
  EXPECT_TRUE(index.full());
  EXPECT_EQ(index.find(address(1)), std::nullopt);
  EXPECT_EQ(index.oldest(), std::nullopt);
}

}  // namespace
}  // namespace nfx::test
