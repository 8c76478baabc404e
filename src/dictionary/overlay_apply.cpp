// Applies an overlay: a counterparty's changes to the fields, components and messages of a base dictionary.
#include <algorithm>

#include "dictionary/character_rule.hpp"
#include "dictionary/problems.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/base/suggest.hpp"
#include "nexusfix/dictionary/model_overlay.hpp"

namespace nfx {
namespace {

using Members = std::vector<ModelMember>;

class Application {
 public:
  Application(const DictionaryModel& base, Problems& problems) : result_(base), problems_(problems) {}

  DictionaryModel run(const OverlayModel& overlay) {
    for (const OverlayField& field : overlay.fields) apply(field);
    for (const OverlayComponent& component : overlay.components) apply(component);
    apply(overlay.header, result_.header, "header");
    apply(overlay.trailer, result_.trailer, "trailer");
    for (const OverlayMessage& message : overlay.messages) apply(message);
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
  [[nodiscard]] bool component_has(const ModelComponent& component, std::string_view name, std::size_t depth) const;

  DictionaryModel result_;
  Problems& problems_;
};

void Application::apply(const OverlayField& change) {
  std::vector<ModelField>& fields = result_.fields;
  const auto at = std::ranges::find_if(fields, [&](const ModelField& field) {
    return change.tag == Tag{0} ? field.name == change.name : field.tag == change.tag;
  });
  if (at == fields.end()) {
    add(change);
    return;
  }
  if (!change.name.empty() && change.name != at->name) {
    problems_.report(change.place, "field number " + std::to_string(value(change.tag)) + " is " + change.name +
                                       " here and " + at->name + " in the base" + in_brackets(at->place) +
                                       "; write the base's name, or another number");
    return;
  }
  if (change.remove) {
    fields.erase(at);
    return;
  }
  if (change.type) at->type = *change.type;
  if (change.open) at->open = *change.open;
  apply_values(change, *at);
}

void Application::add(const OverlayField& change) {
  const std::string what = "field " + (change.name.empty() ? std::to_string(value(change.tag)) : change.name);
  if (change.remove) {
    problems_.report(change.place, what + " is to be removed, but the base does not have it; remove this element");
    return;
  }
  if (change.tag == Tag{0} || change.name.empty() || !change.type) {
    problems_.report(change.place, what + " is not in the base; give it a number, a name and a type to add it");
    return;
  }
  result_.fields.push_back({.tag = change.tag,
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
      problems_.report(value.place, "field " + field.name + " has no value " + in_quotes(value.value) +
                                        " to be removed" + in_brackets(field.place) + "; remove this element");
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
  const auto at = std::ranges::find(result_.components, change.name, &ModelComponent::name);
  if (at != result_.components.end() && change.remove) {
    result_.components.erase(at);
  } else if (at != result_.components.end()) {
    // A copy, because changing it may read the other components.
    Members members = at->members;
    apply(change.members, members, "component " + change.name);
    std::ranges::find(result_.components, change.name, &ModelComponent::name)->members = std::move(members);
  } else if (change.remove) {
    problems_.report(change.place, "component " + change.name +
                                       " is to be removed, but the base does not have it; remove this element");
  } else {
    Members members;
    apply(change.members, members, "component " + change.name);
    result_.components.push_back({change.name, std::move(members), change.place});
  }
}

void Application::apply(const OverlayMessage& change) {
  std::vector<ModelMessage>& messages = result_.messages;
  const auto at = std::ranges::find(messages, change.name, &ModelMessage::name);
  if (at == messages.end()) {
    if (change.remove || change.msg_type.empty()) {
      std::vector<std::string_view> known;
      for (const ModelMessage& message : messages) known.push_back(message.name);
      const std::string suggestion = did_you_mean(change.name, known);
      problems_.report(change.place, "message " + change.name + " is not in the base" +
                                         (!suggestion.empty() ? suggestion
                                          : change.remove     ? "; remove this element"
                                                              : "; give it a msgtype to add it"));
      return;
    }
    ModelMessage message{change.name, change.msg_type, change.admin.value_or(false), {}, change.place};
    apply(change.members, message.members, "message " + change.name);
    messages.push_back(std::move(message));
    return;
  }
  if (!change.msg_type.empty() && change.msg_type != at->msg_type) {
    problems_.report(change.place, "message " + change.name + " has the type " + in_quotes(change.msg_type) +
                                       " here and " + in_quotes(at->msg_type) + " in the base" +
                                       in_brackets(at->place) + "; write the base's type, or another name");
    return;
  }
  if (change.remove) {
    messages.erase(at);
    return;
  }
  if (change.admin) at->admin = *change.admin;
  apply(change.members, at->members, "message " + change.name);
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
    problems_.report(change.place, where + " has no " + std::string(to_string(change.kind)) + " " + change.name +
                                       " to be removed; remove this element");
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

// The member with this name: a component, or a field or group, as `kind` requires. When a component contains it,
// the component is first replaced by its members.
Members::iterator Application::find(Members& members, MemberKind kind, std::string_view name) {
  const auto is_it = [&](const ModelMember& member) {
    return member.name == name && (member.kind == MemberKind::component) == (kind == MemberKind::component);
  };
  // Each round replaces one component by its members; the bound ends recursive components.
  for (std::size_t rounds = 0; rounds < max_dictionary_depth; ++rounds) {
    const auto at = std::ranges::find_if(members, is_it);
    if (at != members.end() || kind == MemberKind::component) return at;
    const auto reference = std::ranges::find_if(members, [&](const ModelMember& member) {
      const ModelComponent* component =
          member.kind == MemberKind::component ? result_.find_component(member.name) : nullptr;
      return component != nullptr && component_has(*component, name, 0);
    });
    if (reference == members.end()) break;
    const bool required = reference->required;
    Members held = result_.find_component(reference->name)->members;
    for (ModelMember& member : held) member.required = member.required && required;
    const auto behind = members.erase(reference);
    members.insert(behind, std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
  }
  return members.end();
}

bool Application::component_has(const ModelComponent& component, std::string_view name, std::size_t depth) const {
  NFX_ASSERT(depth <= max_dictionary_depth + 1);
  if (depth > max_dictionary_depth) return false;
  return std::ranges::any_of(component.members, [&](const ModelMember& member) {
    if (member.kind != MemberKind::component) return member.name == name;
    const ModelComponent* inner = result_.find_component(member.name);
    return inner != nullptr && component_has(*inner, name, depth + 1);
  });
}

}  // namespace

DictionaryModel apply_overlay(const DictionaryModel& base, const OverlayModel& overlay,
                              std::vector<std::string>* problems) {
  Problems sink(problems);
  return Application(base, sink).run(overlay);
}

}  // namespace nfx
