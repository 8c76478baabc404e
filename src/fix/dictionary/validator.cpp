// Checks each field of a message against the dictionary in one pass, including nested groups.
#include "nexusfix/dictionary/validator.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/call_trace.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/digits.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

using Reason = SessionRejectReason;

// The members of one scope seen so far. One byte each: with bits, each field would wait for the previous one, which
// changes the same word.
class Seen {
 public:
  explicit Seen(const Scope& scope) noexcept : missing_(scope.required_count()) {
    NFX_ASSERT(scope.members().size() <= seen_.size());
    // In whole blocks, so that no call is needed.
    for (std::size_t i = 0; i < scope.members().size(); i += block) std::memset(seen_.data() + i, 0, block);
  }

  [[nodiscard]] bool contains(std::uint16_t position) const noexcept { return seen_[position] != 0; }
  void insert(std::uint16_t position, bool required) noexcept {
    missing_ -= static_cast<std::uint32_t>(required && !contains(position));
    seen_[position] = 1;
  }
  // For a loop that does its own counting: the bytes, and at the end the number of required members it added.
  [[nodiscard]] std::uint8_t* bytes() noexcept { return seen_.data(); }
  void added(std::uint32_t required) noexcept {
    NFX_ASSERT(required <= missing_);
    missing_ -= required;
  }
  // Whether no required member is missing.
  [[nodiscard]] bool complete() const noexcept { return missing_ == 0; }

 private:
  static constexpr std::size_t block = 64;
  static_assert(max_scope_members % block == 0);

  std::uint32_t missing_;
  std::array<std::uint8_t, max_scope_members> seen_;
};

// The scopes around a group, innermost first.
struct Around {
  const Scope* scope;
  const Around* outer;

  [[nodiscard]] bool has(Tag tag) const noexcept {
    for (const Around* at = this; at != nullptr; at = at->outer) {
      if (at->scope->find(tag) != nullptr) return true;
    }
    return false;
  }
};

// Every space-separated value is in the list.
bool all_listed(std::string_view text, const EnumValues& values) noexcept {
  while (true) {
    const std::size_t space = text.find(' ');
    if (!values.contains(text.substr(0, space))) return false;
    if (space == std::string_view::npos) return true;
    text.remove_prefix(space + 1);
  }
}

// The value of a NUMINGROUP field; -1 if it is not a count.
std::int64_t entry_count(std::string_view text) noexcept {
  if (!has_format(text, FieldType::num_in_group)) return text.empty() ? 0 : -1;
  constexpr std::int64_t most = 1'000'000'000'000;  // more than any message contains
  std::int64_t count = 0;
  for (const char c : text) count = std::min(count * 10 + (c - '0'), most);
  NFX_ASSERT(count >= 0);
  return count;
}

// One validation: the message, its definitions, and the violations found.
class Validation {
 public:
  Validation(const MessageView& message, const Dictionary& dictionary, const MessageDef& def,
             const ValidationPolicy& policy, ValidationReport& report) noexcept
      : message_(message),
        dictionary_(dictionary),
        scope_(def.scope),
        admin_(def.admin),
        policy_(policy),
        checks_(policy.checks()),
        report_(report) {}

  // False: the violation found() rejects the message.
  [[nodiscard]] bool run() noexcept;
  // Validates only the leading header fields, up to a group, for a message of unknown type.
  [[nodiscard]] bool run_header() noexcept;
  [[nodiscard]] const Violation& found() const noexcept { return *found_; }
  [[nodiscard]] Violation what_is_missing_or(const Violation& found) const noexcept;

 private:
  // Not a position: the group cannot be divided into entries.
  static constexpr std::uint32_t broken = UINT32_MAX;

  // The current state of a scope. In a message, a section ends when a field of a later one arrives; members of an entry
  // follow each other by position.
  struct Walk {
    explicit Walk(const Scope& of) noexcept : scope(of), seen(of) {}
    const Scope& scope;
    Section section = Section::header;
    std::uint16_t last = 0;
    Seen seen;
  };

