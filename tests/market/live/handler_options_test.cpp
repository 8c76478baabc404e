// Instruments that a handler cannot have are refused by name, before anything is connected.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "nexusfix/live/fix_handler.hpp"
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

TEST(HandlerOptions, have_each_instrument_once) {
  for (const auto& with : {by_fix, by_websocket}) {
    EXPECT_EQ(with({"ALFA", "BRAV"}), "accepted");
    EXPECT_EQ(with({"ALFA", "BRAV", "ALFA"}), "the symbol \"ALFA\" is given twice; name each instrument once");
  }
}

TEST(HandlerOptions, have_symbols_that_a_feed_can_have) {
  for (const auto& with : {by_fix, by_websocket}) {
    EXPECT_NE(with({""}).find("the symbol \"\" is empty"), std::string::npos);
    EXPECT_EQ(with({std::string(31, 'x')}), "accepted");
    EXPECT_NE(with({std::string(32, 'x')}).find("longer than 31 characters"), std::string::npos);
  }
}

}  // namespace
}  // namespace nfx::market
