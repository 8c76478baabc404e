// Builds look-up tables from a model: names become fields, components become their members, groups become shapes. This
// stage finds and repairs contradictions, because only here everything is known.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dictionary/problems.hpp"
#include "dictionary/tables.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_fields = 60'000;  // positions have 16 bits
constexpr std::size_t max_messages = 10'000;
constexpr std::size_t max_component_depth = 32;       // components within components
constexpr std::size_t max_groups_in_group = 4'096;    // each as often as it occurs
constexpr std::size_t max_steps_per_scope = 100'000;  // maximum number of elements visited to resolve one message

class Resolver {
 public:
  Resolver(const DictionaryModel& model, Problems& problems) : model_(model), problems_(problems) {
    problems_.repairs() = model.repairs;
  }

  std::unique_ptr<Dictionary::Tables> run();

 private:
  // The members of one scope, during collection.
  struct Gathering {
    std::vector<MemberDef> members;
    std::vector<const ModelMember*> from;  // the definition of each
    std::unordered_map<Tag, std::size_t> at;
    std::vector<std::string_view> components;  // the components being resolved, outermost first
    std::size_t group_depth = 0;
    std::size_t steps = 0;
    std::size_t height = 0;  // height of the highest group among the members
    std::size_t most = max_scope_members;
    bool overflowed = false;
  };

  struct Where {
    Section section = Section::body;
    bool required = true;  // false inside an optional component
    std::string name;      // for messages: "message NewOrderSingle"
  };

  std::string_view keep(std::string_view text) { return tables_->texts.emplace_back(text); }

  // Records a repair at a member once, however many messages reach it through a component. `text` is called only the
  // first time.
  template <class Text>
  void repair(RepairKind kind, const ModelMember& member, const Text& text) {
    if (repaired_.insert(&member).second) problems_.repair(kind, member.place, text());
  }

  void resolve_fields();
  EnumValues resolve_values(const ModelField& field, const std::vector<const ModelField*>& others);
  std::string name_for(const ModelField& field);
  void make_counts(const std::vector<ModelMember>& members);
  void make_all_counts();
  void index_components();
  void resolve_messages();
  void check_unused_components();
  void check_names(const std::vector<ModelMember>& members, const std::string& where);

  void gather(const std::vector<ModelMember>& members, const Where& where, Gathering& into);
  void gather_field(const ModelMember& member, const Where& where, Gathering& into);
  void gather_component(const ModelMember& member, const Where& where, Gathering& into);
  void gather_repeated(const ModelMember& member, const Where& where, Gathering& into, std::size_t first_at);
  void check_data(const Gathering& gathered, const std::string& where);
  const FieldDef* length_of(const FieldDef& data, const Gathering& gathered) const;
  const FieldDef* field_named(const ModelMember& member, const std::string& where);
  const ModelComponent* component_named(const ModelMember& member, const std::string& where);
  const StoredGroup* group_of(const ModelMember& member, const FieldDef& count, const Gathering& outer);
  const StoredGroup* resolve_group(const ModelMember& member, const FieldDef& count, const Gathering& outer);
  void remove_own_count(const ModelMember& member, const FieldDef& count, Gathering& entry);

  const DictionaryModel& model_;
  Problems& problems_;
  std::unique_ptr<Dictionary::Tables> tables_ = std::make_unique<Dictionary::Tables>();
  std::unordered_map<std::string_view, const ModelComponent*> components_;
  std::unordered_set<const ModelComponent*> used_;
  std::unordered_map<const ModelMember*, const StoredGroup*> groups_;  // null: repaired to a plain field
  // Itself and all groups within it, each as often as it occurs.
  std::unordered_map<const GroupDef*, std::size_t> groups_in_;
  std::unordered_set<const ModelMember*> repaired_;
  Suggestions field_names_, component_names_;
};

