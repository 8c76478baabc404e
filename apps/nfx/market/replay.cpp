// nfx market replay: reads a recording: prints a summary or every packet as text, or sends the datagrams again.
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>

#include "base/clocks.hpp"
#include "base/crc32c.hpp"
#include "base/text.hpp"
#include "cli/progress.hpp"
#include "command.hpp"
#include "market/feed_replay.hpp"
#include "market/feeds.hpp"
#include "market/market.hpp"
#include "market/stop_flag.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/recording/recording.hpp"
#include "nexusfix/transport/udp.hpp"
#include "recording/pace.hpp"

namespace nfx::app::market {
namespace {

using namespace nfx::market;

constexpr Duration send_wait = std::chrono::milliseconds{10};
constexpr int send_tries = 1000;

struct ReplayCommandOptions {
  std::string recording;
  std::vector<std::string> to;
  std::string speed = "real";
  bool list = false;
  std::string feed;
  std::uint64_t every = 1'000'000;
  std::string ring_directory = "/dev/shm";
};

// Nothing for "max".
std::optional<double> read_speed(const std::string& text) {
  if (text == "real") return 1.0;
  if (text == "max") return std::nullopt;
  double speed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  if (error == std::errc{} && end == text.data() + text.size() && speed >= 1e-3 && speed <= 1e6) return speed;
  throw ConfigError("--speed: \"" + text +
                    "\" is not a speed; write real, max, or a factor of 0.001 to 1000000 such as 2.5");
}

// Totals of one line of the recording.
struct LineTally {
  std::string name;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t kernel_drops = 0;
  std::uint64_t connections = 0;
  std::array<std::uint64_t, stamp_sources> stamps{};
};

struct Tally {
  std::map<std::uint16_t, LineTally> lines;
  std::uint64_t dropped = 0;
  UtcTime first{};
  UtcTime last{};
  std::uint32_t checksum = 0;  // over all packets: lines, times and bytes

  void add(const RecordedPacket& packet) {
    switch (packet.kind) {
      case RecordingKind::line: lines[packet.from.line].name = packet.bytes; return;
      case RecordingKind::dropped: dropped += drops_in(packet).packets; return;
      case RecordingKind::kernel_dropped: lines[packet.from.line].kernel_drops += drops_in(packet).packets; return;
      case RecordingKind::clock:
      case RecordingKind::closed: return;
      case RecordingKind::opened: ++lines[packet.from.line].connections; return;
      case RecordingKind::datagram:
      case RecordingKind::cut_datagram:
      case RecordingKind::stream: break;
    }
    LineTally& line = lines[packet.from.line];
    ++line.packets;
    line.bytes += packet.bytes.size();
    ++line.stamps[static_cast<std::size_t>(packet.from.stamp) % stamp_sources];
    if (first == UtcTime{}) first = packet.from.at;
    last = packet.from.at;
    const std::int64_t number[] = {packet.from.at.time_since_epoch().count(), packet.from.line, packet.from.connection};
    checksum = crc32c({reinterpret_cast<const char*>(number), sizeof number}, checksum);
    checksum = crc32c(packet.bytes, checksum);
  }
};

// "17 2026-01-05T09:30:00.000000001Z kernel 0 datagram 0102ff"
void list(SafeText& out, const RecordedPacket& packet) {
  out.add("{} {} {} {} {} ", packet.number, time_text(packet.from.at), to_string(packet.from.stamp), packet.from.line,
          to_string(packet.kind));
  switch (packet.kind) {
    case RecordingKind::line: out.add("{}\n", packet.bytes); return;
    case RecordingKind::dropped:
    case RecordingKind::kernel_dropped: out.add("{}\n", drops_in(packet).packets); return;
    case RecordingKind::datagram:
    case RecordingKind::cut_datagram:
    case RecordingKind::stream:
    case RecordingKind::clock:
    case RecordingKind::opened:
    case RecordingKind::closed: out.add("{}\n", hexadecimal(packet.bytes)); return;
  }
}

// Sends the datagrams of a recording again.
class Sending {
 public:
  explicit Sending(const ReplayCommandOptions& options) {
    if (const auto speed = read_speed(options.speed)) pace_.emplace(*speed);
    for (const std::string& text : options.to) {
      const std::size_t equals = text.find('=');
      const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
      try {
        const UdpAddress address = parse_udp_address(equals == std::string::npos ? text : text.substr(equals + 1));
        if (!senders_.try_emplace(name, address).second) {
          throw ConfigError("--to: two addresses for " + (name.empty() ? "all lines" : "line " + name));
        }
      } catch (const UdpError& error) {
        throw ConfigError(error.what());
      }
    }
  }

