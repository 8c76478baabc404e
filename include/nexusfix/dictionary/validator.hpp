// Validates a message against a dictionary and returns the first violation that a Reject has to name.
// Thread: any; no state. Cost: one pass, a hash lookup and a format check per field; no allocation, bounded stack.
// The policy decides what happens to each violation; it is consulted only when there is one.
//
// Fields are validated in wire order. For each field the checks are, in this order: a value, defined here, in its
// section (header, body, trailer), not a duplicate, the right format, a listed value. Missing fields are found at the
// end, in the dictionary's order. Three violations take precedence:
//   - A missing field, or a header field after the body, precedes a field that only other messages define.
//   - An undefined MsgType comes first, because only the header can be validated then.
//   - A wrong entry count, or members out of order, precede wrong values of that group. Members of a group that cannot
//     be divided into entries cannot be validated.
//
// GroupView defines which fields of a group begin its entries. An entry that begins with another member than the
// dictionary's first, or whose members are in another order, is out of order (15); where that is rejected, only the
// dictionary's first member begins entries. When the field after a count above zero is not a member, the count is wrong
// (16). A member repeated within an entry ends the group if the fields around the group include that tag too; otherwise
// it appears more than once (13). The same is true of a member out of order in the last entry that the count announces.
// An undefined field that is tolerated belongs to the entry in which it appears; one that is rejected ends the group
// and is reported.
//
// After a group that cannot be divided and is tolerated, validation continues with the first field that cannot be part
// of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/dictionary/dictionary.hpp"
#include "nexusfix/dictionary/validation_policy.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx {

struct Violation {
  SessionRejectReason reason = SessionRejectReason::other;
  Tag tag{};

  // False when the violation is not about a field; Tag{0} can itself be the invalid tag.
  [[nodiscard]] bool has_tag() const noexcept { return reason != SessionRejectReason::invalid_msg_type; }
  friend bool operator==(const Violation&, const Violation&) = default;
};

// The violations that were tolerated: the first ones in the order found, and the total number.
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

// Whether there is nothing to reject; otherwise `found` is the first violation that has to be. The report is cleared
// first, and then holds the violations tolerated in lenient mode, up to the one that is rejected. The view holds a
// message that parse() accepted.
[[nodiscard]] bool validate(const MessageView& message, const Dictionary& dictionary, const ValidationPolicy& policy,
                            ValidationReport& report, Violation& found) noexcept;

// The same: the first violation that has to be rejected, or empty.
[[nodiscard]] inline std::optional<Violation> validate(const MessageView& message, const Dictionary& dictionary,
                                                       const ValidationPolicy& policy,
                                                       ValidationReport& report) noexcept {
  Violation found;
  if (validate(message, dictionary, policy, report, found)) return std::nullopt;
  return found;
}

}  // namespace nfx