std::unique_ptr<Dictionary::Tables> Resolver::run() {
  tables_->begin_string = model_.version.begin_string();
  tables_->version_name = (model_.application ? *model_.application : model_.version).name();
  resolve_fields();
  make_all_counts();
  index_components();
  resolve_messages();
  check_unused_components();
  NFX_ASSERT(tables_->fields.size() <= max_fields && tables_->messages.size() <= max_messages);
  NFX_ASSERT(std::ranges::all_of(tables_->groups, [](const StoredGroup& g) { return g.height <= max_group_depth; }));
  return std::move(tables_);
}

void Resolver::resolve_fields() {
  // The first definition of a number counts. Later definitions add their values, and their names become aliases.
  std::unordered_map<Tag, std::vector<const ModelField*>> by_tag;
  std::vector<const ModelField*> firsts;
  for (const ModelField& field : model_.fields) {
    std::vector<const ModelField*>& same = by_tag[field.tag];
    same.push_back(&field);
    if (same.size() == 1) {
      if (firsts.size() == max_fields) {
        Problems::fail(field.place, "more than " + std::to_string(max_fields) + " fields; remove some");
      }
      firsts.push_back(&field);
      continue;
    }
    const ModelField& first = *same.front();
    problems_.repair(RepairKind::duplicate_number, field.place,
                     "field number " + std::to_string(value(field.tag)) + " already belongs to " + first.name +
                         in_brackets(first.place) + ", which counts; " +
                         (field.name == first.name ? "remove one" : "give " + field.name + " its own number"));
  }
  std::vector<FieldDef>& fields = tables_->fields;
  fields.reserve(firsts.size());
  for (const ModelField* field : firsts) {
    FieldDef& def = fields.emplace_back();
    def.tag = field->tag;
    def.type = field->type;
    def.values = resolve_values(*field, by_tag.at(field->tag));
    // The message types are defined by the table of messages, not by this list.
    def.open = def.values.empty() || field->open || field->tag == Tag::MsgType;
    def.application_only = field->application_only;
  }
  // Names from first definitions take precedence: an alias never takes another field's name.
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].name = keep(name_for(*firsts[i]));
    tables_->fields_by_name.emplace(fields[i].name, nullptr);
  }
  std::ranges::sort(fields, {}, &FieldDef::tag);
  tables_->field_index = TagIndex(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tables_->field_index.insert(fields[i].tag, static_cast<std::uint16_t>(i));
    tables_->fields_by_name[fields[i].name] = &fields[i];
    NFX_ASSERT(i == 0 || fields[i - 1].tag < fields[i].tag);
  }
  NFX_ASSERT(tables_->fields_by_name.size() == fields.size());
  for (FieldDef& field : fields) {
    for (const ModelField* same : by_tag.at(field.tag)) {
      if (!tables_->fields_by_name.contains(same->name)) tables_->fields_by_name.emplace(keep(same->name), &field);
    }
  }
}

// Its own name, or with its number appended if another field has that name.
std::string Resolver::name_for(const ModelField& field) {
  if (!tables_->fields_by_name.contains(field.name)) return field.name;
  std::string name = field.name + "_" + std::to_string(value(field.tag));
  while (tables_->fields_by_name.contains(name)) name += '_';
  problems_.repair(RepairKind::duplicate_name, field.place,
                   "field " + field.name + " is defined twice with different numbers, and number " +
                       std::to_string(value(field.tag)) + " is called " + name + "; rename or remove one");
  return name;
}

EnumValues Resolver::resolve_values(const ModelField& field, const std::vector<const ModelField*>& others) {
  std::unordered_map<std::string_view, const ModelValue*> known;
  std::vector<EnumValue> values;
  for (const ModelField* each : others) {
    for (const ModelValue& value : each->values) {
      const auto [at, is_new] = known.emplace(value.value, &value);
      if (is_new) {
        values.push_back({keep(value.value), keep(value.name)});
      } else if (each == &field) {
        problems_.repair(RepairKind::duplicate_value, value.place,
                         "field " + field.name + " lists the value " + in_quotes(value.value) + " twice" +
                             in_brackets(at->second->place) + ", and the first counts; remove one");
      }
    }
  }
  return EnumValues(std::move(values));
}

