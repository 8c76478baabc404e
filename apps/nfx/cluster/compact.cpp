// nfx cluster compact: removes the frames of sessions that no takeover and no ResendRequest needs.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/compaction.hpp"
#include "cluster/options.hpp"
#include "cluster/session_reader.hpp"
#include "command.hpp"
#include "output.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::cluster_tools {
namespace {

using nfx::cluster::Compaction;
using nfx::cluster::FrameError;
using nfx::cluster::FrameView;
using nfx::cluster::StreamSeq;

struct CompactOptions {
  StreamOptions stream;
  std::string session;
  bool dry_run = false;
};

// The records of a session in the stream, on the replicas that answered.
struct StoredRecords {
  Compaction compaction;
  UtcTime reset_at{};  // of the frame that stays as the first one
};

StoredRecords read_session(nats::NatsStream& stream, const std::string& session, StreamSeq copied) {
  StoredRecords found{.compaction = Compaction{copied}};
  for_each_stored(stream, session, [&](const nats::StoredFrame& stored) {
    FrameView frame;
    const FrameError error = decode_frame(stored.bytes, frame);
    if (error != FrameError::none || frame.header.session != nfx::cluster::session_id(session))
      throw std::runtime_error(
          "sequence " + std::to_string(stored.sequence) + " of the stream is not a frame of the session" +
          (error != FrameError::none ? ": " + std::string{to_string(error)} : "") + "; nothing was removed");
    found.compaction.add(StreamSeq{stored.sequence}, frame);
    if (begins_with_reset(frame) && StreamSeq{stored.sequence} <= copied) found.reset_at = stored.stored;
  });
  return found;
}

void compact(nats::NatsStream& stream, const CompactOptions& options, const std::string& session,
             std::optional<std::uint64_t> copied, Output& out) {
  const StoredRecords found = read_session(stream, session, StreamSeq{copied.value_or(UINT64_MAX)});
  const Compaction& compaction = found.compaction;
  const std::uint64_t keep_from = std::to_underlying(compaction.keep_from());
  if (keep_from != 0 && !options.dry_run) stream.remove_before(session, keep_from);
  const std::uint64_t all = compaction.all().frames, useless = compaction.useless().frames;
  const std::string reset_at = store::nanosecond_stamp(found.reset_at);
  if (keep_from != 0)
    out.text.add("{}: {} {} frames, {} bytes, before the reset at {}; {} frames are left", session,
                 options.dry_run ? "would remove" : "removed", useless, compaction.useless().bytes, reset_at,
                 all - useless);
  else if (compaction.has_reset())
    out.text.add("{}: nothing to remove: its {} frames begin with the reset at {}", session, all, reset_at);
  else
    out.text.add("{}: nothing to remove: no reset of the sequence numbers in its {} frames", session, all);
  if (compaction.waits_for_copy())
    out.text.add("; a later reset is not in the stream {} yet, which has frames up to sequence {}",
                 nats::audit_stream(options.stream.stream), copied.value_or(0));
  out.text.add("\n");
  out.flush();
}

std::vector<std::string> sessions_of(nats::NatsStream& stream, const CompactOptions& options) {
  const std::string& one = options.session;
  if (!one.empty()) {
    if (stream.read_after(one, 0, 1).empty()) throw no_frames(options.stream.stream, one);
    return {one};
  }
  std::vector<std::string> names;
  for (const nats::StoredSession& session : stream.list()) names.push_back(session.name);
  return names;
}

int run_compact(const CompactOptions& options) {
  nats::NatsStream stream = open_stream(options.stream);
  try {
    // No session has this name, so nothing is removed: whether this user may.
    if (!options.dry_run) stream.remove_before("_check", 2);
  } catch (const nats::NatsTimeout& error) {
    throw std::runtime_error(std::string{error.what()} +
                             " Use the credentials of admin (--credentials), or --dry-run, which removes nothing");
  }
  Output out;
  bool good = true;
  for (const std::string& session : sessions_of(stream, options)) {
    // Records that the copy does not have yet are not removed.
    const std::optional<std::uint64_t> copied = stream.audit_sequence();
    try {
      compact(stream, options, session, copied, out);
    } catch (const nats::NatsError&) {
      throw;
    } catch (const std::runtime_error& error) {
      print_error("nfx: session {}: {}\n", session, error.what());
      good = false;
    }
  }
  return good ? exit_done : exit_failed;
}

}  // namespace

cli::Command compact_command() {
  static CompactOptions options;
  std::vector<cli::Option> list = options_of(options.stream);
  list.insert(list.begin(), {.names = "--session",
                             .target = &options.session,
                             .help = "Session name in the stream (default: all sessions)",
                             .value = "NAME"});
  list.push_back(
      {.names = "--dry-run", .target = &options.dry_run, .help = "Print what would be removed, and remove nothing"});
  return {
      .name = "compact",
      .summary = "Remove the frames of sessions that are before the last reset of their sequence numbers",
      .run = [] { return run_compact(options); },
      .options = std::move(list),
      .details =
          "Owners continue while it runs. It keeps everything from the last reset of both sequence numbers on, so a "
          "takeover or a ResendRequest finds all it needs. Removed frames cannot be restored. An audit copy keeps its "
          "frames, and frames that it lacks are not removed. Prints one line for each session. It reads all frames, "
          "some hundred at a time, and needs the permission to purge the stream.",
      .examples = {{.line = "nfx cluster compact --dry-run", .about = "what would be removed"},
                   {.line = "nfx cluster compact --session DESK-VENUE --credentials admin.creds",
                    .about = "of one session"}},
  };
}

}  // namespace nfx::app::cluster_tools
