// The state of a link and its parts: rails and their statuses, the stream of records, sent transfers, received
// transfers. A state machine over the rails: it reads no clock and makes no system call of its own.
//
// How a rail ends: Each end closes its side, which is a fence: nothing of that connection changes or reads its memory
// any more. With every status, the ends report what they have closed, over the other rails or by reopening this one.
// Writes that may have been lost are sent again only when both sides are closed: records that the peer does not have,
// and pages that a query finds missing. So a page is in flight over at most one connection, and a late write cannot
// land in memory that was already reported.
//
// Thread: the owner of the link. Callbacks are made at the end of poll(), or where no state depends on them any more.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/link_wire.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"

namespace nfx::fabric {

enum class RailPhase : std::uint8_t { closed, opening, greeting, up };

// The use of a rail's operation slot.
struct Operation {
  NumberKind kind = NumberKind::none;
  std::uint32_t index = 0;  // for a page: the transfer; for a record or status: its slot
  std::uint32_t age = 0;    // number of write deadlines started since
};

struct LinkRail {
  LinkRail(RailRef ref, RailLimits its_limits) noexcept : rail(ref), limits(its_limits) {}

  RailRef rail;
  RailLimits limits;
  RailPhase phase = RailPhase::closed;
  bool awaits_peer = false;  // closed here, but the peer may still have writes in its memory
  bool again = false;
  bool status_due = false;
  std::optional<RailChange> report;

  std::uint32_t incarnation = 0;       // number of openings of this end
  std::uint32_t closed = 0;            // the last one that was closed
  std::uint32_t peer_incarnation = 0;  // of this connection; 0: unknown
  std::uint32_t fence = 0;             // with awaits_peer: the incarnation that the peer must have closed

  std::uint64_t posted = 0;         // numbers of pages and records since opening
  std::uint64_t peer_consumed = 0;  // how many of them the peer has consumed
  std::uint64_t consumed = 0;       // the peer's that this end has consumed
  std::uint64_t consumed_reported = 0;
  std::uint32_t peer_window = 0;

  std::uint64_t version = 0;        // the last status sent
  std::uint64_t statuses_seen = 0;  // received by the peer, up to this one without a gap
  std::uint64_t peer_version = 0;   // the last status that arrived without a gap before it
  std::uint32_t peer_versions = 0;  // bit i: version peer_version + 1 + i has also arrived
  std::uint64_t newest = 0;         // the highest version that arrived
  std::uint64_t version_reported = 0;
  std::uint32_t status_busy = 0;  // bit per slot: its write is not completed

  MonotonicTime reopen_at{};
  MonotonicTime opened_at{};
  MonotonicTime heard_at{};
  MonotonicTime progress_at{};  // of posted writes
  MonotonicTime status_at{};
  MonotonicTime again_since{};
  MonotonicTime aged_at{};  // when the age of the operations last increased

  std::vector<Operation> operations;
  std::vector<std::uint32_t> free;
};

enum class RecordState : std::uint8_t { free, queued, posted, suspect };

struct RecordOut {
  RecordState state = RecordState::free;
  bool busy = false;  // its write is not completed
  bool again = false;
  std::uint8_t rail = 0;
};

// The state of a sent page: one of these, `on` a rail, or `suspect` of a rail that this end has closed.
struct PageState {
  static constexpr std::uint8_t pending = 0;
  static constexpr std::uint8_t confirmed = 1;
  static constexpr std::uint8_t lost = 2;  // its rail is closed at both ends; a query decides
  static constexpr std::uint8_t on(std::size_t rail) noexcept { return static_cast<std::uint8_t>(0x20 | rail); }
  static constexpr std::uint8_t suspect(std::size_t rail) noexcept { return static_cast<std::uint8_t>(0x40 | rail); }
};
static_assert(max_rails <= 0x20);

enum class SendPhase : std::uint8_t {
  free,
  waiting,  // for the peer's receive()
  sending,
  draining,  // is ending: nothing more is posted, and writes in flight must arrive or be fenced
  ended,     // only completions of this end are missing
};

struct SendTransfer {
  SendPhase phase = SendPhase::free;
  TransferId id{};
  PageRange from;
  std::uint8_t slot = 0;  // the peer's slot
  std::uint8_t generation = 0;
  RegionIndex remote_region{};
  std::uint64_t remote_offset = 0;
  std::vector<std::uint8_t> states;  // per page
  std::uint32_t next = 0;            // the first page that was never posted
  std::uint32_t again = 0;           // number of pending pages before it
  std::uint32_t scan = 0;            // no pending page is before this one
  std::uint32_t busy = 0;            // writes without a completion
  std::uint32_t query = 0;           // its number changes when an answer to the previous query would be wrong
  bool query_due = false;
  bool query_open = false;
  bool cancelled = false;
  TransferResult result = TransferResult::complete;
  MonotonicTime posted_at{};
  MonotonicTime queried_at{};
  MonotonicTime drain_since{};

