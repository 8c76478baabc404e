// Combines a transport's dictionary (FIXT 1.1) with an application version's dictionary into one for a session.
#include <algorithm>
#include <unordered_map>

#include "dictionary/character_rule.hpp"
#include "dictionary/problems.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// Types of one family have common values, so a field may have either type.
enum class Family : std::uint8_t { text, integer, decimal, month_year, timestamp, time, date, local_time, data };

Family family_of(FieldType type) noexcept {
  switch (format_of(type)) {
    case ValueFormat::integer:
    case ValueFormat::number:
    case ValueFormat::sequence_number:
    case ValueFormat::day_of_month: return Family::integer;
    case ValueFormat::decimal: return Family::decimal;
    case ValueFormat::character:
    case ValueFormat::boolean:
    case ValueFormat::text:
    case ValueFormat::character_list:
    case ValueFormat::text_list: return Family::text;
    case ValueFormat::month_year: return Family::month_year;
    case ValueFormat::timestamp:
    case ValueFormat::zoned_timestamp: return Family::timestamp;
    case ValueFormat::time:
    case ValueFormat::zoned_time: return Family::time;
    case ValueFormat::date: return Family::date;
    case ValueFormat::local_time: return Family::local_time;
    case ValueFormat::data: return Family::data;
  }
  return Family::text;
}

class Combination {
 public:
  Combination(const DictionaryModel& transport, const DictionaryModel& application)
      : transport_(transport), application_(application), result_(transport) {
    result_.repairs.add(application.repairs);
    result_.rules.insert(result_.rules.end(), application.rules.begin(), application.rules.end());
  }

  DictionaryModel run() {
    result_.application = application_.application ? application_.application : application_.version;
    unite_fields();
    unite_components();
    unite_messages();
    apply_character_rule(result_);
    return std::move(result_);
  }

 private:
  void unite_components();
  void check_size(const ModelComponent& component) const;
  void unite_messages();
  void unite_fields();
  void unite(ModelField& into, const ModelField& from);
  void rename(std::vector<ModelMember>& members) const;
  void repair(RepairKind kind, const ModelPlace& place, const std::string& what) {
    result_.repairs.add(kind, to_string(place) + ": " + what + "; give dictionaries that belong together");
  }

  const DictionaryModel& transport_;
  DictionaryModel application_;
  DictionaryModel result_;
  std::unordered_map<std::string, std::string> renamed_;  // application fields whose names the transport uses too
};

// If both define a component differently, the application's definition is kept, and references to the transport's are
// replaced by its members.
void Combination::unite_components() {
  std::unordered_map<std::string_view, const ModelComponent*> of_application;
  for (const ModelComponent& component : application_.components) of_application.emplace(component.name, &component);
  std::erase_if(result_.components,
                [&](const ModelComponent& component) { return of_application.contains(component.name); });
  for (const ModelComponent& component : transport_.components) {
    const auto other = of_application.find(component.name);
    if (other == of_application.end() || same_members(component.members, other->second->members)) continue;
    check_size(component);
    inline_component(result_.header, component);
    inline_component(result_.trailer, component);
    for (ModelComponent& each : result_.components) inline_component(each.members, component);
    for (ModelMessage& each : result_.messages) inline_component(each.members, component);
  }
  result_.components.insert(result_.components.end(), application_.components.begin(), application_.components.end());
}

std::size_t count_of(const std::vector<ModelMember>& members, std::string_view component) {
  std::size_t count = 0;
  for (const ModelMember& each : members) {
    count += component.empty() || (each.kind == MemberKind::component && each.name == component);
    count += count_of(each.members, component);
  }
  return count;
}

