// Parses XML with limits, and finds the line of an element for error messages.
#include "dictionary/xml_source.hpp"

#include <algorithm>
#include <array>
#include <boost/locale/encoding_utf.hpp>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace nfx {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

enum class Encoding : std::uint8_t { utf8, utf16_little, utf16_big, windows_1252 };

// The encoding in the declaration, in lower case; empty if there is none.
std::string declared_encoding(std::string_view xml) {
  std::string start(xml.substr(0, xml.find('>')).substr(0, 200));
  std::ranges::transform(start, start.begin(), lower);
  const std::size_t at = start.find("encoding");
  return at == std::string::npos || !start.contains("<?xml") ? std::string() : start.substr(at);
}

bool declares_windows_1252(std::string_view xml) {
  const std::string encoding = declared_encoding(xml);
  return encoding.contains("8859-1") || encoding.contains("1252") || encoding.contains("latin1");
}

// A file in UTF-16 has a byte order mark, or a zero byte in its first character, which is '<'.
Encoding encoding_of(std::string_view xml) {
  if (xml.starts_with("\xFF\xFE") || xml.starts_with(std::string_view("<\0", 2))) return Encoding::utf16_little;
  if (xml.starts_with("\xFE\xFF") || xml.starts_with(std::string_view("\0<", 2))) return Encoding::utf16_big;
  // If UTF-8 is declared, invalid bytes are kept unchanged.
  if (declared_encoding(xml).contains("utf-8")) return Encoding::utf8;
  using Utf8 = boost::locale::utf::utf_traits<char>;
  for (const char* at = xml.data(); at != xml.data() + xml.size();) {
    if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
    } else if (!boost::locale::utf::is_valid_codepoint(Utf8::decode(at, xml.data() + xml.size()))) {
      return Encoding::windows_1252;
    }
  }
  return Encoding::utf8;
}

std::string from_utf16(std::string_view xml, bool big) {
  std::u16string units(xml.size() / 2, u'\0');
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto first = static_cast<unsigned char>(xml[2 * i]), second = static_cast<unsigned char>(xml[2 * i + 1]);
    units[i] = static_cast<char16_t>(big ? first << 8 | second : second << 8 | first);
  }
  return boost::locale::conv::utf_to_utf<char>(units);
}

std::string from_windows_1252(std::string_view xml) {
  // 0x80 to 0x9F; all other bytes are their own code points.
  constexpr std::array<char16_t, 32> high{0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                          0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                          0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                          0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
  std::u16string units;
  units.reserve(xml.size());
  for (const char c : xml) {
    const auto byte = static_cast<unsigned char>(c);
    units += byte >= 0x80 && byte < 0xA0 ? high[byte - 0x80] : static_cast<char16_t>(byte);
  }
  return boost::locale::conv::utf_to_utf<char>(units);
}

}  // namespace

XmlSource::XmlSource(std::string_view xml, std::string_view name, Problems& problems)
    : name_(std::make_shared<const std::string>(name)), problems_(problems) {
  check_size(xml);
  xml = decode(xml);
  for (std::size_t at = xml.find('\n'); at != std::string_view::npos; at = xml.find('\n', at + 1)) {
    line_ends_.push_back(at);
  }
  const pugi::xml_parse_result result =
      document_.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!result) {
    Problems::fail(place_at(result.offset), std::string("this is not well-formed XML: ") + result.description());
  }
  check_tree();
}

