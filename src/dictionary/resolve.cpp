// Builds lookup tables from a model: names become fields, components become their members, groups become shapes.
// Contradictions are found here, because everything is known only here.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dictionary/problems.hpp"
#include "dictionary/tables.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/suggest.hpp"

namespace nfx {
namespace {

constexpr std::size_t max_fields = 60'000;  // positions have 16 bits
constexpr std::size_t max_messages = 10'000;
constexpr std::size_t max_component_depth = 32;       // components within components
constexpr std::size_t max_steps_per_scope = 100'000;  // elements visited to resolve one message's components

class Resolver {
 public:
  Resolver(const DictionaryModel& model, Problems& problems) : model_(model), problems_(problems) {}

  std::unique_ptr<const Dictionary::Tables> run();

 private:
  // The members of one scope while they are gathered.
  struct Gathering {
    std::vector<MemberDef> members;
    std::vector<const ModelMember*> from;  // the place of each
    std::unordered_map<Tag, std::size_t> at;
    std::vector<std::string_view> components;  // those being resolved, outermost first
    std::size_t group_depth = 0;
    std::size_t steps = 0;
    std::size_t height = 0;  // of the highest group among the members
    bool overflowed = false;
  };

  struct Where {
    Section section = Section::body;
    bool required = true;  // false within a component that is not required
    std::string name;      // for messages: "message NewOrderSingle"
  };

  std::string_view keep(std::string_view text) { return tables_->texts.emplace_back(text); }

  void resolve_fields();
  EnumValues resolve_values(const ModelField& field);
  void index_components();
  void resolve_messages();
  void check_unused_components();
  void check_names(const std::vector<ModelMember>& members, const std::string& where);

  void gather(const std::vector<ModelMember>& members, const Where& where, Gathering& into);
  void gather_field(const ModelMember& member, const Where& where, Gathering& into);
  void gather_component(const ModelMember& member, const Where& where, Gathering& into);
  void check_repeated(const ModelMember& member, const Where& where, const Gathering& outer, std::size_t first_at);
  void check_data(const Gathering& gathered, const std::string& where);
  const FieldDef* field_named(const ModelMember& member, const std::string& where);
  const ModelComponent* component_named(const ModelMember& member, const std::string& where);
  const StoredGroup* group_of(const ModelMember& member, const FieldDef& count, const Gathering& outer);
  const StoredGroup* resolve_group(const ModelMember& member, const FieldDef& count, const Gathering& outer);
  bool holds_own_count(const ModelMember& member, const FieldDef& count, const Gathering& entry);

