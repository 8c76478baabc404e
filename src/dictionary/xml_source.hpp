// An XML file as a tree with line numbers. Bounded: size, number of elements, depth; a DOCTYPE is refused, so that
// entities cannot expand a small file into a large one.
#pragma once

#include <pugixml.hpp>
#include <string_view>
#include <vector>

#include "dictionary/problems.hpp"

namespace nfx {

class XmlSource {
 public:
  // Throws when the text is not XML, or exceeds the bounds.
  XmlSource(std::string_view xml, std::string_view name, Problems& problems);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
  [[nodiscard]] Problems& problems() const noexcept { return problems_; }
  [[nodiscard]] ModelPlace place(pugi::xml_node node) const { return place_at(node.offset_debug()); }
  void report(pugi::xml_node node, const std::string& what) const { problems_.report(place(node), what); }

  // Its value; reported and empty when it is missing.
  [[nodiscard]] std::string_view attribute(pugi::xml_node node, const char* name) const;
  // Y or N; reported and false when it is anything else. Without a default it is required.
  [[nodiscard]] bool yes_or_no(pugi::xml_node node, const char* name) const;
  [[nodiscard]] std::optional<bool> optional_yes_or_no(pugi::xml_node node, const char* name) const;
  // A number above zero; reported and Tag{0} when it is not one. `what` names the element: "field Account".
  [[nodiscard]] Tag tag(pugi::xml_node node, std::string_view number, const std::string& what) const;
  // Reported and empty when there is no such type.
  [[nodiscard]] std::optional<FieldType> type(pugi::xml_node node, std::string_view name,
                                              const std::string& what) const;

 private:
  [[nodiscard]] ModelPlace place_at(std::ptrdiff_t offset) const;
  void check_size(std::string_view xml) const;
  void check_tree() const;

  std::shared_ptr<const std::string> name_;
  Problems& problems_;
  std::vector<std::size_t> line_ends_;
  pugi::xml_document document_;
};

}  // namespace nfx