  // Skips fields from `i` on that are obviously valid under any policy. Returns the first other field, which may be
  // valid too.
  enum class Order : std::uint8_t { by_section, by_position };
  template <Order order>
  [[nodiscard]] std::uint32_t pass_usual(std::uint32_t i, Walk& walk) const noexcept;
  [[nodiscard]] Violation undefined(Tag tag) const noexcept;
  [[nodiscard]] bool member_is_right(std::uint16_t position, const Field& field, Walk& walk) noexcept;
  [[nodiscard]] bool value_is_right(const FieldDef& field, std::string_view value) noexcept;
  [[gnu::cold, gnu::noinline]] bool missing_let_through(const Scope& scope, const Seen& seen) noexcept;

  // The state of a group while its entries are walked.
  struct Division {
    const GroupDef& group;
    std::uint32_t first;    // field of the first entry
    std::int64_t declared;  // number of entries in NumInGroup
    std::int64_t begun = 0;
    Tag start;
    EntryRule rule = EntryRule::unknown;
  };
  [[nodiscard]] std::uint32_t walk_group(const GroupDef& group, std::uint32_t count_at, const Around& around) noexcept;
  [[nodiscard]] bool begins_entry(Division& division, std::uint32_t i, const Around& around) noexcept;
  [[nodiscard]] bool ends_entry(Division& division, Tag tag, bool repeated, const Around& around) const noexcept;
  void find_rule(Division& division, const Around& around) const noexcept;
  [[nodiscard]] std::uint32_t walk_entry(Division& division, std::uint32_t begin, const Around& around) noexcept;
  [[nodiscard]] std::uint32_t walk_member(const MemberDef& member, std::uint32_t at, const Around& inside) noexcept;
  enum class Conflict : std::uint8_t { accepted, ends_group, rejected };
  [[nodiscard]] Conflict check_conflict(const Division& division, Tag tag, bool repeated,
                                        const Around& around) noexcept;
  [[nodiscard]] bool walk_undefined(std::uint32_t at) noexcept;
  [[nodiscard]] std::uint32_t check_count(const GroupDef& group, std::int64_t declared, std::int64_t entries,
                                          std::uint32_t end, const Around& around) noexcept;
  [[nodiscard]] std::uint32_t skip_members(const GroupDef& group, std::uint32_t begin, const Around& around) noexcept;

  [[nodiscard]] ValidationMode mode(const Violation& violation) const noexcept {
    return policy_.mode(message_.msg_type(), violation.reason, violation.tag);
  }
  // Called for every failed check, so that successful checks are only a condition, which costs nothing on the usual
  // path. True if validation may continue.
  [[gnu::cold, gnu::noinline]] bool let_through(const Violation& violation) noexcept;
  [[gnu::cold, gnu::noinline]] bool let_through(Reason reason, Tag tag) noexcept {
    return let_through(Violation{reason, tag});
  }

  const MessageView& message_;
  const Dictionary& dictionary_;
  const Scope& scope_;
  const bool admin_;
  const ValidationPolicy& policy_;
  const ValidationChecks& checks_;
  ValidationReport& report_;
  // The violation that rejects the message. A violation of values in a group is kept until the group is complete,
  // because a wrong count or order replaces it.
  std::optional<Violation> found_;
};

bool Validation::let_through(const Violation& violation) noexcept {
  switch (mode(violation)) {
    case ValidationMode::off: return true;
    case ValidationMode::lenient:
      if (!found_) report_.add(violation);
      return true;
    case ValidationMode::strict: break;
  }
  found_ = violation;
  return false;
}

