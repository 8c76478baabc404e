// The feeds of `nfx market`: one row each, used by live, publish, replay and their help. To add a feed, add its parser
// and handler to the library, a file here with its row, like feed_fix.cpp, and its name in feeds.cpp.
// Thread: any one. Errors: the functions that create a feed throw ConfigError for wrong options, and UdpError, TlsError
// or std::runtime_error for failures of this host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "market/feed_description.hpp"
#include "market/running_feed.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "output.hpp"

namespace nfx::app::market {

struct PublishOptions {
  std::string feed;
  std::vector<std::string> lines;
  std::string rerequest = "127.0.0.1:0";
  std::string snapshot = "127.0.0.1:0";
  std::string listen = "127.0.0.1:0";
  std::string recording;
  std::string ring_directory = "/dev/shm";
  std::string certificate;
  std::string key;
  std::uint64_t messages = 100'000;
  std::uint32_t names = 4;
  std::uint64_t seed = 1;
  double rate = 10'000;
  std::uint32_t wait_for = 1;
  std::uint32_t lost = 0;
  std::uint32_t duplicated = 0;
  std::uint32_t reordered = 0;
};

// One kind of venue, which publishes a message per call.
class Publishing {
 public:
  virtual ~Publishing() = default;
  // False if there is nothing more.
  virtual bool publish(Instant now) = 0;
  virtual void flush(Instant) {}
  // There is nothing more: ends the connections that subscribers wait on.
  virtual void published(Instant) {}
  // Answers requests; waits for them up to `longest`.
  virtual void serve(Instant now, Duration longest) = 0;
  [[nodiscard]] virtual bool ready(std::uint32_t subscribers) const = 0;
  virtual void end(Instant now) = 0;
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
  [[nodiscard]] virtual SafeText start_text() const = 0;
  virtual void print_end(SafeText& out) const = 0;
};

// A feed's handler for a recording. It sends nothing.
class ReplayedFeed {
 public:
  virtual ~ReplayedFeed() = default;
  virtual void take(const nfx::market::FeedInput& input) = 0;
  [[nodiscard]] virtual nfx::market::FeedState state() const = 0;
};

template <nfx::market::FeedHandler Handler>
class ReplayedHandler final : public ReplayedFeed {
 public:
  template <class Options>
  ReplayedHandler(const Options& options, nfx::market::FeedBooks& books) : handler_(options, books, ports_) {}
  void take(const nfx::market::FeedInput& input) override { handler_.take(input); }
  [[nodiscard]] nfx::market::FeedState state() const override { return handler_.state(); }

 private:
  nfx::market::NoPorts ports_;
  Handler handler_;
};

struct FeedRow {
  std::string_view name;   // --feed NAME
  std::string_view about;  // the data that `live` receives
  std::string_view venue;  // the venue that `publish` runs
  bool datagrams = false;  // may be in a recording of `nfx market record`, which has no description
  FeedDescription (*describe)(const LiveOptions& options) = nullptr;
  nfx::market::FeedBooksOptions (*books)(const FeedDescription& description, std::uint64_t every) = nullptr;
  std::unique_ptr<RunningFeed> (*live)(const RunningFeedParts& parts) = nullptr;
  std::unique_ptr<ReplayedFeed> (*replay)(const FeedDescription& description, nfx::market::FeedBooks& books) = nullptr;
  std::unique_ptr<Publishing> (*publish)(const PublishOptions& options) = nullptr;
};

[[nodiscard]] std::vector<std::string_view> feed_names();
// `name` is one of feed_names().
[[nodiscard]] const FeedRow& feed_named(std::string_view name) noexcept;
// "itch: MoldUDP64 over UDP; ws: ...": this text of each row.
[[nodiscard]] std::string feed_help(std::string_view FeedRow::* text);

// The description of a feed with the instruments of --name; `example` is one. Throws ConfigError without any.
[[nodiscard]] FeedDescription describe_names(const LiveOptions& options, std::string_view example, std::uint32_t scale);

}  // namespace nfx::app::market
