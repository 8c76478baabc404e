// The validator without tables, words and shortcuts.
#include "dictionary/plain_validator.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::dictionary_test {
namespace {

using Reason = SessionRejectReason;
using Mode = ValidationMode;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Any number of digits.
bool is_count(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

// A longer number means more entries than any message has.
std::int64_t plain_count(std::string_view text) {
  while (text.size() > 1 && text.starts_with('0')) text.remove_prefix(1);
  return text.size() > 18 ? INT64_MAX : std::stoll(std::string(text));
}

bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  std::string all_digits;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c)) {
      all_digits += c;
    } else {
      return false;
    }
  }
  return is_count(all_digits);
}

int number(std::string_view text) {
  int result = 0;
  for (const char c : text) {
    if (!is_digit(c)) return -1;
    result = result * 10 + (c - '0');
  }
  return result;
}

// YYYYMMDD-HH:MM:SS with or without a point and 1 to 12 digits.
bool is_timestamp(std::string_view text) {
  if (text.size() < 17 || text[8] != '-' || text[11] != ':' || text[14] != ':') return false;
  const int year = number(text.substr(0, 4)), month = number(text.substr(4, 2)), day = number(text.substr(6, 2));
  const int hour = number(text.substr(9, 2)), minute = number(text.substr(12, 2)), second = number(text.substr(15, 2));
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days[month - 1]) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  const std::string_view fraction = text.substr(17);
  if (fraction.empty()) return true;
  return fraction[0] == '.' && fraction.size() >= 2 && fraction.size() <= 13 &&
         std::ranges::all_of(fraction.substr(1), is_digit);
}

bool has_plain_format(std::string_view text, FieldType type) {
  switch (type) {
    case FieldType::integer: return is_count(text.starts_with('-') ? text.substr(1) : text);
    case FieldType::length:
    case FieldType::seq_num:
    case FieldType::num_in_group:
    case FieldType::tag_num: return is_count(text);
    case FieldType::float_number:
    case FieldType::quantity:
    case FieldType::price:
    case FieldType::price_offset:
    case FieldType::amount:
    case FieldType::percentage: return is_decimal(text);
    case FieldType::utc_timestamp: return is_timestamp(text);
    default: return has_format(text, type);
  }
}

bool is_listed(std::string_view text, const FieldDef& field) {
  const auto listed = [&](std::string_view one) {
    return std::ranges::find(field.values.all(), one, &EnumValue::value) != field.values.all().end();
  };
  if (field.type != FieldType::multiple_char_value && field.type != FieldType::multiple_string_value)
    return listed(text);
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (!listed(text.substr(begin, end - begin))) return false;
    if (end == text.size()) return true;
    begin = end + 1;
  }
}

// Ends the walk at a violation that must be rejected.
struct Rejected {
  Violation violation;
};

class PlainValidation {
 public:
  PlainValidation(const MessageView& message, const Dictionary& dictionary, const MessageDef& def,
                  const ValidationPolicy& policy)
      : dictionary_(dictionary), def_(def), policy_(policy), type_(message.msg_type()) {
    for (std::uint32_t i = 0; i < message.size(); ++i) fields_.push_back(message[i]);
  }

  void run() {
    std::set<Tag> seen;
    Section section = Section::header;
    for (std::size_t i = 0; i < fields_.size();) {
      check_present(fields_[i]);
      const MemberDef* member = find(def_.scope, fields_[i].tag);
      if (member == nullptr) {
        report(undefined(fields_[i].tag), true);
        ++i;
        continue;
      }
      check_member(*member, fields_[i], section, seen);
      ++i;
      if (member->group != nullptr) {
        i = walk_group(*member->group, i - 1, {&def_.scope});
        if (held_) throw Rejected{*held_};
      }
    }
    check_required(def_.scope, seen);
  }

  void run_header() {
    std::set<Tag> seen;
    Section section = Section::header;
    for (const Field& field : fields_) {
      const MemberDef* member = find(def_.scope, field.tag);
      if (member == nullptr || member->section != Section::header || member->group != nullptr) return;
      if (field.tag == Tag::MsgType && !field.value.empty()) continue;
      check_present(field);
      check_member(*member, field, section, seen);
    }
  }

  std::vector<Violation> tolerated;

 private:
  using Scopes = std::vector<const Scope*>;  // around a group

  static const MemberDef* find(const Scope& scope, Tag tag) {
    const auto at = std::ranges::find(scope.members(), tag, &MemberDef::tag);
    return at == scope.members().end() ? nullptr : &*at;
  }
  static bool has(const Scopes& around, Tag tag) {
    return std::ranges::any_of(around, [tag](const Scope* scope) { return find(*scope, tag) != nullptr; });
  }

  Mode mode(const Violation& violation) const { return policy_.mode(type_, violation.reason, violation.tag); }

