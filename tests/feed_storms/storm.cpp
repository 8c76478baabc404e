// Runs a storm and makes the comparisons.
#include "feed_storms/storm.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "feed_storms/servers.hpp"
#include "nexusfix/market/itch_feed.hpp"

namespace nfx::feed_storms {
namespace {

using namespace market;

class Storm {
 public:
  explicit Storm(std::uint64_t seed)
      : plan_(Plan::of(seed)),
        dice_(seed),
        output_{*this},
        feed_(plan_.feed, output_),
        books_(BookLimits{.instruments = plan_.day.stocks + 1U, .orders = 1 << 16, .levels = 1 << 16}),
        exchange_(
            plan_, schedule_, dice_,
            {[this](MoldLine line, const Bytes& bytes) { packet(line, bytes); }, [this] { feed_.connected(now()); },
             [this](const Bytes& bytes) { feed_.received(bytes, now()); }, [this] { feed_.disconnected(now()); }}) {}

  StormResult run();

 private:
  struct Output {
    Storm& storm;
    void event(const Event& event) { storm.apply(event); }
    void request(const MoldRequest& wanted) { storm.exchange_.request(wanted); }
    void snapshot_connect() { storm.exchange_.connect(); }
    void snapshot_send(std::span<const std::byte> bytes) { storm.exchange_.sent(bytes); }
    void snapshot_close() { storm.exchange_.close(); }
  };

  [[nodiscard]] Instant now() const {
    return {UtcTime{} + 1000s + schedule_.now(), MonotonicTime{} + 1000s + schedule_.now()};
  }
  void packet(MoldLine line, const Bytes& bytes) {
    if (schedule_.now() < plan_.joins_at) return;
    feed_.packet(line, bytes, now());
    look();
  }
  void apply(const Event& event) {
    const Applied applied = books_.apply(InstrumentIndex{std::to_underlying(event.instrument)}, event);
    if (applied != Applied::done && applied != Applied::other_kind) {
      find("message " + std::to_string(event.sequence) + ", " + std::string{to_string(event.kind)} +
           ", does not fit the book: " + std::string{to_string(applied)});
    }
  }
  void find(const std::string& what) {
    if (!result_.finding.empty()) return;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(schedule_.now()).count();
    result_.finding = "at " + std::to_string(ms) + " ms: " + what;
  }
  void tick() {
    feed_.tick(now());
    look();
    schedule_.after(1ms, [this] { tick(); });
  }
  void look();
  void compare();

  Plan plan_;
  Dice dice_;
  Schedule schedule_;
  Output output_;
  ItchFeed<Output> feed_;
  OrderBooks books_;
  Exchange exchange_;
  ReferenceBooks follower_;  // the publisher's books at the feed's message
  std::uint64_t followed_ = 0;
  bool live_ = false;
  bool calm_ = false;
  Duration lost_at_{};
  std::uint64_t looks_ = 0;
  StormResult result_;
};

// Compares the books whenever the feed becomes live, and now and then while it is live.
void Storm::look() {
  const bool live = feed_.state() == FeedState::live || feed_.state() == FeedState::ended;
  if (live && feed_.arbiter().next_sequence() != feed_.arbiter().end_sequence()) {
    find("its state is live, and messages are missing");
  }
  if (live && !live_) {
    if (!calm_ && feed_.arbiter().counters().gaps != 0) {
      ++result_.recoveries;
      result_.worst_recovery = std::max(result_.worst_recovery, schedule_.now() - lost_at_);
    }
    compare();
  } else if (!live && live_) {
    lost_at_ = schedule_.now();
  } else if (live && ++looks_ % 256 == 0) {
    compare();
  }
  live_ = live;
}

void Storm::compare() {
  ++result_.comparisons;
  const std::uint64_t next = feed_.arbiter().next_sequence();
  if (next > exchange_.log().size() + 1) return find("it is ahead of the publisher");
  if (next < followed_ + 1) return find("it went back in the sequence");
  while (followed_ + 1 < next) follower_.message(exchange_.log()[followed_++]);
  const std::string difference = follower_.difference(books_);
  if (!difference.empty()) find("message " + std::to_string(next - 1) + ": " + difference);
  if (!books_.consistent()) find("the books are not consistent");
}

StormResult Storm::run() {
  constexpr Duration longest = 10min;
  exchange_.start();
  lost_at_ = plan_.joins_at;
  schedule_.after(plan_.joins_at, [this] { tick(); });
  while (!exchange_.day_is_over() && result_.finding.empty()) schedule_.run_next(longest);
  // The storm lasts a little longer than the day, so that its last messages may be lost.
  const Duration end_of_storm = schedule_.now() + 20ms;
  while (result_.finding.empty() && schedule_.run_next(end_of_storm)) {
  }
  exchange_.calm();
  calm_ = true;
  const Duration calm_at = schedule_.now();
  while (result_.finding.empty() && feed_.state() != FeedState::ended && schedule_.run_next(calm_at + longest)) {
  }
  result_.after_storm = schedule_.now() - calm_at;
  if (result_.finding.empty() && feed_.state() != FeedState::ended) {
    find("not recovered " + std::to_string(longest / 1s) + " s after the storm: " +
         std::string{to_string(feed_.state())} + ", " + std::string{to_string(feed_.arbiter().stale_reason())});
  }
  if (result_.finding.empty()) {
    compare();
    if (feed_.arbiter().next_sequence() != exchange_.log().size() + 1) find("it ended before the day did");
    if (books_.anomalies() != 0) find("events did not fit the books");
  }
  result_.messages = exchange_.log().size();
  result_.mold = feed_.arbiter().counters();
  result_.feed = feed_.counters();
  return result_;
}

}  // namespace

StormResult run_storm(std::uint64_t seed) { return std::make_unique<Storm>(seed)->run(); }

}  // namespace nfx::feed_storms