  [[nodiscard]] bool has_pages() const noexcept {
    return phase == SendPhase::sending && (next < from.pages || again != 0);
  }
};

// An offer of the peer's receive(), by its slot, and what this end still owes for it.
struct Offer {
  bool open = false;  // not yet matched by a send()
  bool ended_due = false;
  std::uint8_t generation = 0;
  TransferId id{};
  PageRange into;
  TransferResult result = TransferResult::cancelled;  // with ended_due
};

enum class ReceivePhase : std::uint8_t {
  free,
  open,
  complete,  // reported; this end still owes the peer the record `done`
  ended,     // to be reported
};

struct ReceiveTransfer {
  ReceivePhase phase = ReceivePhase::free;
  TransferId id{};
  PageRange into;
  std::uint8_t generation = 0;
  bool offer_due = false;
  bool cancel_due = false;
  bool have_due = false;
  TransferResult result = TransferResult::complete;
  std::uint32_t received = 0;
  std::uint32_t query = 0;
  std::uint32_t have_next = 0;
  std::vector<std::uint64_t> bits;
};

class LinkCore {
 public:
  LinkCore(std::span<const RailRef> rails, const LinkOptions& options, LinkEvents& events);
  LinkCore(const LinkCore&) = delete;
  LinkCore& operator=(const LinkCore&) = delete;
  ~LinkCore();

  // link.cpp
  std::expected<RegionIndex, std::string> add_region(const Region& region);
  std::size_t poll(MonotonicTime now) noexcept;
  void stop() noexcept;
  void restart(std::uint64_t session, MonotonicTime now);

  // link_records.cpp
  std::expected<RecordSeq, LinkError> send_record(std::span<const std::byte> record) noexcept;
  void acknowledge(RecordSeq through) noexcept;

  // link_send.cpp
  std::expected<void, LinkError> send(TransferId id, const PageRange& from) noexcept;
  void cancel_send(TransferId id) noexcept;

  // link_receive.cpp
  std::expected<void, LinkError> receive(TransferId id, const PageRange& into) noexcept;
  void cancel_receive(TransferId id) noexcept;

  [[nodiscard]] bool lost() const noexcept { return loss_.has_value(); }
  [[nodiscard]] std::span<const LinkRail> rails() const noexcept { return rails_; }
  [[nodiscard]] RecordSeq last_sent() const noexcept { return RecordSeq{application_sent_}; }
  [[nodiscard]] RecordSeq last_acknowledged() const noexcept { return RecordSeq{application_acknowledged_}; }
  [[nodiscard]] const LinkCounters& counters() const noexcept { return counters_; }

 private:
  // link.cpp
  void begin();
  void lose(LossReason reason) noexcept;
  void report() noexcept;
  void report_loss() noexcept;
  [[nodiscard]] std::expected<void, LinkError> check_range(const PageRange& range) const noexcept;

  // link_rails.cpp
  std::size_t serve(std::size_t rail) noexcept;
  void take_number(std::size_t rail, const Completion& completion) noexcept;
  void maintain() noexcept;
  void maintain_rail(std::size_t rail) noexcept;
  void greet(std::size_t rail) noexcept;
  void come_up(std::size_t rail, const Status& status) noexcept;
  void close_rail(std::size_t rail, RailChange change) noexcept;
  void peer_has_closed(std::size_t rail) noexcept;
  // Leaves `reserve` operation slots and credits for more important writes.
  [[nodiscard]] bool can_post(const LinkRail& rail, std::uint32_t reserve) noexcept;
  [[nodiscard]] static std::uint32_t window_of(const LinkRail& rail) noexcept {
    return rail.limits.arrivals - 2 * status_slots;
  }
  // Whether a write of this size may use this rail, which is up.
  [[nodiscard]] bool may_have(std::size_t rail, std::uint32_t size) const noexcept {
    const std::uint32_t preferred =
        size <= options_.choice.small_most ? options_.choice.small_rails : options_.choice.large_rails;
    return (preferred >> rail & 1U) != 0 || (preferred & up_) == 0;
  }
  WriteResult post(std::size_t rail, Write write, Operation operation) noexcept;
  void release(LinkRail& rail, std::uint32_t slot) noexcept;
  [[nodiscard]] bool has_lost_completion(LinkRail& rail) noexcept;
  [[nodiscard]] std::uint32_t fingerprint() const noexcept;

  // link_status.cpp
  void take_status(std::size_t rail, std::uint32_t number) noexcept;
  void apply_status(std::size_t rail, const Status& status) noexcept;
  void greeted(std::size_t rail, const Status& status) noexcept;
  void send_statuses() noexcept;
  bool send_status(std::size_t rail) noexcept;
  void status_everywhere() noexcept;