std::string_view XmlSource::decode(std::string_view xml) {
  switch (encoding_of(xml)) {
    case Encoding::utf8: return xml.starts_with(byte_order_mark) ? xml.substr(byte_order_mark.size()) : xml;
    case Encoding::utf16_little: decoded_ = from_utf16(xml, false); break;
    case Encoding::utf16_big: decoded_ = from_utf16(xml, true); break;
    case Encoding::windows_1252:
      decoded_ = from_windows_1252(xml);
      if (!declares_windows_1252(xml)) {
        problems_.repair(
            RepairKind::encoding, place_at(0),
            "the file is not UTF-8, and is read as Windows-1252; save it as UTF-8, or declare its encoding");
      }
      break;
  }
  check_size(decoded_);
  const std::string_view text = decoded_;
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

void XmlSource::check_size(std::string_view xml) const {
  if (xml.size() > max_dictionary_size) {
    Problems::fail(place_at(0),
                   "the file is larger than " + std::to_string(max_dictionary_size >> 20) + " MiB; give a dictionary");
  }
  // Every element has a '<' and every attribute a '=', so their numbers in the text bound the size of the tree.
  const auto elements = std::ranges::count_if(xml, [](char c) { return c == '<' || c == '='; });
  if (static_cast<std::size_t>(elements) > max_dictionary_elements) {
    Problems::fail(place_at(0), "more than " + std::to_string(max_dictionary_elements) +
                                    " elements and attributes; give a dictionary");
  }
}

void XmlSource::check_tree() const {
  struct Walker : pugi::xml_tree_walker {
    pugi::xml_node too_deep;
    pugi::xml_node doctype;
    bool for_each(pugi::xml_node& node) override {
      if (node.type() == pugi::node_doctype) doctype = node;
      if (std::cmp_greater(depth(), max_dictionary_depth)) too_deep = node;
      return !too_deep;
    }
  } walker;
  // The walk changes nothing, but pugixml requires mutable nodes.
  const_cast<pugi::xml_document&>(document_).traverse(walker);
  if (walker.too_deep) {
    Problems::fail(place(walker.too_deep),
                   "elements are nested more than " + std::to_string(max_dictionary_depth) + " deep; nest fewer");
  }
  // Definitions in a DOCTYPE are in brackets; external names are only for validation.
  if (const std::string_view doctype = walker.doctype.value(); doctype.contains('[')) {
    repair(RepairKind::entities, walker.doctype,
           "the DOCTYPE defines entities or attributes, which are ignored; write their values where they are used");
  }
}

ModelPlace XmlSource::place_at(std::ptrdiff_t offset) const {
  const auto at = std::ranges::lower_bound(line_ends_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return {name_, static_cast<std::uint32_t>(at - line_ends_.begin()) + 1};
}

std::string_view XmlSource::attribute(pugi::xml_node node, const char* name) const {
  const std::string_view text = node.attribute(name).value();
  const std::string_view value = trimmed(text);
  if (value.size() != text.size()) {
    repair(RepairKind::blanks, node,
           std::string(name) + " is " + in_quotes(text) + ", read without the blanks around it; remove them");
  }
  return value;
}

std::string_view XmlSource::needed(pugi::xml_node node, const char* name) const {
  const std::string_view value = attribute(node, name);
  if (value.empty()) {
    report(node, std::string("<") + node.name() + "> has no " + name + "; write " + name + "=\"...\"");
  }
  return value;
}

std::string_view XmlSource::identifying(pugi::xml_node node, const char* name) const {
  const std::string_view value = attribute(node, name);
  if (value.empty()) {
    repair(RepairKind::missing_attribute, node,
           std::string("<") + node.name() + "> has no " + name + ", and is ignored; write " + name + "=\"...\"");
  }
  return value;
}

void XmlSource::expect_attributes(pugi::xml_node node, std::initializer_list<std::string_view> known) const {
  for (const pugi::xml_attribute each : node.attributes()) {
    const std::string_view name = each.name();
    if (std::ranges::find(known, name) != known.end() || name.contains(':') || name == "xmlns") continue;
    repair(
        RepairKind::unknown_attribute, node,
        std::string("<") + node.name() + "> has the attribute " + std::string(name) + ", which is ignored; remove it");
  }
}

std::optional<bool> XmlSource::yes_or_no(pugi::xml_node node, const char* name) const {
  const std::string_view value = attribute(node, name);
  if (value.empty()) return std::nullopt;
  if (value == "Y" || value == "y") return true;
  if (value != "N" && value != "n") {
    repair(RepairKind::required_value, node,
           std::string(name) + " is " + in_quotes(value) + ", read as N; write Y or N");
  }
  return false;
}

Tag XmlSource::tag(pugi::xml_node node, std::string_view number, const std::string& what) const {
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tag);
  if (error == std::errc{} && end == number.data() + number.size() && tag > 0) return Tag{tag};
  repair(RepairKind::bad_number, node,
         what + " has the number " + in_quotes(number) + ", and is ignored; write a number above zero");
  return Tag{0};
}

FieldType XmlSource::type(pugi::xml_node node, std::string_view name, const std::string& what) const {
  if (name.empty()) {
    repair(RepairKind::missing_type, node, what + " has no type, read as STRING; write type=\"STRING\" or its type");
    return FieldType::string;
  }
  if (const std::optional<FieldType> type = parse_field_type(name)) return *type;
  if (const std::optional<FieldType> type = parse_field_type_in_any_case(name)) {
    repair(RepairKind::type_case, node,
           what + " has the type " + in_quotes(name) + ", read as " + std::string(to_string(*type)) +
               "; write it in capital letters");
    return *type;
  }
  repair(RepairKind::unknown_type, node,
         what + " has the unknown type " + in_quotes(name) + ", read as STRING" +
             type_suggestions_.of(name, "; write a FIX type such as STRING, INT or UTCTIMESTAMP", [] {
               std::vector<std::string_view> known;
               for (const FieldTypeRow& row : field_type_rows) known.push_back(row.name);
               return known;
             }));
  return FieldType::string;
}

}  // namespace nfx
