// The interface between the engine and the user's program: callbacks of the engine, and requests to a session. Thread:
// every callback of a session runs on that session's poll thread; with one poll thread (the default) no two ever run
// simultaneously. A SessionHandle is used on that thread only; from others, Engine::submit. Cost: one virtual call per
// message. Lifetime: a handle lives until on_removed, or as long as the engine; a message until its callback returns.
// Errors: send() returns its error immediately and never blocks. What a callback throws ends its session and nothing
// else; docs/session.md has the rules for each callback.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/draft.hpp"
#include "nexusfix/engine/engine_counters.hpp"
#include "nexusfix/engine/submit.hpp"
#include "nexusfix/session/logon_refusal.hpp"
#include "nexusfix/session/notice.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/session/session_message.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

class JournalStore;
class LineLog;
class MetricsPage;
class ValidationReport;
struct TlsPeer;

class SessionHandle {
 public:
  [[nodiscard]] virtual const SessionConfig& config() const noexcept = 0;
  // Position in EngineConfig::sessions; sessions made or added later get numbers beyond that are never used again.
  [[nodiscard]] virtual std::size_t id() const noexcept = 0;
  [[nodiscard]] virtual bool logged_on() const noexcept = 0;
  [[nodiscard]] virtual SeqNum next_inbound() const noexcept = 0;
  [[nodiscard]] virtual SeqNum next_outbound() const noexcept = 0;
  [[nodiscard]] virtual const SessionCounters& counters() const noexcept = 0;
  [[nodiscard]] virtual Instant now() const noexcept = 0;  // the time of the event being handled
  // Where sent messages are stored; null: in memory. JournalStore is in nexusfix/store/journal_store.hpp.
  [[nodiscard]] virtual const JournalStore* journal() const noexcept = 0;
  // Within on_message: when the kernel or the network card got the bytes, where the session has `timestamps`.
  [[nodiscard]] virtual std::optional<UtcTime> received_at() const noexcept = 0;

  // Begins a message that is written into the session's output: see Draft. header_fields: as Outgoing's.
  template <TypedMessage Message>
  [[nodiscard]] TypedDraft<Message> create(BorrowedFields header_fields = {}) noexcept {
    return TypedDraft<Message>{*this, header_fields};
  }
  [[nodiscard]] Draft create(std::string_view msg_type, BorrowedFields header_fields = {}) noexcept {
    return Draft{*this, msg_type, header_fields};
  }
  // Encodes and queues the message; it is sent at the end of this iteration of the poll loop. Returns its sequence
  // number.
  [[nodiscard]] std::expected<SeqNum, SendError> send(const Outgoing& message) noexcept { return do_send(message); }
  // Sends what is queued now, and not at the end of the iteration: an order that must not wait for the messages after
  // it. Cost: the system call. What the journal or a full network holds back waits as it would have.
  virtual void flush() noexcept = 0;
  // Sends the peer a BusinessMessageReject for its application message.
  [[nodiscard]] std::expected<SeqNum, SendError> reject_business(const MessageView& refused,
                                                                 BusinessRejectReason reason,
                                                                 std::string_view text) noexcept {
    return do_reject_business(refused, reason, text);
  }
  // Logs out and stays so: an initiator reconnects only after logon().
  virtual void logout(std::string_view text) noexcept = 0;
  virtual void logon() noexcept = 0;
  // Both counters start over at 1, by Logon with ResetSeqNumFlag=Y on the open session.
  virtual void reset_sequence_numbers() noexcept = 0;
  // Cuts the connection without Logout, as a failing network would.
  virtual void drop_connection() noexcept = 0;

 protected:
  ~SessionHandle() = default;

 private:
  friend class Draft;
  // Not the functions above themselves: g++ 12 says nothing when the result of a virtual function is ignored.
  virtual std::expected<SeqNum, SendError> do_send(const Outgoing& message) noexcept = 0;
  virtual std::expected<SeqNum, SendError> do_reject_business(const MessageView& refused, BusinessRejectReason reason,
                                                              std::string_view text) noexcept = 0;
  virtual void begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields) noexcept = 0;
  virtual std::expected<SeqNum, SendError> send_draft(Draft& draft) noexcept = 0;
  virtual void end_draft(Draft& draft) noexcept = 0;
};

enum class Direction : std::uint8_t { in, out };

// A Logon that names one of our acceptors, before the session has seen it and before anything is stored or reset.
struct LogonRequest {
  const SessionConfig& session;          // the one it names; of a template, with its session's CompIDs
  const MessageView& message;            // framing, BodyLength and CheckSum are right; not validated further
  std::string_view peer;                 // its address: "192.0.2.7:51234"
  bool is_new;                           // the session does not exist yet: a template's
  const TlsPeer* certificate = nullptr;  // TLS: the names in the peer's certificate (tls_facts.hpp); null: it has none
};

// A Logon that was refused, or a connection that was closed before its Logon; or several that were not reported
// individually. The texts come from the network: make them printable before they are written anywhere.
struct LogonRefusal {
  LogonRefusalReason reason{};
  UtcTime time{};
  std::string_view peer{};  // its address: "192.0.2.7:51234"
  // As the Logon has them; empty where there was none.
  std::string_view begin_string{};
  std::string_view sender_comp_id{};
  std::string_view target_comp_id{};
  std::string_view text{};                 // details of the reason; may be empty
  const SessionConfig* session = nullptr;  // the one the Logon names; null: none
  // 1; or how many of this reason were refused within a second and not reported individually. Then `peer` is that of
  // the last of them, and the names are empty.
  std::uint64_t count = 1;
};

