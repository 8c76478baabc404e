// The FIX session layer as a pure step function: an event, the time and the state in; actions and the new state out.
// It uses no socket, file, clock or thread, so the same code runs in tests, simulation and production.
// Thread: one owner. Cost: no allocation after construction; an application message in sequence costs its validation
// and a few lookups. Lifetime: actions borrow the event's message and the caller's output space.
// Errors: whatever the peer does results in actions. Source: FIX 4.2 and 4.4 session protocol, see docs/session.md.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/memory.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/session/actions.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/session/token_bucket.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

// One outgoing message. Texts are complete fields ("97=Y<SOH>"), empty where there are none.
struct OutgoingMessage {
  std::string_view msg_type{};
  SeqNum seq{};
  bool poss_dup = false;
  std::string_view orig_sending_time{};    // value of 122; empty: no such field
  std::string_view header_fields{};        // optional header fields before 122
  std::string_view header_fields_after{};  // optional header fields after 122
  std::string_view header_fields_last{};   // those after 369, where 369 is between them
  std::optional<SeqNum> last_processed{};  // value of 369
  std::string_view body{};
};

// Puts the session's header and trailer around a body: one write of each byte, exact BodyLength, no padding.
// Thread: the session's. Cost: no allocation; the header comes from the session's HeaderTemplate.
// Field order: 8 9 35 34 [43] 49 52 56, the session's own 50 57 142 143, other header fields ascending with 122 and
// 369 among them, body, 10.
class Composer {
 public:
  explicit Composer(const SessionConfig& config);

  // Writes the message at the start of `out` and returns its size, or empty when it does not fit.
  [[nodiscard]] std::optional<std::size_t> compose(const OutgoingMessage& message, UtcTime now,
                                                   std::span<char> out) noexcept {
    const std::size_t size = write(message, now, out);
    return size != 0 ? std::optional{size} : std::nullopt;
  }

  // Begins a message whose body the caller writes with the encoder. header_fields: as in OutgoingMessage.
  void begin(Encoder& encoder, std::string_view msg_type, SeqNum seq, std::string_view header_fields,
             std::optional<SeqNum> last_processed, UtcTime now, std::span<char> room) noexcept;

  // "YYYYMMDD-HH:MM:SS[.fff]" as this session writes it; the view lasts until the next call.
  [[nodiscard]] std::string_view sending_time(UtcTime now) noexcept { return header_.sending_time(now); }

  // The complete fields after TargetCompID(56) that every message of the session has.
  [[nodiscard]] std::string_view own_fields() const noexcept { return own_fields_; }

 private:
  // 0 when it does not fit. (g++ returns an optional by way of memory, which costs as much as a field.)
  [[nodiscard]] std::size_t write(const OutgoingMessage& message, UtcTime now, std::span<char> out) noexcept;

  std::string own_fields_;
  HeaderTemplate header_;
};

// Messages received out of order, beyond a sequence gap, stored until the gap is filled.
// Thread: the session's. Cost: one copy per push, none per take; memory is mapped once and takes pages when it is
// used. Bounds: messages and bytes; push() returns false when full (the resend delivers the message again).
class GapQueue {
 public:
  GapQueue(std::uint32_t max_messages, std::uint32_t max_bytes);

  // Stores a copy. True when it is stored, or was already; false when full.
  [[nodiscard]] bool push(SeqNum seq, std::string_view message) noexcept;

  // Removes and returns the message with this sequence number; everything below it is dropped. The bytes are valid
  // until the next push().
  [[nodiscard]] std::optional<std::string_view> take(SeqNum seq) noexcept;

