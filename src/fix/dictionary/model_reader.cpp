// Reads dictionaries in QuickFIX's XML format, with the variations of the engines that use it.
#include "dictionary/model_reader.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "dictionary/character_rule.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx {

std::optional<MemberKind> member_kind(std::string_view element) noexcept {
  for (const MemberKind kind : {MemberKind::field, MemberKind::group, MemberKind::component}) {
    if (element == to_string(kind)) return kind;
  }
  return std::nullopt;
}

std::string_view local_name(pugi::xml_node node) noexcept {
  const std::string_view name = node.name();
  return name.substr(name.find(':') + 1);
}

namespace {

class QuickFixReader {
 public:
  explicit QuickFixReader(const XmlSource& source) : source_(source) {}

  DictionaryModel run() {
    model_.place = source_.place(source_.root());
    read_version();
    read_fields();
    read_components();
    read_messages();
    apply_character_rule(model_);
    return std::move(model_);
  }

 private:
  pugi::xml_node section(const char* name) const;
  pugi::xml_node optional_section(const char* name) const;
  template <class Read>
  void for_each(pugi::xml_node section, const char* element, const Read& read) const;
  void read_version();
  void read_fields();
  void read_field(pugi::xml_node node);
  void read_values(pugi::xml_node node, ModelField& field);
  void read_components();
  void read_messages();
  void read_message(pugi::xml_node node);
  bool is_admin(pugi::xml_node node, std::string_view msg_type) const;
  bool is_required(pugi::xml_node node, MemberKind kind) const;
  std::vector<ModelMember> read_members(pugi::xml_node parent, const std::string& where);

  const XmlSource& source_;
  DictionaryModel model_;
};

pugi::xml_node QuickFixReader::section(const char* name) const {
  const pugi::xml_node node = source_.root().child(name);
  if (!node) source_.report(source_.root(), std::string("<") + name + "> is missing in <fix>; add it");
  return node;
}

// Files of FIX 5.0 and later have no header and trailer, because the transport defines them.
pugi::xml_node QuickFixReader::optional_section(const char* name) const {
  const pugi::xml_node node = source_.root().child(name);
  if (!node && model_.version.major < "5") {
    source_.repair(RepairKind::missing_section, source_.root(),
                   std::string("<") + name + "> is missing in <fix> and read as empty; add it, or <" + name +
                       "/> if it has no fields");
  }
  return node;
}

template <class Read>
void QuickFixReader::for_each(pugi::xml_node section, const char* element, const Read& read) const {
  for (const pugi::xml_node node : section.children()) {
    if (node.type() != pugi::node_element) continue;
    if (std::string_view(node.name()) == element) {
      read(node);
    } else {
      source_.repair(
          RepairKind::unknown_element, node,
          std::string("<") + section.name() + "> holds <" + node.name() + ">, which is ignored; write " + element);
    }
  }
}

void QuickFixReader::read_version() {
  const pugi::xml_node root = source_.root();
  source_.expect_attributes(root, {"type", "major", "minor", "servicepack", "extensionpack", "application"});
  for (const pugi::xml_node node : root.children()) {
    constexpr std::array<std::string_view, 5> known{"header", "trailer", "messages", "components", "fields"};
    if (node.type() != pugi::node_element) continue;
    const auto at = std::ranges::find(known, std::string_view(node.name()));
    if (at == known.end() || root.child(node.name()) != node) {
      source_.repair(RepairKind::unknown_element, node,
                     std::string("<fix> holds <") + node.name() + (at == known.end() ? ">" : "> a second time") +
                         ", which is ignored; remove it");
    }
  }
  ModelVersion& version = model_.version;
  version.type = source_.attribute(root, "type");
  if (version.type.empty()) version.type = "FIX";  // older files have none
  version.major = source_.needed(root, "major");
  version.minor = source_.needed(root, "minor");
  version.service_pack = source_.attribute(root, "servicepack");
  // In versions without service packs, a missing attribute means none; in FIX 5.0 it means any.
  if (version.service_pack.empty() && version.begin_string() != "FIX.5.0") version.service_pack = "0";
  if (const std::string_view name = source_.attribute(root, "application"); !name.empty()) {
    model_.application = parse_version(name);
    if (!model_.application) {
      source_.report(root, "application is " + in_quotes(name) + "; write a version such as FIX.5.0SP2");
    }
  }
}

void QuickFixReader::read_fields() {
  const pugi::xml_node fields = section("fields");
  for_each(fields, "field", [this](pugi::xml_node node) { read_field(node); });
  if (fields && !fields.child("field")) source_.report(fields, "there is no <field> in <fields>; define the fields");
}

void QuickFixReader::read_field(pugi::xml_node node) {
  source_.expect_attributes(node, {"number", "name", "type", "allowOtherValues"});
  ModelField field{.name = std::string(source_.identifying(node, "name")), .values = {}, .place = source_.place(node)};
  if (field.name.empty()) return;
  const std::string what = "field " + field.name;
  field.tag = source_.tag(node, source_.attribute(node, "number"), what);
  if (field.tag == Tag{0}) return;
  field.type = source_.type(node, source_.attribute(node, "type"), what);
  const std::string_view open = source_.attribute(node, "allowOtherValues");
  field.open = open == "Y" || open == "y" || open == "true";
  read_values(node, field);
  model_.fields.push_back(std::move(field));
}

void QuickFixReader::read_values(pugi::xml_node node, ModelField& field) {
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    const std::string_view element = child.name();
    if (element == "values") {
      read_values(child, field);  // QuickFIX/J wraps values in a separate element
    } else if (element != "value") {
      source_.repair(RepairKind::unknown_element, child,
                     "field " + field.name + " holds <" + std::string(element) + ">, which is ignored; write value");
    } else if (const std::string_view value = source_.identifying(child, "enum"); !value.empty()) {
      source_.expect_attributes(child, {"enum", "description"});
      field.values.push_back(
          {std::string(value), std::string(trimmed(child.attribute("description").value())), source_.place(child)});
    }
  }
}

