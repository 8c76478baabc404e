// Which gateway owns a session: decided from the knowledge of one gateway, without a thread, a clock or a connection.
// The caller notes leases, ends of ownerships and ended jobs, and carries out the results of decide().
// Thread: one. Cost: some compares; assign() for each gateway that goes before, if the session has no owner, and once
// each assign_again if it has one. Errors: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/assignment.hpp"
#include "cluster/owner.hpp"
#include "gateway/operator_settings.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::gateway {

// The gateways of the configuration: which are alive, by the leases that they renew, and which of them a session goes
// to: the input of assign().
class Members {
 public:
  Members(const ClusterConfig& config, cluster::GatewayId own);

  // Operators' settings take precedence over the configuration.
  void set(OperatorSettings settings) { settings_ = std::move(settings); }
  // A renewed lease; `gateway` 0: it has ended. False: another process has this gateway's name.
  [[nodiscard]] bool on_lease(std::size_t member, cluster::GatewayId gateway, MonotonicTime now);

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] std::size_t self() const noexcept { return self_; }
  [[nodiscard]] cluster::GatewayId own() const noexcept { return own_; }
  [[nodiscard]] const std::string& name(std::size_t member) const noexcept { return members_[member].name; }
  // The name of the gateway that a lease states; empty: a gateway that is not known.
  [[nodiscard]] std::string name_of(cluster::GatewayId gateway) const;
  // The run of a gateway.
  [[nodiscard]] cluster::GatewayId run_of(std::size_t member) const noexcept {
    return member == self_ ? own_ : members_[member].id;
  }
  [[nodiscard]] bool is_alive(std::size_t member, MonotonicTime now) const noexcept {
    return member == self_ || members_[member].alive_until > now;
  }
  [[nodiscard]] bool is_alone(MonotonicTime now) const noexcept;

  // As if the gateways of `lost` were not alive.
  [[nodiscard]] cluster::Assignment owner_of(const std::string& session, MonotonicTime now,
                                             std::span<const std::size_t> lost = {}) const;
  // How many of the gateways that are alive the session goes to before this one.
  [[nodiscard]] std::size_t rank(const std::string& session, MonotonicTime now) const;
  // Whether this gateway owns the session when any one gateway is lost.
  [[nodiscard]] bool is_next(const std::string& session, MonotonicTime now) const;
  // Whether an owner gives a session up: it stays where it is, unless it is to be elsewhere by configuration. A gateway
  // whose run `unable` is does not get it.
  [[nodiscard]] bool gives_up(const std::string& session, MonotonicTime now, cluster::GatewayId unable = {}) const;

 private:
  [[nodiscard]] bool drains(std::size_t member) const;

  struct Member {
    std::string name;
    bool draining = false;
    MonotonicTime alive_until{};
    cluster::GatewayId id{};  // but of this gateway
  };

  Duration lease_;
  cluster::GatewayId own_;
  std::size_t self_ = 0;
  std::vector<Member> members_;
  std::vector<std::pair<std::string, std::string>> pins_;  // session, gateway
  OperatorSettings settings_;
};

enum class Stage : std::uint8_t {
  none,     // no session of the engine
  opening,  // its journal is compared and opened, on another thread
  serving,
  leaving,  // it logs out, or was cut; its journal is closed
};

// The note in the journal's folder that the session continued without the cluster (AloneNote). Another thread writes
// and removes it; the caller sets written, failed and none when it has done so.
enum class NoteState : std::uint8_t { none, writing, written, failed, kept, removing };

// A gateway's knowledge of a session from one decision to the next.
struct OwnershipState {
  std::string name;
  bool has_journal = false;  // at the start of this gateway
  // Set by the caller.
  Stage stage = Stage::none;
  NoteState note = NoteState::none;
  bool looked = false;         // into the stream
  bool found_nothing = false;  // ... which has none of the session
  bool reads_all = false;      // the journal was changed meanwhile: the frames are read again from the first one on
  // Set by note_lease(), note_stop() and note_not_opened().
  bool knows_lease = false;
  MonotonicTime lease_end{};     // of another gateway, without a renewal until then
  MonotonicTime not_before{};    // the next takeover
  MonotonicTime unable_until{};  // to open the session: others go first
  // Set by decide().
  bool removed = false;                       // by an operator
  bool alone = false;                         // it continues with its journal alone
  bool follows = false;                       // until it has read all that there is
  bool written = false;                       // ... to the journal, since the last read
  MonotonicTime follow_at{};                  // the next time
  std::optional<MonotonicTime> free_since{};  // no gateway has the lease
  cluster::GatewayId unable{};  // the run of the gateway that should have the session, and does not take it
  MonotonicTime lease_asked{}, assign_at{};
};

