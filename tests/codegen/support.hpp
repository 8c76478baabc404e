// Messages written with '|' for SOH, and the dictionary from which the typed messages of these tests were generated.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::codegen_test {

// A received message: `body` is everything after the header, with '|' or SOH after each field.
class Received {
 public:
  Received(std::string_view msg_type, std::string_view body, std::string_view header = {}) {
    std::string fields{"34=2|49=A|52=20240315-12:00:00|56=B|"};
    fields.append(header).append(body);
    std::ranges::replace(fields, '|', soh);
    buffer_.resize(fields.size() + 128);
    Encoder encoder{buffer_};
    encoder.begin("FIX.4.4", msg_type);
    encoder.fields().append_raw(fields);
    EXPECT_EQ(view_.parse(encoder.finish()), WireError::none) << body;
  }

  [[nodiscard]] const MessageView& view() const noexcept { return view_; }

 private:
  std::vector<char> buffer_;
  MessageView view_;
};

inline std::string with_bars(std::string_view fields) {
  std::string text{fields};
  std::ranges::replace(text, soh, '|');
  return text;
}

inline const Dictionary& venue_dictionary() {
  static const Dictionary dictionary =
      load_dictionary(DictionaryFiles{.transport = {},
                                      .application = NFX_SOURCE_DIR "/dictionaries/FIX44.xml",
                                      .overlays = {NFX_SOURCE_DIR "/tests/codegen/venue.xml"}});
  return dictionary;
}

// The violation that the strictest validation finds in a message with this body; empty if there is none.
inline std::string complaint(std::string_view msg_type, std::string_view body) {
  const Received message{msg_type, body};
  ValidationReport report;
  const auto violation = validate(message.view(), venue_dictionary(), ValidationPolicy::strict(), report);
  if (!violation) return {};
  return std::string{to_text(violation->reason)} + " " + std::to_string(value(violation->tag));
}

}  // namespace nfx::codegen_test
