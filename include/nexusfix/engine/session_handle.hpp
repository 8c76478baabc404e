// A session as the program's callbacks see it: what it is, its numbers, and the requests to it.
// Thread: the session's poll thread alone; from other threads, Engine::submit. There send() and create() return
// wrong_thread, and the requests that return nothing abort the program. Lifetime: until the session is removed, or as
// long as the engine. Cost: send() is one virtual call and the encoding. Errors: send() returns its error immediately
// and never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/draft.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

class JournalStore;
struct SessionCounters;  // nexusfix/engine/engine_counters.hpp

enum class Direction : std::uint8_t { in, out };

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
  // Where sent messages are stored; null: in memory. For what comes with the engine: JournalStore is not installed.
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
  // it. Cost: the system call. Bytes that the journal or a full network holds back still wait.
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
  virtual void begin_draft(Draft& draft, std::string_view msg_type, std::string_view header_fields,
                           std::uint64_t version) noexcept = 0;
  virtual std::expected<SeqNum, SendError> send_draft(Draft& draft) noexcept = 0;
  virtual void end_draft(Draft& draft) noexcept = 0;
};

}  // namespace nfx
