// A recording of a live feed in its own folder, and its replay.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "live_support.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/recording/recording.hpp"
#include "store/disk.hpp"
#include "store/journal_flusher.hpp"
#include "temporary_folder.hpp"

namespace nfx::market::test {

class RecordedFeed {
 public:
  RecordedFeed() {
    recorder_.emplace(posix_disk(),
                      RecorderOptions{.folder = folder_.file("recording"), .ring_directory = folder_.path().string()},
                      flusher_, UtcTime{});
  }

  [[nodiscard]] Recorder& recorder() { return *recorder_; }
  // The work of the flusher's thread.
  void write(Instant now) { flusher_.turn(now); }
  // Nothing more is recorded.
  void end() { recorder_.reset(); }

  template <class Handler>
  void replay(Handler& handler) {
    (void)read_recording(recording(), [&](const RecordedPacket& packet) {
      if (const auto input = input_of(packet)) handler.take(*input);
      return true;
    });
  }
  [[nodiscard]] ReadRecordingOptions recording() const {
    return {.folder = folder_.path() / "recording", .ring_directory = folder_.path()};
  }

 private:
  nfx::test::TemporaryFolder folder_;
  JournalFlusher flusher_;
  std::optional<Recorder> recorder_;
};

// The result of a live feed.
template <class Handler>
struct LiveResult {
  const FeedBooks& books;
  const HashLog& hashes;
  const Handler& handler;
};

// Three replays of the recording have the same hashes of all books, the same counters and the same state;
// `counters(handler)` returns the counters of the feed's own parts.
template <class Handler, class Options, class Counters>
void expect_same_in_replay(RecordedFeed& recorded, const FeedBooksOptions& book_options, const Options& options,
                           const LiveResult<Handler>& live, Counters counters) {
  recorded.end();
  for (int i = 0; i < 3; ++i) {
    HashLog hashes;
    FeedBooks books{book_options, &hashes};
    NoPorts ports;
    Handler handler{options, books, ports};
    recorded.replay(handler);
    EXPECT_EQ(hashes.entries, live.hashes.entries);
    EXPECT_EQ(books.hash(), live.books.hash());
    EXPECT_EQ(books.counters(), live.books.counters());
    EXPECT_EQ(counters(handler), counters(live.handler));
    EXPECT_EQ(handler.state(), live.handler.state());
  }
}

}  // namespace nfx::market::test
