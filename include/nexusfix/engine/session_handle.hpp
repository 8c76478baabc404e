// A session as the program's callbacks see it: what it is, its numbers, and the requests to it; and a Draft, the
// message that is written where it is sent from, the session's output.
//
//   auto news = session.create("B");                                   // untyped
//   news.append(Tag::Headline, "halted").append(Tag::Symbol, "XYZ");
//   if (const auto sent = news.send(); !sent) ...
//   auto report = session.create<fix44::ExecutionReport>();            // typed: its setters; fields() for others
//
// Thread: only the session's poll thread; other threads use Engine::submit. There send() and create() return
// wrong_thread, and the requests that return nothing abort the program. Lifetime: a session lasts until it is removed,
// or as long as the engine, a draft until the callback returns. Cost: send() is one virtual call and the encoding; the
// bytes of a draft are written once, without allocation. Errors: send() returns its error immediately and never blocks.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/session/outgoing.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

class SessionHandle;

namespace detail {
// Tags of the header, CheckSum and lengths of data; true for every tag that is too high for the table.
inline constexpr std::size_t tags_in_table = 1024;
inline constexpr auto special_tags = [] {
  std::array<std::uint64_t, tags_in_table / 64> bits{};
  for (std::size_t i = 0; i < tags_in_table; ++i) {
    const Tag tag{static_cast<std::int32_t>(i)};
    if (is_header_tag(tag) || is_written_by_session(tag) || data_tag_of(tag) != Tag{})
      bits[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return bits;
}();
[[nodiscard]] constexpr bool is_special(Tag tag) noexcept {
  const auto number = static_cast<std::uint32_t>(value(tag));
  return number >= tags_in_table || (special_tags[number / 64] >> number % 64 & 1) != 0;
}
}  // namespace detail

// A session has one draft at a time. Only send() sends it; a draft that is destroyed unsent leaves nothing behind. Any
// other message that the session sends or receives, and flush(), discard it: then appended fields go nowhere, and
// send() returns discarded. It stays where create() made it: it can be neither copied nor moved. One that is kept
// longer than the callback can be sent, with the SendingTime of create(), until the session sends or receives. Errors:
// send() returns the first error of create() and of the fields; why() explains it.
class Draft {
 public:
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();

  // As FieldWriter::append(), but for fields of the header and CheckSum: a fault.
  template <typename... Value>
  Draft& append(Tag tag, const Value&... value) noexcept {
    if (detail::is_special(tag)) [[unlikely]]
      note_special(tag);
    encoder_.fields().append(tag, value...);
    return *this;
  }
  template <Tag tag, typename... Value>
  [[gnu::always_inline]] Draft& append(const Value&... value) noexcept {
    static_assert(!is_sessions(tag), "the session writes this field itself, or it belongs to the header: create()");
    if constexpr (data_tag_of(tag) != Tag{}) unchecked_ = true;
    encoder_.fields().template append<tag>(value...);
    return *this;
  }
  Draft& append_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept {
    for (const Tag tag : {length_tag, data_tag}) {
      if (is_sessions(tag)) [[unlikely]]
        encoder_.fields().refuse(tag, WriteError::header_field);
    }
    encoder_.fields().append_data(length_tag, data_tag, data);
    return *this;
  }
  // send() checks the fields of the following two functions, in one pass.
  Draft& append_raw(std::string_view fields) noexcept {
    unchecked_ = true;
    encoder_.fields().append_raw(fields);
    return *this;
  }
  [[nodiscard]] FieldWriter& fields() noexcept {
    unchecked_ = true;
    return encoder_.fields();
  }

  // Whether send() would be tried: create() and all fields succeeded, and nothing discarded it.
  [[nodiscard]] bool ok() const noexcept { return !error_ && encoder_.fields().ok(); }
  // The field that could not be written.
  [[nodiscard]] WriteFault fault() const noexcept { return error_ ? fault_ : encoder_.fields().fault(); }
  // In words, for a log: what send() would return, with the field. Empty when ok(). Allocates.
  [[nodiscard]] std::string why() const;

  // Sends it; once.
  [[nodiscard]] std::expected<SeqNum, SendError> send() noexcept;
  // Sends it as the answer to a message. When the draft itself is at fault (a field could not be written, a required
  // field is missing, too long), the message is refused with a BusinessMessageReject that gives the reason. The peer
  // gets an answer in either case, and the result says whether it was sent.
  [[nodiscard]] std::expected<SeqNum, SendError> send_or_reject(const MessageView& answered) noexcept;
  // Gives it up before its end.
  void discard() noexcept;

 private:
  friend class SessionDriver;
  friend class SessionHandle;
  template <typename Message>
  friend class TypedDraft;

  [[nodiscard]] static constexpr bool is_sessions(Tag tag) noexcept {
    return is_header_tag(tag) || is_written_by_session(tag);
  }
  // The first eight characters of a BeginString; 0: any version.
  [[nodiscard]] static constexpr std::uint64_t version_key(std::string_view begin_string) noexcept {
    std::uint64_t key = 0;
    for (const char c : begin_string.substr(0, 8)) key = key << 8 | static_cast<unsigned char>(c);
    return key;
  }
  Draft(SessionHandle& session, std::string_view msg_type, BorrowedFields header_fields,
        std::uint64_t version = 0) noexcept;
  [[nodiscard]] std::expected<SeqNum, SendError> reject(const MessageView& answered, SendError error,
                                                        std::string_view text) noexcept;
  // A field of the header is refused; the length of data is checked by send().
  void note_special(Tag tag) noexcept;
  // Checks fields that were not checked when they were written.
  void check_fields() noexcept;
  // Nothing is written into the output from now on. A field that could not be written stays known.
  void fail(SendError error) noexcept {
    error_ = error;
    fault_ = encoder_.fields().fault();
    encoder_ = Encoder{};
  }

  SessionHandle* session_;
  std::optional<SendError> error_;  // that send() returns whatever the fields are
  WriteFault fault_;                // then
  bool unchecked_ = false;
  std::uint32_t body_begin_ = 0;  // in the encoder's fields
  Encoder encoder_;
};

// What `nfx codegen` writes for a message has these.
template <typename Message>
concept TypedMessage = requires {
  { Message::msg_type } -> std::convertible_to<std::string_view>;
  { Message::fix_version } -> std::convertible_to<std::string_view>;
  typename Message::template Builder<FieldWriter&>;
};

// A Draft with the setters of a message of a dictionary. Fields come in any order, except within groups. A setter that
// is given a value that is missing in another message leaves the field out. send() also refuses a message without a
// required field (incomplete; missing() lists them) and one of another FIX version than the session's, unless that is
// FIXT.1.1 (other_version). It refuses a field that was set twice and a group that is not complete and in order
// (bad_message); why() names the place.
template <typename Message>
class TypedDraft : private Draft, public Message::template Builder<FieldWriter&> {
  using Builder = typename Message::template Builder<FieldWriter&>;

 public:
  using Draft::discard;
  using Draft::fault;
  using Draft::fields;

  [[nodiscard]] bool ok() const noexcept { return Draft::ok() && Builder::ok() && this->missing().empty(); }
  [[nodiscard]] std::expected<SeqNum, SendError> send() noexcept {
    if (Draft::ok()) [[likely]] {
      if (!Builder::ok()) [[unlikely]]
        return std::unexpected(SendError::bad_message);
      if (!this->missing().empty()) [[unlikely]]
        return std::unexpected(SendError::incomplete);
    }
    return Draft::send();
  }
  [[nodiscard]] std::expected<SeqNum, SendError> send_or_reject(const MessageView& answered) noexcept {
    if (!Draft::ok() || ok()) [[likely]]
      return Draft::send_or_reject(answered);
    if (!Builder::ok()) {
      char fault[128];
      return this->reject(answered, SendError::bad_message, to_text(this->build_fault(), fault));
    }
    char text[64] = "the answer requires tag ";
    const std::size_t head = std::string_view{text}.size();
    const WrittenText digits =
        write_digits(text + head, static_cast<std::uint64_t>(nfx::value(*this->missing().begin())));
    return this->reject(answered, SendError::incomplete, {text, head + digits.size});
  }
  // The same for a message with its type.
  template <typename Reader>
    requires requires(const Reader& answered) {
      { answered.view() } -> std::same_as<const MessageView&>;
    }
  [[nodiscard]] std::expected<SeqNum, SendError> send_or_reject(const Reader& answered) noexcept {
    return send_or_reject(answered.view());
  }
  [[nodiscard]] std::string why() const {
    if (!Draft::ok()) return Draft::why();
    if (!Builder::ok()) {
      char text[128];
      return std::string{to_text(this->build_fault(), text)};
    }
    std::string text;
    for (const Tag tag : this->missing()) {
      text += (text.empty() ? "required fields are missing: " : " ") + std::to_string(nfx::value(tag));
    }
    return text;
  }

 private:
  friend class SessionHandle;
  TypedDraft(SessionHandle& session, BorrowedFields header_fields) noexcept
      : Draft(session, Message::msg_type, header_fields, version_key(Message::fix_version)),
        Builder(encoder_.fields()) {}
};

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
  // Where sent messages are stored; null: in memory. Only for the engine's own libraries: JournalStore is not
  // installed.
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
  // Logs out and stays logged out: an initiator reconnects only after logon().
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
