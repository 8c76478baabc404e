// An XML file as a tree with line numbers. Bounded: size, number of elements, depth. Entities defined in a DOCTYPE are
// not expanded, so that a small file cannot become a large one, and external entities are not fetched.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

#include "dictionary/problems.hpp"

namespace nfx {

class XmlSource {
 public:
  // Reads UTF-8, UTF-16 and, if the bytes are not UTF-8, Windows-1252. Throws if the text is not XML, or exceeds the
  // limits.
  XmlSource(std::string_view xml, std::string_view name, Problems& problems);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
  [[nodiscard]] Problems& problems() const noexcept { return problems_; }
  [[nodiscard]] ModelPlace place(pugi::xml_node node) const { return place_at(node.offset_debug()); }
  void report(pugi::xml_node node, const std::string& what) const { problems_.report(place(node), what); }
  void repair(RepairKind kind, pugi::xml_node node, const std::string& what) const {
    problems_.repair(kind, place(node), what);
  }

  // The trimmed value; empty if the attribute is missing.
  [[nodiscard]] std::string_view attribute(pugi::xml_node node, const char* name) const;
  // The same for a mandatory attribute: reports an error if it is missing.
  [[nodiscard]] std::string_view needed(pugi::xml_node node, const char* name) const;
  // The same for an attribute without which the element is ignored.
  [[nodiscard]] std::string_view identifying(pugi::xml_node node, const char* name) const;
  // Records every other attribute. Attributes of namespaces belong to other formats and are accepted.
  void expect_attributes(pugi::xml_node node, std::initializer_list<std::string_view> known) const;
  // Y or N; empty if missing. Anything else counts as N, and is recorded.
  [[nodiscard]] std::optional<bool> yes_or_no(pugi::xml_node node, const char* name) const;
  // A number above zero; otherwise returns Tag{0} and records it. `what` names the element: "field Account".
  [[nodiscard]] Tag tag(pugi::xml_node node, std::string_view number, const std::string& what) const;
  // Returns STRING, and records it, if there is no such type.
  [[nodiscard]] FieldType type(pugi::xml_node node, std::string_view name, const std::string& what) const;

 private:
  [[nodiscard]] ModelPlace place_at(std::ptrdiff_t offset) const;
  [[nodiscard]] std::string_view decode(std::string_view xml);
  void check_size(std::string_view xml) const;
  void check_tree() const;

  std::shared_ptr<const std::string> name_;
  Problems& problems_;
  std::string decoded_;  // if the file is not UTF-8
  std::vector<std::size_t> line_ends_;
  pugi::xml_document document_;
  mutable Suggestions type_suggestions_;
};

}  // namespace nfx