// A field that names a group is a count in all messages.
void Resolver::make_counts(const std::vector<ModelMember>& members) {
  for (const ModelMember& member : members) {
    if (member.kind != MemberKind::group || member.members.empty()) continue;
    make_counts(member.members);
    const auto at = tables_->fields_by_name.find(member.name);
    if (at == tables_->fields_by_name.end()) continue;
    FieldDef& field = tables_->fields[tables_->field_index.find(at->second->tag)];
    if (field.type == FieldType::num_in_group || field.type == FieldType::integer) continue;
    problems_.repair(RepairKind::group_count, member.place,
                     "group " + member.name + " is counted by a field of the type " +
                         std::string(to_string(field.type)) + in_brackets(model_.find_field(field.tag)->place) +
                         ", read as NUMINGROUP; give that the type NUMINGROUP");
    field.type = FieldType::num_in_group;
    field.values = {};
    field.open = true;
  }
}

void Resolver::make_all_counts() {
  make_counts(model_.header);
  make_counts(model_.trailer);
  for (const ModelComponent& component : model_.components) make_counts(component.members);
  for (const ModelMessage& message : model_.messages) make_counts(message.members);
}

void Resolver::index_components() {
  for (const ModelComponent& component : model_.components) {
    const auto [at, is_new] = components_.emplace(component.name, &component);
    if (is_new) continue;
    problems_.repair(RepairKind::duplicate_component, component.place,
                     "component " + component.name + " is defined twice" + in_brackets(at->second->place) +
                         ", and the first counts; rename or remove one");
  }
}

void Resolver::resolve_messages() {
  Gathering header;
  gather(model_.header, {Section::header, true, "header"}, header);
  // Every message has the whole trailer, whatever its body contains.
  Gathering trailer;
  gather(model_.trailer, {Section::trailer, true, "trailer"}, trailer);
  std::unordered_map<std::string_view, const ModelMessage*> types;
  std::unordered_set<std::string_view> names;
  for (const ModelMessage& message : model_.messages) {
    if (const auto [at, is_new] = types.emplace(message.msg_type, &message); !is_new) {
      problems_.repair(
          RepairKind::duplicate_type, message.place,
          "message type " + in_quotes(message.msg_type) + " already belongs to " + at->second->name +
              in_brackets(at->second->place) + ", which counts; " +
              (message.name == at->second->name ? "remove one" : "give " + message.name + " its own type"));
      continue;
    }
    if (tables_->messages.size() == max_messages) {
      Problems::fail(message.place, "more than " + std::to_string(max_messages) + " messages; remove some");
    }
    std::string name = message.name;
    if (names.contains(name)) {
      name += "_" + message.msg_type;
      while (names.contains(name)) name += '_';
      problems_.repair(RepairKind::duplicate_message, message.place,
                       "message " + message.name + " is defined twice, and message type " +
                           in_quotes(message.msg_type) + " is called " + name + "; rename or remove one");
    }
    const std::string where = "message " + name;
    Gathering all = header;
    all.most = max_scope_members - trailer.members.size();
    gather(message.members, {Section::body, true, where}, all);
    all.most = max_scope_members;
    gather(model_.trailer, {Section::trailer, true, "trailer"}, all);
    check_data(all, where);
    NFX_ASSERT(all.components.empty());  // all components have ended
    MessageDef& def = tables_->messages.emplace_back();
    def.name = keep(name);
    names.insert(def.name);
    def.msg_type = keep(message.msg_type);
    def.admin = message.admin;
    def.scope = Scope(std::move(all.members));
  }
  tables_->message_index = MessageIndex(tables_->messages);
}

