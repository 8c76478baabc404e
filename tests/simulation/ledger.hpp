// The guarantees of both engines, recorded outside of them: every sequence number with its bytes, every message that
// send() accepted, every delivery. It receives events and records the first violation. It excuses effects of a fault,
// and requires that fault each time: it knows both clocks, the connection on which a Logon was sent, and when a disk
// was full.
// Thread: one owner. Memory: some 64 bytes for each message of the run, 4 for each sequence number of an epoch, and a
// few dozen for each Logon.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/schedule.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "simulation/trace.hpp"
#include "store/journal_store.hpp"

namespace nfx::simulation {

// How the process ended whose store is opened again.
enum class End : std::uint8_t {
  orderly,  // it logged out and closed
  killed,   // the process was killed; files and shared memory remain
  crashed,  // the machine crashed; unsynced data may be lost
};

[[nodiscard]] std::string_view to_string(End end) noexcept;

struct Reopened {
  End end = End::orderly;
  Durability durability = Durability::interval;  // of the ended process
  bool between_turns = true;                     // it was not in the middle of an operation
  bool same_numbering = true;                    // the store still knows of the last reset
  bool new_numbering = false;                    // ... and has an epoch that the ledger does not know
  bool failed = false;                           // the store had reported that it failed
  SeqNum next_inbound{};
  SeqNum next_outbound{};
};

struct LedgerCounts {
  std::uint64_t acknowledged = 0;     // send() returned a number
  std::uint64_t delivered = 0;        // first deliveries
  std::uint64_t delivered_again = 0;  // marked PossDup, after a receiver forgot
  std::uint64_t resent = 0;           // messages that were compared with their originals
  std::uint64_t gap_fills = 0;
  std::uint64_t session_messages = 0;
  std::uint64_t resets = 0;  // number of epochs started by one side
  std::uint64_t given_up_at_reset = 0;
  std::uint64_t lost_tail = 0;  // in a power loss, as permitted by the durability
  std::uint64_t rejected = 0;   // refused by the peer's session, with a Reject
  std::uint64_t refusals = 0;   // Logouts with a text
  std::uint64_t overtaken = 0;  // Logons refused because a newer connection had been used before they arrived
};

// Facts about the world that do not follow from its events.
struct LedgerFacts {
  Instant begin{};                                             // of both clocks, before one is set
  Duration max_latency = Duration::max();                      // maximum permitted error of SendingTime
  std::array<std::shared_ptr<const Schedule>, 2> schedules{};  // by side; null: none
  Duration retain_age{};                                       // a store may forget older messages; 0: none
};

class Ledger {
 public:
  Ledger(Trace& trace, LedgerFacts facts);

  // An engine composed a message: its bytes as seen by the application, before they are sent.
  void composed(Side from, std::string_view bytes);
  // send() returned this number for the message with this id.
  void acknowledged(Side from, SeqNum seq, std::uint64_t id);
  // The transport took this message for a connection; a side's connections are counted through all its processes.
  void left(Side from, std::uint64_t connection, std::string_view bytes);
  void received(Side at, std::string_view bytes);
  // True if the application sees it for the first time.
  bool delivered(Side at, const MessageView& message);
  // A session's next sequence numbers between two iterations, and whether its store still accepts records.
  void stands(Side at, SeqNum next_inbound, SeqNum next_outbound, bool store_works = true);
  // Everything with a lower number is durable.
  void synced(Side at);
  // A store was opened again; `read` returns its messages.
  void reopened(Side at, const Reopened& found, const std::function<std::optional<std::string_view>(SeqNum)>& read);
  // An operator set the sequence numbers of a session that had lost some.
  void repaired(Side at, SeqNum next_inbound, SeqNum next_outbound);
  // An operator set them while the process ran: next out has increased, next in has decreased.
  void operated(Side at, const NextNumbers& set);
  // The first numbers that cannot contradict the peer's knowledge.
  [[nodiscard]] SeqNum safe_inbound(Side at) const noexcept { return SeqNum{parties_[index(at)].next_in}; }
  [[nodiscard]] SeqNum safe_outbound(Side at) const noexcept { return SeqNum{parties_[index(at)].next_left}; }

  // The world is quiet: both sides must agree, and every sent message must have been delivered.
  void quiet(const NextNumbers& venue, const NextNumbers& trader);
  // The number of messages still missing for that.
  [[nodiscard]] std::uint64_t missing() const noexcept;

  // Time passes, and an operator sets the clock of a side.
  void at(MonotonicTime now) noexcept { now_ = now; }
  void set_clock(Side side, Duration offset) { parties_[index(side)].clock.push_back({now_, offset}); }
  // The disk of a side is full from here on, or has space again.
  void disk_full(Side side, bool full) noexcept;
  // Whether a boundary of the schedule allows this side to reset its sequence numbers.
  void connection_ended(Side at) noexcept { parties_[index(at)].on_connection = 0; }
  void may_reset(Side side, bool may) noexcept { parties_[index(side)].may_reset = may; }
  [[nodiscard]] std::uint32_t numbering(Side side) const noexcept { return parties_[index(side)].numbering; }