// First copies what the loop needs to locals: the compiler has to assume that a write to a byte changes any object.
template <Validation::Order order>
inline std::uint32_t Validation::pass_usual(std::uint32_t i, Walk& walk) const noexcept {
  const MessageView::Narrow index = message_.narrow();
  const MemberBriefs briefs = walk.scope.briefs();
  const MemberDef* const members = walk.scope.members().data();
  std::uint8_t* const seen = walk.seen.bytes();
  Section section = walk.section;
  std::uint16_t last = walk.last;
  std::uint32_t required = 0;
  UtcTime time;
  for (; i < index.size; ++i) {
    const MemberBrief brief = briefs.of(index.tags[i]);
    const char* const text = index.data + index.begins[i];
    const std::size_t size = index.ends[i] - std::size_t{index.begins[i]};
    const bool in_order = order == Order::by_section ? brief.section() >= section : brief.position() >= last;
    if (size == 0 || !in_order || seen[brief.position()] != 0) break;
    bool right = false;
    switch (brief.check()) {
      case QuickCheck::none: break;
      case QuickCheck::any_text: right = true; break;
      case QuickCheck::listed: right = members[brief.position()].field->values.contains({text, size}); break;
      case QuickCheck::digits:
        right = size <= 8 && i < index.padded && digits::non_digits(digits::load_8(text) << (64 - 8 * size)) == 0;
        break;
      case QuickCheck::number: {
        digits::Part part;
        right = size <= 8 && i < index.padded && digits::read_part(digits::load_8(text) << (64 - 8 * size), part) &&
                size > part.has_point;
        break;
      }
      case QuickCheck::timestamp: right = read_utc_time({text, size}, time); break;
    }
    if (!right) break;
    section = brief.section();
    last = brief.position();
    required += brief.required();
    seen[last] = 1;
  }
  walk.seen.added(required);
  walk.section = section;
  walk.last = last;
  return i;
}

bool Validation::run() noexcept {
  Walk walk{scope_};
  const Around around{&scope_, nullptr};
  std::uint32_t i = 0;
  while ((i = pass_usual<Order::by_section>(i, walk)) < message_.size()) {
    const Field field = message_[i];
    if (field.value.empty() && checks_.values_present != ValidationMode::off &&
        !let_through(Reason::tag_specified_without_a_value, field.tag)) {
      return false;
    }
    const std::uint16_t position = scope_.position(field.tag);
    if (position == TagIndex::npos) {
      if (!let_through(undefined(field.tag))) {
        found_ = what_is_missing_or(*found_);
        return false;
      }
      ++i;
      continue;
    }
    if (!member_is_right(position, field, walk)) return false;
    ++i;
    const MemberDef& member = scope_.members()[position];
    if (member.group != nullptr) {
      const std::uint32_t count_at = i - 1;
      i = walk_group(*member.group, count_at, around);
      NFX_ASSERT(i == broken ? found_.has_value() : count_at < i && i <= message_.size());
      if (found_) return false;
    }
  }
  if (checks_.required_fields != ValidationMode::off && !walk.seen.complete() &&
      !missing_let_through(scope_, walk.seen)) {
    return false;
  }
  return true;
}

// A message with the fields of another type has undefined fields as well as missing or misplaced ones; the latter are
// more useful in a Reject.
[[gnu::cold, gnu::noinline]] Violation Validation::what_is_missing_or(const Violation& found) const noexcept {
  if (found.reason != Reason::tag_not_defined_for_this_message_type) return found;
  bool body = false;
  for (std::uint32_t i = 0; i < message_.size(); ++i) {
    const Violation misplaced{Reason::tag_specified_out_of_required_order, message_.tag_at(i)};
    if (!is_header_tag(misplaced.tag)) {
      body = true;
    } else if (body && mode(misplaced) == ValidationMode::strict) {
      return misplaced;
    }
  }
  for (const MemberDef& member : scope_.members()) {
    const Violation missing{Reason::required_tag_missing, member.tag};
    if (member.required && !message_.has(member.tag) && mode(missing) == ValidationMode::strict) return missing;
  }
  return found;
}

