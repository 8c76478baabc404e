// Queries and edits of a dictionary model, shared by readers, overlays and combination.
#include "nexusfix/dictionary/model.hpp"

#include <algorithm>

#include "base/enumerator_name.hpp"

namespace nfx {

std::string to_string(const ModelPlace& place) {
  return (place.source == nullptr ? std::string() : *place.source) + ":" + std::to_string(place.line);
}

std::string ModelVersion::begin_string() const { return type + "." + major + "." + minor; }

std::string ModelVersion::name() const {
  return begin_string() + (service_pack == "0" || service_pack.empty() ? "" : "SP" + service_pack);
}

std::optional<ModelVersion> parse_version(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::string_view minor = name.substr(second + 1);
  std::string_view service_pack = "0";
  if (const std::size_t at = minor.find("SP"); at != std::string_view::npos) {
    service_pack = minor.substr(at + 2);
    minor = minor.substr(0, at);
  }
  const std::string_view type = name.substr(0, first);
  const std::string_view major = name.substr(first + 1, second - first - 1);
  if (type.empty() || major.empty() || minor.empty() || service_pack.empty()) return std::nullopt;
  return ModelVersion{std::string(type), std::string(major), std::string(minor), std::string(service_pack)};
}

void take_version(DictionaryModel& model, std::string_view version_name) {
  const std::optional<ModelVersion> wanted = parse_version(version_name);
  // A dictionary of a whole FIXT session has a version for its application messages, or leaves it open.
  const bool is_transport = model.version.type == "FIXT" && !model.application;
  ModelVersion& own = model.application ? *model.application : model.version;
  if (!wanted || own == *wanted) return;
  if (is_transport) {
    if (wanted->type != "FIXT") model.application = wanted;
    return;
  }
  if (own.begin_string() != wanted->begin_string()) return;
  if (!own.service_pack.empty()) {
    model.repairs.add(RepairKind::service_pack, to_string(model.place) + ": the dictionary is for " + own.name() +
                                                    ", and is read for " + wanted->name() +
                                                    "; give one of the session's version");
  }
  own = *wanted;
}

std::string_view to_string(MemberKind kind) noexcept { return enumerator_name(kind); }

bool same_members(const std::vector<ModelMember>& a, const std::vector<ModelMember>& b) {
  return std::ranges::equal(a, b, [](const ModelMember& x, const ModelMember& y) {
    return x.kind == y.kind && x.name == y.name && x.required == y.required && same_members(x.members, y.members);
  });
}

namespace {

template <class Elements, class Key, class Projection>
auto* find_in(const Elements& elements, const Key& key, Projection projection) {
  const auto at = std::ranges::find(elements, key, projection);
  return at == elements.end() ? nullptr : &*at;
}

}  // namespace

const ModelField* DictionaryModel::find_field(std::string_view name) const noexcept {
  return find_in(fields, name, &ModelField::name);
}
const ModelField* DictionaryModel::find_field(Tag tag) const noexcept { return find_in(fields, tag, &ModelField::tag); }
const ModelComponent* DictionaryModel::find_component(std::string_view name) const noexcept {
  return find_in(components, name, &ModelComponent::name);
}
const ModelMessage* DictionaryModel::find_message(std::string_view name) const noexcept {
  return find_in(messages, name, &ModelMessage::name);
}

namespace {

void inline_at(std::vector<ModelMember>& members, const ModelComponent& component, std::size_t depth) {
  if (depth > max_dictionary_depth) return;
  for (std::size_t i = 0; i < members.size();) {
    if (members[i].kind != MemberKind::component || members[i].name != component.name) {
      inline_at(members[i].members, component, depth + 1);
      ++i;
      continue;
    }
    std::vector<ModelMember> held = component.members;
    for (ModelMember& member : held) member.required = member.required && members[i].required;
    const auto at = members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
    const std::size_t size = held.size();
    members.insert(at, std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
    i += size;
  }
}

}  // namespace

void inline_component(std::vector<ModelMember>& members, const ModelComponent& component) {
  inline_at(members, component, 0);
}

}  // namespace nfx
