// Finds FIX messages in any surrounding text: log prefixes, several messages per line, streams without lines. A message
// starts at "8=FIX" and ends with CheckSum where BodyLength says; otherwise after the first CheckSum, at the end of the
// line or before the next message. Fields may be separated by SOH, by one of its spellings (^A, \x01, \u0001, \001,
// <SOH>), by up to three other characters, such as '|', ';' or " | ", or by any short text between BeginString and
// BodyLength, such as "[SOH]", U+2401 or a line end. Input in UTF-16 is converted to UTF-8.
// Thread: one owner. Cost: one search over the text, and a copy of each message. Lifetime: a FoundMessage is valid
// until the next call. Bounds: stores at most one message of max_message_size, and no text between messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_encoding.hpp"

namespace nfx::app {

struct FoundMessage {
  std::string_view text;       // separated by SOH and ending with one, whatever the input used
  std::string_view prefix;     // the last 200 bytes before it on its line
  std::uint64_t line = 1;      // line number of its start, from 1
  std::uint64_t offset = 0;    // of its start in the input, in bytes; in UTF-8 if that is UTF-16
  std::size_t size = 0;        // in the input
  std::string_view separator;  // in the input
  bool cut_off = false;        // the line or the input ended before a CheckSum
  bool too_long = false;       // longer than the maximum: text is its start, the rest was skipped
};

class MessageScanner {
 public:
  static constexpr std::size_t default_max_message_size = 8 * 1024 * 1024;

  explicit MessageScanner(std::size_t max_message_size = default_max_message_size);

  void feed(std::string_view bytes);
  // No more bytes will come.
  void finish();
  // No bytes have arrived for a while: accepts a message that looks complete, although more bytes could extend it.
  void settle() noexcept { settled_ = true; }

  // Appends everything that is consumed, messages too: after next(), the text before the message and the message.
  void copy_to(std::string* copy) noexcept { copy_ = copy; }

  // The next message; empty until more bytes are fed.
  [[nodiscard]] std::optional<FoundMessage> next();

  // Whether an incomplete message is waiting for more bytes.
  [[nodiscard]] bool waiting() const noexcept { return waiting_; }

 private:
  struct Extent {
    std::size_t size = 0;       // of the message; 0: more bytes are needed
    std::size_t wanted = 0;     // number of bytes, if known
    bool line_decides = false;  // a line end decides too
    bool cut_off = false;
    bool too_long = false;
  };
  struct Start {
    std::size_t at = std::string_view::npos;
    std::size_t begin_string_size = 0;
    std::size_t separator_size = 0;
    bool unsure = false;  // more bytes are needed to decide
  };

  // `before` is the byte before the text. If there is none, the text itself is a message, and another one is searched
  // after its first byte. `whole`: nothing follows the text.
  [[nodiscard]] Start find_start(std::string_view text, std::optional<char> before, bool whole) const;
  [[nodiscard]] std::optional<bool> starts_here(std::string_view text, const Start& start, bool on_line,
                                                bool whole) const;
  [[nodiscard]] Start look_at(std::string_view text, std::size_t at, bool whole) const;
  [[nodiscard]] std::string_view rest() const noexcept { return std::string_view{buffer_}.substr(at_); }
  [[nodiscard]] Extent measure(std::string_view text, std::string_view separator) const;
  [[nodiscard]] Extent measure_by_length(std::string_view text) const;
  [[nodiscard]] Extent measure_by_check_sum(std::string_view text, std::string_view separator) const;
  [[nodiscard]] std::string_view up_to_line_or_message_end(std::string_view text, bool& bounded) const;
  [[nodiscard]] std::string_view up_to_last_field(std::string_view text, std::string_view separator,
                                                  bool& bounded) const;
  void take(const Extent& extent, std::string_view separator, FoundMessage& found);
  void consume(std::size_t size);

  std::size_t max_message_size_;
  std::string beginning_;  // start of the input, until its encoding is known
  bool begun_ = false;
  std::optional<Utf16Converter> utf16_;
  std::string buffer_;
  std::size_t at_ = 0;  // everything before it is processed
  char before_ = '\n';  // the byte before at_
  std::uint64_t line_ = 1;
  std::uint64_t consumed_ = 0;  // bytes before at_
  std::string prefix_;          // the end of the consumed text of this line
  std::string shown_prefix_;
  std::string message_;
  std::string separator_;  // of the last message
  std::string* copy_ = nullptr;
  std::size_t looked_at_ = 0;  // size of buffer_ in the last attempt
  std::size_t wanted_ = 0;     // size of buffer_ with which the next attempt may succeed
  bool line_decides_ = false;
  bool waiting_ = false;
  bool skipping_ = false;  // on the last line of a message that was too long
  bool ended_ = false;
  bool settled_ = false;
};

// Replaces each separator by SOH; the text ends with one. `only_before_tags` keeps separators without a following
// "digits=", because they are part of a value.
void to_soh(std::string_view text, std::string_view separator, bool only_before_tags, std::string& out);

}  // namespace nfx::app
