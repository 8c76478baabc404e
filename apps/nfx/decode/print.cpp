// Formats decoded messages as text or JSON, with secrets masked and values from the network escaped.
#include "decode/print.hpp"

#include <algorithm>

#include "nexusfix/wire/standard_fields.hpp"
#include "output.hpp"

namespace nfx::app {
namespace {

void append_type(SafeText& out, const DecodedMessage& message) {
  if (message.found.too_long) {
    out += "FIX message";
  } else if (message.type_name.empty()) {
    out += message.msg_type.empty() ? "message without MsgType" : "MsgType ";
    out += message.msg_type;
  } else {
    out += message.type_name;
    out += " (";
    out += message.msg_type;
    out += ')';
  }
}

// "line 3: NewOrderSingle (D) #2 CLIENT -> VENUE 20240102-12:00:00 FIX.4.4  [prefix]"
void append_header(SafeText& out, const DecodedMessage& message, const PrintOptions& options) {
  const Palette& palette = options.palette;
  out += palette(Colour::dim);
  if (options.place.empty()) {
    out.add("line {}", message.found.line);
  } else {
    out += options.place;
  }
  out += ": ";
  out += palette(Colour::plain);
  out += palette(Colour::bold);
  append_type(out, message);
  out += palette(Colour::plain);
  if (!message.seq.empty()) {
    out += " #";
    out += message.seq;
  }
  if (!message.sender.empty() || !message.target.empty()) {
    out += ' ';
    out += message.sender;
    out += " -> ";
    out += message.target;
  }
  for (const std::string_view text : {message.time, message.begin_string}) {
    if (text.empty()) continue;
    out += ' ';
    out += text;
  }
  if (!message.found.prefix.empty()) {
    out += palette(Colour::dim);
    out += "  [";
    out += message.found.prefix;
    out += ']';
    out += palette(Colour::plain);
  }
}

// Appends the errors, each after `before`.
void append_verdicts(SafeText& out, const DecodedMessage& message, const Palette& palette, Literal before,
                     Literal after) {
  const auto append = [&](Colour colour, std::string_view label, const std::string& text) {
    if (text.empty()) return;
    out += before;
    out += palette(colour);
    out += label;
    out += text;
    out += palette(Colour::plain);
    out += after;
  };
  append(Colour::red, "BAD: ", message.problem);
  append(Colour::red, "INVALID: ", message.violation);
  append(Colour::yellow, "not validated: ", message.not_validated);
}

std::string_view meaning_of(const DecodedMessage& message, const DecodedField& field) {
  if (message.dictionary == nullptr || field.secret) return {};
  if (field.tag == Tag::MsgType) return message.dictionary->message_name(field.value);
  return message.dictionary->value_name(field.tag, field.value);
}

std::string_view name_of(const DecodedMessage& message, const DecodedField& field) {
  return message.dictionary == nullptr ? std::string_view{} : message.dictionary->field_name(field.tag);
}

void append_field_value(SafeText& out, const DecodedField& field, bool show_secrets) {
  if (field.secret && !show_secrets) {
    out += "***";
  } else {
    out += field.value;
  }
}

void append_field(SafeText& out, const DecodedMessage& message, const DecodedField& field,
                  const PrintOptions& options) {
  const Palette& palette = options.palette;
  const std::size_t indent = 2 + 4 * std::size_t{field.depth};
  std::size_t start = out.size();
  if (field.starts_entry) {
    out.append_spaces(indent - 4);
    out.add("[{}]", field.entry);
  }
  out.pad_to(start, indent);
  if (!field.readable) {
    out += palette(Colour::red);
    out += "    ? not a field              ";
    append_field_value(out, field, options.show_secrets);
    out += palette(Colour::plain);
    out += '\n';
    return;
  }
  const std::string tag = std::to_string(value(field.tag));
  out += palette(Colour::cyan);
  if (tag.size() < 5) out.append_spaces(5 - tag.size());
  out += tag;
  out += palette(Colour::plain);
  out += ' ';
  start = out.size();
  out += name_of(message, field);
  out.pad_to(start, 24);
  out += ' ';
  append_field_value(out, field, options.show_secrets);
  if (const std::string_view meaning = meaning_of(message, field); !meaning.empty()) {
    out += palette(Colour::green);
    out += " (";
    out += meaning;
    out += ')';
    out += palette(Colour::plain);
  }
  out += '\n';
}

// After a comma. Quotes are needed where a value contains the characters of the format.
void append_csv_value(SafeText& out, std::string_view value) {
  out += ',';
  if (value.find_first_of(",\"") == std::string_view::npos) {
    out += value;
    return;
  }
  out += '"';
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t quote = std::min(value.find('"', at), value.size());
    out += value.substr(at, quote - at);
    if (quote < value.size()) out += "\"\"";
    at = quote + 1;
  }
  out += '"';
}

// JSON.

void append_json_member(SafeText& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  out += ",\"";
  out += name;
  out += "\":";
  append_json_text(out, text);
}

// Appends the fields from `at` on with this depth and entry; returns the index after the last one.
std::size_t append_json_fields(SafeText& out, const DecodedMessage& message, std::size_t at, std::uint8_t depth,
                               bool show_secrets) {
  const auto& fields = message.fields;
  out += '[';
  for (const std::size_t first = at; at < fields.size() && fields[at].depth >= depth;) {
    const DecodedField& field = fields[at];
    if (depth != 0 && field.starts_entry && field.depth == depth && at != first) break;
    if (at != first) out += ',';
    out += field.readable ? "{\"tag\":" + std::to_string(value(field.tag)) : std::string{"{\"tag\":null"};
    if (field.readable) append_json_member(out, "name", name_of(message, field));
    out += ",\"value\":";
    append_json_text(out, field.secret && !show_secrets ? std::string_view{"***"} : field.value);
    append_json_member(out, "meaning", meaning_of(message, field));
    ++at;
    if (at < fields.size() && fields[at].depth > depth) {
      out += ",\"entries\":[";
      for (bool more = false; at < fields.size() && fields[at].depth > depth; more = true) {
        if (more) out += ',';
        at = append_json_fields(out, message, at, static_cast<std::uint8_t>(depth + 1), show_secrets);
      }
      out += ']';
    }
    out += '}';
  }
  out += ']';
  return at;
}

}  // namespace

