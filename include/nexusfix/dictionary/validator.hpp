// Whether a message is what a dictionary says it should be, and if not, the first thing a Reject has to name.
// Thread: any; no state. Cost: one pass, a hash look-up and a format check per field; no allocation, bounded stack.
//
// Fields are judged in wire order, and one field in this order: has it a value, does it belong here, is it in its
// section (header, body, trailer), is it the only one, is the value's format right, is the value one of those listed.
// What is missing is looked for at the end, in the dictionary's order. Two things come before that order:
//   - a MsgType the dictionary does not have, as nothing else can be judged then;
//   - a wrong entry count, or members out of order, before whatever is wrong with the values of that group: a group
//     that cannot be divided into entries has no members to judge.
//
// A group's entry starts with the group's first member and goes on while members follow. When the first field behind
// a count above zero is another member, entries are out of order (15); when it is no member, the count is wrong (16).
// A member repeated within an entry ends the group if the fields around the group have that tag too; otherwise it
// appears more than once (13). A group that breaks off early at a field that belongs nowhere reports that field.
#pragma once

#include <cstdint>
#include <optional>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/reject_reason.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

struct Violation {
  SessionRejectReason reason = SessionRejectReason::other;
  Tag tag{};

  // False when no field is to blame; Tag{0} itself can be the invalid one.
  [[nodiscard]] bool has_tag() const noexcept { return reason != SessionRejectReason::invalid_msg_type; }
  friend bool operator==(const Violation&, const Violation&) = default;
};

inline constexpr Tag first_user_defined_tag{5000};

struct ValidationOptions {
  bool reject_unknown_fields = true;         // tags below 5000 that the dictionary does not have
  bool reject_user_defined_fields = true;    // tags from 5000 that the message does not have
  bool reject_fields_not_in_message = true;  // known tags below 5000 that the message does not have
  bool check_field_order = true;             // header, body, trailer; members within a group's entry
  bool check_values_present = true;          // when off, an empty value passes every other check of its field
  bool check_formats = true;
  bool check_enum_values = true;
  bool check_required_fields = true;
  bool check_group_counts = true;
};

// Empty when nothing is wrong. The view holds a message that parse() accepted.
[[nodiscard]] std::optional<Violation> validate(const MessageView& message, const Dictionary& dictionary,
                                                const ValidationOptions& options) noexcept;

}  // namespace nfx
