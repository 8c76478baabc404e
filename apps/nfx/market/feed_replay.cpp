// Passes a recording to a feed's handler.
#include "market/feed_replay.hpp"

#include <chrono>

#include "base/text.hpp"
#include "market/feeds.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::app::market {

using namespace nfx::market;

void HashLines::hashed(std::uint64_t events, std::uint64_t hash) noexcept {
  text.add("{} events: books {}\n", events, hexadecimal(hash));
}

struct FeedReplay::Parts {
  Parts(const FeedRow& row, const FeedDescription& description, std::uint64_t every)
      : books(row.books(description, every), &lines), feed(row.replay(description, books)) {}

  HashLines lines;
  FeedBooks books;
  std::unique_ptr<ReplayedFeed> feed;
};

FeedReplay::FeedReplay(const std::string& feed, std::uint64_t every) : row_(feed_named(feed)), every_(every) {}
FeedReplay::~FeedReplay() = default;

void FeedReplay::begin(const FeedDescription& description) {
  if (description.feed != row_.name) {
    throw ConfigError("--feed " + std::string{row_.name} + ": this is a recording of the feed " + description.feed +
                      "; give --feed " + description.feed);
  }
  parts_ = std::make_unique<Parts>(row_, description, every_);
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
    if (!row_.datagrams) {
      throw ConfigError("--feed " + std::string{row_.name} +
                        ": the recording does not name its instruments; 'nfx market live' "
                        "records feeds of this kind");
    }
    // Datagrams recorded by 'nfx market record'.
    begin({.feed = std::string{row_.name}, .midnight = std::chrono::floor<std::chrono::days>(packet.from.at)});
  }
  parts_->feed->take(*input);
  if (parts_->lines.text.empty()) return;
  out += parts_->lines.text;
  parts_->lines.text.clear();
}

void FeedReplay::print_end(SafeText& out) {
  if (!parts_) {
    out += "no packet of a feed\n";
    return;
  }
  out.add("{} events of {} instruments, {} packets left out; the feed is {}; books {}\n",
          parts_->books.counters().events, parts_->books.instruments().size(), left_out_,
          to_string(parts_->feed->state()), hexadecimal(parts_->books.hash()));
}

}  // namespace nfx::app::market
