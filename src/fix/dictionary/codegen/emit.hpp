// Writes files from the intermediate form, with one function per kind of file. The texts are assembled line by line, in
// a stable order and with comments.
#pragma once

#include <string>
#include <string_view>

#include "dictionary/codegen/ir.hpp"

namespace nfx::codegen {

// `digest` covers all other generated files, and is written into fields.hpp.
[[nodiscard]] std::string emit_fields(const Ir& ir, std::uint64_t digest);
[[nodiscard]] std::string emit_group(const Ir& ir, const Group& group);
[[nodiscard]] std::string emit_message(const Ir& ir, const Message& message);
[[nodiscard]] std::string emit_header(const Ir& ir);
[[nodiscard]] std::string emit_shared(const Ir& ir);
[[nodiscard]] std::string emit_all_messages(const Ir& ir);
[[nodiscard]] std::string emit_forward(const Ir& ir);
[[nodiscard]] std::string emit_dispatch(const Ir& ir);
[[nodiscard]] std::string emit_names(const Ir& ir);

// The path of a group's file in the output folder.
[[nodiscard]] std::string group_path(const Group& group);

// Helpers for the files above.

template <typename... Part>
void line(std::string& out, const Part&... parts) {
  (out.append(std::string_view{parts}), ...);
  out += '\n';
}

[[nodiscard]] std::string number(Tag tag);                      // "44"
[[nodiscard]] std::string tag_text(Tag tag);                    // "nfx::Tag{44}"
[[nodiscard]] std::string comment_text(std::string_view text);  // on one line, whatever it contains
[[nodiscard]] std::string string_literal(std::string_view text);
[[nodiscard]] std::string character_literal(char c);

// Writes the mark with the source's name, `about`, and #pragma once.
void emit_top(std::string& out, const Ir& ir, std::string_view about);

// Members of the readers and builders of a message, of the header, of an entry. A setter returns `self`, whose type is
// `class_name`.
void emit_reader_members(std::string& out, const Ir& ir, const std::vector<Member>& members);
void emit_builder_members(std::string& out, const Ir& ir, const std::vector<Member>& members,
                          std::string_view class_name, std::string_view self);
void emit_required_tags(std::string& out, const std::vector<Member>& members);
void emit_required(std::string& out, const std::vector<Member>& members);
[[nodiscard]] std::size_t count_required(const std::vector<Member>& members);
// #include lines for the groups among the members; `folder` is the path to them from the including file.
void emit_group_includes(std::string& out, const Ir& ir, const std::vector<Member>& members, std::string_view folder);

}  // namespace nfx::codegen
