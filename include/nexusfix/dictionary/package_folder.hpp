// The dictionaries of the installation whose headers a program is compiled with. The static library in the program
// cannot know where they are, as an installation can be moved; the installed copy of this header does.
// Thread: before main(). Cost: a pointer is stored.
#pragma once

#include "nexusfix/base/language.hpp"

namespace nfx::detail {

// `folder` is a literal. Returns true.
bool set_package_folder(const char* folder) noexcept;

// An installation has the call in place of the next line; it names the dictionaries as seen from this file, so
// that an installation can be moved before programs are built with it.
// @NFX_PACKAGE_FOLDER@

}  // namespace nfx::detail
