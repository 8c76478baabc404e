// Instruments that a handler cannot have are refused by name, before anything is connected.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "market/mold_packets.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::market {
namespace {

template <class Handler, class Options>
std::string refusal(const Options& options) {
  NoPorts ports;
  FeedBooks books{{.limits = {.instruments = 8}}};
  try {
    const Handler handler{options, books, ports};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

std::string by_fix(const std::vector<std::string>& symbols) {
  FixHandlerOptions options;
  for (const std::string& symbol : symbols) options.instruments.push_back({symbol, 0});
  return refusal<FixHandler>(options);
}

std::string by_websocket(const std::vector<std::string>& symbols) {
  WebsocketFeedOptions options;
  options.host = options.snapshot_host = "venue";
  for (const std::string& symbol : symbols) options.instruments.push_back({symbol});
  return refusal<WebsocketHandler>(options);
}

std::string by_itch(const std::vector<std::string>& symbols) {
  return refusal<ItchHandler<FeedBooks>>(ItchHandlerOptions{{}, symbols});
}

TEST(HandlerOptions, have_each_instrument_once) {
  for (const auto& with : {by_fix, by_websocket, by_itch}) {
    EXPECT_EQ(with({"ALFA", "BRAV"}), "accepted");
    EXPECT_EQ(with({"ALFA", "BRAV", "ALFA"}), "duplicate symbol \"ALFA\"; name each instrument once");
  }
}

TEST(HandlerOptions, have_symbols_that_a_feed_can_have) {
  for (const auto& with : {by_fix, by_websocket}) {
    EXPECT_NE(with({""}).find("the symbol \"\" is empty"), std::string::npos);
    EXPECT_EQ(with({std::string(31, 'x')}), "accepted");
    EXPECT_NE(with({std::string(32, 'x')}).find("longer than 31 characters"), std::string::npos);
  }
}

TEST(HandlerOptions, have_stocks_whose_symbols_fit_into_itch) {
  EXPECT_NE(by_itch({"AAPL", ""}).find("the symbol \"\" is empty"), std::string::npos);
  EXPECT_NE(by_itch({"NINECHARS"}).find("longer than 8 characters"), std::string::npos);
  EXPECT_EQ(by_itch({}), "accepted") << "all stocks";
}

struct Instruments {
  void event(const Event& event) { seen.push_back(std::to_underlying(event.instrument)); }
  std::vector<std::uint32_t> seen;
};

// Locate codes are the directory's, also when another session's directory comes first.
TEST(ItchHandlerOptions, number_the_events_of_the_stocks_that_are_named) {
  NoPorts ports;
  Instruments out;
  ItchHandler<Instruments> handler{{{}, {"BBB", "CCC"}}, out, ports};
  std::uint64_t sequence = 1;
  const auto take = [&](const auto& message) {
    const auto packet = test::mold_packet(test::session_of("ONE"), sequence++,
                                          std::vector{std::span<const std::byte>{message.bytes()}});
    handler.take({.kind = InputKind::datagram,
                  .line = ItchLines::a,
                  .at = UtcTime{Duration{std::int64_t(sequence)}},
                  .bytes = {reinterpret_cast<const char*>(packet.data()), packet.size()}});
  };
  const auto directory = [&](std::uint16_t locate, std::string_view symbol) {
    take(itch::Message<itch::StockDirectory>{locate, 0}.set(itch::StockDirectory::stock, symbol));
  };
  const auto trading = [&](std::initializer_list<std::uint16_t> locates) {
    for (const std::uint16_t locate : locates)
      take(itch::Message<itch::TradingAction>{locate, 0}.set(itch::TradingAction::state, 'T'));
  };
  trading({3});  // not in the directory yet
  directory(1, "AAA");
  directory(2, "BBB");
  directory(3, "CCC");
  trading({1, 2, 3});
  EXPECT_EQ(out.seen, (std::vector<std::uint32_t>{0, 1}));
  out.seen.clear();
  directory(2, "DDD");
  directory(9, "BBB");
  trading({2, 9, 3});
  EXPECT_EQ(out.seen, (std::vector<std::uint32_t>{0, 1}));
  out.seen.clear();
  take(itch::Message<itch::SystemEvent>{0, 0}.set(itch::SystemEvent::event, 'Q'));
  EXPECT_EQ(out.seen, (std::vector<std::uint32_t>{0, 1})) << "of the whole market: one for each stock";
}

}  // namespace
}  // namespace nfx::market
