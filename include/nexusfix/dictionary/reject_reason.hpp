// Why a message is rejected at session level: SessionRejectReason(373) and its standard text for Text(58).
#pragma once

#include <cstdint>
#include <string_view>

#include "nexusfix/base/language.hpp"

namespace nfx {

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

}  // namespace nfx
