// Writes message and group headers, with one reader and one builder class each.
#include "dictionary/codegen/emit.hpp"

namespace nfx::codegen {
namespace {

// ", public Shared1Fields<NewsFields<View>, View>" for each base class.
std::string shared_readers(const Ir& ir, const Fields& fields, const std::string& name) {
  std::string bases;
  for (const std::size_t each : fields.shared)
    bases += ", public " + ir.shared[each].name + "Fields<" + name + "Fields<View>, View>";
  return bases;
}
std::string shared_setters(const Ir& ir, const Fields& fields, const std::string& name) {
  std::string bases;
  for (const std::size_t each : fields.shared)
    bases += ", public " + ir.shared[each].name + "Setters<" + name + "<Writer>>";
  return bases;
}

std::string first_base(std::string bases) {
  if (!bases.empty()) bases.replace(0, 1, " :");
  return bases;
}

// The classes are templates, so that only the functions that a program calls are compiled.
void emit_reader(std::string& out, const Ir& ir, const Message& message) {
  const std::string& name = message.name;
  const bool is_header = message.msg_type.empty();
  if (!is_header) {
    line(out, "template <typename Writer>");
    line(out, "class ", name, "Builder;");
  }
  line(out, "template <typename View>");
  line(out, "class ", name, "Fields", first_base(shared_readers(ir, message.fields, name)), " {");
  line(out, " public:");
  if (!is_header) {
    line(out, "  static constexpr std::string_view msg_type = ", string_literal(message.msg_type), ";");
    line(out, "  static constexpr std::string_view fix_version = ", string_literal(ir.begin_string), ";");
    line(out, "  template <typename Writer>");
    line(out, "  using Builder = ", name, "Builder<Writer>;");
    line(out);
  }
  line(out, "  explicit ", name, "Fields(const View& view) noexcept : view_(&view) {}");
  line(out, "  explicit ", name, "Fields(const View&&) = delete;");
  line(out);
  line(out, "  [[nodiscard, gnu::always_inline]] const View& view() const noexcept { return *view_; }");
  if (!is_header) {
    emit_required_tags(out, message.fields.all);
    line(out, "  // The first required field that is missing; empty: none.");
    line(out, "  [[nodiscard]] std::optional<nfx::Tag> missing() const noexcept {");
    line(out, "    return nfx::generated::first_missing(view(), required);");
    line(out, "  }");
  }
  emit_reader_members(out, ir, message.fields.own);
  line(out);
  line(out, " private:");
  line(out, "  const View* view_;");
  line(out, "};");
  line(out, "using ", name, " = ", name, "Fields<nfx::MessageView>;");
}

void emit_builder(std::string& out, const Ir& ir, const Message& message) {
  const std::string name = message.name + "Builder";
  std::string high_tags;  // tags beyond the range that has bits in every builder
  std::size_t high_count = 0;
  for (const Member& member : message.fields.all) {
    if (value(member.tag) > 1023) high_tags += (high_count++ == 0 ? "" : ", ") + tag_text(member.tag);
  }
  const std::string base = "nfx::generated::MessageBuilder<" + name + "<Writer>, Writer, " +
                           std::to_string(count_required(message.fields.all)) +
                           (high_count == 0 ? "" : ", " + std::to_string(high_count)) + ">";
  line(out, "template <typename Writer>");
  line(out, "class ", name, " : public ", base, shared_setters(ir, message.fields, name), " {");
  line(out, "  using Base = ", base, ";");
  line(out);
  line(out, " public:");
  line(out, "  static constexpr std::string_view msg_type = ", string_literal(message.msg_type), ";");
  emit_required(out, message.fields.all);
  if (high_count != 0)
    line(out, "  static constexpr std::array<nfx::Tag, ", std::to_string(high_count), "> tags_above_1023{", high_tags,
         "};");
  line(out);
  line(out, "  using Base::Base;");
  emit_builder_members(out, ir, message.fields.own, name, "this->");
  line(out, "};");
  line(out, name, "(std::span<char>) -> ", name, "<nfx::FieldWriter>;");
  line(out, name, "(nfx::FieldWriter&) -> ", name, "<nfx::FieldWriter&>;");
}

void emit_shared_fields(std::string& out, const Ir& ir, const SharedFields& shared) {
  line(out, "// Of ", shared.classes, ".");
  line(out, "template <typename Self, typename View>");
  line(out, "class ", shared.name, "Fields {");
  line(out, " public:");
  emit_reader_members(out, ir, shared.members);
  line(out);
  line(out, " private:");
  line(out, "  [[nodiscard, gnu::always_inline]] const View& view() const noexcept {");
  line(out, "    return static_cast<const Self&>(*this).view();");
  line(out, "  }");
  line(out, "};");
  line(out, "template <typename Self>");
  line(out, "class ", shared.name, "Setters {");
  line(out, " public:");
  emit_builder_members(out, ir, shared.members, "Self", "self().");
  line(out);
  line(out, " private:");
  line(out, "  [[gnu::always_inline]] Self& self() noexcept { return static_cast<Self&>(*this); }");
  line(out, "};");
}

void emit_shape(std::string& out, const Ir& ir, const Group& group) {
  std::string tags, nested;
  for (const Member& member : group.fields.all) {
    tags += (tags.empty() ? "" : ", ") + tag_text(member.tag);
    if (member.group != none) nested += (nested.empty() ? "" : ", ") + ir.groups[member.group].name + "::shape";
  }
  line(out, "struct ", group.name, "Shape {");
  line(out, "  static constexpr nfx::Tag member_tags[] = {", tags, "};");
  if (!nested.empty()) line(out, "  static constexpr nfx::GroupShape nested_shapes[] = {", nested, "};");
  line(out, "  static constexpr nfx::GroupShape shape{", tag_text(group.count), ", member_tags, ",
       nested.empty() ? "{}" : "nested_shapes", "};");
  line(out, "};");
}

void emit_entry_reader(std::string& out, const Ir& ir, const Group& group) {
  line(out, "template <typename View>");
  line(out, "class ", group.name, "Fields : public ", group.name, "Shape", shared_readers(ir, group.fields, group.name),
       " {");
  line(out, " public:");
  line(out, "  [[gnu::always_inline]] explicit ", group.name, "Fields(const View& entry) noexcept : entry_(entry) {}");
  line(out);
  line(out, "  [[nodiscard, gnu::always_inline]] const View& view() const noexcept { return entry_; }");
  emit_reader_members(out, ir, group.fields.own);
  line(out);
  line(out, " private:");
  line(out, "  View entry_;");
  line(out, "};");
  line(out, "using ", group.name, " = ", group.name, "Fields<nfx::GroupEntry>;");
}

void emit_entry_builder(std::string& out, const Ir& ir, const Group& group) {
  const std::string name = group.name + "Builder";
  const std::string base = "nfx::generated::EntryBuilder<" + name + "<Writer>, Writer, " +
                           std::to_string(count_required(group.fields.all)) + ">";
  line(out, "template <typename Writer>");
  line(out, "class ", name, " : public ", base, shared_setters(ir, group.fields, name), " {");
  line(out, "  using Base = ", base, ";");
  line(out);
  line(out, " public:");
  line(out, "  using Shape = ", group.name, "Shape;");
  emit_required(out, group.fields.all);
  line(out);
  line(out, "  using Base::Base;");
  emit_builder_members(out, ir, group.fields.own, name, "this->");
  line(out, "};");
}

void emit_includes(std::string& out, std::string_view fields, const Ir& ir, const std::vector<Member>& members,
                   std::string_view folder) {
  line(out, "#pragma once");
  line(out);
  line(out, "#include \"", fields, "\"");
  emit_group_includes(out, ir, members, folder);
  line(out);
  line(out, "namespace ", ir.name_space, " {");
  line(out);
}

void emit_end(std::string& out, const Ir& ir) {
  line(out);
  line(out, "}  // namespace ", ir.name_space);
}

}  // namespace

std::string group_path(const Group& group) { return "groups/" + group.file + ".hpp"; }

std::string emit_group(const Ir& ir, const Group& group) {
  std::string out;
  emit_top(out, ir, "An entry of the group counted by " + comment_text(group.field) + "(" + number(group.count) + ").");
  emit_includes(out, group.fields.shared.empty() ? "../fields.hpp" : "../shared.hpp", ir, group.fields.all, "");
  emit_shape(out, ir, group);
  line(out);
  emit_entry_reader(out, ir, group);
  line(out);
  emit_entry_builder(out, ir, group);
  emit_end(out, ir);
  return out;
}

std::string emit_message(const Ir& ir, const Message& message) {
  std::string out;
  emit_top(out, ir, message.name + ", MsgType " + comment_text(message.msg_type) + ".");
  emit_includes(out, message.fields.shared.empty() ? "fields.hpp" : "shared.hpp", ir, message.fields.all, "groups/");
  emit_reader(out, ir, message);
  line(out);
  emit_builder(out, ir, message);
  emit_end(out, ir);
  return out;
}

std::string emit_header(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "The header fields of every message.");
  emit_includes(out, "fields.hpp", ir, ir.header, "groups/");
  emit_reader(out, ir,
              {.name = "Header", .file = {}, .msg_type = {}, .fields = {.all = {}, .shared = {}, .own = ir.header}});
  emit_end(out, ir);
  return out;
}

std::string emit_shared(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "Functions for fields that several messages or groups have.");
  emit_includes(out, "fields.hpp", ir, {}, {});
  for (const SharedFields& shared : ir.shared) emit_shared_fields(out, ir, shared);
  emit_end(out, ir);
  return out;
}

std::string emit_all_messages(const Ir& ir) {
  std::string out;
  emit_top(out, ir, "All messages.");
  line(out, "#pragma once");
  line(out);
  line(out, "#include \"fields.hpp\"");
  line(out, "#include \"header.hpp\"");
  line(out, "#include \"dispatch.hpp\"");
  for (const Message& message : ir.messages) line(out, "#include \"", message.file, ".hpp\"");
  return out;
}

}  // namespace nfx::codegen
