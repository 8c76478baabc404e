// The readers of the dictionary formats. Each takes a file with its format's root element.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dictionary/model_overlay.hpp"
#include "dictionary/xml_source.hpp"

namespace nfx {

[[nodiscard]] DictionaryModel read_quickfix(const XmlSource& source);
// A dictionary has a version and messages; an overlay may consist of code lists alone.
enum class OrchestraUse : std::uint8_t { dictionary, overlay };
// `version`, unless empty, is used for files that do not name a FIX version.
[[nodiscard]] DictionaryModel read_orchestra(const XmlSource& source, std::string_view version, OrchestraUse use);
// The changes that add the whole model to a base.
[[nodiscard]] OverlayModel to_overlay(const DictionaryModel& model);
[[nodiscard]] OverlayModel read_overlay(const XmlSource& source);

// Chooses the reader by the root element. The result includes the reader's repairs.
[[nodiscard]] std::variant<DictionaryModel, OverlayModel> read_any(std::string_view xml, std::string_view source_name,
                                                                   std::string_view version,
                                                                   std::vector<std::string>* problems);

[[nodiscard]] std::optional<MemberKind> member_kind(std::string_view element) noexcept;

// The members of an element, including groups with their members. `fill` reads the parts of a format other than kind,
// name and place. XmlSource's limit on depth bounds the recursion.
template <class Member, class Fill>
std::vector<Member> read_member_tree(const XmlSource& source, pugi::xml_node parent, const std::string& where,
                                     const Fill& fill) {
  std::vector<Member> members;
  for (const pugi::xml_node node : parent.children()) {
    if (node.type() != pugi::node_element) continue;
    const std::optional<MemberKind> kind = member_kind(node.name());
    if (!kind) {
      source.repair(RepairKind::unknown_element, node,
                    where + " holds <" + node.name() + ">, which is ignored; write field, group or component");
      continue;
    }
    Member member;
    member.kind = *kind;
    member.name = source.identifying(node, "name");
    member.place = source.place(node);
    if (member.name.empty()) continue;
    fill(node, member);
    if (*kind == MemberKind::group) {
      member.members = read_member_tree<Member>(source, node, "group " + member.name, fill);
    }
    members.push_back(std::move(member));
  }
  return members;
}

// The element's name without its prefix: "repository" for <fixr:repository>.
[[nodiscard]] std::string_view local_name(pugi::xml_node node) noexcept;

}  // namespace nfx
