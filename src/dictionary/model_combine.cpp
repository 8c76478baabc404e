// Combines the dictionary of a transport (FIXT 1.1) with that of an application version into one for a session.
#include <algorithm>
#include <unordered_map>

#include "dictionary/character_rule.hpp"
#include "dictionary/problems.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

// Types of one family have values in common, so a field may have either of them.
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
  Combination(const DictionaryModel& transport, const DictionaryModel& application, Problems& problems)
      : transport_(transport), application_(application), problems_(problems), result_(transport) {}

  DictionaryModel run() {
    result_.application = application_.application ? application_.application : application_.version;
    unite_components();
    unite_messages();
    unite_fields();
    apply_character_rule(result_);
    return std::move(result_);
  }

 private:
  void unite_components();
  void unite_messages();
  void unite_fields();
  void unite(ModelField& into, const ModelField& from);

  const DictionaryModel& transport_;
  const DictionaryModel& application_;
  Problems& problems_;
  DictionaryModel result_;
};

// A component that both define differently remains the application's; references to the transport's are replaced by its
// members.
void Combination::unite_components() {
  std::unordered_map<std::string_view, const ModelComponent*> of_application;
  for (const ModelComponent& component : application_.components) of_application.emplace(component.name, &component);
  std::erase_if(result_.components,
                [&](const ModelComponent& component) { return of_application.contains(component.name); });
  for (const ModelComponent& component : transport_.components) {
    const auto other = of_application.find(component.name);
    if (other == of_application.end() || same_members(component.members, other->second->members)) continue;
    inline_component(result_.header, component);
    inline_component(result_.trailer, component);
    for (ModelComponent& each : result_.components) inline_component(each.members, component);
    for (ModelMessage& each : result_.messages) inline_component(each.members, component);
  }
  result_.components.insert(result_.components.end(), application_.components.begin(), application_.components.end());
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
      problems_.report(message.place, "message type " + in_quotes(message.msg_type) + " is " + message.name +
                                          " here and " + other->second->name + " in the transport" +
                                          in_brackets(other->second->place) +
                                          "; give dictionaries that belong together");
    }
  }
}

void Combination::unite_fields() {
  std::unordered_map<Tag, std::size_t> by_tag;
  std::unordered_map<std::string_view, const ModelField*> by_name;
  for (std::size_t i = 0; i < transport_.fields.size(); ++i) {
    by_tag.emplace(transport_.fields[i].tag, i);
    by_name.emplace(transport_.fields[i].name, &transport_.fields[i]);
  }
  for (const ModelField& field : application_.fields) {
    const auto same_tag = by_tag.find(field.tag);
    if (same_tag != by_tag.end()) {
      unite(result_.fields[same_tag->second], field);
      continue;
    }
    const auto same_name = by_name.find(field.name);
    if (same_name != by_name.end()) {
      problems_.report(field.place, "field " + field.name + " has the number " + std::to_string(value(field.tag)) +
                                        " here and " + std::to_string(value(same_name->second->tag)) +
                                        " in the transport" + in_brackets(same_name->second->place) +
                                        "; give dictionaries that belong together");
      continue;
    }
    result_.fields.push_back(field);
    result_.fields.back().application_only = true;
  }
}

void Combination::unite(ModelField& into, const ModelField& from) {
  NFX_ASSERT(into.tag == from.tag);
  if (into.name != from.name) {
    problems_.report(from.place, "field number " + std::to_string(value(from.tag)) + " is " + from.name + " here and " +
                                     into.name + " in the transport" + in_brackets(into.place) +
                                     "; give dictionaries that belong together");
    return;
  }
  if (family_of(into.type) != family_of(from.type)) {
    problems_.report(from.place, "field " + from.name + " has the type " + std::string(to_string(from.type)) +
                                     " here and " + std::string(to_string(into.type)) + " in the transport" +
                                     in_brackets(into.place) + "; give dictionaries that belong together");
    return;
  }
  into.open = into.open || from.open;
  for (const ModelValue& value : from.values) {
    if (std::ranges::find(into.values, value.value, &ModelValue::value) == into.values.end()) {
      into.values.push_back(value);
    }
  }
}

}  // namespace

DictionaryModel combine(const DictionaryModel& transport, const DictionaryModel& application,
                        std::vector<std::string>* problems) {
  Problems sink(problems);
  return Combination(transport, application, sink).run();
}

}  // namespace nfx