bool Validation::run_header() noexcept {
  Walk walk{scope_};
  for (std::uint32_t i = 0; i < message_.size(); ++i) {
    const Field field = message_[i];
    const MemberDef* member = scope_.find(field.tag);
    // The end of a group is known only together with the fields after it.
    if (member == nullptr || member->section != Section::header || member->group != nullptr) break;
    if (field.tag == Tag::MsgType && !field.value.empty()) continue;  // already reported as unknown
    if (field.value.empty() && checks_.values_present != ValidationMode::off &&
        !let_through(Reason::tag_specified_without_a_value, field.tag)) {
      return false;
    }
    if (!member_is_right(scope_.position(field.tag), field, walk)) return false;
  }
  return true;
}

// Checks a field of the message itself: its section, its uniqueness, its value.
inline bool Validation::member_is_right(std::uint16_t position, const Field& field, Walk& walk) noexcept {
  const MemberDef& member = scope_.members()[position];
  if (member.section != walk.section) {
    if (member.section > walk.section) {
      walk.section = member.section;
    } else if (!let_through(Reason::tag_specified_out_of_required_order, field.tag)) {
      return false;
    }
  }
  if (walk.seen.contains(position) && !let_through(Reason::tag_appears_more_than_once, field.tag)) return false;
  walk.seen.insert(position, member.required);
  return value_is_right(*member.field, field.value);
}

// The violation for a field that neither the message nor any surrounding group defines.
Violation Validation::undefined(Tag tag) const noexcept {
  const FieldDef* field = value(tag) > 0 ? dictionary_.find_field(tag) : nullptr;
  const bool known = field != nullptr && !(admin_ && field->application_only);
  return {known ? Reason::tag_not_defined_for_this_message_type : Reason::invalid_tag_number, tag};
}

inline bool Validation::value_is_right(const FieldDef& field, std::string_view value) noexcept {
  if (value.empty()) return true;  // handled by values_present
  // Most fields are texts, which need no call.
  if (checks_.formats != ValidationMode::off && !takes_any_text(field.type) && !has_format(value, field.type) &&
      !let_through(Reason::incorrect_data_format, field.tag)) {
    return false;
  }
  if (checks_.enum_values != ValidationMode::off && !field.open) {
    const bool several = takes_several(field.type);
    const bool listed = several ? all_listed(value, field.values) : field.values.contains(value);
    if (!listed) return let_through(Reason::value_is_incorrect, field.tag);
  }
  return true;
}

bool Validation::missing_let_through(const Scope& scope, const Seen& seen) noexcept {
  for (std::uint16_t i = 0; i < scope.members().size(); ++i) {
    const MemberDef& member = scope.members()[i];
    if (member.required && !seen.contains(i) && !let_through(Reason::required_tag_missing, member.tag)) return false;
  }
  return true;
}

// Walks all entries after the count field. Returns the end of the group, or `broken`.
std::uint32_t Validation::walk_group(const GroupDef& group, std::uint32_t count_at, const Around& around) noexcept {
  NFX_ASSERT(count_at < message_.size() && message_.tag_at(count_at) == group.shape.count);
  Division division{.group = group,
                    .first = count_at + 1,
                    .declared = entry_count(message_[count_at].value),
                    .start = group.shape.members.front()};
  std::uint32_t i = count_at + 1;
  while (i < message_.size() && begins_entry(division, i, around)) {
    const std::uint32_t entry_begin = i;
    ++division.begun;
    i = walk_entry(division, entry_begin, around);
    if (i == broken) return broken;
    NFX_ASSERT(entry_begin < i && i <= message_.size());  // so that the loop terminates
  }
  if (found_ && found_->reason == Reason::repeating_group_fields_out_of_order) return broken;
  if (division.declared == division.begun) return i;
  return check_count(group, division.declared, division.begun, i, around);
}

