// nfx market record: receives UDP lines and records every datagram.
#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clocks.hpp"
#include "cli/progress.hpp"
#include "command.hpp"
#include "market/market.hpp"
#include "market/stop_flag.hpp"
#include "market/udp_lines.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/transport/udp.hpp"
#include "store/disk.hpp"
#include "store/flusher_thread.hpp"
#include "store/journal_flusher.hpp"
#include "store/journal_store.hpp"

namespace nfx::app::market {
namespace {

using namespace nfx::market;

constexpr Duration tend_every = std::chrono::seconds{1};
constexpr Duration longest_wait = std::chrono::milliseconds{100};  // in case a signal arrived just before the wait

struct RecordOptions {
  std::vector<std::string> lines;
  std::string folder;
  std::optional<std::uint32_t> seconds;
  std::uint32_t receive_buffer = 8 << 20;
  std::uint32_t buffer = 32 << 20;
  std::uint32_t datagram_bytes = 9216;
  std::uint64_t retain_bytes = 0;
  std::string ring_directory = "/dev/shm";
};

struct LineState {
  std::uint64_t kernel_drops = 0;  // as recorded
  std::array<std::uint64_t, stamp_sources> stamps{};
};

class Recording {
 public:
  Recording(const RecordOptions& options, UdpReceiver& receiver)
      : options_(options), receiver_(receiver), states_(receiver.lines().size()) {
    const RecorderOptions wanted{.folder = options.folder,
                                 .ring_directory = options.ring_directory,
                                 .buffer_bytes = options.buffer,
                                 .retain_bytes = options.retain_bytes};
    const Instant now = read_clocks();
    recorder_.emplace(posix_disk(), wanted, flusher_, now.utc);
    first_ = recorder_->next_number();
    for (std::uint16_t line = 0; line < states_.size(); ++line) {
      const UdpLine& opened = receiver.lines()[line];
      recorder_->describe({now.utc, StampSource::none, line, 0}, opened.name + " " + to_string(opened.address));
    }
  }

  void print_start() {
    SafeText out;
    for (const UdpLine& line : receiver_.lines()) {
      out.add("line {} listens on {}, receive buffer {} bytes\n", line.name, to_string(line.address),
              line.receive_buffer);
      for (const std::string& warning : line.warnings) out.add("  warning: {}\n", warning);
    }
    const JournalRecovery& found = recorder_->recovery();
    if (!found.clean)
      out.add("the last recorder was killed: {} bytes of its records were only in memory\n", found.taken_from_ring);
    if (found.cut_bytes != 0) out.add("a power loss cut {} bytes off {}\n", found.cut_bytes, found.cut_file);
    out.add(
        "recording to {} from record {} on; time stamps are the card's if it makes them, otherwise the kernel's; "
        "Ctrl-C ends the recording\n",
        options_.folder, first_);
    print(out);
  }

  // Runs until a signal arrives, the time is over, or the disk has failed.
  void run(const StopFlag& stop) {
    const FlusherThread thread(flusher_);
    cli::Progress progress{"recording to " + options_.folder};
    const MonotonicTime begin = read_monotonic();
    MonotonicTime tend_at = begin;
    while (!stop.wanted()) {
      std::uint64_t bytes = 0;
      const std::size_t count = receiver_.poll([&](const UdpDatagram& datagram) {
        bytes += datagram.bytes.size();
        ++states_[datagram.line].stamps[static_cast<std::size_t>(datagram.stamp)];
        recorder_->datagram({datagram.received, datagram.stamp, datagram.line, 0}, datagram.bytes, datagram.truncated);
      });
      const Instant now = read_clocks();
      if (count != 0) record_kernel_drops(now.utc);
      if (count != 0) progress.add(bytes);
      if (now.monotonic >= tend_at) {
        tend_at = now.monotonic + tend_every;
        tend(now.utc, progress);
        if (recorder_->failed()) return;
      }
      if (options_.seconds && now.monotonic - begin >= std::chrono::seconds{*options_.seconds}) return;
      if (count == 0) receiver_.wait(longest_wait);
    }
  }

  // Ends the recording, and prints a summary.
  int finish() {
    tend(read_utc(), {});
    const std::string trouble = recorder_->failed() ? recorder_->trouble() : std::string{};
    const std::uint64_t end = recorder_->next_number();
    const RecorderCounters counters = recorder_->counters();
    recorder_.reset();
    SafeText out;
    UdpCounters sum;
    for (std::uint16_t line = 0; line < states_.size(); ++line) {
      const UdpCounters& counted = receiver_.counters(line);
      add_counters(sum, counted);
      out.add("line {}: {} datagrams, {} bytes, {} dropped by the kernel, {} cut; stamps:",
              receiver_.lines()[line].name, counted.datagrams, counted.bytes, counted.kernel_drops, counted.truncated);
      for (std::uint8_t i = 0; i < stamp_sources; ++i) {
        if (states_[line].stamps[i] != 0)
          out.add(" {} {}", states_[line].stamps[i], to_string(static_cast<StampSource>(i)));
      }
      out += "\n";
    }
    out.add("recorded {} packets, {} bytes, dropped {}; records {} to {} in {}\n", counters.records, counters.bytes,
            counters.dropped, first_, end - 1, options_.folder);
    print(out);
    if (!trouble.empty()) print_error("nfx market record: {}\n", trouble);
    const bool whole = trouble.empty() && counters.dropped == 0 && sum.kernel_drops == 0;
    return whole ? exit_done : exit_failed;
  }

