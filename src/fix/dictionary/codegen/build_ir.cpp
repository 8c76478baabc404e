// Chooses all names of the generated code before any text is written. Names are unique, valid, and the same for every
// selection of messages.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/suggest.hpp"
#include "dictionary/codegen/ir.hpp"
#include "dictionary/codegen/names.hpp"

namespace nfx::codegen {
namespace {

bool is_number(std::string_view text, std::int32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // "01" and "1" are the same number but different values.
  return error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
}

ValueKind kind_of(FieldType type) {
  switch (format_of(type)) {
    case ValueFormat::integer:
    case ValueFormat::number:
    case ValueFormat::day_of_month: return ValueKind::integer;
    case ValueFormat::sequence_number: return ValueKind::seq_num;
    case ValueFormat::decimal: return ValueKind::decimal;
    case ValueFormat::character: return ValueKind::character;
    case ValueFormat::boolean: return ValueKind::boolean;
    case ValueFormat::timestamp: return ValueKind::utc_timestamp;
    case ValueFormat::data: return ValueKind::data;
    case ValueFormat::text:
    case ValueFormat::character_list:
    case ValueFormat::text_list:
    case ValueFormat::month_year:
    case ValueFormat::time:
    case ValueFormat::local_time:
    case ValueFormat::date:
    case ValueFormat::zoned_time:
    case ValueFormat::zoned_timestamp: return ValueKind::text;
  }
  return ValueKind::text;
}

// Before FIX 4.2 there was no type for a single character.
bool has_character_type(std::string_view begin_string) { return session_rules(begin_string) >= SessionRules::fix42; }

EnumKind enum_kind_of(const FieldDef& field, ValueKind kind, std::string_view begin_string) {
  const auto all = [&](auto&& holds) { return std::ranges::all_of(field.values.all(), holds, &EnumValue::value); };
  std::int32_t number = 0;
  const bool of_characters =
      kind == ValueKind::character || (field.type == FieldType::string && !has_character_type(begin_string));
  if (of_characters && all([](std::string_view v) { return v.size() == 1 && v[0] > ' ' && v[0] < 127; })) {
    return EnumKind::character;
  }
  if (kind == ValueKind::integer && all([&](std::string_view v) { return is_number(v, number); })) {
    return EnumKind::integer;
  }
  return EnumKind::text;
}

// Names used by the generated classes and their base classes.
constexpr std::string_view own_members[] = {
    "view",     "msg_type",    "shape",        "member_tags",    "nested_shapes",   "body",           "ok",
    "missing",  "fields",      "put",          "put_data",       "put_count",       "required",       "view_",
    "nfx",      "std",         "value",        "count",          "fraction_digits", "send",           "discard",
    "fault",    "why",         "append",       "append_data",    "append_raw",      "send_or_reject", "reject",
    "received", "fail",        "note_special", "check_fields",   "is_sessions",     "version_key",    "state",
    "begin",    "begin_field", "build_fault",  "depth",          "forget",          "missing_of",     "derived",
    "clear",    "self",        "fix_version",  "tags_above_1023"};
constexpr std::string_view own_types[] = {"Header", "View", "Writer", "Base", "Builder", "Messages", "Names", "Self"};
constexpr std::string_view own_files[] = {"fields", "messages", "header", "forward", "dispatch", "names", "shared"};

class Builder {
 public:
  Builder(const Dictionary& dictionary, const CodegenOptions& options) : dictionary_(dictionary) {
    ir_.source = options.source;
    ir_.begin_string = dictionary_.begin_string();
    ir_.name_space =
        options.name_space.find("::") == std::string::npos ? "nfx::" + options.name_space : options.name_space;
  }

  Ir build(const std::vector<std::string>& selection) {
    name_messages();
    name_fields();
    for (const MessageDef& message : dictionary_.messages()) find_groups(message);
    name_groups();
    for (const MessageDef& message : dictionary_.messages()) ir_.messages.push_back(make_message(message));
    // The header is the same in all messages.
    if (!dictionary_.messages().empty()) {
      ir_.header = make_members(dictionary_.messages().front().scope, Section::header);
    }
    share_fields();
    select(selection);
    drop_unused();
    for (const MessageDef& message : dictionary_.messages()) {
      ir_.named_messages.emplace_back(message.msg_type, message.name);
    }
    for (const FieldDef& field : dictionary_.fields()) {
      NamedField& named = ir_.named_fields.emplace_back(NamedField{field.tag, std::string{field.name}, {}});
      for (const EnumValue& each : field.values.all()) named.values.emplace_back(each.value, each.name);
    }
    return std::move(ir_);
  }

