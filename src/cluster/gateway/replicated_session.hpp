// A replicated session of a gateway: its owner, its session in the engine while there is one, and its journal while
// another gateway owns it.
// Thread: the gateway's, except the journal of a follower, which belongs to a job. Lifetime: as the gateway.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "cluster/owner.hpp"
#include "gateway/owned_journal.hpp"
#include "gateway/ownership.hpp"
#include "gateway/recovered.hpp"
#include "nats/nats_stream.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_store.hpp"

namespace nfx::gateway {

[[nodiscard]] inline cluster::OwnerOptions owner_options(const ClusterConfig& config, const SessionSettings& settings,
                                                         cluster::GatewayId own) {
  cluster::OwnerOptions options{.session = cluster::session_id(replica_name(settings)), .gateway = own};
  if (settings.journal.durability == Durability::async) options.durability = cluster::Durability::async;
  options.lease = config.lease;
  // After an election the frame is stored that much later at most: nothing is heard of a new leader.
  options.answer_timeout = std::chrono::seconds{1};
  options.async_records_max = config.async_messages;
  options.async_bytes_max = config.async_bytes;
  // All records of one step of the poll thread go into one frame, up to a NATS server's default limit.
  options.frame_bytes_max = std::size_t{960} * 1024;
  options.pending_bytes_max = 2 * options.frame_bytes_max;
  options.pending_records_max = 32768;
  return options;
}

inline constexpr std::size_t write_messages = 8192;  // as one batch, until all was read

// The journal of a session that another gateway owns. It gets what the stream has, so that a takeover has little to
// read and to write. Cost: the journal is open; a batch is one write and one sync.
class FollowersJournal {
 public:
  struct Written {
    Followed followed;
    std::string error;     // empty: none; otherwise the journal is closed
    bool changed = false;  // the error: the journal was changed meanwhile, so all frames have to be read again
  };

  explicit FollowersJournal(const SessionSettings& settings) : settings_(settings) {}

  // Moves the messages to the journal, or leaves them in `stream`.
  [[nodiscard]] Written write(Recovered& stream, UtcTime now) {
    try {
      if (!journal_) {
        JournalOptions options = settings_.journal;
        options.durability = Durability::interval;
        journal_.emplace(posix_disk(), options, identity(settings_.session), now);
      }
      return {.followed = follow(*journal_, stream, now).value_or(Followed{}), .error = {}};
    } catch (const std::exception& failure) {
      close();
      return {
          .followed = {}, .error = failure.what(), .changed = dynamic_cast<const JournalChanged*>(&failure) != nullptr};
    }
  }
  // Whether there is a journal already.
  [[nodiscard]] bool exists() const {
    const auto names =
        posix_disk().list(find_session_folder(posix_disk(), settings_.journal.directory, identity(settings_.session)));
    return names && std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".nfxj"); });
  }
  // A session may open the journal.
  void close() noexcept { journal_.reset(); }

 private:
  const SessionSettings& settings_;
  std::optional<JournalStore> journal_;
};

struct ReplicatedSession {
  ReplicatedSession(const SessionSettings& its_settings, const cluster::OwnerOptions& options)
      : settings(&its_settings),
        id(identity(its_settings.session)),
        owner(options),
        recovered(its_settings.journal.retain_messages),
        standby(its_settings),
        known{.name = replica_name(its_settings), .has_journal = standby.exists()} {}

  const SessionSettings* settings;
  std::string id;
  nats::SessionIndex index{};
  cluster::OwnerState owner;
  Recovered recovered;       // what was read and is not in the journal
  FollowersJournal standby;  // while another gateway owns the session
  OwnershipState known;
  Decision decision;             // the last one
  bool writes = false;           // a job has its standby, and what was recovered
  MonotonicTime wanted_at{};     // of this takeover
  OwnedJournal journal;          // while the session exists
  std::filesystem::path folder;  // of the journal
  std::size_t number = 0;        // of the engine's session
  std::string last_error, last_warning, note_error;
  std::string refusal;  // why the stream does not store the frame in flight; empty: no server has stated it

  [[nodiscard]] bool owns() const noexcept { return owner.phase == cluster::Phase::owning; }
  // Its session exists, and so does its journal.
  [[nodiscard]] bool is_open() const noexcept { return known.stage == Stage::serving || known.stage == Stage::leaving; }
  // Records that the owner can be given.
  [[nodiscard]] bool has_records() const noexcept { return is_open() && owns() && journal.has_records(); }

  [[nodiscard]] OwnershipFacts facts() const {
    OwnershipFacts facts{.phase = owner.phase,
                         .retiring = owner.retiring,
                         .lease_of = owner.lease_of,
                         .has_frame = owner.has_frame,
                         .is_behind = is_behind(owner),
                         .is_write_due = is_write_due(),
                         .journal_busy = writes || journal.has_files_open()};
    if (!owner.flight.bytes.empty()) facts.unanswered_since = owner.flight.sent;
    if (known.stage != Stage::none && owns()) facts.is_stored = journal.is_stored(owner);
    if (!is_open()) return facts;
    facts.journal_closed = journal.closed();
    facts.has_rest = journal.has_rest(owner);
    return facts;
  }
  // The next frame that the owner has read.
  void recover(const cluster::Action& action) {
    cluster::FrameView frame;
    const cluster::FrameError error = decode_frame(action.bytes, frame);
    NFX_REQUIRE(error == cluster::FrameError::none);  // the owner has read it
    if (action.first) recovered = Recovered{settings->journal.retain_messages};
    recovered.add(frame);
  }
  // After an ownership with `stored` records: they need not be read again, because they are in the journal.
  void keep(std::uint64_t stored) {
    const std::size_t most = settings->journal.retain_messages;
    const auto began = journal.stored_begin().after(stored);
    recovered = began ? Recovered{most, owner.counters, *began} : Recovered{most};
    if (!began) known.reads_all = owner.counters != cluster::Counters{};
  }

 private:
  // A journal is made before the session has messages: that takes longer than to open one.
  [[nodiscard]] bool is_write_due() const noexcept {
    if (recovered.messages.size() >= write_messages) return true;
    return !is_behind(owner) && recovered.began && (!recovered.messages.empty() || !recovered.journal);
  }
};

// The result of opening a session.
struct Opened {
  std::size_t number = 0;
  Comparison comparison;
  std::filesystem::path folder;  // of the journal
  bool noted = false;            // in it: the session continued without the cluster
  std::uint64_t frames = 0;
  std::string error;     // empty: it exists
  bool changed = false;  // only because the journal was: the next takeover reads all frames
};

// For an operator.
[[nodiscard]] inline std::string owned_text(const cluster::OwnerState& owner, const Opened& opened, Duration took) {
  const std::optional<Upload>& upload = opened.comparison.upload;
  const cluster::Counters counters = upload ? upload->counters : owner.counters;
  std::string text = "owned by this gateway from epoch " + std::to_string(std::to_underlying(owner.epoch)) +
                     " on, with next in " + std::to_string(value(counters.inbound)) + ", next out " +
                     std::to_string(value(counters.outbound)) + "; " + std::to_string(opened.frames) +
                     " frames read, " +
                     std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) + " ms";
  if (const std::string compared = opened.comparison.text(); !compared.empty()) text += "; " + compared;
  return text;
}

}  // namespace nfx::gateway
