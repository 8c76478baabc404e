// Reads overlay files. Most attributes are optional, because they only change the base's.
#include "base/text.hpp"
#include "dictionary/model_reader.hpp"

namespace nfx {
namespace {

class OverlayReader {
 public:
  explicit OverlayReader(const XmlSource& source) : source_(source) {}

  OverlayModel run() {
    const pugi::xml_node root = source_.root();
    overlay_.place = source_.place(root);
    source_.expect_attributes(root, {"base", "transport", "name"});
    overlay_.base = source_.attribute(root, "base");
    overlay_.transport = source_.attribute(root, "transport");
    overlay_.name = source_.attribute(root, "name");
    for (const pugi::xml_node node : root.children()) {
      if (node.type() == pugi::node_element) read_section(node);
    }
    return std::move(overlay_);
  }

 private:
  void read_section(pugi::xml_node section);
  void read_field(pugi::xml_node node);
  void read_component(pugi::xml_node node);
  void read_message(pugi::xml_node node);
  std::vector<OverlayMember> read_members(pugi::xml_node parent, const std::string& where);
  bool expect(pugi::xml_node node, std::string_view element);
  [[nodiscard]] std::optional<bool> flag(pugi::xml_node node, const char* name) const {
    const std::string_view value = node.attribute(name).value();
    if (value == "true" || value == "false") return value == "true";
    return source_.yes_or_no(node, name);
  }
  [[nodiscard]] bool removes(pugi::xml_node node) const { return flag(node, "remove").value_or(false); }

  const XmlSource& source_;
  OverlayModel overlay_;
};

bool OverlayReader::expect(pugi::xml_node node, std::string_view element) {
  if (node.type() != pugi::node_element) return false;
  if (node.name() == element) return true;
  source_.repair(RepairKind::unknown_element, node,
                 std::string("<") + node.parent().name() + "> holds <" + node.name() + ">, which is ignored; write " +
                     std::string(element));
  return false;
}

void OverlayReader::read_section(pugi::xml_node section) {
  const std::string_view name = section.name();
  if (name == "header") {
    overlay_.header = read_members(section, "header");
  } else if (name == "trailer") {
    overlay_.trailer = read_members(section, "trailer");
  } else if (name == "fields") {
    for (const pugi::xml_node node : section.children()) {
      if (expect(node, "field")) read_field(node);
    }
  } else if (name == "components") {
    for (const pugi::xml_node node : section.children()) {
      if (expect(node, "component")) read_component(node);
    }
  } else if (name == "messages") {
    for (const pugi::xml_node node : section.children()) {
      if (expect(node, "message")) read_message(node);
    }
  } else {
    source_.repair(RepairKind::unknown_element, section,
                   "the overlay holds <" + std::string(name) +
                       ">, which is ignored; write fields, messages, components, header or trailer");
  }
}

void OverlayReader::read_field(pugi::xml_node node) {
  source_.expect_attributes(node, {"number", "name", "type", "allowOtherValues", "remove"});
  OverlayField field{.name = std::string(source_.attribute(node, "name")),
                     .type = {},
                     .open = flag(node, "allowOtherValues"),
                     .remove = removes(node),
                     .values = {},
                     .place = source_.place(node)};
  const std::string_view number = source_.attribute(node, "number");
  if (number.empty() && field.name.empty()) {
    source_.repair(RepairKind::missing_attribute, node,
                   "<field> has neither number nor name, and is ignored; write one of them");
    return;
  }
  const std::string what = "field " + (field.name.empty() ? std::string(number) : field.name);
  if (!number.empty()) {
    field.tag = source_.tag(node, number, what);
    if (field.tag == Tag{0}) return;
  }
  if (const std::string_view type = source_.attribute(node, "type"); !type.empty()) {
    field.type = source_.type(node, type, what);
  }
  for (const pugi::xml_node child : node.children()) {
    if (!expect(child, "value")) continue;
    const std::string_view value = source_.identifying(child, "enum");
    if (value.empty()) continue;
    source_.expect_attributes(child, {"enum", "description", "remove"});
    field.values.push_back({std::string(value), std::string(trimmed(child.attribute("description").value())),
                            removes(child), source_.place(child)});
  }
  overlay_.fields.push_back(std::move(field));
}

void OverlayReader::read_component(pugi::xml_node node) {
  std::string name{source_.identifying(node, "name")};
  if (name.empty()) return;
  source_.expect_attributes(node, {"name", "remove"});
  std::vector<OverlayMember> members = read_members(node, "component " + name);
  overlay_.components.push_back({std::move(name), removes(node), std::move(members), source_.place(node)});
}

void OverlayReader::read_message(pugi::xml_node node) {
  source_.expect_attributes(node, {"name", "msgtype", "msgcat", "remove"});
  OverlayMessage message{.name = std::string(source_.identifying(node, "name")),
                         .msg_type = std::string(source_.attribute(node, "msgtype")),
                         .admin = {},
                         .remove = removes(node),
                         .members = {},
                         .place = source_.place(node)};
  if (message.name.empty()) return;
  if (const std::string_view category = source_.attribute(node, "msgcat"); !category.empty()) {
    message.admin = category == "admin";
  }
  message.members = read_members(node, "message " + message.name);
  overlay_.messages.push_back(std::move(message));
}

std::vector<OverlayMember> OverlayReader::read_members(pugi::xml_node parent, const std::string& where) {
  return read_member_tree<OverlayMember>(source_, parent, where, [this](pugi::xml_node node, OverlayMember& member) {
    source_.expect_attributes(node, {"name", "required", "remove", "after"});
    member.required = flag(node, "required");
    member.remove = removes(node);
    member.after = source_.attribute(node, "after");
  });
}

}  // namespace

OverlayModel read_overlay(const XmlSource& source) { return OverlayReader(source).run(); }

OverlayModel read_overlay(std::string_view xml, std::string_view source_name, std::vector<std::string>* problems) {
  Repairs repairs;
  Problems sink(problems, repairs);
  const XmlSource source(xml, source_name, sink);
  const std::string_view root = local_name(source.root());
  OverlayModel overlay;
  if (root == "overlay") {
    overlay = read_overlay(source);
  } else if (root == "repository") {
    overlay = to_overlay(read_orchestra(source, {}, OrchestraUse::overlay));
  } else {
    Problems::fail(source.place(source.root()), "the root element is <" + std::string(source.root().name()) +
                                                    ">; write <overlay base=\"FIX44.xml\"> for an overlay");
  }
  overlay.repairs = std::move(repairs);
  return overlay;
}

}  // namespace nfx