 private:
  void name_messages() {
    for (const std::string_view name : own_types) types_.take(std::string{name});
    for (const std::string_view name : own_files) files_.take(std::string{name});
    for (const MessageDef& message : dictionary_.messages()) {
      message_names_.push_back(types_.take_free(type_case(message.name), "Message"));
      types_.take(message_names_.back() + "Builder");
      types_.take(message_names_.back() + "Fields");
      message_files_.push_back(files_.take_free(snake_case(message.name, "message"), "_message"));
    }
  }

  // A field has the same name everywhere. Getters share their scope with the has_ functions of other fields.
  void name_fields() {
    NameTable members;
    for (const std::string_view name : own_members) members.take(std::string{name});
    for (const FieldDef& field : dictionary_.fields()) {
      const std::string plain = snake_case(field.name, "field");
      const auto is_free = [&](const std::string& name) { return !members.has(name) && !members.has("has_" + name); };
      std::string name = plain;
      if (!is_free(name)) name = plain + "_field";
      if (!is_free(name)) name = plain + "_" + std::to_string(value(field.tag));
      members.take(name);
      members.take("has_" + name);
      add_enumeration(field, name);
      field_names_.emplace(value(field.tag), std::move(name));
    }
  }

  void add_enumeration(const FieldDef& field, const std::string& function) {
    const ValueKind kind = kind_of(field.type);
    const bool counts_or_measures = field.type == FieldType::num_in_group || field.type == FieldType::length;
    if (field.values.empty() || kind == ValueKind::boolean || counts_or_measures) return;
    Enumeration enumeration;
    enumeration.name = types_.take_free(type_case(field.name), "Value");
    enumeration.field = field.name;
    enumeration.function = function;
    enumeration.tag = field.tag;
    enumeration.kind = enum_kind_of(field, kind, dictionary_.begin_string());
    enumeration.open = field.open;
    NameTable names;
    for (const EnumValue& each : field.values.all()) {
      const std::string plain = snake_case(each.name.empty() ? each.value : each.name, "value");
      enumeration.values.push_back({names.take_free(plain, "_" + snake_case(each.value, "value")),
                                    std::string{each.value}, std::string{each.name.empty() ? each.value : each.name}});
    }
    if (enumeration.kind == EnumKind::integer) {
      std::ranges::sort(enumeration.values, {}, [](const Enumerator& each) { return std::stol(each.value); });
    }
    enumeration_of_.emplace(value(field.tag), ir_.enumerations.size());
    ir_.enumerations.push_back(std::move(enumeration));
  }

  // Groups with equal keys have the same reader and builder.
  std::string key_of(const GroupDef& group) const {
    std::string key = "(" + std::to_string(value(group.shape.count));
    for (const MemberDef& member : group.scope.members()) {
      key += ' ';
      key += member.group ? key_of(*member.group) : std::to_string(value(member.tag));
      if (member.required) key += '!';
    }
    return key + ")";
  }

  void find_groups(const MessageDef& message) { find_groups(message, message.scope); }
  void find_groups(const MessageDef& message, const Scope& scope) {
    for (const MemberDef& member : scope.members()) {
      if (!member.group) continue;
      find_groups(message, member.group->scope);
      std::string key = key_of(*member.group);
      if (group_numbers_.contains(key)) continue;
      group_numbers_.emplace(std::move(key), found_.size());
      found_.push_back({&message, member.group, member.section == Section::header});
      ++shapes_of_count_[value(member.tag)];
    }
  }

  // If a group differs between messages, each variant is named after the first message that has it.
  void name_groups() {
    NameTable group_files;
    for (const FoundGroup& found : found_) {
      const Tag count = found.group->shape.count;
      const FieldDef* field = dictionary_.find_field(count);
      Group group;
      group.count = count;
      group.field = field ? std::string{field->name} : "Group" + std::to_string(value(count));
      std::string plain;
      if (shapes_of_count_[value(count)] > 1) {
        plain += found.in_header ? std::string_view{"Header"} : message_names_[index_of(*found.message)];
      }
      plain += type_case(group.field);
      group.name = types_.take_free(plain + "Entry", "In" + std::to_string(value(count)));
      types_.take(group.name + "Builder");
      types_.take(group.name + "Fields");
      types_.take(group.name + "Shape");
      group.file = group_files.take_free(snake_case(plain, "group"), "_group");
      group.fields.all = make_members(found.group->scope, Section::body);
      ir_.groups.push_back(std::move(group));
    }
  }