 private:
  void record_kernel_drops(UtcTime now) {
    for (std::uint16_t line = 0; line < states_.size(); ++line) {
      const std::uint64_t drops = receiver_.counters(line).kernel_drops;
      if (drops == states_[line].kernel_drops) continue;
      const ReceivedFrom from{now, StampSource::program, line, 0};
      if (recorder_->kernel_dropped(from, drops - states_[line].kernel_drops)) states_[line].kernel_drops = drops;
    }
  }

  void tend(UtcTime now, std::optional<std::reference_wrapper<cli::Progress>> progress) {
    for (std::uint16_t line = 0; line < states_.size(); ++line) receiver_.read_drops(line);
    record_kernel_drops(now);
    recorder_->tend(now);
    const std::uint64_t dropped = recorder_->counters().dropped;
    if (dropped == dropped_) return;
    if (progress) progress->get().end();
    print_error("nfx market record: {} packets dropped: {}\n", dropped - dropped_, recorder_->trouble());
    dropped_ = dropped;
  }

  const RecordOptions& options_;
  UdpReceiver& receiver_;
  std::vector<LineState> states_;
  JournalFlusher flusher_;
  std::optional<Recorder> recorder_;
  std::uint64_t first_ = 0;
  std::uint64_t dropped_ = 0;  // drops already reported
};

int run(const RecordOptions& options) {
  std::optional<UdpReceiver> receiver;
  try {
    receiver.emplace(parse_udp_lines(options.lines, options.receive_buffer),
                     UdpReceiverOptions{.batch = 64, .datagram_bytes = options.datagram_bytes});
  } catch (const UdpError& error) {
    throw ConfigError(error.what());
  }
  const StopFlag stop;
  Recording recording{options, *receiver};
  recording.print_start();
  recording.run(stop);
  return recording.finish();
}

}  // namespace

cli::Command record_command() {
  static RecordOptions options;
  return {
      .name = "record",
      .summary = "Record the datagrams of UDP lines, with the times of their receipt",
      .run = [] { return run(options); },
      .options = {{.names = "--line",
                   .target = &options.lines,
                   .help = "Name and address to receive from: NAME=GROUP:PORT@INTERFACE, or NAME=ADDRESS:PORT of this "
                           "host; repeatable",
                   .value = "NAME=ADDRESS",
                   .required = true},
                  {.names = "--to",
                   .target = &options.folder,
                   .help = "Folder of the recording; one that exists is continued",
                   .required = true,
                   .kind = cli::Kind::folder},
                  {.names = "--seconds", .target = &options.seconds, .help = "End after this time"},
                  {.names = "--buffer",
                   .target = &options.buffer,
                   .help = "Memory in which packets wait for the disk: a power of two",
                   .value = "BYTES",
                   .range = cli::Range{256 << 10, 1 << 30}},
                  {.names = "--receive-buffer",
                   .target = &options.receive_buffer,
                   .help = "The kernel's buffer of each line",
                   .value = "BYTES",
                   .range = cli::Range{2048, 1 << 30}},
                  {.names = "--datagram-bytes",
                   .target = &options.datagram_bytes,
                   .help = "Maximum bytes of a datagram; longer ones are cut",
                   .value = "BYTES",
                   .range = cli::Range{64, 65536}},
                  {.names = "--retain-bytes",
                   .target = &options.retain_bytes,
                   .help = "Maximum size of the recordings; the oldest files are deleted first. 0: no limit",
                   .value = "BYTES"},
                  {.names = "--ring-directory",
                   .target = &options.ring_directory,
                   .help = "Folder in shared memory where packets wait for the disk",
                   .kind = cli::Kind::folder}},
      .details =
          R"(Ends in order on Ctrl-C and SIGTERM. When it is killed, its last records are in shared memory: 'nfx market replay' reads them, and the next 'nfx market record' into the folder writes them to the files. Data that the disk cannot take in time is dropped, counted, and stated in the recording where it happened.)",
      .exit_codes =
          "0 done, 1 packets were dropped or the disk has failed, 2 wrong usage or an address that cannot be received "
          "from",
      .examples = {{.line = "nfx market record --line A=239.1.1.1:5000@eth0 --line B=239.1.2.1:5000@eth1 --to today",
                    .about = "both lines of a feed"}},
  };
}

}  // namespace nfx::app::market
