// Shared by the dictionary tests: the shipped dictionaries, and messages written with '|' for SOH.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/model.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

inline void PrintTo(const Violation& violation, std::ostream* out) {
  *out << to_text(violation.reason) << " (" << value(violation.tag) << ")";
}

}  // namespace nfx

namespace nfx::dictionary_test {

inline const Dictionary& fix42() {
  static const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX42.xml");
  return dictionary;
}

inline const Dictionary& fix44() {
  static const Dictionary dictionary = load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml");
  return dictionary;
}

// A whole message: `fields` are the fields after MsgType, each ended by '|'.
inline std::string message(std::string_view begin_string, std::string_view msg_type, std::string_view fields) {
  std::string raw(fields);
  std::ranges::replace(raw, '|', soh);
  std::vector<char> buffer(raw.size() + 256);
  Encoder encoder(buffer);
  encoder.begin(begin_string, msg_type);
  encoder.fields().append_raw(raw);
  return std::string(encoder.finish());
}

inline std::optional<Violation> validate_bytes(const Dictionary& dictionary, std::string_view bytes,
                                               const ValidationPolicy& policy = ValidationPolicy::strict(),
                                               ValidationReport* report = nullptr) {
  static MessageView view(32768);
  ValidationReport unread;
  const WireError error = view.parse(bytes);
  EXPECT_EQ(error, WireError::none) << to_string(error) << " in " << bytes;
  return validate(view, dictionary, policy, report == nullptr ? unread : *report);
}

inline constexpr std::string_view header = "34=2|49=TW|52=20240102-03:04:05|56=ISLD|";

inline std::optional<Violation> validate_fields(const Dictionary& dictionary, std::string_view msg_type,
                                                std::string_view fields,
                                                const ValidationPolicy& policy = ValidationPolicy::strict(),
                                                ValidationReport* report = nullptr) {
  return validate_bytes(dictionary, message(dictionary.begin_string(), msg_type, fields), policy, report);
}

// With the standard header before the fields.
inline std::optional<Violation> validate_body(const Dictionary& dictionary, std::string_view msg_type,
                                              std::string_view body,
                                              const ValidationPolicy& policy = ValidationPolicy::strict(),
                                              ValidationReport* report = nullptr) {
  return validate_fields(dictionary, msg_type, std::string(header) + std::string(body), policy, report);
}

// The result of building a dictionary with `build`: "refused: " and the error, "repaired: " and the first irregularity,
// or "sound".
template <class Build>
std::string outcome_of(const Build& build) {
  try {
    const Dictionary dictionary = build();
    return dictionary.repairs().empty() ? "sound" : "repaired: " + dictionary.repairs().lines().front();
  } catch (const DictionaryError& error) {
    return std::string("refused: ") + error.what();
  }
}

inline std::optional<Violation> violation(SessionRejectReason reason, int tag) { return Violation{reason, Tag{tag}}; }

}  // namespace nfx::dictionary_test
