// Writes a message field by field, with names from the tables.
#include "nexusfix/dictionary/generated.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "wire/secret_fields.hpp"

namespace nfx::generated {
namespace {

std::string_view name_of(std::string_view value, std::span<const NamedValue> values) {
  const auto found = std::ranges::find(values, value, &NamedValue::value);
  return found == values.end() ? std::string_view{} : found->name;
}

const NamedField* find_field(Tag tag, std::span<const NamedField> fields) {
  const auto found = std::ranges::lower_bound(fields, tag, {}, &NamedField::tag);
  return found == fields.end() || found->tag != tag ? nullptr : &*found;
}

// " (BUY)", or all names if the value lists several: "G 6" of ExecInst(18).
void append_value_names(std::string& out, std::string_view value, std::span<const NamedValue> values) {
  std::string text;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(' ', begin), value.size());
    if (const std::string_view name = name_of(value.substr(begin, end - begin), values); !name.empty()) {
      text += text.empty() ? "" : " ";
      text += name;
    }
    begin = end + 1;
  }
  if (!text.empty()) out += " (" + text + ")";
}

}  // namespace

std::string message_text(const MessageView& message, const MessageNames& names) {
  std::string out;
  const std::string_view message_name = name_of(message.msg_type(), names.messages);
  append_printable(out, message_name.empty() ? message.msg_type() : message_name);
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    const auto [tag, value] = message[i];
    if (tag == Tag::BeginString || tag == Tag::BodyLength || tag == Tag::MsgType || tag == Tag::CheckSum) continue;
    const NamedField* field = find_field(tag, names.fields);
    const std::string number = std::to_string(nfx::value(tag));
    out += " | ";
    out += field ? std::string{field->name} + "(" + number + ")" : number;
    out += '=';
    if (is_secret(tag)) {
      out += masked_text;
      continue;
    }
    append_printable(out, value);
    if (field) append_value_names(out, value, field->values);
  }
  return out;
}

}  // namespace nfx::generated
