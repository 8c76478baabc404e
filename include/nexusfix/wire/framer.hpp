// Finds where messages begin and end in a byte stream, by BodyLength alone.
// Thread: any, no state. Cost: reads the header (about 20 bytes) and the trailer of a message; no copy, no allocation.
// Lifetime: results are offsets into the caller's buffer. Errors: values; never reads past the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

// Why bytes are not a FIX message.
enum class WireError : std::uint8_t {
  none,
  truncated,             // ends before the message does
  header_order,          // BeginString, BodyLength, MsgType are not the first three fields
  bad_body_length,       // BodyLength is not a number, or not a sensible one
  body_length_mismatch,  // BodyLength does not lead to CheckSum
  bad_check_sum,         // CheckSum is not three digits at the end
  check_sum_mismatch,    // CheckSum is not the sum of the bytes
  bad_tag,               // a tag that is not a number
  bad_data_length,       // a data field whose length field is wrong
  too_many_fields,       // more fields than the view has space for
  too_large,             // longer than the configured maximum
  not_fix,               // bytes that do not start a FIX message
};

[[nodiscard]] std::string_view to_string(WireError error) noexcept;

// Holds a snapshot of 5,000 levels a side.
inline constexpr std::size_t default_max_message_size = 1'000'000;
inline constexpr std::size_t most_message_size = 8 * 1024 * 1024;  // of any configuration

enum class FrameStatus : std::uint8_t {
  need_more,  // call again with `size` bytes (more than there are)
  complete,   // the first `size` bytes are one message. CheckSum is still to be verified
  garbled,    // the first `size` bytes are not a message: drop them, `error` is the reason
  too_large,  // the announced message exceeds the maximum: `size` is what it would have; 0: garbage exceeds it
};

struct Frame {
  FrameStatus status = FrameStatus::need_more;
  WireError error = WireError::none;
  std::size_t size = 0;
};

// Examines the start of `buffer`. A BodyLength of more than nine digits is garbled. A message whose BodyLength does not
// lead to its CheckSum field is garbled up to the next CheckSum after that point. A length that is too short loses that
// message; one that is too long loses the following message as well.
[[nodiscard]] Frame next_frame(std::string_view buffer,
                               std::size_t max_message_size = default_max_message_size) noexcept;

// next_frame() for a stream: the same results, faster when a message begins like the last one.
// Thread: one owner. Cost: four loads for such a message; no allocation.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_message_size = default_max_message_size) noexcept
      : max_message_size_(max_message_size) {}

  [[nodiscard]] Frame next(std::string_view buffer) noexcept;

 private:
  [[nodiscard]] std::size_t familiar_message_size(std::string_view buffer) const noexcept;
  void remember(std::string_view message) noexcept;

  std::size_t max_message_size_;
  std::size_t start_size_ = 0;  // 0: nothing remembered
  char start_[16] = {};         // "8=FIX.4.4<SOH>9=" of the last message
};

}  // namespace nfx
