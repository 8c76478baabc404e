// Whether a message is what a dictionary says it should be, and if not, the first thing a Reject has to name.
// Thread: any; no state. Cost: one pass, a hash look-up and a format check per field; no allocation, bounded stack.
// The policy says what becomes of each violation; it is asked only when there is one.
//
// Fields are judged in wire order, and one field in this order: has it a value, does it belong here, is it in its
// section (header, body, trailer), is it the only one, is the value's format right, is the value one of those listed.
// What is missing is looked for at the end, in the dictionary's order. Three things come before that order:
//   - a field that is missing, or a header field behind the body, before one that only other messages have;
//   - a MsgType the dictionary does not have, as nothing but the header can be judged then;
//   - a wrong entry count, or members out of order, before whatever is wrong with the values of that group: a group
//     that cannot be divided into entries has no members to judge.
//
// A group's entry starts with the group's first member and goes on while members follow (GroupMode says which member
// is the first, and whether the others may come in any order). When the first field behind a count above zero is
// another member, entries are out of order (15); when it is no member, the count is wrong (16). A member repeated
// within an entry ends the group if the fields around the group have that tag too; otherwise it appears more than once
// (13). A field that belongs nowhere but is let through stays in the entry it stands in; one that is rejected breaks
// the group off, and is what is reported.
//
// Behind a group that cannot be divided and is let through, judging goes on with the first field that can not be a
// part of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/reject_reason.hpp"
#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

struct Violation {
  SessionRejectReason reason = SessionRejectReason::other;
  Tag tag{};

  // False when no field is to blame; Tag{0} itself can be the invalid one.
  [[nodiscard]] bool has_tag() const noexcept { return reason != SessionRejectReason::invalid_msg_type; }
  friend bool operator==(const Violation&, const Violation&) = default;
};

// What was let through: the first violations in the order they were found, and how many there were.
class ValidationReport {
 public:
  static constexpr std::size_t capacity = 16;

  void clear() noexcept { total_ = 0; }
  void add(const Violation& violation) noexcept {
    if (total_ < capacity) kept_[total_] = violation;
    ++total_;
  }

  [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }
  [[nodiscard]] std::span<const Violation> violations() const noexcept {
    return {kept_.data(), total_ < capacity ? total_ : capacity};
  }

 private:
  std::array<Violation, capacity> kept_;
  std::size_t total_ = 0;
};

// The first violation that has to be rejected, or empty. The report is cleared first, and then holds what was let
// through in lenient mode, up to the violation that is rejected. The view holds a message that parse() accepted.
[[nodiscard]] std::optional<Violation> validate(const MessageView& message, const Dictionary& dictionary,
                                                const ValidationPolicy& policy, ValidationReport& report) noexcept;

}  // namespace nfx