  // The lowest stored sequence number that is not below `seq`; everything below is dropped.
  [[nodiscard]] std::optional<SeqNum> first_from(SeqNum seq) noexcept {
    while (first_ != last_ && entries_[first_].seq < seq) ++first_;
    if (first_ == last_) return std::nullopt;
    NFX_ASSERT(first_ < last_ && entries_[first_].seq >= seq);
    return entries_[first_].seq;
  }

  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return last_ - first_; }

 private:
  struct Entry {
    SeqNum seq;
    std::uint32_t offset;
    std::uint32_t size;
  };

  std::uint32_t max_messages_;
  std::uint32_t max_bytes_;
  PageArray<Entry> entries_;  // [first_, last_) ascending by sequence number
  PageArray<char> bytes_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t used_bytes_ = 0;  // high-water mark of bytes_
};

class SessionMessageHook;

class Session {
 public:
  // The largest number of 18 digits, the most that a field is read with. It is never consumed, so that the peer can
  // read every sequence number that we send.
  static constexpr SeqNum seq_num_limit{999'999'999'999'999'999};

  explicit Session(const SessionConfig& config);

  // Events. Each may append actions; the caller carries them out in order before the next event.

  // The connection is established: an initiator sends its Logon, an acceptor waits for the peer's.
  void on_connect(Instant now, Actions& out) noexcept;
  // The connection is closed; `why` is the transport's reason, empty when it has none. It must be valid until the
  // actions are carried out.
  void on_disconnect(std::string_view why, Instant now, Actions& out) noexcept;
  // A message whose framing, BodyLength and CheckSum are correct.
  void on_message(const MessageView& message, Instant now, Actions& out) noexcept;
  // With verify_checksum = false: whether this message, whose CheckSum is wrong, may be handed to on_message, because
  // it is one that fills a gap.
  [[nodiscard]] bool accepts_wrong_check_sum(const MessageView& message) const noexcept;
  // Bytes that are not a message. Ignored, except where a Logon is expected. `length` names BodyLength and the limit
  // where the announced length is what is wrong, and is empty otherwise. A message whose length is wrong in
  // max_resend_attempts answers to our ResendRequests, over all connections, is given up: its number counts as
  // received.
  void on_garbled(WireError error, std::string_view bytes, std::string_view length, Instant now, Actions& out) noexcept;
  // The connection is about to end while this message is incomplete, and will not become whole: the answer to every
  // request of the connection.
  void on_incomplete(std::string_view bytes, std::string_view length, Instant now, Actions& out) noexcept;
  // A message with a right BodyLength and CheckSum that is beyond a limit of ours; `head` has its first fields, `limit`
  // names the limit. Its sequence number counts as received, because a resend would be as large; nothing of it is
  // delivered.
  void on_too_large(const MessageView& head, std::string_view limit, Instant now, Actions& out) noexcept;
  // The peer has sent bytes that wait for held_until() or for space in the store. It counts as received for the
  // heartbeat timeout.
  void on_held(Instant now) noexcept;
  // The message that was delivered with this number was not handled: it is the next one again. True: the caller keeps
  // it, reads nothing more, and hands it to on_queued_message() later; no gap is requested again meanwhile. False: the
  // connection has ended, so that the peer resends it, or the session has started over.
  [[nodiscard]] bool take_back(SeqNum seq) noexcept;
  // Call at or after next_deadline(); early calls do no harm.
  void on_timer(Instant now, Actions& out) noexcept;

  // The stored out-of-order message that is next in sequence, if there is one: parse it and pass it to
  // on_queued_message. Call until empty after every on_message.
  [[nodiscard]] std::optional<std::string_view> take_queued() noexcept;
  void on_queued_message(const MessageView& message, Instant now, Actions& out) noexcept;

  // Requests from the application.
  [[nodiscard]] std::expected<SeqNum, SendError> send(const Outgoing& message, Instant now, Actions& out) noexcept;
  // Like send(), in two parts: between them the caller writes the body in place, with the encoder's fields(), and calls
  // nothing else of the session. `room` is the output space of the second part's actions, or a part of it.
  [[nodiscard]] std::expected<void, SendError> begin(std::string_view msg_type, std::string_view header_fields,
                                                     Instant now, std::span<char> room, Encoder& encoder) noexcept;
  [[nodiscard]] std::expected<SeqNum, SendError> finish(Encoder& encoder, Instant now, Actions& out) noexcept;
  // Refuses a received application message: BusinessMessageReject, or Reject before FIX 4.2. One that is a
  // BusinessMessageReject itself gets none: bad_message.
  [[nodiscard]] std::expected<SeqNum, SendError> reject_business(const MessageView& refused,
                                                                 BusinessRejectReason reason, std::string_view text,
                                                                 Instant now, Actions& out) noexcept;
  // Sends Logout and waits for the peer's.
  void logout(std::string_view text, Instant now, Actions& out) noexcept;
  // Ends the session for a fault of this side: Logout, then disconnect without waiting for the answer, so that nothing
  // more is received.
  void abandon(std::string_view text, Instant now, Actions& out) noexcept;
  // Resets both sequence numbers to 1 at a session's time boundary. Only between connections.
  void start_over(Actions& out) noexcept;
  // Sends a Logon with ResetSeqNumFlag=Y on the open connection: both sequence numbers restart at 1, whatever the peer
  // does, as at a time of the schedule. A reset that is asked for by reset_numbers() changes them when the peer answers
  // or goes on with its number 1; until then send() refuses. Without an answer it is asked for again: an initiator's
  // next Logons have the flag, up to max_reset_attempts; an acceptor sees in the peer's next Logon whether it has
  // reset.
  void reset_sequence_numbers(Instant now, Actions& out) noexcept;
  static constexpr std::uint32_t max_reset_attempts = 5;
  // Such a reset is not answered yet. It outlives the connection, and with restore_asked_reset() the process.
  [[nodiscard]] bool reset_asked() const noexcept { return reset_out_ != SeqNum{}; }
  void restore_asked_reset() noexcept;
  // Sends a TestRequest ahead of time, while logged on: the session ends when nothing arrives within `answer_within`.
  void probe(Duration answer_within, Instant now, Actions& out) noexcept;
  // A TestRequest is unanswered, and nothing else has arrived since.
  [[nodiscard]] bool probing() const noexcept { return test_pending_; }
  // Whether on_timer() ends the connection because the peer does not answer a TestRequest or Logout.
  [[nodiscard]] bool peer_times_out(MonotonicTime now) const noexcept {
    return phase_ == Phase::logged_on ? test_pending_ && now >= test_deadline_
                                      : phase_ == Phase::logout_sent && now >= phase_deadline_;
  }

  // Requests of an operator.

  // Whether the next sequence numbers still equal the ones an operator has seen: compare them before a request, so that
  // two operators cannot undo each other's work unseen.
  [[nodiscard]] bool has_numbers(const NextNumbers& seen) const noexcept;
  // Sets the next sequence numbers. Without a connection any numbers are possible. While logged on, out can only grow,
  // and the skipped numbers are gap-filled; in can only fall, and the peer's messages are requested again.
  [[nodiscard]] OperatorResult set_numbers(const NextNumbers& wanted, Instant now, Actions& out) noexcept;
  // Has the peer resend its messages from this number on. They are delivered again, marked as possible duplicates.
  [[nodiscard]] OperatorResult request_again(SeqNum from, Instant now, Actions& out) noexcept;
  // Both to 1: while logged on when the peer agrees, see above; by start_over() without a connection.
  [[nodiscard]] OperatorResult reset_numbers(Instant now, Actions& out) noexcept;
  // Sends a TestRequest now. The session ends when nothing arrives within the time that its heartbeats allow.
  [[nodiscard]] OperatorResult test_peer(Instant now, Actions& out) noexcept;
  // While held, send() refuses every message of the application. Session messages, answers to ResendRequests and
  // rejects of the peer's messages are sent. Survives the connection, not the process.
  [[nodiscard]] OperatorResult hold_sending(bool held) noexcept;
  [[nodiscard]] bool sending_held() const noexcept { return sending_held_; }
  // A ResendRequest of this side is not answered completely.
  [[nodiscard]] bool gap_open() const noexcept { return gap_.requested_to != SeqNum{}; }

  // When a message last arrived, on the connection that is open.
  [[nodiscard]] MonotonicTime last_received() const noexcept { return last_received_; }

  // Answers ResendRequests from the caller's store: read(seq) returns the stored message with that sequence
  // number, or empty for session messages and for messages that are not stored. Sends as many as fit the output space;
  // call again while replaying(). `stored` is the size of all stored messages in bytes.
  template <class Read>
  void continue_replay(Read&& read, MessageView& scratch, std::uint64_t stored, Instant now, Actions& out) noexcept {
    stored_bytes_ = stored;
    replay_held_until_ = MonotonicTime{};
    for (int step = 0; step < max_replay_steps && replaying() && !out.nearly_full(); ++step) {
      if (!replay_one(read(replay_.next), scratch, now, out)) return;
    }
  }
  [[nodiscard]] bool replaying() const noexcept { return replay_.next != SeqNum{}; }
  // When the next message may be resent, while resend_rate or repeated_resend_rate delays it; otherwise the clock's
  // epoch.
  [[nodiscard]] MonotonicTime replay_held_until() const noexcept { return replay_held_until_; }

  // With ThrottleAction::delay: when this message may be handed to on_message. The caller stores it until then and
  // reads nothing more from the connection.
  [[nodiscard]] MonotonicTime held_until(const MessageView& message) const noexcept {
    if (config_.throttle_action != ThrottleAction::delay) return MonotonicTime{};
    const Throttled as = throttled_as(message);
    return as == Throttled::no ? MonotonicTime{} : throttles_[static_cast<std::size_t>(as)].ready_at();
  }

  // When on_timer is due; MonotonicTime::max() when nothing is.
  [[nodiscard]] MonotonicTime next_deadline() const noexcept;

  // Completes the session messages that are sent; null: they are sent unchanged. It outlives the session.
  void set_hook(SessionMessageHook* hook) noexcept { hook_ = hook; }

  // Whether this message of the peer may be stored: it has no password, and store_omit_types and store_omit_fields do
  // not name it.
  [[nodiscard]] bool may_store(const MessageView& received) const noexcept;

  [[nodiscard]] const SessionConfig& config() const noexcept { return config_; }
  // Swaps the settings that may change at any time with those in `wanted`; next_deadline() follows them.
  void change(SessionConfig& wanted) noexcept { swap_live_settings(config_, wanted); }
  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] bool logged_on() const noexcept { return phase_ == Phase::logged_on; }
  [[nodiscard]] SeqNum next_inbound() const noexcept { return next_in_; }
  [[nodiscard]] SeqNum next_outbound() const noexcept { return next_out_; }
  [[nodiscard]] std::chrono::seconds heartbeat_interval() const noexcept { return heartbeat_; }
  [[nodiscard]] std::uint32_t queued() const noexcept { return queue_.size(); }

