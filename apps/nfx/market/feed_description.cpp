// Writes and parses a description, and derives options from it.
#include "market/feed_description.hpp"

#include <algorithm>
#include <array>

#include "market/description_words.hpp"

namespace nfx::app::market {

using namespace nfx::market;

std::string FeedDescription::text() const {
  std::string out = "feed " + feed + " midnight " + std::to_string(midnight.time_since_epoch().count()) + " scale " +
                    std::to_string(scale) + " book " + (tickers ? "ticker" : "depth") + " names ";
  for (const std::string& name : names) out += (&name == names.data() ? "" : ",") + name;
  return out;
}

std::optional<FeedDescription> FeedDescription::read(std::string_view text) {
  FeedDescription made;
  std::int64_t midnight = 0;
  if (word_of(text) != "feed") return std::nullopt;
  made.feed = word_of(text);
  if (word_of(text) != "midnight" || !read_number(word_of(text), midnight)) return std::nullopt;
  if (word_of(text) != "scale" || !read_number(word_of(text), made.scale)) return std::nullopt;
  if (word_of(text) != "book") return std::nullopt;
  made.tickers = word_of(text) == "ticker";
  if (word_of(text) != "names") return std::nullopt;
  made.midnight = UtcTime{Duration{midnight}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    made.names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return made;
}

WebsocketFeedOptions FeedDescription::websocket() const {
  WebsocketFeedOptions options;
  options.host = options.snapshot_host = "replay";
  for (const std::string& name : names) {
    options.instruments.push_back({name, tickers ? JsonBook::ticker : JsonBook::depth, scale});
  }
  return options;
}

FixHandlerOptions FeedDescription::fix() const {
  FixHandlerOptions options;
  for (const std::string& name : names) options.instruments.push_back({name, scale});
  options.feed.orders = 1u << 18;
  return options;
}

}  // namespace nfx::app::market