// Whether another entry follows, by the same rule as GroupView. False with found_ set if the message is rejected.
inline bool Validation::begins_entry(Division& division, std::uint32_t i, const Around& around) noexcept {
  const Tag tag = message_.tag_at(i);
  if (tag == division.start)
    return division.begun != division.declared || !around.has(tag);  // otherwise it is a field after the group
  const bool first = division.begun == 0;
  if (first ? division.declared <= 0 : division.rule != EntryRule::repeat) [[likely]]
    return false;
  if (division.group.find(tag) == nullptr || (division.begun == division.declared && around.has(tag))) return false;
  const bool delimiter = tag == division.group.shape.members.front();
  if (!delimiter && !let_through(Reason::repeating_group_fields_out_of_order, tag)) return false;
  if (first) {
    division.start = tag;
    find_rule(division, around);
  }
  return true;
}

// Searches only the fields that can belong to the group, up to a field that only surrounding scopes have.
[[gnu::cold, gnu::noinline]] void Validation::find_rule(Division& division, const Around& around) const noexcept {
  std::uint32_t limit = division.first + 1;
  for (; limit < message_.size(); ++limit) {
    const Tag tag = message_.tag_at(limit);
    if (!division.group.shape.contains(tag) && around.has(tag)) break;
  }
  division.rule = GroupView::rule_of(message_, division.group.shape, division.first, limit, division.declared);
}

// The count is wrong. Returns the end of the group, or `broken`.
[[gnu::cold]] std::uint32_t Validation::check_count(const GroupDef& group, std::int64_t declared, std::int64_t entries,
                                                    std::uint32_t end, const Around& around) noexcept {
  NFX_ASSERT(declared != entries && end <= message_.size());
  Violation violation{Reason::incorrect_num_in_group_count, group.shape.count};
  if (entries < declared && end < message_.size()) {
    const Tag next = message_.tag_at(end);
    if (const Violation undefined_next = undefined(next);
        !around.has(next) && mode(undefined_next) == ValidationMode::strict) {
      violation = undefined_next;
    }
  }
  if (!let_through(violation)) return broken;
  return entries == 0 ? skip_members(group, end, around) : end;
}

// For a count whose entries cannot be divided: skips the fields that can only belong to them. Returns their end.
[[gnu::cold]] std::uint32_t Validation::skip_members(const GroupDef& group, std::uint32_t begin,
                                                     const Around& around) noexcept {
  std::uint32_t end = begin;
  for (std::uint32_t i = begin; i < message_.size() && !around.has(message_.tag_at(i)); ++i) {
    if (group.shape.contains(message_.tag_at(i))) end = i + 1;
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!group.shape.contains(message_.tag_at(i)) && !walk_undefined(i)) return i;
  }
  return end;
}

// Walks the fields of one entry, which begins with a member. Returns the end of the entry, or `broken`.
std::uint32_t Validation::walk_entry(Division& division, std::uint32_t begin, const Around& around) noexcept {
  const GroupDef& group = division.group;
  NFX_ASSERT(group.find(message_.tag_at(begin)) != nullptr);
  Walk walk{group.scope};
  const Around inside{&group.scope, &around};
  std::uint32_t i = begin;
  while ((i = pass_usual<Order::by_position>(i, walk)) < message_.size()) {
    const Tag tag = message_.tag_at(i);
    const std::uint16_t position = group.scope.position(tag);
    if (position == TagIndex::npos) {
      if (around.has(tag) || !walk_undefined(i)) break;
      ++i;
      continue;
    }
    const bool repeated = walk.seen.contains(position);
    if (i != begin && ends_entry(division, tag, repeated, around)) break;
    if (position < walk.last || repeated) [[unlikely]] {
      const Conflict conflict = check_conflict(division, tag, repeated, around);
      if (conflict == Conflict::ends_group) break;
      if (conflict == Conflict::rejected) return broken;
    }
    const MemberDef& member = group.scope.members()[position];
    walk.last = position;
    walk.seen.insert(position, member.required);
    i = walk_member(member, i, inside);
    if (i == broken) return broken;
  }
  if (!found_ && checks_.required_fields != ValidationMode::off && !walk.seen.complete()) {
    static_cast<void>(missing_let_through(group.scope, walk.seen));
  }
  return i;
}

