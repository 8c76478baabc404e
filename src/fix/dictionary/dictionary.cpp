// Looks up tags, message types and values without allocation. Validation makes several look-ups per field.
#include "nexusfix/dictionary/dictionary.hpp"

#include <algorithm>
#include <bit>
#include <ranges>

#include "base/same_text.hpp"
#include "dictionary/tables.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {

static_assert(
    [] {
      for (const FixVersion& each : fix_versions) {
        if (each.name.empty() || each.label.empty() || !each.file.ends_with(".xml")) return false;
        if (find_version(each.name) != &each) return false;
        if (std::ranges::find(fix_versions, each.file, &FixVersion::file) != &each) return false;
        // A version is a session layer, a set of application messages, or both.
        if (!each.session && each.appl_ver_id.empty()) return false;
        if (!each.appl_ver_id.empty() && version_of_appl_ver_id(each.appl_ver_id) != each.name) return false;
      }
      return true;
    }(),
    "names, files and ApplVerIDs are unique, and each version defines a session layer or application messages");
static_assert(transport_version.session == SessionRules::fixt11 && transport_version.appl_ver_id.empty());
static_assert(session_rules("FIX.4.0") < session_rules("FIX.4.2") && session_rules("FIX.4.4") < SessionRules::fixt11);
static_assert(!is_begin_string("FIX.5.0SP2") && is_begin_string("FIX.4.4") && !is_begin_string(""));

EnumValues::EnumValues(std::vector<EnumValue> values) : values_(std::move(values)) {
  std::ranges::sort(values_, {}, &EnumValue::value);
  keys_.reserve(values_.size());
  for (const EnumValue& v : values_) {
    keys_.push_back(packed(v.value));
    if (v.value.size() == 1) {
      const auto c = static_cast<unsigned char>(v.value[0]);
      one_character_[c >> 6] |= std::uint64_t{1} << (c & 63);
    }
  }
  // find() does a binary search over the keys and reads the values in the same order.
  NFX_ASSERT(keys_.size() == values_.size() && std::ranges::is_sorted(keys_));
  NFX_ASSERT(std::ranges::adjacent_find(values_, {}, &EnumValue::value) == values_.end());
}

const EnumValue* EnumValues::find(std::string_view value) const noexcept {
  const std::uint64_t key = packed(value);
  auto at = std::ranges::lower_bound(keys_, key);
  for (; at != keys_.end() && *at == key; ++at) {
    const EnumValue& candidate = values_[static_cast<std::size_t>(at - keys_.begin())];
    if (candidate.value == value) return &candidate;
  }
  return nullptr;
}

TagIndex::TagIndex(std::size_t size) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * size, 2));
  NFX_ASSERT(std::has_single_bit(slots) && slots >= 2 * size && slots > size);  // a search finds an empty slot
  slots_.resize(slots);
  shift_ = 32 - static_cast<std::uint32_t>(std::countr_zero(slots));
}

void TagIndex::insert(Tag tag, std::uint16_t index) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (static_cast<std::uint32_t>(value(tag)) * 0x9E3779B1u) >> shift_;
  NFX_ASSERT(index != npos && at <= mask);
  while (slots_[at].index != npos && slots_[at].tag != tag) at = (at + 1) & mask;
  slots_[at] = {tag, index};
}

namespace {

QuickCheck quick_check_of(const FieldDef& field) {
  if (!field.open) {
    // A listed value is valid, unless it contradicts the type, or consists of several space-separated values.
    const bool several = takes_several(field.type);
    const bool consistent = std::ranges::all_of(field.values.all(), [&](const EnumValue& each) {
      return has_format(each.value, field.type) && !(several && each.value.contains(' '));
    });
    return consistent ? QuickCheck::listed : QuickCheck::none;
  }
  switch (format_of(field.type)) {
    case ValueFormat::text:
    case ValueFormat::data: return QuickCheck::any_text;
    case ValueFormat::integer:
    case ValueFormat::number:
    case ValueFormat::sequence_number: return QuickCheck::digits;
    case ValueFormat::decimal: return QuickCheck::number;
    case ValueFormat::timestamp: return QuickCheck::timestamp;
    case ValueFormat::day_of_month:
    case ValueFormat::character:
    case ValueFormat::boolean:
    case ValueFormat::character_list:
    case ValueFormat::text_list:
    case ValueFormat::month_year:
    case ValueFormat::time:
    case ValueFormat::local_time:
    case ValueFormat::date:
    case ValueFormat::zoned_time:
    case ValueFormat::zoned_timestamp: break;
  }
  return QuickCheck::none;
}

}  // namespace

MemberBrief::MemberBrief(std::size_t position, const MemberDef& member) {
  static_assert(max_scope_members == 1 << 10);
  const QuickCheck check = member.group == nullptr ? quick_check_of(*member.field) : QuickCheck::none;
  bits_ = static_cast<std::uint16_t>(position | static_cast<unsigned>(check) << 10 |
                                     static_cast<unsigned>(member.required) << 13 |
                                     static_cast<unsigned>(member.section) << 14);
  NFX_ASSERT(this->position() == position && this->check() == check && required() == member.required);
  NFX_ASSERT(section() == member.section);
}

