// Turns forms in which logs show messages without "8=FIX" into the usual one, so that the scanner finds them:
//  - a field per line as "BeginString (8): FIX.4.4", in the text of Wireshark's and tshark's FIX dissector and of fix8;
//  - a JSON array of byte values, as journalctl -o json prints messages with SOH.
// Thread: one owner. Cost: one pass over lines of these forms; other text passes unchanged. Lifetime: the result is
// valid until the next call. Bounds: a line or a message of more than max_size bytes passes unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nfx::app {

class TextForm {
 public:
  // The bytes that the scanner gets for these; some may be held back until more come.
  [[nodiscard]] std::string_view convert(std::string_view bytes);
  // What was held back.
  [[nodiscard]] std::string_view finish();

 private:
  enum class Kind : std::uint8_t { undecided, usual, field_lines, byte_arrays };
  static constexpr std::size_t max_size = 8 * 1024 * 1024;

  [[nodiscard]] std::string_view decide(std::string_view bytes);
  void convert_lines(std::string_view bytes);
  void field_line(std::string_view line);
  void byte_array_line(std::string_view line);
  void end_message();

  Kind kind_ = Kind::undecided;
  std::string line_;       // the beginning of a line whose end has not come
  std::string undecided_;  // what was held back, and the bytes after it
  std::string stripped_;   // a message whose values are without the meanings that follow them
  std::string whole_;      // the same with all text after the colon
  std::string inner_;      // the same with what is in the last parentheses
  std::size_t lines_ = 0;  // of the message, whose line ends follow it
  std::string out_;
};

}  // namespace nfx::app
