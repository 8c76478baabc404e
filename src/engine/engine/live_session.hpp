// One session that a poll loop serves: the session's state, its store, its connection, and what is due when.
// Thread: made on any thread, then the poll thread's. Cost: memory for one connection is allocated here, once; send()
// is one step of the session and a copy into the store. Errors: the constructor throws StoreError when the store cannot
// be opened.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/connection.hpp"
#include "engine/latency_ledger.hpp"
#include "engine/line_limits.hpp"
#include "engine/reconnect.hpp"
#include "engine/send_gate.hpp"
#include "engine/session_end.hpp"
#include "engine/session_meter.hpp"
#include "engine/session_stores.hpp"
#include "engine/submissions.hpp"
#include "nexusfix/config/engine_config.hpp"
#include "nexusfix/engine/session_handle.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_message.hpp"
#include "store/session_store.hpp"

namespace nfx {

class SessionRunner;

inline constexpr std::uint32_t no_place = UINT32_MAX;

// What a journal has synced, for the send gate. Without a journal nothing is held back.
struct JournalCommits {
  JournalStore* journal;

  [[nodiscard]] bool holds_back() const noexcept { return journal != nullptr && journal->holds_back(); }
  [[nodiscard]] CommitPosition position() const noexcept { return journal->position(); }
  [[nodiscard]] CommitPosition committed() const noexcept { return journal->durable(); }
  void request_commit() const noexcept { journal->want_sync(); }
};
static_assert(CommitSource<JournalCommits>);
static_assert(no_commit_position == unset_position);

struct LiveSessionOptions {
  SessionSettings settings;
  std::size_t number = 0;  // the application's id of the session
  std::size_t max_message_size = 0;
  UtcTime now{};
  bool from_template = false;
};

class LiveSession final : public SessionHandle, private SessionMessageHook {
 public:
  LiveSession(SessionRunner& owner, SessionStores& its_stores, LiveSessionOptions options);
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // SessionHandle.
  [[nodiscard]] const SessionConfig& config() const noexcept override { return session.config(); }
  [[nodiscard]] std::size_t id() const noexcept override { return number; }
  [[nodiscard]] bool logged_on() const noexcept override { return session.logged_on(); }
  [[nodiscard]] SeqNum next_inbound() const noexcept override { return session.next_inbound(); }
  [[nodiscard]] SeqNum next_outbound() const noexcept override { return session.next_outbound(); }
  [[nodiscard]] const SessionCounters& counters() const noexcept override { return counts; }
  [[nodiscard]] Instant now() const noexcept override;
  [[nodiscard]] const JournalStore* journal() const noexcept override { return journal_store; }
  [[nodiscard]] std::optional<UtcTime> received_at() const noexcept override;
  std::expected<SeqNum, SendError> do_send(const Outgoing& message) noexcept override;
  void flush() noexcept override;
  std::expected<SeqNum, SendError> do_reject_business(const MessageView& refused, BusinessRejectReason reason,
                                                      std::string_view text) noexcept override;
  void begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields,
                   std::uint64_t version) noexcept override;
  [[nodiscard]] std::expected<SeqNum, SendError> send_draft(Draft& draft) noexcept override;
  void end_draft(Draft& draft) noexcept override;
  // Our Logon has the password of an initiator: a Logon was encoded just now, or has been sent.
  void note_logon() noexcept { logon_end = std::max(logon_end, is_initiator() ? connection.out.end() : 0); }
  void clear_logon() noexcept { connection.out.clear_sent(std::exchange(logon_end, std::size_t{0})); }
  // The output is about to be used otherwise.
  void discard_draft() noexcept {
    if (open_draft == nullptr) [[likely]]
      return;
    open_draft->fail(SendError::discarded);
    open_draft = nullptr;
  }
  void logout(std::string_view text) noexcept override;
  void logon() noexcept override;
  void reset_sequence_numbers() noexcept override;
  void drop_connection() noexcept override;

  [[nodiscard]] bool is_acceptor() const noexcept { return settings.session.role == Role::acceptor; }
  [[nodiscard]] bool is_initiator() const noexcept { return settings.session.role == Role::initiator; }
  // ThrottleAction::delay: messages may have to wait, and so may everything after them.
  [[nodiscard]] bool delays() const noexcept {
    return settings.session.throttle_rate != 0 && settings.session.throttle_action == ThrottleAction::delay;
  }
  [[nodiscard]] bool may_send_now() const noexcept {
    return logged_on() && !session.sending_held() && !session.reset_asked() && !connection.out.blocked();
  }
  // Submitted messages are before the next one.
  [[nodiscard]] bool has_kept() const noexcept { return kept != nullptr && kept->size() != 0; }
  // What was received may have to wait before it is processed: for the throttle, or for space in the journal.
  [[nodiscard]] bool may_wait() const noexcept { return delays() || journal_store != nullptr; }
  [[nodiscard]] JournalCommits commits() const noexcept { return {journal_store}; }
  // What the application has logged out is remembered as that, while a callback's failure is not its decision.
  [[nodiscard]] bool logged_out_by_program() const noexcept { return !enabled && !callback_failed; }
  // What the program or an operator has decided would be forgotten with the session.
  [[nodiscard]] bool has_decisions() const noexcept { return logged_out_by_program() || session.sending_held(); }
  [[nodiscard]] SessionTimes times() const noexcept {
    const auto when = [](UtcTime time) { return time == UtcTime{} ? std::nullopt : std::optional{time}; };
    return {.logged_on_since = when(logged_on_since),
            .last_in = when(last_in),
            .last_out = when(last_out),
            .unhandled_since = when(connection.unhandled.held() ? connection.unhandled.since().utc : UtcTime{}),
            .in_hours = in_hours};
  }
  // The earliest time at which something is due.
  [[nodiscard]] MonotonicTime next_event() const noexcept {
    return std::min({session.next_deadline(), reconnect.at(), connection.connect_deadline, schedule_at,
                     connection.parked.until(), cancel_at, connection.out.reader_deadline(), full_until, leave_at,
                     challenge_at});
  }

