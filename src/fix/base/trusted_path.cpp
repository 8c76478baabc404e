// Walks from / with openat() and O_NOFOLLOW, so that the checked folder is the used one.
#include "base/trusted_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error_text.hpp"
#include "base/private_files.hpp"

namespace nfx {
namespace {

namespace fs = std::filesystem;

// A user's group often contains only that user, and only that user can be harmed through their folders.
unsigned forbidden_modes(TrustedFolder::GroupWrites group = TrustedFolder::GroupWrites::refused) {
  const bool group_refused = group == TrustedFolder::GroupWrites::refused && ::geteuid() == 0;
  return S_IWOTH | (group_refused ? unsigned{S_IWGRP} : 0U);
}

// Empty if only this user and root may change it.
std::string others_problem(const fs::path& path, const struct stat& facts, unsigned forbidden) {
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid()) return owned_by_other(path, facts.st_uid);
  const bool sticky_folder = S_ISDIR(facts.st_mode) && (facts.st_mode & S_ISVTX) != 0;
  if ((facts.st_mode & forbidden) != 0 && !sticky_folder)
    return open_to_others(path, facts.st_mode, "change it", "go-w");
  return {};
}

}  // namespace

TrustedFolder::TrustedFolder(const fs::path& folder, Missing missing, GroupWrites group) {
  const unsigned forbidden = forbidden_modes(group);
  std::error_code code;
  folder_ = fs::absolute(folder.empty() ? "." : folder, code).lexically_normal();
  if (code) {
    fail(code.value(), cannot("open", folder, code.value()));
    return;
  }
  fs::path here = "/";
  fd_ = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (auto part = folder_.begin(); fd_ >= 0; ++part) {
    struct stat facts{};
    if (::fstat(fd_, &facts) != 0) {
      fail(errno, cannot("open", here, errno));
      return;
    }
    if (std::string problem = others_problem(here, facts, forbidden); !problem.empty()) {
      fail(EPERM, std::move(problem));
      return;
    }
    if (part != folder_.end() && (*part == "/" || part->empty())) ++part;  // the root, or a slash at the end
    if (part == folder_.end() || part->empty()) break;
    here /= *part;
    const auto open_part = [&] { return ::openat(fd_, part->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); };
    int next = open_part();
    if (next < 0 && errno == ENOENT && missing == Missing::make) {
      if (::mkdirat(fd_, part->c_str(), 0700) != 0 && errno != EEXIST) {
        fail(errno, cannot("make folder", here, errno));
        return;
      }
      made_ = true;
      next = open_part();
    }
    if (next < 0) {
      const int error = errno;
      const bool link = (error == ENOTDIR || error == ELOOP) &&
                        ::fstatat(fd_, part->c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
      fail(link ? ELOOP : error, link ? here.string() + ": symbolic links are not followed; give the folder itself"
                                      : cannot("open", here, error));
      return;
    }
    ::close(fd_);
    fd_ = next;
  }
  if (fd_ < 0 && problem_.empty()) fail(errno, cannot("open", "/", errno));
}

TrustedFolder::~TrustedFolder() {
  if (fd_ >= 0) ::close(fd_);
}

int TrustedFolder::fail(int error, std::string problem) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  error_ = error;
  problem_ = std::move(problem);
  return error;
}

TrustedFolder::File TrustedFolder::open(const std::string& name, int flags, unsigned mode) const {
  if (fd_ < 0) return {-1, error_, problem_};
  const fs::path path = folder_ / name;
  // O_NONBLOCK, because opening a FIFO must not block.
  const int fd = ::openat(fd_, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  if (fd < 0) {
    const int error = errno;
    return {-1, error, error == ELOOP ? path.string() + " is a symbolic link: remove it" : cannot("open", path, error)};
  }
  struct stat facts{};
  std::string problem;
  if (::fstat(fd, &facts) != 0)
    problem = cannot("open", path, errno);
  else if (!S_ISREG(facts.st_mode))
    problem = path.string() + " is not a regular file: remove it";
  else
    problem = others_problem(path, facts, forbidden_modes());
  if (problem.empty()) return {fd, 0, {}};
  ::close(fd);
  return {-1, EPERM, std::move(problem)};
}

}  // namespace nfx
