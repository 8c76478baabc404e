// A session message that is about to be sent: Logon, Heartbeat, TestRequest, ResendRequest, Reject, SequenceReset or
// Logout. Its sequence number and SendingTime are known, so a program can add what is computed from them, such as the
// signature that an exchange expects in Logon.
// Thread: the poll thread, during the callback. Cost: a search of the few fields there are; no allocation. Lifetime:
// the callback; views until the next change. Bounds: max_body bytes of fields, max_header of optional header fields; a
// Heartbeat whose TestReqID is longer than that takes no further fields of the body.
// Errors: a change that is not possible returns false and leaves the message unchanged.
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/field_writer.hpp"

namespace nfx {

// The values of these fields with a separator between them, empty for a field that is not there: the text that a
// Logon's signature is computed from. `message` is a SessionMessage, or the MessageView of a received Logon. Allocates.
template <class Message>
[[nodiscard]] std::string join_values(const Message& message, std::span<const Tag> tags, char separator = '\x01') {
  std::string text;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (i != 0) text += separator;
    text += message.get_view(tags[i]);
  }
  return text;
}
template <class Message>
[[nodiscard]] std::string join_values(const Message& message, std::initializer_list<Tag> tags,
                                      char separator = '\x01') {
  return join_values(message, std::span<const Tag>{tags.begin(), tags.size()}, separator);
}

class SessionMessage {
 public:
  static constexpr std::size_t max_body = 6 * 1024;
  static constexpr std::size_t max_header = 512;

  // The session's own header fields. The texts outlive the message.
  struct Header {
    std::string_view begin_string{};
    std::string_view msg_type{};
    std::string_view sender_comp_id{};
    std::string_view target_comp_id{};
    std::string_view sending_time{};  // as it will be written
    std::string_view own_fields{};    // the session's SubIDs and LocationIDs, complete fields
    SeqNum seq{};
  };

  // `body` and `header_fields` are copied to their spaces, where they may grow; a body that is its space already is
  // only read.
  SessionMessage(const Header& header, std::string_view body, std::span<char> body_space,
                 std::string_view header_fields, std::span<char> header_space) noexcept;
  SessionMessage(const SessionMessage&) = delete;
  SessionMessage& operator=(const SessionMessage&) = delete;

  [[nodiscard]] std::string_view msg_type() const noexcept { return header_.msg_type; }
  [[nodiscard]] bool is_logon() const noexcept { return header_.msg_type == "A"; }
  [[nodiscard]] SeqNum seq() const noexcept { return header_.seq; }
  [[nodiscard]] std::string_view sending_time() const noexcept { return header_.sending_time; }
  // The value of a field of header or body, as it will be sent; empty when there is none. BodyLength(9) and
  // CheckSum(10) are not known yet.
  [[nodiscard]] std::string_view get_view(Tag tag) const noexcept;
  [[nodiscard]] std::string_view body() const noexcept { return body_.view(); }
  [[nodiscard]] std::string_view header_fields() const noexcept { return header_fields_.view(); }

  // Sets a field of the body, where it is or after the others. False: the session decides this field itself (below),
  // or it belongs to header or trailer; it is data, or its length: set_data(); the value is empty or has an SOH; there
  // is no space.
  [[nodiscard]] bool set(Tag tag, std::string_view value) noexcept;
  [[nodiscard]] bool set(Tag tag, const char* value) noexcept { return set(tag, detail::text_of(value)); }
  template <std::same_as<char> Char>
  [[nodiscard]] bool set(Tag tag, Char value) noexcept {
    return set(tag, std::string_view{&value, value == '\0' ? std::size_t{0} : std::size_t{1}});
  }
  template <std::same_as<bool> Bool>
  [[nodiscard]] bool set(Tag tag, Bool value) noexcept {
    return set(tag, value ? 'Y' : 'N');
  }
  template <FieldInteger Int>
  [[nodiscard]] bool set(Tag tag, Int value) noexcept {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return set(tag, std::string_view{digits, static_cast<std::size_t>(end - digits)});
  }
  // A length field and its data, such as RawDataLength(95) and RawData(96). The data may have any byte.
  [[nodiscard]] bool set_data(Tag length_tag, Tag data_tag, std::string_view data) noexcept;
  // An optional field of the header, such as OnBehalfOfCompID(115). Not what every message of the session has: SubIDs
  // and LocationIDs are settings of the session.
  [[nodiscard]] bool set_header(Tag tag, std::string_view value) noexcept;
  // A length field goes with its data. False: there is no such field in the body, or the session decides it.
  bool remove(Tag tag) noexcept;
  // A Logon that cannot be completed: the connection is closed with this reason, and the Logon is not sent. Without
  // effect for any other message.
  void cancel(std::string_view why) noexcept;

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] std::string_view reason() const noexcept { return {reason_, reason_size_}; }

  // The fields that follow from the session's state: EncryptMethod(98), HeartBtInt(108), ResetSeqNumFlag(141),
  // NextExpectedMsgSeqNum(789) and DefaultApplVerID(1137) of Logon, BeginSeqNo(7), EndSeqNo(16), NewSeqNo(36),
  // GapFillFlag(123), TestReqID(112), RefSeqNum(45).
  [[nodiscard]] static bool is_decided_by_session(Tag tag) noexcept;

 private:
  // Complete fields in a space in which they may grow.
  struct Fields {
    std::span<char> space;
    std::size_t size = 0;

    struct Place {
      // `pair` is where the length field of data begins, or `begin`; `end` is after the SOH.
      std::size_t pair = 0, begin = 0, value = 0, end = 0;
      [[nodiscard]] bool found() const noexcept { return end != 0; }
    };
    [[nodiscard]] std::string_view view() const noexcept { return {space.data(), size}; }
    [[nodiscard]] Place at_end() const noexcept { return {size, size, size, size}; }
    [[nodiscard]] Place find(Tag tag) const noexcept;
    [[nodiscard]] std::string_view value(Tag tag) const noexcept;
    // Replaces the bytes of `place` by tag=value<SOH>. False: no space.
    [[nodiscard]] bool put(Place place, Tag tag, std::string_view value) noexcept;
    void erase(Place place) noexcept;  // data with its length field
  };

  Header header_;
  Fields body_;
  Fields header_fields_;
  char seq_text_[24];
  std::size_t seq_size_ = 0;
  char reason_[160];
  std::size_t reason_size_ = 0;
  bool cancelled_ = false;
};

// Completes a session's messages. Must not use the session.
class SessionMessageHook {
 public:
  virtual void on_sending(SessionMessage& message) noexcept = 0;

 protected:
  ~SessionMessageHook() = default;
};

}  // namespace nfx