Scope::Scope(std::vector<MemberDef> members) : members_(std::move(members)), index_(members_.size()) {
  NFX_REQUIRE(members_.size() <= max_scope_members);
  if (!members_.empty()) {
    const auto [first, last] = std::ranges::minmax(members_ | std::views::transform([](const MemberDef& member) {
                                                     return static_cast<std::uint32_t>(value(member.tag));
                                                   }));
    first_tag_ = first;
    briefs_.resize(std::min(last - first + 1, MemberBriefs::max_size));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    index_.insert(members_[i].tag, static_cast<std::uint16_t>(i));
    required_count_ += members_[i].required;
    const std::uint32_t at = static_cast<std::uint32_t>(value(members_[i].tag)) - first_tag_;
    if (at < briefs_.size()) briefs_[at] = MemberBrief{i, members_[i]};
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    NFX_ASSERT(index_.find(members_[i].tag) == i);  // every tag once
    NFX_ASSERT(i == 0 || members_[i - 1].section <= members_[i].section);
    NFX_ASSERT(members_[i].field != nullptr && members_[i].field->tag == members_[i].tag);
    NFX_ASSERT(members_[i].group == nullptr || members_[i].group->shape.count == members_[i].tag);
  }
}

namespace {

const GroupDef* find_group_in(const Scope& scope, Tag count) noexcept {
  const MemberDef* direct = scope.find(count);
  if (direct != nullptr && direct->group != nullptr) return direct->group;
  for (const MemberDef& member : scope.members()) {
    if (member.group == nullptr) continue;
    if (const GroupDef* nested = find_group_in(member.group->scope, count)) return nested;
  }
  return nullptr;
}

}  // namespace

const GroupDef* MessageDef::find_group(Tag count) const noexcept { return find_group_in(scope, count); }

MessageIndex::MessageIndex(std::span<const MessageDef> messages) : slots_(std::bit_ceil(2 * messages.size() + 2)) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    NFX_ASSERT(i < npos);
    if (messages[i].msg_type.size() > short_msg_type_size) {
      long_types_.push_back({messages[i].msg_type, static_cast<std::uint16_t>(i)});
      continue;
    }
    const std::uint64_t key = packed(messages[i].msg_type);
    std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 32 & (slots_.size() - 1);
    while (slots_[at].index != npos) {
      NFX_ASSERT(slots_[at].key != key);  // every message type once
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {key, static_cast<std::uint16_t>(i)};
  }
}

std::uint16_t MessageIndex::find(std::string_view msg_type) const noexcept {
  if (slots_.empty()) return npos;
  if (msg_type.size() > short_msg_type_size) [[unlikely]] {
    const auto at = std::ranges::find(long_types_, msg_type, &LongType::msg_type);
    return at == long_types_.end() ? npos : at->index;
  }
  const std::uint64_t key = packed(msg_type);
  for (std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 32;; ++at) {
    const Slot& slot = slots_[at & (slots_.size() - 1)];
    if (slot.index == npos || slot.key == key) return slot.index;
  }
}

Dictionary::Dictionary(std::unique_ptr<const Tables> tables) noexcept : tables_(std::move(tables)) {}
Dictionary::Dictionary(Dictionary&&) noexcept = default;
Dictionary& Dictionary::operator=(Dictionary&&) noexcept = default;
Dictionary::~Dictionary() = default;

std::string_view Dictionary::begin_string() const noexcept { return tables_->begin_string; }
std::string_view Dictionary::version_name() const noexcept { return tables_->version_name; }
std::string_view Dictionary::appl_ver_id() const noexcept { return appl_ver_id_of(tables_->version_name); }

const Repairs& Dictionary::repairs() const noexcept { return tables_->repairs; }

const FieldDef* Dictionary::find_field(Tag tag) const noexcept {
  const std::uint16_t at = tables_->field_index.find(tag);
  return at == TagIndex::npos ? nullptr : &tables_->fields[at];
}

const FieldDef* Dictionary::find_field(std::string_view name) const noexcept {
  const auto at = tables_->fields_by_name.find(name);
  return at == tables_->fields_by_name.end() ? nullptr : at->second;
}

const MessageDef* Dictionary::find_message(std::string_view msg_type) const noexcept {
  const std::uint16_t at = tables_->message_index.find(msg_type);
  if (at == MessageIndex::npos) return nullptr;
  // A type with a zero byte at its end has the same key as one without.
  const MessageDef& message = tables_->messages[at];
  return same_text(message.msg_type, msg_type) ? &message : nullptr;
}

std::string_view Dictionary::field_name(Tag tag) const noexcept {
  const FieldDef* field = find_field(tag);
  return field == nullptr ? std::string_view{} : field->name;
}

std::string_view Dictionary::value_name(Tag tag, std::string_view value) const noexcept {
  const FieldDef* field = find_field(tag);
  const EnumValue* found = field == nullptr ? nullptr : field->values.find(value);
  return found == nullptr ? std::string_view{} : found->name;
}

std::string_view Dictionary::message_name(std::string_view msg_type) const noexcept {
  const MessageDef* message = find_message(msg_type);
  return message == nullptr ? std::string_view{} : message->name;
}

const GroupShape* Dictionary::group_shape(std::string_view msg_type, Tag count) const noexcept {
  const MessageDef* message = find_message(msg_type);
  const GroupDef* group = message == nullptr ? nullptr : message->find_group(count);
  return group == nullptr ? nullptr : &group->shape;
}

std::span<const FieldDef> Dictionary::fields() const noexcept { return tables_->fields; }
std::span<const MessageDef> Dictionary::messages() const noexcept { return tables_->messages; }

}  // namespace nfx
