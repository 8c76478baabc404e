// Writes the members of readers and builders for each field; also helpers for all files.
#include <algorithm>

#include "dictionary/codegen/emit.hpp"

namespace nfx::codegen {
namespace {

// "Price(44)".
std::string about(const Member& member) { return comment_text(member.field) + "(" + number(member.tag) + ")"; }

struct Getter {
  std::string type;
  std::string call;
};

Getter getter_of(const Ir& ir, const Member& member) {
  const std::string on = "view().";
  const std::string source = "view()";
  const std::string tag = tag_text(member.tag);
  const auto typed = [&](std::string_view type, std::string_view function) {
    return Getter{"nfx::generated::Result<" + std::string{type} + ">", on + std::string{function} + "(" + tag + ")"};
  };
  switch (member.kind) {
    case ValueKind::integer: return typed("std::int64_t", "get_int");
    case ValueKind::seq_num:
      return {"nfx::generated::Result<nfx::SeqNum>", "nfx::generated::get_seq_num(" + source + ", " + tag + ")"};
    case ValueKind::decimal: return typed("nfx::Decimal", "get_decimal");
    case ValueKind::character: return typed("char", "get_char");
    case ValueKind::boolean: return typed("bool", "get_bool");
    case ValueKind::utc_timestamp: return typed("nfx::UtcTimestamp", "get_utc_timestamp");
    case ValueKind::text:
    case ValueKind::data: return {"std::string_view", on + "get_view(" + tag + ")"};
    case ValueKind::enumerated: {
      const Enumeration& enumeration = ir.enumerations[member.enumeration];
      return {"nfx::generated::Result<" + enumeration.name + ">",
              "nfx::generated::get_enum<" + enumeration.name + ", nfx::generated::Listing::" +
                  (enumeration.open ? "open" : "closed") + ">(" + source + ", " + tag + ")"};
    }
    case ValueKind::group: {
      const std::string range = "nfx::generated::Group<" + ir.groups[member.group].name + ">";
      return {range, range + "{" + on + "group(" + ir.groups[member.group].name + "::shape)}"};
    }
  }
  return {};
}

// The parameters of a setter, and the arguments it passes to the writer.
struct Setter {
  std::string parameters;
  std::string arguments;
};

Setter setter_of(const Ir& ir, const Member& member) {
  const auto given = [](std::string_view type) {
    return Setter{"nfx::generated::Given<" + std::string{type} + "> value", "value"};
  };
  switch (member.kind) {
    case ValueKind::integer: return given("std::int64_t");
    case ValueKind::seq_num: return given("nfx::SeqNum");
    case ValueKind::decimal: return given("nfx::Decimal");
    case ValueKind::character: return given("char");
    case ValueKind::boolean: return given("bool");
    case ValueKind::utc_timestamp:
      return {"nfx::generated::Given<nfx::UtcTime> value, unsigned fraction_digits = 3", "value, fraction_digits"};
    case ValueKind::text: return given("std::string_view");
    case ValueKind::data:
      if (member.length_tag == Tag{}) return given("std::string_view");
      return {"std::string_view value", "value"};
    case ValueKind::enumerated: return given(ir.enumerations[member.enumeration].name);
    case ValueKind::group: return {"std::uint32_t count", "count"};
  }
  return {};
}

bool counts_as_required(const Member& member) { return member.required && !member.set_by_data; }

}  // namespace

std::string number(Tag tag) { return std::to_string(value(tag)); }
std::string tag_text(Tag tag) { return "nfx::Tag{" + number(tag) + "}"; }

std::string comment_text(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    // A backslash at the end would continue the comment on the next line.
    if (static_cast<unsigned char>(c) < ' ' || c == '\\' || c == '\x7f') c = ' ';
  }
  return result;
}

std::string character_literal(char c) {
  if (c == '\'' || c == '\\') return {'\'', '\\', c, '\''};
  return {'\'', c, '\''};
}