  std::size_t index_of(const MessageDef& message) const {
    return static_cast<std::size_t>(&message - dictionary_.messages().data());
  }

  Message make_message(const MessageDef& message) {
    const std::size_t index = index_of(message);
    return {message_names_[index],
            message_files_[index],
            std::string{message.msg_type},
            {make_members(message.scope, Section::body), {}, {}}};
  }

  // Most fields occur in many messages, and sharing their functions cuts compile time to a fraction. Small sets of
  // fields are not shared, and neither are groups, because only some programs need their headers.
  void share_fields() {
    constexpr std::size_t fewest = 20;  // minimum number of functions that a base class must save
    struct Class {
      const std::string* name;
      Fields* fields;
    };
    std::vector<Class> classes;
    for (Group& group : ir_.groups) classes.push_back({&group.name, &group.fields});
    for (Message& message : ir_.messages) classes.push_back({&message.name, &message.fields});
    using Key = std::array<std::int32_t, 4>;
    const auto key_of_member = [](const Member& member) {
      return Key{value(member.tag), static_cast<std::int32_t>(member.kind), value(member.length_tag),
                 static_cast<std::int32_t>(member.set_by_data)};
    };
    using Owners = std::vector<std::size_t>;
    std::map<Key, Owners> owners_of;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      for (const Member& member : classes[i].fields->all) {
        if (member.kind != ValueKind::group) owners_of[key_of_member(member)].push_back(i);
      }
    }
    std::map<Owners, std::size_t> sizes;
    for (const auto& [member, owners] : owners_of) ++sizes[owners];
    std::map<Owners, std::size_t> places;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      Fields& fields = *classes[i].fields;
      for (const Member& member : fields.all) {
        const Owners& owners = owners_of[key_of_member(member)];  // empty for a group
        if (owners.empty() || sizes[owners] * (owners.size() - 1) < fewest) {
          fields.own.push_back(member);
          continue;
        }
        const auto [place, first] = places.try_emplace(owners, ir_.shared.size());
        if (first) ir_.shared.push_back({types_.take_free("Shared" + std::to_string(place->second + 1), "_"), {}, {}});
        SharedFields& shared = ir_.shared[place->second];
        if (std::ranges::find(fields.shared, place->second) == fields.shared.end()) {
          fields.shared.push_back(place->second);
          shared.classes += (shared.classes.empty() ? "" : ", ") + *classes[i].name;
        }
        if (owners.front() == i) shared.members.push_back(member);
      }
    }
  }

  std::vector<Member> make_members(const Scope& scope, Section section) {
    std::vector<Member> members;
    for (const MemberDef& def : scope.members()) {
      if (def.section == section) members.push_back(make_member(def));
    }
    for (Member& member : members) {
      if (member.kind != ValueKind::data) continue;
      if (Member* length = length_of(members, member)) {
        length->set_by_data = true;
        member.length_tag = length->tag;
        member.required = member.required || length->required;
      }
    }
    return members;
  }

  Member make_member(const MemberDef& def) {
    Member member;
    member.tag = def.tag;
    member.field = def.field ? std::string{def.field->name} : std::to_string(value(def.tag));
    member.name = field_names_.at(value(def.tag));
    member.required = def.required;
    member.kind = def.field ? kind_of(def.field->type) : ValueKind::text;
    if (def.group) {
      member.kind = ValueKind::group;
      member.group = group_numbers_.at(key_of(*def.group));
      return member;
    }
    if (const auto found = enumeration_of_.find(value(def.tag)); found != enumeration_of_.end()) {
      member.enumeration = found->second;
      if (ir_.enumerations[found->second].kind != EnumKind::text) {
        member.kind = ValueKind::enumerated;
      } else if (member.kind == ValueKind::character) {
        member.kind = ValueKind::text;  // the listed values are longer than the type allows
      }
    }
    return member;
  }

  // FIX names the length field after its data field, or places it immediately before.
  static Member* length_of(std::vector<Member>& members, const Member& data) {
    for (Member& each : members) {
      if (each.kind == ValueKind::integer &&
          (each.field == data.field + "Len" || each.field == data.field + "Length")) {
        return &each;
      }
    }
    const auto at = static_cast<std::size_t>(&data - members.data());
    if (at == 0 || members[at - 1].kind != ValueKind::integer) return nullptr;
    const std::string& before = members[at - 1].field;
    return before.ends_with("Len") || before.ends_with("Length") ? &members[at - 1] : nullptr;
  }

