// Applies an overlay: a counterparty's changes to the fields, components and messages of a base dictionary.
#include <algorithm>
#include <unordered_map>

#include "dictionary/character_rule.hpp"
#include "dictionary/model_overlay.hpp"
#include "dictionary/problems.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx {
namespace {

using Members = std::vector<ModelMember>;

constexpr std::size_t max_steps = 20'000'000;  // maximum number of components visited to find members
constexpr std::size_t max_members = 4 * max_scope_members;

// The index of each element by name, so that one pass applies an overlay of any size. Removed elements have no name
// until the end.
template <class Element>
class ByName {
 public:
  explicit ByName(std::vector<Element>& elements) : elements_(elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) at_.emplace(elements[i].name, i);
  }
  [[nodiscard]] Element* find(std::string_view name) const {
    const auto at = at_.find(std::string(name));
    return at == at_.end() ? nullptr : &elements_[at->second];
  }
  void add(Element element) {
    at_.emplace(element.name, elements_.size());
    elements_.push_back(std::move(element));
  }
  void remove(Element& element) {
    at_.erase(element.name);
    element.name.clear();
  }
  void finish() {
    std::erase_if(elements_, [](const Element& each) { return each.name.empty(); });
  }

 private:
  std::vector<Element>& elements_;
  std::unordered_map<std::string, std::size_t> at_;
};

class Application {
 public:
  Application(const DictionaryModel& base, std::vector<std::string>* problems)
      : result_(base), problems_(problems, result_.repairs) {
    for (std::size_t i = 0; i < result_.fields.size(); ++i) numbers_.emplace(result_.fields[i].tag, i);
  }

  DictionaryModel run(const OverlayModel& overlay) {
    result_.repairs.add(overlay.repairs);
    for (const OverlayField& field : overlay.fields) apply(field);
    for (const OverlayComponent& component : overlay.components) apply(component);
    apply(overlay.header, result_.header, "header");
    apply(overlay.trailer, result_.trailer, "trailer");
    for (const OverlayMessage& message : overlay.messages) apply(message);
    fields_.finish();
    components_.finish();
    messages_.finish();
    apply_character_rule(result_);
    return std::move(result_);
  }

 private:
  void apply(const OverlayField& change);
  void add(const OverlayField& change);
  void apply_values(const OverlayField& change, ModelField& field);
  void apply(const OverlayComponent& change);
  void apply(const OverlayMessage& change);
  void apply(const std::vector<OverlayMember>& changes, Members& members, const std::string& where);
  void apply(const OverlayMember& change, Members& members, const std::string& where);
  void insert(const OverlayMember& change, Members& members, const std::string& where);

  Members::iterator find(Members& members, MemberKind kind, std::string_view name);
  [[nodiscard]] bool component_has(const ModelComponent& component, std::string_view name, std::size_t depth);
  void needless(const ModelPlace& place, const std::string& what) {
    problems_.repair(RepairKind::needless_removal, place, what + "; remove this element");
  }

  DictionaryModel result_;
  Problems problems_;
  ByName<ModelField> fields_{result_.fields};
  ByName<ModelComponent> components_{result_.components};
  ByName<ModelMessage> messages_{result_.messages};
  std::unordered_map<Tag, std::size_t> numbers_;
  Suggestions message_names_;
  std::size_t steps_ = 0;
};

void Application::apply(const OverlayField& change) {
  ModelField* field = nullptr;
  if (change.tag == Tag{0}) {
    field = fields_.find(change.name);
  } else if (const auto at = numbers_.find(change.tag); at != numbers_.end()) {
    field = &result_.fields[at->second];
  }
  if (field == nullptr) {
    add(change);
    return;
  }
  if (change.remove) {
    numbers_.erase(field->tag);
    fields_.remove(*field);
    return;
  }
  if (change.type) field->type = *change.type;
  if (change.open) field->open = *change.open;
  apply_values(change, *field);
  if (!change.name.empty() && change.name != field->name) {
    // Building the dictionary reports that the number has two names.
    ModelField other{.tag = field->tag,
                     .name = change.name,
                     .type = field->type,
                     .values = {},
                     .place = change.place,
                     .application_only = field->application_only};
    fields_.add(std::move(other));
  }
}

