// The list of feeds.
#include "market/feeds.hpp"

#include <algorithm>
#include <array>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::app::market {

extern const FeedRow itch_feed, websocket_feed, fix_feed;

namespace {
constexpr std::array rows{&itch_feed, &websocket_feed, &fix_feed};
}

std::vector<std::string_view> feed_names() {
  std::vector<std::string_view> names;
  for (const FeedRow* row : rows) names.push_back(row->name);
  return names;
}

const FeedRow& feed_named(std::string_view name) noexcept {
  const auto row = std::ranges::find(rows, name, [](const FeedRow* each) { return each->name; });
  NFX_REQUIRE(row != rows.end());
  return **row;
}

std::string feed_help(std::string_view FeedRow::* text) {
  std::string help;
  for (const FeedRow* row : rows) {
    if (!help.empty()) help += "; ";
    help.append(row->name).append(": ").append(row->*text);
  }
  return help;
}

FeedDescription describe_names(const LiveOptions& options, std::string_view example, std::uint32_t scale) {
  if (options.names.empty())
    throw ConfigError("--name is needed for --feed " + options.feed + ": write --name " + std::string{example});
  return {.feed = options.feed, .scale = options.scale.value_or(scale), .names = options.names};
}

}  // namespace nfx::app::market
