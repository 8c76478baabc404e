// Parses XML with bounds, and finds the line of an element for error messages.
#include "dictionary/xml_source.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "nexusfix/base/suggest.hpp"

namespace nfx {

XmlSource::XmlSource(std::string_view xml, std::string_view name, Problems& problems)
    : name_(std::make_shared<const std::string>(name)), problems_(problems) {
  check_size(xml);
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

void XmlSource::check_size(std::string_view xml) const {
  if (xml.size() > max_dictionary_size) {
    Problems::fail(place_at(0),
                   "the file is larger than " + std::to_string(max_dictionary_size >> 20) + " MiB; give a dictionary");
  }
  // Every element has a '<' and every attribute a '=': the tree cannot have more of them than the text.
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
      return !too_deep && !doctype;
    }
  } walker;
  // The walk changes nothing, but pugixml offers it for mutable nodes only.
  const_cast<pugi::xml_document&>(document_).traverse(walker);
  if (walker.doctype) {
    Problems::fail(place(walker.doctype), "a DOCTYPE is not accepted, nor the entities it may define; remove it");
  }
  if (walker.too_deep) {
    Problems::fail(place(walker.too_deep),
                   "elements are nested more than " + std::to_string(max_dictionary_depth) + " deep; nest fewer");
  }
}

ModelPlace XmlSource::place_at(std::ptrdiff_t offset) const {
  const auto at = std::ranges::lower_bound(line_ends_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return {name_, static_cast<std::uint32_t>(at - line_ends_.begin()) + 1};
}

std::string_view XmlSource::attribute(pugi::xml_node node, const char* name) const {
  const std::string_view value = node.attribute(name).value();
  if (value.empty()) {
    report(node, std::string("<") + node.name() + "> has no " + name + "; write " + name + "=\"...\"");
  }
  return value;
}

std::optional<bool> XmlSource::optional_yes_or_no(pugi::xml_node node, const char* name) const {
  const std::string_view value = node.attribute(name).value();
  if (value.empty()) return std::nullopt;
  if (value == "Y" || value == "true") return true;
  if (value == "N" || value == "false") return false;
  report(node, std::string(name) + " is " + in_quotes(value) + "; write Y or N");
  return std::nullopt;
}

bool XmlSource::yes_or_no(pugi::xml_node node, const char* name) const {
  return !attribute(node, name).empty() && optional_yes_or_no(node, name).value_or(false);
}

Tag XmlSource::tag(pugi::xml_node node, std::string_view number, const std::string& what) const {
  std::int32_t tag = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tag);
  if (error == std::errc{} && end == number.data() + number.size() && tag > 0) return Tag{tag};
  report(node, what + " has the number " + in_quotes(number) + "; write a number above zero");
  return Tag{0};
}

std::optional<FieldType> XmlSource::type(pugi::xml_node node, std::string_view name, const std::string& what) const {
  const std::optional<FieldType> type = parse_field_type(name);
  if (!type) {
    std::vector<std::string_view> known;
    for (const FieldTypeRow& row : field_type_rows) known.push_back(row.name);
    const std::string suggestion = did_you_mean(name, known);
    report(node, what + " has the unknown type " + in_quotes(name) +
                     (suggestion.empty() ? "; write a FIX type such as STRING, INT or UTCTIMESTAMP" : suggestion));
  }
  return type;
}

}  // namespace nfx
