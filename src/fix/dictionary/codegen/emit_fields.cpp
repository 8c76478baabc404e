// Writes fields.hpp, with the enumerations of all fields.

#include "base/text.hpp"
#include "dictionary/codegen/emit.hpp"

namespace nfx::codegen {
namespace {

// A switch, not a table: a program that does not use it compiles it at almost no cost.
void emit_enumeration(std::string& out, const Enumeration& enumeration) {
  const bool of_characters = enumeration.kind == EnumKind::character;
  line(out, "// ", comment_text(enumeration.field), "(", number(enumeration.tag), ")",
       enumeration.open ? "; other values are allowed too" : "");
  line(out, "enum class ", enumeration.name, of_characters ? " : char {" : " : std::int32_t {");
  for (const Enumerator& each : enumeration.values) {
    line(out, "  ", each.name, " = ", of_characters ? character_literal(each.value[0]) : each.value, ",");
  }
  line(out, "};");
  line(out, "inline constexpr ", enumeration.name, " ", enumeration.function, "_values[] = {");
  for (const Enumerator& each : enumeration.values) line(out, "    ", enumeration.name, "::", each.name, ",");
  line(out, "};");
  line(out, "[[nodiscard]] constexpr const auto& values_of(", enumeration.name, ") noexcept { return ",
       enumeration.function, "_values; }");
  line(out, "[[nodiscard]] constexpr std::string_view to_text(", enumeration.name, " value) noexcept {");
  line(out, "  switch (value) {");
  for (const Enumerator& each : enumeration.values) {
    line(out, "    case ", enumeration.name, "::", each.name, ": return ", string_literal(each.label), ";");
  }
  line(out, "  }");
  line(out, "  return {};");
  line(out, "}");
  line(out);
}

void emit_constants(std::string& out, const Enumeration& enumeration) {
  line(out, "// ", comment_text(enumeration.field), "(", number(enumeration.tag), "): a text",
       enumeration.open ? "; other values are allowed too" : "");
  line(out, "struct ", enumeration.name, " {");
  for (const Enumerator& each : enumeration.values) {
    line(out, "  static constexpr std::string_view ", each.name, " = ", string_literal(each.value), ";");
  }
  line(out, "};");
  line(out);
}

}  // namespace

std::string emit_fields(const Ir& ir, std::uint64_t digest) {
  std::string out;
  emit_top(out, ir, "The values that fields may have.");
  line(out,
       "// Every file generated with this one includes it, and it changes when one of them does: ", hexadecimal(digest),
       ".");
  line(out, "#pragma once");
  line(out);
  line(out, "#include <cstdint>");
  line(out, "#include <string_view>");
  line(out);
  line(out, "#include \"nexusfix/dictionary/generated.hpp\"");
  line(out);
  line(out, "namespace ", ir.name_space, " {");
  line(out);
  for (const Enumeration& enumeration : ir.enumerations) {
    switch (enumeration.kind) {
      case EnumKind::character:
      case EnumKind::integer: emit_enumeration(out, enumeration); break;
      case EnumKind::text: emit_constants(out, enumeration); break;
    }
  }
  line(out, "}  // namespace ", ir.name_space);
  return out;
}

}  // namespace nfx::codegen
