// Whether folders and files are this user's alone: what other users of the machine may change or read there.
// A folder is refused that belongs to another user but root, or that a group or every user may write to without the
// sticky bit; so is one below a folder that every user may write to without it. The file in a good folder cannot be
// exchanged by others, so that its path may be used.
// Thread: any. Cost: system calls. Errors: texts that name the path and the fix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

enum class FolderLink : std::uint8_t { allowed, refused };

// Why others could change what is in this folder, and the fix; empty when they cannot. A folder that is missing is
// good.
[[nodiscard]] std::string folder_problem(const std::filesystem::path& folder, FolderLink link);

struct FileCheck {
  std::string problem;    // why the file may not be used, and the fix; empty when it may
  std::string corrected;  // what was changed; empty when nothing was
};

// The open regular file `fd` must belong to this user or root. One that has other permissions than `most` gets 0600.
[[nodiscard]] FileCheck make_private(int fd, const std::filesystem::path& path, unsigned most = 0600);

struct FolderCheck {
  std::string problem;
  std::vector<std::string> corrected;
};

// folder_problem() of a folder of our own, and make_private() of every file in it.
[[nodiscard]] FolderCheck make_files_private(const std::filesystem::path& folder);

}  // namespace nfx