// "wrong Username or Password: FIX.4.4 DESK->VENUE from 192.0.2.7:51234", printable.
[[nodiscard]] std::string to_string(const LogonRefusal& refusal);

class Application {
 public:
  virtual ~Application() = default;

  // Where callbacks that are not overridden write a line of what happened, as nfx::run requests it; without this they
  // do nothing. `refusals` is for refused Logons. Before the engine begins; both outlive it.
  void report_to(LineLog* lines, LineLog* refusals) noexcept {
    lines_ = lines;
    refusals_ = refusals;
  }

  // Whether the sender of this Logon may use that session: Username, Password, address, a client list. False closes the
  // connection without an answer. Must not use the session.
  virtual bool on_logon_request(const LogonRequest& request) {
    static_cast<void>(request);
    return true;
  }
  // A Logon to one of our acceptors was refused, or its connection closed before. Of each reason,
  // max_refusal_reports in one burst and one per second on average, which may be a number of others. On its poll
  // thread.
  virtual void on_logon_refused(const LogonRefusal& refusal);
  // A session began to exist after the start: made from a template, or Engine::add_session.
  virtual void on_added(SessionHandle& session);
  // It was removed; the handle is dead when this returns.
  virtual void on_removed(SessionHandle& session);

  virtual void on_logon(SessionHandle& session);
  // An application message, in sequence, each once. PossDupFlag(43) and PossResend(97) are for the program to read.
  virtual void on_message(SessionHandle& session, const MessageView& message) = 0;
  // Before on_message: what is wrong with the message, which is delivered all the same. ValidationReport is in
  // nexusfix/dictionary/validator.hpp.
  virtual void on_violations(SessionHandle& session, const MessageView& message, const ValidationReport& report) {
    static_cast<void>(session);
    static_cast<void>(message);
    static_cast<void>(report);
  }
  // A session message of the peer that was accepted: Logon, before on_logon, Heartbeat, TestRequest, ResendRequest,
  // Reject, SequenceReset, Logout. Its effects on the session are complete; their callbacks follow.
  virtual void on_session_message(SessionHandle& session, const MessageView& message) {
    static_cast<void>(session);
    static_cast<void>(message);
  }
  // A session message that this session sends, at that moment: MsgSeqNum and SendingTime are known; fields can be
  // added: the signature of a Logon, for example. Must not use the session: within this call send() returns not_here,
  // and the other requests are ignored.
  virtual void on_session_message_sending(SessionHandle& session, SessionMessage& message) {
    static_cast<void>(session);
    static_cast<void>(message);
  }
  // The peer's session-level Reject of one of our messages.
  virtual void on_reject(SessionHandle& session, const MessageView& reject);
  // The session ended, or its Logon was refused; `reason` is the Text of the Logout, received or sent.
  virtual void on_logout(SessionHandle& session, std::string_view reason);
  // cancel_on_disconnect or cancel_on_logout: the session ended and is not up again cancel_delay later, so the
  // counterparty's open orders are to be cancelled. Once for each end.
  virtual void on_cancel(SessionHandle& session, std::string_view reason);
  // Whether a stored message may be sent again; false sends a gap fill in its place. Observes only, as on_traffic does.
  virtual bool on_resend(SessionHandle& session, const MessageView& message) {
    static_cast<void>(session);
    static_cast<void>(message);
    return true;
  }
  // Every message in and out, session messages included, as its bytes. Observes only: the bytes are in the session's
  // output buffer, so within this call send() returns not_here, and the other requests are ignored.
  virtual void on_traffic(SessionHandle& session, Direction direction, std::string_view message) {
    static_cast<void>(session);
    static_cast<void>(direction);
    static_cast<void>(message);
  }
  // The result of a message that Engine::submit was given with `report`. On its poll thread.
  virtual void on_submitted(const Submitted& submitted) { static_cast<void>(submitted); }
  // Something unusual that the session has handled.
  virtual void on_notice(SessionHandle& session, Notice notice, SeqNum seq, std::string_view text);
  // A store could not be opened, so that a Logon is dropped, or modes of its files were corrected. On its poll thread.
  virtual void on_store_alert(std::string_view text);
  // Logs or metrics cannot be written, once per outage, or a file's mode was corrected. The log's thread, or at start.
  virtual void on_log_alert(std::string_view text);
  // The metrics file is about to be written: the program adds its own. On the log's thread; the last time on the thread
  // that destroys the engine.
  virtual void on_metrics(MetricsPage& page);
  // A thread no longer runs as [placement] planned: its mask changed, it was moved, or its CPU was given to others. On
  // a thread of the engine's own, at most once per check_interval_ms and thread.
  virtual void on_placement_alert(std::string_view text);
  // A callback that has no session threw an exception, and the engine continues: its name, and the exception's what().
  // On the thread that called it; of a poll thread at most once per second. What a callback of a session throws is a
  // notice.
  virtual void on_callback_threw(std::string_view callback, std::string_view what);
  // Once per iteration of each poll thread's loop, before the network is polled. Returns how long the loop may sleep in
  // block mode before the next iteration; Duration::max() for no limit.
  virtual Duration on_turn(Instant now) {
    static_cast<void>(now);
    return nothing_done;
  }
  // No limit, and no time that is worth measuring: a busy-polling loop does not read the clock after such an on_turn.
  static constexpr Duration nothing_done = Duration::max() - Duration{1};

 private:
  LineLog* lines_ = nullptr;
  LineLog* refusals_ = nullptr;
};

}  // namespace nfx
