// Writes models and overlays as XML that the readers parse back to the same model.
#include "dictionary/model_writer.hpp"

#include <algorithm>

#include "dictionary/model_overlay.hpp"

namespace nfx {

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"");
  for (const char c : value) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        // Other control characters are invalid in XML, even as references; no FIX value has one.
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
        } else {
          out.append("&#").append(std::to_string(static_cast<int>(c))).append(";");
        }
    }
  }
  out += '"';
}

namespace {

void append_members(std::string& out, const std::vector<ModelMember>& members, std::size_t depth) {
  for (const ModelMember& member : members) {
    const std::string_view element = to_string(member.kind);
    out.append(2 * depth, ' ').append("<").append(element);
    append_attribute(out, "name", member.name);
    append_attribute(out, "required", member.required ? "Y" : "N");
    if (member.kind != MemberKind::group) {
      out += "/>\n";
      continue;
    }
    out += ">\n";
    append_members(out, member.members, depth + 1);
    out.append(2 * depth, ' ').append("</").append(element).append(">\n");
  }
}

// `start` is the element with its attributes, without the closing characters.
void append_element(std::string& out, std::string_view name, const std::string& start,
                    const std::vector<ModelMember>& members, std::size_t depth) {
  out.append(2 * depth, ' ').append(start);
  if (members.empty()) {
    out += "/>\n";
    return;
  }
  out += ">\n";
  append_members(out, members, depth + 1);
  out.append(2 * depth, ' ').append("</").append(name).append(">\n");
}

void append_fields(std::string& out, const DictionaryModel& model) {
  std::vector<const ModelField*> fields;
  for (const ModelField& field : model.fields) fields.push_back(&field);
  std::ranges::sort(fields, {}, &ModelField::tag);
  for (const ModelField* field : fields) {
    out += "    <field";
    append_attribute(out, "number", std::to_string(value(field->tag)));
    append_attribute(out, "name", field->name);
    append_attribute(out, "type", to_string(field->type));
    if (field->open) append_attribute(out, "allowOtherValues", "Y");
    out += field->values.empty() ? "/>\n" : ">\n";
    for (const ModelValue& value : field->values) {
      out += "      <value";
      append_attribute(out, "enum", value.value);
      append_attribute(out, "description", value.name);
      out += "/>\n";
    }
    if (!field->values.empty()) out += "    </field>\n";
  }
}

}  // namespace

std::string to_xml(const DictionaryModel& model) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fix";
  append_attribute(out, "type", model.version.type);
  append_attribute(out, "major", model.version.major);
  append_attribute(out, "minor", model.version.minor);
  append_attribute(out, "servicepack", model.version.service_pack);
  if (model.application) append_attribute(out, "application", model.application->name());
  out += ">\n";
  append_element(out, "header", "<header", model.header, 1);
  out += "  <messages>\n";
  for (const ModelMessage& message : model.messages) {
    std::string start = "<message";
    append_attribute(start, "name", message.name);
    append_attribute(start, "msgtype", message.msg_type);
    append_attribute(start, "msgcat", message.admin ? "admin" : "app");
    append_element(out, "message", start, message.members, 2);
  }
  out += "  </messages>\n";
  append_element(out, "trailer", "<trailer", model.trailer, 1);
  out += "  <components>\n";
  for (const ModelComponent& component : model.components) {
    std::string start = "<component";
    append_attribute(start, "name", component.name);
    append_element(out, "component", start, component.members, 2);
  }
  out += "  </components>\n  <fields>\n";
  append_fields(out, model);
  return out + "  </fields>\n</fix>\n";
}

namespace {

void append_change(std::string& out, const OverlayMember& member, std::size_t depth) {
  const std::string_view element = to_string(member.kind);
  out.append(2 * depth, ' ').append("<").append(element);
  append_attribute(out, "name", member.name);
  if (member.required) append_attribute(out, "required", *member.required ? "Y" : "N");
  if (!member.after.empty()) append_attribute(out, "after", member.after);
  if (member.remove) append_attribute(out, "remove", "Y");
  if (member.members.empty()) {
    out += "/>\n";
    return;
  }
  out += ">\n";
  for (const OverlayMember& inner : member.members) append_change(out, inner, depth + 1);
  out.append(2 * depth, ' ').append("</").append(element).append(">\n");
}

void append_changes(std::string& out, std::string_view name, const std::string& start,
                    const std::vector<OverlayMember>& members, std::size_t depth) {
  out.append(2 * depth, ' ').append(start);
  if (members.empty()) {
    out += "/>\n";
    return;
  }
  out += ">\n";
  for (const OverlayMember& member : members) append_change(out, member, depth + 1);
  out.append(2 * depth, ' ').append("</").append(name).append(">\n");
}

void append_field_change(std::string& out, const OverlayField& field) {
  out += "    <field";
  if (field.tag != Tag{0}) append_attribute(out, "number", std::to_string(value(field.tag)));
  if (!field.name.empty()) append_attribute(out, "name", field.name);
  if (field.type) append_attribute(out, "type", to_string(*field.type));
  if (field.open) append_attribute(out, "allowOtherValues", *field.open ? "Y" : "N");
  if (field.remove) append_attribute(out, "remove", "Y");
  out += field.values.empty() ? "/>\n" : ">\n";
  for (const OverlayValue& value : field.values) {
    out += "      <value";
    append_attribute(out, "enum", value.value);
    if (!value.name.empty()) append_attribute(out, "description", value.name);
    if (value.remove) append_attribute(out, "remove", "Y");
    out += "/>\n";
  }
  if (!field.values.empty()) out += "    </field>\n";
}

}  // namespace

std::string overlay_to_xml(const OverlayModel& overlay) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<overlay";
  if (!overlay.base.empty()) append_attribute(out, "base", overlay.base);
  if (!overlay.transport.empty()) append_attribute(out, "transport", overlay.transport);
  if (!overlay.name.empty()) append_attribute(out, "name", overlay.name);
  out += ">\n";
  if (!overlay.fields.empty()) out += "  <fields>\n";
  for (const OverlayField& field : overlay.fields) append_field_change(out, field);
  if (!overlay.fields.empty()) out += "  </fields>\n";
  if (!overlay.components.empty()) out += "  <components>\n";
  for (const OverlayComponent& component : overlay.components) {
    std::string start = "<component";
    append_attribute(start, "name", component.name);
    if (component.remove) append_attribute(start, "remove", "Y");
    append_changes(out, "component", start, component.members, 2);
  }
  if (!overlay.components.empty()) out += "  </components>\n";
  if (!overlay.header.empty()) append_changes(out, "header", "<header", overlay.header, 1);
  if (!overlay.messages.empty()) out += "  <messages>\n";
  for (const OverlayMessage& message : overlay.messages) {
    std::string start = "<message";
    append_attribute(start, "name", message.name);
    if (!message.msg_type.empty()) append_attribute(start, "msgtype", message.msg_type);
    if (message.admin) append_attribute(start, "msgcat", *message.admin ? "admin" : "app");
    if (message.remove) append_attribute(start, "remove", "Y");
    append_changes(out, "message", start, message.members, 2);
  }
  if (!overlay.messages.empty()) out += "  </messages>\n";
  if (!overlay.trailer.empty()) append_changes(out, "trailer", "<trailer", overlay.trailer, 1);
  return out + "</overlay>\n";
}

}  // namespace nfx