  // False if a signal has ended it.
  bool take(const RecordedPacket& packet, const StopFlag& stop) {
    if (packet.kind == RecordingKind::line) names_[packet.from.line] = packet.bytes.substr(0, packet.bytes.find(' '));
    const bool is_packet = packet.kind == RecordingKind::datagram || packet.kind == RecordingKind::cut_datagram ||
                           packet.kind == RecordingKind::stream;
    if (!is_packet) return !stop.wanted();
    UdpSender* const sender = packet.kind == RecordingKind::datagram ? sender_of_line(packet.from.line) : nullptr;
    if (sender == nullptr) {
      ++left_out_;
      return !stop.wanted();
    }
    if (pace_ && !wait_until(pace_->due(packet.from.at, read_monotonic()), stop)) return false;
    UdpSent result = UdpSent::busy;
    for (int i = 0; result == UdpSent::busy && i < send_tries && !stop.wanted(); ++i) {
      if (i != 0) sender->wait(send_wait);
      result = sender->send(packet.bytes);
    }
    ++(result == UdpSent::sent ? sent_ : refused_);
    return !stop.wanted();
  }

  void print_end() const {
    print(
        "sent {} datagrams; {} were refused; {} packets were left out: cut, of a connection, or of a line without "
        "an address\n",
        sent_, refused_, left_out_);
  }
  [[nodiscard]] bool all_sent() const noexcept { return refused_ == 0; }

 private:
  UdpSender* sender_of_line(std::uint16_t line) {
    const auto named = names_.find(line);
    auto found = named == names_.end() ? senders_.end() : senders_.find(named->second);
    if (found == senders_.end()) found = senders_.find("");
    return found == senders_.end() ? nullptr : &found->second;
  }

  static bool wait_until(MonotonicTime due, const StopFlag& stop) {
    const auto since = due.time_since_epoch();
    timespec at{};
    at.tv_sec = static_cast<time_t>(since / std::chrono::seconds{1});
    at.tv_nsec = static_cast<long>((since % std::chrono::seconds{1}).count());
    while (!stop.wanted() && read_monotonic() < due) ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    return !stop.wanted();
  }