  // Brings what the next message's header is made from up to date. Changes nothing of what is sent.
  void warm(UtcTime now) noexcept { static_cast<void>(composer_.sending_time(now)); }

  // Sets the sequence numbers that a store has recovered, before the first connection.
  void restore(SeqNum next_inbound, SeqNum next_outbound) noexcept;

 private:
  friend class StepCheck;

  using Version = SessionRules;
  enum class Position : std::uint8_t { low, equal, high };

  struct Range {
    SeqNum next{};
    SeqNum last{};
  };
  struct Replay : Range {
    SeqNum gap_begin{};  // first sequence number of the gap fill being collected; 0: none
  };
  struct Gap {
    SeqNum requested_to{};  // last sequence number of the outstanding ResendRequest; 0: none outstanding
    SeqNum wanted_to{};     // last sequence number known to be missing; above requested_to with chunks
    SeqNum progress{};      // next_in_ when progress was last checked
    MonotonicTime retry_at{};
    std::uint32_t attempts = 0;
    std::uint64_t garbled = 0;  // messages with a wrong CheckSum in answer to the ResendRequest
  };
  // A message that was requested and came with a wrong length. Outlives the connection.
  struct Unreadable {
    SeqNum number{};
    std::uint32_t answers = 0;
    std::uint32_t request = 0;  // the last one that is counted, as resend_requests_ has it
  };