void QuickFixReader::read_components() {
  for_each(source_.root().child("components"), "component", [this](pugi::xml_node node) {
    source_.expect_attributes(node, {"name"});
    std::string name{source_.identifying(node, "name")};
    if (name.empty()) return;
    std::vector<ModelMember> members = read_members(node, "component " + name);
    model_.components.push_back({std::move(name), std::move(members), source_.place(node)});
  });
}

void QuickFixReader::read_messages() {
  model_.header = read_members(optional_section("header"), "header");
  model_.trailer = read_members(optional_section("trailer"), "trailer");
  const pugi::xml_node messages = section("messages");
  for_each(messages, "message", [this](pugi::xml_node node) { read_message(node); });
  if (messages && model_.messages.empty()) {
    source_.report(messages, "there is no <message> in <messages>; add those to be exchanged");
  }
}

void QuickFixReader::read_message(pugi::xml_node node) {
  source_.expect_attributes(node, {"name", "msgtype", "msgcat"});
  ModelMessage message{.name = std::string(source_.attribute(node, "name")),
                       .msg_type = std::string(source_.identifying(node, "msgtype")),
                       .admin = false,
                       .members = {},
                       .place = source_.place(node)};
  if (message.msg_type.empty()) return;
  if (message.name.empty()) {
    message.name = "Message_" + message.msg_type;
    source_.repair(RepairKind::missing_name, node,
                   "message type " + in_quotes(message.msg_type) + " has no name, and is called " + message.name +
                       "; write name=\"...\"");
  }
  message.admin = is_admin(node, message.msg_type);
  message.members = read_members(node, "message " + message.name);
  model_.messages.push_back(std::move(message));
}

bool QuickFixReader::is_admin(pugi::xml_node node, std::string_view msg_type) const {
  const std::string_view category = source_.attribute(node, "msgcat");
  if (category == "admin") return true;
  if (category == "app") return false;
  const bool admin = is_session_msg_type(msg_type);
  source_.repair(RepairKind::message_category, node,
                 "msgcat of message type " + in_quotes(msg_type) +
                     (category.empty() ? " is missing" : " is " + in_quotes(category)) + ", read as " +
                     (admin ? "admin" : "app") + "; write admin or app");
  return admin;
}

// Files of other engines omit `required` on component references, which then means not required.
bool QuickFixReader::is_required(pugi::xml_node node, MemberKind kind) const {
  const std::optional<bool> required = source_.yes_or_no(node, "required");
  if (!required && kind != MemberKind::component) {
    source_.repair(RepairKind::missing_required, node,
                   std::string("<") + node.name() + "> has no required, read as N; write required=\"Y\" or \"N\"");
  }
  return required.value_or(false);
}

std::vector<ModelMember> QuickFixReader::read_members(pugi::xml_node parent, const std::string& where) {
  return read_member_tree<ModelMember>(source_, parent, where, [this](pugi::xml_node node, ModelMember& member) {
    source_.expect_attributes(node, {"name", "required"});
    member.required = is_required(node, member.kind);
  });
}

}  // namespace

DictionaryModel read_quickfix(const XmlSource& source) { return QuickFixReader(source).run(); }

std::variant<DictionaryModel, OverlayModel> read_any(std::string_view xml, std::string_view source_name,
                                                     std::string_view version, std::vector<std::string>* problems) {
  Repairs repairs;
  Problems sink(problems, repairs);
  const XmlSource source(xml, source_name, sink);
  const std::string_view root = local_name(source.root());
  if (root == "overlay") {
    OverlayModel overlay = read_overlay(source);
    overlay.repairs = std::move(repairs);
    return overlay;
  }
  if (root != "fix" && root != "repository") {
    Problems::fail(source.place(source.root()), "the root element is <" + std::string(source.root().name()) +
                                                    ">; write <fix type=\"FIX\" major=\"4\" minor=\"4\">");
  }
  DictionaryModel model =
      root == "fix" ? read_quickfix(source) : read_orchestra(source, version, OrchestraUse::dictionary);
  model.repairs = std::move(repairs);
  return model;
}

DictionaryModel read_dictionary(std::string_view xml, std::string_view source_name,
                                std::vector<std::string>* problems) {
  auto any = read_any(xml, source_name, {}, problems);
  if (auto* model = std::get_if<DictionaryModel>(&any)) return std::move(*model);
  Problems::fail(std::get<OverlayModel>(any).place,
                 "this is an overlay, which is not a dictionary without its base; load it as a file, or give it as an "
                 "overlay");
}

}  // namespace nfx