// Components that messages use are checked together with the messages.
void Resolver::check_unused_components() {
  for (const ModelComponent& component : model_.components) {
    if (!used_.contains(&component)) check_names(component.members, "component " + component.name);
  }
}

void Resolver::check_names(const std::vector<ModelMember>& members, const std::string& where) {
  for (const ModelMember& member : members) {
    if (member.kind == MemberKind::component) {
      static_cast<void>(component_named(member, where));
    } else {
      static_cast<void>(field_named(member, where));
      check_names(member.members, "group " + member.name);
    }
  }
}

void Resolver::gather(const std::vector<ModelMember>& members, const Where& where, Gathering& into) {
  for (const ModelMember& member : members) {
    if (into.overflowed) return;
    if (++into.steps > max_steps_per_scope) {
      problems_.report(member.place, where.name + " resolves to too many elements; nest fewer components");
      into.overflowed = true;
      return;
    }
    if (member.kind == MemberKind::component) {
      gather_component(member, where, into);
    } else {
      gather_field(member, where, into);
    }
  }
}

void Resolver::gather_field(const ModelMember& member, const Where& where, Gathering& into) {
  const FieldDef* field = field_named(member, where.name);
  if (field == nullptr) return;
  MemberDef def{
      .tag = field->tag, .section = where.section, .required = member.required && where.required, .field = field};
  const auto [at, is_new] = into.at.emplace(field->tag, into.members.size());
  if (!is_new) {
    into.members[at->second].required |= def.required;
    gather_repeated(member, where, into, at->second);
    return;
  }
  if (into.members.size() >= into.most) {
    into.at.erase(at);
    repair(RepairKind::scope_size, member, [&] {
      return where.name + " has more than " + std::to_string(max_scope_members) + " fields, and " + member.name +
             " is ignored; remove some";
    });
    return;
  }
  if (member.kind == MemberKind::group) {
    if (const StoredGroup* group = group_of(member, *field, into)) {
      def.group = &group->def;
      into.height = std::max(into.height, group->height);
    }
  }
  into.members.push_back(def);
  into.from.push_back(&member);
  NFX_ASSERT(into.members.size() == into.from.size() && into.members.size() <= max_scope_members);
  NFX_ASSERT(into.members.size() == into.at.size() && into.height <= max_group_depth);
}

// The field occurs a second time. It is a group if either place makes it one; of two groups, the first counts.
void Resolver::gather_repeated(const ModelMember& member, const Where& where, Gathering& into, std::size_t first_at) {
  NFX_ASSERT(first_at < into.members.size() && into.members.size() == into.from.size());
  MemberDef& first = into.members[first_at];
  const ModelPlace& first_place = into.from[first_at]->place;
  if ((first.group != nullptr) != (member.kind == MemberKind::group)) {
    if (member.kind == MemberKind::group) {
      const StoredGroup* group = group_of(member, *first.field, into);
      if (group == nullptr) return;  // a plain field too
      first.group = &group->def;
      into.height = std::max(into.height, group->height);
    }
    repair(RepairKind::repeated_member, member, [&] {
      return where.name + " has " + member.name + " as a " + std::string(to_string(member.kind)) + ", and as a " +
             (member.kind == MemberKind::group ? "field" : "group") + " elsewhere" + in_brackets(first_place) +
             ", read as a group; keep one of them";
    });
    return;
  }
  if (first.group == nullptr) return;
  const StoredGroup* group = group_of(member, *first.field, into);
  if (group != nullptr && !std::ranges::equal(group->def.shape.members, first.group->shape.members)) {
    repair(RepairKind::repeated_member, member, [&] {
      return where.name + " has the group " + member.name + " with other members elsewhere" + in_brackets(first_place) +
             ", which count; keep one of them";
    });
  }
}