  // logon.cpp
  void receive_first(const MessageView& message, Instant now, Actions& out) noexcept;
  void receive_logon_rejected(const MessageView& message, Actions& out) noexcept;
  void receive_logon(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void accept_logon(const MessageView& message, SeqNum seq, SeqNum our_next, Instant now, Actions& out) noexcept;
  void receive_reset_logon(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void settle_asked_reset(const MessageView& message, SeqNum seq, Actions& out) noexcept;
  [[nodiscard]] bool shows_reset(const MessageView& message) const noexcept;
  void finish_reset(Actions& out) noexcept;
  void reset_unanswered(Actions& out) noexcept;
  // Whether the current numbers begin with a reset that the peer has not answered.
  [[nodiscard]] bool awaits_reset() const noexcept { return reset_sent_ && reset_out_ != SeqNum{}; }
  [[nodiscard]] bool logon_terms_acceptable(const MessageView& message, Instant now, Actions& out) noexcept;
  [[nodiscard]] bool may_reset(Instant now, Actions& out) noexcept;
  void take_application_version(const MessageView& logon) noexcept;
  void send_logon(bool reset, std::optional<SeqNum> next_expected, Instant now, Actions& out) noexcept;
  [[nodiscard]] bool numbers_acceptable(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;

  // receive.cpp
  // Who sent a message, and when: looked up once and used several times.
  struct Origin {
    explicit Origin(const MessageView& message) noexcept;
    std::uint32_t sender, target, sent_at;  // indexes into the message, or npos
    UtcTime sent{};                         // SendingTime
    bool has_time;                          // SendingTime exists and is a time
  };
  void process(const MessageView& message, bool queued, Instant now, Actions& out) noexcept;
  void dispatch(const MessageView& message, SeqNum seq, Position position, Instant now, Actions& out) noexcept;
  void receive_in_sequence(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void receive_high(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void receive_too_large(const MessageView& head, std::string_view limit, Instant now, Actions& out) noexcept;
  void receive_low(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void receive_sequence_reset(const MessageView& message, SeqNum seq, Position position, Instant now,
                              Actions& out) noexcept;
  void receive_resend_request(const MessageView& message, SeqNum seq, Position position, Instant now,
                              Actions& out) noexcept;
  void receive_logout(const MessageView& message, SeqNum seq, Position position, Instant now, Actions& out) noexcept;
  void deliver(const MessageView& message, SeqNum seq, Actions& out) noexcept;
  // Which rate limit a message counts for.
  enum class Throttled : std::uint8_t { application, session, no };
  [[nodiscard]] Throttled throttled_as(const MessageView& message) const noexcept;
  [[nodiscard]] bool over_throttle(const MessageView& message, Position position, Instant now) noexcept;
  // False: it is processed as any other.
  [[nodiscard]] bool receive_too_many(const MessageView& message, SeqNum seq, Position position, Instant now,
                                      Actions& out) noexcept;
  [[nodiscard]] bool is_garbled_resend(WireError error, std::string_view bytes) noexcept;
  [[nodiscard]] bool gives_up_on(std::optional<SeqNum> number, std::uint32_t requests = 1) noexcept;
  void note_gap_fill(SeqNum first, SeqNum new_seq, Actions& out) noexcept;
  // After a message that was garbled or answered with Reject.
  void count_invalid(Instant now, Actions& out) noexcept;
  [[nodiscard]] const Dictionary* dictionary_for(const MessageView& message) const noexcept;
  [[nodiscard]] bool content_acceptable(const MessageView& message, SeqNum seq, const Origin& origin, Instant now,
                                        Actions& out) noexcept;
  [[nodiscard]] bool sender_acceptable(const MessageView& message, SeqNum seq, const Origin& origin, bool queued,
                                       Instant now, Actions& out) noexcept;
  [[nodiscard]] bool poss_dup_acceptable(const MessageView& message, SeqNum seq, Instant now, Actions& out) noexcept;
  void advance_past(SeqNum seq, Instant now, Actions& out) noexcept;
  void set_next_inbound(SeqNum seq, Instant now, Actions& out) noexcept;
  void close_gap(Instant now, Actions& out) noexcept;
  void request_resend(SeqNum up_to, Instant now, Actions& out, bool redundant = false) noexcept;

  // operator_request.cpp
  [[nodiscard]] bool numbers_may_change() const noexcept;
  void receive_again(SeqNum from, Instant now, Actions& out) noexcept;

  // session.cpp
  void send_test_request(MonotonicTime answer_by, Instant now, Actions& out) noexcept;
  [[nodiscard]] MonotonicTime deadline_without_heartbeats(MonotonicTime due) const noexcept;

  // send.cpp
  [[nodiscard]] std::expected<SeqNum, SendError> send_application(const Outgoing& message, Instant now,
                                                                  Actions& out) noexcept;
  bool send_session_message(std::string_view type, std::string_view header_fields, std::string_view body, Instant now,
                            Actions& out) noexcept;
  // Writes a session message, completed by the hook. Its size, or why there is none.
  [[nodiscard]] std::expected<std::size_t, std::string_view> compose_session_message(OutgoingMessage message,
                                                                                     Instant now,
                                                                                     std::span<char> out) noexcept;
  // A session message received and accepted, for the program to see.
  static void show(const MessageView& message, SeqNum seq, Actions& out) noexcept;
  // Rejects a message; its sequence number is consumed when it was the expected one.
  void reject(const MessageView& rejected, SeqNum seq, SessionRejectReason reason, std::optional<Tag> tag, Instant now,
              Actions& out) noexcept;
  // A Reject that should be rejected: it is not answered.
  void take_wrong_reject(const MessageView& wrong, SeqNum seq, SessionRejectReason reason, Instant now,
                         Actions& out) noexcept;
  void reject_and_logout(const MessageView& rejected, SeqNum seq, SessionRejectReason reason, Instant now,
                         Actions& out) noexcept;
  void send_logout(std::string_view text, Instant now, Actions& out) noexcept;
  // Logout with text, then disconnect; both with the reason when it is for a Logon.
  void refuse(std::string_view text, Instant now, Actions& out, LogonRefusalReason reason = {}) noexcept;
  void disconnect(std::string_view text, Ending ending, Actions& out, LogonRefusalReason reason = {}) noexcept;
  [[nodiscard]] bool omitted_from_store(const Outgoing& message) const noexcept;
  [[nodiscard]] bool omitted_from_store(std::string_view fields) const noexcept;
  [[nodiscard]] std::optional<SendError> cannot_send() const noexcept;
  // The value of LastMsgSeqNumProcessed(369), when the session sends it.
  [[nodiscard]] std::optional<SeqNum> last_processed() const noexcept {
    if (!config_.send_last_msg_seq_num_processed) return std::nullopt;
    if (awaits_reset()) return SeqNum{};
    return processing_ == next_in_ ? processing_ : previous(next_in_);
  }
  void reset_counters(Actions& out) noexcept;
  void forget_gaps() noexcept;  // on both sides, with what waits for them
  void note(Notice notice, SeqNum seq, std::string_view text, Actions& out) noexcept;
  // The texts one after the other, as far as text_ has space.
  std::string_view join(std::initializer_list<std::string_view> texts) noexcept;
  std::string_view format(std::string_view before, SeqNum first, std::string_view between, SeqNum second) noexcept;

  // resend.cpp
  bool replay_one(std::optional<std::string_view> stored, MessageView& scratch, Instant now, Actions& out) noexcept;
  [[nodiscard]] bool within_resend_budget(std::uint64_t bytes, Instant now, Actions& out) noexcept;
  bool send_replayed(std::string_view stored, MessageView& scratch, Instant now, Actions& out) noexcept;
  bool send_gap_fill(SeqNum begin, SeqNum next_seq, Instant now, Actions& out) noexcept;
  void queue_replay(SeqNum first, SeqNum last, Actions& out) noexcept;
  void finish_replay(Instant now, Actions& out) noexcept;

  // Sequence numbers handled by one call of continue_replay, so that a long run of session messages does not delay the
  // other sessions.
  static constexpr int max_replay_steps = 4096;

  SessionConfig config_;
  Version version_;
  Composer composer_;
  SessionMessageHook* hook_ = nullptr;
  GapQueue queue_;

  Phase phase_ = Phase::disconnected;
  bool sending_held_ = false;
  SeqNum next_in_ = first_seq_num;
  SeqNum next_out_ = first_seq_num;
  SeqNum processing_{};  // sequence number of the message being processed
  std::chrono::seconds heartbeat_{0};
  std::uint8_t peer_appl_ver_id_ = appl_ver_id_count;  // the peer's DefaultApplVerID; appl_ver_id_count: unknown
  bool reset_sent_ = false;                            // our Logon had ResetSeqNumFlag=Y and is not answered yet
  bool reset_probed_ = false;         // ... and has got a TestRequest, to see whether the peer has reset
  bool reset_answered_ = false;       // the last reset on this connection was requested by the peer
  SeqNum reset_out_{};                // a reset was asked for: what is sent next once the peer has reset. 0: none
  std::uint32_t reset_attempts_ = 0;  // connections that ended without an answer to it
  bool violated_ = false;             // we logged out because of the peer's error. Only its Logout is processed now
  bool test_pending_ = false;
  MonotonicTime test_deadline_{};  // for the answer to a TestRequest
  MonotonicTime last_received_{};
  MonotonicTime last_sent_{};
  MonotonicTime phase_deadline_ = MonotonicTime::max();  // for the answers to Logon, reset and Logout
  std::array<TokenBucket, 2> throttles_;                 // of application and of session messages
  bool omits_from_store_;
  TokenBucket invalid_;
  TokenBucket resets_;
  TokenBucket resend_bucket_;
  ResendBudget resend_budget_;
  std::uint64_t stored_bytes_ = 0;     // as of the last continue_replay
  bool resend_slowed_noted_ = false;   // on this connection
  bool resent_garbled_noted_ = false;  // since a gap was last filled
  MonotonicTime replay_held_until_{};
  ValidationReport report_;
  Gap gap_;
  Unreadable unreadable_;
  std::uint32_t resend_requests_ = 0;
  SeqNum answered_beyond_gap_{};  // the last ResendRequest answered out of order: received once the gap is filled
  SeqNum logon_beyond_gap_{};     // the Logon beyond the gap that NextExpectedMsgSeqNum fills: the same
  Replay replay_;
  static constexpr std::size_t max_pending_replays = 4;
  std::array<Range, max_pending_replays> pending_replays_{};
  std::size_t pending_replay_count_ = 0;
  SeqNum same_resend_{};  // BeginSeqNo of the peer's last ResendRequest; the count of equal ones follows
  std::uint32_t same_resend_count_ = 0;
  SeqNum request_after_replay_{};  // a gap shown by a ResendRequest: requested once that is answered
  // Text of the last Logout or disconnect, which must outlive the step.
  std::array<char, 160> text_{};  // clock_text_size at least
};

}  // namespace nfx
