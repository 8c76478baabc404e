// A live feed in `nfx market live`: one of the kinds, chosen at start, with its books, states and counters.
// Thread: the one that calls poll(). feeds.hpp has the functions that create it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "market/feed_description.hpp"
#include "nexusfix/base/counter_rows.hpp"
#include "nexusfix/live/live_feed.hpp"
#include "nexusfix/market/feed_books.hpp"

namespace nfx::app::market {

struct LiveOptions {
  std::string feed;
  std::vector<std::string> lines;
  std::string rerequest;
  std::string snapshot;
  std::string user;
  std::string password_env;
  std::string midnight;
  std::string url;
  std::string snapshot_url;
  std::vector<std::string> names;
  bool tickers = false;
  bool subscribe = false;
  std::optional<std::uint32_t> scale;
  std::string ca;
  std::string config;
  std::string folder;
  std::uint64_t every = 0;
  std::uint32_t max_lag_ms = 1000;
  std::uint32_t receive_buffer = 8 << 20;
  std::uint32_t buffer = 32 << 20;
  std::string ring_directory = "/dev/shm";
  std::optional<std::uint32_t> seconds;
  std::string idle = "block";
  std::string metrics;
  bool once = false;
  bool json = false;
};

// A number with its name and labels.
struct Figure {
  std::string_view metric, help, label, label_value;
  std::string_view line;  // for lines: the line's name
  std::uint64_t value = 0;
};
using Figures = std::vector<Figure>;

template <class Counters>
void add_figures(Figures& out, const Counters& counters, std::string_view line = {}) {
  for (const CounterRow<Counters>& row : counter_rows<Counters>) {
    out.push_back({row.metric, row.help, row.label, row.label_value, line, counters.*row.member});
  }
}

class RunningFeed {
 public:
  virtual ~RunningFeed() = default;

  // Handles everything that has arrived; waits up to `longest` for it. Returns the number of items.
  virtual std::size_t poll(Duration longest) = 0;
  [[nodiscard]] virtual nfx::market::FeedState state() const = 0;
  [[nodiscard]] virtual const nfx::market::FeedLag& lag() const = 0;
  [[nodiscard]] virtual const nfx::market::FeedBooks& books() const = 0;
  // Whether the venue has ended the session in order.
  [[nodiscard]] virtual bool ended() const = 0;
  // The current problem as a sentence; empty if there is none.
  [[nodiscard]] virtual std::string trouble() const = 0;
  virtual void add_to(Figures& out) const = 0;
  [[nodiscard]] virtual std::string symbol(nfx::market::InstrumentId instrument) const = 0;
  // The addresses that it listens on or connects to, one per line.
  [[nodiscard]] virtual std::string start_text() const = 0;
  // Logs out, if there is a session. Takes at most a second or so.
  virtual void stop() {}
};

// `recorder` may be null. Everything except the description must outlive the feed.
struct RunningFeedParts {
  const LiveOptions& options;
  const FeedDescription& description;
  nfx::market::BookHashes* hashes;
  nfx::market::Recorder* recorder;
};

}  // namespace nfx::app::market
