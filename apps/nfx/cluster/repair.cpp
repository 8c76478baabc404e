// nfx cluster repair: removes messages that are not frames from a session's subject. They keep every gateway from
// owning the session.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/frame.hpp"
#include "cluster/options.hpp"
#include "cluster/session_reader.hpp"
#include "command.hpp"
#include "output.hpp"
#include "store/store_commands.hpp"

namespace nfx::app::cluster_tools {
namespace {

using nfx::cluster::Epoch;
using nfx::cluster::FrameError;
using nfx::cluster::FrameNumber;
using nfx::cluster::FrameView;

struct RepairOptions {
  StreamOptions stream;
  std::string session;
  bool remove = false;
};

struct Junk {
  std::uint64_t sequence = 0;
  UtcTime stored{};
  std::size_t bytes = 0;
  std::string why;
};

struct Found {
  std::uint64_t frames = 0;
  std::vector<Junk> junk;
};

// Frames of this session that contradict each other were written by something that has the format: which of them are
// right is not known here.
Found read_subject(nats::NatsStream& stream, const std::string& stream_name, const std::string& session) {
  Found found;
  FrameNumber number{};
  Epoch epoch{};
  const bool has_any = for_each_stored(stream, session, [&](const nats::StoredFrame& stored) {
    FrameView frame;
    const FrameError error = decode_frame(stored.bytes, frame);
    const std::string where = "sequence " + std::to_string(stored.sequence) + " is ";
    if (error == FrameError::unsupported_version)
      throw std::runtime_error(where + std::string{to_string(error)} + ": use that version; nothing was removed");
    if (error != FrameError::none || frame.header.session != nfx::cluster::session_id(session)) {
      found.junk.push_back({.sequence = stored.sequence,
                            .stored = stored.stored,
                            .bytes = stored.bytes.size(),
                            .why = error != FrameError::none ? std::string{to_string(error)}
                                                             : std::string{"a frame of another session"}});
      return;
    }
    if (frame.header.number <= number || frame.header.epoch < epoch)
      throw std::runtime_error(where +
                               "a valid frame that contradicts the ones before it: a process other than a gateway "
                               "has written to the stream; restore the session from the copy for an audit or a "
                               "gateway's journal; nothing was removed");
    number = frame.header.number;
    epoch = frame.header.epoch;
    ++found.frames;
  });
  if (!has_any) throw no_frames(stream_name, session);
  return found;
}

int run_repair(const RepairOptions& options) {
  nats::NatsStream stream = open_stream(options.stream);
  const std::string& session = options.session;
  const Found found = read_subject(stream, options.stream.stream, session);
  Output out;
  for (const Junk& junk : found.junk)
    out.text.add("{}: sequence {}, stored {}, {} bytes: {}\n", session, junk.sequence,
                 store::nanosecond_stamp(junk.stored), junk.bytes, junk.why);
  if (found.junk.empty()) {
    out.text.add("{}: nothing to repair: all {} messages are its frames\n", session, found.frames);
    out.flush();
    return exit_done;
  }
  if (!options.remove) {
    out.text.add("{}: {} messages are not its frames, next to {} that are; --remove deletes them\n", session,
                 found.junk.size(), found.frames);
    out.flush();
    return exit_failed;
  }
  const std::vector<nats::StoredSession> sessions = stream.list();
  const auto stored = std::ranges::find(sessions, session, &nats::StoredSession::name);
  if (stored != sessions.end() && !stored->owner.empty())
    throw std::runtime_error("session " + session + " has an owner, " + stored->owner +
                             ", which will lose it because of these messages; try again when it has none");
  for (const Junk& junk : found.junk) stream.remove_frame(junk.sequence);
  out.text.add("{}: removed {} messages; its {} frames are left, and a gateway can own it\n", session,
               found.junk.size(), found.frames);
  out.flush();
  return exit_done;
}

}  // namespace

cli::Command repair_command() {
  static RepairOptions options;
  std::vector<cli::Option> list = options_of(options.stream);
  list.insert(list.begin(), {.names = "--session",
                             .target = &options.session,
                             .help = "Session name in the stream",
                             .value = "NAME",
                             .required = true});
  list.push_back({.names = "--remove",
                  .target = &options.remove,
                  .help = "Remove the messages that are not frames of the session"});
  return {
      .name = "repair",
      .summary = "List, or with --remove remove, messages on a session's subject that are not its frames",
      .run = [] { return run_repair(options); },
      .options = std::move(list),
      .details =
          "A foreign message on a session's subject stops every gateway from owning the session; each reports \"the "
          "stream has a frame that no owner writes\". A user with permission for the subject published it: change that "
          "user's password or credentials. Frames of the session are never removed. The command needs the permission "
          "to delete messages of the stream, which admin has.",
      .exit_codes = "0 nothing to repair, or removed, 1 there is something to remove, or failed, 2 wrong usage",
      .examples = {{.line = "nfx cluster repair --session DESK-VENUE", .about = "list them"},
                   {.line = "nfx cluster repair --session DESK-VENUE --remove --credentials admin.creds",
                    .about = "then gateways own it again"}},
  };
}

}  // namespace nfx::app::cluster_tools