// Whether a member that is not the first of its entry begins the next entry.
inline bool Validation::ends_entry(Division& division, Tag tag, bool repeated, const Around& around) const noexcept {
  if (division.rule != EntryRule::repeat) [[likely]] {
    if (tag == division.start) return true;
    if (!repeated || division.rule == EntryRule::start) return false;
    if (mode({Reason::repeating_group_fields_out_of_order, tag}) == ValidationMode::strict) return false;
    find_rule(division, around);
    if (division.rule == EntryRule::start) return false;
  }
  return repeated;
}

// Handles a member that the entry already has, or that should have come earlier.
[[gnu::cold, gnu::noinline]] Validation::Conflict Validation::check_conflict(const Division& division, Tag tag,
                                                                             bool repeated,
                                                                             const Around& around) noexcept {
  // After the last declared entry, it may be a field with the same tag outside the group.
  if (around.has(tag) && (repeated || division.begun == division.declared)) return Conflict::ends_group;
  // The delimiter in the middle of an entry: the entry's first field is out of order, and is reported.
  if (!repeated && tag == division.group.shape.members.front()) return Conflict::accepted;
  const Reason reason = repeated ? Reason::tag_appears_more_than_once : Reason::repeating_group_fields_out_of_order;
  return let_through(reason, tag) ? Conflict::accepted : Conflict::rejected;
}

// Handles an undefined field within an entry. Returns false if it is not tolerated and so ends the entry; the caller
// then rejects it after the entry.
[[gnu::cold]] bool Validation::walk_undefined(std::uint32_t at) noexcept {
  const Field field = message_[at];
  const Violation violation = undefined(field.tag);
  if (mode(violation) == ValidationMode::strict) return false;
  if (field.value.empty() && checks_.values_present != ValidationMode::off && !found_) {
    static_cast<void>(let_through(Reason::tag_specified_without_a_value, field.tag));
  }
  return let_through(violation);
}

// Validates the value of a group's member, and walks the group that it counts, if any. Returns the next position.
std::uint32_t Validation::walk_member(const MemberDef& member, std::uint32_t at, const Around& inside) noexcept {
  const std::string_view value = message_[at].value;
  if (!found_) {
    if (value.empty() && checks_.values_present != ValidationMode::off) {
      static_cast<void>(let_through(Reason::tag_specified_without_a_value, member.tag));
    } else {
      static_cast<void>(value_is_right(*member.field, value));
    }
  }
  return member.group == nullptr ? at + 1 : walk_group(*member.group, at, inside);
}

}  // namespace

bool validate(const MessageView& message, const Dictionary& dictionary, const ValidationPolicy& policy,
              ValidationReport& report, Violation& found) noexcept {
  NFX_TRACE();
  report.clear();
  if (policy.is_off()) return true;
  const MessageDef* def = dictionary.find_message(message.msg_type());
  const bool known = def != nullptr;
  if (!known) {
    const Violation unknown{Reason::invalid_msg_type, Tag::MsgType};
    const ValidationMode mode = policy.mode(message.msg_type(), unknown.reason, unknown.tag);
    if (mode == ValidationMode::strict) {
      found = unknown;
      return false;
    }
    if (mode == ValidationMode::lenient) report.add(unknown);
    // All messages have the same header.
    if (dictionary.messages().empty()) return true;
    def = &dictionary.messages().front();
  }
  Validation validation(message, dictionary, *def, policy, report);
  if (known ? validation.run() : validation.run_header()) return true;
  found = validation.found();
  return false;
}

}  // namespace nfx
