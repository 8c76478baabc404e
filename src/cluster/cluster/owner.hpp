// A session's ownership on a replicated stream as a step function: takeover, one frame in flight, release of bytes,
// fencing. It reads no clock and no socket; a caller carries out the actions and returns their answers as events.
// Thread: one per OwnerState. Cost: no allocation after construction; a copy of each record's bytes, and a checksum for
// each frame. Lifetime: an action's bytes are valid until the next step; the event's bytes only during it.
// Errors: what the stream, its servers or another gateway do is an action `stop` with a reason; records that the caller
// must not append are assertions.
//
// Rules that hold whatever is lost, delayed, sent twice or answered from an old state, as long as a stored frame stays
// stored and the stream stores a frame only when the subject's last sequence is the expected one:
//   1. A frame is published with the sequence of its subject's last frame, which every owner has read or been given. So
//      at most one owner's frame follows each frame, and an owner of an earlier epoch stores nothing after a later one.
//   2. One frame is in flight. Without an answer the identical frame is published again; when it is refused, the frame
//      that follows the expected one is read: the identical one was stored, any other one is another owner's.
//      No two frames of one gateway are the same bytes: a claim counts the attempts, later frames have its epoch.
//   3. An owner starts after its own epoch frame was stored and all frames up to it were read, without a gap. Only
//      frames before one that begins with a reset may be missing, because an operator may have removed them.
//   4. Records of a group are in one frame if they fit. Otherwise a frame ends with a record `inbound` if possible: the
//      next owner would repeat an answer that was stored without the message that it answers.
//   5. A candidate that follows reads frames before it claims, with the same checks. A takeover continues after the
//      last one. If the gateway was the owner before, it continues after the last frame that it knows to be stored.
//   6. A record is released when its frame is stored. Durability::async releases earlier, within its limits, and only
//      after its first frame that is not its epoch was stored.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/frame.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/time.hpp"

namespace nfx::cluster {

enum class Durability : std::uint8_t {
  replicated,  // records are released when the stream has stored them
  async,       // up to a limit of messages and bytes earlier; sequence numbers are reserved in blocks
};

// For how long a candidate waits for the next renewal of a lease. Renewals may be late by what this is longer.
[[nodiscard]] constexpr Duration wait_for_lease(Duration lease) noexcept {
  return lease + std::min<Duration>(lease / 4, std::chrono::milliseconds{500});
}

struct OwnerOptions {
  SessionId session{};
  GatewayId gateway{};
  Durability durability = Durability::replicated;
  Duration answer_timeout = std::chrono::seconds{2};      // then a request is sent again
  Duration retry_after = std::chrono::milliseconds{250};  // after an answer that did not help
  Duration lease = std::chrono::seconds{5};               // see wait_for_lease()
  std::uint32_t frame_bytes_max = 256 * 1024;             // with its header
  std::uint32_t pending_bytes_max = 1024 * 1024;          // records that wait for the frame in flight
  std::uint32_t pending_records_max = 4096;
  std::uint32_t async_records_max = 256;  // released and not stored yet
  std::uint32_t async_bytes_max = 256 * 1024;
  std::uint32_t number_block = 1024;        // sequence numbers that async reserves at a time
  std::uint32_t useless_answers_max = 240;  // in a row, before `stop`
  std::uint32_t claims_max = 64;            // of one takeover, before `stop`
  std::uint32_t follow_frames_max = 256;    // that one `follow` reads
};

enum class Phase : std::uint8_t {
  idle,
  following,  // reads what another gateway stores, until there is no more of it
  waiting,    // for the lease of another gateway to end
  reading,    // the subject's last frame
  claiming,   // the epoch frame is in flight
  replaying,
  owning,
};

enum class StopReason : std::uint8_t {
  none,
  fenced,      // another owner's frame follows: close the connection, do not send another byte
  lost_claim,  // another gateway was faster
  contended,   // claims_max claims in vain
  unreadable,  // useless_answers_max answers in vain
  corrupt,     // a frame that no owner writes, or that contradicts the ones before it
  retired,     // as requested: everything is stored, and another gateway may start immediately
  abandoned,   // as requested, without waiting
};

[[nodiscard]] std::string_view to_string(StopReason reason) noexcept;

enum class EventKind : std::uint8_t {
  want,       // become the owner, when the lease of another has ended
  follow,     // read some of the frames that a takeover would read; then the phase is idle. Only in phase idle
  retire,     // store what is pending, then stop; nothing may be appended any more
  abandon,    // stop now
  forget,     // what was recovered is lost: the next reading begins with the first frame. In phase idle or following
  append,     // `record`; allowed when has_space() is true. With `more` it is of a group that `end_group` ends
  end_group,  // what was appended with `more` may be published: no frame ends within a group that fits into one
  stored,     // publish: at `sequence`
  refused,    // publish: the subject's last sequence is another one, as the answering server knows it
  failed,     // publish: an error of another kind, for example a full stream; `bytes`: why, where a server states it
  found,      // read: the frame `bytes` at `sequence`
  none,       // read: there is none, as the answering server knows it
  lease,      // `gateway` holds it now; 0: none does
  timer,      // next_deadline() has passed; at any other time it has no effect
};

struct Event {
  EventKind kind = EventKind::timer;
  std::uint64_t request = 0;  // of answers: what the action had
  StreamSeq sequence{};
  std::string_view bytes{};
  Record record{};
  bool more = false;
  GatewayId gateway{};
};

enum class ActionKind : std::uint8_t {
  publish,      // `bytes` with `sequence` as the subject's expected last sequence
  read_last,    // the subject's last frame
  read_next,    // the subject's first frame after `sequence`
  recover,      // `bytes` is the next frame: its records are the session's history. `first`: it begins again with them
  own,          // listen or connect: the sequence numbers are state.counters
  release,      // records up to the `count`-th one since `own` may be sent, or their processing made visible
  renew_lease,  // a hint for the others
  drop_lease,
  stop,  // `reason`; `count` records since `own` are stored. The phase is idle
};

struct Action {
  ActionKind kind{};
  StopReason reason = StopReason::none;
  bool first = false;
  std::uint64_t request = 0;
  std::uint64_t count = 0;
  StreamSeq sequence{};
  std::string_view bytes{};
};

class Actions {
 public:
  static constexpr std::size_t capacity = 8;