// The size of a data field is in the preceding field. Without it, the data ends at the first SOH.
void Resolver::check_data(const Gathering& gathered, const std::string& where) {
  for (std::size_t i = 0; i < gathered.members.size(); ++i) {
    const FieldDef& field = *gathered.members[i].field;
    if (format_of(field.type) != ValueFormat::data) continue;
    const MemberDef* before = i == 0 ? nullptr : &gathered.members[i - 1];
    const bool paired = before != nullptr && before->group == nullptr &&
                        (before->field->type == FieldType::length || before->field->type == FieldType::integer);
    if (paired) continue;
    repair(RepairKind::data_length, *gathered.from[i], [&] {
      const FieldDef* length = length_of(field, gathered);
      return where + " has the data field " + std::string(field.name) + " after " +
             (before == nullptr ? "nothing"
                                : std::string(before->field->name) + in_brackets(gathered.from[i - 1]->place)) +
             ", which is not its length; " +
             (length == nullptr ? "it has none, so that its value ends at SOH; put its LENGTH field before it"
                                : "that is " + std::string(length->name) + ", so move it before the data");
    });
  }
}

// The standard length field, or the one named after the data: RawDataLength, EncodedTextLen.
const FieldDef* Resolver::length_of(const FieldDef& data, const Gathering& gathered) const {
  const auto is_length = [&](const MemberDef& member) {
    if (member.group != nullptr || member.field == &data) return false;
    if (data_tag_of(member.tag) == data.tag) return true;
    const std::string_view name = member.field->name;
    if (!name.starts_with(data.name)) return false;
    const std::string_view rest = name.substr(data.name.size());
    return rest == "Len" || rest == "Length" || rest == "Size";
  };
  const auto at = std::ranges::find_if(gathered.members, is_length);
  return at == gathered.members.end() ? nullptr : at->field;
}

void Resolver::gather_component(const ModelMember& member, const Where& where, Gathering& into) {
  const ModelComponent* component = component_named(member, where.name);
  if (component == nullptr) return;
  used_.insert(component);
  if (std::ranges::find(into.components, component->name) != into.components.end()) {
    repair(RepairKind::recursive_component, member, [&] {
      return "component " + member.name + " contains itself" + in_brackets(component->place) +
             ", and this reference is ignored; remove it";
    });
    return;
  }
  if (into.components.size() == max_component_depth) {
    problems_.report(member.place,
                     "components are nested more than " + std::to_string(max_component_depth) + " deep; nest fewer");
    return;
  }
  into.components.push_back(component->name);
  gather(component->members, {where.section, where.required && member.required, "component " + member.name}, into);
  NFX_ASSERT(into.components.back() == component->name);
  into.components.pop_back();
}

const FieldDef* Resolver::field_named(const ModelMember& member, const std::string& where) {
  const auto at = tables_->fields_by_name.find(member.name);
  if (at != tables_->fields_by_name.end()) return at->second;
  repair(RepairKind::undefined_field, member, [&] {
    return where + " names the field " + member.name + ", which is ignored because <fields> does not define it" +
           field_names_.of(member.name, "; define it there", [&] {
             std::vector<std::string_view> known;
             for (const FieldDef& field : tables_->fields) known.push_back(field.name);
             return known;
           });
  });
  return nullptr;
}

const ModelComponent* Resolver::component_named(const ModelMember& member, const std::string& where) {
  const auto at = components_.find(member.name);
  if (at != components_.end()) return at->second;
  repair(RepairKind::undefined_component, member, [&] {
    return where + " uses the component " + member.name + ", which is ignored because <components> does not define it" +
           component_names_.of(member.name, "; define it there", [&] {
             std::vector<std::string_view> known;
             for (const ModelComponent& component : model_.components) known.push_back(component.name);
             return known;
           });
  });
  return nullptr;
}