  // link_records.cpp
  std::expected<std::uint64_t, LinkError> queue_record(RecordKind kind, std::span<const std::byte> first,
                                                       std::span<const std::byte> second,
                                                       std::uint64_t reserve) noexcept;
  bool queue_note(RecordKind kind, const TransferNote& note, std::span<const std::byte> bits = {}) noexcept;
  bool post_record(std::uint64_t seq) noexcept;
  void post_queued() noexcept;
  void take_record(std::size_t rail, std::uint32_t number) noexcept;
  void deliver_records(std::size_t rail) noexcept;
  void take_arrived(std::uint64_t arrived) noexcept;
  void suspect_records(std::size_t rail) noexcept;
  void forget_early_records(std::size_t rail) noexcept;
  void queue_suspects(std::size_t rail) noexcept;

  // link_send.cpp
  bool take_note(RecordKind kind, const TransferNote& note, std::span<const std::byte> bits) noexcept;
  bool take_offer(const TransferNote& note) noexcept;
  void pair(SendTransfer& transfer, std::uint8_t slot) noexcept;
  void take_done(const TransferNote& note) noexcept;
  void take_cancel(const TransferNote& note) noexcept;
  bool take_have(const TransferNote& note, std::span<const std::byte> bits) noexcept;
  void settle_query(SendTransfer& transfer) noexcept;
  static void end_send(SendTransfer& transfer, TransferResult result) noexcept;
  void start_draining(SendTransfer& transfer) noexcept;
  std::size_t post_pages() noexcept;
  std::size_t post_batch(std::size_t rail) noexcept;
  SendTransfer* next_with_pages(std::size_t rail) noexcept;
  WriteResult post_page(std::size_t rail, SendTransfer& transfer, bool more) noexcept;
  void suspect_pages(std::size_t rail) noexcept;
  void lose_suspect_pages(std::size_t rail) noexcept;
  void maintain_send(SendTransfer& transfer) noexcept;
  void close_rails_of(const SendTransfer& transfer) noexcept;
  void queue_send_notes() noexcept;
  void finish_sends() noexcept;
  [[nodiscard]] SendTransfer* send_of(const TransferNote& note) noexcept;

  // link_receive.cpp
  bool take_page(const Completion& completion) noexcept;
  void take_ended(const TransferNote& note) noexcept;
  void take_query(const TransferNote& note) noexcept;
  void queue_receive_notes() noexcept;
  bool queue_have(ReceiveTransfer& transfer, std::uint8_t slot) noexcept;
  void finish_receives() noexcept;
  void free_receive(ReceiveTransfer& transfer) noexcept;

  const LinkOptions options_;
  LinkEvents& events_;
  LinkLayout layout_;
  Region region_;
  std::vector<LinkRail> rails_;
  std::uint32_t up_ = 0;  // bit per rail
  std::vector<const Region*> regions_;
  MonotonicTime now_{};

  // The members below belong to one session: restart() resets them from begin() on.
  bool begun_ = false;
  bool polled_ = false;
  std::optional<LossReason> loss_;
  bool loss_reported_ = false;
  bool rails_report_ = false;
  std::uint64_t session_ = 0;
  std::uint64_t peer_session_ = 0;
  std::uint32_t fingerprint_ = 0;
  MonotonicTime maintain_at_{};
  MonotonicTime up_at_{};  // last time when a rail was up

  std::vector<RecordOut> out_;  // by slot
  std::uint64_t sent_ = 0;      // the last used sequence number
  std::uint64_t arrived_ = 0;   // up to here at the peer
  std::uint64_t queued_ = 0;
  MonotonicTime records_at_{};  // when the oldest record that has not arrived became the oldest
  std::uint64_t application_sent_ = 0;
  std::uint64_t application_acknowledged_ = 0;

  std::vector<std::uint8_t> early_;  // by slot: index + 1 of the rail that brought a record that is not delivered yet
  std::uint64_t delivered_ = 0;
  std::uint64_t application_received_ = 0;
  std::uint64_t acknowledged_ = 0;  // by this end's application
  std::size_t acknowledge_rail_ = 0;

  std::vector<SendTransfer> sends_;
  std::vector<Offer> offers_;
  std::uint32_t open_sends_ = 0;
  std::size_t turn_ = 0;
  std::size_t rail_turn_ = 0;
  bool send_notes_due_ = false;

  std::vector<ReceiveTransfer> receives_;
  bool receive_notes_due_ = false;
  bool receives_ended_ = false;

  alignas(cache_line) LinkCounters counters_;
  [[maybe_unused]] alignas(cache_line) std::byte end_{};
};

}  // namespace nfx::fabric
