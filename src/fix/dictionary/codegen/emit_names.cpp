// Writes names.hpp: the names that to_string() prints instead of numbers.
#include "dictionary/codegen/emit.hpp"

namespace nfx::codegen {
namespace {

std::string named_value(const std::string& value, const std::string& name) {
  return "      {" + string_literal(value) + ", " + string_literal(name) + "},";
}

}  // namespace

std::string emit_names(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "Messages as text, with the names of fields and values: to_string(message).");
  line(out, "#pragma once");
  line(out);
  line(out, "#include <string>");
  line(out);
  line(out, "#include \"nexusfix/dictionary/generated.hpp\"");
  line(out);
  line(out, "namespace ", ir.name_space, " {");
  line(out);
  line(out, "struct Names {");
  line(out, "  static constexpr nfx::generated::NamedValue messages[] = {");
  for (const auto& [msg_type, name] : ir.named_messages) line(out, named_value(msg_type, name));
  line(out, "  };");
  for (const NamedField& field : ir.named_fields) {
    if (field.values.empty()) continue;
    line(out, "  static constexpr nfx::generated::NamedValue values_of_", number(field.tag), "[] = {");
    for (const auto& [value, name] : field.values) line(out, named_value(value, name));
    line(out, "  };");
  }
  line(out, "  static constexpr nfx::generated::NamedField fields[] = {");
  for (const NamedField& field : ir.named_fields) {
    line(out, "      {", tag_text(field.tag), ", ", string_literal(field.name), ", ",
         field.values.empty() ? "{}" : "values_of_" + number(field.tag), "},");
  }
  line(out, "  };");
  line(out, "  static constexpr nfx::generated::MessageNames all{messages, fields};");
  line(out, "};");
  line(out);
  line(out, "[[nodiscard]] inline std::string to_string(const nfx::MessageView& message) {");
  line(out, "  return nfx::generated::message_text(message, Names::all);");
  line(out, "}");
  line(out, "// Of each class of this namespace, without naming the namespace.");
  line(out, "template <typename Message>");
  line(out, "  requires requires(const Message& message) {");
  line(out, "    Message::msg_type;");
  line(out, "    { message.view() } -> std::same_as<const nfx::MessageView&>;");
  line(out, "  }");
  line(out, "[[nodiscard]] std::string to_string(const Message& message) {");
  line(out, "  return to_string(message.view());");
  line(out, "}");
  line(out);
  line(out, "}  // namespace ", ir.name_space);
  return out;
}

}  // namespace nfx::codegen
