// Fuzz target for the JSON of crypto venues. Requires that simdjson reads the same values as the scan, and that a feed
// gives only events with sides and defined prices.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "fuzz_target.hpp"
#include "market/json_fields.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/json_feed.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text};

namespace nfx::market {
namespace {

constexpr JsonLimits limits{.message_size = 1024, .levels = 16};

class Output final : public FeedOutput {
 public:
  void event(const Event& event) noexcept override {
    NFX_REQUIRE(static_cast<std::uint32_t>(event.instrument) < 2);
    if (event.kind == EventKind::level_set) NFX_REQUIRE(event.side != Side::none);
    if (event.kind == EventKind::level_set || event.kind == EventKind::trade) NFX_REQUIRE(event.price.defined());
  }
  void request_snapshot(InstrumentIndex) noexcept override {}
};

bool same(const JsonLevel& a, const JsonLevel& b) { return a.price == b.price && a.quantity == b.quantity; }

void check(std::string_view text) {
  static const std::unique_ptr<JsonReader> fast = make_json_reader(limits), slow = make_json_reader(limits);
  static JsonFields fields{limits.levels};
  static Output out;
  static JsonFeed feed{{.recovery = {.instruments = 2, .buffered_entries = 64}, .limits = limits}, out};
  static const bool added = feed.add("BTCUSDT", JsonBook::depth) && feed.add("BNBUSDT", JsonBook::ticker);
  NFX_REQUIRE(added);
  JsonMessage a, b;
  const JsonError read = fast->read(text, a);
  const JsonError again = slow->read_slowly(text, b);
  NFX_REQUIRE(read == again);
  if (read == JsonError::none) {
    NFX_REQUIRE(a.kind == b.kind && a.symbol == b.symbol && a.first == b.first && a.last == b.last);
    NFX_REQUIRE(a.previous == b.previous && a.time_ns == b.time_ns && a.buyer_is_maker == b.buyer_is_maker);
    NFX_REQUIRE(same(a.bid, b.bid) && same(a.ask, b.ask));
    NFX_REQUIRE(a.bids.size() == b.bids.size() && a.asks.size() == b.asks.size());
    for (std::size_t i = 0; i < a.bids.size(); ++i) NFX_REQUIRE(same(a.bids[i], b.bids[i]));
    for (std::size_t i = 0; i < a.asks.size(); ++i) NFX_REQUIRE(same(a.asks[i], b.asks[i]));
  }
  feed.message(text, {});
  feed.snapshot(InstrumentIndex{0}, text, {});
}

}  // namespace
}  // namespace nfx::market

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!nfx::market::has_json_reader()) return 0;
  // An allocation of the exact size, so that the address sanitizer detects every read outside of it.
  const std::unique_ptr<char[]> copy{new char[size]};
  if (size != 0) std::memcpy(copy.get(), data, size);
  nfx::market::check({copy.get(), size});
  return 0;
}
