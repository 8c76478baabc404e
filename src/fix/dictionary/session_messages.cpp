// Adds the session messages of its FIX version to a dictionary without them, so that a session can use it.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "dictionary/problems.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {
namespace {

constexpr std::array<std::string_view, 7> session_types{
    msg_type::logon,  msg_type::heartbeat,      msg_type::test_request, msg_type::resend_request,
    msg_type::reject, msg_type::sequence_reset, msg_type::logout};

class Completion {
 public:
  Completion(DictionaryModel& model, const DictionaryModel& shipped) : model_(model), shipped_(shipped) {}

  void add(const ModelMessage& message) {
    ModelMessage own = message;
    take_over(own.members);
    model_.messages.push_back(std::move(own));
  }
  // Whether there was none.
  bool add_header() { return add_section(model_.header, shipped_.header); }
  bool add_trailer() { return add_section(model_.trailer, shipped_.trailer); }

 private:
  bool add_section(std::vector<ModelMember>& section, const std::vector<ModelMember>& shipped) {
    if (!section.empty()) return false;
    section = shipped;
    take_over(section);
    return true;
  }
  // Members as the model names them: components are replaced by their members, since it may have others of their names.
  void take_over(std::vector<ModelMember>& members) {
    for (const ModelComponent& component : shipped_.components) inline_component(members, component);
    name_fields(members);
  }
  void name_fields(std::vector<ModelMember>& members) {
    for (ModelMember& member : members) {
      name_fields(member.members);
      if (const ModelField* const field = shipped_.find_field(member.name)) member.name = own_name(*field);
    }
  }
  std::string own_name(const ModelField& field) {
    if (const ModelField* const same = model_.find_field(field.tag)) return same->name;
    ModelField added = field;
    if (model_.find_field(added.name) != nullptr) added.name += "_" + std::to_string(value(added.tag));
    model_.fields.push_back(added);
    return added.name;
  }

  DictionaryModel& model_;
  const DictionaryModel& shipped_;
};

[[nodiscard]] const ModelMessage* of_type(const DictionaryModel& model, std::string_view type) noexcept {
  const auto found = std::ranges::find(model.messages, type, &ModelMessage::msg_type);
  return found == model.messages.end() ? nullptr : &*found;
}

}  // namespace

bool lacks_session_messages(const DictionaryModel& model) noexcept {
  return std::ranges::any_of(session_types, [&](std::string_view type) { return of_type(model, type) == nullptr; });
}

void add_session_messages(DictionaryModel& model, const DictionaryModel& shipped, std::string_view shipped_name) {
  Completion completion{model, shipped};
  std::string names;
  for (const std::string_view type : session_types) {
    if (of_type(model, type) != nullptr) continue;
    const ModelMessage* const message = of_type(shipped, type);
    if (message == nullptr) continue;
    names += (names.empty() ? "" : ", ") + message->name;
    completion.add(*message);
  }
  if (names.empty()) return;
  const bool header = completion.add_header(), trailer = completion.add_trailer();
  const std::string sections = header && trailer ? ", with its header and trailer"
                               : header          ? ", with its header"
                               : trailer         ? ", with its trailer"
                                                 : "";
  const std::string file{shipped_name};
  model.repairs.add(RepairKind::session_messages, to_string(model.place) + ": the dictionary has no " + names +
                                                      ": taken from " + file + sections +
                                                      "; add them, or write an overlay with base=\"" + file + "\"");
}

}  // namespace nfx
