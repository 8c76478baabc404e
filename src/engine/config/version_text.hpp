// Lists of FIX versions for help and error texts.
// Thread: any. Cost: none, computed at compile time.
#pragma once

#include <string_view>

#include "base/static_text.hpp"
#include "nexusfix/dictionary/version.hpp"

namespace nfx::config {

// "FIX.4.0, FIX.4.1 or FIXT.1.1": the names of the versions for which `listed` is true.
template <class Listed>
[[nodiscard]] constexpr StaticTextBuilder version_list(Listed listed, bool with_id) {
  StaticTextBuilder text;
  const FixVersion* last = nullptr;
  for (const FixVersion& each : fix_versions) last = listed(each) ? &each : last;
  for (const FixVersion& each : fix_versions) {
    if (!listed(each)) continue;
    if (!text.view().empty()) text += &each == last ? " or " : ", ";
    text += each.name;
    if (with_id) {
      text += " (";
      text += each.appl_ver_id;
      text += ")";
    }
  }
  return text;
}

[[nodiscard]] constexpr StaticTextBuilder begin_string_list() {
  return version_list([](const FixVersion& each) { return each.session.has_value(); }, false);
}
[[nodiscard]] constexpr StaticTextBuilder application_version_list() {
  return version_list([](const FixVersion& each) { return !each.appl_ver_id.empty(); }, true);
}

inline constexpr std::string_view begin_strings = static_text<begin_string_list>;
inline constexpr std::string_view application_versions = static_text<application_version_list>;  // with ApplVerID

static_assert(begin_strings.starts_with("FIX.4.0, ") && begin_strings.ends_with(" or FIXT.1.1"));
static_assert(application_versions.contains("FIX.5.0SP1 (8)"));

}  // namespace nfx::config
