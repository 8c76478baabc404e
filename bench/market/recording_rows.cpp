// What recording adds to a feed handler's own time: packets of MoldUDP64 to order books, with and without a recorder
// whose flusher writes to disk on another CPU. The packets come at the rate of a busy second, not as fast as they can
// be taken, which no disk follows.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "harness/figures.hpp"
#include "harness/flusher_thread.hpp"
#include "harness/measure.hpp"
#include "harness/scratch_folder.hpp"
#include "itch_day.hpp"
#include "itch_feed_books.hpp"
#include "nexusfix/recording/recorder.hpp"
#include "nexusfix/store/disk.hpp"
#include "rows.hpp"

namespace nfx::bench {
namespace {

using namespace nfx::market;

constexpr std::uint64_t messages_most = 2'000'000;
constexpr double messages_a_second = 1e6;
constexpr double stall_ns = 5000;

struct Result {
  double ns_per_message = 0;  // the handler's own time
  LatencyHistogram calls;     // of the recorder, in picoseconds; or of nothing
  std::uint64_t stalls = 0;   // calls of more than stall_ns
};

// A recording in a folder of its own, which goes with it.
struct Recording {
  explicit Recording(const CpuSet& cores) : flusher(cores) {
    RecorderOptions options;
    options.folder = folder.path() / "recording";
    recorder.emplace(posix_disk(), options, flusher.flusher(), read_clocks().utc);
  }

  ScratchFolder folder{"market-recording", {}};
  FlusherThread flusher;
  std::optional<Recorder> recorder;
};

class Run {
 public:
  Run(const MoldPackets& packets, const BookLimits& limits, Recorder* recorder, const CycleClock& clock)
      : packets_(packets), books_(limits), recorder_(recorder), clock_(clock) {}

  Result operator()() {
    Result result;
    const double cost = stamp_cost_ticks();
    double own = 0;
    std::uint64_t messages = 0;
    Instant now{UtcTime{Duration{1}}, MonotonicTime{Duration{1}}};
    const std::uint64_t start = ticks_before();
    for (std::size_t i = 0; i < packets_.size(); ++i) {
      const std::span<const std::byte> packet = packets_[i];
      const double due = static_cast<double>(messages) / messages_a_second * 1e9 * clock_.ticks_per_ns;
      while (static_cast<double>(ticks_before() - start) < due) continue;
      now.monotonic += Duration{1000};
      now.utc += Duration{1000};
      const std::uint64_t begin = ticks_before();
      if (recorder_ != nullptr) {
        const std::string_view bytes{reinterpret_cast<const char*>(packet.data()), packet.size()};
        (void)recorder_->datagram({now.utc, StampSource::kernel, 0, 0}, bytes);
      }
      const std::uint64_t recorded = ticks_after();
      feed_.tick(now);
      feed_.packet(MoldLine::a, packet, now);
      own += static_cast<double>(ticks_after() - begin) - cost;
      const double call = clock_.to_ns(static_cast<double>(recorded - begin) - cost);
      result.calls.record(call > 0 ? static_cast<std::uint64_t>(call * 1000) : 0);
      if (call > stall_ns) ++result.stalls;
      messages = feed_.arbiter().next_sequence() - 1;
    }
    if (feed_.state() != FeedState::live || books_.books.anomalies() != 0)
      throw WrongAnswerError("the feed lost a packet");
    result.ns_per_message = clock_.to_ns(own) / static_cast<double>(messages);
    return result;
  }

 private:
  const MoldPackets& packets_;
  ItchFeedBooks books_;
  ItchFeed<ItchFeedBooks> feed_{{}, books_};
  Recorder* recorder_;
  const CycleClock& clock_;
};

void print(const char* name, const std::vector<Result>& results) {
  const auto calls = [&](auto pick) {
    return middle(results, [&](const Result& r) { return pick(figures_of(r.calls, 1000)); });
  };
  std::printf("%-14s %16.1f %12.1f %10.1f %12.0f %12.0f %12.1f\n", name, middle(results, &Result::ns_per_message),
              calls([](const Figures& f) { return f.p50; }), calls([](const Figures& f) { return f.p99; }),
              calls([](const Figures& f) { return f.p999; }), calls([](const Figures& f) { return f.max; }),
              middle(results, [](const Result& r) { return static_cast<double>(r.stalls); }));
}

}  // namespace

void bench_recording(const MarketOptions& options, const CycleClock& clock) {
  const std::uint64_t count = std::min(options.messages, messages_most);
  const MoldPackets packets{generate_itch_day({.seed = options.seed, .messages = count})};
  const BookLimits limits = itch_book_limits(static_cast<std::uint32_t>(count / 4));
  std::printf("\nrecording %zu packets of %.1f messages on average, a million messages a second; %s\n", packets.size(),
              static_cast<double>(count) / static_cast<double>(packets.size()),
              ScratchFolder{"market-recording", {}}.describe().c_str());
  std::vector<Result> off, on;
  for (std::uint32_t repeat = 0; repeat <= options.repeats; ++repeat) {
    Result without = Run{packets, limits, nullptr, clock}();
    Recording recording{options.other_cores};
    Result with = Run{packets, limits, &*recording.recorder, clock}();
    if (recording.recorder->counters().records != packets.size()) {
      throw WrongAnswerError(std::to_string(packets.size() - recording.recorder->counters().records) +
                             " packets were not recorded");
    }
    if (repeat == 0) continue;
    off.push_back(std::move(without));
    on.push_back(std::move(with));
  }
  std::printf("%-14s %16s %12s %10s %12s %12s %12s\n", "", "handler ns/msg", "call p50 ns", "p99", "p99.9", "max",
              "over 5 us");
  print("off", off);
  print("on", on);
  std::printf("on adds %.1f ns a message; what is over 5 us while off is the machine's\n",
              middle(on, &Result::ns_per_message) - middle(off, &Result::ns_per_message));
}

}  // namespace nfx::bench
