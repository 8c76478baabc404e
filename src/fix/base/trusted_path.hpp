// Folders and files whose place and content only this user and root can have chosen: root may read commands from them,
// and write to them, without serving another user. From / on, each folder is opened without following a symbolic link.
// It belongs to this user or root, and nobody else may write to it without the sticky bit (except the group, if the
// user is not root).
// Thread: one owner. Cost: two system calls for each folder of the path. Errors: errno values, and texts that name the
// path and the fix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "nexusfix/base/language.hpp"

namespace nfx {

class TrustedFolder {
 public:
  enum class Missing : std::uint8_t { error, make };  // make: creates it with mode 0700
  // For folders that the distribution gives to a group of administrators, such as /usr/local/lib.
  enum class GroupWrites : std::uint8_t { refused, allowed };

  explicit TrustedFolder(const std::filesystem::path& folder, Missing missing = Missing::error,
                         GroupWrites group = GroupWrites::refused);
  ~TrustedFolder();
  TrustedFolder(const TrustedFolder&) = delete;
  TrustedFolder& operator=(const TrustedFolder&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }  // -1: see error()
  // 0, ENOENT (missing), EPERM (others may change it), ELOOP (a symbolic link), or the system's error.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // empty: none
  [[nodiscard]] bool made() const noexcept { return made_; }                      // did not exist before

  struct File {
    int fd = -1;  // the caller closes it
    int error = 0;
    std::string problem;
  };
  // Opens a regular file in this folder that belongs to this user or root and that no other user may write to. Do not
  // pass O_TRUNC, which takes effect before the check.
  [[nodiscard]] File open(const std::string& name, int flags, unsigned mode = 0600) const;

 private:
  int fail(int error, std::string problem);

  std::filesystem::path folder_;
  int fd_ = -1;
  int error_ = 0;
  std::string problem_;
  bool made_ = false;
};

}  // namespace nfx