std::string string_literal(std::string_view text) {
  constexpr std::string_view digits = "01234567";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < ' ' || byte >= 127) {
      result += {'\\', digits[byte >> 6], digits[byte >> 3 & 7], digits[byte & 7]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

void emit_top(std::string& out, const Ir& ir, std::string_view about) {
  line(out, generated_file_mark, comment_text(ir.source), ". What is written here is lost the next time.");
  line(out, "// ", about);
}

// With `auto`, the compiler instantiates the result type only for fields that a program uses.
void emit_reader_members(std::string& out, const Ir& ir, const std::vector<Member>& members) {
  for (const Member& member : members) {
    const Getter getter = getter_of(ir, member);
    const bool is_template = getter.type.ends_with('>');
    line(out);
    line(out, "  // ", about(member), ": ", getter.type);
    line(out, "  [[nodiscard, gnu::always_inline]] ", is_template ? "auto" : getter.type, " ", member.name,
         "() const noexcept {");
    line(out, "    return ", getter.call, ";");
    line(out, "  }");
    line(out, "  [[nodiscard]] bool has_", member.name, "() const noexcept { return view().has(", tag_text(member.tag),
         "); }");
  }
}

void emit_builder_members(std::string& out, const Ir& ir, const std::vector<Member>& members,
                          std::string_view class_name, std::string_view self) {
  for (const Member& member : members) {
    if (member.set_by_data) continue;
    const Setter setter = setter_of(ir, member);
    line(out);
    line(out, "  // ", about(member));
    if (member.kind == ValueKind::group) {
      const std::string& entry = ir.groups[member.group].name;
      line(out, "  [[nodiscard, gnu::always_inline]] nfx::generated::GroupBuilder<Writer, ", entry, "Builder>");
      line(out, "  ", member.name, "(", setter.parameters, ") noexcept {");
      line(out, "    return ", self, "template put_count<", tag_text(member.tag), ", ", entry, "Builder>(",
           setter.arguments, ");");
    } else {
      line(out, "  [[gnu::always_inline]] ", class_name, "& ", member.name, "(", setter.parameters, ") noexcept {");
      const bool with_length = member.kind == ValueKind::data && member.length_tag != Tag{};
      line(out, "    return ", self, "template ",
           with_length ? "put_data<" + tag_text(member.length_tag) + ", " : "put<", tag_text(member.tag), ">(",
           setter.arguments, ");");
    }
    line(out, "  }");
  }
}

std::size_t count_required(const std::vector<Member>& members) {
  return static_cast<std::size_t>(std::ranges::count_if(members, counts_as_required));
}

void emit_required_tags(std::string& out, const std::vector<Member>& members) {
  std::string tags, names;
  for (const Member& member : members) {
    if (!counts_as_required(member)) continue;
    tags += (tags.empty() ? "" : ", ") + tag_text(member.tag);
    names += (names.empty() ? "" : ", ") + about(member);
  }
  if (!names.empty()) line(out, "  // ", names, ".");
  line(out, "  static constexpr std::array<nfx::Tag, ", std::to_string(count_required(members)), "> required{", tags,
       "};");
}

void emit_required(std::string& out, const std::vector<Member>& members) {
  const std::string count = std::to_string(count_required(members));
  emit_required_tags(out, members);
  line(out, "  // Required fields that are not set yet.");
  line(out, "  [[nodiscard]] nfx::generated::MissingFields<", count, "> missing() const noexcept {");
  line(out, "    return this->missing_of(required);");
  line(out, "  }");
}

void emit_group_includes(std::string& out, const Ir& ir, const std::vector<Member>& members, std::string_view folder) {
  std::vector<std::string> files;
  for (const Member& member : members) {
    if (member.group != none) files.push_back(ir.groups[member.group].file);
  }
  std::ranges::sort(files);
  const auto [end, last] = std::ranges::unique(files);
  files.erase(end, last);
  for (const std::string& file : files) line(out, "#include \"", folder, file, ".hpp\"");
}

}  // namespace nfx::codegen
