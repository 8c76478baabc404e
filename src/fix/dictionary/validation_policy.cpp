// Decides which violations reject a message, with overrides per message type and tag, and parses them from a
// configuration.
#include "nexusfix/dictionary/validation_policy.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/enumerator_name.hpp"
#include "base/suggest.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/enum_values.hpp"

namespace nfx {
namespace {

using Reason = SessionRejectReason;

constexpr std::string_view override_examples = "\"8=lenient\", \"8/9730=off\" or \"*/9730=off\"";

// The mode of the check that finds this violation.
ValidationMode check_mode(const ValidationChecks& checks, Reason reason, Tag tag) noexcept {
  switch (reason) {
    case Reason::invalid_tag_number:
      if (value(tag) <= 0) return ValidationMode::strict;  // not a field, so no check applies
      return tag >= first_user_defined_tag ? checks.user_defined_fields : checks.unknown_fields;
    case Reason::tag_not_defined_for_this_message_type:
      return tag >= first_user_defined_tag ? checks.user_defined_fields : checks.fields_not_in_message;
    case Reason::required_tag_missing: return checks.required_fields;
    case Reason::tag_specified_without_a_value: return checks.values_present;
    case Reason::value_is_incorrect: return checks.enum_values;
    case Reason::incorrect_data_format: return checks.formats;
    case Reason::invalid_msg_type: return checks.message_types;
    case Reason::tag_appears_more_than_once: return checks.duplicate_fields;
    case Reason::tag_specified_out_of_required_order: return checks.field_order;
    case Reason::repeating_group_fields_out_of_order: return checks.groups;
    case Reason::incorrect_num_in_group_count: return checks.group_counts;
    // Reasons that do not come from a dictionary.
    case Reason::undefined_tag:
    case Reason::decryption_problem:
    case Reason::signature_problem:
    case Reason::comp_id_problem:
    case Reason::sending_time_accuracy_problem:
    case Reason::xml_validation_error:
    case Reason::non_data_value_includes_field_delimiter:
    case Reason::other: return ValidationMode::strict;
  }
  return ValidationMode::strict;
}

struct Place {
  Tag tag;
  std::string_view msg_type;

  friend auto operator<=>(const Place&, const Place&) = default;
};

Place place_of(const ValidationOverride& override) noexcept { return {override.tag, override.msg_type}; }

std::unexpected<std::string> wrong(std::string_view text, const std::string& why) {
  return std::unexpected("\"" + std::string(text) + "\": " + why + "; expected something like " +
                         std::string(override_examples));
}

}  // namespace

std::string_view to_string(ValidationMode mode) noexcept { return enumerator_name(mode); }

std::expected<ValidationOverride, std::string> parse_validation_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong(text, "has no '='");
  const std::string_view mode_text = text.substr(equals + 1);
  const auto mode = parse_enum<ValidationMode>(mode_text);
  if (!mode) {
    return wrong(text,
                 "\"" + std::string(mode_text) + "\" is not \"strict\", \"lenient\" or \"off\"" +
                     did_you_mean(mode_text, {to_string(ValidationMode::strict), to_string(ValidationMode::lenient),
                                              to_string(ValidationMode::off)}));
  }
  const std::string_view place = text.substr(0, equals);
  const std::size_t slash = place.find('/');
  const std::string_view msg_type = place.substr(0, slash);
  if (msg_type.empty()) return wrong(text, "has no message type at its start ('*' is every one)");
  ValidationOverride result{msg_type == "*" ? std::string{} : std::string(msg_type), Tag{}, *mode};
  if (slash == std::string_view::npos) return result;

  const std::string_view number = place.substr(slash + 1);
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tag);
  if (error != std::errc{} || end != number.data() + number.size() || tag <= 0) {
    return wrong(text, "\"" + std::string(number) + "\" is not a tag");
  }
  result.tag = Tag{tag};
  return result;
}

ValidationPolicy ValidationPolicy::strict() {
  return ValidationChecks{.unknown_fields = ValidationMode::strict,
                          .user_defined_fields = ValidationMode::strict,
                          .fields_not_in_message = ValidationMode::strict,
                          .groups = ValidationMode::strict};
}

void ValidationPolicy::set(std::string_view msg_type, Tag tag, ValidationMode mode) {
  const Place place{tag, msg_type};
  const auto at = std::ranges::lower_bound(overrides_, place, {}, place_of);
  if (at != overrides_.end() && place_of(*at) == place) {
    at->mode = mode;
  } else {
    overrides_.insert(at, {std::string(msg_type), tag, mode});
  }
  // find() is a binary search.
  NFX_ASSERT(std::ranges::adjacent_find(overrides_, std::ranges::greater_equal{}, place_of) == overrides_.end());
}

ValidationMode ValidationPolicy::mode(std::string_view msg_type, SessionRejectReason reason, Tag tag) const noexcept {
  const ValidationMode check = check_mode(checks_, reason, tag);
  if (check == ValidationMode::off) return check;
  if (!overrides_.empty()) {
    if (const ValidationOverride* override = most_specific(msg_type, tag)) return override->mode;
  }
  return std::min(check, overall_);
}

const ValidationOverride* ValidationPolicy::find(std::string_view msg_type, Tag tag) const noexcept {
  const Place place{tag, msg_type};
  const auto at = std::ranges::lower_bound(overrides_, place, {}, place_of);
  return at != overrides_.end() && place_of(*at) == place ? &*at : nullptr;
}

const ValidationOverride* ValidationPolicy::most_specific(std::string_view msg_type, Tag tag) const noexcept {
  for (const Place& place : {Place{tag, msg_type}, Place{tag, {}}, Place{Tag{}, msg_type}, Place{Tag{}, {}}}) {
    if (const ValidationOverride* override = find(place.msg_type, place.tag)) return override;
  }
  return nullptr;
}

}  // namespace nfx