  void push(const Action& action) noexcept {
    NFX_REQUIRE(count_ < capacity);
    actions_[count_++] = action;
  }
  [[nodiscard]] std::span<const Action> list() const noexcept { return {actions_.data(), count_}; }

 private:
  std::array<Action, capacity> actions_{};
  std::size_t count_ = 0;
};

inline constexpr MonotonicTime never = MonotonicTime::max();

// A frame that was published, until it is known to be stored.
struct Flight {
  std::vector<char> bytes;          // empty: none
  StreamSeq expected{};             // the subject's last sequence
  std::uint64_t first_request = 0;  // of its publishes: an answer to any of them is an answer
  std::uint64_t last_record = 0;    // since `own`
  std::uint64_t record_bytes = 0;
  Counters end;
  SeqNum outbound_limit = first_seq_num;
  MonotonicTime sent{};  // for the first time
};

struct OwnerState {
  explicit OwnerState(const OwnerOptions& chosen);

  OwnerOptions options;
  Phase phase = Phase::idle;
  bool retiring = false;
  bool probe = false;  // publish a frame without records, to find out whether another owner has started

  // The subject's last frame, as far as this owner knows; otherwise the last one that was read, with all before it.
  StreamSeq last{};
  FrameNumber number{};
  Epoch epoch{};
  GatewayId gateway{};
  bool has_frame = false;
  Counters counters;                      // in phase owning: after the records appended
  Counters framed;                        // after the last frame that was built
  Counters stored_counters;               // in phase owning: after the last frame that is stored
  SeqNum stored_limit = first_seq_num;    // ... and its limit
  SeqNum outbound_limit = first_seq_num;  // numbers below it are reserved, or will be with the next frame
  SeqNum granted = first_seq_num;         // numbers below it are reserved in the stream; 1: nothing is released early

  std::vector<char> pending;  // records for the next frame
  std::uint32_t pending_records = 0;
  std::size_t pending_ended = 0;  // bytes of pending that may be published: of groups that have ended
  Flight flight;
  std::uint64_t appended = 0;  // records since `own`
  std::uint64_t stored = 0;
  std::uint64_t released = 0;
  MonotonicTime stored_at{};  // when the last frame that is stored was published

  std::uint64_t requests = 0;
  std::uint64_t request = 0;  // of the answer that is expected; 0: none
  MonotonicTime deadline = never;
  MonotonicTime renew_at = never;
  GatewayId lease_of{};
  MonotonicTime lease_end = never;
  std::uint32_t useless_answers = 0;
  std::uint32_t followed = 0;  // frames of this `follow`
  std::uint32_t claims = 0;    // of this takeover
  std::uint32_t attempts = 0;  // claims since the start of the process
};

void step(OwnerState& state, const Event& event, MonotonicTime now, Actions& out) noexcept;

// Whether the last `follow` ended at its limit: there is more to read.
[[nodiscard]] bool is_behind(const OwnerState& state) noexcept;

// When the next timer event has an effect.
[[nodiscard]] MonotonicTime next_deadline(const OwnerState& state) noexcept;

// Whether a record of this kind and size may be appended now. A reset waits until everything before it is stored. When
// false, read no more from the peer and try again after the next release.
[[nodiscard]] bool has_space(const OwnerState& state, RecordKind kind, std::size_t bytes) noexcept;

// Records that were appended and are not stored: if this gateway is lost, `async` may have sent that much without a
// record.
struct Lag {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] Lag lag(const OwnerState& state) noexcept;

}  // namespace nfx::cluster
