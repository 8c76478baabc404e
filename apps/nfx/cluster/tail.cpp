// nfx cluster tail: a session's frames and records as lines, once and in order, from any replica.
#include <string>
#include <thread>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "cluster/options.hpp"
#include "cluster/session_reader.hpp"
#include "command.hpp"
#include "log/message_text.hpp"
#include "market/stop_flag.hpp"
#include "nexusfix/base/assert.hpp"
#include "output.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::cluster_tools {
namespace {

using nfx::cluster::FrameKind;
using nfx::cluster::FrameView;
using nfx::cluster::Record;
using nfx::cluster::RecordKind;
using store::append_member;
using store::nanosecond_stamp;

struct TailOptions {
  StreamOptions stream;
  std::string session;
  std::uint64_t from = 1;
  bool audit = false;
  bool follow = false;
  bool json = false;
};

constexpr Duration follow_interval = std::chrono::milliseconds{50};

// The parts of a line besides its frame.
struct Line {
  std::string_view kind = {};
  std::uint64_t record = 0;  // of the frame, from 1 on; 0: the line is of the frame itself
  std::string_view direction = {};
  std::uint64_t number = 0;
  std::string_view bytes = {};
};

class LinePrinter {
 public:
  LinePrinter(Output& out, const TailOptions& options) : out_(out), options_(options) {}

  void print(const nats::StoredFrame& stored) {
    FrameView frame;
    // The reader has decoded it.
    NFX_REQUIRE(decode_frame(stored.bytes, frame) == nfx::cluster::FrameError::none);
    const std::uint64_t number = std::to_underlying(frame.header.number);
    if (last_ != 0 && number != last_ + 1) {
      out_.flush();
      print_error(
          "nfx: session {}: frames {} to {} were removed before they were read: nfx cluster compact removes "
          "what is before a reset; a copy for an audit keeps it (--audit)\n",
          options_.session, last_ + 1, number - 1);
    }
    last_ = number;
    if (frame.header.kind == FrameKind::epoch)
      add(stored, frame, {.kind = "epoch"});
    else if (frame.records.empty())
      add(stored, frame, {.kind = "probe"});
    std::uint64_t index = 0;
    for (std::string_view rest = frame.records; !rest.empty();) {
      const Record record = nfx::cluster::take_record(rest);
      Line line{.kind = "message", .record = ++index, .number = value(record.seq), .bytes = record.bytes};
      switch (record.kind) {
        case RecordKind::inbound: line.direction = "in"; break;
        case RecordKind::outbound: line.direction = "out"; break;
        case RecordKind::reset: line.kind = "reset"; break;
        case RecordKind::began:
          line.kind = "began";
          line.bytes = {};  // not a message
          break;
      }
      add(stored, frame, line);
    }
  }

 private:
  void add(const nats::StoredFrame& stored, const FrameView& frame, const Line& line) {
    std::string message;
    append_message_text(message, line.bytes, {});
    options_.json ? add_json(stored, frame, line, message) : add_text(stored, frame, line, message);
    out_.flush_when_large();
  }

  void add_json(const nats::StoredFrame& stored, const FrameView& frame, const Line& line, const std::string& message) {
    SafeText& out = out_.text;
    out.add("{\"session\":{}", json_text(options_.session));
    append_member(out, "sequence", stored.sequence);
    append_member(out, "frame", std::to_underlying(frame.header.number));
    append_member(out, "epoch", std::to_underlying(frame.header.epoch));
    append_member(out, "gateway", hexadecimal(std::to_underlying(frame.header.gateway)));
    append_member(out, "stored", nanosecond_stamp(stored.stored));
    append_member(out, "kind", line.kind);
    if (line.record != 0) {
      append_member(out, "record", line.record);
    } else {
      append_member(out, "next_in", value(frame.header.first_inbound));
      append_member(out, "next_out", value(frame.header.first_outbound));
    }
    if (!line.direction.empty()) {
      append_member(out, "direction", line.direction);
      append_member(out, "number", line.number);
    }
    if (!message.empty()) append_member(out, "message", message);
    out += "}\n";
  }

  void add_text(const nats::StoredFrame& stored, const FrameView& frame, const Line& line, const std::string& message) {
    SafeText& out = out_.text;
    out.add("{} frame {} epoch {} gateway {} ", nanosecond_stamp(stored.stored),
            std::to_underlying(frame.header.number), std::to_underlying(frame.header.epoch),
            hexadecimal(std::to_underlying(frame.header.gateway)));
    if (line.direction.empty())
      out += line.kind;
    else
      out.add("{} {} {}", line.direction, line.number, message);
    if (line.record == 0)
      out.add(" next in {} out {}", value(frame.header.first_inbound), value(frame.header.first_outbound));
    out += '\n';
  }

  Output& out_;
  const TailOptions& options_;
  std::uint64_t last_ = 0;  // the number of the last frame
};

int run_tail(const TailOptions& options) {
  const market::StopFlag stop;
  nats::NatsOptions stream_options = nats_options(options.stream);
  stream_options.audit = options.audit;
  nats::NatsStream stream{stream_options};
  SessionReader reader{stream, options.session};
  if (options.from > 1) reader.start_at(options.from);
  Output out;
  LinePrinter printer{out, options};
  bool has_any = false, is_away = false;
  while (!stop.wanted()) {
    bool is_end = false;
    try {
      const auto& frames = reader.read();
      for (const nats::StoredFrame& frame : frames) printer.print(frame);
      out.flush();
      has_any = has_any || !frames.empty();
      is_end = frames.empty();
      is_away = false;
    } catch (const nats::NatsError& error) {
      if (!options.follow) throw;
      // Servers come back; one line for each time that they are lost.
      if (!is_away) print_error("nfx: {}; trying again\n", error.what());
      is_away = is_end = true;
    }
    if (!is_end) continue;
    if (!options.follow) break;
    std::this_thread::sleep_for(follow_interval);
  }
  if (!has_any && !options.follow && options.from <= 1) throw no_frames(options.stream.stream, options.session);
  return exit_done;
}

}  // namespace

cli::Command tail_command() {
  static TailOptions options;
  std::vector<cli::Option> list = options_of(options.stream);
  list.insert(list.begin(), {.names = "--session",
                             .target = &options.session,
                             .help = "Session name in the stream",
                             .value = "NAME",
                             .required = true});
  list.push_back({.names = "--from",
                  .target = &options.from,
                  .help = "Number of the first frame",
                  .value = "FRAME",
                  .range = cli::Range{1, 4e18}});
  list.push_back({.names = "--audit",
                  .target = &options.audit,
                  .help = "Read the audit copy that nfx cluster init --audit-days makes"});
  list.push_back({.names = "-f,--follow", .target = &options.follow, .help = "Continue with new frames"});
  list.push_back({.names = "--json", .target = &options.json, .help = "One JSON object for each line"});
  return {
      .name = "tail",
      .summary = "Show the stored records of a session, each once and in order",
      .run = [] { return run_tail(options); },
      .options = std::move(list),
      .details =
          "A line is a record (a message out or in, a reset, when the sequence numbers began), the epoch with which a "
          "gateway began to own the session, or a probe, a frame without records. Frame and record identify a line. "
          "Secrets are masked as in logs. If a replica lacks frames, it is read again for up to a minute; then the "
          "command fails.",
      .examples = {{.line = "nfx cluster tail --session DESK-VENUE --json --follow", .about = "a copy of all orders"},
                   {.line = "nfx cluster tail --session DESK-VENUE --from 100000",
                    .about = "without reading what is before"}},
  };
}

}  // namespace nfx::app::cluster_tools
