// Copies a log and replaces secrets: Password(554), NewPassword(925), RawData(96) and their encrypted forms become ***,
// and chosen fields a text that is the same for the same value. BodyLength and CheckSum of messages in which they were
// right are right in the copy. Fields such as 554= in the text between messages are replaced too.
// Thread: one owner. Cost: one pass, memory for a message and a line. Bounds: max_values different values of chosen
// fields; further ones become ***. Errors: std::runtime_error for a log that cannot be read or copied.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decode/byte_stream.hpp"
#include "decode/log_reader.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "output_file.hpp"

namespace nfx::app {

class Redactor {
 public:
  static constexpr std::size_t max_values = 1'000'000;

  explicit Redactor(std::vector<std::uint32_t> also);

  // Returns the number of messages.
  std::uint64_t copy(const LogFile& file, OutputFile& out, const LogReaderHooks& hooks);
  [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }

 private:
  void write_message(const FoundMessage& found, bool ends_with_separator, std::string& out);
  void write_text(std::string_view text, std::string& out);
  [[nodiscard]] bool is_hidden(std::uint32_t tag) const noexcept;
  [[nodiscard]] std::string replacement(std::uint32_t tag, std::string_view value);

  std::vector<std::uint32_t> also_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> numbers_;
  std::uint64_t replaced_ = 0;
  MessageView view_{32768};
  std::string body_, message_;
};

}  // namespace nfx::app