  std::optional<ReplayPace> pace_;
  std::map<std::string, UdpSender, std::less<>> senders_;  // by the name of the line; "" matches all others
  std::map<std::uint16_t, std::string> names_;
  std::uint64_t sent_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t left_out_ = 0;
};

void print_summary(const Tally& tally, const RecordingScan& scan) {
  SafeText out;
  for (const auto& [number, line] : tally.lines) {
    if (number == FeedDescription::line) {
      out.add("{}\n", line.name);
      continue;
    }
    out.add("line {} {}: {} packets, {} bytes, {} dropped by the kernel; stamps:", number,
            line.name.empty() ? "(not described)" : line.name, line.packets, line.bytes, line.kernel_drops);
    for (std::uint8_t i = 0; i < stamp_sources; ++i) {
      if (line.stamps[i] != 0) out.add(" {} {}", line.stamps[i], to_string(static_cast<StampSource>(i)));
    }
    if (line.connections != 0) out.add("; {} connections", line.connections);
    out += "\n";
  }
  out.add("{} records, {} to {}, received {} to {}\n", scan.records, scan.first_number, scan.last_number,
          time_text(tally.first), time_text(tally.last));
  out.add("{} packets dropped by the recorder, {} records missing; {} recorders, {} of them killed\n", tally.dropped,
          scan.missing, scan.recorders, scan.killed);
  out.add("CRC-32C of all packets {}\n", tally.checksum);
  out.add("ends after record {}: {}\n", scan.last_number, scan.reason);
  print(out);
}

bool is_whole(RecordingEnd end) noexcept { return end != RecordingEnd::torn && end != RecordingEnd::damaged; }

int run(const ReplayCommandOptions& options) {
  std::optional<Sending> sending;
  if (!options.to.empty()) sending.emplace(options);
  std::optional<FeedReplay> books;
  if (!options.feed.empty()) books.emplace(options.feed, options.every);
  const StopFlag stop;
  Tally tally;
  Output output;
  cli::Progress progress{"reading " + options.recording, 0, options.list};
  const RecordingScan scan =
      read_recording({.folder = options.recording, .ring_directory = options.ring_directory, .from = 0},
                     [&](const RecordedPacket& packet) {
                       tally.add(packet);
                       progress.add(packet.bytes.size());
                       if (options.list) {
                         list(output.text, packet);
                         output.flush_when_large();
                       }
                       if (books) {
                         books->take(packet, output.text);
                         output.flush_when_large();
                       }
                       return sending ? sending->take(packet, stop) : !stop.wanted();
                     });
  progress.end();
  if (books) books->print_end(output.text);
  output.flush();
  if (sending) sending->print_end();
  if (options.list) {
    print("ends after record {}: {}\n", scan.last_number, scan.reason);
  } else {
    print_summary(tally, scan);
  }
  return is_whole(scan.end) && scan.end != RecordingEnd::stopped && (!sending || sending->all_sent()) ? exit_done
                                                                                                      : exit_failed;
}

}  // namespace

cli::Command replay_command() {
  static ReplayCommandOptions options;
  return {
      .name = "replay",
      .summary = "Show what a recording contains and where it ends, or send its datagrams again",
      .run = [] { return run(options); },
      .options =
          {{.names = "RECORDING",
            .target = &options.recording,
            .help = "Folder of a recording, also of one that is being written",
            .required = true,
            .kind = cli::Kind::folder},
           {.names = "--list",
            .target = &options.list,
            .help = "Print a line per record: number, time, stamp, line, kind, bytes in hexadecimal",
            .excludes = {"--to"}},
           {.names = "--feed",
            .target = &options.feed,
            .help = "Make order books as the live feed did, and print their hash",
            .one_of = feed_names(),
            .excludes = {"--list", "--to"}},
           {.names = "--every",
            .target = &options.every,
            .help = "Print the hash again after this number of events",
            .value = "EVENTS",
            .range = cli::Range{1, 1e15},
            .needs = {"--feed"}},
           {.names = "--to",
            .target = &options.to,
            .help = "Send the datagrams there: ADDRESS:PORT or GROUP:PORT@INTERFACE for all lines, "
                    "NAME=ADDRESS for one",
            .value = "[NAME=]ADDRESS"},
           {.names = "--speed",
            .target = &options.speed,
            .help = "Speed: real (the recorded intervals), a factor, or max",
            .needs = {"--to"}},
           {.names = "--ring-directory",
            .target = &options.ring_directory,
            .help = "Folder of the recorder's shared memory, which has the last packets of a recorder that was killed",
            .kind = cli::Kind::folder}},
      .details = R"(Changes nothing. Two replays of a recording print the same, unless it is being written.)",
      .exit_codes =
          "0 done, 1 the recording is torn, damaged or cannot be read, or a datagram could not be sent, 2 wrong usage",
      .examples = {{.line = "nfx market replay today", .about = "what a recording has, and where it ends"},
                   {.line = "nfx market replay today --feed itch",
                    .about = "books of a NASDAQ ITCH 5.0 feed, by their hash"},
                   {.line = "nfx market replay today --to A=239.1.1.1:5000@lo --speed 10",
                    .about = "line A again, ten times as fast"}},
  };
}

}  // namespace nfx::app::market