  // For a field of the message itself, or the structure of a group.
  void report(const Violation& violation, bool is_undefined = false) {
    switch (mode(violation)) {
      case Mode::off: return;
      case Mode::lenient:
        if (!held_) tolerated.push_back(violation);
        return;
      case Mode::strict: break;
    }
    throw Rejected{is_undefined ? more_useful_than(violation) : violation};
  }
  // For values in a group: held back until the group has been divided.
  void report_in_group(const Violation& violation) {
    if (held_) return;
    if (mode(violation) == Mode::lenient) tolerated.push_back(violation);
    if (mode(violation) == Mode::strict) held_ = violation;
  }

  Violation more_useful_than(const Violation& found) const {
    if (found.reason != Reason::tag_not_defined_for_this_message_type) return found;
    bool body = false;
    for (const Field& field : fields_) {
      if (!is_header_tag(field.tag)) body = true;
      const Violation misplaced{Reason::tag_specified_out_of_required_order, field.tag};
      if (is_header_tag(field.tag) && body && mode(misplaced) == Mode::strict) return misplaced;
    }
    for (const MemberDef& member : def_.scope.members()) {
      const Violation missing{Reason::required_tag_missing, member.tag};
      const bool there = std::ranges::find(fields_, member.tag, &Field::tag) != fields_.end();
      if (member.required && !there && mode(missing) == Mode::strict) return missing;
    }
    return found;
  }

  Violation undefined(Tag tag) const {
    const auto at = std::ranges::find(dictionary_.fields(), tag, &FieldDef::tag);
    const bool known = at != dictionary_.fields().end() && !(def_.admin && at->application_only);
    return {known ? Reason::tag_not_defined_for_this_message_type : Reason::invalid_tag_number, tag};
  }

  void check_present(const Field& field) {
    if (field.value.empty()) report({Reason::tag_specified_without_a_value, field.tag});
  }
  void check_member(const MemberDef& member, const Field& field, Section& section, std::set<Tag>& seen) {
    if (member.section < section) report({Reason::tag_specified_out_of_required_order, field.tag});
    section = std::max(section, member.section);
    if (seen.contains(field.tag)) report({Reason::tag_appears_more_than_once, field.tag});
    seen.insert(field.tag);
    for (const Violation& each : wrong_value(*member.field, field)) report(each);
  }
  // In the order of the checks: the next one counts if this one is tolerated.
  std::vector<Violation> wrong_value(const FieldDef& def, const Field& field) const {
    std::vector<Violation> wrong;
    if (field.value.empty()) return wrong;
    if (!has_plain_format(field.value, def.type)) wrong.push_back({Reason::incorrect_data_format, field.tag});
    if (!def.open && !is_listed(field.value, def)) wrong.push_back({Reason::value_is_incorrect, field.tag});
    return wrong;
  }
  void check_required(const Scope& scope, const std::set<Tag>& seen) {
    for (const MemberDef& member : scope.members()) {
      if (member.required && !seen.contains(member.tag)) report({Reason::required_tag_missing, member.tag});
    }
  }

  // Whether the number of entries is as declared if a repeated member begins the next one.
  bool repeats_divide(const GroupDef& group, std::size_t first, std::int64_t declared, const Scopes& around) const {
    std::int64_t entries = 0;
    std::set<Tag> seen;
    for (std::size_t i = first; i < fields_.size(); ++i) {
      const Tag tag = fields_[i].tag;
      if (!group.shape.contains(tag) && has(around, tag)) break;
      if (find(group.scope, tag) == nullptr) continue;
      if (i == first || seen.contains(tag)) {
        ++entries;
        seen.clear();
      }
      seen.insert(tag);
    }
    return entries == declared;
  }

  struct Entries {
    const GroupDef& group;
    std::size_t first;
    std::int64_t declared;
    std::int64_t begun = 0;
    Tag start;
    std::optional<bool> by_repeats;
  };

  bool begins_entry(Entries& entries, std::size_t i, const Scopes& around) {
    const Tag tag = fields_[i].tag;
    const Tag delimiter = entries.group.shape.members.front();
    if (entries.begun == entries.declared && has(around, tag)) return false;
    if (tag == entries.start) return true;
    if (find(entries.group.scope, tag) == nullptr) return false;
    if (entries.begun == 0) {
      if (entries.declared <= 0) return false;
      report({Reason::repeating_group_fields_out_of_order, tag});
      entries.start = tag;
      entries.by_repeats = repeats_divide(entries.group, i, entries.declared, around);
      return true;
    }
    if (!entries.by_repeats.value_or(false)) return false;
    if (tag != delimiter) report({Reason::repeating_group_fields_out_of_order, tag});
    return true;
  }

  bool ends_entry(Entries& entries, Tag tag, bool repeated, const Scopes& around) {
    if (repeated && tag != entries.start && !entries.by_repeats &&
        mode({Reason::repeating_group_fields_out_of_order, tag}) != Mode::strict) {
      entries.by_repeats = repeats_divide(entries.group, entries.first, entries.declared, around);
    }
    return entries.by_repeats.value_or(false) ? repeated : tag == entries.start;
  }

