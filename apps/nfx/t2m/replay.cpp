// Gives the input of a run to the same handlers at the same times.
#include "t2m/replay.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "market/description_words.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/session_trader.hpp"
#include "nexusfix/recording/recording.hpp"
#include "t2m/feeds.hpp"
#include "t2m/run.hpp"

namespace nfx::app::t2m {
namespace {

using namespace nfx::market;

class AnyReplay {
 public:
  virtual ~AnyReplay() = default;
  virtual void take(const RecordedPacket& packet) = 0;
  virtual void add_to(ReplayResult& result) const = 0;
};

template <class Feed>
class Replay final : public AnyReplay {
 public:
  Replay(const Described& of, const Feed& feed)
      : trader_(feed, trader_options(of.feed, of.names), ReplayVenue{}, NoObserver{}, SlowModel{}, quotes(of.feed)) {}

  void take(const RecordedPacket& packet) override { replay_.take(packet); }
  void add_to(ReplayResult& result) const override {
    const auto& sent = trader_.pipeline().gate().counters();
    result.orders = sent.orders + sent.replacements + sent.cancels;
    result.order_hash = hash_of(trader_.sent());
    result.book_hash = trader_.book_hash();
  }

 private:
  RunTrader<Feed, ReplayVenue, NoObserver> trader_;
  TraderReplay<RunTrader<Feed, ReplayVenue, NoObserver>> replay_{trader_};
};

}  // namespace

std::string describe(const MessageOptions& messages, UtcTime midnight) {
  return "t2m " + std::string{row_of(messages.feed).name} + ' ' + std::to_string(messages.names) + ' ' +
         std::to_string(midnight.time_since_epoch().count());
}

std::optional<Described> read_description(std::string_view text) {
  if (market::word_of(text) != "t2m") return std::nullopt;
  Described made;
  const auto feed = std::ranges::find(feed_kinds, market::word_of(text));
  std::int64_t midnight = 0;
  if (feed == feed_kinds.end() || !market::read_number(market::word_of(text), made.names) ||
      !market::read_number(text, midnight))
    return std::nullopt;
  made.feed = static_cast<FeedKind>(feed - feed_kinds.begin());
  made.midnight = UtcTime{Duration{midnight}};
  return made;
}

ReplayResult replay(const std::string& recording) {
  ReplayResult result;
  std::unique_ptr<AnyReplay> replay;
  const RecordingScan scan = read_recording({.folder = recording}, [&](const RecordedPacket& packet) {
    if (!replay && packet.kind == RecordingKind::line && packet.from.line == session_line) {
      if (const auto of = read_description(packet.bytes)) {
        replay = with_feed(of->feed, of->names, of->midnight, [&](auto feed) -> std::unique_ptr<AnyReplay> {
          return std::make_unique<Replay<decltype(feed)>>(*of, feed);
        });
        result.feed = of->feed;
      }
    }
    if (replay) replay->take(packet);
    ++result.inputs;
    return true;
  });
  if (!replay) throw ConfigError(recording + ": is not a recording of 'nfx t2m run --record'");
  replay->add_to(result);
  result.complete = scan.end == RecordingEnd::closed && scan.missing == 0;
  result.end = scan.reason;
  return result;
}

}  // namespace nfx::app::t2m
