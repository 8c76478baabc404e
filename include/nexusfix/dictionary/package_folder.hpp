// The dictionaries of the package that a program is built with: find_package() and pkg-config define their folder as
// NEXUSFIX_DICTIONARIES, as the static library in the program cannot know where the package is.
// Thread: before main(). Cost: a pointer is stored.
#pragma once

#include "nexusfix/base/language.hpp"

namespace nfx::detail {

// `folder` is a literal. Returns true.
bool set_package_folder(const char* folder) noexcept;

#ifdef NEXUSFIX_DICTIONARIES
inline const bool package_folder_is_set = set_package_folder(NEXUSFIX_DICTIONARIES);
#endif

}  // namespace nfx::detail