  std::size_t walk_group(const GroupDef& group, std::size_t count_at, const Scopes& around) {
    const std::string_view text = fields_[count_at].value;
    std::int64_t declared = text.empty() ? 0 : -1;
    if (is_count(text)) declared = plain_count(text);
    Entries entries{.group = group,
                    .first = count_at + 1,
                    .declared = declared,
                    .start = group.shape.members.front(),
                    .by_repeats = std::nullopt};
    std::size_t i = count_at + 1;
    while (i < fields_.size() && begins_entry(entries, i, around)) {
      ++entries.begun;
      i = walk_entry(entries, i, around);
    }
    return declared == entries.begun ? i : check_count(group, declared, entries.begun, i, around);
  }

  std::size_t check_count(const GroupDef& group, std::int64_t declared, std::int64_t entries, std::size_t end,
                          const Scopes& around) {
    Violation violation{Reason::incorrect_num_in_group_count, group.shape.count};
    if (entries < declared && end < fields_.size() && !has(around, fields_[end].tag) &&
        mode(undefined(fields_[end].tag)) == Mode::strict) {
      violation = undefined(fields_[end].tag);
    }
    report(violation);
    if (entries != 0) return end;
    std::size_t past = end;
    for (std::size_t i = end; i < fields_.size() && !has(around, fields_[i].tag); ++i) {
      if (group.shape.contains(fields_[i].tag)) past = i + 1;
    }
    for (std::size_t i = end; i < past; ++i) {
      if (!group.shape.contains(fields_[i].tag) && !tolerates_undefined(fields_[i])) return i;
    }
    return past;
  }

  bool tolerates_undefined(const Field& field) {
    if (mode(undefined(field.tag)) == Mode::strict) return false;
    if (field.value.empty()) report_in_group({Reason::tag_specified_without_a_value, field.tag});
    report(undefined(field.tag));
    return true;
  }

  std::size_t walk_entry(Entries& entries, std::size_t begin, const Scopes& around) {
    const GroupDef& group = entries.group;
    std::set<Tag> seen;
    Scopes inside = around;
    inside.push_back(&group.scope);
    const MemberDef* last = nullptr;
    std::size_t i = begin;
    while (i < fields_.size()) {
      const Field& field = fields_[i];
      const MemberDef* member = find(group.scope, field.tag);
      if (member == nullptr) {
        if (has(around, field.tag) || !tolerates_undefined(field)) break;
        ++i;
        continue;
      }
      const bool repeated = seen.contains(field.tag);
      if (i != begin && ends_entry(entries, field.tag, repeated, around)) break;
      const bool misplaced = last != nullptr && member < last;
      if (repeated || misplaced) {
        if (has(around, field.tag) && (repeated || entries.begun == entries.declared)) break;
        if (repeated || field.tag != group.shape.members.front())
          report(
              {repeated ? Reason::tag_appears_more_than_once : Reason::repeating_group_fields_out_of_order, field.tag});
      }
      last = member;
      seen.insert(field.tag);
      if (field.value.empty()) {
        report_in_group({Reason::tag_specified_without_a_value, field.tag});
      } else {
        for (const Violation& each : wrong_value(*member->field, field)) report_in_group(each);
      }
      i = member->group == nullptr ? i + 1 : walk_group(*member->group, i, inside);
    }
    for (const MemberDef& member : group.scope.members()) {
      if (member.required && !seen.contains(member.tag)) report_in_group({Reason::required_tag_missing, member.tag});
    }
    return i;
  }

  const Dictionary& dictionary_;
  const MessageDef& def_;
  const ValidationPolicy& policy_;
  const std::string_view type_;
  std::vector<Field> fields_;
  std::optional<Violation> held_;  // for the values of a group
};

}  // namespace

PlainVerdict validate_plainly(const MessageView& message, const Dictionary& dictionary,
                              const ValidationPolicy& policy) {
  PlainVerdict verdict;
  if (policy.is_off()) return verdict;
  const auto at = std::ranges::find(dictionary.messages(), message.msg_type(), &MessageDef::msg_type);
  const bool known = at != dictionary.messages().end();
  if (!known) {
    const Violation unknown{Reason::invalid_msg_type, Tag::MsgType};
    const Mode mode = policy.mode(message.msg_type(), unknown.reason, unknown.tag);
    if (mode == Mode::strict) return {unknown, {}};
    if (mode == Mode::lenient) verdict.tolerated.push_back(unknown);
    if (dictionary.messages().empty()) return verdict;
  }
  PlainValidation validation{message, dictionary, known ? *at : dictionary.messages().front(), policy};
  validation.tolerated = verdict.tolerated;
  try {
    known ? validation.run() : validation.run_header();
  } catch (const Rejected& rejected) {
    verdict.rejected = rejected.violation;
  }
  verdict.tolerated = validation.tolerated;
  return verdict;
}

}  // namespace nfx::dictionary_test