// A group's entries do not depend on its place, so a group is resolved once for all messages that contain it.
const StoredGroup* Resolver::group_of(const ModelMember& member, const FieldDef& count, const Gathering& outer) {
  const auto known = groups_.find(&member);
  if (known != groups_.end()) return known->second;
  const StoredGroup* group = resolve_group(member, count, outer);
  groups_.emplace(&member, group);
  return group;
}

const StoredGroup* Resolver::resolve_group(const ModelMember& member, const FieldDef& count, const Gathering& outer) {
  const std::string name = "group " + member.name;
  const auto plain = [&](RepairKind kind, const std::string& what, const std::string& remedy) {
    repair(kind, member, [&] { return name + what + ", so that it is read as a plain field; " + remedy; });
    return nullptr;
  };
  Gathering entry;
  entry.components = outer.components;
  entry.group_depth = outer.group_depth + 1;
  if (entry.group_depth > max_group_depth) {
    return plain(RepairKind::group_depth, " is more than " + std::to_string(max_group_depth) + " groups deep",
                 "nest fewer");
  }
  gather(member.members, {Section::body, true, name}, entry);
  // A shape is searched group by group; components that repeat groups within groups would multiply them.
  std::size_t groups = 1;
  for (const MemberDef& each : entry.members) groups += each.group == nullptr ? 0 : groups_in_.at(each.group);
  if (groups > max_groups_in_group) {
    return plain(RepairKind::group_depth, " holds more than " + std::to_string(max_groups_in_group) + " groups",
                 "nest fewer");
  }
  remove_own_count(member, count, entry);
  if (entry.members.empty()) {
    return plain(RepairKind::empty_group, " has no fields", "list them, the one that starts each entry first");
  }
  if (entry.height == max_group_depth) {
    return plain(RepairKind::group_depth, " holds groups more than " + std::to_string(max_group_depth) + " deep",
                 "nest fewer");
  }
  check_data(entry, name);
  StoredGroup& group = tables_->groups.emplace_back();
  groups_in_.emplace(&group.def, groups);
  group.height = entry.height + 1;
  for (const MemberDef& each : entry.members) {
    group.tags.push_back(each.tag);
    if (each.group != nullptr) group.nested.push_back(each.group->shape);
  }
  group.def.scope = Scope(std::move(entry.members));
  group.def.shape = {count.tag, group.tags, group.nested};
  NFX_ASSERT(group.tags.size() == group.def.scope.members().size() && group.def.scope.find(count.tag) == nullptr);
  return &group;
}

void Resolver::remove_own_count(const ModelMember& member, const FieldDef& count, Gathering& entry) {
  for (std::size_t i = 0; i < entry.members.size();) {
    const MemberDef& each = entry.members[i];
    if (each.tag != count.tag && (each.group == nullptr || !each.group->shape.contains(count.tag))) {
      ++i;
      continue;
    }
    repair(RepairKind::own_count, *entry.from[i], [&] {
      return "group " + member.name + in_brackets(member.place) +
             " holds the field that counts it, which is ignored; remove that from its entry";
    });
    entry.members.erase(entry.members.begin() + static_cast<std::ptrdiff_t>(i));
    entry.from.erase(entry.from.begin() + static_cast<std::ptrdiff_t>(i));
  }
  entry.at.clear();
}

}  // namespace

Dictionary Dictionary::build(const DictionaryModel& model) {
  Repairs repairs;
  Problems problems(nullptr, repairs);
  auto tables = Resolver(model, problems).run();
  tables->repairs = std::move(repairs);
  return Dictionary(std::move(tables));
}

Dictionary Dictionary::parse(std::string_view xml, std::string_view source_name) {
  return build(read_dictionary(xml, source_name));
}

std::vector<std::string> find_problems(const DictionaryModel& model, Repairs* repairs) {
  std::vector<std::string> all;
  Repairs unread;
  Problems problems(&all, repairs == nullptr ? unread : *repairs);
  static_cast<void>(Resolver(model, problems).run());
  return all;
}

}  // namespace nfx