void Application::add(const OverlayField& change) {
  const std::string what = "field " + (change.name.empty() ? std::to_string(value(change.tag)) : change.name);
  if (change.remove) {
    needless(change.place, what + " is to be removed, but the base does not have it");
    return;
  }
  if (change.tag == Tag{0} || change.name.empty() || !change.type) {
    problems_.report(change.place, what + " is not in the base; give it a number, a name and a type to add it");
    return;
  }
  if (fields_.find(change.name) == nullptr) numbers_.emplace(change.tag, result_.fields.size());
  fields_.add({.tag = change.tag,
               .name = change.name,
               .type = *change.type,
               .open = change.open.value_or(false),
               .values = {},
               .place = change.place});
  apply_values(change, result_.fields.back());
}

void Application::apply_values(const OverlayField& change, ModelField& field) {
  for (const OverlayValue& value : change.values) {
    const auto at = std::ranges::find(field.values, value.value, &ModelValue::value);
    if (value.remove && at == field.values.end()) {
      needless(value.place, "field " + field.name + " has no value " + in_quotes(value.value) + " to be removed" +
                                in_brackets(field.place));
    } else if (value.remove) {
      field.values.erase(at);
    } else if (at == field.values.end()) {
      field.values.push_back({value.value, value.name, value.place});
    } else if (!value.name.empty()) {
      at->name = value.name;
    }
  }
}

void Application::apply(const OverlayComponent& change) {
  ModelComponent* component = components_.find(change.name);
  if (component != nullptr && change.remove) {
    components_.remove(*component);
  } else if (component != nullptr) {
    // A copy, because changing it may read the other components.
    Members members = component->members;
    apply(change.members, members, "component " + change.name);
    components_.find(change.name)->members = std::move(members);
  } else if (change.remove) {
    needless(change.place, "component " + change.name + " is to be removed, but the base does not have it");
  } else {
    Members members;
    apply(change.members, members, "component " + change.name);
    components_.add({change.name, std::move(members), change.place});
  }
}

void Application::apply(const OverlayMessage& change) {
  ModelMessage* message = messages_.find(change.name);
  if (message == nullptr) {
    if (change.remove || change.msg_type.empty()) {
      const std::string suggestion = message_names_.of(change.name, {}, [&] {
        std::vector<std::string_view> known;
        for (const ModelMessage& each : result_.messages) known.push_back(each.name);
        return known;
      });
      if (change.remove && suggestion.empty()) {
        needless(change.place, "message " + change.name + " is to be removed, but the base does not have it");
      } else {
        problems_.report(change.place, "message " + change.name + " is not in the base" +
                                           (suggestion.empty() ? "; give it a msgtype to add it" : suggestion));
      }
      return;
    }
    ModelMessage added{change.name, change.msg_type, change.admin.value_or(false), {}, change.place};
    apply(change.members, added.members, "message " + change.name);
    messages_.add(std::move(added));
    return;
  }
  if (!change.msg_type.empty() && change.msg_type != message->msg_type) {
    problems_.report(change.place, "message " + change.name + " has the type " + in_quotes(change.msg_type) +
                                       " here and " + in_quotes(message->msg_type) + " in the base" +
                                       in_brackets(message->place) + "; write the base's type, or another name");
    return;
  }
  if (change.remove) {
    messages_.remove(*message);
    return;
  }
  if (change.admin) message->admin = *change.admin;
  apply(change.members, message->members, "message " + change.name);
}

