// Measures how much recording adds to a feed handler's own time: packets of MoldUDP64 to order books; the same while
// each packet is copied and another thread writes as many bytes to a file; and with a recorder, whose flusher writes to
// disk on another CPU. The packets arrive at the rate of a busy second, not as fast as possible, because no disk could
// follow.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "base/clocks.hpp"
#include "harness/figures.hpp"
#include "harness/flusher_thread.hpp"
#include "harness/measure.hpp"
#include "harness/scratch_folder.hpp"
#include "itch_day.hpp"
#include "itch_feed_books.hpp"
#include "nexusfix/recording/recording.hpp"
#include "recording/format.hpp"
#include "rows.hpp"
#include "store/disk.hpp"
#include "store/flusher_thread.hpp"
#include "store/journal_flusher.hpp"

namespace nfx::bench {
namespace {

using namespace nfx::market;

constexpr std::uint64_t messages_most = 2'000'000;
constexpr double messages_a_second = 1e6;
constexpr double stall_ns = 5000;

struct Result {
  double ns_per_message = 0;  // the handler's own time
  LatencyHistogram calls;     // of the recorder, in picoseconds; empty without one
  std::uint64_t stalls = 0;   // packets that took more than stall_ns
};

// A recording in a folder of its own, which is removed with it.
struct Recording {
  explicit Recording(const CpuSet& cores) : thread(flusher, on_cores(cores)) {
    RecorderOptions options;
    options.folder = folder.path() / "recording";
    recorder.emplace(posix_disk(), options, flusher, read_utc());
  }

  ScratchFolder folder{"market-recording", {}};
  JournalFlusher flusher;
  FlusherThread thread;
  std::optional<Recorder> recorder;
};

// A lower bound for the cost of recording: each packet is copied to memory, and a thread writes as much to a file as a
// recording's flusher would.
class PlainCopies {
 public:
  PlainCopies(const CpuSet& cores, double bytes_a_second)
      : buffer_(RecorderOptions{}.buffer_bytes, 'x'),
        thread_([this, cores, bytes_a_second](const std::stop_token& stop) {
          static_cast<void>(CpuAffinity::set(cores));
          write(stop, bytes_a_second);
        }) {}
  void copy(std::span<const std::byte> packet) noexcept {
    constexpr std::size_t more = sizeof(RecordHeader) + sizeof(RecordingHeader);
    if (at_ + packet.size() + more > buffer_.size()) at_ = 0;
    std::memcpy(buffer_.data() + at_ + more, packet.data(), packet.size());
    at_ += packet.size() + more;
  }
  // Throws if writing failed.
  void end() {
    thread_.request_stop();
    thread_.join();
    if (error_ != 0) throw std::system_error(error_, std::system_category(), "write to the temporary folder");
  }

 private:
  static constexpr std::size_t chunk_bytes = 256 * 1024;
  static constexpr Duration sync_interval = std::chrono::milliseconds{200};  // as in RecorderOptions

  void write(const std::stop_token& stop, double bytes_a_second) {
    const int file = ::open((folder_.path() / "bytes").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string chunk(chunk_bytes, 'x');
    const auto each = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(static_cast<double>(chunk_bytes) / bytes_a_second));
    MonotonicTime next = read_monotonic(), synced = next;
    while (!stop.stop_requested()) {
      if (::write(file, chunk.data(), chunk.size()) != static_cast<ssize_t>(chunk.size())) {
        error_ = errno != 0 ? errno : ENOSPC;
        break;
      }
      if (next - synced >= sync_interval) {
        ::fdatasync(file);
        synced = next;
      }
      std::this_thread::sleep_until(next += each);
    }
    ::close(file);
  }

  std::string buffer_;
  std::size_t at_ = 0;
  ScratchFolder folder_{"market-plain", {}};
  int error_ = 0;  // written by the thread until it has ended
  std::jthread thread_;
};

class Run {
 public:
  // Without either, the packets only go to the books.
  Run(const MoldPackets& packets, const BookLimits& limits, Recorder* recorder, PlainCopies* copies,
      const CycleClock& clock)
      : packets_(packets), books_(limits), recorder_(recorder), copies_(copies), clock_(clock) {}

  Result operator()() {
    Result result;
    const double cost = stamp_cost_ticks();
    double own_ns = 0;
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
      if (copies_ != nullptr) copies_->copy(packet);
      const std::uint64_t recorded = ticks_after();
      feed_.tick(now);
      feed_.packet(MoldLine::a, packet, now);
      const double all = clock_.ns_between(begin, ticks_after(), cost);
      own_ns += all;
      result.calls.record(clock_.ps_between(begin, recorded, cost));
      if (all > stall_ns) ++result.stalls;
      messages = feed_.arbiter().next_sequence() - 1;
    }
    if (feed_.state() != FeedState::live || books_.books.anomalies() != 0)
      throw WrongAnswerError("the feed lost a packet");
    result.ns_per_message = own_ns / static_cast<double>(messages);
    return result;
  }

 private:
  const MoldPackets& packets_;
  ItchFeedBooks books_;
  ItchFeed<ItchFeedBooks> feed_{{}, books_};
  Recorder* recorder_;
  PlainCopies* copies_;
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
  double bytes = 0;
  for (std::size_t i = 0; i < packets.size(); ++i)
    bytes += static_cast<double>(packets[i].size() + sizeof(RecordHeader) + sizeof(RecordingHeader));
  const double bytes_a_second = bytes / (static_cast<double>(count) / messages_a_second);
  std::vector<Result> off, plain, on;
  for (std::uint32_t repeat = 0; repeat <= options.repeats; ++repeat) {
    Result without = Run{packets, limits, nullptr, nullptr, clock}();
    PlainCopies copies{options.other_cores, bytes_a_second};
    Result with_copies = Run{packets, limits, nullptr, &copies, clock}();
    copies.end();
    Recording recording{options.other_cores};
    Result with = Run{packets, limits, &*recording.recorder, nullptr, clock}();
    if (recording.recorder->counters().records != packets.size()) {
      throw WrongAnswerError(std::to_string(packets.size() - recording.recorder->counters().records) +
                             " packets were not recorded");
    }
    if (repeat == 0) continue;
    off.push_back(std::move(without));
    plain.push_back(std::move(with_copies));
    on.push_back(std::move(with));
  }
  std::printf("%-14s %16s %12s %10s %12s %12s %12s\n", "", "handler ns/msg", "call p50 ns", "p99", "p99.9", "max",
              "over 5 us");
  print("off", off);
  print("plain copies", plain);
  print("on", on);
  const double with = middle(on, &Result::ns_per_message);
  std::printf(
      "on adds %.1f ns a message, %.1f to plain copies; packets over 5 us in the first two rows are the machine's\n",
      with - middle(off, &Result::ns_per_message), with - middle(plain, &Result::ns_per_message));
}

}  // namespace nfx::bench