  void violate(Side side, const std::string& text);
  [[nodiscard]] const std::optional<std::string>& violation() const noexcept { return violation_; }
  // Why sessions rejected or logged out, and how often.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& refusal_texts() const noexcept { return refusal_texts_; }
  [[nodiscard]] const LedgerCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

  // "8=FIX..." to the number of the order or report it carries; 0 for session messages.
  [[nodiscard]] static std::uint64_t id_of(const MessageView& message) noexcept;

 private:
  struct Message {
    std::uint64_t seq = 0;
    std::uint64_t hash = 0;
    UtcTime sent{};  // its SendingTime
    std::uint32_t numbering = 0;
    bool composed = false;
    bool acknowledged = false;
    bool delivered = false;
    const char* excused = nullptr;  // why it need not be delivered
  };
  struct ClockSetting {
    MonotonicTime since;
    Duration offset;
  };
  // A received message whose sequence number the session has not passed yet.
  struct Receipt {
    std::uint64_t seq;
    UtcTime came;  // by the receiver's clock
    UtcTime sent;  // by the sender's
  };
  struct Rejection {  // a message that need not arrive any more, once its number counts
    std::uint64_t seq;
    std::uint64_t id;
  };
  struct SentLogon {
    std::uint64_t connection = 0;
    std::uint32_t numbering = 0;  // the receiver's epoch when the Logon was sent
  };
  struct Party {
    std::vector<Message> messages;       // by id, from 1
    std::vector<std::uint32_t> numbers;  // of this epoch, from 1: the id under each, 0 for the session's own messages
    std::uint32_t numbering = 0;
    std::uint64_t next_out = 1;
    std::uint64_t next_in = 1;
    std::uint64_t highest_in = 1;   // before an operator set it back, which a crash may undo
    std::uint64_t next_left = 1;    // one more than the last number sent
    std::uint64_t next_synced = 1;  // one more than the last durable number
    bool may_reset = false;
    bool asked_reset = false;         // by a Logon with number 1
    bool logon_left = false;          // the Logon that asked for it
    std::uint64_t on_connection = 0;  // the last number received that was not a duplicate
    std::uint64_t kept_out = 1;       // both sequence numbers when its store last worked
    std::uint64_t kept_in = 1;
    std::vector<ClockSetting> clock;
    std::optional<MonotonicTime> room_since = MonotonicTime::min();  // since when its disk has space; empty if full
    std::vector<Receipt> receipts;
    std::vector<Rejection> rejections;                    // sent by this side in the current iteration
    std::unordered_map<std::uint64_t, SentLogon> logons;  // sent Logons, by a hash of the bytes
    std::uint64_t newest_heard = 0;                       // newest of the peer's connections that brought a Logon
    bool overtaken = false;                               // the last message was a Logon of an older connection
    MonotonicTime logon_came{};
    bool of_past_session = false;  // ... was a Logon sent before this side's numbers restarted
  };

  void begin_numbering(Side at);
  void begin_after_logon(Side at);  // which has number 1
  void forget_from(Side at, std::uint64_t seq);
  void check_resent(Side from, const MessageView& message, std::uint64_t seq);
  void check_gap_fill(Side from, const MessageView& message, std::uint64_t seq);
  [[nodiscard]] static std::uint64_t number_of(const MessageView& message, Tag tag) noexcept;  // 0: none
  void note_refusal(Side from, const MessageView& message);
  void note_reject(Side from, const MessageView& reject, std::string_view why);
  void note_logout(Side from, std::string_view why);
  void note_logon_received(Side at, std::string_view bytes);
  void settle_rejections(Side at, std::uint64_t next_inbound);
  [[nodiscard]] bool times_explain_refusal(Side at, std::optional<std::uint64_t> seq) const;
  [[nodiscard]] bool written_lately(Side from, UtcTime sent) const;
  [[nodiscard]] UtcTime utc(Side side) const;
  [[nodiscard]] bool may_be_forgotten(Side at, const Message& message) const;
  [[nodiscard]] UtcTime without_offset(MonotonicTime time) const {
    return facts_.begin.utc + (time - facts_.begin.monotonic);
  }
  void check_sending_time(Side from, const MessageView& made);
  [[nodiscard]] Message& message(Side from, std::uint64_t id);
  [[nodiscard]] const Message* under(Side from, std::uint64_t seq) const;

  Trace& trace_;
  LedgerFacts facts_;
  MonotonicTime now_;
  std::array<Party, 2> parties_;
  MessageView view_;
  LedgerCounts counts_;
  std::map<std::string, std::uint64_t> refusal_texts_;
  std::optional<std::string> violation_;
};

}  // namespace nfx::simulation
