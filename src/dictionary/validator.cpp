#include "nexusfix/dictionary/validator.hpp"

#include <array>
#include <bit>

namespace nfx {
namespace {

using Reason = SessionRejectReason;

// Which members of one scope have been met.
class Seen {
 public:
  explicit Seen(const Scope& scope) noexcept : required_(scope.required()) {
    for (std::size_t i = 0; i < required_.size(); ++i) bits_[i] = 0;
  }

  [[nodiscard]] bool contains(std::uint16_t position) const noexcept {
    return (bits_[position / 64] >> (position % 64)) & 1;
  }
  void insert(std::uint16_t position) noexcept { bits_[position / 64] |= std::uint64_t{1} << (position % 64); }

  // The first required member that has not been met, or TagIndex::npos.
  [[nodiscard]] std::uint16_t first_missing() const noexcept {
    for (std::size_t i = 0; i < required_.size(); ++i) {
      if (const std::uint64_t missing = required_[i] & ~bits_[i]) {
        return static_cast<std::uint16_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(missing)));
      }
    }
    return TagIndex::npos;
  }

 private:
  std::span<const std::uint64_t> required_;
  std::array<std::uint64_t, max_scope_members / 64> bits_;
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

// The value of a NUMINGROUP field; -1 when it is none.
std::int64_t entry_count(std::string_view text) noexcept {
  if (!has_format(text, FieldType::num_in_group)) return text.empty() ? 0 : -1;
  std::int64_t count = 0;
  for (const char c : text) count = count * 10 + (c - '0');
  return count;
}

// One validation: the message, what it is held against, and what has been found.
class Validation {
 public:
  Validation(const MessageView& message, const Dictionary& dictionary, const MessageDef& def,
             const ValidationOptions& options) noexcept
      : message_(message), dictionary_(dictionary), scope_(def.scope), options_(options) {}

  std::optional<Violation> run() noexcept;

 private:
  // A position in the message no field has: a group cannot be walked through.
  static constexpr std::uint32_t broken = UINT32_MAX;

  [[nodiscard]] std::optional<Violation> check_undefined(Tag tag) const noexcept;
  [[nodiscard]] bool value_is_right(const FieldDef& field, std::string_view value) noexcept;
  [[nodiscard]] bool nothing_is_missing(const Scope& scope, const Seen& seen) noexcept;

  [[nodiscard]] std::uint32_t walk_group(const GroupDef& group, std::uint32_t count_at, const Around& around) noexcept;
  [[nodiscard]] std::uint32_t walk_entry(const GroupDef& group, std::uint32_t begin, const Around& around) noexcept;
  [[nodiscard]] std::uint32_t walk_member(const MemberDef& member, std::uint32_t at, const Around& inside) noexcept;
  [[nodiscard]] bool count_is_right(const GroupDef& group, std::int64_t declared, std::int64_t entries,
                                    std::uint32_t end, const Around& around) noexcept;

  // Every check that fails ends here; checks themselves only say yes or no, which costs nothing on the usual path.
  [[gnu::cold, gnu::noinline]] bool reject(Reason reason, Tag tag) noexcept {
    found_ = Violation{reason, tag};
    return false;
  }
  [[gnu::cold]] std::uint32_t break_off(Reason reason, Tag tag) noexcept {
    static_cast<void>(reject(reason, tag));
    return broken;
  }

