// Depth updates over a connection that loses, repeats and reorders them, with late snapshots. Whenever the book is
// live, it equals the venue's at that number. It becomes live when the connection is good again.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "market/fix_support.hpp"
#include "nexusfix/market/json_feed.hpp"

namespace nfx::market {
namespace {

using test::at_ms;

// A full book by level; every change of a level has a number, and an update holds some of them.
class Venue {
 public:
  Venue(bool names_previous, std::uint64_t seed) : names_previous_(names_previous), random_(seed) {
    states_.push_back(state());
  }

  std::string update() {
    const std::uint64_t before = states_.size() - 1;
    std::string levels[2];
    const int changes = 1 + pick(4);
    for (int i = 0; i < changes; ++i) {
      const int side = pick(2), price = side == 0 ? 100 - pick(20) : 101 + pick(20),
                size = pick(3) == 0 ? 0 : 1 + pick(50);
      if (size == 0) {
        sides_[side].erase(price);
      } else {
        sides_[side][price] = size;
      }
      levels[side] +=
          (levels[side].empty() ? "[\"" : ",[\"") + std::to_string(price) + "\",\"" + std::to_string(size) + "\"]";
      states_.push_back(state());
    }
    return R"({"e":"depthUpdate","s":"BTCUSDT","U":)" + std::to_string(before + 1) + R"(,"u":)" +
           std::to_string(states_.size() - 1) + (names_previous_ ? R"(,"pu":)" + std::to_string(before) : "") +
           R"(,"b":[)" + levels[0] + R"(],"a":[)" + levels[1] + "]}";
  }
  [[nodiscard]] std::string snapshot() const {
    std::string text = R"({"lastUpdateId":)" + std::to_string(states_.size() - 1);
    for (int side = 0; side < 2; ++side) {
      text += side == 0 ? R"(,"bids":[)" : R"(,"asks":[)";
      bool first = true;
      for (const auto& [price, size] : sides_[side]) {
        text += (first ? "[\"" : ",[\"") + std::to_string(price) + "\",\"" + std::to_string(size) + "\"]";
        first = false;
      }
      text += "]";
    }
    return text + "}";
  }
  [[nodiscard]] const std::string& state_at(std::uint64_t number) const { return states_.at(number); }

 private:
  int pick(int most) { return std::uniform_int_distribution<int>{0, most - 1}(random_); }
  [[nodiscard]] std::string state() const {
    std::string text;
    for (auto level = sides_[0].rbegin(); level != sides_[0].rend(); ++level) {
      text += std::to_string(level->first) + "x" + std::to_string(level->second) + " ";
    }
    text += "/";
    for (const auto& [price, size] : sides_[1]) text += std::to_string(price) + "x" + std::to_string(size) + " ";
    return text;
  }

  bool names_previous_;
  std::mt19937_64 random_;
  std::map<int, int> sides_[2];
  std::vector<std::string> states_;  // by number
};

void run(std::uint64_t seed, RecoveryCounters& seen) {
  std::mt19937_64 random{seed};
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>{0, most - 1}(random); };
  test::Books books{1};
  JsonFeed feed{{.recovery = {.instruments = 1, .buffered_entries = 60}}, books};
  const InstrumentIndex index = *feed.add("BTCUSDT", JsonBook::depth, 0);
  Venue venue{seed % 2 == 0, random()};
  struct Sent {
    bool is_snapshot;
    std::string text;
  };
  std::deque<Sent> channel;
  for (int step = 0; step < 500; ++step) {
    const int loss = step >= 400 ? 0 : seed % 3 == 0 ? 20 : 3;
    const std::int64_t now = step < 400 ? step * 10 : step * 500;
    Sent update{false, venue.update()};
    if (pick(100) < loss) channel.push_back(update);
    if (pick(100) >= loss) channel.push_back(update);
    feed.tick(at_ms(now).monotonic);
    for (std::size_t i = 0; i < books.requests.size(); ++i) {
      if (pick(100) >= loss) channel.push_back({true, venue.snapshot()});
    }
    books.requests.clear();
    if (channel.size() >= 2 && pick(100) < loss) std::swap(channel.back(), channel[channel.size() - 2]);
    const std::size_t most = loss == 0 ? 0 : static_cast<std::size_t>(pick(6));
    while (channel.size() > most) {
      const std::size_t which = pick(100) < loss ? static_cast<std::size_t>(pick(static_cast<int>(channel.size()))) : 0;
      const Sent got = channel[which];
      channel.erase(channel.begin() + static_cast<std::ptrdiff_t>(which));
      const std::string_view text{got.text};
      ASSERT_EQ(got.is_snapshot ? feed.snapshot(index, text, at_ms(now)) : feed.message(text, at_ms(now)),
                JsonError::none)
          << text;
      if (feed.state(index) != InstrumentState::live) continue;
      ASSERT_EQ(books.text_of(0, Side::bid) + "/" + books.text_of(0, Side::ask), venue.state_at(*feed.position(index)))
          << text;
    }
  }
  EXPECT_EQ(feed.state(index), InstrumentState::live);
  add_counters(seen, feed.recovery_counters());
}

TEST(JsonStorm, a_live_book_is_always_the_venues_and_recovers) {
  if (!has_json_reader()) GTEST_SKIP() << "needs libsimdjson-dev";
  RecoveryCounters seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(seed, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.gaps, 0u);
  EXPECT_GT(seen.late, 0u);
  EXPECT_GT(seen.duplicates, 0u);
  EXPECT_GT(seen.snapshots_too_old, 0u);
  EXPECT_EQ(seen.lost, 0u);
}

}  // namespace
}  // namespace nfx::market