  const DictionaryModel& model_;
  Problems& problems_;
  std::unique_ptr<Dictionary::Tables> tables_ = std::make_unique<Dictionary::Tables>();
  std::unordered_map<std::string_view, const ModelField*> fields_;
  std::unordered_map<std::string_view, const ModelComponent*> components_;
  std::unordered_set<const ModelComponent*> used_;
  std::unordered_map<const ModelMember*, const StoredGroup*> groups_;  // null: wrong, and reported
};

std::unique_ptr<const Dictionary::Tables> Resolver::run() {
  tables_->begin_string = model_.version.begin_string();
  tables_->version_name = (model_.application ? *model_.application : model_.version).name();
  resolve_fields();
  index_components();
  resolve_messages();
  check_unused_components();
  NFX_ASSERT(tables_->fields.size() <= max_fields && tables_->messages.size() <= max_messages);
  NFX_ASSERT(std::ranges::all_of(tables_->groups, [](const StoredGroup& g) { return g.height <= max_group_depth; }));
  return std::move(tables_);
}

void Resolver::resolve_fields() {
  std::unordered_map<Tag, const ModelField*> by_tag;
  std::vector<FieldDef>& fields = tables_->fields;
  for (const ModelField& field : model_.fields) {
    if (const auto [at, is_new] = by_tag.emplace(field.tag, &field); !is_new) {
      problems_.report(field.place, "field number " + std::to_string(value(field.tag)) + " is already that of " +
                                        at->second->name + in_brackets(at->second->place) + "; give " + field.name +
                                        " a number of its own");
      continue;
    }
    if (const auto [at, is_new] = fields_.emplace(field.name, &field); !is_new) {
      problems_.report(field.place, "field " + field.name + " is defined twice" + in_brackets(at->second->place) +
                                        "; rename or remove one");
      continue;
    }
    if (fields.size() == max_fields) {
      Problems::fail(field.place, "more than " + std::to_string(max_fields) + " fields; remove some");
    }
    FieldDef& def = fields.emplace_back();
    def.tag = field.tag;
    def.type = field.type;
    def.name = keep(field.name);
    def.values = resolve_values(field);
    // The table of messages, not this list, defines the message types.
    def.open = def.values.empty() || field.open || field.tag == Tag::MsgType;
    def.application_only = field.application_only;
  }
  std::ranges::sort(fields, {}, &FieldDef::tag);
  tables_->field_index = TagIndex(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tables_->field_index.insert(fields[i].tag, static_cast<std::uint16_t>(i));
    tables_->fields_by_name.emplace(fields[i].name, &fields[i]);
    NFX_ASSERT(i == 0 || fields[i - 1].tag < fields[i].tag);
  }
  NFX_ASSERT(tables_->fields_by_name.size() == fields.size());
}

EnumValues Resolver::resolve_values(const ModelField& field) {
  std::vector<EnumValue> values;
  std::unordered_map<std::string_view, const ModelValue*> known;
  for (const ModelValue& value : field.values) {
    const auto [at, is_new] = known.emplace(value.value, &value);
    if (is_new) {
      values.push_back({keep(value.value), keep(value.name)});
    } else {
      problems_.report(value.place, "field " + field.name + " lists the value " + in_quotes(value.value) + " twice" +
                                        in_brackets(at->second->place) + "; remove one");
    }
  }
  return EnumValues(std::move(values));
}

void Resolver::index_components() {
  for (const ModelComponent& component : model_.components) {
    const auto [at, is_new] = components_.emplace(component.name, &component);
    if (is_new) continue;
    problems_.report(component.place, "component " + component.name + " is defined twice" +
                                          in_brackets(at->second->place) + "; rename or remove one");
  }
}

void Resolver::resolve_messages() {
  Gathering header;
  gather(model_.header, {Section::header, true, "header"}, header);
  std::unordered_map<std::string_view, const ModelMessage*> types, names;
  for (const ModelMessage& message : model_.messages) {
    if (message.msg_type.size() > max_msg_type_size) {
      problems_.report(message.place, "message type " + in_quotes(message.msg_type) + " is too long; write at most " +
                                          std::to_string(max_msg_type_size) + " characters");
      continue;
    }
    if (const auto [at, is_new] = types.emplace(message.msg_type, &message); !is_new) {
      problems_.report(message.place, "message type " + in_quotes(message.msg_type) + " is already that of " +
                                          at->second->name + in_brackets(at->second->place) + "; give " + message.name +
                                          " a type of its own");
      continue;
    }
    if (const auto [at, is_new] = names.emplace(message.name, &message); !is_new) {
      problems_.report(message.place, "message " + message.name + " is defined twice" + in_brackets(at->second->place) +
                                          "; rename or remove one");
      continue;
    }
    if (tables_->messages.size() == max_messages) {
      Problems::fail(message.place, "more than " + std::to_string(max_messages) + " messages; remove some");
    }
    const std::string where = "message " + message.name;
    Gathering all = header;
    gather(message.members, {Section::body, true, where}, all);
    gather(model_.trailer, {Section::trailer, true, "trailer"}, all);
    check_data(all, where);
    NFX_ASSERT(all.components.empty());  // none is left open
    MessageDef& def = tables_->messages.emplace_back();
    def.name = keep(message.name);
    def.msg_type = keep(message.msg_type);
    def.admin = message.admin;
    def.scope = Scope(std::move(all.members));
  }
  tables_->message_index = MessageIndex(tables_->messages);
}

// Components that messages use are checked with the messages.
void Resolver::check_unused_components() {
  for (const auto& [name, component] : components_) {
    if (!used_.contains(component)) check_names(component->members, "component " + component->name);
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
    check_repeated(member, where, into, at->second);
    into.members[at->second].required |= def.required;
    return;
  }
  if (into.members.size() == max_scope_members) {
    into.overflowed = true;
    problems_.report(member.place,
                     where.name + " has more than " + std::to_string(max_scope_members) + " fields; remove some");
    return;
  }
  if (member.kind == MemberKind::group) {
    const StoredGroup* group = group_of(member, *field, into);
    if (group == nullptr) {
      into.at.erase(at);
      return;
    }
    def.group = &group->def;
    into.height = std::max(into.height, group->height);
  }
  into.members.push_back(def);
  into.from.push_back(&member);
  NFX_ASSERT(into.members.size() == into.from.size() && into.members.size() <= max_scope_members);
  NFX_ASSERT(into.members.size() == into.at.size() && into.height <= max_group_depth);
}

// The same field a second time: both places must define it in the same way.
void Resolver::check_repeated(const ModelMember& member, const Where& where, const Gathering& outer,
                              std::size_t first_at) {
  NFX_ASSERT(first_at < outer.members.size() && outer.members.size() == outer.from.size());
  const MemberDef& first = outer.members[first_at];
  const ModelPlace& first_place = outer.from[first_at]->place;
  if ((first.group != nullptr) != (member.kind == MemberKind::group)) {
    problems_.report(member.place, where.name + " has " + member.name + " as a " + std::string(to_string(member.kind)) +
                                       ", and as a " + std::string(to_string(outer.from[first_at]->kind)) +
                                       " elsewhere" + in_brackets(first_place) + "; keep one of them");
    return;
  }
  if (first.group == nullptr) return;
  const StoredGroup* group = group_of(member, *first.field, outer);
  if (group != nullptr && !std::ranges::equal(group->def.shape.members, first.group->shape.members)) {
    problems_.report(member.place, where.name + " has the group " + member.name + " with other members elsewhere" +
                                       in_brackets(first_place) + "; keep one of them");
  }
}

// On the wire, the size of a data field is in the field before it: without that, its bytes end at the first SOH.
void Resolver::check_data(const Gathering& gathered, const std::string& where) {
  for (std::size_t i = 0; i < gathered.members.size(); ++i) {
    const FieldDef& field = *gathered.members[i].field;
    if (format_of(field.type) != ValueFormat::data) continue;
    const MemberDef* before = i == 0 ? nullptr : &gathered.members[i - 1];
    const bool paired = before != nullptr && before->group == nullptr &&
                        (before->field->type == FieldType::length || before->field->type == FieldType::integer);
    if (paired) continue;
    const std::string what =
        before == nullptr ? "nothing" : std::string(before->field->name) + in_brackets(gathered.from[i - 1]->place);
    problems_.report(gathered.from[i]->place, where + " has the data field " + std::string(field.name) + " after " +
                                                  what + ", which is not a length; put its LENGTH field before it");
  }
}

void Resolver::gather_component(const ModelMember& member, const Where& where, Gathering& into) {
  const ModelComponent* component = component_named(member, where.name);
  if (component == nullptr) return;
  used_.insert(component);
  if (std::ranges::find(into.components, component->name) != into.components.end()) {
    problems_.report(member.place, "component " + member.name + " contains itself" + in_brackets(component->place) +
                                       "; remove this reference");
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
  std::vector<std::string_view> known;
  for (const FieldDef& field : tables_->fields) known.push_back(field.name);
  const std::string suggestion = did_you_mean(member.name, known);
  problems_.report(member.place, where + " names the field " + member.name + ", which <fields> does not define" +
                                     (suggestion.empty() ? "; define it there" : suggestion));
  return nullptr;
}

const ModelComponent* Resolver::component_named(const ModelMember& member, const std::string& where) {
  const auto at = components_.find(member.name);
  if (at != components_.end()) return at->second;
  std::vector<std::string_view> known;
  for (const ModelComponent& component : model_.components) known.push_back(component.name);
  const std::string suggestion = did_you_mean(member.name, known);
  problems_.report(member.place, where + " uses the component " + member.name + ", which <components> does not define" +
                                     (suggestion.empty() ? "; define it there" : suggestion));
  return nullptr;
}

// A group's entries do not depend on its place: it is resolved once for all messages that have it.
const StoredGroup* Resolver::group_of(const ModelMember& member, const FieldDef& count, const Gathering& outer) {
  const auto known = groups_.find(&member);
  if (known != groups_.end()) return known->second;
  const StoredGroup* group = resolve_group(member, count, outer);
  groups_.emplace(&member, group);
  return group;
}

const StoredGroup* Resolver::resolve_group(const ModelMember& member, const FieldDef& count, const Gathering& outer) {
  const std::string name = "group " + member.name;
  if (count.type != FieldType::num_in_group && count.type != FieldType::integer) {
    problems_.report(member.place, name + " is counted by a field of the type " + std::string(to_string(count.type)) +
                                       in_brackets(fields_.at(count.name)->place) + "; give that the type NUMINGROUP");
    return nullptr;
  }
  Gathering entry;
  entry.components = outer.components;
  entry.group_depth = outer.group_depth + 1;
  if (entry.group_depth > max_group_depth) {
    problems_.report(member.place,
                     name + " is more than " + std::to_string(max_group_depth) + " groups deep; nest fewer");
    return nullptr;
  }
  gather(member.members, {Section::body, true, name}, entry);
  if (entry.members.empty()) {
    problems_.report(member.place, name + " has no fields; list them, the one that starts each entry first");
    return nullptr;
  }
  if (entry.height == max_group_depth) {
    problems_.report(member.place,
                     name + " holds groups more than " + std::to_string(max_group_depth) + " deep; nest fewer");
    return nullptr;
  }
  if (holds_own_count(member, count, entry)) return nullptr;
  check_data(entry, name);
  StoredGroup& group = tables_->groups.emplace_back();
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

bool Resolver::holds_own_count(const ModelMember& member, const FieldDef& count, const Gathering& entry) {
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    const MemberDef& each = entry.members[i];
    if (each.tag != count.tag && (each.group == nullptr || !each.group->shape.contains(count.tag))) continue;
    problems_.report(entry.from[i]->place, "group " + member.name + in_brackets(member.place) +
                                               " holds the field that counts it; remove that from its entry");
    return true;
  }
  return false;
}

}  // namespace

Dictionary Dictionary::build(const DictionaryModel& model) {
  Problems problems(nullptr);
  return Dictionary(Resolver(model, problems).run());
}

Dictionary Dictionary::parse(std::string_view xml, std::string_view source_name) {
  return build(read_dictionary(xml, source_name));
}

std::vector<std::string> find_problems(const DictionaryModel& model) {
  std::vector<std::string> all;
  Problems problems(&all);
  static_cast<void>(Resolver(model, problems).run());
  return all;
}

}  // namespace nfx