void Application::apply(const std::vector<OverlayMember>& changes, Members& members, const std::string& where) {
  for (const OverlayMember& change : changes) apply(change, members, where);
}

void Application::apply(const OverlayMember& change, Members& members, const std::string& where) {
  const auto at = find(members, change.kind, change.name);
  if (at == members.end()) {
    insert(change, members, where);
    return;
  }
  if (at->kind != change.kind) {
    problems_.report(change.place, where + " has " + change.name + " as a " + std::string(to_string(at->kind)) +
                                       " in the base" + in_brackets(at->place) + ", and as a " +
                                       std::string(to_string(change.kind)) + " here; write what the base has");
    return;
  }
  if (change.remove) {
    members.erase(at);
    return;
  }
  if (change.required) at->required = *change.required;
  apply(change.members, at->members, "group " + change.name);
}

void Application::insert(const OverlayMember& change, Members& members, const std::string& where) {
  if (change.remove) {
    needless(change.place,
             where + " has no " + std::string(to_string(change.kind)) + " " + change.name + " to be removed");
    return;
  }
  if (members.size() >= max_members) {
    problems_.repair(RepairKind::scope_size, change.place,
                     where + " has more than " + std::to_string(max_members) + " members, and " + change.name +
                         " is ignored; remove some");
    return;
  }
  ModelMember member{change.kind, change.name, change.required.value_or(false), {}, change.place};
  apply(change.members, member.members, "group " + change.name);
  auto at = members.end();
  if (!change.after.empty()) {
    at = find(members, MemberKind::field, change.after);
    if (at == members.end()) at = std::ranges::find(members, change.after, &ModelMember::name);
    if (at == members.end()) {
      problems_.report(change.place, where + " has no " + change.after + " for " + change.name +
                                         " to be inserted after; name one of its members");
      return;
    }
    ++at;
  }
  members.insert(at, std::move(member));
}

// Finds the member with this name and kind: a component, or a field or group. If it is inside a component, the
// component is first replaced by its members.
Members::iterator Application::find(Members& members, MemberKind kind, std::string_view name) {
  const auto is_it = [&](const ModelMember& member) {
    return member.name == name && (member.kind == MemberKind::component) == (kind == MemberKind::component);
  };
  // Each round replaces one component by its members; the bound ends recursive components.
  for (std::size_t rounds = 0; rounds < max_dictionary_depth; ++rounds) {
    const auto at = std::ranges::find_if(members, is_it);
    if (at != members.end() || kind == MemberKind::component) return at;
    const auto reference = std::ranges::find_if(members, [&](const ModelMember& member) {
      const ModelComponent* component = member.kind == MemberKind::component ? components_.find(member.name) : nullptr;
      return component != nullptr && component_has(*component, name, 0);
    });
    if (reference == members.end()) break;
    const bool required = reference->required;
    Members held = components_.find(reference->name)->members;
    for (ModelMember& member : held) member.required = member.required && required;
    const auto behind = members.erase(reference);
    members.insert(behind, std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
  }
  return members.end();
}

bool Application::component_has(const ModelComponent& component, std::string_view name, std::size_t depth) {
  NFX_ASSERT(depth <= max_dictionary_depth + 1);
  if (++steps_ > max_steps) {
    Problems::fail(component.place, "component " + component.name +
                                        " is searched too often for the members that the overlay changes; nest fewer "
                                        "components, or split the overlay");
  }
  if (depth > max_dictionary_depth) return false;
  return std::ranges::any_of(component.members, [&](const ModelMember& member) {
    if (member.kind != MemberKind::component) return member.name == name;
    const ModelComponent* inner = components_.find(member.name);
    return inner != nullptr && component_has(*inner, name, depth + 1);
  });
}

}  // namespace

DictionaryModel apply_overlay(const DictionaryModel& base, const OverlayModel& overlay,
                              std::vector<std::string>* problems) {
  return Application(base, problems).run(overlay);
}

}  // namespace nfx
