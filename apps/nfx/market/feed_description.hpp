// Describes the feed of a recording for a replay: its kind, its instruments, and its books. The recording contains it
// as text on a separate line: "feed ws midnight 0 scale 8 book depth names BTCUSDT,ETHUSDT".
// Thread: any, values. Errors: nothing for another text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/time.hpp"
#include "nexusfix/live/fix_handler.hpp"
#include "nexusfix/live/websocket_handler.hpp"

namespace nfx::app::market {

struct FeedDescription {
  static constexpr std::uint16_t line = 0xFFFF;  // number of the line in the recording

  std::string feed = {};  // its name
  UtcTime midnight{};
  std::uint32_t scale = 0;
  bool tickers = false;
  std::vector<std::string> names = {};

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<FeedDescription> read(std::string_view text);

  // The options of handlers, identical live and in a replay.
  [[nodiscard]] nfx::market::WebsocketFeedOptions websocket() const;
  [[nodiscard]] nfx::market::FixHandlerOptions fix() const;
};

}  // namespace nfx::app::market