  SessionRunner& runner;
  SessionStores& stores;
  SessionSettings settings;    // after the start SessionRunner::change() alone changes it
  std::uint32_t revision = 0;  // of them: how often that was
  const std::size_t number;
  const std::string name = identity(settings.session);
  const std::string listen_name = to_string(settings.listen);
  std::uint32_t index = no_place;  // in the roster
  Session session;
  SessionStore store;
  JournalStore* const journal_store;   // the store's; null when it is memory
  const bool stores_received;          // as the settings have it
  std::string_view received;           // then, the message that is processed
  const std::uint64_t version_key;     // of BeginString; 0: FIXT.1.1, which takes messages of all versions
  const std::size_t longest_sent;      // that the send buffer is sure to have space for when the peer reads
  const std::size_t longest_received;  // that is delivered, and stored where that is wanted
  const std::size_t journal_room;      // bytes of the journal below which a message waits to be received
  SessionCounters counts;
  // The times of the events that carried the last messages, and of the Logon of this session; the epoch: none.
  UtcTime last_in{}, last_out{}, logged_on_since{};
  bool in_hours = true;  // as of apply_schedule(): its schedule allows a Logon
  SessionEnd last_end;
  EndReason ends_because = EndReason::none;  // of the connection that is open, where this side ends it
  LineLimits line_limits;
  TokenBucket logon_rate;             // of Logons that were accepted
  std::shared_ptr<SessionBook> book;  // in the runner's ledger, from the first connection on
  SessionMeter meter;

  ConnectionMemory memory;
  Connection connection{memory};
  std::size_t logon_end = 0;  // of the output's memory, where our Logons were

  Draft* open_draft = nullptr;  // begun in the output's room, and neither sent nor given up

  bool enabled = true;
  bool callback_failed = false;       // it is not enabled because of that; logon() ends both
  bool reset_recorded = false;        // that a reset was asked for and is not answered
  bool store_trouble = false;         // reported, until the store is good again
  bool full_too_long = false;         // full_until has passed
  bool in_callback = false;           // in a callback that lends bytes which acting on the session would move
  bool up = false;                    // on_logon was called, and on_logout not yet
  bool drained = false;               // it is not enabled because the engine drains
  bool removing = false;              // it goes when its connection has ended
  bool removed_by_request = false;    // for its sequence numbers, should it be added again
  std::uint64_t records_refused = 0;  // by the journal, as far as reported

  SubmitState submit_state;
  std::unique_ptr<SpscQueue> kept;  // submitted messages that wait for the Logon; null until the first one

  Reconnect reconnect;
  MonotonicTime schedule_at = MonotonicTime::max();
  MonotonicTime cancel_at = MonotonicTime::max();
  MonotonicTime full_until = MonotonicTime::max();  // how long it waits for space on its disk
  std::string cancel_reason;

  // For a session that a template made: it is removed from memory at this time unless it is connected; it lost its last
  // connection at `gone_at`.
  const bool from_template;
  MonotonicTime leave_at = MonotonicTime::max();
  MonotonicTime gone_at = MonotonicTime::max();

  // A second Logon, on a connection that waits while this session's peer has time to answer a TestRequest.
  ConnectionId challenger = no_connection;
  MonotonicTime challenge_at = MonotonicTime::max();
  MonotonicTime next_challenge{};  // a second Logon before this is refused without a TestRequest

 private:
  static constexpr std::size_t answer_room = 16 * 1024;          // several times what an answer may need
  static constexpr std::size_t longest_replicated = 128 * 1024;  // of a frame
  static constexpr std::size_t header_room = 512;  // the session's own fields, with CompIDs of common length

  void on_sending(SessionMessage& message) noexcept override;
  [[nodiscard]] std::optional<SendError> cannot_send(std::size_t size) noexcept;
  [[nodiscard]] SendError why_no_room() noexcept;
  [[nodiscard]] SendError why_not_stored() noexcept;
  template <class Event>
  std::expected<SeqNum, SendError> send_step(Event&& event) noexcept;
};

}  // namespace nfx
