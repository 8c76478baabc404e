// The readers of the formats that dictionaries come in. Each gets a file whose root element is its own.
#pragma once

#include <variant>

#include "dictionary/xml_source.hpp"
#include "nexusfix/dictionary/model_overlay.hpp"

namespace nfx {

[[nodiscard]] DictionaryModel read_quickfix(const XmlSource& source);
[[nodiscard]] DictionaryModel read_orchestra(const XmlSource& source);
[[nodiscard]] OverlayModel read_overlay(const XmlSource& source);

[[nodiscard]] bool is_overlay(const XmlSource& source);
// Whichever of them the root element says it is.
[[nodiscard]] std::variant<DictionaryModel, OverlayModel> read_any(std::string_view xml, std::string_view source_name,
                                                                   Problems& problems);

[[nodiscard]] std::optional<MemberKind> member_kind(std::string_view element) noexcept;

// The element's name without its prefix: "repository" of <fixr:repository>.
[[nodiscard]] std::string_view local_name(pugi::xml_node node) noexcept;

}  // namespace nfx