// Other facts at the time of a decision.
struct OwnershipFacts {
  cluster::Phase phase = cluster::Phase::idle;  // of its owner
  bool retiring = false;
  cluster::GatewayId lease_of{};
  bool has_frame = false;                           // the stream has something of the session
  bool is_behind = false;                           // there is more to follow
  bool is_write_due = false;                        // to the journal, of what was followed
  bool may_follow = true;                           // not as many as may follow at a time do
  bool journal_busy = false;                        // another thread writes it, or its files are open
  bool journal_closed = false;                      // the engine has ended the session
  bool has_rest = false;                            // the owner has not been given all of the journal
  bool is_stored = false;                           // the stream has all that has ended
  std::optional<MonotonicTime> unanswered_since{};  // when the frame in flight was published
  bool gateway_ends = false;
};

struct OwnershipRules {
  Duration lease{};
  WhenLost when_lost = WhenLost::stop;
  Duration lost_after{};
  MonotonicTime begin{};    // when this gateway knows who is alive
  Duration follow_again{};  // between two looks at what another gateway stores
};

enum class Act : std::uint8_t {
  wait,  // until `until`, or until something else is known
  // Without a session of the engine.
  read_again,     // forget what was read of the stream
  ask_for_lease,  // who has it
  end_lease,      // of the gateway that has not renewed it
  own,            // begin a takeover
  follow,         // read what another gateway has stored
  write,          // what was read to the journal
  abandon,        // the takeover
  // With one.
  cut,             // it ends here, because nothing is stored, and may have an owner again
  write_note,      // before it continues alone
  continue_alone,  // what its journal has may leave
  continue_with_cluster,
  remove_note,  // the cluster has all of it
  end_removed,  // an operator has removed the session, until the next start
  give_up,      // it logs out and continues on another gateway
  retire,       // all that the journal has is given to the owner
  close,        // it has left
};

struct Decision {
  Act act = Act::wait;
  MonotonicTime until = cluster::never;
  friend bool operator==(const Decision&, const Decision&) = default;
};

inline constexpr int leases_for_each = 3;  // of the gateways that a free session goes to before
inline constexpr Duration assign_again{std::chrono::milliseconds{250}};
inline constexpr Duration retry_after{std::chrono::seconds{1}};  // a takeover that failed
inline constexpr Duration lease_request{std::chrono::seconds{1}};

// The next thing to do for the session. To be called again when that is done, until it is `wait`.
[[nodiscard]] Decision decide(OwnershipState& session, const OwnershipFacts& facts, const Members& members,
                              const OwnershipRules& rules, MonotonicTime now);

// The stream states who has the session's lease.
void note_lease(OwnershipState& session, cluster::GatewayId holder, const Members& members, const OwnershipRules& rules,
                MonotonicTime now);
// The owner's action `stop`.
void note_stop(OwnershipState& session, cluster::StopReason reason, MonotonicTime now);
// Its journal could not be opened; `changed`: only because another program has changed it.
void note_not_opened(OwnershipState& session, bool changed, const Members& members, const OwnershipRules& rules,
                     MonotonicTime now);

// Whether the server that the gateway is connected to is useful: compares attempts to store, or to read data for a
// takeover, with successful ones.
class ServerTries {
 public:
  // Shorter than an election of the servers, which takes 4 to 9 seconds: a server that does not reach the others cannot
  // be distinguished from one that waits for them, and changing the server in an election costs nothing.
  static constexpr Duration shortest{std::chrono::seconds{3}};
  // As most clusters have. After that many it is not the server, and the time is doubled.
  static constexpr int servers = 3, doublings_max = 2;
  static constexpr Duration last_wait{std::chrono::milliseconds{250}};

  // After a pause, in which there was nothing to try, these are new ones.
  void note_try(MonotonicTime now) noexcept {
    if (!since_ || now - last_ > shortest) since_ = now;
    last_ = now;
  }
  void note_success() noexcept { *this = {}; }
  // The next server has as long.
  void note_change() noexcept {
    since_.reset();
    ++changes_;
  }
  // They were repeated for long enough, and none succeeded; the last one may be the first after an election.
  [[nodiscard]] bool in_vain(MonotonicTime now) const noexcept {
    const Duration longest = shortest * (1 << std::min(changes_ / servers, doublings_max));
    return since_ && last_ - *since_ >= longest && now - last_ >= last_wait;
  }

 private:
  MonotonicTime last_{};
  std::optional<MonotonicTime> since_;  // the first one since the last success or change
  int changes_ = 0;                     // of the server, since the last success
};

// Why the stream does not store a frame, as a server states it: no other server would store it either.
[[nodiscard]] bool is_full(std::string_view description) noexcept;
// For an operator, with the remedy.
[[nodiscard]] std::string refusal_text(std::string_view description);

}  // namespace nfx::gateway
