// Reads dictionaries in QuickFIX's XML format, with the differences between the engines that use it.
#include "dictionary/model_reader.hpp"

#include <algorithm>

#include "dictionary/character_rule.hpp"

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
  void read_version();
  void read_fields();
  void read_values(pugi::xml_node node, ModelField& field);
  void read_components();
  void read_messages();
  bool is_required(pugi::xml_node node, MemberKind kind) const;
  std::vector<ModelMember> read_members(pugi::xml_node parent, const std::string& where);

  const XmlSource& source_;
  DictionaryModel model_;
};

pugi::xml_node QuickFixReader::section(const char* name) const {
  const pugi::xml_node node = source_.root().child(name);
  if (!node) {
    source_.report(source_.root(), std::string("<") + name + "> is missing in <fix>; add it, empty (<" + name +
                                       "/>) if it holds nothing");
  }
  return node;
}

void QuickFixReader::read_version() {
  const pugi::xml_node root = source_.root();
  ModelVersion& version = model_.version;
  version.type = root.attribute("type").as_string("FIX");  // older files have none
  version.major = source_.attribute(root, "major");
  version.minor = source_.attribute(root, "minor");
  version.service_pack = root.attribute("servicepack").as_string("0");
  if (const std::string_view name = root.attribute("application").value(); !name.empty()) {
    model_.application = parse_version(name);
    if (!model_.application) {
      source_.report(root, "application is " + in_quotes(name) + "; write a version such as FIX.5.0SP2");
    }
  }
}

void QuickFixReader::read_fields() {
  for (const pugi::xml_node node : section("fields").children("field")) {
    ModelField field{.name = std::string(source_.attribute(node, "name")), .values = {}, .place = source_.place(node)};
    if (field.name.empty()) continue;
    const std::string what = "field " + field.name;
    field.tag = source_.tag(node, source_.attribute(node, "number"), what);
    if (const std::string_view name = source_.attribute(node, "type"); !name.empty()) {
      field.type = source_.type(node, name, what).value_or(FieldType::string);
    }
    const std::string_view open = node.attribute("allowOtherValues").value();
    field.open = open == "Y" || open == "true";
    read_values(node, field);
    if (field.tag != Tag{0}) model_.fields.push_back(std::move(field));
  }
}

void QuickFixReader::read_values(pugi::xml_node node, ModelField& field) {
  // QuickFIX/J wraps them in a separate element.
  for (const pugi::xml_node parent : {node, node.child("values")}) {
    for (const pugi::xml_node child : parent.children("value")) {
      const std::string_view value = source_.attribute(child, "enum");
      if (value.empty()) continue;
      field.values.push_back(
          {std::string(value), std::string(child.attribute("description").value()), source_.place(child)});
    }
  }
}

void QuickFixReader::read_components() {
  for (const pugi::xml_node node : source_.root().child("components").children("component")) {
    std::string name{source_.attribute(node, "name")};
    if (name.empty()) continue;
    std::vector<ModelMember> members = read_members(node, "component " + name);
    model_.components.push_back({std::move(name), std::move(members), source_.place(node)});
  }
}

void QuickFixReader::read_messages() {
  model_.header = read_members(section("header"), "header");
  model_.trailer = read_members(section("trailer"), "trailer");
  const pugi::xml_node messages = section("messages");
  for (const pugi::xml_node node : messages.children("message")) {
    ModelMessage message{.name = std::string(source_.attribute(node, "name")),
                         .msg_type = std::string(source_.attribute(node, "msgtype")),
                         .admin = std::string_view(node.attribute("msgcat").value()) == "admin",
                         .members = {},
                         .place = source_.place(node)};
    message.members = read_members(node, "message " + message.name);
    if (!message.name.empty() && !message.msg_type.empty()) model_.messages.push_back(std::move(message));
  }
  if (messages && model_.messages.empty()) {
    source_.report(messages, "there is no <message> in <messages>; add those to be exchanged");
  }
}

// Files of other engines omit `required` on component references: then it is not required.
bool QuickFixReader::is_required(pugi::xml_node node, MemberKind kind) const {
  if (kind == MemberKind::component) return source_.optional_yes_or_no(node, "required").value_or(false);
  return source_.yes_or_no(node, "required");
}

std::vector<ModelMember> QuickFixReader::read_members(pugi::xml_node parent, const std::string& where) {
  return read_member_tree<ModelMember>(source_, parent, where, [this](pugi::xml_node node, ModelMember& member) {
    member.required = is_required(node, member.kind);
  });
}

}  // namespace

DictionaryModel read_quickfix(const XmlSource& source) { return QuickFixReader(source).run(); }

bool is_overlay(const XmlSource& source) { return local_name(source.root()) == "overlay"; }

std::variant<DictionaryModel, OverlayModel> read_any(std::string_view xml, std::string_view source_name,
                                                     Problems& problems) {
  const XmlSource source(xml, source_name, problems);
  const std::string_view root = local_name(source.root());
  if (root == "fix") return read_quickfix(source);
  if (root == "repository") return read_orchestra(source);
  if (root == "overlay") return read_overlay(source);
  Problems::fail(source.place(source.root()), "the root element is <" + std::string(source.root().name()) +
                                                  ">; write <fix type=\"FIX\" major=\"4\" minor=\"4\">");
}

DictionaryModel read_dictionary(std::string_view xml, std::string_view source_name,
                                std::vector<std::string>* problems) {
  Problems sink(problems);
  auto any = read_any(xml, source_name, sink);
  if (auto* model = std::get_if<DictionaryModel>(&any)) return std::move(*model);
  Problems::fail(std::get<OverlayModel>(any).place,
                 "this is an overlay, which is not a dictionary without its base; load it as a file, or give it as an "
                 "overlay");
}

}  // namespace nfx
