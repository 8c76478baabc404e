// Fuzz target for FIX market data: after a snapshot of two instruments, one message with any content. Requires that
// books accept every event, that a message with an error changes none, and that a live book has received every entry.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz_target.hpp"
#include "market/fix_support.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/fix_feed.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.mutations = 20000};

namespace nfx::market {
namespace {

class Output final : public FeedOutput {
 public:
  void event(const Event& event) noexcept override {
    NFX_REQUIRE(static_cast<std::uint32_t>(event.instrument) < books.size());
    LevelBook& book = *books[static_cast<std::uint32_t>(event.instrument)];
    NFX_REQUIRE(book.apply(event) == Applied::done || book.anomalies() == 0);
    orders.apply(InstrumentIndex{static_cast<std::uint32_t>(event.instrument)}, event);
    NFX_REQUIRE(orders.anomalies() == 0);
    changes += event.kind == EventKind::none ? 0 : 1;
    ended = event.last();
  }
  void request_snapshot(InstrumentIndex) noexcept override {}

  LevelBook a{64}, b{64};
  std::array<LevelBook*, 2> books{&a, &b};
  OrderBooks orders{{.instruments = 2, .orders = 256, .levels = 256, .orders_expected = 64}};
  std::uint64_t changes = 0;
  bool ended = true;
};

void check(std::string_view message) {
  static Output out;
  static FixFeed feed{{.recovery = {.instruments = 2, .buffered_entries = 16}, .entries = 32, .depth = 4, .orders = 16},
                      out};
  static const bool added = feed.add("A") && feed.add("B", 2);
  static test::FixText text;
  static MessageView view{512};
  NFX_REQUIRE(added);
  const Instant now = test::at_ms(1);
  feed.disconnected(now);
  const auto begin = [&](const char* body) { NFX_REQUIRE(feed.message(text("W", body), now) == FixFeedError::none); };
  begin("55=A|83=5|268=3|269=0|270=10|271=3|269=0|270=9|271=4|269=1|270=11|271=1|");
  begin("55=B|268=2|269=0|278=17|270=10|271=3|269=1|278=x|270=12|271=4|");
  NFX_REQUIRE(feed.state(InstrumentIndex{0}) == InstrumentState::live);
  NFX_REQUIRE(feed.state(InstrumentIndex{1}) == InstrumentState::live);

  if (view.parse(message) != WireError::none) return;
  const std::uint64_t before = out.changes, misfits = feed.counters().misfits;
  const FixFeedError error = feed.message(view, now);
  NFX_REQUIRE(out.ended);
  if (error != FixFeedError::none && error != FixFeedError::unknown_symbol) NFX_REQUIRE(out.changes == before);
  const bool both_live = feed.state(InstrumentIndex{0}) == InstrumentState::live &&
                         feed.state(InstrumentIndex{1}) == InstrumentState::live;
  if (both_live) NFX_REQUIRE(feed.counters().misfits == misfits);
}

}  // namespace
}  // namespace nfx::market

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nfx::market::check(nfx::fuzz::text_of(data, size));
  return 0;
}