  void select(const std::vector<std::string>& selection) {
    if (selection.empty()) return;
    std::vector<bool> wanted(ir_.messages.size());
    for (const std::string& name : selection) {
      const auto defs = dictionary_.messages();
      auto found = std::ranges::find(defs, name, &MessageDef::msg_type);
      if (found == defs.end()) found = std::ranges::find(defs, name, &MessageDef::name);
      if (found == defs.end()) throw DictionaryError(unknown_message(name));
      wanted[index_of(*found)] = true;
    }
    std::vector<Message> chosen;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) chosen.push_back(std::move(ir_.messages[i]));
    }
    ir_.messages = std::move(chosen);
  }

  std::string unknown_message(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const MessageDef& message : dictionary_.messages()) names.push_back(message.name);
    return ir_.source + " has no message \"" + name + '"' + did_you_mean(name, names) +
           " (messages are given by type or name)";
  }

  struct Used {
    std::vector<bool> groups;
    std::vector<bool> enumerations;
    std::vector<bool> shared;
  };

  void mark(const std::vector<Member>& members, Used& used) const {
    for (const Member& member : members) {
      if (member.enumeration != none) used.enumerations[member.enumeration] = true;
      if (member.group == none || used.groups[member.group]) continue;
      used.groups[member.group] = true;
      mark(ir_.groups[member.group].fields, used);
    }
  }
  void mark(const Fields& fields, Used& used) const {
    for (const std::size_t each : fields.shared) used.shared[each] = true;
    mark(fields.all, used);
  }

  void drop_unused() {
    Used used{std::vector<bool>(ir_.groups.size()), std::vector<bool>(ir_.enumerations.size()),
              std::vector<bool>(ir_.shared.size())};
    mark(ir_.header, used);
    for (const Message& message : ir_.messages) mark(message.fields, used);
    const auto shared_places = keep(ir_.shared, used.shared);
    const auto group_places = keep(ir_.groups, used.groups);
    const auto enumeration_places = keep(ir_.enumerations, used.enumerations);
    const auto renumber = [&](std::vector<Member>& members) {
      for (Member& member : members) {
        if (member.group != none) member.group = group_places[member.group];
        if (member.enumeration != none) member.enumeration = enumeration_places[member.enumeration];
      }
    };
    const auto renumber_fields = [&](Fields& fields) {
      renumber(fields.all);
      renumber(fields.own);
      for (std::size_t& each : fields.shared) each = shared_places[each];
    };
    renumber(ir_.header);
    for (SharedFields& shared : ir_.shared) renumber(shared.members);
    for (Message& message : ir_.messages) renumber_fields(message.fields);
    for (Group& group : ir_.groups) renumber_fields(group.fields);
  }

  // Maps the indexes of the remaining elements to their new ones.
  template <typename Element>
  static std::vector<std::size_t> keep(std::vector<Element>& elements, const std::vector<bool>& wanted) {
    std::vector<std::size_t> places(elements.size(), none);
    std::vector<Element> kept;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!wanted[i]) continue;
      places[i] = kept.size();
      kept.push_back(std::move(elements[i]));
    }
    elements = std::move(kept);
    return places;
  }

  struct FoundGroup {
    const MessageDef* message;  // the first message that has it
    const GroupDef* group;
    bool in_header;
  };

  const Dictionary& dictionary_;
  Ir ir_;
  NameTable types_;
  NameTable files_;
  std::vector<std::string> message_names_;
  std::vector<std::string> message_files_;
  std::unordered_map<std::int32_t, std::string> field_names_;
  std::unordered_map<std::int32_t, std::size_t> enumeration_of_;
  std::vector<FoundGroup> found_;
  std::unordered_map<std::string, std::size_t> group_numbers_;
  std::unordered_map<std::int32_t, std::size_t> shapes_of_count_;
};

}  // namespace

Ir build_ir(const Dictionary& dictionary, const CodegenOptions& options) {
  if (!is_namespace(options.name_space)) {
    throw DictionaryError("\"" + options.name_space + "\" is not a C++ namespace; name one like fix44 or venue::fix44");
  }
  return Builder{dictionary, options}.build(options.messages);
}

}  // namespace nfx::codegen