void print_fields(SafeText& out, const DecodedMessage& message, const PrintOptions& options) {
  append_header(out, message, options);
  out += '\n';
  append_verdicts(out, message, options.palette, "  ", "\n");
  if (!message.found.too_long) {
    for (const DecodedField& field : message.fields) append_field(out, message, field, options);
  }
  out += '\n';
}

void print_one_line(SafeText& out, const DecodedMessage& message, const PrintOptions& options) {
  append_header(out, message, options);
  append_verdicts(out, message, options.palette, "  ", "");
  for (const DecodedField& field : message.fields) {
    const bool in_header = is_header_tag(field.tag) && field.tag != Tag::PossDupFlag && field.tag != Tag::PossResend;
    if (message.found.too_long || (field.readable && (in_header || is_trailer_tag(field.tag)))) continue;
    out += ' ';
    if (!field.readable) {
      out += '?';
      append_field_value(out, field, options.show_secrets);
      continue;
    }
    const std::string_view name = name_of(message, field);
    out += options.palette(Colour::cyan);
    out += name.empty() ? std::to_string(value(field.tag)) : std::string{name};
    out += options.palette(Colour::plain);
    out += '=';
    append_field_value(out, field, options.show_secrets);
    if (const std::string_view meaning = meaning_of(message, field); !meaning.empty()) {
      out += '(';
      out += meaning;
      out += ')';
    }
  }
  out += '\n';
}

void print_csv_header(SafeText& out, std::span<const std::string> fields) {
  out += "place,time,type,name,sender,target,seq,problem";
  for (const std::string& each : fields) append_csv_value(out, each);
  out += '\n';
}

void print_csv(SafeText& out, const DecodedMessage& message, const PrintOptions& options,
               std::span<const std::uint32_t> tags) {
  const std::string line = std::to_string(message.found.line);
  out += options.place.empty() ? line : options.place;
  for (const std::string_view value : {message.time, message.msg_type, message.type_name, message.sender,
                                       message.target, message.seq, std::string_view{message.problem}})
    append_csv_value(out, value);
  for (const std::uint32_t tag : tags) {
    const auto field = std::ranges::find_if(message.fields, [tag](const DecodedField& each) {
      return each.readable && static_cast<std::uint32_t>(value(each.tag)) == tag;
    });
    const bool shown = field != message.fields.end() && (!field->secret || options.show_secrets);
    append_csv_value(out, shown ? field->value : field != message.fields.end() ? "***" : "");
  }
  out += '\n';
}

void print_json(SafeText& out, const DecodedMessage& message, const PrintOptions& options) {
  out += '{';
  if (options.json_place.empty()) {
    out.add("\"line\":{}", message.found.line);
  } else {
    out += options.json_place;
  }
  append_json_member(out, "type", message.msg_type);
  append_json_member(out, "name", message.type_name);
  append_json_member(out, "begin_string", message.begin_string);
  append_json_member(out, "seq", message.seq);
  append_json_member(out, "sender", message.sender);
  append_json_member(out, "target", message.target);
  append_json_member(out, "time", message.time);
  append_json_member(out, "prefix", message.found.prefix);
  out += message.bad() ? ",\"ok\":false" : ",\"ok\":true";
  append_json_member(out, "problem", message.problem);
  append_json_member(out, "violation", message.violation);
  append_json_member(out, "not_validated", message.not_validated);
  out += ",\"fields\":";
  if (message.found.too_long) {
    out += "[]";
  } else {
    append_json_fields(out, message, 0, 0, options.show_secrets);
  }
  out += "}\n";
}

}  // namespace nfx::app
