// Replays a recorded feed to order books, through the code of a live feed: framing, recovery and books. Time comes from
// the recording.
// Thread: one owner. Cost: as the feed and its books. Errors: network problems are the feed's state and counters;
// ConfigError if the recording is of another feed. No requests are made; snapshots come from the recording.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "log/print.hpp"
#include "market/feed_description.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::app::market {

struct FeedRow;

// "1000 events: books 0123456789abcdef"
class HashLines final : public nfx::market::BookHashes {
 public:
  void hashed(std::uint64_t events, std::uint64_t hash) noexcept override;
  SafeText text;
};

class FeedReplay {
 public:
  // `feed` is a feed's name. The hash of all books is printed again after every `every` events.
  FeedReplay(const std::string& feed, std::uint64_t every);
  ~FeedReplay();

  void take(const nfx::market::RecordedPacket& packet, SafeText& out);
  void print_end(SafeText& out);

 private:
  struct Parts;
  void begin(const FeedDescription& description);

  const FeedRow& row_;
  std::uint64_t every_;
  std::unique_ptr<Parts> parts_;
  std::uint64_t left_out_ = 0;
};

}  // namespace nfx::app::market