// Components that contain one another several times could grow without bound.
void Combination::check_size(const ModelComponent& component) const {
  constexpr std::size_t most = 1'000'000;
  std::size_t references = count_of(result_.header, component.name) + count_of(result_.trailer, component.name);
  for (const ModelComponent& each : result_.components) references += count_of(each.members, component.name);
  for (const ModelMessage& each : result_.messages) references += count_of(each.members, component.name);
  const std::size_t size = count_of(component.members, {});
  if (references != 0 && size > most / references) {
    Problems::fail(component.place, "component " + component.name + " resolves to too many elements; nest fewer");
  }
}

void Combination::unite_messages() {
  std::unordered_map<std::string_view, const ModelMessage*> of_transport;
  for (const ModelMessage& message : transport_.messages) of_transport.emplace(message.msg_type, &message);
  for (const ModelMessage& message : application_.messages) {
    if (message.admin) continue;
    const auto other = of_transport.find(message.msg_type);
    if (other == of_transport.end()) {
      result_.messages.push_back(message);
    } else if (other->second->name != message.name) {
      repair(RepairKind::duplicate_type, message.place,
             "message type " + in_quotes(message.msg_type) + " is " + message.name + " here and " +
                 other->second->name + " in the transport" + in_brackets(other->second->place) + ", which counts");
    }
  }
}

// A tag is one field, with the names and values of both models. If two tags have the same name, each model's messages
// use their own tag.
void Combination::unite_fields() {
  std::unordered_map<Tag, std::size_t> by_tag;
  std::unordered_map<std::string_view, const ModelField*> by_name;
  for (std::size_t i = 0; i < transport_.fields.size(); ++i) {
    by_tag.emplace(transport_.fields[i].tag, i);
    by_name.emplace(transport_.fields[i].name, &transport_.fields[i]);
  }
  for (ModelField& field : application_.fields) {
    const auto same_name = by_name.find(field.name);
    if (same_name != by_name.end() && same_name->second->tag != field.tag && !renamed_.contains(field.name)) {
      const std::string number = std::to_string(value(field.tag));
      repair(RepairKind::duplicate_name, field.place,
             "field " + field.name + " has the number " + number + " here and " +
                 std::to_string(value(same_name->second->tag)) + " in the transport" +
                 in_brackets(same_name->second->place) + ", and is called " + field.name + "_" + number);
      renamed_.emplace(field.name, field.name + "_" + number);
      field.name += "_" + number;
    }
    const auto same_tag = by_tag.find(field.tag);
    if (same_tag == by_tag.end()) {
      result_.fields.push_back(field);
      result_.fields.back().application_only = true;
      continue;
    }
    unite(result_.fields[same_tag->second], field);
    // Another name for the same number.
    if (transport_.fields[same_tag->second].name != field.name) result_.fields.push_back(field);
  }
  if (renamed_.empty()) return;
  for (ModelComponent& component : application_.components) rename(component.members);
  for (ModelMessage& message : application_.messages) rename(message.members);
}

void Combination::rename(std::vector<ModelMember>& members) const {
  for (ModelMember& member : members) {
    if (member.kind == MemberKind::component) continue;
    if (const auto at = renamed_.find(member.name); at != renamed_.end()) member.name = at->second;
    rename(member.members);
  }
}

void Combination::unite(ModelField& into, const ModelField& from) {
  NFX_ASSERT(into.tag == from.tag);
  if (family_of(into.type) != family_of(from.type)) {
    repair(RepairKind::joined_type, from.place,
           "field " + from.name + " has the type " + std::string(to_string(from.type)) + " here and " +
               std::string(to_string(into.type)) + " in the transport" + in_brackets(into.place) +
               ", and is read as STRING");
    into.type = FieldType::string;
  }
  into.open = into.open || from.open;
  for (const ModelValue& value : from.values) {
    if (std::ranges::find(into.values, value.value, &ModelValue::value) == into.values.end()) {
      into.values.push_back(value);
    }
  }
}

}  // namespace

DictionaryModel combine(const DictionaryModel& transport, const DictionaryModel& application) {
  return Combination(transport, application).run();
}

}  // namespace nfx
