// What a run received, given to the same handlers at the same times.
#include "t2m/replay.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "market/description_words.hpp"
#include "market/feed_description.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/recording/recording.hpp"
#include "t2m/reader.hpp"
#include "t2m/run.hpp"

namespace nfx::app::t2m {
namespace {

using namespace nfx::market;

class Replay {
 public:
  explicit Replay(const Described& of)
      : options_(options_of(of)),
        messages_(with_midnight(options_, of.midnight)),
        reader_(options_, messages_, nullptr) {
    const app::market::FeedDescription description{.feed = std::string{row_of(of.feed).name},
                                                   .scale = of.feed == FeedKind::ws ? 8u : 0u,
                                                   .tickers = of.feed == FeedKind::ws,
                                                   .names = names_of(of.feed, of.names)};
    if (of.feed == FeedKind::ws) websocket_.emplace(description.websocket(), reader_.path(), ports_);
    if (of.feed == FeedKind::fix) fix_.emplace(description.fix(), reader_.path(), ports_);
  }

  void take(const RecordedPacket& packet) {
    const auto input = input_of(packet);
    if (!input) return;
    if (input->line == session_line) return of_session(*input);
    if (websocket_) {
      give(*websocket_, *input);
    } else if (fix_) {
      give(*fix_, *input);
    } else {
      reader_.path().packet(std::as_bytes(std::span{input->bytes}), input->at, now_);
    }
  }
  [[nodiscard]] Reader& reader() noexcept { return reader_; }

 private:
  static RunOptions options_of(const Described& of) {
    RunOptions options;
    options.messages.feed = of.feed;
    options.messages.names = of.names;
    options.messages.messages = 100;  // of which only the symbols matter
    return options;
  }
  static Messages with_midnight(const RunOptions& options, UtcTime midnight) {
    Messages messages{options.messages};
    messages.set_midnight(midnight);
    return messages;
  }
  template <class Handler>
  void give(Handler& handler, const FeedInput& input) {
    if (input.kind == InputKind::received) reader_.path().input_begins(input.at, now_, handler.state());
    handler.take(input);
  }
  void of_session(const FeedInput& input) {
    switch (input.kind) {
      case InputKind::clock:
        reader_.path().tick(now_);  // of the poll that ends with it
        now_ = reader_.at(input.at);
        return;
      case InputKind::received:
        if (view_.parse(input.bytes) == WireError::none) (void)reader_.session_message(view_, input.at);
        return;
      case InputKind::opened: return reader_.orders().replay(true);
      case InputKind::closed: return reader_.orders().replay(false);
      case InputKind::datagram: return;
    }
  }

  RunOptions options_;
  Messages messages_;
  Reader reader_;
  NoPorts ports_;
  std::optional<WebsocketHandler> websocket_;
  std::optional<FixHandler> fix_;
  MessageView view_;
  Instant now_{};
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
  std::unique_ptr<Replay> replay;
  const RecordingScan scan = read_recording({.folder = recording}, [&](const RecordedPacket& packet) {
    if (!replay && packet.kind == RecordingKind::line && packet.from.line == session_line) {
      if (const auto of = read_description(packet.bytes)) {
        replay = std::make_unique<Replay>(*of);
        result.feed = of->feed;
      }
    }
    if (replay) replay->take(packet);
    ++result.inputs;
    return true;
  });
  if (!replay) throw ConfigError(recording + ": not a recording of 'nfx t2m run --record'");
  result.orders = replay->reader().orders().count();
  result.order_hash = replay->reader().orders().hash();
  result.book_hash = replay->reader().path().book_hash();
  result.complete = scan.end == RecordingEnd::closed && scan.missing == 0;
  result.end = scan.reason;
  return result;
}

}  // namespace nfx::app::t2m
