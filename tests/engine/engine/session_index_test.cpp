// Look-ups by names and by number, with keys that differ in one name only.
#include "engine/session_index.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx {
namespace {

constexpr SessionKey key{.listen = "127.0.0.1:9878", .begin_string = "FIX.4.4", .ours = "VENUE", .peers = "CLIENT"};

TEST(SessionIndex, finds_what_was_added_by_any_copy_of_its_names) {
  SessionIndex index;
  EXPECT_TRUE(index.add(key, 7));
  const std::string peers = "CLIENT and more";
  SessionKey asked = key;
  asked.peers = std::string_view{peers}.substr(0, 6);
  EXPECT_EQ(index.find(asked), 7U);
}

TEST(SessionIndex, tells_sessions_apart_by_each_of_their_names) {
  SessionIndex index;
  ASSERT_TRUE(index.add(key, 7));
  for (std::string_view SessionKey::* const part :
       {&SessionKey::listen, &SessionKey::begin_string, &SessionKey::ours, &SessionKey::peers}) {
    SessionKey other = key;
    other.*part = "X";
    EXPECT_EQ(index.find(other), std::nullopt);
  }
  // The same bytes in a row, cut elsewhere.
  SessionKey shifted = key;
  shifted.ours = "VENUEC";
  shifted.peers = "LIENT";
  EXPECT_EQ(index.find(shifted), std::nullopt);
}

TEST(SessionIndex, keeps_the_first_of_the_same_names_and_its_own_copy_of_them) {
  SessionIndex index;
  std::string peers = "CLIENT";
  SessionKey own = key;
  own.peers = peers;
  EXPECT_TRUE(index.add(own, 1));
  peers = "??????";
  EXPECT_FALSE(index.add(key, 2));
  EXPECT_EQ(index.find(key), 1U);
}

TEST(SessionIndex, forgets_what_is_removed) {
  SessionIndex index;
  ASSERT_TRUE(index.add(key, 1));
  EXPECT_TRUE(index.remove(key));
  EXPECT_FALSE(index.remove(key));
  EXPECT_EQ(index.find(key), std::nullopt);
}

TEST(SessionIndex, finds_ten_thousand_sessions_by_number_and_by_name) {
  SessionIndex index;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const std::string peers = "CLIENT" + std::to_string(i);
    SessionKey each = key;
    each.peers = peers;
    ASSERT_TRUE(index.add(each, i));
    ASSERT_TRUE(index.add(std::size_t{i} * 1000, i));
  }
  EXPECT_FALSE(index.add(std::size_t{1000}, 5));
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const std::string peers = "CLIENT" + std::to_string(i);
    SessionKey each = key;
    each.peers = peers;
    ASSERT_EQ(index.find(each), i);
    ASSERT_EQ(index.find(std::size_t{i} * 1000), i);
  }
  EXPECT_TRUE(index.remove(std::size_t{1000}));
  EXPECT_EQ(index.find(std::size_t{1000}), std::nullopt);
}

}  // namespace
}  // namespace nfx
