// What happens to a message that violates the dictionary: rejected, delivered with a report, or delivered.
// Thread: built before run, then read by any. Cost: a mode is looked up only for a violation, in time logarithmic in
// the number of overrides, and without allocation. Errors: for a wrong configuration, a text that states what is
// expected.
//
// A violation's mode, when no override names its message or field, is the lower of its check's mode and the overall
// mode. With overrides the most specific one counts: message and tag, then tag, then message, then neither.
// A check that is off stays off whatever the overrides are.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"
#include "nexusfix/base/tag.hpp"

namespace nfx {

// Why a message is rejected at session level, SessionRejectReason(373), and its standard text for Text(58).
enum class SessionRejectReason : std::uint8_t {
  invalid_tag_number = 0,
  required_tag_missing = 1,
  tag_not_defined_for_this_message_type = 2,
  undefined_tag = 3,
  tag_specified_without_a_value = 4,
  value_is_incorrect = 5,
  incorrect_data_format = 6,
  decryption_problem = 7,
  signature_problem = 8,
  comp_id_problem = 9,
  sending_time_accuracy_problem = 10,
  invalid_msg_type = 11,
  xml_validation_error = 12,
  tag_appears_more_than_once = 13,
  tag_specified_out_of_required_order = 14,
  repeating_group_fields_out_of_order = 15,
  incorrect_num_in_group_count = 16,
  non_data_value_includes_field_delimiter = 17,
  other = 99,
};

[[nodiscard]] std::string_view to_text(SessionRejectReason reason) noexcept;

// In ascending order: deliver; deliver with a report; reject.
enum class ValidationMode : std::uint8_t { off, lenient, strict };

[[nodiscard]] std::string_view to_string(ValidationMode mode) noexcept;

inline constexpr Tag first_user_defined_tag{5000};

// Undefined fields, and groups in an order of their own, are delivered by default: counterparties often have them.
struct ValidationChecks {
  ValidationMode unknown_fields = ValidationMode::lenient;       // tags below 5000 that the dictionary does not define
  ValidationMode user_defined_fields = ValidationMode::lenient;  // tags from 5000 that the message does not define
  ValidationMode fields_not_in_message = ValidationMode::lenient;  // known tags below 5000 that it does not define
  ValidationMode field_order = ValidationMode::strict;             // header, body, trailer
  ValidationMode values_present = ValidationMode::strict;  // unless strict, an empty value passes its other checks
  ValidationMode formats = ValidationMode::strict;
  ValidationMode enum_values = ValidationMode::strict;
  ValidationMode required_fields = ValidationMode::strict;
  ValidationMode group_counts = ValidationMode::strict;
  ValidationMode duplicate_fields = ValidationMode::strict;
  ValidationMode message_types = ValidationMode::strict;  // unless strict, only the header of an unknown one is checked
  // Members of a group in another order than the dictionary's, also where another one than its first begins an entry.
  ValidationMode groups = ValidationMode::lenient;

  friend bool operator==(const ValidationChecks&, const ValidationChecks&) = default;
};

struct ValidationOverride {
  std::string msg_type;  // empty: every message
  Tag tag{};             // Tag{0}: every field
  ValidationMode mode = ValidationMode::strict;

  friend bool operator==(const ValidationOverride&, const ValidationOverride&) = default;
};

// "8=lenient" (a message), "8/9730=off" (a field of a message), "*/9730=off" (a field anywhere). The error states what
// is expected.
[[nodiscard]] std::expected<ValidationOverride, std::string> parse_validation_override(std::string_view text);

class ValidationPolicy {
 public:
  ValidationPolicy(ValidationChecks checks = {}, ValidationMode overall = ValidationMode::strict)
      : checks_(checks), overall_(overall) {}

  // Every check rejects, for acceptance tests.
  [[nodiscard]] static ValidationPolicy strict();

  // msg_type empty: every message. Tag{0}: every field. A later call for the same pair replaces the earlier one.
  void set(std::string_view msg_type, Tag tag, ValidationMode mode);
  void set(const ValidationOverride& override) { set(override.msg_type, override.tag, override.mode); }

  [[nodiscard]] const ValidationChecks& checks() const noexcept { return checks_; }
  [[nodiscard]] ValidationMode overall() const noexcept { return overall_; }
  [[nodiscard]] std::span<const ValidationOverride> overrides() const noexcept { return overrides_; }

  // The mode for this violation in a message of this type.
  [[nodiscard]] ValidationMode mode(std::string_view msg_type, SessionRejectReason reason, Tag tag) const noexcept;

  // No violation is ever reported or rejected.
  [[nodiscard]] bool is_off() const noexcept { return overall_ == ValidationMode::off && overrides_.empty(); }

  friend bool operator==(const ValidationPolicy&, const ValidationPolicy&) = default;

 private:
  [[nodiscard]] const ValidationOverride* find(std::string_view msg_type, Tag tag) const noexcept;
  [[nodiscard]] const ValidationOverride* most_specific(std::string_view msg_type, Tag tag) const noexcept;

  ValidationChecks checks_;
  ValidationMode overall_;
  std::vector<ValidationOverride> overrides_;  // by tag, then message type
};

}  // namespace nfx
