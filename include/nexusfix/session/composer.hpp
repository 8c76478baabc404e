// Puts the session's header and trailer around a body: one write of each byte, exact BodyLength, no padding.
// Thread: the session's. Cost: no allocation; the header comes from the session's HeaderTemplate.
// Field order: 8 9 35 34 [43] 49 52 56, the session's own 50 57 142 143, other header fields ascending with 122 and
// 369 among them, body, 10.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nexusfix/base/seq_num.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/encoder.hpp"

namespace nfx {

class Encoder;
struct SessionConfig;

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

}  // namespace nfx
