// The standard texts of SessionRejectReason(373).
#include "nexusfix/dictionary/validation_policy.hpp"

namespace nfx {

std::string_view to_text(SessionRejectReason reason) noexcept {
  switch (reason) {
    case SessionRejectReason::invalid_tag_number: return "Invalid tag number";
    case SessionRejectReason::required_tag_missing: return "Required tag missing";
    case SessionRejectReason::tag_not_defined_for_this_message_type: return "Tag not defined for this message type";
    case SessionRejectReason::undefined_tag: return "Undefined tag";
    case SessionRejectReason::tag_specified_without_a_value: return "Tag specified without a value";
    case SessionRejectReason::value_is_incorrect: return "Value is incorrect (out of range) for this tag";
    case SessionRejectReason::incorrect_data_format: return "Incorrect data format for value";
    case SessionRejectReason::decryption_problem: return "Decryption problem";
    case SessionRejectReason::signature_problem: return "Signature problem";
    case SessionRejectReason::comp_id_problem: return "CompID problem";
    case SessionRejectReason::sending_time_accuracy_problem: return "SendingTime accuracy problem";
    case SessionRejectReason::invalid_msg_type: return "Invalid MsgType";
    case SessionRejectReason::xml_validation_error: return "XML validation error";
    case SessionRejectReason::tag_appears_more_than_once: return "Tag appears more than once";
    case SessionRejectReason::tag_specified_out_of_required_order: return "Tag specified out of required order";
    case SessionRejectReason::repeating_group_fields_out_of_order: return "Repeating group fields out of order";
    case SessionRejectReason::incorrect_num_in_group_count: return "Incorrect NumInGroup count for repeating group";
    case SessionRejectReason::non_data_value_includes_field_delimiter:
      return "Non \"data\" value includes field delimiter";
    case SessionRejectReason::other: return "Other";
  }
  return "Other";
}

}  // namespace nfx
