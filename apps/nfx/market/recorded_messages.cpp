// A replay that collects texts.
#include "market/recorded_messages.hpp"

#include <optional>

#include "market/feed_description.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/recording/recording.hpp"

namespace nfx::app::market {

using namespace nfx::market;

namespace {

class Collector final : public WebsocketTap {
 public:
  explicit Collector(RecordedMessages& out) : out_(out) {}

  void message(std::string_view text, UtcTime) override {
    constexpr std::string_view data = "\"data\":";
    if (const std::size_t at = text.find(data); text.starts_with("{\"stream\":") && at != text.npos) {
      text = text.substr(at + data.size(), text.size() - at - data.size() - 1);
    }
    constexpr std::string_view symbol = "\"s\":\"";
    const std::size_t begin = text.find(symbol);
    if (begin == text.npos) return;
    const std::size_t name = begin + symbol.size();
    out_.messages.push_back({std::string{text.substr(name, text.find('"', name) - name)}, std::string{text}});
  }
  void snapshot(std::string_view symbol, std::string_view body) override {
    out_.snapshots.try_emplace(std::string{symbol}, body);
  }

 private:
  RecordedMessages& out_;
};

struct NoEvents {
  void event(const Event&) noexcept {}
};

}  // namespace

RecordedMessages read_messages(const std::string& folder, const std::string& ring_directory, std::uint64_t most) {
  RecordedMessages out;
  Collector collector{out};
  NoEvents events;
  NoPorts ports;
  std::optional<WebsocketHandler> handler;
  (void)read_recording({.folder = folder, .ring_directory = ring_directory, .from = 0},
                       [&](const RecordedPacket& packet) {
                         if (packet.kind == RecordingKind::line && packet.from.line == FeedDescription::line) {
                           const auto description = FeedDescription::read(packet.bytes);
                           if (handler || !description || description->feed != "ws") return true;
                           out.names = description->names;
                           WebsocketFeedOptions options = description->websocket();
                           options.tap = &collector;
                           handler.emplace(options, events, ports);
                         }
                         const auto input = input_of(packet);
                         if (handler && input) handler->take(*input);
                         return out.messages.size() < most;
                       });
  if (!handler) {
    throw ConfigError("--recording: " + folder +
                      " is not a recording of a websocket; 'nfx market live --feed ws --record' makes one");
  }
  return out;
}

}  // namespace nfx::app::market