  const MessageView& message_;
  const Dictionary& dictionary_;
  const Scope& scope_;
  const ValidationOptions& options_;
  // The first thing wrong with the values of a group. It counts once the group has turned out to be whole, and
  // break_off() overrides it when it has not.
  std::optional<Violation> found_;
};

std::optional<Violation> Validation::run() noexcept {
  Seen seen(scope_);
  const Around around{&scope_, nullptr};
  Section section = Section::header;
  for (std::uint32_t i = 0; i < message_.size();) {
    const Field field = message_[i];
    if (field.value.empty() && options_.check_values_present) {
      return Violation{Reason::tag_specified_without_a_value, field.tag};
    }
    const std::uint16_t position = scope_.position(field.tag);
    if (position == TagIndex::npos) {
      if (const auto violation = check_undefined(field.tag)) return violation;
      ++i;
      continue;
    }
    const MemberDef& member = scope_.members()[position];
    if (member.section != section) {
      if (member.section > section) {
        section = member.section;
      } else if (options_.check_field_order) {
        return Violation{Reason::tag_specified_out_of_required_order, field.tag};
      }
    }
    if (seen.contains(position)) return Violation{Reason::tag_appears_more_than_once, field.tag};
    seen.insert(position);
    if (!value_is_right(*member.field, field.value)) return found_;
    ++i;
    if (member.group != nullptr) {
      i = walk_group(*member.group, i - 1, around);
      if (found_) return found_;
    }
  }
  if (options_.check_required_fields && !nothing_is_missing(scope_, seen)) return found_;
  return std::nullopt;
}

std::optional<Violation> Validation::check_undefined(Tag tag) const noexcept {
  if (value(tag) <= 0) return Violation{Reason::invalid_tag_number, tag};
  const bool known = dictionary_.find_field(tag) != nullptr;
  const bool rejected = tag >= first_user_defined_tag ? options_.reject_user_defined_fields
                        : known                       ? options_.reject_fields_not_in_message
                                                      : options_.reject_unknown_fields;
  if (!rejected) return std::nullopt;
  return Violation{known ? Reason::tag_not_defined_for_this_message_type : Reason::invalid_tag_number, tag};
}

inline bool Validation::value_is_right(const FieldDef& field, std::string_view value) noexcept {
  if (value.empty()) return true;  // check_values_present has had its say
  // Most fields are texts: those are spared the call.
  if (options_.check_formats && !takes_any_text(field.type) && !has_format(value, field.type)) {
    return reject(Reason::incorrect_data_format, field.tag);
  }
  if (options_.check_enum_values && !field.open) {
    const bool several = field.type == FieldType::multiple_char_value || field.type == FieldType::multiple_string_value;
    const bool listed = several ? all_listed(value, field.values) : field.values.contains(value);
    if (!listed) return reject(Reason::value_is_incorrect, field.tag);
  }
  return true;
}

bool Validation::nothing_is_missing(const Scope& scope, const Seen& seen) noexcept {
  const std::uint16_t missing = seen.first_missing();
  return missing == TagIndex::npos || reject(Reason::required_tag_missing, scope.members()[missing].tag);
}

// Goes through all entries behind the count field. Returns where the group ends, or `broken`.
std::uint32_t Validation::walk_group(const GroupDef& group, std::uint32_t count_at, const Around& around) noexcept {
  const Tag delimiter = group.shape.members.front();
  const std::int64_t declared = entry_count(message_[count_at].value);
  std::int64_t entries = 0;
  std::uint32_t i = count_at + 1;
  while (i < message_.size() && message_.tag_at(i) == delimiter) {
    if (entries == declared && around.has(delimiter)) break;  // the same field, standing behind the group
    i = walk_entry(group, i, around);
    if (i == broken) return broken;
    ++entries;
  }
  return count_is_right(group, declared, entries, i, around) ? i : broken;
}

bool Validation::count_is_right(const GroupDef& group, std::int64_t declared, std::int64_t entries, std::uint32_t end,
                                const Around& around) noexcept {
  if (!options_.check_group_counts || declared == entries) return true;
  Violation violation{Reason::incorrect_num_in_group_count, group.shape.count};
  if (entries < declared && end < message_.size()) {
    const Tag behind = message_.tag_at(end);
    if (entries == 0 && group.find(behind) != nullptr && !around.has(behind)) {
      violation = {Reason::repeating_group_fields_out_of_order, behind};
    } else if (!around.has(behind)) {
      if (const auto undefined = check_undefined(behind)) violation = *undefined;
    }
  }
  return reject(violation.reason, violation.tag);
}

// Goes through the fields of one entry, its delimiter at `begin`. Returns where the entry ends, or `broken`.
std::uint32_t Validation::walk_entry(const GroupDef& group, std::uint32_t begin, const Around& around) noexcept {
  Seen seen(group.scope);
  const Around inside{&group.scope, &around};
  std::uint16_t last = 0;
  std::uint32_t i = begin;
  while (i < message_.size()) {
    const Tag tag = message_.tag_at(i);
    const std::uint16_t position = group.scope.position(tag);
    if (position == TagIndex::npos) {
      // A field that belongs nowhere, but is tolerated, does not end the entry.
      if (around.has(tag) || check_undefined(tag)) break;
      ++i;
      continue;
    }
    if (position == 0 && i != begin) break;
    if (position < last || seen.contains(position)) {
      if (around.has(tag)) break;
      if (seen.contains(position)) return break_off(Reason::tag_appears_more_than_once, tag);
      if (options_.check_field_order) return break_off(Reason::repeating_group_fields_out_of_order, tag);
    }
    last = position;
    seen.insert(position);
    i = walk_member(group.scope.members()[position], i, inside);
    if (i == broken) return broken;
  }
  if (!found_ && options_.check_required_fields) static_cast<void>(nothing_is_missing(group.scope, seen));
  return i;
}

// Judges the value of a group's member and walks through the group it counts, if it does. Returns what is behind.
std::uint32_t Validation::walk_member(const MemberDef& member, std::uint32_t at, const Around& inside) noexcept {
  const std::string_view value = message_[at].value;
  if (!found_) {
    if (value.empty() && options_.check_values_present) {
      static_cast<void>(reject(Reason::tag_specified_without_a_value, member.tag));
    } else {
      static_cast<void>(value_is_right(*member.field, value));
    }
  }
  return member.group == nullptr ? at + 1 : walk_group(*member.group, at, inside);
}

}  // namespace

std::optional<Violation> validate(const MessageView& message, const Dictionary& dictionary,
                                  const ValidationOptions& options) noexcept {
  const MessageDef* def = dictionary.find_message(message.msg_type());
  if (def == nullptr) return Violation{Reason::invalid_msg_type, Tag::MsgType};
  return Validation(message, dictionary, *def, options).run();
}

}  // namespace nfx
