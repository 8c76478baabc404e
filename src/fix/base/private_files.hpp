// Checks whether folders and files are private to this user, so that other users of the machine can neither change nor
// read them. A folder is refused if it belongs to another user except root. It is also refused if a group or every user
// may write to it without the sticky bit, or if every user may write to a folder above it without that bit. Others
// cannot exchange a file in an accepted folder, so its path may be used.
// Thread: any. Cost: system calls. Errors: texts that name the path and the fix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/base/language.hpp"

namespace nfx {

// "PATH: mode 0664 lets other users change it: run 'chmod go-w PATH'"
[[nodiscard]] std::string open_to_others(const std::filesystem::path& path, unsigned mode, std::string_view what,
                                         std::string_view chmod);
// "PATH belongs to user 1000, who can change it: run 'chown 0 PATH', or choose another"
[[nodiscard]] std::string owned_by_other(const std::filesystem::path& path, unsigned owner);

enum class FolderLink : std::uint8_t { allowed, refused };

// Why others could change the content of this folder, and the fix; empty if they cannot. A missing folder is accepted.
[[nodiscard]] std::string folder_problem(const std::filesystem::path& folder, FolderLink link);

struct FileCheck {
  std::string problem;    // why the file may not be used, and the fix; empty if it may
  std::string corrected;  // the correction; empty if none was needed
};

// The open regular file `fd` must belong to this user or root. If it has permissions beyond `most`, it is changed to
// 0600.
[[nodiscard]] FileCheck make_private(int fd, const std::filesystem::path& path, unsigned most = 0600);

struct FolderCheck {
  std::string problem;
  std::vector<std::string> corrected;
};

// Calls folder_problem() for a folder of our own, and make_private() for every file in it.
[[nodiscard]] FolderCheck make_files_private(const std::filesystem::path& folder);

}  // namespace nfx
