// A replicated session of a gateway: its owner, its session in the engine while there is one, and what is between them.
// Thread: the gateway's. Lifetime: that of the gateway.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "cluster/owner.hpp"
#include "gateway/alone.hpp"
#include "gateway/owned_journal.hpp"
#include "gateway/recovered.hpp"
#include "gateway/standby.hpp"
#include "nats/stream_client.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::gateway {

enum class Stage : std::uint8_t {
  none,     // no session of the engine
  opening,  // its journal is compared and opened, on the other thread
  serving,
  leaving,  // it logs out, or was cut; its journal is closed
};

[[nodiscard]] inline cluster::OwnerOptions owner_options(const ClusterConfig& config, const SessionSettings& settings,
                                                         cluster::GatewayId own) {
  cluster::OwnerOptions options{.session = cluster::session_id(replica_name(settings)), .gateway = own};
  if (settings.journal.durability == Durability::async) options.durability = cluster::Durability::async;
  options.lease = config.lease;
  // After an election the frame is stored that much later at most: nothing is heard of a new leader.
  options.answer_timeout = std::chrono::seconds{1};
  options.async_records_max = config.async_messages;
  options.async_bytes_max = config.async_bytes;
  // What one step of the poll thread records goes into one frame, up to what a server of NATS takes by default.
  options.frame_bytes_max = std::size_t{960} * 1024;
  options.pending_bytes_max = 2 * options.frame_bytes_max;
  options.pending_records_max = 32768;
  return options;
}

inline constexpr std::size_t write_messages = 8192;  // as one batch, until all was read

// A replicated session of the configuration.
struct Place {
  Place(const SessionSettings& its_settings, const cluster::OwnerOptions& options)
      : settings(&its_settings),
        name(replica_name(its_settings)),
        id(identity(its_settings.session)),
        state(options),
        recovered(its_settings.journal.retain_messages),
        standby(its_settings),
        has_journal(standby.exists()) {}

  const SessionSettings* settings;
  std::string name;
  std::string id;
  nats::SessionIndex index{};
  cluster::OwnerState state;
  Stage stage = Stage::none;
  bool knows_lease = false;
  MonotonicTime lease_end{};     // of another gateway, without a renewal until then
  bool removed = false;          // by an operator
  Recovered recovered;           // what was read and is not in the journal
  bool reads_all = false;        // the journal is not as it was left: the frames are read again from the first one on
  Standby standby;               // while another gateway owns the session
  bool has_journal = false;      // at the start of this gateway
  bool looked = false;           // into the stream
  bool found_nothing = false;    // ... which has none of the session
  bool follows = false;          // until it has read all that there is
  bool writes = false;           // the opener has its standby, and what was recovered
  bool written = false;          // ... since the last read
  MonotonicTime follow_at{};     // the next time
  MonotonicTime wanted_at{};     // of this takeover
  MonotonicTime not_before{};    // the next one
  MonotonicTime unable_until{};  // to open the session: others go first
  std::optional<MonotonicTime> free_since;  // no gateway has the lease
  cluster::GatewayId unable{};              // the run of the gateway that should have the session, and does not take it
  MonotonicTime lease_asked{};
  OwnedJournal journal;    // while the session exists
  Alone alone;             // without the cluster
  std::size_t number = 0;  // of the engine's session
  MonotonicTime assign_at{};
  std::string last_error, last_warning;
  std::string refusal;  // why the stream does not store the frame in flight; empty: no server has stated it

  [[nodiscard]] bool owns() const noexcept { return state.phase == cluster::Phase::owning; }
  [[nodiscard]] bool is_candidate() const noexcept {
    return state.phase == cluster::Phase::idle || state.phase == cluster::Phase::following;
  }
  // Its claim may be stored, with which the owner until then ends.
  [[nodiscard]] bool claims() const noexcept {
    return state.phase == cluster::Phase::claiming || state.phase == cluster::Phase::replaying;
  }
  // Its session exists, and so does its journal.
  [[nodiscard]] bool is_open() const noexcept { return stage == Stage::serving || stage == Stage::leaving; }
  // The stream has nothing of the session.
  [[nodiscard]] bool is_new() const noexcept { return found_nothing && !state.has_frame; }
  // Records that the owner can be given.
  [[nodiscard]] bool has_records() const noexcept { return is_open() && owns() && journal.has_records(); }

  // A journal is made before the session has messages: that takes longer than to open one.
  [[nodiscard]] bool is_write_due() const noexcept {
    if (recovered.messages.size() >= write_messages) return true;
    return !is_behind(state) && recovered.began && (!recovered.messages.empty() || !recovered.journal);
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
    recovered = began ? Recovered{most, state.counters, *began} : Recovered{most};
    if (!began) reads_all = state.counters != cluster::Counters{};
  }
};

// What became of a session that was to be opened.
struct Opened {
  std::size_t number = 0;
  Comparison comparison;
  std::filesystem::path folder;  // of the journal
  bool noted = false;            // in it: the session continued without the cluster
  std::uint64_t frames = 0;
  std::string error;     // empty: it is there
  bool changed = false;  // only because the journal was: the next takeover reads all frames
};

// For an operator.
[[nodiscard]] inline std::string owned_text(const cluster::OwnerState& state, const Opened& opened, Duration took) {
  const std::optional<Upload>& upload = opened.comparison.upload;
  const cluster::Counters counters = upload ? upload->counters : state.counters;
  std::string text = "owned by this gateway from epoch " + std::to_string(std::to_underlying(state.epoch)) +
                     " on, with next in " + std::to_string(value(counters.inbound)) + ", next out " +
                     std::to_string(value(counters.outbound)) + "; " + std::to_string(opened.frames) +
                     " frames read, " +
                     std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) + " ms";
  if (const std::string compared = opened.comparison.text(); !compared.empty()) text += "; " + compared;
  return text;
}

}  // namespace nfx::gateway
