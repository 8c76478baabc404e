// Decodes a message for output: every readable field, groups recognised, and errors explained.
// Thread: one owner. Lifetime: a DecodedMessage borrows the given text and is valid until the next decode().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/dictionaries.hpp"
#include "decode/scanner.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::app {

struct DecodedField {
  Tag tag{};
  std::string_view value;
  std::uint32_t entry = 0;  // number of the group's entry, from 1; 0 outside of groups
  std::uint8_t depth = 0;   // number of groups around it
  bool starts_entry = false;
  bool readable = true;  // false: `value` is raw text that is not a field
  bool secret = false;
};

struct DecodedMessage {
  FoundMessage found;
  WireError error = WireError::none;
  std::string problem;        // error in the bytes; empty: none
  std::string violation;      // the first violation of the dictionary; empty: none, or not validated
  std::string not_validated;  // why it was not validated although requested
  std::vector<DecodedField> fields;
  std::string_view begin_string, msg_type, sender, target, seq, time;
  std::string_view type_name;  // empty if unknown
  const Dictionary* dictionary = nullptr;
  bool exact_dictionary = false;  // of exactly this version

  [[nodiscard]] bool bad() const noexcept { return !problem.empty(); }
};

enum class DecodedParts : std::uint8_t {
  all,
  without_groups,  // for those who only count messages
};

class Decoder {
 public:
  Decoder(Dictionaries& dictionaries, bool validate, DecodedParts parts = DecodedParts::all);
  [[nodiscard]] const DecodedMessage& decode(const FoundMessage& found);

 private:
  void read_fields(std::string_view text);
  void find_groups(const MessageDef& message);
  void validate_message();
  [[nodiscard]] std::string explain() const;
  // The ApplVerID of a FIXT message: its own, otherwise from its sender's Logon.
  [[nodiscard]] std::string_view appl_ver_id(std::string_view own, std::string_view of_logon);

  static constexpr std::size_t max_senders = 4096;  // maximum number of remembered Logons

  Dictionaries& dictionaries_;
  std::map<std::string, std::string, std::less<>> default_appl_ver_ids_;  // by SenderCompID
  bool validate_;
  DecodedParts parts_;
  ValidationPolicy policy_ = ValidationPolicy::strict();
  ValidationReport let_through_;  // stays empty, but validate() requires it
  MessageView view_;
  MessageView rest_view_;
  DecodedMessage decoded_;
};

}  // namespace nfx::app
