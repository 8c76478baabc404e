// One of three handlers, given what was recorded.
#include "market/feed_replay.hpp"

#include <chrono>
#include <variant>

#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/live/itch_handler.hpp"

namespace nfx::app::market {

using namespace nfx::market;

std::string hexadecimal(std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; number >>= 4) text[i] = digits[number & 15];
  return text;
}

void HashLines::hashed(std::uint64_t events, std::uint64_t hash) noexcept {
  text.add("{} events: books {}\n", events, hexadecimal(hash));
}

struct FeedReplay::Parts {
  using Itch = ItchHandler<FeedBooks>;

  Parts(const FeedDescription& description, std::uint64_t every) : books(description.books(every), &lines) {
    if (description.feed == "itch") handler.emplace<Itch>(description.itch(), books, ports);
    if (description.feed == "ws") handler.emplace<WebsocketHandler>(description.websocket(), books, ports);
    if (description.feed == "fix") handler.emplace<FixHandler>(description.fix(), books, ports);
  }

  template <class Use>
  void use(Use&& with) {
    std::visit(
        [&]<class Handler>(Handler& which) {
          if constexpr (!std::is_same_v<Handler, std::monostate>) with(which);
        },
        handler);
  }

  NoPorts ports;
  HashLines lines;
  FeedBooks books;
  std::variant<std::monostate, Itch, WebsocketHandler, FixHandler> handler;
};

FeedReplay::FeedReplay(std::string feed, std::uint64_t every) : feed_(std::move(feed)), every_(every) {}
FeedReplay::~FeedReplay() = default;

void FeedReplay::begin(const FeedDescription& description) {
  if (description.feed != feed_) {
    throw ConfigError("--feed " + feed_ + ": this is a recording of the feed " + description.feed + "; give --feed " +
                      description.feed);
  }
  parts_ = std::make_unique<Parts>(description, every_);
}

void FeedReplay::take(const RecordedPacket& packet, SafeText& out) {
  if (packet.kind == RecordingKind::line) {
    if (packet.from.line != FeedDescription::line || parts_) return;
    if (const auto description = FeedDescription::read(packet.bytes)) begin(*description);
    return;
  }
  const auto input = input_of(packet);
  if (!input) {
    ++left_out_;
    return;
  }
  if (!parts_) {
    if (feed_ != "itch") {
      throw ConfigError("--feed " + feed_ +
                        ": the recording does not name its instruments; 'nfx market live' "
                        "records feeds of this kind");
    }
    // Datagrams that 'nfx market record' recorded.
    begin({.feed = "itch", .midnight = std::chrono::floor<std::chrono::days>(packet.from.at)});
  }
  parts_->use([&](auto& handler) { handler.take(*input); });
  if (parts_->lines.text.empty()) return;
  out += parts_->lines.text;
  parts_->lines.text.clear();
}

void FeedReplay::print_end(SafeText& out) {
  if (!parts_) {
    out += "no packet of a feed\n";
    return;
  }
  std::string_view state = "waiting";
  parts_->use([&](auto& handler) { state = to_string(handler.state()); });
  out.add("{} events of {} instruments, {} packets left out; the feed is {}; books {}\n",
          parts_->books.counters().events, parts_->books.instruments().size(), left_out_, state,
          hexadecimal(parts_->books.hash()));
}

}  // namespace nfx::app::market
